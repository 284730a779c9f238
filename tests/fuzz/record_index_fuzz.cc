// Reading only the headers of any bytes finds an offset for each record and each error that reading
// everything finds, and an index stores them. Any bytes are an index whose numbers can all be read,
// or an error, also with a correct checksum.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "stoker/codecs/crc32c.h"
#include "stoker/codecs/record_index.h"
#include "stoker/codecs/tfrecord.h"

namespace stoker {
namespace {

std::vector<int64_t> places_by_reading(Bytes file) {
  RecordParser parser;
  std::vector<int64_t> places;
  for (size_t begin = 0; begin < file.size();) {
    const Bytes left = file.substr(begin);
    places.push_back(static_cast<int64_t>(begin));
    const RecordParser::Step step = parser.step(left, static_cast<int64_t>(left.size()));
    STOKER_CHECK(step.kind == RecordParser::Step::Kind::kRecord || step.kind == RecordParser::Step::Kind::kError);
    begin += step.consumed;
  }
  return places;
}

void hop_and_keep(Bytes file) {
  const std::vector<int64_t> places = places_of_records(file);
  STOKER_CHECK(places == places_by_reading(file));
  const std::string kept = index_to_bytes({.bytes = static_cast<int64_t>(file.size())}, places, places);
  const IndexView view = IndexView::of(kept).value();
  STOKER_CHECK(view.records() == static_cast<int64_t>(places.size()));
  int64_t bytes = 0;
  for (int64_t i = 0; i < view.records(); ++i) {
    STOKER_CHECK(view.place(i) == places[static_cast<size_t>(i)] && view.label(i) == view.place(i));
    STOKER_CHECK(view.bytes(i) > 0);
    bytes += view.bytes(i);
  }
  STOKER_CHECK(bytes == static_cast<int64_t>(file.size()));
}

std::string with_right_checksum(std::string index) {
  if (index.size() < sizeof(uint64_t)) return index;
  const size_t end = index.size() - sizeof(uint64_t);
  const uint64_t sum = masked_crc32c(Bytes(index).substr(0, end));
  std::memcpy(index.data() + end, &sum, sizeof(sum));
  return index;
}

void ask_for_all(Bytes index) {
  const Result<IndexView> view = IndexView::of(index);
  if (!view) return;
  for (int64_t i = 0; i < view->records(); ++i) {
    view->bytes(i);
    if (view->has_labels()) view->label(i);
  }
}

}  // namespace
}  // namespace stoker

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  stoker::hop_and_keep(bytes);
  stoker::ask_for_all(bytes);
  stoker::ask_for_all(stoker::with_right_checksum(bytes));
  return 0;
}

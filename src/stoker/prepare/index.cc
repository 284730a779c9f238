#include "stoker/prepare/index.h"

#include <filesystem>

#include "stoker/api/loader.h"
#include "stoker/codecs/tfrecord.h"
#include "stoker/core/interrupt.h"
#include "stoker/io/file.h"
#include "stoker/prepare/image_check.h"
#include "stoker/prepare/inputs.h"
#include "stoker/prepare/outcomes.h"
#include "stoker/sources/range.h"
#include "stoker/sources/record_index.h"
#include "stoker/transforms/map.h"

namespace stoker::prepare {
namespace {

Result<std::vector<int64_t>> labels_of(Bytes file, const std::vector<int64_t>& places, const std::string& name) {
  std::vector<int64_t> labels;
  for (const int64_t place : places) {
    if (is_interrupted()) return Error::cancelled();
    const Bytes rest = file.substr(static_cast<size_t>(place));
    const RecordParser::Step step = RecordParser(place).step(rest, static_cast<int64_t>(rest.size()));
    if (step.error) return *step.error;
    const Result<int64_t> label = label_in(step.payload, name);
    if (!label) return Error::corrupt("record ", labels.size(), " at byte ", place, ": ", label.error().message());
    labels.push_back(*label);
  }
  return labels;
}

Result<FileIndex> labeled(const std::string& path, const std::string& name) {
  STOKER_TRY(const MappedFile file, MappedFile::open(path));
  const std::vector<int64_t> places = places_of_records(file.bytes());
  STOKER_TRY(const std::vector<int64_t> labels, labels_of(file.bytes(), places, name));
  if (file.was_cut()) return Error::corrupt("the file was truncated while it was read");
  return FileIndex::of(path, static_cast<int64_t>(file.bytes().size()), places, labels);
}

Result<void> check_kind(const InputFile& file) {
  if (file.unreadable) return *file.unreadable;
  if (file.kind == InputFile::Kind::kImage) return Error::invalid("the file is an image, expected a TFRecord file");
  if (file.compression == Compression::kNone) return {};
  return Error::invalid(
      "the file is compressed, and a compressed file can only be read from the start; decompress it, or "
      "write it again without compression");
}

// Rejects a file that consists of one damaged range from its first byte to its
// last: it is not a TFRecord file.
Result<void> check_records(const InputFile& file, const FileIndex& index) {
  if (index.view().records() != 1) return {};
  STOKER_TRY(const MappedFile mapped, MappedFile::open(file.path));
  if (mapped.bytes().size() >= kRecordHeaderBytes && record_length(mapped.bytes())) return {};
  return Error::corrupt("the file has no complete record, expected a TFRecord file");
}

Result<void> keep(const FileIndex& index, IndexedFile& result) {
  const std::vector<std::string> places = index_paths_of(result.path);
  result.index = places[0];
  Result<void> kept = index.keep_beside(result.path);
  if (kept) return {};
  result.next_to_data = false;
  if (places.size() < 2) return kept;
  result.index = places[1];
  return index.keep_in_cache(result.path);
}

std::optional<std::map<int64_t, int64_t>> counted(const IndexView& index) {
  if (!index.has_labels()) return std::nullopt;
  std::map<int64_t, int64_t> counts;
  for (int64_t record = 0; record < index.records(); ++record) ++counts[index.label(record)];
  return counts;
}

Result<void> index_file(const InputFile& file, const std::string& label, IndexedFile& result) {
  STOKER_TRY(check_kind(file));
  std::optional<FileIndex> index = label.empty() ? FileIndex::kept(file.path) : std::nullopt;
  result.created = !index;
  if (!index) {
    STOKER_TRY(index, label.empty() ? FileIndex::made(file.path) : labeled(file.path, label));
    STOKER_TRY(check_records(file, *index));
  }
  result.records = index->view().records();
  result.labels = counted(index->view());
  result.index = index_paths_of(file.path)[0];
  if (!result.created && std::filesystem::exists(result.index)) return {};
  return keep(*index, result);
}

IndexedFile index_or_error(const InputFile& file, const std::string& label) {
  IndexedFile result{file.path, file.bytes};
  if (const Result<void> done = index_file(file, label, result); !done) result.error = done.error();
  return result;
}

Result<IndexResult> index_all(const std::string& label, std::vector<InputFile> list, const OnProgress& on_progress) {
  const auto count = static_cast<int64_t>(list.size());
  const auto files = std::make_shared<const std::vector<InputFile>>(std::move(list));
  const auto outcomes = std::make_shared<Outcomes<int64_t, IndexedFile>>();
  const Dataset work = Dataset::range({.stop = count}).map({.map_func = [files, outcomes, label](int64_t i) {
    outcomes->compute(i, [&] { return index_or_error((*files)[static_cast<size_t>(i)], label); });
    return i;
  }});
  Loader loader(work, {.interrupted = &is_interrupted});
  const Outcomes<int64_t, IndexedFile>::Stop stop(*outcomes);
  Reporter progress(on_progress, {.phase = Phase::kRead, .total = count});
  IndexResult result;
  for (int64_t i = 0; i < count; ++i) {
    STOKER_TRY(loader.next());
    if (is_interrupted()) return Error::cancelled();
    result.files.push_back(outcomes->take(i));
    progress.advance(1, result.files.back().bytes);
  }
  progress.finish();
  return result;
}

}  // namespace

Result<IndexResult> index(const IndexOptions& options, const OnProgress& on_progress) {
  return returned([&]() -> Result<IndexResult> {
    const Reporter finding(on_progress, {.phase = Phase::kFind});
    STOKER_TRY(Inputs inputs, find_inputs(options.paths));
    return index_all(options.label, std::move(inputs.files), on_progress);
  });
}

}  // namespace stoker::prepare

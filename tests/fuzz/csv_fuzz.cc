// Any text is divided into records that cover it. The end of each record does not depend on how
// much of the text is known, and every field of a valid record can be read.
#include <cstddef>
#include <cstdint>

#include "stoker/codecs/csv.h"
#include "stoker/core/error.h"

namespace stoker {
namespace {

void read_fields(Bytes record, CsvDialect dialect) {
  size_t characters = 0, fields = 0;
  CsvFields each(record, dialect);
  while (const auto field = each.next()) {
    ++fields;
    characters += field->text.size();
    if (field->doubled) STOKER_CHECK(undoubled(field->text).size() < field->text.size());
    for (const DType type : {DType::kInt32, DType::kInt64, DType::kFloat32, DType::kFloat64})
      parse_csv_number(field->text, type);
  }
  STOKER_CHECK(fields >= 1 && characters + fields - 1 <= record.size());
}

void read_records(Bytes text, CsvDialect dialect, size_t known) {
  while (!text.empty()) {
    const auto end = find_csv_end(text, true, dialect);
    STOKER_CHECK(end && end->taken > 0 && end->record <= end->taken && end->taken <= text.size());
    if (known > 0 && known < text.size()) {
      const auto early = find_csv_end(text.substr(0, known), false, dialect);
      STOKER_CHECK(!early || (early->taken == end->taken && early->problem == end->problem));
    }
    if (!end->problem) read_fields(text.substr(0, end->record), dialect);
    text.remove_prefix(end->taken);
  }
}

}  // namespace
}  // namespace stoker

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const stoker::Bytes text(reinterpret_cast<const char*>(data) + 2, size - 2);
  stoker::read_records(text, {.delimiter = data[0] % 2 ? ',' : ';', .quotes = data[0] % 4 < 2}, data[1]);
  return 0;
}

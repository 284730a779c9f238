#include "stoker/sources/csv.h"

#include <algorithm>
#include <array>
#include <mutex>

#include "stoker/codecs/csv.h"
#include "stoker/codecs/file_kind.h"
#include "stoker/core/record_limit.h"
#include "stoker/core/shown.h"
#include "stoker/io/window.h"

namespace stoker {
namespace {

// Limits the damage of a quote that is never closed: without a limit, the rest of the file would be one record.
constexpr int64_t kMostRecordBytes = int64_t{16} << 20;
size_t most_record_bytes() { return static_cast<size_t>(std::min(kMostRecordBytes, record_limit())); }
constexpr size_t kFirstBytes = size_t{4} << 10;
constexpr size_t kSignatureBytes = 4;  // of compressed data; a byte order mark is shorter

CsvDialect dialect_of(const Csv& csv) { return {csv.field_delim[0], csv.use_quote_delim}; }

// Counts the line ends of a text that ends with a line end or with the file.
int64_t lines_in(Bytes text) {
  int64_t lines = 0;
  for (size_t i = 0; i < text.size(); ++i)
    lines += text[i] == '\n' || (text[i] == '\r' && !(i + 1 < text.size() && text[i + 1] == '\n'));
  return lines;
}

// No text starts with the signature of compressed data.
Result<void> check_is_text(const ByteWindow& window) {
  const std::string_view kind = kind_of(window.bytes());
  if (kind != "GZIP data" && kind != "zstd data") return {};
  return Error::invalid(window.path(), " is ", kind, ", expected text; set compression_type to \"",
                        kind == "GZIP data" ? "GZIP" : "ZSTD", "\" or \"AUTO\"")
      .set_path(window.path());
}

Result<void> check_columns(const std::vector<int64_t>& columns, std::string_view name) {
  int64_t before = -1;
  for (const int64_t column : columns) {
    if (column < 0) return Error::invalid(name, " contains ", column, ", columns are numbered from 0");
    if (column <= before)
      return Error::invalid(name, " contains ", column, " after ", before, ", expected increasing numbers");
    before = column;
  }
  return {};
}

Result<void> check_default(const Array& value, size_t i) {
  constexpr std::array kTypes = {DType::kInt32, DType::kInt64, DType::kFloat32, DType::kFloat64, DType::kBytes};
  if (std::ranges::find(kTypes, value.type()) == kTypes.end())
    return Error::invalid("record_defaults[", i, "] is ", name_of(value.type()),
                          ", expected int32, int64, float32, float64 or string");
  if (value.rank() <= 1 && value.count() <= 1) return {};
  return Error::invalid("record_defaults[", i, "] has shape ", shape_text(value.shape()),
                        ", expected one value or an empty array");
}

}  // namespace

struct Csv::Structure {
  std::once_flag once;
  const Nest* nest = nullptr;
};
std::shared_ptr<Csv::Structure> Csv::new_structure() { return std::make_shared<Structure>(); }

Result<void> Csv::check() const {
  STOKER_TRY(const Compression known, compression_of(compression_type));
  (void)known;
  if (filenames.empty()) return Error::invalid("expected at least one file, got an empty list");
  if (record_defaults.empty()) return Error::invalid("record_defaults is empty, expected one value for each column");
  if (field_delim.size() != 1) return Error::invalid("field_delim is '", field_delim, "', expected one byte");
  if (field_delim == "\n" || field_delim == "\r" || (field_delim == "\"" && use_quote_delim))
    return Error::invalid("field_delim is '", shown(field_delim),
                          "', which ends records or quotes fields; choose another byte");
  if (!select_cols.empty() && !exclude_cols.empty())
    return Error::invalid("select_cols and exclude_cols are both set, expected at most one of them");
  STOKER_TRY(check_columns(select_cols, "select_cols"));
  STOKER_TRY(check_columns(exclude_cols, "exclude_cols"));
  if (!select_cols.empty() && select_cols.size() != record_defaults.size())
    return Error::invalid("select_cols has ", select_cols.size(), " columns, but record_defaults has ",
                          record_defaults.size());
  for (size_t i = 0; i < record_defaults.size(); ++i) STOKER_TRY(check_default(record_defaults[i], i));
  return {};
}

Result<void> Csv::check_state(const State& state) const {
  if (state.file >= 0 && state.offset >= 0 && state.offset < kEndless && state.line >= 0 && state.line < kEndless)
    return {};
  return Error::invalid("the checkpoint is damaged: byte ", state.offset, " of file ", state.file);
}

Result<Spec> Csv::spec(std::span<const Spec>) const {
  Spec spec{Nest::tuple_of_leaves(record_defaults.size()), {}};
  for (const Array& value : record_defaults) spec.leaves.push_back({value.type(), std::vector<int64_t>{}});
  return spec;
}

// Opens the current file of the state. At the start of a file, skips the byte order mark.
Result<void> Csv::open(State& state) const {
  const std::string& path = filenames[static_cast<size_t>(state.file)];
  STOKER_TRY(const Compression compression, compression_of(compression_type));
  STOKER_TRY(auto bytes, open_stream(path, compression));
  if (state.offset > 0) STOKER_TRY(bytes->skip(state.offset));
  state.window = std::make_shared<ByteWindow>(std::move(bytes), state.offset);
  if (state.offset > 0) return {};
  constexpr Bytes kByteOrderMark = "\xef\xbb\xbf";
  STOKER_TRY(state.window->fill(kSignatureBytes));
  if (Result<void> text = check_is_text(*state.window); compression == Compression::kNone && !text) {
    state.window.reset();
    return text;
  }
  if (state.window->bytes().starts_with(kByteOrderMark)) state.window->take(kByteOrderMark.size());
  return {};
}

Result<void> Csv::open_records(State& state) const {
  const bool is_at_start = state.offset == 0;
  STOKER_TRY(open(state));
  if (!header || !is_at_start) return {};
  STOKER_TRY(const Array names, take_header(state));
  (void)names;
  return {};
}

// Reads the first record of a file that was just opened.
Result<Array> Csv::take_header(State& state) const {
  const std::string& path = filenames[static_cast<size_t>(state.file)];
  Result<std::optional<Element>> names = next_record(state, Context());
  if (!names) return Error::of(names.error().code(), "cannot read the header: ", names.error().message());
  if (!*names) return Error::invalid(path, " is empty, expected a header").set_path(path);
  return (*names)->leaves[0];
}

// Returns "column 'age'", or "column 1" without a header. Reads the header again: only errors need it.
std::string Csv::describe_column(int64_t column, const std::string& path) const {
  const std::string number = "column " + std::to_string(column);
  const auto file = std::ranges::find(filenames, path);
  if (!header || file == filenames.end() || is_special_file(path)) return number;
  State state;
  state.file = file - filenames.begin();
  if (!open(state)) return number;
  const Result<Array> names = take_header(state);
  if (!names) return number;
  CsvFields fields(names->bytes(), dialect_of(*this));
  auto field = fields.next();
  for (int64_t i = 0; field && i < column; ++i) field = fields.next();
  if (!field) return number;
  return "column '" + shown(field->doubled ? undoubled(field->text) : std::string(field->text)) + "'";
}

// Reads on until the end of the first record in the window is known; nothing at the end of the file. If reading the
// file fails, the bytes before the failure are not a record.
Result<std::optional<CsvEnd>> Csv::find_end(ByteWindow& window, const Context& context) const {
  const size_t most = most_record_bytes();
  for (size_t wanted = kFirstBytes;; wanted = std::min(2 * window.bytes().size(), most + 1)) {
    if (context.stopped()) return Error::cancelled();
    const bool whole = window.ended() || window.bytes().size() > most;
    if (!window.bytes().empty())
      if (std::optional<CsvEnd> end = find_csv_end(window.bytes(), whole, dialect_of(*this))) return end;
    if (window.ended()) return std::optional<CsvEnd>();
    if (Result<void> filled = window.fill(wanted); !filled) {
      window.take(window.bytes().size());
      return std::move(filled).error();
    }
  }
}

// Skips the rest of a line that is too long.
Result<void> Csv::pass_line(ByteWindow& window, const Context& context) const {
  while (!context.stopped()) {
    const size_t end = window.bytes().find_first_of("\r\n");
    window.take(std::min(end, window.bytes().size()));
    if (end != Bytes::npos || window.ended()) break;
    STOKER_TRY(window.fill(kFirstBytes));
  }
  STOKER_TRY(window.fill(2));  // so that "\r\n" is not split
  if (const std::optional<CsvEnd> rest = window.bytes().empty() ? std::nullopt : find_csv_end(window.bytes(), true, {}))
    window.take(rest->taken);
  return {};
}

Result<std::optional<Element>> Csv::next_record(State& state, const Context& context) const {
  ByteWindow& window = *state.window;
  STOKER_TRY(const std::optional<CsvEnd> end, find_end(window, context));
  if (!end) return std::optional<Element>();
  const Bytes taken = window.bytes().substr(0, end->taken);
  const int64_t offset = window.offset(), line = state.line;
  const size_t most = most_record_bytes();
  const bool too_long = end->record > most;
  if (end->problem || too_long) {
    const Error error = too_long && most < static_cast<size_t>(kMostRecordBytes)
                            ? record_too_large("record", window.path(), offset, static_cast<int64_t>(most))
                            : Error::invalid(window.path(), ", line ", line + 1, ": ",
                                             too_long ? "the record is too long" : end->problem, ": ",
                                             shown(taken.substr(0, end->record)))
                                  .set_path(window.path(), offset + static_cast<int64_t>(end->problem_at));
    const bool cut = end->taken == end->record && !window.ended();
    state.line += cut ? 1 : lines_in(taken);
    window.take(end->taken);
    if (cut) STOKER_TRY(pass_line(window, context));
    state.offset = window.offset();
    return error;
  }
  Array text = Array::of_bytes(taken.substr(0, end->record));
  text.owner()->set_source({window.path(), offset});
  state.line += lines_in(taken);
  window.take(end->taken);
  state.offset = window.offset();
  InlineVector<Array, 2> leaves;
  leaves.emplace_back(std::move(text));
  leaves.emplace_back(Array::of(line));
  static const Nest* const pair = Nest::tuple_of_leaves(2);
  return std::optional<Element>(Element(pair, std::move(leaves)));
}

Result<std::optional<Element>> Csv::next(State& state, Context& context) const {
  while (state.file < static_cast<int64_t>(filenames.size())) {
    const Result<void> opened = state.window ? Result<void>() : open_records(state);
    Result<std::optional<Element>> record =
        opened ? next_record(state, context) : Result<std::optional<Element>>(opened.error());
    if (record && *record) return record;
    const bool goes_on = state.window && !record && !(state.window->ended() && state.window->bytes().empty());
    if (!goes_on) {
      ++state.file;
      state.offset = state.line = 0;
      state.window.reset();
    }
    if (!record) return record;
  }
  return std::optional<Element>();
}

bool Csv::is_wanted(int64_t column, size_t found) const {
  if (!select_cols.empty()) return found < select_cols.size() && select_cols[found] == column;
  return !std::ranges::binary_search(exclude_cols, column);
}

bool Csv::is_missing(Bytes text) const { return text.empty() || text == na_value; }

// `output` is the number of the column among the selected columns.
Result<Array> Csv::value_of(Bytes text, bool doubled, size_t output, const Array& record) const {
  const Array& standard = record_defaults[output];
  const DType type = standard.type();
  if (is_missing(text)) {
    if (standard.count() == 1) return standard.rank() == 0 ? standard : standard.row(0);
    return Error::invalid("is empty and has no default");
  }
  if (type == DType::kBytes && doubled) return Array::of_bytes(undoubled(text));
  if (type == DType::kBytes) {
    record.owner()->keep();
    return Array::view_bytes(text, record.owner());
  }
  if (std::optional<Array> number = parse_csv_number(text, type)) return *std::move(number);
  return Error::invalid("is '", shown(text), "', expected ", name_of(type));
}

Result<Element> Csv::load(Element record, Context&) const {
  const Array& text = record.leaves[0];
  const auto refused = [&](const auto&... words) {
    const auto source = text.source();
    return Error::invalid(source ? source->path : "", ", line ", record.leaves[1].scalar<int64_t>() + 1, ": ", words...)
        .set_path(source ? source->path : "", source ? source->offset : -1);
  };
  std::call_once(structure->once, [&] { structure->nest = Nest::tuple_of_leaves(record_defaults.size()); });
  Element element(structure->nest, {});
  CsvFields fields(text.bytes(), dialect_of(*this));
  int64_t columns = 0;
  size_t found = 0;
  for (auto field = fields.next(); field; field = fields.next(), ++columns) {
    if (!is_wanted(columns, found)) continue;
    if (found++ >= record_defaults.size()) continue;
    Result<Array> value = value_of(field->text, field->doubled, found - 1, text);
    if (!value) {
      const auto source = text.source();
      const bool may_be_header = !header && record.leaves[1].scalar<int64_t>() == 0 && !is_missing(field->text);
      return refused(describe_column(columns, source ? source->path : ""), " ", value.error().message(),
                     may_be_header ? "; set `header` if line 1 contains the names of the columns" : "");
    }
    element.leaves.emplace_back(*std::move(value));
  }
  if (found == record_defaults.size()) return element;
  if (!select_cols.empty())
    return refused("the record has ", columns, " columns, but column ", select_cols[found], " is selected");
  return refused("the record has ", columns, " columns, expected ",
                 static_cast<size_t>(columns) - found + record_defaults.size());
}

}  // namespace stoker

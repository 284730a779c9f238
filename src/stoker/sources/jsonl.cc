#include "stoker/sources/jsonl.h"

#include <algorithm>
#include <mutex>

#include "stoker/core/charge.h"
#include "stoker/core/record_limit.h"
#include "stoker/core/shown.h"
#include "stoker/io/lines.h"
#include "stoker/io/stream.h"
#include "stoker/sources/jsonl_features.h"

namespace stoker {
namespace {

// The memory for parsing a shorter line is not worth counting.
constexpr size_t kLongLine = size_t{64} << 10;
// The limit for one line. Lines of documents have a few megabytes.
constexpr int64_t kMostLineBytes = int64_t{256} << 20;

// The line of a file is the only line of its text, so that the message of the parser would name another number.
std::string without_line(const std::string& message) {
  constexpr std::string_view kPlace = "not JSON at line 1, ";
  if (message.starts_with(kPlace)) return "not valid JSON at " + message.substr(kPlace.size());
  return "not valid JSON: " + message;
}

bool fits(Dims dims, const std::vector<int64_t>& shape) {
  return std::ranges::equal(dims, shape, [](int64_t found, int64_t wanted) { return wanted < 0 || found == wanted; });
}

bool is_blank(std::string_view line) { return line.find_first_not_of(" \t") == std::string_view::npos; }

}  // namespace

struct JsonLines::Structure {
  std::once_flag once;
  const Nest* nest = nullptr;
};
std::shared_ptr<JsonLines::Structure> JsonLines::new_structure() { return std::make_shared<Structure>(); }

const Nest* JsonLines::nest() const {
  std::call_once(structure->once, [&] {
    std::vector<Nest::Field> fields;
    for (const std::string& name : names) fields.emplace_back(name, Nest::leaf());
    structure->nest = Nest::dict(std::move(fields));
  });
  return structure->nest;
}

Result<void> JsonLines::check() const {
  STOKER_TRY(const Compression known, compression_of(compression_type));
  (void)known;
  if (filenames.empty()) return Error::invalid("expected at least one file, got an empty list");
  if (names.empty()) return Error::invalid("names is empty, expected at least one feature");
  if (dtypes.size() != names.size())
    return Error::invalid("expected one dtype for each of the ", names.size(), " names, got ", dtypes.size());
  if (!shapes.empty() && shapes.size() != names.size())
    return Error::invalid("expected one shape for each of the ", names.size(), " names, got ", shapes.size());
  if (!defaults.empty() && defaults.size() != names.size())
    return Error::invalid("expected one default for each of the ", names.size(), " names, got ", defaults.size());
  for (size_t i = 0; i < names.size(); ++i) {
    if (std::ranges::count(names, names[i]) > 1)
      return Error::invalid("names contains '", names[i], "' more than once");
    if (defaults.empty() || !defaults[i]) continue;
    if (defaults[i]->type() != dtypes[i] || !fits(defaults[i]->shape(), shape(i)))
      return Error::invalid("the default of '", names[i], "' is ", name_of(defaults[i]->type()), " of shape ",
                            shape_text(defaults[i]->shape()), ", expected ", name_of(dtypes[i]), " of shape ",
                            shape_text(shape(i)));
  }
  return {};
}

Result<void> JsonLines::check_state(const State& state) const {
  if (state.file >= 0 && state.lines >= 0 && state.lines <= kEndless) return {};
  return Error::invalid("the checkpoint is damaged: line ", state.lines, " of file ", state.file);
}

Result<Spec> JsonLines::spec(std::span<const Spec>) const {
  Spec spec{nest(), std::vector<LeafSpec>(names.size())};
  for (size_t i = 0; i < names.size(); ++i) spec.leaves[spec.nest->first_leaf(i)] = {dtypes[i], shape(i)};
  return spec;
}

// Opens the current file of the state and skips the lines that were already read.
Result<void> JsonLines::open(State& state) const {
  const std::string& path = filenames[static_cast<size_t>(state.file)];
  STOKER_TRY(const Compression compression, compression_of(compression_type));
  const auto most = static_cast<size_t>(std::min(kMostLineBytes, record_limit()));
  STOKER_TRY(LineReader reader, LineReader::open(path, compression, {.line_bytes_at_most = most}));
  state.reader = std::make_shared<LineReader>(std::move(reader));
  for (int64_t i = 0; i < state.lines; ++i) {
    std::string_view line;
    const Result<bool> more = state.reader->next(line);
    if (more && !*more)
      return Error::corrupt(path, " has ", i, " lines, expected at least ", state.lines, ": the file has changed")
          .set_path(path);
  }
  return {};
}

Result<std::optional<Element>> JsonLines::next(State& state, Context&) const {
  static const Nest* const pair = Nest::tuple_of_leaves(2);
  while (state.file < static_cast<int64_t>(filenames.size())) {
    const std::string& path = filenames[static_cast<size_t>(state.file)];
    const Result<void> opened = state.reader ? Result<void>() : open(state);
    std::string_view line;
    Result<bool> more = opened ? state.reader->next(line) : Result<bool>(opened.error());
    const bool too_long = opened && !more && more.error().code() == Code::kResourceExhausted;
    if ((more && *more) || too_long) {
      ++state.lines;
      if (too_long) return std::move(more).error();
      constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
      if (state.lines == 1 && line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
      if (is_blank(line)) continue;
      Array text = Array::of_bytes(line);
      text.owner()->set_source({path, state.reader->offset()});
      InlineVector<Array, 2> leaves;
      leaves.emplace_back(std::move(text));
      leaves.emplace_back(Array::of(state.lines));
      return std::optional<Element>(Element(pair, std::move(leaves)));
    }
    ++state.file;
    state.lines = 0;
    state.reader.reset();
    if (!more) return std::move(more).error();
  }
  return std::optional<Element>();
}

Result<Element> JsonLines::load(Element line, Context&) const {
  const Array& text = line.leaves[0];
  Result<Element> element = parse(text.bytes());
  if (element) return element;
  const auto source = text.source();
  const std::string path = source ? source->path : "";
  return Error::of(element.error().code(), path, ", line ", line.leaves[1].scalar<int64_t>(), ": ",
                   element.error().message())
      .set_path(path, source ? source->offset : -1);
}

Result<Element> JsonLines::parse(Bytes text) const {
  std::vector<JsonFeature> features;
  for (size_t i = 0; i < names.size(); ++i) features.emplace_back(dtypes[i], shape(i));
  JsonFeatures reader(names, std::move(features));
  Charge parser;  // which keeps the longest string or row of brackets
  if (text.size() >= kLongLine) STOKER_TRY(parser.grow_for("parsing a long line", static_cast<int64_t>(text.size())));
  const Result<void> read = visit_json(text, reader);
  if (!read && read.error().code() == Code::kCancelled)
    return Error::exhausted("the memory budget has no space now for the values of a line of ", text.size(), " bytes");
  if (!read) return Error::invalid(without_line(read.error().message()), ": ", shown(text));
  if (!reader.other_kind().empty()) return Error::invalid("expected an object, got ", reader.other_kind());
  Element element(nest(), {});
  for (size_t i = 0; i < names.size(); ++i) element.leaves.emplace_back(Array());
  for (size_t i = 0; i < names.size(); ++i) {
    Result<Array> feature = feature_of(reader.features()[i], i);
    if (!feature) return Error::of(feature.error().code(), "'", names[i], "': ", feature.error().message());
    element.leaves[element.nest->first_leaf(i)] = *std::move(feature);
  }
  return element;
}

Result<Array> JsonLines::feature_of(JsonFeature& feature, size_t number) const {
  STOKER_TRY(std::optional<Array> array, feature.result());
  if (array) return *std::move(array);
  if (!defaults.empty() && defaults[number]) return *defaults[number];
  return Error::invalid(feature.is_missing() ? "the key is missing" : "the value is null",
                        " and the feature has no default");
}

}  // namespace stoker

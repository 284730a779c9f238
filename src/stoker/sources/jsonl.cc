#include "stoker/sources/jsonl.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

#include "stoker/core/record_limit.h"
#include "stoker/core/shown.h"
#include "stoker/io/lines.h"
#include "stoker/io/stream.h"

namespace stoker {
namespace {

// The limit for one line. Lines of documents have a few megabytes.
constexpr int64_t kMostLineBytes = int64_t{256} << 20;

// Collects the items of nested lists in order and checks that all lists of a level have the same length.
class Items {
 public:
  explicit Items(std::vector<int64_t> shape) : dims_(std::move(shape)) {}

  Result<void> add(const Json& value, size_t depth = 0) {
    if (depth == dims_.size()) {
      items_.push_back(&value);
      return {};
    }
    const auto* list = value.as<Json::List>();
    if (!list) return Error::invalid("expected a list of rank ", dims_.size() - depth, ", got ", value.describe_kind());
    const auto size = static_cast<int64_t>(list->size());
    if (dims_[depth] < 0) dims_[depth] = size;
    if (dims_[depth] != size) return Error::invalid("expected a list of ", dims_[depth], " items, got ", size);
    for (const Json& item : *list) STOKER_TRY(add(item, depth + 1));
    return {};
  }

  // The lengths below an empty list are unknown. They become 0.
  std::vector<int64_t> shape() const {
    std::vector<int64_t> known = dims_;
    std::ranges::replace_if(known, [](int64_t dim) { return dim < 0; }, 0);
    return known;
  }
  const std::vector<const Json*>& list() const { return items_; }

 private:
  std::vector<int64_t> dims_;
  std::vector<const Json*> items_;
};

Error wrong(const Json& value, DType type) {
  return Error::invalid("expected ", name_of(type), ", got ", value.describe_kind());
}

template <typename T>
Result<T> number_of(const Json& value) {
  const auto* whole = value.as<int64_t>();
  if constexpr (std::is_same_v<T, bool>) {
    const auto* truth = value.as<bool>();
    if (truth) return *truth;
  } else if constexpr (std::is_integral_v<T>) {
    if (whole && std::in_range<T>(*whole)) return static_cast<T>(*whole);
    if (whole) return Error::invalid(*whole, " does not fit ", name_of(dtype_of<T>));
  } else {
    const auto* real = value.as<double>();
    if (real || whole) {
      const double found = real ? *real : static_cast<double>(*whole);
      return static_cast<T>(static_cast<std::conditional_t<std::is_same_v<T, double>, double, float>>(found));
    }
  }
  return wrong(value, dtype_of<T>);
}

Result<Array> array_of(const Items& items, DType type) {
  const std::vector<int64_t> dims = items.shape();
  return visit_dtype(type, [&](auto zero) -> Result<Array> {
    using T = decltype(zero);
    if constexpr (std::is_same_v<T, Bytes>) {
      std::vector<Bytes> texts;
      for (const Json* item : items.list()) {
        const auto* text = item->as<std::string>();
        if (!text) return wrong(*item, type);
        texts.emplace_back(*text);
      }
      return dims.empty() ? Array::of_bytes(texts[0]) : Array::of_strings(texts, dims);
    } else {
      STOKER_TRY(Array array, Array::make(dims, type));
      auto* at = static_cast<T*>(array.mutable_raw());
      for (const Json* item : items.list()) {
        STOKER_TRY(*at, number_of<T>(*item));
        ++at;
      }
      return array;
    }
  });
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
  const Result<Json> object = parse_json(text);
  if (!object) return Error::invalid("not valid JSON: ", object.error().message(), ": ", shown(text));
  if (!object->as<Json::Dict>()) return Error::invalid("expected an object, got ", object->describe_kind());
  Element element(nest(), {});
  for (size_t i = 0; i < names.size(); ++i) element.leaves.emplace_back(Array());
  for (size_t i = 0; i < names.size(); ++i) {
    Result<Array> feature = feature_of(*object, i);
    if (!feature) return Error::invalid("'", names[i], "': ", feature.error().message());
    element.leaves[element.nest->first_leaf(i)] = *std::move(feature);
  }
  return element;
}

Result<Array> JsonLines::feature_of(const Json& object, size_t feature) const {
  const Json* value = nullptr;  // the last of several with this key, as in other JSON parsers
  for (const auto& [key, item] : *object.as<Json::Dict>())
    if (key == names[feature]) value = &item;
  if (!value || value->is_null()) {
    if (!defaults.empty() && defaults[feature]) return *defaults[feature];
    return Error::invalid(value ? "the value is null" : "the key is missing", " and the feature has no default");
  }
  Items items(shape(feature));
  STOKER_TRY(items.add(*value));
  return array_of(items, dtypes[feature]);
}

}  // namespace stoker

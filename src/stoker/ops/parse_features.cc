#include "stoker/ops/parse_features.h"

#include <algorithm>

#include "stoker/ops/call.h"

namespace stoker {
namespace {

using Fields = std::vector<std::pair<std::string, Value>>;

// The keys of all features, each of them once.
class Names {
 public:
  int64_t place_of(const std::string& name) {
    const auto at = std::ranges::find(names_, name);
    if (at == names_.end()) names_.push_back(name);
    return static_cast<int64_t>(std::ranges::find(names_, name) - names_.begin());
  }
  const std::vector<std::string>& all() const { return names_; }

 private:
  std::vector<std::string> names_;
};

template <typename T>
void place(T& feature, const std::string& name, Names& names) {
  if (feature.key.empty()) feature.key = name;
  feature.at = names.place_of(feature.key);
}

void place(SparseFeature& feature, const std::string& name, Names& names) {
  if (feature.value_key.empty()) feature.value_key = name;
  feature.value_at = names.place_of(feature.value_key);
  feature.index_at.clear();
  for (const std::string& key : feature.index_keys) feature.index_at.push_back(names.place_of(key));
}

void place(RaggedFeature& feature, const std::string& name, Names& names) {
  place<RaggedFeature>(feature, name, names);
  feature.partition_at.resize(feature.partitions.size());
  for (size_t i = 0; i < feature.partitions.size() && i < feature.partition_keys.size(); ++i)
    if (!feature.partition_keys[i].empty()) feature.partition_at[i] = names.place_of(feature.partition_keys[i]);
}

struct Found {
  Value serialized, messages;
  bool several;
  bool lists;

  template <typename T>
  Value decoded(T feature) const {
    if constexpr (requires { feature.steps; }) feature.steps = lists;
    return call(std::move(feature), {serialized, messages});
  }
};

template <typename T>
Value sparse(const T& feature, const Found& found) {
  Fields parts;
  for (const char* part : {"indices", "values", "dense_shape"}) {
    T one = feature;
    one.part = part;
    parts.emplace_back(part, found.decoded(std::move(one)));
  }
  return dict(std::move(parts));
}

Value value_of(const FixedLenFeature& feature, const Found& found) { return found.decoded(feature); }
Value value_of(const FixedLenSequenceFeature& feature, const Found& found) { return found.decoded(feature); }
Value value_of(const VarLenFeature& feature, const Found& found) { return sparse(feature, found); }
Value value_of(const SparseFeature& feature, const Found& found) { return sparse(feature, found); }

Value value_of(const RaggedFeature& feature, const Found& found) {
  const auto part = [&](int64_t number) {
    RaggedFeature one = feature;
    one.part = number;
    return found.decoded(std::move(one));
  };
  Value value = part(-1);
  const int64_t outer = (found.several ? 1 : 0) + (found.lists ? 1 : 0);
  for (int64_t level = outer + static_cast<int64_t>(ragged_levels(feature)); level-- > 0;) {
    Fields rows;
    rows.emplace_back("values", value);
    rows.emplace_back("row_splits", part(level));
    value = dict(std::move(rows));
  }
  return value;
}

Found find(const Value& serialized, ExampleSchema& features, bool several, bool lists) {
  Names names;
  for (auto& wanted : features) std::visit([&](auto& one) { place(one, wanted.first, names); }, wanted.second);
  return {serialized, call(ExampleFeatures{.keys = names.all(), .lists = lists}, {serialized}), several, lists};
}

Value features_of(const ExampleSchema& features, const Found& found) {
  Fields fields;
  for (const auto& [name, feature] : features)
    fields.emplace_back(name, std::visit([&](const auto& one) { return value_of(one, found); }, feature));
  return dict(std::move(fields));
}

Value lengths_of(const ExampleSchema& features, const Found& found) {
  Fields fields;
  for (const auto& [name, feature] : features)
    if (const auto* fixed = std::get_if<FixedLenSequenceFeature>(&feature))
      fields.emplace_back(name, found.decoded(SequenceLength{.key = fixed->key, .at = fixed->at}));
  return dict(std::move(fields));
}

}  // namespace

Value io::parse_single_example(Value serialized, ExampleSchema features) {
  const Found found = find(serialized, features, false, false);
  return features_of(features, found);
}

Value io::parse_example(Value serialized, ExampleSchema features) {
  const Found found = find(serialized, features, true, false);
  return features_of(features, found);
}

Value io::parse_single_sequence_example(Value serialized, ExampleSchema context, ExampleSchema lists) {
  const Found in_context = find(serialized, context, false, false), in_lists = find(serialized, lists, false, true);
  return tuple(features_of(context, in_context), features_of(lists, in_lists));
}

Value io::parse_sequence_example(Value serialized, ExampleSchema context, ExampleSchema lists) {
  const Found in_context = find(serialized, context, true, false), in_lists = find(serialized, lists, true, true);
  return tuple(features_of(context, in_context), features_of(lists, in_lists), lengths_of(lists, in_lists));
}

}  // namespace stoker

#include "stoker/prepare/data_facts.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "stoker/ops/image_bytes.h"
#include "stoker/prepare/image_check.h"

namespace stoker::prepare {
namespace {

template <typename Key>
void add_counts(std::map<Key, int64_t>& to, const std::map<Key, int64_t>& more) {
  for (const auto& [key, count] : more) to[key] += count;
}

const char* name_of(Feature::Kind kind) {
  switch (kind) {
    case Feature::Kind::kBytes: return "bytes";
    case Feature::Kind::kFloat32: return "float32";
    case Feature::Kind::kInt64: return "int64";
    default: return "none";
  }
}

// The features of a tf.train.Example; nullopt if the record is not one.
std::optional<std::vector<std::pair<Bytes, Feature>>> features_in(Bytes record) {
  std::vector<std::pair<Bytes, Feature>> features;
  FeatureWalk walk(record);
  while (true) {
    const Result<bool> any = walk.next();
    if (!any) return std::nullopt;
    if (!*any) return features;
    const Result<Feature> feature = walk.feature();
    if (!feature) return std::nullopt;
    features.emplace_back(walk.name(), *feature);
  }
}

}  // namespace

void Spread::add(int64_t value) {
  ++count;
  sum += static_cast<double>(value);
  least = std::min(least, value);
  most = std::max(most, value);
}

void Spread::add(const Spread& more) {
  count += more.count;
  sum += more.sum;
  least = std::min(least, more.least);
  most = std::max(most, more.most);
}

void ImageFacts::add(Bytes image) {
  ++formats[std::string(stoker::name_of(format_of(image)))];
  const Result<std::vector<int64_t>> shape = image_shape(image, {.frames = Frames::kFirst});
  if (!shape || shape->size() != 3) {
    ++unreadable;
    return;
  }
  heights.add((*shape)[0]);
  widths.add((*shape)[1]);
  ++channels[(*shape)[2]];
}

void ImageFacts::add(const ImageFacts& more) {
  add_counts(formats, more.formats);
  add_counts(channels, more.channels);
  heights.add(more.heights);
  widths.add(more.widths);
  unreadable += more.unreadable;
}

void FeatureFacts::add(const Feature& feature) {
  if (feature.kind == Feature::Kind::kMissing) return;
  ++kinds[name_of(feature.kind)];
  const Result<int64_t> count = count_values(feature);
  if (!count) return;
  values.add(*count);
  if (feature.kind == Feature::Kind::kInt64) add_numbers(feature, *count);
  if (feature.kind != Feature::Kind::kBytes) return;
  const Result<std::vector<Bytes>> strings = strings_in(feature);
  if (!strings) return;
  for (const Bytes value : *strings) {
    sizes.add(static_cast<int64_t>(value.size()));
    if (looks_like_image(value)) images.add(value);
  }
}

void FeatureFacts::add_numbers(const Feature& feature, int64_t count) {
  std::vector<int64_t> list(static_cast<size_t>(count));
  if (!read_values(feature, std::span(list))) return;
  for (const int64_t number : list) numbers.add(number);
  if (count == 1 && !many_numbers) ++counts[list[0]];
  check_few();
}

void FeatureFacts::check_few() {
  many_numbers |= counts.size() > kFewNumbers;
  if (many_numbers) counts.clear();
}

void FeatureFacts::add(const FeatureFacts& more) {
  add_counts(kinds, more.kinds);
  values.add(more.values);
  sizes.add(more.sizes);
  numbers.add(more.numbers);
  many_numbers |= more.many_numbers;
  add_counts(counts, more.counts);
  check_few();
  images.add(more.images);
}

void DataFacts::add(Bytes record) {
  records.add(static_cast<int64_t>(record.size()));
  const auto found = features_in(record);
  if (!found || found->empty()) return;
  ++examples;
  for (const auto& [name, feature] : *found) {
    const auto known = features.find(std::string(name));
    (known == features.end() ? features[std::string(name)] : known->second).add(feature);
  }
}

void DataFacts::add(const DataFacts& more) {
  records.add(more.records);
  examples += more.examples;
  damaged += more.damaged;
  for (const auto& [name, facts] : more.features) features[name].add(facts);
}

}  // namespace stoker::prepare

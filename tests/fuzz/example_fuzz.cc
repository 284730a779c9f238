// Any bytes are read without a crash; what can be read and is written again
// reads the same.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "stoker/codecs/example.h"

namespace stoker {
namespace {

// Puts the values of a feature into the writer; false where they cannot be read.
template <typename T>
bool copy_values(const Feature& feature, std::string name, ExampleWriter& writer) {
  const Result<int64_t> count = count_values(feature);
  if (!count) return false;
  std::vector<T> values(static_cast<size_t>(*count));
  if (!read_values(feature, std::span<T>(values))) return false;
  writer.set(std::move(name), std::span<const T>(values));
  return true;
}

bool copy_feature(const Feature& feature, Bytes name, ExampleWriter& writer) {
  switch (feature.kind) {
    case Feature::Kind::kMissing: return false;
    case Feature::Kind::kBytes: return copy_values<Bytes>(feature, std::string(name), writer);
    case Feature::Kind::kFloat32: return copy_values<float>(feature, std::string(name), writer);
    case Feature::Kind::kInt64: return copy_values<int64_t>(feature, std::string(name), writer);
  }
  return false;
}

bool copy_example(Bytes example, ExampleWriter& writer) {
  FeatureWalk walk(example);
  while (true) {
    const Result<bool> more = walk.next();
    if (!more || !*more) return more.ok();
    const Result<Feature> feature = walk.feature();
    if (!feature || !copy_feature(*feature, walk.name(), writer)) return false;
  }
}

}  // namespace
}  // namespace stoker

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const stoker::Bytes bytes(reinterpret_cast<const char*>(data), size);
  stoker::ExampleWriter first, second;
  if (!stoker::copy_example(bytes, first)) return 0;
  const std::string written = first.serialized();
  STOKER_CHECK(stoker::copy_example(written, second));
  STOKER_CHECK(second.serialized() == written);
  return 0;
}

#pragma once

#include <string>
#include <vector>

#include "stoker/codecs/example.h"
#include "stoker/ops/call.h"
#include "stoker/ops/parse_example.h"
#include "support/eval.h"

namespace stoker {

// Builds serialized records for tests of the operations on features.

using Ints = std::vector<int64_t>;
using Floats = std::vector<float>;
using Texts = std::vector<Bytes>;

// One record, or a vector of several.
inline Array one(const std::string& record) { return Array::of_bytes(record); }
inline Array vector_of(const std::vector<std::string>& records) { return Array::from(records); }

// A record whose int64 features have these values.
inline std::string ints(const std::vector<std::pair<std::string, Ints>>& features) {
  ExampleWriter writer;
  for (const auto& [name, values] : features) writer.set(name, values);
  return writer.serialized();
}

// A SequenceExample whose int64 lists have these steps.
inline std::string steps(const std::vector<std::pair<std::string, std::vector<Ints>>>& lists) {
  SequenceExampleWriter writer;
  for (const auto& [name, all] : lists) {
    writer.add_list(name);
    for (const Ints& values : all) writer.add_step(name, values);
  }
  return writer.serialized();
}

// A record, and the encoded features that example_features finds in it.
inline Arrays record_and_features(const std::string& record, std::vector<std::string> names, bool lists = false) {
  const ExampleFeatures features{.keys = std::move(names), .lists = lists};
  return {one(record), eval([&](Value x) { return call(features, {x}); }, {one(record)}, Shapes::kInPart).value()};
}

// A function that finds the features by name and decodes them with one operation.
template <typename T>
Function decoded(std::vector<std::string> names, T op, bool lists = false) {
  return [=](Value x) { return call(op, {x, call(ExampleFeatures{.keys = names, .lists = lists}, {x})}); };
}
template <typename T>
Array decode(std::vector<std::string> names, T op, const Array& records, bool lists = false) {
  return eval(decoded(std::move(names), std::move(op), lists), {records}, Shapes::kInPart).value();
}
template <typename T>
std::string refusal(std::vector<std::string> names, T op, const Array& records, bool lists = false) {
  const Result<Array> made = eval(decoded(std::move(names), std::move(op), lists), {records}, Shapes::kInPart);
  return made ? "" : made.error().message();
}

}  // namespace stoker

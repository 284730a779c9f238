#include "python/binding/records.h"

#include "python/binding/convert.h"
#include "stoker/codecs/example.h"
#include "stoker/codecs/tfrecord.h"
#include "stoker/core/error.h"

namespace stoker::python {
namespace {

nb::bytes bytes_of(const std::string& text) { return nb::bytes(text.data(), text.size()); }

nb::bytes framed(const nb::bytes& payload) {
  std::string record;
  append_record(record, Bytes(payload.c_str(), payload.size()));
  return bytes_of(record);
}

// Calls put(values) with the values in a type that a feature can hold.
template <typename Put>
void put_values(const std::string& name, const Array& values, Put put) {
  switch (values.type()) {
    case DType::kInt64: return put(values.values<int64_t>());
    case DType::kFloat32: return put(values.values<float>());
    case DType::kBytes: {
      std::vector<Bytes> texts;
      for (int64_t i = 0; i < values.count(); ++i) texts.push_back(values.bytes_at(i));
      return put(std::span<const Bytes>(texts));
    }
    default:
      throw Error::invalid("the feature '", name, "' is ", name_of(values.type()),
                           ", expected int64, float32 or string");
  }
}

void set_all(ExampleWriter& writer, const nb::dict& features) {
  for (auto [key, values] : features) {
    const auto name = nb::cast<std::string>(key);
    put_values(name, array_from_python(values, Memory::kShare), [&](auto list) { writer.set(name, list); });
  }
}

nb::bytes encode_example(const nb::dict& features) {
  ExampleWriter writer;
  set_all(writer, features);
  return bytes_of(writer.serialized());
}

nb::bytes encode_sequence_example(const nb::dict& context, const nb::dict& lists) {
  SequenceExampleWriter writer;
  set_all(writer.context, context);
  for (auto [key, steps] : lists) {
    const auto name = nb::cast<std::string>(key);
    writer.add_list(name);
    for (nb::handle step : steps)
      put_values(name, array_from_python(step, Memory::kShare), [&](auto list) { writer.add_step(name, list); });
  }
  return bytes_of(writer.serialized());
}

}  // namespace

void define_records(nb::module_& m) {
  m.def("framed", &framed);
  m.def("encode_example", &encode_example);
  m.def("encode_sequence_example", &encode_sequence_example);
}

}  // namespace stoker::python

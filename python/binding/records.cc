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

void set(ExampleWriter& writer, const std::string& name, const Array& values) {
  switch (values.type()) {
    case DType::kInt64: return writer.set(name, values.values<int64_t>());
    case DType::kFloat32: return writer.set(name, values.values<float>());
    case DType::kBytes: {
      std::vector<Bytes> texts;
      for (int64_t i = 0; i < values.count(); ++i) texts.push_back(values.bytes_at(i));
      return writer.set(name, texts);
    }
    default:
      throw Error::invalid("the feature '", name, "' is ", name_of(values.type()),
                           "; an example holds int64, float32 or string");
  }
}

nb::bytes encode_example(const nb::dict& features) {
  ExampleWriter writer;
  for (auto [name, values] : features)
    set(writer, nb::cast<std::string>(name), array_from_python(values, Memory::kShare));
  return bytes_of(writer.serialized());
}

}  // namespace

void define_records(nb::module_& m) {
  m.def("framed", &framed);
  m.def("encode_example", &encode_example);
}

}  // namespace stoker::python

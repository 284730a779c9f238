#pragma once

#include <nanobind/nanobind.h>

namespace stoker::python {

// framed(payload): a record as it stands in a TFRecord file.
// encode_example({name: array}): a serialized tf.train.Example.
void define_records(nanobind::module_& m);

}  // namespace stoker::python

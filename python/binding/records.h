#pragma once

#include <nanobind/nanobind.h>

namespace stoker::python {

// Defines, for stoker.io:
// - framed(payload): returns a record in the framing of a TFRecord file.
// - encode_example({name: array}): returns a serialized tf.train.Example.
// - encode_sequence_example({name: array}, {name: [array…]}): returns a serialized tf.train.SequenceExample.
void define_records(nanobind::module_& m);

}  // namespace stoker::python

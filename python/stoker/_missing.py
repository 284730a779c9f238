"""Messages for names of TensorFlow that the package does not have."""

import difflib

DIFFERENCES = ('see the page "Differences from tf.data" of the documentation '
               "(docs/guide/differences_from_tfdata.md in Stoker's repository)")

# Names that users of tf.data write in data code, of the modules tf and tf.data (TensorFlow 2.21).
IN_TF = frozenset((
    "GradientTape", "Tensor", "TensorShape", "Variable", "argmax", "argmin", "argsort", "as_dtype", "as_string",
    "autograph", "bitcast", "boolean_mask", "broadcast_to", "case", "clip_by_value", "complex64", "cond", "debugging",
    "device", "dtypes", "equal", "fill", "function", "gather", "gather_nd", "greater", "identity", "keras", "less",
    "linalg", "logical_and", "logical_not", "logical_or", "lookup", "math", "matmul", "meshgrid", "multiply", "nest",
    "nn", "norm", "numpy_function", "one_hot", "ones", "ones_like", "pad", "print", "py_function", "ragged", "rank",
    "reduce_all", "reduce_any", "repeat", "reverse", "roll", "round", "scan", "searchsorted", "sequence_mask", "sign",
    "signal", "size", "slice", "sort", "sparse", "split", "sqrt", "square", "strings", "tensor_scatter_nd_update",
    "tile", "train", "transpose", "unique", "unstack", "where", "while_loop", "zeros", "zeros_like"))
IN_TF_DATA = frozenset(("DatasetSpec", "IteratorSpec", "NumpyIterator", "Options", "ThreadingOptions"))


def missing(module, name, names, of_tensorflow):
    """Return the AttributeError for a name that a module does not have. `names` are those that it has."""
    text = f"module '{module}' has no attribute '{name}'"
    if name in of_tensorflow:
        return AttributeError(f"{text}: Stoker does not implement this name of TensorFlow; {DIFFERENCES}")
    near = difflib.get_close_matches(name, [known for known in names if not known.startswith("_")], 1)
    return AttributeError(text + (f"; did you mean '{near[0]}'?" if near else ""))

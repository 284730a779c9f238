"""What random pipelines are made of: values, files, components of elements, and the names in their text."""

import dataclasses
import gzip
import os
from math import inf, nan

import numpy as np

import stoker as sk

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float16", "float32", "float64"]


def names(library, files):
    """What stands in the text of a pipeline: `L` is the library, `D` its Dataset, `E` its data.experimental."""
    return {"L": library, "D": library.data.Dataset, "E": library.data.experimental, "np": np, "nan": nan, "inf": inf,
            "files": files, "broken": broken, "numpy": in_numpy(library)}


def broken(values):
    yield from values
    raise ValueError("broken")


def in_numpy(library):
    """Calls a function of NumPy on a component: in Stoker, that is a Python stage."""

    def call(function, value):
        made = library.numpy_function(function, [value], value.dtype)
        made.set_shape(value.shape)
        return made

    return (lambda function, value: function(np.asarray(value))) if library is sk else call


# ---- values


def some_values(draw, dtype, count):
    if dtype == "string":
        return [draw.choice([b"", b"a", b"b\0", b"more"]) for _ in range(count)]
    if dtype == "bool":
        return [draw.random() < 0.5 for _ in range(count)]
    if dtype == "float64":  # the only one with these: their casts to integers are undefined
        return [draw.choice([0.0, -0.0, 1.5, -2.5, nan, inf, -inf, 1e300]) for _ in range(count)]
    if dtype in FLOATS:
        return [draw.randint(-20, 20) / 2 for _ in range(count)]
    limits = np.iinfo(dtype)
    return [draw.choice([0, 1, 2, 3, 7, 100, limits.min, limits.max]) for _ in range(count)]


def array(draw, dtype, shape):
    """Text of an array."""
    values = np.empty(int(np.prod(shape)), object)
    values[:] = some_values(draw, dtype, values.size)
    kind = "object" if dtype == "string" else dtype
    return f"np.array({values.tolist()!r}, '{kind}').reshape({list(shape)})"


# ---- files


def write_files(folder):
    """Names to paths of files to read."""
    contents = {"lines": b"one\n\ntwo\r\nthr\ree\nlast", "empty": b"", "newline": b"\n", "bytes": bytes(range(42)),
                "csv": b'1,a,2.5\n2,"b ""c""\n,d", 3 \n,,\n-4,"",1e400\n', "bad csv": b"1,a,1\nx,b,2\n3,c\n4,d,4,5\n5,e,5\n"}
    files = {name: os.path.join(folder, name) for name in (*contents, "records", "damaged", "missing")}
    for name, content in contents.items():
        with open(files[name], "wb") as file:
            file.write(content)
    files["pattern"] = os.path.join(folder, "[be]*")
    write_records(files["records"])
    with open(files["records"], "rb") as good, open(files["damaged"], "wb") as bad:
        content = bytearray(good.read())
        content[-6] ^= 1
        bad.write(content)
    for name in ("lines", "bytes", "records", "empty"):
        files[name + " gzip"] = os.path.join(folder, "packed " + name)
        with open(files[name], "rb") as plain, gzip.open(files[name + " gzip"], "wb") as packed:
            packed.write(plain.read())
    return files


def write_records(path):
    with sk.io.TFRecordWriter(path) as writer:
        for n in range(7):
            strings = np.array([b"x"] * (n % 3), object)
            features = {"n": np.array(n), "v": np.arange(n % 4), "w": np.full(n % 3, n), "s": strings}
            if n != 4:
                features["f"] = np.array([0.5, n], np.float32)
            writer.write(sk.io.encode_example(features))


# ---- components of elements


@dataclasses.dataclass
class Leaf:
    text: str
    dtype: str
    shape: list  # None where a dim is not known

    @property
    def whole(self):
        return None not in self.shape


def leaves(spec, text="x"):
    """The dense components below an element of TensorFlow's spec."""
    if isinstance(spec, tuple):
        return [leaf for i, part in enumerate(spec) for leaf in leaves(part, f"{text}[{i}]")]
    if isinstance(spec, dict):
        return [leaf for key, part in spec.items() for leaf in leaves(part, f"{text}[{key!r}]")]
    if not hasattr(spec, "shape") or spec.shape.rank is None or type(spec).__name__ != "TensorSpec":
        return []
    return [Leaf(text, spec.dtype.name, spec.shape.as_list())]


def is_whole(spec):
    """Whether all of every shape is known."""
    if isinstance(spec, (tuple, dict)):
        return all(is_whole(part) for part in (spec.values() if isinstance(spec, dict) else spec))
    return spec.shape.is_fully_defined()


def fit(one, other):
    """Whether two shapes broadcast, for all that is known."""
    try:
        return one.whole and other.whole and np.broadcast_shapes(one.shape, other.shape) is not None
    except ValueError:
        return False


def arguments(spec):
    """Names of a function's arguments, and the components by these names."""
    if isinstance(spec, tuple):
        names = [f"x{i}" for i in range(len(spec))]
        return ", ".join(names), [leaf for name, part in zip(names, spec) for leaf in leaves(part, name)]
    return "x", leaves(spec)


def is_dense(spec):
    parts = spec.values() if isinstance(spec, dict) else spec if isinstance(spec, tuple) else None
    return type(spec).__name__ == "TensorSpec" if parts is None else all(is_dense(part) for part in parts)

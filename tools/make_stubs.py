#!/usr/bin/env python3
"""Write python/stoker/*.pyi: the package's signatures with types, for editors and type checkers.

  tools/make_stubs.py           reads the package's source and `stoker stages --json`, and writes the stubs
  tools/make_stubs.py --check   writes nothing; the exit code is 1 if a stub is out of date

Names, parameters and defaults come from the source. The type of a parameter is its annotation or, without one, the
entry for its name in PARAMETERS below; a parameter with neither is an error. The return type of a function is its
annotation or the entry for its module in RETURNS. Stages and operations of the table that have no Python function of
their own are added under their names. The command is build/release/bin/stoker, or $STOKER.
"""

import ast
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from make_reference import table_of  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[1]
PACKAGE = "python/stoker"

HEAD = "# Written by tools/make_stubs.py: change the source or the table of stages, not this file.\n"

# Type aliases that the stubs use and the source does not have.
TYPES = HEAD + '''import os
from collections.abc import Iterable
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from ._composite import RaggedTensor, SparseTensor
from ._dataset import Dataset
from ._values import Value

class Named(Protocol):
    """sk.string, and TensorFlow's types."""
    @property
    def name(self) -> str: ...

# Inside `map` a symbolic value, elsewhere an array.
Tensor: TypeAlias = Value | Any
TensorLike: TypeAlias = Value | npt.ArrayLike
DTypeLike: TypeAlias = npt.DTypeLike | Named
Path: TypeAlias = str | bytes | os.PathLike[str] | os.PathLike[bytes]
Paths: TypeAlias = Path | Iterable[Path] | npt.NDArray[Any]
Int: TypeAlias = int | np.integer[Any] | npt.NDArray[Any]
'''

IMPORTS = '''from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, overload

import numpy as np
import numpy.typing as npt
from typing_extensions import Self

from . import _types as t
'''

# Types by parameter name; "function.name" or "Class.function.name" if a parameter has another type there.
PARAMETERS = {
    # values of elements
    **dict.fromkeys(("image", "images", "contents", "x", "y", "tensor", "input", "input_tensor", "serialized", "labels",
                     "value", "other", "boxes", "box_indices", "crop_window", "crop_size"), "t.TensorLike"),
    "filename": "t.TensorLike",
    "cache.filename": "str",
    "concat.values": "Sequence[t.TensorLike]",
    "stack.values": "Sequence[t.TensorLike]",
    **dict.fromkeys(("__eq__.other", "__ne__.other"), "object"),
    "reduce.initial_state": "Any",
    "__array_ufunc__.ufunc": "np.ufunc",
    "__array_ufunc__.method": "str",
    "__array_ufunc__.inputs": "Any",
    "__array_ufunc__.options": "Any",
    "tensors": "Any",
    "stateless.seed": "t.TensorLike",
    # types and shapes
    **dict.fromkeys(("dtype", "output_type", "out_type", "dtype_hint", "row_splits_dtype"), "t.DTypeLike"),
    "shape": "t.TensorLike",
    "Value.__getitem__.key": "Any",  # a field's name, or what NumPy accepts
    "constant.shape": "Sequence[int]",
    "TensorSpec.__init__.shape": "Iterable[int | None] | None",
    "FixedLenFeature.__new__.shape": "int | Iterable[int]",
    "FixedLenSequenceFeature.__new__.shape": "int | Iterable[int]",
    "output_types": "Any",
    "output_shapes": "Any",
    "output_signature": "Any",
    # files
    **dict.fromkeys(("filenames", "urls"), "t.Paths | Dataset"),
    **dict.fromkeys(("csv_dataset.filenames", "NpyDataset.filenames", "IdxDataset.filenames"), "t.Paths"),
    "file_pattern": "t.Paths",
    "path": "t.Path",
    **dict.fromkeys(("index.path", "verify.path", "inspect.path"), "t.Paths"),
    **dict.fromkeys(("pack.source", "destination", "pack.labels", "sheet"), "t.Path"),
    "directory": "t.Path",
    "compression_type": "str",
    "TFRecordOptions.__init__.compression_type": "str | TFRecordOptions",
    "encoding": "str",
    # counts
    **dict.fromkeys(("batch_size", "num_parallel_calls", "num_parallel_reads", "cycle_length", "block_length", "count",
                     "start", "step", "num_shards", "index", "expected_cardinality", "record_bytes", "header_bytes",
                     "footer_bytes", "buffer_size", "seed", "i"), "t.Int"),
    **dict.fromkeys(("channels", "ratio", "k", "offset_height", "offset_width", "target_height", "target_width",
                     "jpeg_quality", "min_jpeg_quality", "max_jpeg_quality", "num_ops", "num_magnitude_bins",
                     "num_classes", "workers", "num_epochs", "shuffle_buffer_size", "shuffle_seed",
                     "prefetch_buffer_size", "num_rows_for_inference", "max_queue_size", "flush_mode",
                     "input_buffer_size", "output_buffer_size", "window_bits", "compression_level",
                     "compression_method", "mem_level", "compression_strategy", "steps", "shards", "resize", "quality",
                     "limit"), "int"),
    "memory_bytes": "int | str",
    "map.workers": "Literal['thread', 'serial', 'process']",
    "axis": "int | Sequence[int]",
    "concat.axis": "int",
    "stack.axis": "int",
    "expand_dims.axis": "int",
    "size": "Sequence[int] | npt.NDArray[Any]",
    "center_crop.size": "int | Sequence[int]",
    "random_resized_crop.size": "int | Sequence[int]",
    "resize_shorter.size": "int",
    "SparseFeature.__new__.size": "int | Sequence[int]",
    # numbers
    **dict.fromkeys(("acceptable_fraction", "central_fraction", "delta", "max_delta", "contrast_factor", "gamma", "gain",
                     "saturation_factor", "lower", "upper", "extrapolation_value", "magnitude", "p", "alpha",
                     "at_most", "stall"), "float"),
    "rand_augment.magnitude": "int",
    **dict.fromkeys(("mean", "std", "brightness", "contrast", "saturation", "hue"), "float | Sequence[float]"),
    "random_erasing.value": "float | Sequence[float]",
    "scale": "Sequence[float]",
    "normalize.scale": "float",
    **dict.fromkeys(("random_resized_crop.ratio", "random_erasing.ratio"), "Sequence[float]"),
    "window": "tuple[float, int]",
    # choices
    **dict.fromkeys(("fancy_upscaling", "try_recover_truncated", "exif_orientation", "expand_animations",
                     "preserve_aspect_ratio", "antialias", "saturate", "keepdims", "deterministic", "drop_remainder",
                     "reshuffle_each_iteration", "log_warning", "allow_missing", "already_sorted", "validate",
                     "synchronous", "use_unbounded_threadpool", "use_multiprocessing", "header", "use_quote_delim",
                     "shuffle", "sloppy", "ignore_errors", "keep_bytes", "overwrite"), "bool"),
    "verify.images": "bool",
    **dict.fromkeys(("name", "dct_method", "method", "like", "layout", "operation", "field_delim", "na_value",
                     "label_name", "value_key", "key", "split", "image_feature", "label_feature", "label"), "str"),
    "SparseFeature.__new__.index_key": "str | Sequence[str]",
    "example_names": "Any",
    **dict.fromkeys(("policy", "on_error"), "Literal['raise', 'skip']"),
    "progress": "bool | Callable[[Progress], object]",
    # structures
    **dict.fromkeys(("features", "context_features", "sequence_features", "context"), "Mapping[str, Any]"),
    "feature_lists": "Mapping[str, Sequence[Any]]",
    "components": "Iterable[str]",
    "default_value": "Any",
    "partitions": "Sequence[Any]",
    "length": "int",
    "record_defaults": "Sequence[Any]",
    "column_defaults": "Sequence[Any]",
    "column_names": "Sequence[str]",
    "select_columns": "Sequence[str | int]",
    **dict.fromkeys(("select_cols", "exclude_cols"), "Sequence[int]"),
    "record": "bytes | str",
    "options": "TFRecordOptions | str",
    "checkpoint": "bytes",
    # functions and datasets
    **dict.fromkeys(("map_func", "predicate", "reduce_func", "generator"), "Callable[..., Any]"),
    "transformation_func": "Callable[[Dataset], Dataset]",
    "dataset": "Dataset",
    "datasets": "Any",
    "zip.args": "Any",
    "range.args": "t.Int",
    "args": "Iterable[Any]",
    "sequence": "Any",
    "loader": "Iterable[Any] | Any",
    **dict.fromkeys(("device", "element", "_"), "Any"),
    "on_message": "Callable[[str], object]",
    "clock": "Callable[[], float]",
    # parts of values
    **dict.fromkeys(("indices", "dense_shape", "row_splits", "flat_values"), "Any"),
    "nested_row_splits": "Sequence[Any]",
    "values": "Any",
    # fields of errors
    **dict.fromkeys(("stage", "source", "origin"), "str"),
    **dict.fromkeys(("position", "offset"), "int"),
    "Error.path": "str",
}

# Return types of functions without an annotation, by module.
RETURNS = {**dict.fromkeys(("_image_color", "_image_geometry", "_image_torchvision", "_ops", "_values", "image", "io"),
                           "t.Tensor"),
           **dict.fromkeys(("_csv", "_dataset", "_sources", "_transforms", "data"), "Dataset")}
DUNDERS = {"__init__": "None", "__len__": "int", "__bool__": "bool", "__repr__": "str", "__hash__": "int",
           "__eq__": "bool", "__getattr__": "Any", "__new__": "Self", "__enter__": "Self", "__exit__": "None"}
COMPARE_BY_VALUE = {"Value.__eq__", "Value.__ne__"}  # unlike object's, they return a value, not a bool
NOT_TYPED = {"Dataset.__getattr__", "Value.__getattr__", "Dataset.__dir__", "Dataset.__class__", "Dataset.__reduce__",
             "TensorSpec.__reduce__", "TorchLoader.__getitem__", "_String.__reduce__"}
MADE_BY_US = {"Dataset", "Iterator", "Value", "TorchLoader", "WatchedIterator"}  # users do not call their __init__

# Types of the table; table_type() handles "list of" and "or null".
TABLE = {"int64": "t.Int", "int32": "t.Int", "float64": "float", "bool": "bool", "string": "str", "dtype": "t.DTypeLike",
         "two int64": "Sequence[int]", "graph": "Dataset", "element": "Any", "array": "npt.ArrayLike",
         "function": "Callable[..., Any]", "generator": "Callable[..., Any]"}
DTYPES = {"bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64"}


class Unknown(Exception):
    """A parameter or function of the source has no known type."""


def table_type(words):
    if words.endswith(" or null"):
        return table_type(words.removesuffix(" or null")) + " | None"
    if words.startswith("list of "):
        return f"Sequence[{table_type(words.removeprefix('list of '))}]"
    if words not in TABLE:
        raise Unknown(f"the table has a parameter of type '{words}'; add it to TABLE in tools/make_stubs.py")
    return TABLE[words]


def table_parameters(entry):
    """Return the keyword-only parameters of an entry of the table."""
    made = []
    for parameter in entry["parameters"]:
        kind = table_type(parameter["type"])
        if parameter["required"]:
            made.append(f"{parameter['name']}: {kind}")
        else:
            made.append(f"{parameter['name']}: {kind if kind.endswith(' | None') else kind + ' | None'} = ...")
    return made


def is_public(name):
    return not name.startswith("_")


def decorators(function):
    return {decorator.id for decorator in function.decorator_list if isinstance(decorator, ast.Name)}


class Module:
    """One file of the package, which becomes one stub."""

    def __init__(self, name, package):
        self.name = name
        self.package = package
        self.tree = ast.parse((package.folder / f"{name}.py").read_text())
        self.functions = {node.name: node for node in self.tree.body if isinstance(node, ast.FunctionDef)}
        self.listed = next((ast.literal_eval(node.value) for node in self.tree.body if isinstance(node, ast.Assign)
                            and ast.unparse(node.targets[0]) == "__all__" and isinstance(node.value, ast.List)), [])
        self.lines = []

    # ---- signatures

    def type_of(self, owner, name):
        """Return the entry of PARAMETERS with the longest matching name."""
        short = owner.rpartition(".")[2]
        stateless = short.startswith("stateless_") and f"stateless.{name}"
        for key in (f"{owner}.{name}", f"{short}.{name}", stateless, name):
            if key in PARAMETERS:
                return PARAMETERS[key]
        raise Unknown(f"{self.name}.py: parameter '{name}' of {owner} has no type; annotate it, or add it to "
                      "PARAMETERS in tools/make_stubs.py")

    def annotated(self, owner, argument, default):
        if argument.arg in ("self", "cls"):
            return argument.arg
        kind = words_of(argument.annotation) if argument.annotation else self.type_of(owner, argument.arg)
        if default is None:
            return f"{argument.arg}: {kind}"
        if isinstance(default, ast.Constant) and default.value is None and kind != "Any" and not kind.endswith("None"):
            kind += " | None"
        return f"{argument.arg}: {kind} = {literal(default)}"

    def signature(self, owner, function):
        arguments = function.args
        places = arguments.posonlyargs + arguments.args
        defaults = [None] * (len(places) - len(arguments.defaults)) + arguments.defaults
        made = [self.annotated(owner, *both) for both in zip(places, defaults)]
        if arguments.vararg:
            made.append("*" + self.annotated(owner, arguments.vararg, None))
        elif arguments.kwonlyargs:
            made.append("*")
        made += [self.annotated(owner, *both) for both in zip(arguments.kwonlyargs, arguments.kw_defaults)]
        if arguments.kwarg:
            made.append(f"**{arguments.kwarg.arg}: Any")
        return ", ".join(made)

    def returned(self, owner, function):
        if function.returns is not None:
            return words_of(function.returns)
        if function.name in DUNDERS and owner not in COMPARE_BY_VALUE:
            return DUNDERS[function.name]
        if self.name not in RETURNS or "property" in decorators(function):
            raise Unknown(f"{self.name}.py: {owner} has no return type; annotate it")
        return RETURNS[self.name]

    def write_function(self, function, within="", name=None):
        """Write a function, under another name if one is given."""
        owner = f"{within}.{name or function.name}" if within else name or function.name
        indent = "    " if within else ""
        for decorator in ("property", "staticmethod", "classmethod"):
            if decorator in decorators(function):
                self.lines.append(f"{indent}@{decorator}")
        remark = "  # type: ignore[override]" if owner in COMPARE_BY_VALUE else ""
        self.lines.append(f"{indent}def {name or function.name}({self.signature(owner, function)}) -> "
                          f"{self.returned(owner, function)}: ...{remark}")

    # ---- classes

    def class_named(self, name):
        """Return this module and its class of the name."""
        return self, next(node for node in self.tree.body if isinstance(node, ast.ClassDef) and node.name == name)

    def write_class(self, node):
        fields = namedtuple_fields(node.bases[0]) if node.bases else None
        mixins = [self.package.mixins[name] for name in map(ast.unparse, node.bases) if name in self.package.mixins]
        own = {part.name for body in [node, *(mixin for _, mixin in mixins)] for part in body.body
               if isinstance(part, ast.FunctionDef)}
        if fields is not None:
            self.write_fields(node.name, fields, "", makes="__new__" not in own)
        else:
            bases = ", ".join(name for name in map(ast.unparse, node.bases)
                              if is_public(name) and name not in self.package.mixins)
            self.lines.append(f"class {node.name}{f'({bases})' if bases else ''}:")
        before = len(self.lines)
        for module, mixin in mixins:
            module.lines = self.lines
            for part in mixin.body:
                module.write_member(node.name, part)
        for part in node.body:
            self.write_member(node.name, part)
        if node.name == "Dataset":
            self.write_table_stages(own)
        if len(self.lines) == before and fields is None:
            self.lines[-1] += " ..."

    def write_fields(self, name, fields, indent, makes):
        """Write the head of a named tuple and, unless its class defines __new__, the signature of __new__."""
        self.lines.append(f"{indent}class {name}(tuple[Any, ...]):")
        kinds = {field: self.type_of(f"{name}.__new__", field) for field in fields}
        for field, kind in kinds.items():
            self.lines += [f"{indent}    @property", f"{indent}    def {field}(self) -> {kind}: ..."]
        if makes:
            arguments = "".join(f", {field}: {kind}" for field, kind in kinds.items())
            self.lines.append(f"{indent}    def __new__(cls{arguments}) -> Self: ...")

    def write_member(self, owner, part):
        if isinstance(part, ast.FunctionDef):
            if part.name == "__init__":
                self.write_attributes(owner, part)
            hidden = f"{owner}.{part.name}" in NOT_TYPED or (part.name == "__init__" and owner in MADE_BY_US)
            if not hidden and (is_public(part.name) or part.name.startswith("__")):
                self.write_function(part, owner)
        elif isinstance(part, ast.AnnAssign) and is_public(part.target.id):  # a field of a dataclass
            self.lines.append(f"    {part.target.id}: {words_of(part.annotation)}")
        elif isinstance(part, ast.Assign) and isinstance(part.targets[0], ast.Name) and is_public(part.targets[0].id):
            self.write_class_attribute(owner, part.targets[0].id, part.value)

    def write_attributes(self, owner, init):
        """Write the public attributes that __init__ sets."""
        for node in ast.walk(init):
            if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Attribute):
                continue
            name = node.targets[0].attr
            if is_public(name):
                self.lines.append(f"    {name}: {self.type_of(owner, name)}")

    def write_class_attribute(self, owner, name, value):
        fields = namedtuple_fields(value)
        if fields is not None:
            self.write_fields(name, fields, "    ", makes=True)
        elif isinstance(value, ast.Call) and ast.unparse(value.func) == "staticmethod":
            module, function = self.package.find(self, ast.unparse(value.args[0]))
            self.lines.append("    @staticmethod")
            self.lines.append(f"    def {name}({module.signature(function.name, function)}) -> "
                              f"{module.returned(function.name, function)}: ...")
        elif isinstance(value, ast.Constant) and value.value is not None:
            self.lines.append(f"    {name}: {type(value.value).__name__}")
        elif isinstance(value, ast.Name):
            self.lines.append(f"    {name}: int" if value.id.isupper() else f"    {name} = {value.id}")
        else:
            self.lines.append(f"    {name}: {self.type_of(owner, name)} | None")

    def write_table_stages(self, own):
        for stage in self.package.table["stages"]:
            if stage["name"] in own:
                continue
            parameters = ", ".join([*table_parameters(stage), "name: str | None = ..."])
            if stage["kind"] == "source":
                self.lines.append("    @staticmethod")
                self.lines.append(f"    def {stage['name']}(*, {parameters}) -> Dataset: ...")
            else:
                self.lines.append(f"    def {stage['name']}(self, *, {parameters}) -> Dataset: ...")

    # ---- the rest of a module

    def exported(self, node):
        """Return {name: name in its own module} of the re-exported names of an import.

        The package itself exports all of its imports that are public, other modules those in `__all__`.
        """
        names = {alias.asname or alias.name: alias.name for alias in node.names}
        return {name: original for name, original in names.items()
                if is_public(name) and (self.name == "__init__" or name in self.listed)}

    def write_import(self, node):
        for name, original in self.exported(node).items():
            self.lines.append(f"from .{node.module or ''} import {original} as {name}")

    def write_assignment(self, node):
        target = node.targets[0]
        names = [target.id] if isinstance(target, ast.Name) else [part.id for part in target.elts]
        for name in names:
            if name in DTYPES:
                self.lines.append(f"{name}: np.dtype[Any]")
            elif name == "__version__":
                self.lines.append(f"{name}: str")
            elif self.package.shows(self, name):
                self.write_value(name, node.value)

    def write_value(self, name, value):
        inner = self.made_function(value)
        if inner is not None:
            self.write_function(inner, name=name)
        elif isinstance(value, ast.Call):
            self.lines.append(f"{name}: {ast.unparse(value.func)}")
        elif isinstance(value, ast.Name):
            self.lines.append(f"{name} = {value.id}")
        else:
            self.lines.append(f"{name}: {type(ast.literal_eval(value)).__name__}")

    def made_function(self, value):
        """Return the function that a call of one of this module's functions returns, or None."""
        maker = self.functions.get(ast.unparse(value.func)) if isinstance(value, ast.Call) else None
        inner = [node for node in maker.body if isinstance(node, ast.FunctionDef)] if maker else []
        return inner[0] if inner else None

    def write_op(self):
        """Write an overload of `op` for each operation of the table, with its parameters."""
        for operation in self.package.table["operations"]:
            count = operation["inputs"]
            inputs = ["*inputs: t.TensorLike"] if count is None else [f"x{i}: t.TensorLike" for i in range(count)] + ["/"]
            parameters = table_parameters(operation)
            if parameters and count is not None:
                parameters.insert(0, "*")
            arguments = ", ".join([f"name: Literal['{operation['name']}']", *inputs, *parameters])
            self.lines += ["@overload", f"def op({arguments}) -> t.Tensor: ..."]

    def text(self):
        for node in self.tree.body:
            if isinstance(node, ast.ImportFrom) and node.level == 1:
                self.write_import(node)
            elif isinstance(node, ast.Assign):
                self.write_assignment(node)
            elif isinstance(node, ast.ClassDef) and self.package.shows(self, node.name):
                self.write_class(node)
            elif isinstance(node, ast.FunctionDef) and node.name == "op":
                self.write_op()
            elif isinstance(node, ast.FunctionDef) and self.package.shows(self, node.name):
                self.write_function(node)
        body = "\n".join(self.lines)
        ours = self.package.classes_used(self, body)
        return HEAD + used_imports(body, ours) + ours + body + "\n"

    def imports(self, name, home):
        """Return whether the source imports the name from a module of the package."""
        return any(isinstance(node, ast.ImportFrom) and node.level == 1 and node.module == home
                   and name in [alias.name for alias in node.names] for node in self.tree.body)


# Annotations that the source writes without type arguments.
WHOLE = {"dict": "dict[str, Any]", "list": "list[Any]", "tuple": "tuple[Any, ...]", "Iterator": "Iterator[Any]",
         "np.ndarray": "npt.NDArray[Any]", "np.dtype": "np.dtype[Any]"}


def words_of(annotation):
    if isinstance(annotation, ast.Constant) and annotation.value:
        return annotation.value
    return WHOLE.get(ast.unparse(annotation), ast.unparse(annotation))


def literal(default):
    return ast.unparse(default) if isinstance(default, (ast.Constant, ast.UnaryOp)) else "..."


def namedtuple_fields(node):
    """Return the fields if the node is a call of collections.namedtuple, otherwise None."""
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "collections.namedtuple":
        return ast.literal_eval(node.args[1])
    return None


def used_imports(text, ours):
    """Return the lines of IMPORTS that the text uses. `ours` are the imports of Stoker's classes."""
    tree = ast.parse(ours + text)
    words = words_in(text) - {node.name for node in ast.walk(tree) if isinstance(node, (ast.ClassDef, ast.alias))}
    words -= {node.asname for node in ast.walk(tree) if isinstance(node, ast.alias)}
    made = []
    for line in IMPORTS.splitlines():
        if line.startswith("from ") and " import _types" not in line:
            head, names = line.split(" import ")
            used = [name for name in names.split(", ") if name in words]
            line = f"{head} import {', '.join(used)}" if used else ""
        elif line and line.split()[-1] not in words:
            line = ""
        if line:
            made.append(line)
    return "".join(line + "\n" for line in made)


def words_in(text):
    return {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}


# Classes whose instances users receive, although no public module exports them.
GIVEN = {"Value": "_values", "TorchLoader": "_torch", "WatchedIterator": "_watch", "_String": "_spec",
         **dict.fromkeys(("Progress", "SkippedFile", "Finding", "PackResult", "IndexedFile", "IndexResult",
                          "VerifyResult", "InspectResult"), "_prepare")}


class Package:
    MODULES = ("__init__", "_arguments", "_composite", "_csv", "_dataset", "_image_color", "_image_geometry",
               "_image_torchvision", "_iterator", "_ops", "_prepare", "_spec", "_torch", "_values", "_watch", "data", "errors",
               "image", "io", "random")
    # Their members are written into the class that inherits them: Dataset or Value.
    MIXINS = {"Sources": "_sources", "Transforms": "_transforms", "Symbol": "_symbols"}

    def __init__(self, root, table):
        self.folder = root / PACKAGE
        self.table = table
        self.modules = {name: Module(name, self) for name in self.MODULES}
        self.mixins = {name: Module(home, self).class_named(name) for name, home in self.MIXINS.items()}
        self.exported = {}  # names, by private module
        for module in filter(lambda module: is_public(module.name) or module.name == "__init__", self.modules.values()):
            for node in module.tree.body:
                if isinstance(node, ast.ImportFrom) and node.level == 1 and node.module:
                    self.exported.setdefault(node.module, set()).update(module.exported(node).values())

    def shows(self, module, name):
        """Return whether this name of the module is public; in a private module, whether a public one exports it."""
        if GIVEN.get(name) == module.name:
            return True
        return is_public(name) and (is_public(module.name) or module.name == "__init__"
                                    or name in self.exported.get(module.name, ()))

    def classes_used(self, module, body):
        """Return the imports of Stoker's classes that the stub uses."""
        made = ""
        for name in sorted(words_in(body)):
            home = GIVEN.get(name) or {"Dataset": "_dataset"}.get(name)
            if name == "Iterator" and module.imports(name, "_iterator"):  # otherwise it is Python's
                home = "_iterator"
            if home and home != module.name and f" as {name}\n" not in body:
                made += f"from .{home} import {name}\n"
        return made + "\n"

    def find(self, module, name):
        """Return the module and the definition of a function that the module imports or defines."""
        for node in module.tree.body:
            if isinstance(node, ast.ImportFrom) and node.module and name in [alias.name for alias in node.names]:
                return self.modules[node.module], self.modules[node.module].functions[name]
        return module, module.functions[name]

    def stubs(self):
        """Return {path: text} of all stubs."""
        made = {f"{PACKAGE}/{name}.pyi": module.text() for name, module in self.modules.items()}
        return {**made, f"{PACKAGE}/_types.pyi": TYPES, f"{PACKAGE}/py.typed": ""}


def main(arguments, root=ROOT):
    if arguments not in ([], ["--check"]):
        print(__doc__, file=sys.stderr)
        return 2
    command = os.environ.get("STOKER", str(ROOT / "build/release/bin/stoker"))
    try:
        stubs = Package(root, table_of(command)).stubs()
    except (OSError, subprocess.CalledProcessError) as problem:
        print(f"make_stubs: cannot run {command}: {problem}", file=sys.stderr)
        return 2
    except Unknown as unknown:
        print(f"make_stubs: {unknown}", file=sys.stderr)
        return 1
    stale = []
    for name, text in stubs.items():
        path = root / name
        if arguments == ["--check"]:
            if not path.is_file() or path.read_text() != text:
                stale.append(name)
            continue
        path.write_text(text)
    for name in stale:
        print(f"{name} is out of date; run tools/make_stubs.py", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""The sources of `Dataset` that have tf.data's signature. Readers of files are in `data`."""

import functools

import numpy as np

from . import _core, _kept, _sample, errors
from ._arguments import as_data, copied, number, paths
from ._composite import COMPOSITES, SparseTensor
from ._identity import identity_of
from ._keys import check_keys, key_text, path_below
from ._signature import checked_spec, engine_signature, signature_of
from ._spec import convert, dtype_name, structure_map
from ._stages import Stages


class Sources(Stages):
    """The sources of `Dataset`."""

    __slots__ = ()

    @classmethod
    def range(cls, *args, output_type=np.int64, name=None):
        """Return a dataset of the numbers from `start` (0) up to, but not including, `stop`, by `step` (1).

        The positional arguments are those of Python's `range`. Raise InvalidArgument if there are not 1 to 3 of them,
        or if `step` is 0.

        >>> [int(x) for x in sk.Dataset.range(1, 10, 3)]
        [1, 4, 7]
        """
        if not 1 <= len(args) <= 3:
            raise errors.InvalidArgument(f"range: expected 1 to 3 numbers, got {len(args)}")
        start, stop, step = (0, args[0], 1) if len(args) == 1 else (*args, 1)[:3]
        return cls._source("range", name, start=number(start), stop=number(stop), step=number(step),
                               output_type=dtype_name(output_type))

    @classmethod
    def counter(cls, start=0, step=1, dtype=np.int64, name=None):
        """Return an infinite dataset of the numbers from `start`, by `step`.

        >>> [int(x) for x in sk.Dataset.counter(5).take(3)]
        [5, 6, 7]
        """
        return cls._source("counter", name, start=number(start), step=number(step), dtype=dtype_name(dtype))

    @classmethod
    def from_tensors(cls, tensors, name=None):
        """Return a dataset of one element: an array, or a tuple or dict of arrays.

        The memory is not copied: do not modify the arrays while the dataset is in use.

        >>> sk.Dataset.from_tensors((np.zeros(2), b"a")).get_single_element()
        (array([0., 0.]), b'a')
        """
        return cls._source("from_tensors", name, tensors=_core.Element(as_data(tensors)))

    @classmethod
    def from_tensor_slices(cls, tensors, name=None):
        """Return a dataset of the rows of arrays, which must have the same length.

        `tensors` is an array, or a tuple or dict of arrays. The memory is not copied: do not modify the arrays while
        the dataset is in use. Raise InvalidArgument if the lengths differ, if a list has rows of different lengths, or
        for a sparse or ragged value.

        >>> for image, label in sk.Dataset.from_tensor_slices((np.zeros((2, 4)), np.array([7, 8]))):
        ...     print(image.shape, label)
        (4,) 7
        (4,) 8
        """
        return cls._source("from_tensor_slices", name, tensors=_core.Element(_sliceable(tensors)))

    @classmethod
    def from_generator(cls, generator, output_types=None, output_shapes=None, args=None, output_signature=None, name=None):
        """Return a dataset of the values of an iterable that a function returns.

        The function is called once for each pass. `args` are the arguments of the function. `output_signature` is a
        `TensorSpec`, or a tuple or dict of these; values that do not fit it are errors of their element. `output_types`
        with `output_shapes` is the older form of it. Without a signature, types and shapes are unknown in advance, so
        functions downstream become Python stages.

        Raise TypeError if `generator` is not callable, or if both forms of the signature are given.

        >>> def squares(n):
        ...     for i in range(n):
        ...         yield i * i
        >>> ds = sk.Dataset.from_generator(squares, args=(4,), output_signature=sk.TensorSpec((), sk.int32))
        >>> [int(x) for x in ds]
        [0, 1, 4, 9]
        """
        if not callable(generator):
            raise TypeError(f"generator: expected a function that returns an iterable, got {type(generator).__name__}")
        if output_signature is not None and (output_types is not None or output_shapes is not None):
            raise TypeError("got output_signature and output_types or output_shapes; expected one of the two forms")
        signature = output_signature
        if output_types is not None:
            signature = signature_of(output_types, output_shapes)
        if signature is not None:
            signature = structure_map(checked_spec, signature)
            check_keys(signature)
        given = copied(tuple(args or ()))
        converted = as_data if signature is None else lambda value: convert(value, signature)
        begin = _kept.generator(lambda: generator(*copied(given)), converted, identity_of(functools.partial(generator, *given)))
        return cls._source("from_generator", name, generator=begin,
                               output_signature=None if signature is None else engine_signature(signature))

    @classmethod
    def list_files(cls, file_pattern, shuffle=None, seed=None, name=None):
        """Return a dataset of the names of the files that match a pattern, or one of several patterns.

        By default, the order is random and differs in each pass. `shuffle=False` sorts the names. Raise InvalidArgument
        if no file matches.

        >>> import pathlib, tempfile
        >>> folder = tempfile.mkdtemp()
        >>> for name in "ab":
        ...     pathlib.Path(folder, name + ".txt").touch()
        >>> [pathlib.Path(path.decode()).name for path in sk.Dataset.list_files(folder + "/*.txt", shuffle=False)]
        ['a.txt', 'b.txt']
        """
        return cls._source("list_files", name, file_pattern=paths(file_pattern), shuffle=shuffle,
                               seed=number(seed))

    @classmethod
    def zip(cls, *args, datasets=None, name=None):
        """Return a dataset whose elements combine one element of each input. It ends with the shortest input.

        The arguments are datasets, or one tuple, list or dict of datasets, whose structure the elements have. Raise
        TypeError for anything else.

        >>> for x, y in sk.Dataset.zip(sk.Dataset.range(2), sk.Dataset.range(10, 20)):
        ...     print(x, y)
        0 10
        1 11
        """
        structure = datasets if datasets is not None else args[0] if len(args) == 1 else args
        if isinstance(structure, Stages):
            return structure
        if isinstance(structure, list):
            structure = tuple(structure)
        if isinstance(structure, dict) and structure:
            return cls._zip_dict(structure, name)
        if not isinstance(structure, tuple):
            raise TypeError(f"zip: expected datasets, or a tuple or dict of datasets, got {type(structure).__name__}")
        parts = [part if isinstance(part, Stages) else cls.zip(part) for part in structure]
        hooks = tuple(hook for part in parts for hook in part._hooks)
        made = cls._source("zip", name, hooks, datasets=parts)
        made._sample = _sample.zipped([part._sample for part in parts])
        return made

    @classmethod
    def _zip_dict(cls, structure, name):
        keys = tuple(structure)
        if len(keys) == 1:
            return cls.zip(structure[keys[0]], name=name).map(lambda part: {keys[0]: part})
        return cls.zip(tuple(structure.values()), name=name).map(lambda *parts: dict(zip(keys, parts)))


def _sliceable(tensors, path=""):
    """Return a structure of arrays, as `as_data`. Raise InvalidArgument for values that have no rows of one shape."""
    if isinstance(tensors, tuple):
        return tuple(_sliceable(part, path_below(path, i)) for i, part in enumerate(tensors))
    if isinstance(tensors, dict):
        return {key_text(key): _sliceable(part, path_below(path, key)) for key, part in tensors.items()}
    if isinstance(tensors, COMPOSITES):
        fix = "to_dense()" if isinstance(tensors, SparseTensor) else "to_tensor(), or iterate over its rows with from_sequence"
        raise errors.InvalidArgument(f"from_tensor_slices: {_place(path)} is a {type(tensors).__name__}, which cannot be "
                                     f"sliced; use {fix}")
    try:
        return as_data(tensors)
    except ValueError:
        raise errors.InvalidArgument(f"from_tensor_slices: {_place(path)} is a list with rows of different shapes, expected "
                                     "rows of the same shape; use from_generator for rows of different lengths") from None


def _place(path):
    return f"component '{path}'" if path else "the argument"

"""Adapter of a dataset for `fit`, `evaluate` and `predict` of Keras.

Keras 3 accepts instances of its class DataAdapter without converting them, and requests batches in the form of its
backend.
"""

import itertools
import sys

from ._arguments import INFINITE
from ._spec import TensorSpec, string, structure_map

_MODULE = "keras.src.trainers.data_adapters.data_adapter"


# Arguments of `fit` and `evaluate` that a dataset replaces, and what to do instead.
_IN_BATCHES = {
    "y": "put the targets into the batches, as (x, y)",
    "sample_weight": "put the weights into the batches, as (x, y, sample_weight)",
    "class_weight": "use map to put the weight of each label into the batches, as (x, y, sample_weight)",
}


def shown_class(dataset):
    """Return Keras's DataAdapter if Keras is loaded, else None. It is never imported for this.

    To be called by the getter of `__class__`, which Keras reads to find out what `fit` was called with. Keras returns a
    DataAdapter without looking at the other arguments, so they are checked here: raise ValueError, as Keras does for
    its own datasets, if one of them would be ignored, if the dataset is infinite and there is no number of steps, or if
    its elements are not batches.
    """
    shown = getattr(sys.modules.get(_MODULE), "DataAdapter", None)
    reader = sys._getframe(1).f_back  # of `__class__`; None if no Python code is
    if shown is not None and reader is not None and reader.f_code.co_name == "get_data_adapter":
        _check_arguments(reader.f_locals)
        _check_dataset(dataset, reader.f_locals)
    return shown


def _check_arguments(arguments):
    for name, instead in _IN_BATCHES.items():
        if arguments.get(name) is not None:
            raise ValueError(f"`{name}` cannot be combined with a Stoker dataset, whose batches contain everything that "
                             f"the model needs; {instead}")


def _check_dataset(dataset, arguments):
    if dataset.cardinality() == INFINITE and arguments.get("steps_per_epoch", INFINITE) is None:
        raise ValueError("the dataset is infinite; pass steps_per_epoch, or validation_steps for validation data, or steps "
                         "in evaluate and predict")
    if _lacks_batch_axis(dataset):
        raise ValueError("the elements have no batch axis; add .batch(32)")


def _lacks_batch_axis(dataset):
    """Return whether the elements are certainly not batches. A training step of the user may take scalars with a batch."""
    spec = dataset._known_spec()
    if spec is None:
        return False
    has_scalar_targets = isinstance(spec, tuple) and len(spec) > 1 and _are_scalars(spec[1])
    return _are_scalars(spec) or has_scalar_targets and not dataset._core.makes_batches()


def _are_scalars(spec):
    shapes = _shapes(spec)
    return bool(shapes) and all(shape == () for shape in shapes)


class KerasAdapter:
    """The methods of a Keras DataAdapter.

    Batches have the order of the dataset, and no batch is computed only to be inspected.
    """

    def __init__(self, dataset, batches=None):
        self._dataset = dataset
        self._iterable = dataset if batches is None else batches  # of the same batches, for example a Watch
        self._looked_at = None  # an iterator whose first batch had to be computed to know its type

    @property
    def __class__(self):
        return shown_class(self._dataset) or KerasAdapter

    def get_numpy_iterator(self):
        return self._batches()

    def get_jax_iterator(self):
        return self._batches()

    def get_torch_dataloader(self):
        from ._torch import TorchLoader

        return TorchLoader(self._iterable)

    def get_tf_dataset(self):
        import tensorflow as tf

        signature = structure_map(lambda spec: tf.TensorSpec(spec.shape, "string" if spec.dtype is string else spec.dtype),
                                  self._signature())
        return tf.data.Dataset.from_generator(self._batches, output_signature=signature)

    @property
    def num_batches(self):
        count = self._dataset.cardinality()
        return count if count >= 0 else None

    @property
    def batch_size(self):
        return None

    @property
    def has_partial_batch(self):
        return None

    @property
    def partial_batch_size(self):
        return None

    def on_epoch_begin(self):
        pass

    def on_epoch_end(self):
        pass

    def _batches(self):
        batches, self._looked_at = self._looked_at or iter(self._iterable), None
        return batches

    def _signature(self):
        """Return types and shapes.

        If they, or a rank, are unknown in advance, the first batch determines them. It is still delivered first.
        """
        spec = self._dataset._known_spec()
        if spec is not None and None not in _shapes(spec):
            return spec
        batches = iter(self._iterable)
        first = next(batches, None)
        if first is None:
            raise ValueError("the types of the batches are unknown: the dataset has no element that shows them")
        self._looked_at = itertools.chain([first], batches)
        return structure_map(_spec_like, first)


def _shapes(spec):
    shapes = []
    structure_map(lambda leaf: shapes.append(leaf.shape), spec)
    return shapes


def _spec_like(value):
    """Return the spec of a batch. The last batch may have fewer rows."""
    if isinstance(value, bytes):
        return TensorSpec((), string)
    sides = (None,) + tuple(value.shape[1:]) if value.ndim else ()
    return TensorSpec(sides, string if value.dtype == object else value.dtype)

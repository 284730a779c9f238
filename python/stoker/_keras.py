"""A data set inside Keras' fit, evaluate and predict.

Keras 3 takes an instance of its class DataAdapter as it is and asks it for batches in the form its backend wants.
"""

import itertools
import sys

from ._spec import TensorSpec, string, structure_map

_MODULE = "keras.src.trainers.data_adapters.data_adapter"


def data_adapter_class():
    """Keras' DataAdapter, once Keras is loaded; it is never imported for this."""
    module = sys.modules.get(_MODULE)
    return getattr(module, "DataAdapter", None)


class KerasAdapter:
    """What Keras asks of a DataAdapter. Batches come in the data set's own order, and none is drawn to be looked at only."""

    def __init__(self, dataset):
        self._dataset = dataset
        self._looked_at = None  # an iterator whose first batch had to be made to know its type

    @property
    def __class__(self):
        return data_adapter_class() or KerasAdapter

    def get_numpy_iterator(self):
        return self._batches()

    def get_jax_iterator(self):
        return self._batches()

    def get_torch_dataloader(self):
        from ._torch import TorchLoader

        return TorchLoader(self._dataset)

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
        batches, self._looked_at = self._looked_at or iter(self._dataset), None
        return batches

    def _signature(self):
        """Types and shapes; where they, or the rank of one, are not known beforehand the first batch tells, and stays the first."""
        spec = self._dataset._known_spec()
        if spec is not None and _ranks_are_known(spec):
            return spec
        batches = iter(self._dataset)
        first = next(batches, None)
        if first is None:
            raise ValueError("the data set has no element, so that nothing is known about its batches")
        self._looked_at = itertools.chain([first], batches)
        return structure_map(_spec_like, first)


def _ranks_are_known(spec):
    known = []
    structure_map(lambda leaf: known.append(leaf.shape is not None), spec)
    return all(known)


def _spec_like(value):
    """Of a batch: the last one may have fewer rows."""
    if isinstance(value, bytes):
        return TensorSpec((), string)
    sides = (None,) + tuple(value.shape[1:]) if value.ndim else ()
    return TensorSpec(sides, string if value.dtype == object else value.dtype)

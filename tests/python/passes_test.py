"""The random numbers of a dataset follow its own passes, whatever is done with datasets that share its stages."""

import collections
import contextvars
import functools
import json
import operator
import types
import unittest
import weakref

import numpy as np

import stoker as sk

IMAGES = np.arange(6 * 12, dtype=np.float32).reshape(6, 2, 2, 3)


def decode(x):
    """Draws nothing."""
    return np.array(x)


class Decoder:
    def __call__(self, x):
        return decode(x)

    def method(self, x):
        return decode(x)


DECODERS = [decode]
helpers = types.ModuleType("helpers")
helpers.sk = sk
exec("""
def decode(x):
    return x.copy()

def brighten(x):
    return sk.image.random_brightness(x, 0.5, seed=4)
""", vars(helpers))

BASES = {
    "arrays": lambda: sk.Dataset.from_tensor_slices(IMAGES),
    "a native map": lambda: sk.Dataset.from_tensor_slices(IMAGES).map(lambda x: x + 1),
    "a Python map": lambda: sk.Dataset.from_tensor_slices(IMAGES).map(decode, workers="thread"),
    "a serial map": lambda: sk.Dataset.from_tensor_slices(IMAGES).map(decode, workers="serial"),
    "a partial": lambda: sk.Dataset.from_tensor_slices(IMAGES).map(functools.partial(decode), workers="thread"),
    "a callable object": lambda: sk.Dataset.from_tensor_slices(IMAGES).map(Decoder(), workers="thread"),
    "a method": lambda: sk.Dataset.from_tensor_slices(IMAGES).map(Decoder().method, workers="thread"),
    "a list of functions": lambda: sk.Dataset.from_tensor_slices(IMAGES).map(
        lambda x: [step(x) for step in DECODERS][-1], workers="thread"),
    "a module": lambda: sk.Dataset.from_tensor_slices(IMAGES).map(lambda x: helpers.decode(x), workers="thread"),
    "an installed module": lambda: sk.Dataset.from_tensor_slices(IMAGES).map(
        lambda x: np.clip(x, 0, len(json.dumps([1]))), workers="thread"),
    "a filter": lambda: sk.Dataset.from_tensor_slices(IMAGES).filter(lambda x: bool(np.asarray(x).sum() >= 0)),
    "flat_map": lambda: sk.Dataset.range(3).flat_map(lambda i: sk.Dataset.from_tensor_slices(IMAGES[:2])),
    "interleave": lambda: sk.Dataset.range(3).interleave(lambda i: sk.Dataset.from_tensor_slices(IMAGES[:2])),
    "a generator": lambda: sk.Dataset.from_generator(
        lambda: iter(IMAGES), output_signature=sk.TensorSpec((2, 2, 3), "float32")),
    "a sequence": lambda: sk.from_sequence([(x,) for x in IMAGES]).map(lambda *x: x[0]),
}


def brighten(x):
    return sk.image.random_brightness(x, 0.5, seed=1)


def helper(x):
    return brighten(x)


@functools.lru_cache
def cached():
    return lambda x: sk.image.random_contrast(x, 0.1, 2.0, seed=1)


STEPS = [decode, brighten]
STEP_OF = {"train": brighten}


def applied(step, x):
    return step(x)


class Augmenter:
    def __call__(self, x):
        return self.augment(x)

    @staticmethod
    def augment(x):
        return sk.image.random_brightness(x, 0.5, seed=2)


class Holder:
    def __init__(self):
        self.steps = [brighten]

    @property
    def step(self):
        return self.steps[0]


AUGMENTER, HOLDER = Augmenter(), Holder()


class Images:
    """A sequence that draws in `__getitem__`."""

    def __len__(self):
        return len(IMAGES)

    def __getitem__(self, i):
        return brighten(IMAGES[i])


AUGMENTATIONS = {
    "native": lambda ds: ds.map(brighten),
    "Python": lambda ds: ds.map(brighten, workers="thread"),
    "in a helper": lambda ds: ds.map(lambda x: helper(x) + 1, workers="thread"),
    "in a default": lambda ds: ds.map(lambda x, draw=brighten: draw(x), workers="thread"),
    "in a method": lambda ds: ds.map(Augmenter(), workers="thread"),
    "in a cached function": lambda ds: ds.map(lambda x: cached()(x), workers="thread"),
    "in a module": lambda ds: ds.map(lambda x: helpers.brighten(x), workers="thread"),
    "in a list": lambda ds: ds.map(lambda x: [step(x) for step in STEPS][-1], workers="thread"),
    "in a dict": lambda ds: ds.map(lambda x: STEP_OF["train"](x), workers="thread"),
    "in a callable global": lambda ds: ds.map(lambda x: AUGMENTER(x), workers="thread"),
    "in an attribute": lambda ds: ds.map(lambda x: HOLDER.step(x), workers="thread"),
    "in an argument of a partial": lambda ds: ds.map(functools.partial(applied, brighten), workers="thread"),
    "by getattr": lambda ds: ds.map(lambda x: getattr(sk.image, "random_" + "brightness")(x, 0.5, seed=1),
                                    workers="thread"),
    "by an attrgetter": lambda ds: ds.map(lambda x: operator.attrgetter("augment")(AUGMENTER)(x), workers="thread"),
}

class Inherited(Augmenter):
    def __call__(self, x):
        return super().__call__(np.asarray(x))


class Slotted:
    __slots__ = ("step",)

    def __init__(self):
        self.step = brighten


class Descriptor:
    def __get__(self, owner, kind=None):
        return brighten


class Described:
    step = Descriptor()


class Operator:
    def __radd__(self, x):
        return brighten(np.asarray(x))

    __array_ufunc__ = None


class MetaclassWithCall(type):
    def __call__(cls, x):
        return brighten(x)


class Called(metaclass=MetaclassWithCall):
    pass


NAMED = collections.namedtuple("NAMED", "step")(brighten)
ORDERED = collections.OrderedDict(step=brighten)
DEFAULT = collections.defaultdict(lambda: brighten)
QUEUE = collections.deque([brighten])
SPACE = types.SimpleNamespace(step=brighten)
PROXY = types.MappingProxyType({"step": brighten})
OBJECTS = np.array([brighten, decode], object)
SLOTTED, DESCRIBED, OPERATOR, NAME = Slotted(), Described(), Operator(), "brighten"
VARIABLE = contextvars.ContextVar("step", default=brighten)
WEAK = weakref.ref(brighten)
MANY = [decode] * 300 + [brighten]


def with_attribute(x):
    return with_attribute.step(x)


with_attribute.step = brighten

# Ways to reach a function that draws without mentioning its name, or one that mentions it.
HIDDEN = {
    "super": Inherited(), "an object made in the function": lambda x: Inherited()(x),
    "a named tuple": lambda x: NAMED.step(x), "an ordered dict": lambda x: ORDERED["step"](x),
    "a default dict": lambda x: DEFAULT[1](x), "a deque": lambda x: QUEUE[0](x), "a namespace": lambda x: SPACE.step(x),
    "a mapping proxy": lambda x: PROXY["step"](x), "an array of objects": lambda x: OBJECTS[0](x),
    "a slot": lambda x: SLOTTED.step(x), "a descriptor": lambda x: DESCRIBED.step(x), "an operator": lambda x: x + OPERATOR,
    "a metaclass": lambda x: Called(x), "a context variable": lambda x: VARIABLE.get()(x), "a weak reference": lambda x: WEAK()(x),
    "a long list": lambda x: MANY[-1](x), "an attribute of a function": with_attribute,
    "a name that is computed": lambda x: getattr(helpers, NAME)(x), "the dict of a module": lambda x: helpers.__dict__[NAME](x),
    "the variables of a module": lambda x: vars(helpers)[NAME](x),
}

OTHERS = {
    "the base": lambda base: base,
    "the rest of it": lambda base: base.skip(4),
    "a sibling": lambda base: base.take(2).map(brighten),
    "batches": lambda base: base.batch(2),
}


def epochs(dataset, between=lambda: None):
    found = []
    for _ in range(3):
        found.append([np.asarray(x).tobytes() for x in dataset])
        between()
    return found


class Siblings(unittest.TestCase):
    def test_iterating_them_changes_nothing(self):
        for base_name, made in BASES.items():
            for name, augmented in AUGMENTATIONS.items():
                sk.random.set_seed(5)
                alone = epochs(augmented(made()).take(4))
                self.assertEqual(len(set(map(tuple, alone))), 3, f"{base_name}, {name}: its epochs are equal")
                for other_name, other in OTHERS.items():
                    with self.subTest(f"{base_name}, {name}, {other_name}"):
                        sk.random.set_seed(5)
                        base = made()
                        dataset = augmented(base).take(4)
                        sibling = other(base)
                        self.assertEqual(epochs(dataset, lambda sibling=sibling: list(sibling)), alone)


class RebuiltInEachEpoch(unittest.TestCase):
    def test_a_function_that_hides_what_it_reaches_draws_new_numbers(self):
        for name, function in HIDDEN.items():
            with self.subTest(name):
                ds = sk.Dataset.from_tensor_slices(IMAGES).map(function, workers="thread")
                self.assertEqual(len({tuple(x.tobytes() for x in ds.batch(2)) for _ in range(3)}), 3)

    def test_a_dataset_on_a_random_stage_draws_new_numbers(self):
        for name, augmented in AUGMENTATIONS.items():
            with self.subTest(name):
                ds = augmented(sk.Dataset.from_tensor_slices(IMAGES))
                found = {tuple(x.tobytes() for x in ds.map(decode, workers="thread").batch(2)) for _ in range(3)}
                self.assertEqual(len(found), 3)

    def test_a_dataset_on_a_random_sequence_draws_new_numbers(self):
        ds = sk.from_sequence(Images())
        self.assertEqual(len({tuple(np.asarray(x).tobytes() for x in ds.batch(2)) for _ in range(3)}), 3)

    def test_a_dataset_on_datasets_with_an_order_gets_new_orders(self):
        def shuffled(_):
            return sk.Dataset.range(50).shuffle(50)

        for name in ("flat_map", "interleave"):
            with self.subTest(name):
                ds = getattr(sk.Dataset.range(2), name)(shuffled)
                self.assertEqual(len({tuple(int(x) for x in ds.skip(1)) for _ in range(3)}), 3)


if __name__ == "__main__":
    unittest.main()

"""What tracing makes of a function cannot be observed: native or Python, it has the results of a plain loop.

Each form is a function that makes the function to map, so that every run begins with state of its own. Forms that read a
clock or draw from the system see a counted stand-in, so that their results can be compared.
"""

import collections
import contextlib
import dataclasses
import datetime
import enum
import functools
import io as python_io
import itertools
import math
import operator
import os
import random
import secrets
import string
import tempfile
import threading
import time
import unittest
import unittest.mock
import uuid

import numpy as np

import stoker as sk
from stoker import _core
from stoker._trace import python_function, trace
from stoker._values import Value

EPOCHS = 3
PYTHON, NATIVE = {}, {}  # forms by name


def form(forms, source=lambda: sk.Dataset.range(4)):
    def add(make):
        forms[make.__name__] = (make, source)
        return make

    return add


def impure(make):
    return form(PYTHON)(make)


def pure(make):
    return form(NATIVE)(make)


def on(forms, *arrays):
    return form(forms, lambda: sk.Dataset.from_tensor_slices(arrays if len(arrays) > 1 else arrays[0]))


WORDS = np.array([b"Rome", b"Oslo", b"Bern"], dtype=object)
IMAGES = np.arange(2 * 4 * 4 * 3, dtype=np.uint8).reshape(2, 4, 4, 3)
FIELDS = {"a": np.arange(3), "b": np.arange(3) * 10}

# ---- not a function of their arguments alone

GENERATOR = np.random.default_rng(7)
COUNT = 0
NUMBERS = itertools.count()
TABLE = {1: 10, 2: 20}
FOLDER = tempfile.TemporaryDirectory()


def setUpModule():
    sk.configure(workers=0)  # the loop's own thread calls the functions: their state is compared
    for i in range(4):
        np.save(os.path.join(FOLDER.name, f"{i}.npy"), np.arange(i, i + 2))
    unittest.addModuleCleanup(FOLDER.cleanup)


@impure
def generator_in_the_closure():
    rng = np.random.default_rng(1)
    return lambda x: x + rng.integers(1000)


@impure
def generator_in_a_global():
    global GENERATOR
    GENERATOR = np.random.default_rng(2)
    return lambda x: x + GENERATOR.integers(1000)


@impure
def generator_as_a_default():
    return lambda x, rng=np.random.default_rng(3): x + rng.integers(1000)


@impure
def generator_as_a_keyword_default():
    def draw(x, *, rng=np.random.default_rng(3)):
        return x + rng.integers(1000)

    draw.__kwdefaults__["rng"] = np.random.default_rng(3)
    return draw


class Jitter:
    def __init__(self):
        self.rng = np.random.default_rng(4)

    def __call__(self, x):
        return x + self.rng.integers(1000)

    def shifted(self, x):
        return self(x) + 1


@impure
def generator_of_a_callable_object():
    return Jitter()


@impure
def generator_of_a_bound_method():
    return Jitter().shifted


@impure
def generator_in_a_helper():
    jitter = Jitter()

    def helper():
        return jitter.rng.random()

    return lambda x: x + helper()


@impure
def generator_in_a_list():
    generators = [np.random.default_rng(5)]
    return lambda x: x + generators[0].integers(1000)


@impure
def generator_in_a_dict_of_a_helper():
    parts = {"rng": np.random.default_rng(5)}

    def draw():
        return parts["rng"].integers(1000)

    return lambda x: x + draw()


@impure
def method_of_a_generator():
    draw = np.random.default_rng(6).integers
    return lambda x: x + draw(1000)


@impure
def random_state():
    state = np.random.RandomState(1)
    return lambda x: x + state.randint(1000)


@impure
def numpy_random_by_another_name():
    np.random.seed(1)
    r = np.random
    return lambda x: x + r.randint(1000)


@impure
def numpy_random_in_a_local_variable():
    np.random.seed(1)

    def draw(x):
        r = np.random
        return x + r.randint(1000)

    return draw


@impure
def numpy_random_by_its_function():
    np.random.seed(1)
    uniform = np.random.uniform
    return lambda x: x + uniform()


@impure
def numpy_random_shuffle():
    np.random.seed(1)

    def draw(x):
        order = np.arange(10)
        np.random.shuffle(order)
        return x + order

    return draw


@impure
def random_module():
    random.seed(1)
    return lambda x: x + random.randint(0, 1000)


@impure
def random_function():
    random.seed(1)
    draw = random.random
    return lambda x: x + draw()


@impure
def random_by_getattr():
    random.seed(1)
    return lambda x: x + getattr(random, "randint")(0, 1000)


@impure
def random_imported_inside():
    random.seed(1)

    def draw(x):
        from random import randint
        return x + randint(0, 1000)

    return draw


@impure
def random_by_the_function_for_imports():
    random.seed(1)
    return lambda x: x + __import__("random").randint(0, 1000)


@impure
def random_as_a_key():
    own = random.Random(3)
    return lambda x: x + sorted([1, 2, 3], key=lambda _: own.random())[0]


@impure
def random_of_a_descriptor():
    class Drawn:
        def __init__(self):
            self.own = random.Random(3)

        def __get__(self, owner, kind):
            return self.own.random()

    class Owner:
        value = Drawn()

    owner = Owner()
    return lambda x: x + owner.value


@impure
def random_of_an_object_like_a_list():
    class Draws:
        own = random.Random(3)

        def __getitem__(self, i):
            return self.own.random()

    Draws.own = random.Random(3)
    draws = Draws()
    return lambda x: x + draws[0]


@impure
def random_random_object():
    own = random.Random(3)
    return lambda x: x + own.random()


@impure
def random_as_part_of_a_condition():
    own = random.Random(3)
    return lambda x: x + 1 if own.random() < 0.5 else x - 1


@impure
def system_random():
    own = random.SystemRandom()
    return lambda x: x + own.getrandbits(20)


@impure
def urandom():
    return lambda x: x + int.from_bytes(os.urandom(3), "big")


@impure
def secrets_module():
    return lambda x: x + secrets.randbelow(1000)


@impure
def uuid_module():
    return lambda x: x + uuid.uuid4().int % 1000


@impure
def clock():
    return lambda x: x + time.time()


@impure
def clock_by_its_function():
    now = time.perf_counter
    return lambda x: x + now()


@impure
def datetime_now():
    return lambda x: x + datetime.datetime.now().microsecond


@impure
def next_of_an_iterator():
    numbers = itertools.count(5)
    return lambda x: x + next(numbers)


@impure
def next_of_a_global_iterator():
    global NUMBERS
    NUMBERS = itertools.count()
    return lambda x: x + next(NUMBERS)


@impure
def generator_function_held_outside():
    held = (i * i for i in itertools.count())
    return lambda x: x + next(held)


@impure
def iteration_over_an_iterator():
    held = iter(range(1000))

    def draw(x):
        for one in held:
            return x + one

    return draw


@impure
def environment_variable():
    return lambda x: x + int(os.environ.get("STOKER_TRACING_TEST", "1"))


@impure
def environment_variable_by_getenv():
    return lambda x: x + int(os.getenv("STOKER_TRACING_TEST", "2"))


@impure
def file_read():
    def call(x):
        file = open(__file__)
        length = len(file.readline())
        file.close()
        return x + length

    return call


@impure
def file_position():
    file = python_io.StringIO("".join(f"{i}\n" for i in range(100)))
    return lambda x: x + int(file.readline())


@impure
def numpy_file():
    return lambda x: np.load(f"{FOLDER.name}/{x}.npy")


@impure
def file_of_constants_by_our_own_operation():
    return lambda x: (x, sk.io.read_file(__file__)[:2])


@impure
def global_counter():
    global COUNT
    COUNT = 0

    def count(x):
        global COUNT
        COUNT += 1
        return x + COUNT

    return count


@impure
def counter_of_an_outer_variable():
    counted = 0

    def count(x):
        nonlocal counted
        counted += 1
        return x + counted

    return count


@impure
def counter_in_a_list():
    counted = [0]

    def count(x):
        counted[0] += 1
        return x + counted[0]

    return count


@impure
def counter_by_append():
    seen = []

    def count(x):
        seen.append(None)
        return x + len(seen)

    return count


@impure
def counter_by_a_method_held_outside():
    seen = []
    note = seen.append

    def count(x):
        note(None)
        return x + len(seen)

    return count


@impure
def counter_in_a_dict_by_another_name():
    counted = {"n": 0}

    def count(x):
        alias = counted
        alias.update(n=alias["n"] + 1)
        return x + counted["n"]

    return count


@impure
def counter_of_collections():
    counted = collections.Counter()

    def count(x):
        counted["n"] += 1
        return x + counted["n"]

    return count


@impure
def counter_in_an_array():
    counted = np.zeros(1, np.int64)

    def count(x):
        counted[0] += 1
        return x + counted

    return count


@impure
def counter_in_a_default():
    def count(x, counted=[0]):
        counted[0] += 1
        return x + counted[0]

    count.__defaults__ = ([0],)
    return count


class Counting:
    made = 0

    def __init__(self):
        self.count = 0

    def __call__(self, x):
        self.count += 1
        return x + self.count


@impure
def counter_of_a_callable_object():
    return Counting()


@impure
def counter_by_setattr():
    box = Counting()

    def count(x):
        setattr(box, "count", box.count + 1)
        return x + box.count

    return count


@impure
def counter_of_a_function_attribute():
    def count(x):
        count.calls += 1
        return x + count.calls

    count.calls = 0
    return count


@impure
def counter_in_a_decorator():
    def counted(function):
        calls = itertools.count()

        @functools.wraps(function)
        def wrapper(x):
            return function(x) + next(calls)

        return wrapper

    return counted(lambda x: x * 2)


@impure
def partial_of_a_generator():
    return functools.partial(lambda rng, x: x + rng.integers(1000), np.random.default_rng(8))


@impure
def cached_helper():
    calls = itertools.count(1)

    @functools.lru_cache(maxsize=None)
    def first():
        return next(calls)

    return lambda x: x + first()


@impure
def state_built_on_the_first_call():
    class Vocabulary:
        def __init__(self):
            self.words = None

        def __call__(self, x):
            if self.words is None:
                self.words = {word: i for i, word in enumerate(string.ascii_letters)}
            return x + len(self.words)

    return Vocabulary()


@impure
def cached_property():
    class Model:
        @functools.cached_property
        def offset(self):
            return 5

        def __call__(self, x):
            return x + self.offset

    return Model()


@impure
def lazily_filled_dict():
    built = {}

    def call(x):
        if not built:
            built["offset"] = 3
        return x + built["offset"]

    return call


@impure
def thread_local():
    local = threading.local()
    local.value = 3
    return lambda x: x + getattr(local, "value", 3)


@impure
def print_to_a_stream():
    stream = python_io.StringIO()

    def call(x):
        print("called", file=stream)
        return x + len(stream.getvalue())

    return call


@impure
def exception_that_is_caught():
    def call(x):
        try:
            return x + len(x)
        except TypeError:
            return x - 1

    return call


@impure
def lock():
    held = threading.Lock()

    def call(x):
        with held:
            return x + 1

    return call


@impure
def result_without_an_argument():
    return lambda x: 5


@impure
def array_without_an_argument():
    table = np.arange(3)
    return lambda x: (table, 1)


@impure
def eval_of_text():
    return lambda x: x + eval("1 + 1")


# ---- values that a symbolic one does not have


@impure
def str_of_a_value():
    return lambda x: str(x)


@impure
def format_of_a_value():
    return lambda x: f"{x}.png"


@impure
def percent_of_a_value():
    return lambda x: "%s.png" % x


@impure
def format_method_of_a_value():
    return lambda x: "{}.png".format(x)


@impure
def repr_of_a_value():
    return lambda x: repr(x)


@impure
def length_of_the_text_of_a_value():
    return lambda x: x + len(str(x))


@impure
def lookup_by_a_value():
    return lambda x: x + [10, 20, 30, 40][x]


@impure
def lookup_with_a_default():
    return lambda x: (x, TABLE.get(x, -1))


@impure
def membership_in_a_set():
    return lambda x: (x, x in {1, 2})


@impure
def membership_in_a_tuple():
    return lambda x: (x, x in (1, 2))


@impure
def instance_of_a_type():
    return lambda x: (x, isinstance(x, np.integer))


@impure
def type_of_a_value():
    return lambda x: (x, type(x) is np.int64)


@impure
def identity_of_values():
    def call(x, limit=3):
        y = x
        return (x, y is x, x is limit)

    return call


@impure
def attribute_of_a_value():
    return lambda x: x + x.ndim


@impure
def has_attribute():
    return lambda x: (x, hasattr(x, "dtype"))


@impure
def bitwise_and():
    return lambda x: x & 1


@impure
def bitwise_not():
    return lambda x: ~x


@impure
def numpy_function():
    return lambda x: np.sqrt(x)


@impure
def rounding():
    return lambda x: round(x / 3, 1)


@on(PYTHON, WORDS)
def bytes_against_text():
    return lambda c: c == "Rome"


@on(PYTHON, WORDS)
def text_against_bytes():
    return lambda c: (c, "Rome" != c)


@on(PYTHON, WORDS)
def bytes_against_an_array_of_text():
    names = np.array(["Rome", "Oslo"])
    return lambda c: (c, names == c)


@on(PYTHON, WORDS)
def bytes_against_a_constant_of_text():
    return lambda c: (c, c == sk.constant("Rome"))


@on(PYTHON, WORDS)
def strings_joined():
    return lambda c: c + b".jpg"


@on(PYTHON, WORDS)
def byte_of_a_string():
    return lambda c: (c, c[0])


@on(PYTHON, WORDS)
def decoded_string():
    return lambda c: c.decode().lower()


@on(PYTHON, IMAGES)
def list_in_a_structure():
    return lambda x: (x, [1, 2])


@on(PYTHON, IMAGES)
def in_place_keeps_the_type():
    def call(x):
        y = sk.cast(x, sk.float32)
        y += np.ones(3)
        return y

    return call


@on(PYTHON, np.arange(12, dtype=np.float32).reshape(3, 4))
def in_place_changes_every_name():
    def call(x):
        y = z = x * 2
        y += 1
        return y, z

    return call


@impure
def whole_number_times_a_list():
    return lambda x: (x, (x + 1) * [1, 2])


# ---- functions of their arguments alone

SCALE = 3
MEAN = np.array([1.0, 2.0, 3.0], np.float32)
CONFIG = {"size": (2, 2), "names": ["a", "b"]}


class Settings:
    OFFSET = 4

    def __init__(self, scale=2):
        self.scale = scale

    def __call__(self, x):
        return self.scaled(x) + self.OFFSET

    def scaled(self, x):
        return x * self.scale + self.half

    @property
    def half(self):
        return self.scale // 2

    @staticmethod
    def doubled(x):
        return x * 2

    @classmethod
    def moved(cls, x):
        return x + cls.OFFSET


@dataclasses.dataclass
class Options:
    scale: int = 2
    names: tuple = ("x",)


Pair = collections.namedtuple("Pair", "low high")


def helper(x, by=2):
    return x * by + SCALE


def outer_helper(x):
    return helper(helper(x), by=3)


@pure
def arithmetic():
    return lambda x: (x * 2 + 1) / 3 - x // 2 + x % 3


@pure
def global_number():
    return lambda x: x * SCALE


@pure
def closed_over_numbers():
    scale, offset = 2, 0.5
    return lambda x: x * scale + offset


@pure
def helper_function():
    return lambda x: helper(x) + outer_helper(x)


@pure
def function_of_the_module():
    return outer_helper


@pure
def nested_function():
    def call(x):
        def inner(y, k=2):
            return y * k + SCALE

        return inner(x) + inner(x, 3)

    return call


@pure
def loop_over_a_range():
    def call(x):
        total = x
        for i in range(3):
            total = total + i * x
        return total

    return call


@pure
def comprehension():
    return lambda x: tuple(x + i for i in range(3)) + tuple([x * i for i in (1, 2)])


@pure
def sum_of_a_generator():
    return lambda x: sum(w * x for w in (1, 2, 3))


@pure
def condition_on_a_constant():
    flip = False
    return lambda x: -x if flip else x + 1


@pure
def optional_parameter():
    def call(x, offset=None):
        return x if offset is None else x + offset

    return call


@pure
def text_of_constants():
    return lambda x: {f"x{SCALE}": x, "%s" % "y": x + 1, "z".upper(): x}


@pure
def partial():
    return functools.partial(helper, by=5)


@pure
def decorated():
    def twice(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            return function(*args, **kwargs) * 2

        return wrapper

    return twice(lambda x: x + 1)


@pure
def callable_object():
    return Settings(3)


@pure
def bound_method():
    return Settings(3).scaled


@pure
def static_and_class_methods():
    return lambda x: Settings.doubled(x) + Settings.moved(x)


@pure
def constant_of_a_class():
    return lambda x: x + Settings.OFFSET


@pure
def dataclass_of_settings():
    options = Options(scale=4)
    return lambda x: {options.names[0]: x * options.scale}


@pure
def named_tuple_of_settings():
    limits = Pair(1, 5)
    return lambda x: sk.minimum(sk.maximum(x, limits.low), limits.high)


@pure
def settings_in_a_dict():
    return lambda x: {name: x + i for i, name in enumerate(CONFIG["names"])}


class Mode(enum.Enum):
    TRAIN = "train"
    TEST = "test"


@pure
def enumeration():
    mode = Mode.TRAIN
    return lambda x: x + 1 if mode == Mode.TRAIN else x - len(Mode.TEST.value)


@pure
def mathematics_on_constants():
    return lambda x: x * math.sqrt(2) + np.pi + float(np.exp(1.0))


@pure
def methods_of_captured_arrays():
    return lambda x: x + MEAN.mean() * MEAN.astype(np.float64).max()


@pure
def functions_of_operator():
    return lambda x: functools.reduce(operator.add, [x, x + 1, x * 2])


@pure
def recursion():
    def power(x, n):
        return x if n == 1 else x * power(x, n - 1)

    return lambda x: power(x, 3)


@pure
def local_list():
    def call(x):
        parts = []
        parts.append(x)
        parts.extend([x + 1])
        return tuple(parts)

    return call


@pure
def comparison_and_logic():
    return lambda x: (x > 1) & (x < 3) | ~(x == 0)


@pure
def cast_and_stack():
    return lambda x: sk.stack([sk.cast(x, sk.float32), sk.cast(x + 1, sk.float32)])


@pure
def assertion_on_constants():
    def call(x):
        assert SCALE == 3
        return x + 1

    return call


@pure
def operation_itself():
    return functools.partial(sk.cast, dtype=sk.int32)


@on(NATIVE, FIELDS)
def fields_of_a_dict():
    return lambda x: {"sum": x["a"] + x["b"], **x}


@on(NATIVE, FIELDS)
def changed_argument():
    def call(x):
        x["a"] = x["a"] * 2
        return x

    return call


@on(NATIVE, np.arange(3), np.arange(3) * 10)
def fields_of_a_tuple():
    return lambda a, b: (b, a + b)


@on(NATIVE, np.arange(3), np.arange(3) * 10)
def tuple_as_one_argument():
    return lambda pair: pair[0] + pair[1]


@on(NATIVE, WORDS)
def bytes_against_bytes():
    return lambda c: c == b"Rome"


@on(NATIVE, WORDS)
def bytes_against_an_array_of_bytes():
    return lambda c: c == sk.constant([b"Rome", b"Bern"])


@on(NATIVE, np.array([[b"Rome", b"Oslo"], [b"Bern", b"Riga"]], dtype=object))
def strings_of_an_array():
    return lambda c: (c[0], c[1:], c[None])


@on(NATIVE, IMAGES)
def captured_array():
    return lambda x: (sk.cast(x, sk.float32) - MEAN) / [0.5, 0.25, 0.5]


@on(NATIVE, IMAGES)
def image_operations():
    size = CONFIG["size"]

    def call(x):
        x = sk.image.flip_left_right(sk.image.resize(x, size))
        return sk.cast(x, sk.float32) / 255.0, sk.shape(x)[0]

    return call


@on(NATIVE, IMAGES)
def image_indices():
    top = np.int64(1)
    return lambda x: (x[top:3, ::2], x[..., 0], x[0][None])


@on(NATIVE, IMAGES)
def in_place_with_the_same_result():
    def call(x):
        y = sk.cast(x, sk.float32)
        y /= 255.0
        return y

    return call


@on(NATIVE, np.arange(12, dtype=np.float32).reshape(3, 4))
def reductions():
    return lambda x: (sk.reduce_sum(x), sk.reduce_mean(x, axis=0), sk.reduce_max(x), sk.reduce_min(x, keepdims=True))


# ---- the laws


@contextlib.contextmanager
def counted_world():
    """Clocks and sources of the system count instead."""
    numbers = itertools.count(1)

    def count(*_):
        return next(numbers)

    class Now(datetime.datetime):
        @classmethod
        def now(cls, tz=None):
            return cls(2000, 1, 1, microsecond=count())

    with contextlib.ExitStack() as stack:
        for name in ("os.urandom", "random._urandom"):
            stack.enter_context(unittest.mock.patch(name, lambda n: count().to_bytes(n, "big")))
        for name in ("time.time", "time.perf_counter", "secrets.randbelow"):
            stack.enter_context(unittest.mock.patch(name, count))
        stack.enter_context(unittest.mock.patch("uuid.uuid4", lambda: uuid.UUID(int=count())))
        stack.enter_context(unittest.mock.patch("datetime.datetime", Now))
        yield


def passes(make, source, **how):
    with counted_world():
        ds = source().map(make(), **how)
        return [list(ds) for _ in range(EPOCHS)]


def plain_loop(make, source):
    """The same without a pipeline."""
    with counted_world():
        function = make()
        found = []
        for _ in range(EPOCHS):
            found.append([called(function, element) for element in source()])
        return found


def called(function, element):
    fields = element if isinstance(element, tuple) else (element,)
    if len(fields) > 1 and len(function.__code__.co_varnames) == 1:
        fields = (fields,)
    return function(*fields)


def described(value):
    """Values with their types, to be compared."""
    if isinstance(value, (list, tuple)):
        return [described(part) for part in value]
    if isinstance(value, dict):
        return {key: described(part) for key, part in value.items()}
    if isinstance(value, bytes):
        return value
    return np.asarray(value).dtype.name, np.asarray(value).tolist()


def bare(value):
    """Values without types: Python's own numbers and text get theirs only in the pipeline."""
    if isinstance(value, (list, tuple)):
        return [bare(part) for part in value]
    if isinstance(value, dict):
        return {key: bare(part) for key, part in value.items()}
    if isinstance(value, str):
        return value.encode()
    return value if isinstance(value, bytes) else np.asarray(value, np.float32 if isinstance(value, float) else None).tolist()


def epochs_of(found):
    """What can be compared. A stage may call its function for an element before it does for the one ahead of it, so of numbers
    the sum counts, which has every draw in it."""
    numbers = all(isinstance(value, (int, float)) for epoch in bare(found) for value in epoch)
    return [round(math.fsum(epoch), 6) for epoch in bare(found)] if numbers else bare(found)


class Forms(unittest.TestCase):
    def test_there_are_enough_of_them(self):
        self.assertGreaterEqual(len(PYTHON), 40)
        self.assertGreaterEqual(len(NATIVE), 20)

    def test_what_is_not_a_function_of_its_arguments_is_python(self):
        for name, (make, source) in PYTHON.items():
            with self.subTest(name):
                self.assertIn("the Python function", source().map(make()).explain())

    def test_what_is_a_function_of_its_arguments_stays_native(self):
        for name, (make, source) in NATIVE.items():
            with self.subTest(name):
                self.assertNotIn("Python", source().map(make()).explain())

    def test_every_epoch_is_that_of_a_plain_loop(self):
        for name, (make, source) in {**PYTHON, **NATIVE}.items():
            with self.subTest(name):
                self.assertEqual(*(epochs_of(run(make, source)) for run in (passes, plain_loop)))

    def test_native_and_python_have_the_same_bits_and_types(self):
        for name, (make, source) in NATIVE.items():
            with self.subTest(name):
                self.assertEqual(described(passes(make, source)), described(passes(make, source, workers="serial")))


class Calls(unittest.TestCase):
    """Making a dataset calls nothing that could be noticed."""

    def test_a_function_with_effects_is_not_called_by_map(self):
        seen = []

        def noting(x):
            seen.append(None)
            return x + 1

        ds = sk.Dataset.range(3).map(noting)
        self.assertEqual(seen, [])
        self.assertEqual(list(ds), [1, 2, 3])
        self.assertEqual(len(seen), 3)

    def test_generators_and_python_stages_upstream_are_not_run(self):
        calls = []

        def numbers():
            calls.append("generator")
            yield np.int64(1)

        ds = sk.Dataset.from_generator(numbers, output_signature=sk.TensorSpec((), sk.int64)).map(lambda x: x + 1)
        self.assertEqual(calls, [])
        self.assertNotIn("Python", ds.explain())
        self.assertEqual(list(ds), [2])

    def test_no_pass_is_taken_from_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.txt")
            with open(path, "w") as file:
                file.write("one\ntwo\n")
            ds = sk.data.TextLineDataset(path).map(lambda line: (line, line == b"two")).map(lambda line, _: int(line))
            with self.assertRaises(sk.InvalidArgument) as caught:
                next(iter(ds))
        self.assertEqual(caught.exception.origin, "text_lines:0")

    def test_no_pass_is_taken_from_a_shuffle(self):
        shuffled = sk.Dataset.range(20).shuffle(5, seed=1)
        first = list(sk.Dataset.range(20).shuffle(5, seed=1))
        self.assertEqual(list(shuffled.map(lambda x: x + 0)), first)

    def test_the_source_is_not_written_to(self):
        rows = np.zeros((3, 2), np.float32)

        def call(x):
            y = x * 1
            y += 1
            return y

        sk.Dataset.from_tensor_slices(rows).map(call)
        self.assertEqual(rows.sum(), 0)


class Elements(unittest.TestCase):
    """The first elements decide where the text of a function leaves a doubt."""

    def test_in_place_is_python_where_no_element_can_be_looked_at(self):
        def call(x):
            x /= 2
            return x

        def numbers():
            yield np.ones(2, np.float32)

        ds = sk.Dataset.from_generator(numbers, output_signature=sk.TensorSpec((2,), sk.float32)).map(call)
        self.assertIn("in place", ds.explain())

    def test_in_place_on_a_scalar_is_no_doubt(self):
        def call(x):
            total = x * 2
            for i in range(3):
                total += i * x
            return total

        ds = sk.Dataset.from_generator(lambda: iter([np.int64(2)]), output_signature=sk.TensorSpec((), sk.int64)).map(call)
        self.assertNotIn("Python", ds.explain())
        self.assertEqual(list(ds), [10])

    def test_explain_shows_how_the_results_differ(self):
        ds = sk.Dataset.range(3).map(lambda x: (x, x * [1, 2]))
        self.assertIn("as Python it has another result", ds.explain())

    def test_large_elements_are_not_computed_twice(self):
        ds = sk.Dataset.from_tensors(np.zeros(1 << 25, np.uint8))

        def call(x):
            x += 1
            return x

        self.assertIn("in place", ds.map(call).explain())
        self.assertNotIn("Python", ds.map(lambda x: x + 1).explain())

    def test_they_go_through_maps_batches_and_zips(self):
        rows = sk.Dataset.from_tensor_slices(np.ones((4, 2), np.float32)).shuffle(4).map(lambda x: x + 1).batch(2)

        def call(x, y):
            x += np.ones(2)
            return x + y

        ds = sk.Dataset.zip((rows, rows)).map(call)
        self.assertIn("as Python it has another result", ds.explain())
        self.assertEqual(next(iter(ds)).dtype, np.float32)


class Names(unittest.TestCase):
    """What names something that does not exist fails when the dataset is made."""

    def test_of_a_module(self):
        for function in (lambda x: sk.image.no_such(x), lambda x: sk.io.no_such(x), lambda x: np.no_such(x)):
            with self.assertRaisesRegex(AttributeError, "no_such"):
                sk.Dataset.range(3).map(function)

    def test_of_a_global(self):
        with self.assertRaisesRegex(NameError, "no_such"):
            sk.Dataset.range(3).map(lambda x: no_such(x))  # noqa: F821

    def test_of_a_field(self):
        ds = sk.Dataset.from_tensor_slices({"image": np.arange(3)})
        with self.assertRaisesRegex(KeyError, "did you mean 'image'"):
            ds.map(lambda x: x["imgae"])

    def test_of_an_operation_refuses_its_parameters_at_once(self):
        with self.assertRaises(sk.InvalidArgument):
            sk.Dataset.range(3).map(lambda x: sk.image.resize(x, (1, 2, 3)))


class Captured(unittest.TestCase):
    """Numbers and arrays are what they were when the dataset was made."""

    def test_numbers_and_arrays_of_the_closure(self):
        scale, offset = 2, np.array([1, 2])
        ds = sk.Dataset.range(2).map(lambda x: x * scale + offset)
        scale = 100
        offset[:] = 100
        self.assertEqual([row.tolist() for row in ds], [[1, 2], [3, 4]])


class OneResult(unittest.TestCase):
    """An expression that is native has NumPy's result, with no element to look at before. Whole numbers divided by zero are
    an error natively, as in TensorFlow."""

    OPERATORS = [operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow,
                 operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge]
    TYPES = ["bool", "int8", "int32", "int64", "uint8", "uint64", "float16", "float32", "float64"]
    NUMBERS = [0, 2, -1, 300, 2.5, True, np.float64(0.1), np.int64(-2), np.uint8(7)]
    FUNCTIONS = {
        "abs": sk.abs, "minimum": lambda x: sk.minimum(x, 0.5), "maximum": lambda x: sk.maximum(x, 1),
        "reshape": lambda x: sk.reshape(x, (-1, 1)), "expand_dims": lambda x: sk.expand_dims(x, 0),
        "squeeze": lambda x: sk.squeeze(sk.expand_dims(x, 0), 0), "shape": sk.shape, "stack": lambda x: sk.stack([x, x], -1),
        "stack with a number": lambda x: sk.stack([x, 1]), "concat": lambda x: sk.concat([x, x], 0), "sum": sk.reduce_sum,
        "sum of columns": lambda x: sk.reduce_sum(x, 0), "mean": sk.reduce_mean, "max": sk.reduce_max,
        "mean of rows": lambda x: sk.reduce_mean(x, -1, keepdims=True), "min": sk.reduce_min, "first": lambda x: x[0],
        "last": lambda x: x[..., -1], "reversed": lambda x: x[::-1], "new axis": lambda x: x[None],
        "constants": lambda x: (x, 1, 2.5, True, b"a", "b", 2**40, np.float64(1), np.arange(3)),
    }

    def values(self, dtype):
        if dtype == "bool":
            return np.array([0, 1, 1, 0, 1, 0], bool)
        if "int" in dtype:
            limits = np.iinfo(dtype)
            return np.array([0, 1, 3, 7, limits.max, limits.min], dtype)
        return np.array([0, 1.5, -2.25, np.nan, np.inf, 1e3], dtype)

    def check(self, function, value, name):
        structure = tuple(map(spec_of, value)) if isinstance(value, tuple) else spec_of(value)
        try:
            traced = trace(function, structure)
        except sk.Error:
            return
        if traced.function is None or traced.found.doubts:
            return
        with np.errstate(all="ignore"):
            results = [_result(made, value) for made in (traced.function, python_function(function, "", 1))]
        if not all(isinstance(result, sk.Error) for result in results) and "divided by zero" not in str(results[0]):
            self.assertEqual(*map(repr, results), name)

    def test_of_operators(self):
        for apply, dtype in itertools.product(self.OPERATORS, self.TYPES):
            for number in self.NUMBERS:
                for value in (self.values(dtype), self.values(dtype)[3]):
                    self.check(lambda x: apply(x, number), value, (apply, dtype, number))
                    self.check(lambda x: apply(number, x), value, (apply, number, dtype))
            for other in self.TYPES:
                self.check(lambda x, y: apply(x, y), (self.values(dtype), self.values(other)), (apply, dtype, other))

    def test_of_functions(self):
        many = np.random.default_rng(1).normal(size=(37, 53)) * 50
        for (name, function), dtype in itertools.product(self.FUNCTIONS.items(), self.TYPES):
            for value in (self.values(dtype), self.values(dtype)[3], many.astype(dtype)):
                self.check(function, value, (name, dtype))

    def test_of_casts(self):
        for dtype, to in itertools.product(self.TYPES, self.TYPES):
            self.check(lambda x: sk.cast(x, to), self.values(dtype), (dtype, to))


def spec_of(value):
    return sk.TensorSpec(np.shape(value), np.asarray(value).dtype)


def _result(function, value):
    try:
        return _core.computed(function, _core.Element(value))
    except sk.Error as failed:
        return failed


class Reports(unittest.TestCase):
    def test_explain_gives_the_reason(self):
        rng = np.random.default_rng(1)
        for function, reason in {
            (lambda x: x + rng.random()): "numpy.random",
            (lambda x: x + time.time()): "time.time",
            (lambda x: f"{x}"): "formatting",
            (lambda x: x + len(os.environ)): "os.environ",
            (lambda x: 1): "depends on no argument",
        }.items():
            self.assertIn(reason, sk.Dataset.range(3).map(function).explain())

    def test_a_symbolic_value_has_no_text_and_no_hash(self):
        for read in (str, repr, "{}".format, hash, bool, int, float, len, list, np.asarray, lambda x: x in {1}, "%s".__mod__):
            with self.assertRaises(sk.NeedsValue):
                read(Value(_core.argument(0)))


if __name__ == "__main__":
    unittest.main()

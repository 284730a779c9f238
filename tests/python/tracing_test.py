"""Tracing a function cannot be observed: native or Python, it has the results of a plain loop.

Each form is a function that makes the function to map, so that every run begins with state of its own. Forms that read a
clock or draw from the system see a counted stand-in, so that their results can be compared.
"""

import collections
import contextlib
import copy
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
import re
import secrets
import string
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock
import uuid

import numpy as np

import stoker as sk
from stoker import _core, _op_specs, _trace
from stoker._expressions import argument_expr
from stoker._findings import tracing
from stoker._op_specs import OpSpecs
from stoker._sample import confirmed
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
BITMAP = b"BM" + struct.pack("<IIIIiiHHIIiiII", 58, 0, 54, 40, 1, 1, 1, 24, 0, 4, 0, 0, 0, 0) + bytes([10, 20, 30, 0])

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


# ---- writes to memory that has other names. The first two elements are zero, so that they show nothing.

BLACK = np.concatenate([np.zeros((2, 3, 4)), np.arange(24).reshape(2, 3, 4)]).astype(np.float32)
ROWS = BLACK[:, 0]


def writing(forms, array, write):
    """Add a form: the function calls `write` with its argument and returns what that returns."""
    forms["writing_" + write.__name__] = (lambda: write, lambda: sk.Dataset.from_tensor_slices(array))


@functools.partial(writing, PYTHON, BLACK)
def to_a_slice(x):
    y = x[0:1]
    y *= 2
    return x


@functools.partial(writing, PYTHON, BLACK)
def to_an_array_with_a_slice(x):
    y = x[1:]
    x *= 2
    return y


@functools.partial(writing, PYTHON, BLACK)
def to_a_row(x):
    y = x[0]
    y += x[1]
    return x


@functools.partial(writing, PYTHON, BLACK)
def to_a_column(x):
    y = x[..., 0]
    y += 5
    return x, y


@functools.partial(writing, PYTHON, BLACK)
def to_a_new_axis(x):
    y = x[None]
    y -= 3
    return x * 2


@functools.partial(writing, PYTHON, BLACK)
def to_a_reversal(x):
    y = x[::-1]
    y += [1, 2, 3, 4]
    return x, y


@functools.partial(writing, PYTHON, BLACK)
def to_a_view_of_a_view(x):
    y = x[1:][0]
    y *= 3
    return x


@functools.partial(writing, PYTHON, BLACK)
def to_a_view_of_a_result(x):
    y = x * 2
    z = y[0]
    z += 1
    return y


@functools.partial(writing, PYTHON, ROWS)
def to_an_array_of_one_number(x):
    y = x[..., 0]
    y += 1
    return x


@functools.partial(writing, NATIVE, np.arange(4))
def to_a_view_of_a_number(x):
    y = sk.cast(x, sk.float32)
    z = y[...]
    z += 1
    return y


@functools.partial(writing, PYTHON, BLACK)
def by_an_index(x):
    x[0] = 1
    return x


@functools.partial(writing, PYTHON, BLACK)
def by_an_index_and_an_operator(x):
    x[1] += 1
    return x


@functools.partial(writing, PYTHON, BLACK)
def to_all_of_it(x):
    x[...] = x * 2
    return x


@functools.partial(writing, PYTHON, BLACK)
def by_a_function_of_operator(x):
    operator.setitem(x, 0, 5)
    return x


@functools.partial(writing, PYTHON, BLACK)
def by_out(x):
    np.add(x, 1, out=x)
    return x


@functools.partial(writing, PYTHON, BLACK)
def by_out_of_a_constant(x):
    made = np.zeros((3, 4))
    np.add(made, x, out=made)
    return made


@functools.partial(writing, PYTHON, BLACK)
def by_copyto(x):
    np.copyto(x, 7)
    return x


@functools.partial(writing, PYTHON, BLACK)
def by_at(x):
    np.add.at(x, 0, 1)
    return x


@functools.partial(writing, PYTHON, BLACK)
def by_fill(x):
    x.fill(3)
    return x


@functools.partial(writing, PYTHON, BLACK)
def by_sort(x):
    x *= -1
    x.sort()
    return x


@functools.partial(writing, PYTHON, BLACK)
def by_clip(x):
    np.clip(x, 2, 9, out=x)
    return x


@functools.partial(writing, PYTHON, BLACK)
def through_the_transposed(x):
    y = x.T
    y += 1
    return x


@functools.partial(writing, PYTHON, ROWS)
def to_a_constant_with_two_names(x):
    total = other = np.zeros(4)
    total += x
    return total, other


@functools.partial(writing, PYTHON, np.arange(12).reshape(3, 4))
def to_a_constant_of_another_type(x):
    total = np.zeros(4, np.int32)
    total += x
    return total


@functools.partial(writing, PYTHON, np.arange(12).reshape(3, 4) % 2 == 0)
def by_an_exclusive_or(x):
    x ^= True
    return x


@on(PYTHON, ROWS)
def writing_to_a_captured_array():
    table = np.zeros(4, np.float32)

    def call(x):
        total = table
        total += x + 1
        return total * 1

    return call


@functools.partial(writing, NATIVE, (BLACK * 10).astype(np.float32))
def under_another_name(x):
    raw = x
    x /= 255.0
    return {"raw": raw, "x": x}


@functools.partial(writing, NATIVE, BLACK)
def under_several_keys(x):
    x += 1
    return {"a": x, "b": x, "c": (x, x * 2)}


@functools.partial(writing, NATIVE, BLACK)
def to_an_argument_that_is_not_returned(x):
    before = x * 2
    x += 1
    return before


@functools.partial(writing, NATIVE, BLACK)
def to_a_result_with_two_names(x):
    y = z = x * 2
    y += 1
    return y, z


@functools.partial(writing, NATIVE, BLACK)
def to_a_slice_that_is_all_that_is_left(x):
    x = x[..., ::-1]
    x -= np.array([1, 2, 3, 4], np.float32)
    return x


@functools.partial(writing, NATIVE, BLACK)
def after_a_view_was_used(x):
    first = x[0] + 1
    x *= 2
    return x, first


@functools.partial(writing, NATIVE, BLACK)
def to_a_view_of_all_of_it(x):
    y = x[:]
    y += 1
    return x, y[...]


@functools.partial(writing, NATIVE, BLACK)
def wider_numbers(x):
    x += np.ones(4) / 3
    x *= np.float64(0.1)
    return x


@functools.partial(writing, NATIVE, IMAGES)
def whole_numbers(x):
    x //= 2
    x += x
    x %= 7
    x **= 2
    return x


@functools.partial(writing, NATIVE, BLACK)
def by_a_helper(x):
    def shift(y):
        y += 1

    shift(x)
    return operator.imul(x, 2)


@functools.partial(writing, NATIVE, {"a": BLACK, "b": ROWS})
def to_fields(element):
    same = element["a"]
    element["a"] += element["b"]
    return {**element, "same": same}


@functools.partial(writing, NATIVE, np.arange(4))
def to_numbers(x):
    y = x
    y += 1
    y /= 2
    return x, y


@functools.partial(writing, NATIVE, np.arange(4))
def to_an_array_of_rank_0(x):
    y = z = sk.cast(x, sk.float32)
    y += 1
    a = b = sk.reshape(x, ())
    a *= 2
    c, d = y[()], x[...]
    y -= 5
    d += 7
    return y, z, a, b, c, d, x


@functools.partial(writing, NATIVE, ROWS / 3)
def to_a_number_of_rank_0(x):
    y = z = sk.cast(x[1] * 3, sk.int32)
    y += 1
    return y, z


@functools.partial(writing, NATIVE, ROWS)
def to_a_copy(x):
    y = sk.convert_to_tensor(x)
    y += 1
    z = sk.cast(x, sk.float32)
    z *= 2
    return x, y, z


@functools.partial(writing, NATIVE, ROWS)
def after_a_number_was_read(x):
    first = x[0]
    x += 1
    return first, x


@functools.partial(writing, NATIVE, np.arange(12).reshape(3, 4) % 2 == 0)
def to_a_mask(x):
    y = x
    x &= np.array([True, True, False, True])
    x |= y[0]
    return y


@functools.partial(writing, NATIVE, IMAGES)
def nothing_with_constant_arrays(x):
    total = np.arange(3)
    total += 5
    return total + x * np.float32(2) - np.ones(3)


@impure
def whole_number_times_a_list():
    return lambda x: (x, (x + 1) * [1, 2])


# ---- what Python makes of a number, each with the number 1 to 4

OF_A_NUMBER = {
    "and": lambda x: x and 5,
    "not": lambda x: (x, not x),
    "chained comparison": lambda x: (x, 1 < x < 3),
    "comparison with None": lambda x: (x, x == None),  # noqa: E711
    "unpacking": lambda x: sum((x, *[x] * x)),
    "length of a list": lambda x: sum([7] * x),
    "length of text": lambda x: "a" * x,
    "length of bytes": lambda x: (x, b"a" * x),
    "length of an array": lambda x: np.zeros(x) + x,
    "index of an array": lambda x: np.arange(9)[x] + x,
    "index of text": lambda x: (x, "abcdef"[x]),
    "bound of a slice": lambda x: (x, [1, 2, 3, 4, 5][0:x]),
    "range": lambda x: sum(range(x)) + x,
    "key of a dict": lambda x: {x: 1}[x] + x,
    "member of a set": lambda x: len({x, x}) + x,
    "divmod": lambda x: divmod(x, 2),
    "max": lambda x: max(x, 2) + x,
    "sorted": lambda x: sorted([3, x])[0] + x,
    "floor": lambda x: math.floor(x / 2),
    "math": lambda x: math.sqrt(x) + x,
    "chr": lambda x: chr(65 + x),
    "bin": lambda x: bin(x),
    "bytes": lambda x: bytes(x),
    "shift": lambda x: x << 2,
    "operator.index": lambda x: operator.index(x) + x,
    "repeat": lambda x: sum(itertools.repeat(2, x)) + x,
    "NumPy's ufunc": lambda x: np.add(x, 1),
    "NumPy's function": lambda x: np.where(x > 2, x, -x),
    "method": lambda x: x.astype(np.float32),
    "matrix": lambda x: np.ones((2, 2)) @ (np.ones(2) * x),
    "complex": lambda x: (x + 1j).real,
    "power of a power": lambda x: x**0.5,
    "reversed power": lambda x: 2**x,
    "attribute of a result": lambda x: (x + 1).dtype.itemsize + x,
}
for name, function in OF_A_NUMBER.items():
    PYTHON["of_a_number: " + name] = (lambda function=function: function, lambda: sk.Dataset.range(1, 5))


# ---- code that runs when an attribute is read, an operator is applied, or a constant is used


def unseen(*elements):
    """A source of known types, of which no element is seen before it runs."""
    elements = elements or tuple(np.arange(4))
    spec = sk.TensorSpec(np.shape(elements[0]), sk.string if isinstance(elements[0], bytes) else elements[0].dtype)
    return lambda: sk.Dataset.from_generator(lambda: iter(elements), output_signature=spec)


def hidden(make):
    return form(PYTHON, unseen())(make)


@hidden
def generator_of_a_member():
    class Augment(enum.Enum):
        FLIP = 1

        def __init__(self, value):
            self.rng = np.random.default_rng(5)

    return lambda x: x * 0 + Augment.FLIP.rng.integers(1000)


@hidden
def list_of_a_member():
    class History(enum.Enum):
        A = 1

    History.A.seen = []

    def call(x):
        History.A.seen.append(1)
        return x + len(History.A.seen)

    return call


def counting_enumeration(name, *bases):
    def make():
        calls = []

        def count(self, *_):
            calls.append(1)
            return len(calls)

        class Steps(*bases, enum.Enum):
            A = 1
            locals()[name] = count

        return Steps.A

    return make


@hidden
def product_with_a_member():
    step = counting_enumeration("__rmul__")()
    return lambda x: x + 10 * step


@hidden
def sum_with_a_member():
    step = counting_enumeration("__add__", int)()
    return lambda x: x + (step + 1)


@hidden
def index_by_a_member():
    step = counting_enumeration("__index__")()
    return lambda x: x + list(range(100))[step]


@hidden
def length_of_a_member():
    step = counting_enumeration("__len__", str)()
    return lambda x: x + len(step)


@hidden
def value_of_a_member_that_is_a_property():
    calls = []

    class Steps(enum.Enum):
        A = 1

        @property
        def value(self):
            calls.append(1)
            return len(calls)

    return lambda x: x + Steps.A.value


@hidden
def list_that_is_the_value_of_a_member():
    class History(enum.Enum):
        A = []

    def call(x):
        History.A.value.append(1)
        return x + len(History.A.value)

    return call


@hidden
def enumeration_with_a_metaclass():
    calls = []

    class Meta(enum.EnumMeta):
        def __getattribute__(cls, name):
            calls.append(name)
            return super().__getattribute__(name)

    class Steps(enum.Enum, metaclass=Meta):
        A = 1

    calls.clear()
    return lambda x: x + Steps.A.value + len(calls)


class Tenfold:
    def __get__(self, owner, kind=None):
        return 10 * owner.__dict__["scale"]

    def __set__(self, owner, value):
        owner.__dict__["scale"] = value


@hidden
def data_descriptor():
    class Strength:
        scale = Tenfold()

    strength = Strength()
    strength.scale = 3
    return lambda x: x * strength.scale


@hidden
def descriptor_that_only_deletes():
    class Nine:
        def __get__(self, owner, kind=None):
            return 9

        def __delete__(self, owner):
            pass

    class Strength:
        scale = Nine()

    strength = Strength()
    vars(strength)["scale"] = 3
    return lambda x: x * strength.scale


@hidden
def property_of_another_class():
    class Hundred(property):
        def __get__(self, owner, kind=None):
            return 100

    class Strength:
        scale = Hundred(lambda self: 3)

    strength = Strength()
    return lambda x: x * strength.scale


def of_metaclass(**attributes):
    return type("Meta", (type,), attributes)("Strength", (), {"scale": 3})


@hidden
def attribute_of_a_class_whose_metaclass_has_a_hook():
    strength = of_metaclass(__getattribute__=lambda cls, name: 7)
    return lambda x: x * strength.scale


@hidden
def attribute_of_a_class_that_is_a_property_of_its_metaclass():
    strength = of_metaclass(scale=property(lambda cls: 9))
    return lambda x: x * strength.scale


@hidden
def attribute_that_only_the_metaclass_has():
    strength = of_metaclass(size=5)
    return lambda x: x * strength.size


@hidden
def call_of_a_class_by_its_metaclass():
    strength = of_metaclass(__call__=lambda cls, x: x * 5)
    return lambda x: strength(x)


@hidden
def property_instead_of_a_field():
    calls = []
    Size = collections.namedtuple("Size", "height")

    class Counted(Size):
        @property
        def height(self):
            calls.append(1)
            return len(calls)

    size = Counted(3)
    return lambda x: x * size.height


@hidden
def class_in_a_named_tuple():
    class Size(collections.namedtuple("Size", "height")):
        class Log:
            seen = []

    size = Size(3)

    def call(x):
        size.Log.seen.append(1)
        return x + len(size.Log.seen)

    return call


@hidden
def methods_of_a_named_tuple():
    calls = []

    class Size(collections.namedtuple("Size", "height")):
        def __repr__(self):
            calls.append(1)
            return "h" * len(calls)

    size = Size(3)
    return lambda x: x + len(repr(size))


@hidden
def defaults_of_a_named_tuple():
    size = collections.namedtuple("Size", "height", defaults=[1])(3)

    def call(x):
        size._field_defaults["height"] += 1
        return x + size._field_defaults["height"]

    return call


@hidden
def object_with_another_class():
    calls = []

    class Disguised:
        __class__ = property(lambda self: calls.append(1) or dict)

        def __len__(self):
            calls.append(1)
            return len(calls)

    disguised = Disguised()
    return lambda x: x + len(disguised)


@hidden
def bounds_of_a_slice():
    bounds = slice([1])

    def call(x):
        bounds.stop.append(1)
        return x + len(bounds.stop)

    return call


@hidden
def subclass_of_a_spec():
    calls = []

    class Spec(sk.TensorSpec):
        def count(self):
            calls.append(1)
            return len(calls)

    spec = Spec((), sk.int64)
    return lambda x: x + spec.count()


@hidden
def builtins_of_the_user():
    return eval("lambda x: x + len([1])", {"__builtins__": {"len": lambda value: 42}, "__name__": "own_builtins"})


@hidden
def set_that_was_larger():
    kept = set(range(4000))
    kept.intersection_update((8, 24, 1000, 3))
    for i in range(5000, 9000):
        kept.add(i)
    for i in range(5000, 9000):
        kept.discard(i)
    return lambda x: x * 0 + int("".join(map(str, kept)))


@hidden
def format_that_reads_attributes():
    array = np.arange(3)
    return lambda x: x + len("{0.flags}".format(array)) + len("{0.base}".format(array))


@hidden
def format_that_is_captured():
    array, template = np.arange(3), "{0.base}"
    return lambda x: x + len(template.format(array))


@hidden
def frame_of_a_generator():
    def call(x):
        steps = (i for i in range(3))
        return x + 0 * steps.gi_frame.f_lineno

    return call


@hidden
def a_program_of_many_steps():
    def call(x):
        for _ in range(1500):
            x = x + 1
        return x

    return call


@form(PYTHON, unseen(np.arange(1), np.arange(1)))
def views_in_a_list():
    return lambda x: (x, [x[:]] == [x], [x[...]] == [x], [x[()]] == [x], [sk.convert_to_tensor(x)] == [x])


BYTES = unseen(b"ab", b"cd")
OF_TEXT = [lambda s: ~(s == b"ab"), lambda s: (s == b"ab") + 1, lambda s: (s == b"ab") * 1.5, lambda s: -(s > b"b"),
           lambda s: (s == b"ab") + (s == b"cd"), lambda s: ((s == b"ab") & True) * 2, lambda s: abs(s == b"ab")]
for i, function in enumerate(OF_TEXT):
    PYTHON[f"bool_of_python: {i}"] = (lambda function=function: function, BYTES)
SMALL = unseen(np.uint8(250), np.uint8(3))
OF_SMALL_NUMBERS = [lambda x: x / 300, lambda x: (x + 1) / 300, lambda x: -x / 300, lambda x: sk.abs(x) / 300, lambda x: 300 / (x + 1),
                    lambda x: sk.stack([x, x]) / 300, lambda x: (x * 1)[None] / 300]
for i, function in enumerate(OF_SMALL_NUMBERS):
    PYTHON[f"number_that_does_not_fit: {i}"] = (lambda function=function: function, SMALL)


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


@form(NATIVE, unseen())
def call_of_the_class_not_of_the_object():
    class Step:
        def __init__(self):
            self.__call__ = lambda x: x * 100

        def __call__(self, x):
            return x + 1

    return Step()


@pure
def enumeration_with_methods():
    class Scale(enum.Enum):
        SMALL = (2, 3)

        @property
        def total(self):
            return sum(self.value)

        def scaled(self, x):
            return x * self.value[0]

    return lambda x: Scale.SMALL.scaled(x) + Scale.SMALL.total + len(Scale.SMALL.name)


@pure
def enumeration_of_numbers():
    class Step(enum.IntEnum):
        ONE = 1
        TWO = enum.auto()

    return lambda x: {f"{Step.ONE.name}_{i}": x + Step.TWO for i in range(2)}


@pure
def named_tuple_with_a_method():
    class Size(collections.namedtuple("Size", "height width")):
        def area(self):
            return self.height * self.width

    size = Size(2, 3)
    return lambda x: x + size.area() + size.height


@pure
def descriptor_after_the_object():
    class Scale:
        @functools.cached_property
        def factor(self):
            return 3

    scale = Scale()
    scale.factor  # computed before
    return lambda x: x * scale.factor


@form(NATIVE, unseen(np.arange(4), np.arange(4)))
def slice_of_constants():
    bounds = slice(1, 3)
    return lambda x: x[bounds]


@pure
def format_of_constants():
    return lambda x: {"part_{:02d}".format(i): x + i for i in range(2)}


@form(NATIVE, BYTES)
def comparisons_of_text():
    return lambda s: (sk.cast((s == b"ab") | (s == b"cd"), sk.int32) + 1, s != b"ab")


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
def in_place_after_a_cast():
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


def outcome_of(ds):
    """The elements, or the kind of error of the first one that fails."""
    try:
        return described(list(ds))
    except sk.Error as error:
        return type(error)


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

    def test_a_function_that_is_not_pure_is_a_python_stage(self):
        for name, (make, source) in PYTHON.items():
            with self.subTest(name):
                self.assertIn("the Python function", source().map(make()).explain())

    def test_a_pure_function_is_native(self):
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
    """Building a dataset calls nothing that can be observed."""

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
    """The first elements decide if the code of a function is not conclusive."""

    def test_identity_with_a_bool_is_that_of_python(self):
        text, weight = np.array([b"Oslo", b"Bern", b"Rome", b"Rome"], object), np.arange(4.0)
        ds = sk.Dataset.from_tensor_slices((text, weight))
        self.assertEqual(list(ds.map(lambda s, w: w * 10 if (s == b"Rome") is True else w)), [0, 1, 20, 30])
        self.assertEqual(len(list(ds.filter(lambda s, w: (s == b"Rome") is True or w < 0))), 2)

    def test_lists_have_one_type(self):
        def numbers():
            yield np.full(3, 9.0)

        known = sk.Dataset.from_generator(numbers, output_signature=sk.TensorSpec((3,), "float64"))
        for function in (sk.minimum, sk.maximum):
            results = [list(known.map(lambda x: function(x, [0.1, 0.2, 0.3]), workers=workers)) for workers in (None, "thread")]
            self.assertEqual(*map(described, results))

    def test_a_power_of_mixed_integers_is_that_of_numpy(self):
        values = np.arange(-400, 400)
        found = list(sk.Dataset.from_tensor_slices(values).map(lambda x: x ** np.uint64(7)))
        self.assertEqual(described(found), described([x ** np.uint64(7) for x in values]))

    def test_a_cast_to_bfloat16_has_a_sample(self):
        ds = sk.Dataset.range(3).map(lambda x: sk.cast(x, sk.bfloat16)).map(lambda x: sk.cast(x, sk.float32))
        self.assertEqual([float(x) for x in ds], [0, 1, 2])

    def test_a_damaged_file_does_not_make_a_program_python(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in "ab":
                with open(os.path.join(folder, name), "wb") as file:
                    file.write(b"no image")
            paths = np.array([os.path.join(folder, name).encode() for name in "ab"], object)
            ds = sk.Dataset.from_tensor_slices(paths).map(lambda path: sk.io.decode_png(sk.io.read_file(path)))
            self.assertNotIn("Python", ds.explain())

    def test_a_pipe_is_read_by_the_loop_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "pipe")
            os.mkfifo(path)
            ds = sk.Dataset.from_tensor_slices(np.array([path.encode()], object)).map(sk.io.read_file).map(lambda x: (x, x))

            def write():
                with open(path, "wb") as pipe:
                    pipe.write(b"data")

            writer = threading.Thread(target=write)
            writer.start()
            self.assertEqual(list(ds), [(b"data", b"data")])
            writer.join()

    def test_functions_next_to_the_package_are_not_part_of_it(self):
        """A folder whose name starts with that of the package."""
        with tempfile.TemporaryDirectory() as folder:
            package = os.path.dirname(os.path.abspath(sk.__file__))
            os.symlink(package, os.path.join(folder, "stoker"))
            with open(os.path.join(folder, "stoker_more.py"), "w", encoding="utf-8") as file:
                file.write("import random\ndef jitter(x):\n    return x + random.randrange(10**9)\n")
            program = ("import stoker as sk, stoker_more\n"
                       "ds = sk.Dataset.from_generator(lambda: iter(range(5)), output_signature=sk.TensorSpec((), 'int64'))\n"
                       "print('Python' in ds.map(stoker_more.jitter).explain())")
            done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60,
                                  env={**os.environ, "PYTHONPATH": folder})
            self.assertEqual((done.stdout, done.stderr), ("True\n", ""))

    def test_in_place_needs_the_types_and_no_element(self):
        def call(x):
            y = x
            x /= 2
            return y

        def numbers():
            yield np.ones(2, np.float32)

        known = sk.Dataset.from_generator(numbers, output_signature=sk.TensorSpec((None,), sk.float32)).map(call)
        self.assertNotIn("Python", known.explain())
        unknown = sk.Dataset.from_generator(numbers).map(call)
        self.assertIn("the types of its input are known only when it runs", unknown.explain())
        for ds in (known, unknown):
            self.assertEqual(described(list(ds)), [("float32", [0.5, 0.5])])

    def test_in_place_on_a_decoded_image_is_native(self):
        def decoded(decode):
            def call(data):
                image = sk.cast(decode(data), sk.float32)
                same = image
                image /= 255.0
                return same

            return call

        ds = sk.Dataset.from_tensors(BITMAP)
        for decode in (lambda data: sk.io.decode_bmp(data, channels=3), sk.io.decode_image):
            made = ds.map(decoded(decode))
            self.assertNotIn("Python", made.explain())
            self.assertEqual(described(made.get_single_element()),
                             described(ds.map(decoded(decode), workers="serial").get_single_element()))

    def test_in_place_is_python_if_the_type_or_the_shape_would_change(self):
        def halved(x):
            x /= 2
            return x

        def grown(x, y):
            x += y
            return x

        rows, columns = np.ones((3, 1, 4)), np.ones((3, 2, 1))
        for ds in (sk.Dataset.from_tensor_slices(np.ones((3, 4), np.int64)).map(halved),
                   sk.Dataset.from_tensor_slices((rows, columns)).map(grown),
                   sk.Dataset.from_tensor_slices((rows[:, 0], rows)).map(grown)):
            self.assertIn("in-place", ds.explain())
            self.assertRaises(sk.Error, next, iter(ds))

    def test_in_place_is_native_if_the_other_operand_is_known_to_fit(self):
        def grown(x, y):
            x += y
            return x

        ds = sk.Dataset.from_tensor_slices((np.ones((3, 2, 4)), np.ones((3, 1, 4)))).map(grown)
        self.assertNotIn("Python", ds.explain())
        self.assertEqual(next(iter(ds)).tolist(), [[2] * 4] * 2)

    def test_in_place_on_a_scalar_is_no_doubt(self):
        def call(x):
            total = x * 2
            for i in range(3):
                total += i * x
            return total

        ds = sk.Dataset.from_generator(lambda: iter([np.int64(2)]), output_signature=sk.TensorSpec((), sk.int64)).map(call)
        self.assertNotIn("Python", ds.explain())
        self.assertEqual(list(ds), [10])

    def test_a_program_with_another_result_is_not_used(self):
        ds = sk.Dataset.range(3)
        traced = trace(lambda x: x + 1, ds._structure())
        self.assertIsNone(confirmed(lambda x: x + 1, traced, ds._sample))
        for other in (lambda x: x + 2, lambda x: x + np.int32(1) * 1.0, lambda x: (x + 1,), lambda x: {"a": x + 1}):
            self.assertIn("as Python it has another result", confirmed(other, traced, ds._sample))

    def test_a_program_is_not_used_if_only_one_of_both_fails(self):
        ds = sk.Dataset.from_tensor_slices(np.ones((2, 3), np.int64))

        def fails(x):
            raise ValueError("no")

        works, broken = (trace(function, ds._structure()) for function in (lambda x: x + 1, lambda x: x[5]))
        self.assertIn("the error", confirmed(fails, works, ds._sample))
        self.assertIn("the error", confirmed(lambda x: x + 1, broken, ds._sample))
        self.assertIn("the error", confirmed(fails, broken, ds._sample))

    def test_both_fail_if_the_same_operation_fails(self):
        ds = sk.Dataset.from_tensor_slices(np.array([b"no image"], dtype=object)).map(lambda data: sk.io.decode_png(data))
        self.assertNotIn("Python", ds.explain())

    def test_a_program_is_used_if_its_types_are_not_in_numpy(self):
        """Without ml_dtypes, NumPy has no bfloat16, and neither the function nor its result can be converted."""

        def fails(x):
            raise sk.Unimplemented("NumPy has no bfloat16 without the package ml_dtypes")

        def fails_otherwise(x):
            raise sk.Unimplemented("no")

        ds = sk.Dataset.range(3)
        traced = trace(lambda x: x + 1, ds._structure())
        self.assertIsNone(confirmed(fails, traced, ds._sample))
        self.assertIn("the error", confirmed(fails_otherwise, traced, ds._sample))

    def test_large_elements_are_not_computed_twice(self):
        self.assertEqual(sk.Dataset.from_tensors(np.zeros(1 << 25, np.uint8))._sample.elements, [])

    def test_they_go_through_maps_batches_and_zips(self):
        rows = sk.Dataset.from_tensor_slices(np.ones((4, 2), np.float32)).shuffle(4).map(lambda x: x + 1).batch(2)
        found = sk.Dataset.zip((rows, rows))._sample.elements
        self.assertEqual(described(found), [[("float32", [[2, 2], [2, 2]])] * 2])


class Unknown(unittest.TestCase):
    """Types that only an element shows."""

    def test_operators_on_text_are_those_of_python(self):
        for element, function in ((b"abc", lambda c: c[0]), (b"abc", lambda c: c[1:]), (b"abc", lambda c: c * 2),
                                  (b"abc", lambda c: c + c), (b"a", lambda c: c == b"a"), ({"a": b"abc"}, lambda e: e["a"][::-1]),
                                  (np.array([b"a", b"b"], object), lambda c: c[1]), (3, lambda x: x[...] + x[()]),
                                  (np.ones(3), lambda x: x[:] * 2), (np.ones((2, 3)), lambda x: (x[..., 0], x[:, ..., 0]))):
            for ds in (sk.Dataset.from_generator(lambda: iter([element])), sk.Dataset.from_tensors(element)):
                expected = ds.map(function, workers="serial").get_single_element()
                self.assertEqual(described(ds.map(function).get_single_element()), described(expected))

    def test_new_axes_of_text_are_those_of_tensors(self):
        ds = sk.Dataset.from_tensors(b"a")
        for function in (lambda c: c[None], lambda c: c[..., None]):
            self.assertNotIn("Python", ds.map(function).explain())
            self.assertEqual(ds.map(function).get_single_element().tolist(), [b"a"])

    def test_an_index_that_fails_in_python_fails_natively(self):
        for element, function in ((3, lambda x: x[:]), (3, lambda x: x[..., :]), (np.ones(3), lambda x: x[:, :]),
                                  (np.ones(3), lambda x: x[:, ..., 0]),
                                  (np.ones(3), lambda x: x[..., ...]), (np.ones(3), lambda x: (x, [x[:]] == [x])),
                                  (np.ones(3), lambda x: (x, [x[...]].index(x))), (np.ones(3), lambda x: (x, x[()] in [x]))):
            for ds in (sk.Dataset.from_generator(lambda: iter([element])), sk.Dataset.from_tensors(element),
                       unseen(np.int64(element) if isinstance(element, int) else element)()):
                for how in ({}, {"workers": "serial"}):
                    self.assertRaises(sk.Error, ds.map(function, **how).get_single_element)


    def test_operators_after_interleave_have_the_results_of_python(self):
        of_numbers = [lambda x: x / 300, lambda x: (x + 1) / 300, lambda x: x / 2, lambda x: x == b"a", lambda x: x * 2, lambda x: x > 300]
        of_text = [lambda s: s[1:], lambda s: s * 2, lambda s: s + s, lambda s: s == 0, lambda s: ~(s == b"ab"), lambda s: s == b"ab"]
        for element, functions in ((np.uint8(3), of_numbers), (np.float32(3), of_numbers), (b"ab", of_text)):
            ds = sk.Dataset.range(1).interleave(lambda _: sk.Dataset.from_tensors(element))
            for function in functions:
                expected = ds.map(function, workers="serial").get_single_element()
                self.assertEqual(described(ds.map(function).get_single_element()), described(expected))

    def test_the_order_of_keys_is_that_of_each_element(self):
        ds = sk.Dataset.from_generator(lambda: iter([{"a": 1, "b": 2}, {"b": 20, "a": 10}])).map(lambda d: tuple(d.values()))
        self.assertEqual(list(ds), [(1, 2), (20, 10)])

    def test_of_strings_that_operations_return_are_known(self):
        path = os.path.join(FOLDER.name, "text")
        with open(path, "wb") as file:
            file.write(b"ab")
        ds = unseen(path.encode())()
        for function in (lambda p: sk.io.read_file(p)[1:], lambda p: sk.io.read_file(p) * 2, lambda p: sk.io.read_file(p) == 0,
                         lambda p: sk.stack([p, p])[0][1:], lambda p: sk.io.read_file(p) == b"ab"):
            expected = ds.map(function, workers="serial").get_single_element()
            self.assertEqual(described(ds.map(function).get_single_element()), described(expected))

    def test_an_error_that_the_function_raises_is_one_of_the_element(self):
        def fails(x):
            raise sk.DataLoss("broken")

        ds = unseen()().map(fails)
        self.assertRaises(sk.DataLoss, next, iter(ds))


class RandomFunctions(unittest.TestCase):
    """Functions of random statements, with no element to look at before: what is native has the bits of Python."""

    ARRAYS = [np.concatenate([np.zeros((2, 3, 4)), np.arange(24).reshape(2, 3, 4)]).astype(dtype) for dtype in ("float32", "uint8")]
    ARRAYS += [np.arange(16).reshape(4, 4) - 8, np.array([0, 0, 1.5, -2]), np.arange(4, dtype=np.int32), np.eye(4, dtype=bool)]
    VALUES = """a[0]; a[1:]; a[::-1]; a[..., 0]; a[None]; a[:]; a[...]; a[()]; a[:, 1]; a[..., None]; a[-1]; a[..., :2]; a; -a; a * 2;
        a + b; sk.cast(a, "float32"); sk.cast(a, "int32"); sk.cast(a, "uint8"); sk.reshape(a, (-1,)); sk.expand_dims(a, 0);
        sk.squeeze(a); sk.convert_to_tensor(a); sk.abs(a); sk.reduce_max(a); a > b; sk.stack([a, a]); sk.maximum(a, b); table;
        a + np.ones(4); table - a; np.float32(2) * a; [1, 2, 3, 4] + a; table[1:]""".split(";")
    CHANGES = """a += 1; a *= 2; a -= b; a /= 2; a //= 2; a += 0.5; a += np.ones(4); a *= np.float64(3); a &= b; a |= True; a **= 2;
        a += np.int8(1); a %= 3; a -= [1, 2, 3, 4]; a += a; a *= b; a[0] = 1; a[...] += 1""".split(";")

    def random_text(self, draw):
        names, lines = ["x"], []
        for i in range(draw.randint(2, 7)):
            makes = draw.random() < 0.55
            line = re.sub(r"\b[ab]\b", lambda _: draw.choice(names), draw.choice(self.VALUES if makes else self.CHANGES).strip())
            lines.append(f"v{i} = {line}" if makes else line)
            names += [f"v{i}"] if makes else []
        return "\n    ".join(["def call(x):", *lines, f"return {', '.join(names)}"])

    def made(self, text):
        outer = {"sk": sk, "np": np, "table": np.arange(4.0), "__name__": "random_functions"}
        exec(text, outer)
        return outer["call"]

    def results(self, ds):
        found, it = [], iter(ds)
        for _ in range(4):
            try:
                found.append(described(next(it)))
            except sk.Error as failed:
                found.append("division by zero" in str(failed) or "failed")
        return found

    def expect_the_results_of_python(self, text, array):
        ds = sk.Dataset.from_tensor_slices(array)
        ds._sample = None
        python = self.results(ds.map(self.made(text), workers="serial"))
        try:
            made = ds.map(self.made(text))
        except sk.Error:
            self.assertEqual(python, ["failed"] * 4, text)
            return False
        if "the Python function" in made.explain():
            return False
        for native, expected in zip(self.results(made), python):
            self.assertEqual(repr(native), repr(native if native is True else expected), text)
        return True

    def test_of_operators_views_and_writes(self):
        draw = random.Random(1)
        with np.errstate(all="ignore"):
            native = sum(self.expect_the_results_of_python(self.random_text(draw), draw.choice(self.ARRAYS)) for _ in range(800))
        self.assertGreater(native, 100)


class RandomOperations(unittest.TestCase):
    """Operations draw the element's own random numbers, natively and in a Python stage."""

    IMAGES = np.arange(12 * 2 * 4 * 3, dtype=np.uint8).reshape(12, 2, 4, 3)

    def in_order(image):
        flipped = sk.image.random_flip_left_right(image)
        return flipped, sk.image.random_brightness(flipped, 0.3)

    def in_another_order(image):
        brighter = sk.image.random_brightness(image, 0.3)
        return sk.image.random_flip_left_right(image), brighter

    def not_used(image):
        sk.image.random_brightness(image, 0.3)
        return sk.image.random_flip_left_right(image)

    def of_seeds_in_another_order(image):
        brighter = sk.image.random_brightness(image, 0.3, seed=1)
        return sk.image.random_flip_left_right(image, seed=2), brighter

    def in_a_loop(image):
        return tuple(sk.image.random_flip_left_right(image) for _ in range(4))

    NATIVE = [lambda image: sk.image.random_flip_left_right(image, seed=3), lambda image: sk.image.random_flip_left_right(image),
              in_order, of_seeds_in_another_order, in_a_loop]
    PYTHON = [in_another_order, not_used]

    def tearDown(self):
        sk.configure(workers=0)

    def dataset(self, function, **options):
        sk.random.set_seed(7)
        return sk.Dataset.from_tensor_slices(self.IMAGES).map(function, **options)

    def test_are_native_if_they_draw_in_the_order_of_the_calls(self):
        for function in self.NATIVE:
            self.assertNotIn("Python", self.dataset(function).explain())
        for function in self.PYTHON:
            self.assertIn("another order", self.dataset(function).explain())

    def test_differ_between_elements_and_epochs(self):
        for function in self.NATIVE[:2]:
            ds = self.dataset(function, workers="thread")
            epochs = [[np.array_equal(image, flipped) for image, flipped in zip(self.IMAGES, ds)] for _ in range(2)]
            self.assertEqual({*epochs[0], *epochs[1]}, {True, False})
            self.assertNotEqual(*epochs)

    def test_have_the_same_results_with_any_number_of_workers_natively_and_in_python(self):
        for function in self.NATIVE + self.PYTHON:
            found = []
            for workers, options in itertools.product((0, 1, 2), ({}, {"workers": "thread"}, {"num_parallel_calls": 2})):
                sk.configure(workers=workers)
                ds = self.dataset(function, **options)
                found.append(described([list(ds), list(ds)]))
            self.assertTrue(all(one == found[0] for one in found), function)

    def test_have_the_same_results_after_a_restore(self):
        for function, options in itertools.product(self.NATIVE + self.PYTHON, ({}, {"workers": "thread"})):
            ds = self.dataset(function, **options).repeat(2)
            it = iter(ds)
            for _ in range(15):
                next(it)
            saved = it.save()
            rest, again = list(it), iter(ds)
            again.restore(saved)
            self.assertEqual(described(list(again)), described(rest))


class Names(unittest.TestCase):
    """A function that uses a name that does not exist fails when the dataset is built."""

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

    def test_of_a_field_that_is_popped(self):
        ds = sk.Dataset.from_tensor_slices({"image": np.arange(3)})
        with self.assertRaisesRegex(KeyError, "did you mean 'image'"):
            ds.map(lambda x: x.pop("imgae"))

    def test_of_more_arguments_than_an_element_has(self):
        for function in (lambda x, y: x, lambda: 1, lambda x, *, y: x):
            with self.assertRaisesRegex(TypeError, "cannot be called with the 1 component"):
                sk.Dataset.range(3).map(function)

    def test_of_attributes_that_raise_any_exception(self):
        class Attributes(dict):
            def __getattr__(self, name):
                return self[name]

            def __call__(self, x):
                return int(x) + 1

        self.assertEqual([int(x) for x in sk.Dataset.range(3).map(Attributes())], [1, 2, 3])

    def test_of_an_operation_rejects_its_parameters_immediately(self):
        with self.assertRaises(sk.InvalidArgument):
            sk.Dataset.range(3).map(lambda x: sk.image.resize(x, (1, 2, 3)))


class Captured(unittest.TestCase):
    """Numbers and arrays have the values from when the dataset was built."""

    def test_numbers_and_arrays_of_the_closure(self):
        scale, offset = 2, np.array([1, 2])
        ds = sk.Dataset.range(2).map(lambda x: x * scale + offset)
        scale = 100
        offset[:] = 100
        self.assertEqual([row.tolist() for row in ds], [[1, 2], [3, 4]])


    def test_large_arrays_stay_native_and_are_compared(self):
        one, ds = np.arange(1 << 20), sk.Dataset.range(2)
        same, other = one.copy(), np.append(one[:-1], 0)
        self.assertNotIn("Python", ds.map(lambda x: x + one).explain())
        found = [trace(lambda x: x + table, ds._structure()).found for table in (one, same, other)]
        self.assertTrue(found[0].has_same_steps(found[1]))
        self.assertFalse(found[0].has_same_steps(found[2]))

    def test_programs_are_compared_with_all_their_parts(self):
        ds = sk.Dataset.from_tensor_slices((np.arange(3), np.arange(3)))
        functions = [lambda x, y: x + y, lambda x, y: y + x, lambda x, y: x - y, lambda x, y: (x, y), lambda x, y: {"x": x, "y": y},
                     lambda x, y: {"y": x, "x": y}, lambda x, y: x + 1, lambda x, y: x + 1.0, lambda x, y: x + True,
                     lambda x, y: x + np.int8(1), lambda x, y: x + np.int16(1), lambda x, y: sk.cast(x, sk.int8),
                     lambda x, y: sk.cast(x, sk.int16), lambda x, y: (x, b"1"), lambda x, y: (x, sk.constant([b"1"]))]
        for (i, one), (j, other) in itertools.product(enumerate(functions), repeat=2):
            found = [trace(function, ds._structure()).found for function in (one, other)]
            self.assertEqual(found[0].has_same_steps(found[1]), i == j, (i, j))

    def test_defaults_of_features_stay_native(self):
        features = {"a": sk.io.FixedLenFeature((2,), sk.float32, default_value=[1, 2])}
        ds = sk.Dataset.from_tensors(sk.io.encode_example({"b": [1]})).map(lambda x: sk.io.parse_single_example(x, features))
        self.assertNotIn("Python", ds.explain())
        self.assertEqual(ds.get_single_element()["a"].tolist(), [1, 2])


    def test_a_constant_that_the_engine_cannot_represent_makes_a_python_stage(self):
        ds = sk.Dataset.from_tensor_slices(np.array([1, 2, 2**64 - 1], np.uint64))
        uses = (lambda c: lambda x: x == c, lambda c: lambda x: c > x, lambda c: lambda x: x % c, lambda c: lambda x: (x, c),
                lambda c: lambda x: {"x": x, "c": c}, lambda c: lambda x: np.maximum(x, c), lambda c: lambda x: sk.maximum(x, c))
        for constant, use in itertools.product((2**63, 2**64 - 59, 2**64, -2**63 - 1, 10**30, np.longdouble(2)), uses):
            with self.subTest(constant=constant, use=use.__code__.co_firstlineno):
                self.assertIn("the Python function", ds.map(use(constant)).explain())
                found = [outcome_of(ds.map(use(constant), **how)) for how in ({}, {"workers": "thread"})]
                self.assertEqual(found[0], found[1])
        self.assertEqual(list(ds.filter(lambda x: x < 2**63)), [1, 2])

    def test_outside_a_traced_function_such_a_constant_is_an_invalid_argument(self):
        with self.assertRaises(sk.InvalidArgument):
            sk.op("maximum", np.arange(3), 2**64)


class Untouched(unittest.TestCase):
    """Building a dataset does not write to what a function has captured, whatever the function does with it."""

    def expect_untouched(self, write, array):
        before = array.tobytes()

        def call(x):
            write(array)
            return x + 1

        ds = sk.Dataset.range(3).map(call)
        self.assertIn("the Python function", ds.explain())
        self.assertEqual(array.tobytes(), before)

    def test_arrays(self):
        def base(array):
            base = array.base
            base[0] += 1

        def base_of_a_view(array):
            view = array[:1].T
            view.base[0] += 1

        def base_by_another_array(array):
            np.asarray(array.base)[0] += 1

        def flags(array):
            array.flags["WRITEABLE"] = True
            array[0] = 5

        def flags_of_a_view(array):
            view = array.view()
            view.flags["W"] = True
            view[0] = 5

        def buffer(array):
            array.data[0] = 1.0

        def owner_of_the_buffer(array):
            array.data.obj.base[0] = 1.0

        def strides(array):
            np.lib.stride_tricks.as_strided(array, writeable=True)[0] = 1

        def out(array):
            np.add(array, 1, out=array)

        def at(array):
            np.add.at(array, 0, 1)

        def interface(array):
            np.asarray(array.__array_interface__)

        def part(name):
            def write(array):
                parts = {"flat": array.flat, "T": array.T, "real": array.real, "view": array.view(), "asarray": np.asarray(array),
                         "ravel": np.ravel(array), "reshape": np.reshape(array, (-1, 1)), "slice": array[1:],
                         "expand_dims": np.expand_dims(array, 0), "split": np.split(array, 3)[0], "bytes": array.view(np.uint8)}
                parts[name][0] = 7

            return write

        def call(*arguments):
            method, *rest = arguments
            writes = {"fill": lambda a: a.fill(*rest), "put": lambda a: a.put(*rest), "sort": lambda a: a.sort(*rest),
                      "partition": lambda a: a.partition(*rest), "byteswap": lambda a: a.byteswap(*rest),
                      "setflags": lambda a: a.setflags(*rest), "resize": lambda a: a.resize(*rest)}
            return writes[method]

        kept = np.array([3.0, 2.0, 1.0])
        parts = ("flat", "T", "real", "view", "asarray", "ravel", "reshape", "slice", "expand_dims", "split", "bytes")
        calls = (("fill", 1), ("put", 0, 1), ("sort",), ("partition", 1), ("byteswap", True), ("setflags", True), ("resize", 9))
        writes = [base, base_of_a_view, base_by_another_array, flags, flags_of_a_view, buffer, owner_of_the_buffer, strides, out, at,
                  interface, *map(part, parts), *(call(*one) for one in calls)]
        for write, array in itertools.product(writes, (kept, kept[:], kept[::-1][::-1])):
            with self.subTest(write=write.__name__):
                self.expect_untouched(write, array)

    def test_records(self):
        records = np.zeros(2, [("a", np.int64)])

        def write_array(array):
            array[0]["a"] = 5

        def write_record(record):
            record["a"] = 5

        self.expect_untouched(write_array, records)
        self.expect_untouched(write_record, records[0])

    def test_what_shows_that_an_array_is_lent(self):
        array = np.arange(3)
        for function in (lambda x: x + 1 if array.base is None else x, lambda x: x + 1 if array.flags.writeable else x,
                         lambda x: x if array.data.readonly else x + 1):
            ds = sk.Dataset.range(3).map(function)
            self.assertIn("captured arrays", ds.explain())
            self.assertEqual(list(ds), [1, 2, 3])

    def test_the_keywords_of_a_partial_function(self):
        step = functools.partial(lambda x, n=0: x, n=1)

        def call(x, n):
            step.keywords["n"] = n
            return step(x) + 1

        for n in (1, 2):
            self.assertIn(".keywords", sk.Dataset.range(3).map(functools.partial(call, n=n)).explain())
            self.assertEqual(step.keywords, {"n": 1})

    def test_all_types_of_arrays_are_lent(self):
        for dtype in (*OneResult.TYPES, "float32"):
            array = np.ones((3, 2), dtype)[::2].T
            ds = sk.Dataset.range(2).map(lambda x: (x, array))
            self.assertNotIn("Python", ds.explain())
            self.assertEqual(described(next(iter(ds))[1]), described(array))


class ProcessGenerators(unittest.TestCase):
    """The random generators of the process, `random` and `np.random`, belong to all threads."""

    @staticmethod
    def states():
        return repr(random.getstate()), repr(np.random.get_state())

    def test_draws_of_another_thread_do_not_change_how_a_function_is_traced(self):
        def draw():
            random.random()
            np.random.random()

        def during_the_trace(structure):
            thread = threading.Thread(target=draw)
            thread.start()
            thread.join()
            return arguments(structure)

        arguments, before = _trace._arguments, self.states()
        with unittest.mock.patch.object(_trace, "_arguments", during_the_trace):
            for _ in range(10):
                self.assertNotIn("Python", sk.Dataset.range(3).map(lambda x: x * 2 + 1).explain())
        self.assertNotEqual(self.states(), before)

    def test_a_function_that_reaches_one_is_python_and_does_not_draw_while_it_is_traced(self):
        draw, instance, kept = random.random, random._inst, {"draws": [np.random.random, np.random.mtrand._rand]}
        holder = functools.partial(lambda x, by: x + by(), by=np.random.mtrand._rand.random)
        functions = (lambda x: x + random.random(), lambda x: x + draw(), lambda x: x + instance.random(), holder,
                     lambda x: x + np.random.random(), lambda x: x + kept["draws"][0](), lambda x: x + kept["draws"][1].random(),
                     lambda x, by=random.gauss: x + by(0, 1), lambda x: (random.shuffle([1, 2]), x + 1)[1],
                     lambda x: (np.random.seed(3), x + 1)[1], lambda x: x + next(iter(random.sample(range(9), 2))))
        before = self.states()
        for i, function in enumerate(functions):
            with self.subTest(i):
                self.assertIn("the Python function", sk.Dataset.range(3).map(function).explain())
                self.assertEqual(self.states(), before)


class Writes(unittest.TestCase):
    """A function that writes to a container outside of itself is Python, even if the write changes nothing at first."""

    class Holder:
        def __init__(self, kept):
            self.kept = kept

    # Each changes nothing in the container that it is written for, but would change others.
    LIST_WRITES = (
        lambda kept: operator.setitem(kept, 0, 5), lambda kept: operator.setitem(kept, slice(0, 1), [5]), lambda kept: kept.sort(),
        lambda kept: kept.reverse(), lambda kept: kept.extend(()), lambda kept: operator.iadd(kept, []),
        lambda kept: operator.imul(kept, 1), lambda kept: (kept.append(1), kept.pop()), lambda kept: list.sort(kept),
        lambda kept: kept.insert(0, kept.pop()), lambda kept: operator.delitem(kept, slice(1, None)),
        lambda kept: (list if kept else dict).reverse(kept), lambda kept: functools.reduce(operator.iadd, [kept, []]))
    DICT_WRITES = (
        lambda kept: operator.setitem(kept, "a", 5), lambda kept: kept.setdefault("a", 5), lambda kept: kept.update(a=5),
        lambda kept: kept.update(), lambda kept: kept.pop("b", None), lambda kept: operator.setitem(kept, "a", kept.pop("a")),
        lambda kept: operator.ior(kept, {}), lambda kept: dict.update(kept, a=5), lambda kept: kept.update([kept.popitem()]))
    SET_WRITES = (
        lambda kept: kept.add(5), lambda kept: kept.discard(6), lambda kept: kept.update(()), lambda kept: kept.add(kept.pop()),
        lambda kept: kept.difference_update(()), lambda kept: kept.intersection_update({5}), lambda kept: operator.ior(kept, {5}),
        lambda kept: operator.iand(kept, {5}), lambda kept: operator.isub(kept, {6}), lambda kept: operator.ixor(kept, set()),
        lambda kept: kept.symmetric_difference_update(()), lambda kept: set.add(kept, 5))
    EMPTY_WRITES = (lambda kept: kept.clear(),)
    FORMS = [(lambda: [5], LIST_WRITES), (lambda: {"a": 5}, DICT_WRITES), (lambda: {5}, SET_WRITES), (list, EMPTY_WRITES),
             (dict, EMPTY_WRITES), (set, EMPTY_WRITES), (lambda: collections.OrderedDict(a=5), DICT_WRITES),
             (lambda: collections.OrderedDict(a=5), (lambda kept: kept.move_to_end("a"),))]

    @staticmethod
    def holders(kept, write):
        """Yield functions that reach the container in different ways."""
        holder, nested, step = Writes.Holder(kept), ({"a": [kept]},), functools.partial(lambda x, to: (write(to), x + 1)[1], to=kept)

        def default(x, to=kept):
            write(to)
            return x + 1

        def copied_list(x):
            write([*nested][0]["a"].copy()[0])
            return x + 1

        yield lambda x: (write(kept), x + 1)[1]
        yield lambda x: (write(holder.kept), x + 1)[1]
        yield from (step, default, copied_list)

    def test_of_the_same_value_are_seen(self):
        for begun, writes in self.FORMS:
            for write in writes:
                kept = begun()
                for i, function in enumerate(self.holders(kept, write)):
                    with self.subTest(kept=kept, line=write.__code__.co_firstlineno, code=write.__code__.co_names, holder=i):
                        self.assertIn("the Python function", sk.Dataset.range(3).map(function).explain())
                        self.assertEqual(kept, begun())

    def test_by_a_method_that_was_captured(self):
        rows, table, seen = [], {"a": 5}, {5}
        for write in (rows.clear, functools.partial(table.setdefault, "a"), functools.partial(seen.add, 5)):
            self.assertIn("the Python function", sk.Dataset.range(3).map(lambda x: (write(), x + 1)[1]).explain())

    def test_have_their_effect(self):
        flag, box, seen = {"seen": True}, [0], {1}

        def call(x):
            flag["seen"] = True
            box[0] = 0
            seen.add(1)
            return x + 1

        ds = sk.Dataset.range(3).map(call)
        flag["seen"], box[0] = False, 9
        seen.clear()
        self.assertEqual(list(ds), [1, 2, 3])
        self.assertEqual((flag, box, seen), ({"seen": True}, [0], {1}))

    def test_to_containers_of_the_call_itself_stay_native(self):
        rows, table, seen, ordered = [3, 1], {"a": 5}, {5}, collections.OrderedDict(a=5)

        def built(x):
            made, by_name = [], {}
            for i in range(3):
                made.append(x + i)
                by_name[f"f{i}"] = made[i]
            made.reverse()
            by_name.update(last=made.pop())
            return by_name

        def copies(x):
            total = x
            for own in (list(rows), rows[:], rows.copy(), rows + [1], [*rows], sorted(rows)):
                own.append(4)
                own[0] = 7
                total += sum(own)
            for own in (dict(table), table.copy(), {**table}, dict(table.items()), ordered.copy(), dict.fromkeys("ab", 1)):
                own["b"] = 1
                own.setdefault("c", 2)
                total += sum(own.values())
            for own in (set(seen), seen.copy(), seen | {1}, {1} | seen, seen - {1}, seen & {5}, seen ^ {1}, seen.union((1,))):
                own.add(6)
                total += sum(own)
            return total

        def reads(x):
            found = [str(one) + repr(one) + f"{one}" for one in (rows, table, seen, ordered, seen | {5}, seen - {5})]
            found += [isinstance(rows, list), isinstance(table, (set, (dict, tuple))), 5 in seen]
            found += [list(map(list, [rows])), rows == [3, 1], table == {"a": 5}, seen == {5}, [1] + rows, sum([rows], [])]
            return x, str(found)

        for function in (built, copies, reads):
            with self.subTest(function.__name__):
                ds = sk.Dataset.range(3)
                self.assertNotIn("Python", ds.map(function).explain())
                self.assertEqual(described(list(ds.map(function))), described(list(ds.map(function, workers="thread"))))


class Keys(unittest.TestCase):
    """The keys of an element are text, natively and in Python."""

    class Name(str, enum.Enum):
        FIRST = "first"

    def test_that_are_not_text_are_rejected(self):
        for make in (lambda x: {1: x}, lambda x: {b"a": x}, lambda x: ({None: x}, x), lambda x: {"a": {(1, 2): x}}):
            with self.assertRaisesRegex(sk.InvalidArgument, "expected text as the key of an element"):
                sk.Dataset.range(3).map(make)
            with self.assertRaisesRegex(sk.InvalidArgument, "expected text as the key of an element"):
                next(iter(sk.Dataset.range(3).map(make, workers="thread")))

    def test_that_are_not_text_are_rejected_by_sources(self):
        for make in (lambda: sk.Dataset.from_tensors({1: 2}), lambda: sk.Dataset.from_tensor_slices({1: [2]}),
                     lambda: sk.Dataset.zip({1: sk.Dataset.range(2)}),
                     lambda: next(iter(sk.Dataset.from_generator(lambda: iter([{1: 2}])))),
                     lambda: sk.Dataset.from_generator(lambda: iter([]), output_signature={1: sk.TensorSpec((), sk.int64)}),
                     lambda: sk.Dataset.from_generator(lambda: iter([]), output_types={1: sk.int64})):
            with self.assertRaisesRegex(sk.InvalidArgument, "expected text as the key of an element"):
                make()

    def test_of_an_enumeration_are_its_text(self):
        for how in ({}, {"workers": "thread"}):
            ds = sk.Dataset.range(1).map(lambda x: {self.Name.FIRST: x}, **how)
            self.assertEqual(ds.get_single_element(), {"first": 0})
        self.assertEqual(sk.Dataset.from_tensors({self.Name.FIRST: 1}).get_single_element(), {"first": 1})


FORKED = r"""
import os, sys, tempfile
import numpy as np
import stoker as sk

kind, folder = sys.argv[1:]
path = os.path.join(folder, "data")
def written(data):
    with open(path, "wb") as file:
        file.write(data)
    return path
def records(path):
    with sk.io.TFRecordWriter(path) as writer:
        writer.write(b"one")
        writer.write(b"two")
    return path
def tar(path):
    import tarfile
    with open(path + ".txt", "w") as file:
        file.write("one")
    with tarfile.open(path, "w") as archive:
        for name in ("a.txt", "b.txt"):
            archive.add(path + ".txt", name)
    return path
def saved(path):
    np.save(path + ".npy", np.arange(6).reshape(3, 2))
    return path + ".npy"
lines = b'{"a": 1}\n{"a": 2}\n'
make = {
    "text_lines": lambda: sk.data.TextLineDataset(written(lines)),
    "tfrecord": lambda: sk.data.TFRecordDataset(records(path)),
    "fixed_length_records": lambda: sk.data.FixedLengthRecordDataset(written(b"aabb"), 2),
    "csv": lambda: sk.data.experimental.CsvDataset(written(b"1,2\n3,4\n"), [sk.int32, sk.int32]),
    "jsonl": lambda: sk.data.JsonLinesDataset(written(lines), {"a": sk.io.FixedLenFeature((), sk.int64)}),
    "tar": lambda: sk.data.WebDataset(tar(path)),
    "npy": lambda: sk.data.NpyDataset(saved(path)),
    "list_files": lambda: sk.Dataset.list_files(saved(path)),
    "from_generator": lambda: sk.Dataset.from_generator(lambda: iter([1, 2]), output_signature=sk.TensorSpec((), sk.int64)),
    "interleave": lambda: sk.Dataset.list_files(written(lines)).interleave(sk.data.TextLineDataset),
    "python": lambda: sk.data.TextLineDataset(written(lines)).map(lambda line: len(line), workers="thread"),
}[kind]
def pair(*fields):
    return fields, fields[0]
ds = make().map(pair).filter(lambda a, b: True).batch(2)
if ds.explain() and os.fork() == 0:
    try:
        print(len(list(ds)), flush=True)
    except sk.Error as error:
        print(error, flush=True)
    os._exit(0)
os.wait()
"""


class Forks(unittest.TestCase):
    """Building a dataset starts no threads, so a child of this process can iterate over it."""

    SOURCES = ["text_lines", "tfrecord", "fixed_length_records", "csv", "jsonl", "tar", "npy", "list_files", "from_generator"]

    def expect_a_batch_in_the_child(self, kind):
        with self.subTest(kind), tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, "-c", FORKED, kind, folder], capture_output=True, text=True, timeout=60)
            self.assertRegex(done.stdout, r"^[12]\n$", done.stderr)

    def test_after_making_a_dataset(self):
        for kind in self.SOURCES:
            self.expect_a_batch_in_the_child(kind)

    def test_after_making_a_dataset_whose_types_an_element_shows(self):
        for kind in ("interleave", "python"):
            self.expect_a_batch_in_the_child(kind)


class Size(enum.IntEnum):
    W = 2
    LARGE = 300


class Bits(enum.IntFlag):
    A = 1


class Share(float, enum.Enum):
    HALF = 0.5


class OneResult(unittest.TestCase):
    """An expression that is native has NumPy's result, with no element to look at before. Whole numbers divided by zero are
    an error natively, as in TensorFlow."""

    OPERATORS = [operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow,
                 operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge, operator.and_, operator.or_]
    IN_PLACE = [operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ifloordiv, operator.imod, operator.ipow,
                operator.iand, operator.ior, operator.ixor]
    TYPES = ["bool", "int8", "int32", "int64", "uint8", "uint64", "float16", "float32", "float64"]
    NUMBERS = [0, 2, -1, 300, 2.5, True, np.float64(0.1), np.int64(-2), np.uint8(7), Size.W, Size.LARGE, Bits.A, Share.HALF]
    FUNCTIONS = {
        "abs": sk.abs, "minimum": lambda x: sk.minimum(x, 0.5), "maximum": lambda x: sk.maximum(x, 1),
        "reshape": lambda x: sk.reshape(x, (-1, 1)), "expand_dims": lambda x: sk.expand_dims(x, 0),
        "squeeze": lambda x: sk.squeeze(sk.expand_dims(x, 0), 0), "shape": sk.shape, "stack": lambda x: sk.stack([x, x], -1),
        "stack with a number": lambda x: sk.stack([x, 1]), "concat": lambda x: sk.concat([x, x], 0), "sum": sk.reduce_sum,
        "sum of columns": lambda x: sk.reduce_sum(x, 0), "mean": sk.reduce_mean, "max": sk.reduce_max,
        "mean of rows": lambda x: sk.reduce_mean(x, -1, keepdims=True), "min": sk.reduce_min, "first": lambda x: x[0],
        "last": lambda x: x[..., -1], "reversed": lambda x: x[::-1], "new axis": lambda x: x[None],
        "constants": lambda x: (x, 1, 2.5, True, b"a", "b", 2**40, np.float64(1), np.arange(3)),
        "members": lambda x: (x, Size.W, Bits.A, Share.HALF, [Size.W]),
        "sum with a member": lambda x: sk.op("add", x, Size.W), "quotient by a member": lambda x: sk.op("divide", x, Share.HALF),
        "minimum with a member": lambda x: sk.minimum(x, Size.W), "stack with a member": lambda x: sk.stack([x, Bits.A]),
        "product of two members": lambda x: x * Size.W * Size.W,
    }
    TEXTS = [b"", b"ab", np.array([b"Oslo", b"", b"\0"], object)]
    BOUNDS = [None, 0, 2, -2, 9, -9, 2**63 - 1, 2**63, -2**63, 2**100, -2**100, np.uint64(2**63)]
    STEPS = [None, 1, -1, 2, -2, 2**63, -2**100]

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
            traced = trace(function, structure, sk.Dataset.from_tensors(value)._core)
        except sk.Error:
            self.assertIsInstance(_python_result(function, value), sk.Error, name)
            return
        if traced.function is None:
            return
        results = [_result(traced.function, value), _python_result(function, value)]
        if not all(isinstance(result, sk.Error) for result in results) and "division by zero" not in str(results[0]):
            self.assertEqual(*map(repr, results), name)

    def test_of_operators(self):
        for apply, dtype in itertools.product(self.OPERATORS, self.TYPES):
            for number in self.NUMBERS:
                for value in (self.values(dtype), self.values(dtype)[3]):
                    self.check(lambda x: apply(x, number), value, (apply, dtype, number))
                    self.check(lambda x: apply(number, x), value, (apply, number, dtype))
            for other in self.TYPES:
                self.check(lambda x, y: apply(x, y), (self.values(dtype), self.values(other)), (apply, dtype, other))

    def test_of_operators_in_place(self):
        for apply, dtype in itertools.product(self.IN_PLACE, self.TYPES):
            for number, make in itertools.product([*self.NUMBERS, np.ones(6)], (self.values, lambda dtype: self.values(dtype)[3])):
                self.check(lambda x: (apply(x, number), x), make(dtype), (apply, dtype, number))
                self.check(lambda x: (apply(sk.reshape(x, (2, -1, 1)), number), x), make(dtype), (apply, dtype, number))
            for other in self.TYPES:
                self.check(lambda x, y: (apply(x, y), x, y), (self.values(dtype), self.values(other)), (apply, dtype, other))

    def test_of_functions(self):
        many = np.random.default_rng(1).normal(size=(37, 53)) * 50
        for (name, function), dtype in itertools.product(self.FUNCTIONS.items(), self.TYPES):
            for value in (self.values(dtype), self.values(dtype)[3], many.astype(dtype)):
                self.check(function, value, (name, dtype))

    def test_of_casts(self):
        for dtype, to in itertools.product(self.TYPES, [*self.TYPES, "string"]):
            for value in (self.values(dtype), self.values(dtype)[3]):
                self.check(lambda x: sk.cast(x, to), value, (dtype, to))
                self.check(lambda x: sk.convert_to_tensor(x, to), value, ("convert", dtype, to))
        for value, to in itertools.product(self.TEXTS, [sk.string, "string", bytes, sk.int32]):
            self.check(lambda x: sk.cast(x, to), value, (value, to))
        ds = sk.Dataset.from_tensors(b"ab").map(lambda s: sk.cast(s, sk.string))
        self.assertNotIn("Python", ds.explain())

    def test_of_results_under_two_names(self):
        """An in-place operator changes an array under all its names, and binds one name to another scalar."""

        def with_two_names(function):
            def call(x):
                made = function(x)
                same = made
                made += 1
                return same, made

            return call

        functions = {name: function for name, function in self.FUNCTIONS.items() if name not in ("constants", "members")}
        functions.update({
            "reshape to a scalar": lambda x: sk.reshape(x, []), "squeeze to a scalar": sk.squeeze,
            "convert": sk.convert_to_tensor, "the argument": lambda x: x,
            "operation reshape": lambda x: sk.op("reshape", x, shape=[]),
            "operation squeeze": lambda x: sk.op("squeeze", x, axis=[]), "operation absolute": lambda x: sk.op("absolute", x)})
        for to in (*self.TYPES, "bfloat16"):
            functions["cast to " + to] = lambda x, to=to: sk.cast(x, to)
            functions["operation cast to " + to] = lambda x, to=to: sk.op("cast", x, dtype=to)
            functions["conversion to " + to] = lambda x, to=to: sk.convert_to_tensor(x, to)
        for (name, function), dtype in itertools.product(functions.items(), ("bool", "int32", "uint8", "float32", "float64")):
            for value in (self.values(dtype)[3], self.values(dtype)[3:4], self.values(dtype)):
                self.check(with_two_names(function), value, (name, dtype, value.shape))
        native = sk.Dataset.from_tensors(np.float32(3)).map(with_two_names(functions["operation reshape"]))
        self.assertNotIn("Python", native.explain())

    def test_of_functions_of_operator(self):
        for name, function in vars(operator).items():
            if name.startswith("_") or not callable(function):
                continue
            for arguments in (lambda x: (x,), lambda x: (x, 2), lambda x: (2, x), lambda x: (x, x), lambda x: (x, [1]),
                              lambda x: ([1], x), lambda x: ([x], x), lambda x: (x, 0, 1)):
                for value in (np.arange(3), np.int64(2), np.ones(2, bool), b"ab"):
                    self.check(lambda x: (x, function(*arguments(x))), value, (name, value))

    def test_of_slices(self):
        for start, stop, step in itertools.product(self.BOUNDS, self.BOUNDS, self.STEPS):
            self.check(lambda x: x[start:stop:step], np.arange(5), (start, stop, step))
        ds = sk.Dataset.from_tensors(np.arange(5)).map(lambda x: x[:2**63])
        self.assertNotIn("Python", ds.explain())
        self.assertEqual(ds.get_single_element().tolist(), [0, 1, 2, 3, 4])

    def test_of_operators_on_bfloat16(self):
        try:
            import ml_dtypes
        except ImportError:
            self.skipTest("ml_dtypes is not installed")
        values = np.array([0, 1.5, -2.25, 3, np.inf, 1e3], ml_dtypes.bfloat16)
        for value, function in itertools.product((values, values[3]), self.FUNCTIONS.values()):
            self.check(function, value, function)
        for apply, number in itertools.product((*self.OPERATORS, sk.minimum, sk.maximum), self.NUMBERS):
            for value in (values, values[3]):
                self.check(lambda x: apply(x, number), value, (apply, number))
                self.check(lambda x: apply(number, x), value, (apply, number))
        for apply, other in itertools.product((*self.OPERATORS, sk.minimum, sk.maximum), self.TYPES):
            self.check(lambda x, y: apply(x, y), (values, self.values(other)), (apply, other))
        for to in self.TYPES:
            self.check(lambda x: sk.cast(x, to), values, to)
            self.check(lambda x: sk.cast(sk.cast(x, sk.bfloat16), sk.float32), self.values(to), to)
        ds = sk.Dataset.from_tensors(values)
        self.assertIn("bfloat16", ds.map(lambda x: x * 0.5).explain())


class Specs(unittest.TestCase):
    """Types and shapes are inferred one operation at a time, and are those that the engine infers for the whole program."""

    def test_are_those_of_the_whole_program(self):
        many = [np.ones((2, 3), np.float32), np.arange(3), np.uint8(3), b"ab", (np.ones(3), np.int32(1)), {"a": np.ones(2)}]
        known = [sk.Dataset.from_tensors(value) for value in many]
        unknown = [sk.Dataset.range(1).interleave(lambda _, one=one: one) for one in known]
        to_bfloat16 = sk.Dataset.range(3).map(lambda x: sk.cast(x, sk.bfloat16))
        for ds, makes in itertools.product((*known, *unknown, to_bfloat16), (list(OneResult.FUNCTIONS.values()), [
                lambda x: x * 2, lambda x: x + x[None], lambda x: x / 300, lambda x: sk.cast(x, "int8") * 2 + x,
                lambda x: sk.io.read_file(x), lambda x: sk.io.decode_image(sk.io.read_file(x)), lambda x: sk.abs(x) == 1])):
            for make in makes:
                self.compare(ds, make)

    def compare(self, ds, make):
        specs = OpSpecs(ds._core, 1)
        with tracing(specs):
            argument = _trace.symbolic(argument_expr(0), ds._structure())
            try:
                made = make(next(iter(argument.values())) if isinstance(argument, dict) else argument)
            except (sk.Error, TypeError, AttributeError):
                return
            for value in made if isinstance(made, tuple) else (made,):
                if isinstance(value, Value):
                    self.assertEqual(specs.of(value._expr), _op_specs._result_of(ds._core, value._expr, 1) or (None, None))

    def test_take_a_time_that_does_not_depend_on_the_operations_before(self):
        def call(x):
            for k in range(300):
                x += k
            return x * 2

        whole = []
        infer = _op_specs._result_of

        def counted(core, expr, fields):
            whole.append(core is ds._core)
            return infer(core, expr, fields)

        ds = sk.Dataset.from_tensors(np.ones((4, 4), np.float32))
        with unittest.mock.patch.object(_op_specs, "_result_of", counted):
            self.assertNotIn("Python", ds.map(call).explain())
        self.assertLessEqual(len(whole), 2 * 302)
        self.assertLessEqual(sum(whole), 2)  # those of the argument, in both calls

    def test_name_bfloat16_without_a_type_of_numpy(self):
        spec = sk.TensorSpec((None,), sk.bfloat16)
        self.assertEqual(repr(spec), "sk.TensorSpec(shape=(None,), dtype=sk.bfloat16)")
        self.assertEqual(copy.deepcopy(spec), spec)
        self.assertNotEqual(spec, sk.TensorSpec((None,), sk.uint16))
        with unittest.mock.patch.dict(sys.modules, {"ml_dtypes": None}):
            self.assertIn("bfloat16", trace(lambda x: x * 0.5, sk.TensorSpec((3,), sk.bfloat16)).why)


def spec_of(value):
    return sk.TensorSpec(np.shape(value), np.asarray(value).dtype)


def _python_result(function, value):
    stage = python_function(function, "", 1)
    return _result(stage.core, value)


def _result(function, value):
    try:
        with np.errstate(all="ignore"):
            return _core.computed(function, _core.Element(value))
    except sk.Error as failed:
        return failed


class Reports(unittest.TestCase):
    def test_explain_contains_the_reason(self):
        rng = np.random.default_rng(1)
        for function, reason in {
            (lambda x: x + rng.random()): "numpy.random",
            (lambda x: x + time.time()): "time.time",
            (lambda x: f"{x}"): "formatting",
            (lambda x: x + len(os.environ)): "os.environ",
            (lambda x: 1): "depends on no argument",
        }.items():
            self.assertIn(reason, sk.Dataset.range(3).map(function).explain())

    def test_explain_prints_bytes_that_are_not_text(self):
        ds = sk.Dataset.range(2).map(lambda x: (x, b"\xff"))
        self.assertNotIn("Python", ds.explain())
        self.assertIn("\\xff", ds.explain())

    def test_a_symbolic_value_has_no_text_and_no_hash(self):
        for read in (str, repr, "{}".format, hash, bool, int, float, len, list, np.asarray, lambda x: x in {1}, "%s".__mod__):
            with self.assertRaises(sk.NeedsValue):
                read(Value(_core.argument(0)))


if __name__ == "__main__":
    unittest.main()

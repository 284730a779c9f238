"""Parsing of examples against TensorFlow itself, on random features of random records; skipped without it.

STOKER_CASES: how many of each kind, instead of a few.
"""

import importlib.util
import os
import random
import struct
import unittest

import numpy as np

import stoker as sk

HAS_TENSORFLOW = importlib.util.find_spec("tensorflow") is not None
CASES = int(os.environ.get("STOKER_CASES", "150"))
NAMES = ["a", "b", "c", "long name", ""]
KINDS = ["int64", "float32", "string"]
PARTITIONS = ["RowSplits", "RowLengths", "RowStarts", "RowLimits", "ValueRowIds"]


# ---- records, written by hand: packed or not, in any order, names twice


def varint(value):
    value &= 2**64 - 1
    out = b""
    while value >= 128:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def field(number, content):
    return varint(number << 3 | 2) + varint(len(content)) + content


def feature_bytes(draw, kind, values, loose=0.3):
    """`loose` is how often numbers are not packed."""
    if kind is None:
        return b""
    if kind == "string":
        return field(1, b"".join(field(1, value) for value in values))
    if kind == "float32":
        each = [struct.pack("<f", value) for value in values]
        number, tag = 2, b"\x0d"
    else:
        each = [varint(value) for value in values]
        number, tag = 3, b"\x08"
    if not values:
        return field(number, draw.choice([b"", field(1, b"")]))
    if draw.random() >= loose:
        return field(number, field(1, b"".join(each)))
    return field(number, b"".join(tag + one for one in each))


def map_bytes(number, entries):
    return field(number, b"".join(field(1, field(1, name.encode()) + field(2, message)) for name, message in entries))


def damaged(draw, record):
    """Now and then cut inside of the last feature; of one that is cut between two, TensorFlow reads what is left."""
    return record[: -draw.randint(1, 3)] if draw.random() < 0.02 else record


def some_values(draw, kind, count):
    if kind == "string":
        return [bytes(draw.choices(range(256), k=draw.choice([0, 1, 3, 200]))) for _ in range(count)]
    if kind == "float32":
        return [np.float32(draw.uniform(-10, 10)).item() for _ in range(count)]
    return [draw.choice([0, 1, -1, 300, 2**62, -(2**63)]) for _ in range(count)]


class Schema:
    """What features mostly are, so that most records fit what is asked of them.

    `plain`: Examples, no SequenceExamples, in whose contexts TensorFlow refuses a feature without a kind. `alone`: one of
    them; of several TensorFlow checks rows as if they were one, and takes what is too long in one and too short in another.
    """

    def __init__(self, draw, plain, alone):
        self.draw = draw
        self.plain = plain
        self.alone = alone
        self.kinds = {name: draw.choice(KINDS) for name in NAMES}
        self.counts = {name: draw.choice([0, 1, 1, 2, 4, 6]) for name in NAMES}
        self.ragged = [draw.choice(PARTITIONS) for _ in range(2)]
        self.wrong = draw.choice([0, 0, 0, 0.05])

    def feature(self, name):
        """Return a message, or None if the feature is missing."""
        draw = self.draw
        if draw.random() < self.missing:
            return None
        kind, count = self.kinds[name], self.counts[name]
        if draw.random() < self.wrong:
            kind = draw.choice([*KINDS, None] if self.plain else KINDS)
        if draw.random() < self.wrong or self.vary:
            count = draw.randrange(5)
        # TensorFlow writes beyond the end of an array if floats are not packed and there are too many of them.
        loose = 0 if kind == "float32" and (self.wrong or self.vary) else 0.3
        return feature_bytes(draw, kind, some_values(draw, kind or "int64", count), loose)

    def ragged_features(self):
        """Values "v" in rows "p" of rows "q"."""
        draw = self.draw
        inner = [draw.randrange(4) for _ in range(draw.randrange(5))]
        outer = []
        while sum(outer) < len(inner):
            outer.append(draw.randint(0, len(inner) - sum(outer)))
        values = some_values(draw, "int64", sum(inner) * 2)
        made = {"v": values, "q": self.partition(1, inner), "p": self.partition(0, outer)}
        if self.alone and draw.random() < self.wrong:
            draw.choice(list(made.values())).append(draw.choice([0, 1, 5]))
        return {name: feature_bytes(draw, "int64", numbers) for name, numbers in made.items()}

    def partition(self, level, lengths):
        kind, limits = self.ragged[level], np.cumsum(lengths, dtype=np.int64).tolist()
        return {"RowSplits": [0, *limits], "RowLengths": list(lengths), "RowLimits": limits,
                "RowStarts": [0, *limits][:-1],
                "ValueRowIds": [row for row, length in enumerate(lengths) for _ in range(length)]}[kind]

    def entries(self):
        draw = self.draw
        made = [(name, self.feature(name)) for name in NAMES]
        made = [(name, message) for name, message in made if message is not None]
        if made and draw.random() < 0.05:
            made.append(draw.choice(made))
        places = draw.sample(range(50), self.counts["a"])
        made += [("x", feature_bytes(draw, "int64", places)), ("y", feature_bytes(draw, "int64", places[::-1]))]
        made += [("w", feature_bytes(draw, "int64", some_values(draw, "int64", len(places) + (draw.random() < self.wrong))))]
        made += self.ragged_features().items()
        draw.shuffle(made)
        return made

    def record(self):
        return damaged(self.draw, map_bytes(1, self.entries()))

    def steps(self, name):
        made = [self.feature(name) for _ in range(self.draw.randrange(4))]
        return b"".join(field(1, step or b"") for step in made)

    def sequence(self):
        draw = self.draw
        lists = [(name, self.steps(name)) for name in NAMES if draw.random() >= self.missing]
        steps = [self.ragged_features() for _ in range(draw.randrange(4))]
        lists += [(name, b"".join(field(1, step[name]) for step in steps)) for name in ("v", "p", "q")]
        draw.shuffle(lists)
        return damaged(draw, map_bytes(1, self.entries()) + map_bytes(2, lists))


# ---- what is asked of them


def fixed(draw, schema, name):
    count = max(schema.counts[name], 1)  # TensorFlow writes beyond the end of an array for none
    shape = draw.choice([[count], [count, 1], [1, count]] + [[]] * 3 * (count == 1))
    kind = schema.kinds[name] if draw.random() < 0.97 else draw.choice(KINDS)
    default = None if draw.random() < 0.5 else np.full(shape, b"-" if kind == "string" else 7).tolist()
    return lambda library: library.io.FixedLenFeature(shape, getattr(library, kind), default)


def fixed_sequence(draw, schema, name, in_list):
    shape = draw.choice([[], [], [1], [2]])
    if in_list:
        shape = [max(schema.counts[name], 1)]  # TensorFlow divides by the size of a row
    kind = schema.kinds[name]
    default = draw.choice([None, b"-" if kind == "string" else 7]) if not in_list else None
    missing = not in_list or draw.random() < 0.7
    return lambda library: library.io.FixedLenSequenceFeature(shape, getattr(library, kind), missing, default)


def variable(schema, name):
    return lambda library: library.io.VarLenFeature(getattr(library, schema.kinds[name]))


def sparse(draw):
    keys, size = draw.choice([("x", 50), (["x"], [50]), (["y", "x"], [50, 60])])
    return lambda library: library.io.SparseFeature(keys, "w", library.int64, size, keys == "x" and size == 49)


def ragged(draw, schema, name):
    kind = schema.kinds[name]
    splits = draw.choice(["int32", "int64"])
    return lambda library: library.io.RaggedFeature(getattr(library, kind), row_splits_dtype=getattr(library, splits))


def partitioned(draw, schema):
    depth = draw.randrange(4)

    def feature(library):
        outer = getattr(library.io.RaggedFeature, schema.ragged[0])("p")
        inner = getattr(library.io.RaggedFeature, schema.ragged[1])("q")
        twos = library.io.RaggedFeature.UniformRowLength(2)
        parts = [[twos], [inner, twos], [outer, inner, twos], []][depth]
        return library.io.RaggedFeature(library.int64, "v", parts, validate=True)

    return feature


def some_features(draw, schema, kinds):
    wanted = {}
    for name in draw.sample(NAMES, draw.randint(1, len(NAMES))):
        kind = draw.choice(kinds)
        if kind == "fixed":
            wanted[name] = fixed(draw, schema, name)
        elif kind == "variable":
            wanted[name] = variable(schema, name)
        elif kind == "ragged":
            wanted[name] = ragged(draw, schema, name)
        else:
            wanted[name] = fixed_sequence(draw, schema, name, kind == "steps")
    if "sparse" in kinds and draw.random() < 0.5:
        wanted["sparse"] = sparse(draw)
    if draw.random() < 0.5:
        wanted["ragged"] = partitioned(draw, schema)
    return wanted


def of(library, wanted):
    return {name: feature(library) for name, feature in wanted.items()}


# ---- values of both, in one form


def plain(value):
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, tuple):
        return tuple(plain(part) for part in value)
    if hasattr(value, "dense_shape"):
        return {"indices": plain(value.indices), "values": plain(value.values), "shape": plain(value.dense_shape)}
    if hasattr(value, "nested_row_splits"):
        return {"flat": plain(value.flat_values), "splits": tuple(plain(splits) for splits in value.nested_row_splits)}
    array = np.asarray(value.numpy() if hasattr(value, "numpy") else value)
    return ("string" if array.dtype.kind in "OSU" else array.dtype.name, array.shape, array.tolist())


def outcome(call, errors):
    try:
        return plain(call())
    except errors as error:
        return f"error: {type(error).__name__}: {str(error)[:300]}"


@unittest.skipUnless(HAS_TENSORFLOW, "TensorFlow is not installed")
class Tensorflow(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
        import tensorflow

        cls.tf = tensorflow
        cls.errors = (tensorflow.errors.InvalidArgumentError, ValueError, UnicodeDecodeError)

    def compare(self, seed, call):
        """Compare call(library) of both libraries. If one raises, so does the other; the messages may differ."""
        theirs = outcome(lambda: call(self.tf), self.errors)
        ours = outcome(lambda: call(sk), (sk.Error,))
        if isinstance(theirs, str) or isinstance(ours, str):
            self.assertTrue(isinstance(theirs, str) and isinstance(ours, str), f"seed {seed}\ntheirs {theirs}\nours {ours}")
        else:
            self.assertEqual(ours, theirs, f"seed {seed}")
        return not isinstance(ours, str)

    def over_cases(self, kind, case, plain=False, alone=False):
        """Check that most cases have values to compare."""
        good = 0
        for number in range(CASES):
            seed = f"{kind} {number}"
            draw = random.Random(seed)
            schema = Schema(draw, plain, alone)
            schema.missing = draw.choice([0, 0, 0.1, 0.5])
            schema.vary = draw.random() < 0.4
            with self.subTest(seed):
                good += self.compare(seed, case(draw, schema))
        self.assertGreater(good, CASES // 5)

    def test_one_example(self):
        def case(draw, schema):
            record = schema.record()
            wanted = some_features(draw, schema, ["fixed", "fixed", "sequence", "variable", "ragged", "sparse"])
            return lambda library: library.io.parse_single_example(record, of(library, wanted))

        self.over_cases("one", case, plain=True, alone=True)

    def test_several_examples(self):
        def case(draw, schema):
            records = [schema.record() for _ in range(draw.randint(1, 4))]
            wanted = some_features(draw, schema, ["fixed", "fixed", "sequence", "variable", "ragged", "sparse"])
            return lambda library: library.io.parse_example(records, of(library, wanted))

        self.over_cases("several", case, plain=True)

    def test_one_sequence(self):
        def case(draw, schema):
            record = schema.sequence()
            context = some_features(draw, schema, ["fixed", "variable", "ragged"])
            lists = some_features(draw, schema, ["steps", "variable", "ragged"])
            return lambda library: library.io.parse_single_sequence_example(record, of(library, context), of(library, lists))

        self.over_cases("sequence", case)

    def test_several_sequences(self):
        def case(draw, schema):
            records = [schema.sequence() for _ in range(draw.randint(1, 4))]
            context = some_features(draw, schema, ["fixed", "variable", "ragged"])
            lists = some_features(draw, schema, ["steps", "variable", "ragged"])
            return lambda library: library.io.parse_sequence_example(records, of(library, context), of(library, lists))

        self.over_cases("sequences", case)

    def test_examples_are_written_as_it_writes_them(self):
        train = self.tf.train
        draw = random.Random(1)
        names = [name for name in NAMES if name]  # protocol buffers sort "aa" before "a" in Python, and after it in C++
        for _ in range(CASES):
            values = {name: (kind, some_values(draw, kind, draw.randrange(4)))
                      for name in names for kind in [draw.choice(KINDS)]}
            features = {name: self.feature(*value) for name, value in values.items()}
            lists = {name: train.FeatureList(feature=[feature] * draw.randrange(3)) for name, feature in features.items()}
            ours = {name: np.array(numbers, object if kind == "string" else kind) for name, (kind, numbers) in values.items()}
            example = train.Example(features=train.Features(feature=features))
            self.assertEqual(sk.io.encode_example(ours), example.SerializeToString(deterministic=True))
            sequence = train.SequenceExample(context=train.Features(feature=features),
                                             feature_lists=train.FeatureLists(feature_list=lists))
            steps = {name: [ours[name]] * len(lists[name].feature) for name in ours}
            self.assertEqual(sk.io.encode_sequence_example(ours, steps), sequence.SerializeToString(deterministic=True))

    def feature(self, kind, values):
        train = self.tf.train
        if kind == "int64":
            return train.Feature(int64_list=train.Int64List(value=values))
        if kind == "float32":
            return train.Feature(float_list=train.FloatList(value=values))
        return train.Feature(bytes_list=train.BytesList(value=values))


if __name__ == "__main__":
    unittest.main()

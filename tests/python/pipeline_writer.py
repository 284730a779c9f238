"""Write random pipelines as text that both libraries run; pipeline_parts.names defines the names in it."""

import dataclasses
import random

import numpy as np

from pipeline_parts import FLOATS, INTEGERS, Leaf, arguments, array, fit, is_dense, is_whole, leaves, names

FEATURES = ", ".join(["{'n': L.io.FixedLenFeature([], L.int64)", "'f': L.io.FixedLenFeature([2], L.float32, [7.0, 8.0])",
                      "'v': L.io.VarLenFeature(L.int64)", "'r': L.io.RaggedFeature(L.int64, 'w')",
                      "'s': L.io.FixedLenSequenceFeature([], L.string, allow_missing=True)}"])


@dataclasses.dataclass
class Pipeline:
    text: str
    made: object  # TensorFlow's dataset, or the error that building it raised
    fails: bool = False  # elements may fail: only stages follow that do the same with them
    last: bool = False  # after its first error, the libraries continue differently

    @property
    def endless(self):
        return int(self.made.cardinality()) == -1


class Writer:
    """Writer of pipelines. TensorFlow builds each stage immediately, which shows its output."""

    def __init__(self, seed, tf, files):
        self.draw = random.Random(seed)
        self.names = names(tf, files)

    def pipeline(self, depth=0):
        pipeline = self.begun(self.source(depth))
        for _ in range(self.draw.randint(0, 7 - 3 * depth)):
            if not pipeline.last:
                pipeline = self.longer(pipeline, depth)
        return pipeline

    def begun(self, source):
        text, fails, last = source if isinstance(source, tuple) else (source, False, False)
        return self.built(text, text, {}, fails, last)

    def built(self, text, code, known, fails, last):
        try:
            return Pipeline(text, eval(code, {**self.names, **known}), fails, last)
        except Exception as error:  # any: it is compared with what ours raises
            return Pipeline(text, error, last=True)

    def longer(self, pipeline, depth):
        stages = [self.map, self.map, self.map, self.filter, self.prefetch, self.ignore_errors, self.concatenate, self.repeat,
                  self.flat_map]
        if not pipeline.fails:  # zip: TensorFlow raises errors after the end of the shorter input, or ends at an error
            stages += [self.batch, self.batch, self.unbatch, self.shuffle, self.take, self.skip, self.shard, self.cache,
                       self.enumerate, self.flat_map, self.assert_cardinality, self.zip]
        if pipeline.endless:  # those that always give something
            stages = [self.take, self.take, self.map, self.batch, self.enumerate, self.shuffle, self.prefetch]
        while True:
            found = self.draw.choice(stages)(pipeline, depth)
            if found is not None:
                break
        stage, fails, last = found if isinstance(found, tuple) else (found, pipeline.fails, False)
        last = last or fails and pipeline.endless  # after an error, some stages would wait indefinitely
        return self.built(pipeline.text + stage, "ds" + stage, {"ds": pipeline.made}, fails, last)

    # ---- sources

    def source(self, depth):
        return self.draw.choice([self.range, self.range, self.slices, self.slices, self.slices, self.tensors, self.generator,
                                 self.lines, self.fixed, self.csv, self.records, self.listed, self.endless_source])()

    def range(self):
        numbers = [self.draw.randint(-3, 12) for _ in range(self.draw.choice([1, 1, 2, 3]))]
        more = f", output_type=L.{self.draw.choice(INTEGERS + FLOATS)}" if self.draw.random() < 0.4 else ""
        return f"D.range({', '.join(map(str, numbers))}{more})"

    def endless_source(self):
        return f"D.counter({self.draw.randint(-5, 5)}, {self.draw.randint(-2, 2)})"

    def leaf(self, first=None):
        shape = [self.draw.choice([0, 1, 2, 2, 3, 3]) for _ in range(self.draw.choice([0, 0, 1, 2]))]
        dtype = self.draw.choice([*INTEGERS, *FLOATS, "bool", "string", "int32", "float32", "int64"])
        return array(self.draw, dtype, shape if first is None else [first, *shape])

    def nest(self, leaf):
        """Text of a structure, `leaf` giving that of its parts."""
        form = self.draw.choice(["{}"] * 3 + ["({}, {})", "{{'b': {}, 'a': {}}}", "({}, {{'k': ({}, {})}})", "({}, ({}, {}))"])
        return form.format(*(leaf() for _ in range(form.count("{}"))))

    def slices(self):
        rows = self.draw.choice([0, 1, 4, 4, 7, 7, 7])
        return f"D.from_tensor_slices({self.nest(lambda: self.leaf(rows + (self.draw.random() < 0.01)))})"

    def tensors(self):
        return f"D.from_tensors({self.nest(self.leaf)})"

    def generator(self):
        dtype = self.draw.choice(["int32", "float32", "string", "int64"])
        form = self.draw.choice(["{}", "({}, {})", "{{'b': {}, 'a': {}}}"])
        wanted = self.draw.choice([[], [None], [None, 2]])

        def value(wrong=False):
            shape = [self.draw.randrange(4) if side is None else side for side in wanted]
            return form.format(*[array(self.draw, dtype, [1] * (3 - len(shape)) if wrong else shape)] * form.count("{}"))

        given = [value() for _ in range(self.draw.randrange(5))]
        fails, breaks = (self.draw.random() < 0.2 for _ in range(2))
        if fails:
            given.insert(self.draw.randrange(len(given) + 1), value(wrong=True))
        signature = form.format(*[f"L.TensorSpec({wanted}, L.{dtype})"] * form.count("{}"))
        values = f"[{', '.join(given)}]"
        made = f"broken({values})" if breaks else values
        return f"D.from_generator(lambda: {made}, output_signature={signature})", fails or breaks, False

    def listed(self):
        return "D.list_files(files['pattern'], shuffle=False).map(lambda x: L.io.read_file(x))"

    def files(self, *names):
        """Some of these files, and perhaps one that is not there."""
        names += ("missing",) * (self.draw.random() < 0.1)
        chosen = [self.draw.choice(names) for _ in range(self.draw.randint(1, 3))]
        return "[" + ", ".join(f"files[{name!r}]" for name in chosen) + "]", chosen

    def packed(self, *names):
        """Return the same, or compressed ones, with the argument for it."""
        if self.draw.random() < 0.8:
            return self.files(*names)
        text, chosen = self.files(*(name + " gzip" for name in names))
        return f"{text}, compression_type='GZIP'", chosen

    def lines(self):
        text, chosen = self.packed("lines", "lines", "empty") if self.draw.random() < 0.5 else self.files("lines", "newline")
        turns = self.draw.choice(["", "", ", num_parallel_reads=2"])
        return f"L.data.TextLineDataset({text}{turns})", False, "missing" in chosen

    def fixed(self):
        text, chosen = self.files("bytes", "bytes", "bytes", "empty")
        size, header, footer = self.draw.choice([(6, 0, 0), (5, 1, 1), (7, 3, 4), (40, 2, 0), (42, 0, 0), (4, 0, 0)])
        last = "missing" in chosen or size == 4 or "empty" in chosen and header + footer > 0
        return f"L.data.FixedLengthRecordDataset({text}, {size}, {header}, {footer})", False, last

    def csv(self):
        text, chosen = self.files("csv", "csv", "bad csv", "empty")
        more = self.draw.choice(["", "", ", na_value='2'", ", use_quote_delim=False", ", select_cols=[0, 1, 2]",
                                 ", field_delim=';'"])
        defaults = self.draw.choice(["[[0], [b'-'], [1.5]]", "[L.int32, L.string, L.float64]",
                                     "[[np.int64(9)], [''], L.string]"])
        header = f", header={self.draw.random() < 0.3}"
        return f"E.CsvDataset({text}, {defaults}{header}{more})", True, "missing" in chosen

    def records(self):
        text, chosen = self.packed("records", "records", "empty")
        if self.draw.random() < 0.1:
            text, chosen = "[files['damaged'], files['records']]", ["damaged"]
        parse = self.draw.choice(["", f".map(lambda r: L.io.parse_single_example(r, {FEATURES}))",
                                  f".batch(3).map(lambda r: L.io.parse_example(r, {FEATURES}))"])
        return f"L.data.TFRecordDataset({text}){parse}", False, "missing" in chosen or "damaged" in chosen

    # ---- functions

    def same(self, leaf):
        """An expression of the component's type and shape, and whether it may fail."""
        draw, x = self.draw, leaf.text
        if leaf.dtype == "string":
            return x, False
        if leaf.dtype == "bool":
            return draw.choice([f"(~{x})", f"({x} & True)", f"({x} | np.bool_(False))"]), False
        one, two = (draw.choice([1, 2, 3, 5]) for _ in range(2))
        forms = [f"({x} + {one})", f"({x} - {two})", f"({x} * {two})", f"({one} - {x})", f"L.minimum({x}, {one})",
                 f"L.maximum({x}, {two})", f"({x} + {x})", f"({x} * np.{leaf.dtype}({one}))"]
        if leaf.whole:
            forms += [f"({x} + {array(draw, leaf.dtype, leaf.shape[-1:])})"]
        if leaf.dtype not in FLOATS:
            forms += [f"({x} // {one})", f"({x} % {two})"]
        else:  # without its sign: a remainder of zero has the divisor's, as NumPy's
            forms += [f"L.abs({x} % {two})"]
        if not leaf.dtype.startswith("u"):
            forms += [f"(-{x})", f"L.abs({x})", f"({x} * -1)"]
        if leaf.dtype in ("int32", "int64"):
            forms += [f"({x} // -{one})", f"({x} % -{two})"]
            if draw.random() < 0.15:
                return draw.choice([f"({x} // ({x} % 3))", f"({one} % {x})", f"({x} % 0)"]), True
        if leaf.dtype == "float64":
            forms += [f"({x} / {two})", f"({one} / {x})", f"({x} / 0)", f"({x} ** 2)"]
        return draw.choice(forms), False

    def another(self, leaf):
        """An expression of another type or shape, and whether it may fail."""
        draw, x, rank = self.draw, leaf.text, len(leaf.shape)
        forms = [f"L.expand_dims({x}, {draw.choice([0, -1, rank])})", f"L.reshape({x}, [-1])", f"L.shape({x})",
                 f"L.stack([{x}, {x}])", f"{x}[None]", f"{x}[..., None]"]
        if leaf.dtype == "string":
            forms += [f"({x} == b'a')", f"({x} != b'a')"]
        else:
            forms += [f"({x} == {x})", f"({x} != {draw.choice([True, False]) if leaf.dtype == 'bool' else 2})"]
            integers = [] if leaf.dtype in FLOATS else INTEGERS
            forms += [f"L.cast({x}, L.{draw.choice([*integers, *FLOATS, 'bool'])})"] * 3
        if leaf.dtype not in ("string", "bool"):
            forms += [f"({x} {draw.choice(['<', '<=', '>', '>='])} {draw.choice([0, 1, 3])})"]
        if leaf.dtype in ("int32", "int64"):  # the quotient of other integers is of float64, as NumPy's
            forms += [f"({x} / 2)", f"({x} / 0)"]
        if leaf.dtype == "float32":
            forms += [f"L.cast({x}, L.{draw.choice(['int32', 'int64'])})"]
        if rank:
            forms += self.parts(leaf)
            if leaf.dtype not in ("string", "bool", "float16"):
                axis = f", axis={draw.randrange(-rank, rank)}, keepdims={draw.random() < 0.5}" if draw.random() < 0.5 else ""
                # Sums of narrow integers are of 64 bits, as NumPy's; the largest of nothing is an error.
                kinds = ["max", "min"] * all(leaf.shape) + ["sum"] * (leaf.dtype in ("int64", "uint64", *FLOATS))
                forms += [f"L.reduce_{kind}({x}{axis})" for kind in kinds]
            if draw.random() < 0.1:
                return f"{x}[{draw.choice([2, 5, -4])}]", True
        return draw.choice(forms), False

    def parts(self, leaf):
        draw, x = self.draw, leaf.text
        bounds = [draw.choice(["", "", 0, 1, 2, -1, -2, 9]) for _ in range(2)]
        forms = [f"{x}[{bounds[0]}:{bounds[1]}:{draw.choice([1, 1, 2, -1, -2])}]", f"L.concat([{x}, {x}], 0)", f"{x}[::-1]"]
        if leaf.shape[0]:
            forms += [f"{x}[0]", f"{x}[-1]"]
        if leaf.shape[-1]:
            forms += [f"{x}[..., 0]", f"{x}[..., -1]"]
        if 1 in leaf.shape and leaf.whole:
            forms += [f"L.squeeze({x})", f"L.squeeze({x}, {leaf.shape.index(1)})"]
        return forms

    def expression(self, found):
        """Of one of the components, and whether it may fail."""
        fails = False
        leaf = self.draw.choice(found)
        for _ in range(self.draw.randrange(3)):
            text, may = self.same(leaf)
            leaf, fails = Leaf(text, leaf.dtype, leaf.shape), fails or may
        if fails or self.draw.random() < 0.5:
            return leaf.text, fails  # TensorFlow does not compute what only gives its shape
        partners = [other for other in found if other.dtype == leaf.dtype and fit(other, leaf)]
        if partners and leaf.dtype not in ("bool", "string") and self.draw.random() < 0.3:
            sign = self.draw.choice(["+", "*", "<", "=="])
            return f"({leaf.text} {sign} {self.draw.choice(partners).text})", False
        return self.another(leaf)

    def map(self, pipeline, depth):
        names, found = arguments(pipeline.made.element_spec)
        if not found:
            return None
        numbers = [leaf.text for leaf in found if leaf.dtype != "string"]
        if numbers and self.draw.random() < 0.1:  # alone: the operators of a Python stage are NumPy's
            return f".map(lambda {names}: numpy(np.flip, {self.draw.choice(numbers)}))"
        fails = []

        def one():
            text, may = self.expression(found)
            fails.append(may)
            return text

        value = self.nest(one)
        calls = self.draw.choice([""] * 20 + [", num_parallel_calls=2", ", L.data.AUTOTUNE", ", num_parallel_calls=0"])
        return f".map(lambda {names}: {value}{calls})", pipeline.fails or any(fails), False

    def filter(self, pipeline, depth):
        names, found = arguments(pipeline.made.element_spec)
        found = [leaf for leaf in found if leaf.dtype != "string" and not leaf.shape]
        if not found:
            return None
        leaf = self.draw.choice(found)
        if leaf.dtype == "bool":
            return f".filter(lambda {names}: {leaf.text})"
        return f".filter(lambda {names}: {leaf.text} {self.draw.choice(['>', '<=', '!='])} {self.draw.choice([0, 2, 5])})"

    # ---- stages

    def batch(self, pipeline, depth):
        if not is_dense(pipeline.made.element_spec):
            return None  # batches of sparse and ragged values are not implemented
        size = self.draw.choice([1, 2, 3, 5] * 10 + [0, -1])
        more = self.draw.choice(["", "", ", drop_remainder=True", ", num_parallel_calls=2"])
        may_fail = not is_whole(pipeline.made.element_spec)
        if may_fail and "parallel" in more:
            more = ""  # a skip after it does not count a batch that failed in TensorFlow; after a plain one it does
        return f".batch({size}{more})", False, may_fail

    def unbatch(self, pipeline, depth):
        found = leaves(pipeline.made.element_spec)
        if not is_dense(pipeline.made.element_spec) or not all(leaf.shape for leaf in found) and self.draw.random() < 0.95:
            return None
        if any(not side for leaf in found for side in leaf.shape[1:]):
            return None  # TensorFlow crashes where rows have no bytes
        return ".unbatch()", False, len({leaf.shape[0] for leaf in found if leaf.shape}) > 1

    def shuffle(self, pipeline, depth):
        again = self.draw.choice(["", "", ", reshuffle_each_iteration=False"])
        return f".shuffle({self.draw.choice([1, 2, 3, 5, 50] * 10 + [0, -1])}, seed={self.draw.randrange(100)}{again})"

    def take(self, pipeline, depth):
        return f".take({self.draw.choice([0, 1, 2, 5, 9, *[-1] * (not pipeline.endless)])})"

    def skip(self, pipeline, depth):
        return f".skip({self.draw.choice([0, 1, 2, 5, -1])})"

    def shard(self, pipeline, depth):
        return f".shard({self.draw.choice([('1, 0'), '2, 0', '2, 1', '3, 2'] * 10 + ['0, 0', '2, 2', '2, -1'])})"

    def repeat(self, pipeline, depth):
        if "shuffle" in pipeline.text and "repeat" in pipeline.text:
            return None  # the inner one may draw a seed more than it has passes in TensorFlow
        none = [0] * ("shuffle" not in pipeline.text)  # together with a shuffle, TensorFlow refuses it when it runs
        return f".repeat({self.draw.choice([1, 2, 3, *none] * 2 + ['', -1] * (depth == 0 and not pipeline.fails))})"

    def cache(self, pipeline, depth):
        return ".cache()"

    def prefetch(self, pipeline, depth):
        return f".prefetch({self.draw.choice([0, 1, 2, 'L.data.AUTOTUNE'] * 10 + [-2])})"

    def enumerate(self, pipeline, depth):
        return f".enumerate({self.draw.choice(['', -1, 5])})"

    def ignore_errors(self, pipeline, depth):
        return ".ignore_errors()", False, False

    def assert_cardinality(self, pipeline, depth):
        count = max(int(pipeline.made.cardinality()), 0)
        return f".apply(E.assert_cardinality({self.draw.choice([count, count, 1, 7])}))", False, True

    def concatenate(self, pipeline, depth):
        if self.draw.random() < 0.05:
            return ".concatenate(D.range(2))"
        stages = ["", ".repeat(2)"] if pipeline.fails else ["", ".take(2)", ".skip(1)"]
        return f".concatenate({pipeline.text}{self.draw.choice(stages)})"

    def zip(self, pipeline, depth):
        if depth > 0:
            return None
        other = self.pipeline(depth + 1)
        if other.fails or other.last:
            return None
        forms = [f"ds, {other.text}", f"({other.text}, ds)", f"(ds, (ds, {other.text}))", f"{{'b': ds, 'a': {other.text}}}"]
        return f".apply(lambda ds: D.zip({self.draw.choice(forms)}))"

    def flat_map(self, pipeline, depth):
        names, found = arguments(pipeline.made.element_spec)
        if depth > 1 or not found or not all(leaf.whole for leaf in found):
            return None
        leaf = self.draw.choice(found)
        source = f"D.from_tensor_slices({leaf.text})" if leaf.shape else f"D.from_tensors({leaf.text})"
        if leaf.dtype in INTEGERS and not leaf.shape:
            source = self.draw.choice([source, f"D.range(L.cast({leaf.text}, L.int64) % 4)"])
        inner = self.inner(source, leaf, depth)
        if inner is None:
            return None
        cycle, block = (self.draw.choice([1, 2, 3] * 15 + [0]) for _ in range(2))
        turns = f", cycle_length={cycle}, block_length={block}{self.draw.choice(['', f', num_parallel_calls={cycle or 1}'])}"
        stages = [f".flat_map(lambda {names}: {inner.text})"]
        if not (pipeline.fails or inner.fails):  # a failed element has its place in a block, and not in TensorFlow
            stages.append(f".interleave(lambda {names}: {inner.text}{turns})")
        return self.draw.choice(stages), pipeline.fails or inner.fails, False

    def inner(self, source, leaf, depth):
        """A pipeline on one element, tried with zeros."""
        zeros = f"np.zeros({leaf.shape}, '{'S1' if leaf.dtype == 'string' else leaf.dtype}')"
        pipeline = self.begun(source.replace(leaf.text, zeros))
        stages = []
        for _ in range(self.draw.randrange(3)):
            before = len(pipeline.text)
            pipeline = self.longer(pipeline, depth + 2)
            stages.append(pipeline.text[before:].replace(zeros, leaf.text))
            if pipeline.last or pipeline.endless:
                return None
        return Pipeline(source + "".join(stages), None, pipeline.fails)

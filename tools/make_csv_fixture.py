#!/usr/bin/env python3
"""Write tests/fixtures/csv.json: what TensorFlow's CsvDataset reads from sample texts. Requires TensorFlow."""

import base64
import json
import os
import random
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import tensorflow as tf  # noqa: E402

NUMBERS = ["1", " 1 ", "+1", "-1", "\t1", "\v1", "1.0", "1e3", "0x10", "2147483647", "2147483648", "9223372036854775807",
           "9223372036854775808",
           "inf", "-inf", "nan", "NaN", "Infinity", "+inf", "1e400", "-1e400", "1e39", "1e-400", "1e-46",
           ".5", "5.", "1e", "1_000", "- 1", "1f", "--1", "+-1", '"1"', '" 1"', "1 2", "0x1p3", "-0x1p-3", "1E+3", "00012",
           "-0", "  ",
           "0.1", "3.4028236e38", "16777217", "123456789.123456789", "nan(1)"]
TEXTS = ["a\n\nb\n", "a\rb\r\nc\n\rd", '"a\nb"\n', '"a""b"\n""\nx', '""""\n', "\xff\xfe\n", "a\0b\n", "", "\n", 'a"b\nc\n',
         ' "a"\nb\n']
PAIRS = ["a,b\n\nc,d", "a,b,c\nd\n,\ne,f\n", '"a,b","c\r\nd"\r\ne,f', "a,", ",", 'a"b,c\nd,e\n']


def outcome(text, types, options):
    """Return the elements that TensorFlow reads from `text`: a list of values each, or None for an error."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(text.encode("latin-1"))
        file.flush()
        defaults = [getattr(tf, t) if d is None else tf.constant([d], t) for t, d in types]
        rows = iter(tf.data.experimental.CsvDataset(file.name, defaults, **options))
        found = []
        while len(found) < 50:
            try:
                found.append([value_of(x.numpy()) for x in next(rows)])
            except StopIteration:
                return found
            except tf.errors.InvalidArgumentError:
                found.append(None)
    raise RuntimeError(f"TensorFlow returned 50 elements of {text!r} and no end")


def value_of(value):
    return base64.b64encode(value).decode() if isinstance(value, bytes) else repr(value.item())


def random_text(rng):
    """Return records with valid quotes: after an invalid one TensorFlow loses the rest of the file, Stoker a line."""
    def field():
        text = "".join(rng.choice("ab1, ") for _ in range(rng.randrange(4)))
        quoted = rng.random() < 0.4 or "," in text
        return '"' + text + rng.choice(["", '""', "\n", "\r\n"]) + '"' if quoted else text
    return "".join(",".join(field() for _ in range(rng.choice([1, 2, 2, 2, 3]))) + rng.choice(["\n", "\r", "\r\n"])
                   for _ in range(rng.randrange(6)))


def main():
    rng = random.Random(5)
    given = [(n, [[t, None]], {}) for n in NUMBERS for t in ("int32", "int64", "float32", "float64")]
    given += [(t, [["string", None]], {}) for t in TEXTS] + [(t, [["string", "d"]], {}) for t in TEXTS]
    given += [(t, [["string", None], ["string", "d"]], {}) for t in PAIRS]
    given += [(random_text(rng), [["string", "d"], ["string", None]], {}) for _ in range(60)]
    number, text = ["int32", None], ["string", None]
    given += [("h,k\n1,2\n3,4", [number, number], {"header": True}),
              ("NA,1\nna,\n", [["string", "d"], ["int32", 7]], {"na_value": "NA"}),
              ('a"b,"c"\n', [text, text], {"use_quote_delim": False}),
              ("a;b\n", [text, text], {"field_delim": ";"}),
              ("1,2,3\n4,5\n6,7,8,9\n", [number], {"select_cols": [1]}),
              ("1,2,3\n4,5\n6,7,8,9\n", [number], {"select_cols": [2]}),
              ("1,2,3\n4,5\n", [number, number], {"exclude_cols": [1]}),
              ("hijklmn,-5.3E14,,2", [["float64", None], ["float64", 0.0], number], {"select_cols": [1, 2, 3]})]
    cases = [{"text": text, "types": types, "options": options, "rows": outcome(text, types, options)}
             for text, types, options in given]
    path = os.path.join(os.path.dirname(__file__), "..", "tests", "fixtures", "csv.json")
    with open(path, "w", encoding="ascii") as file:
        file.write("[\n" + ",\n".join(json.dumps(case) for case in cases) + "\n]\n")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Write tests/fixtures/image/golden.npz: TensorFlow's results for the calls of tests/python/image_cases.py.

Requires TensorFlow. With the file, tests/python/image_golden_test.py compares the results without TensorFlow. The file
records the version of TensorFlow.
"""

import os
import pathlib
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "python"))

from image_cases import boxes, cases, inputs, packed  # noqa: E402

SEED = 20240229


def main():
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow as tf

    given = inputs(SEED)
    arrays = {f"input {name}": array for name, array in given.items()}
    for name, input, call, _, _ in (*cases(), *boxes()):
        arrays[name] = call(tf.image, given[input], given["seeds"]).numpy()
    path = ROOT / "tests" / "fixtures" / "image" / "golden.npz"
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(path, tensorflow=np.array(tf.__version__), **packed(arrays))
    print(f"{path}: {len(arrays)} arrays, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()

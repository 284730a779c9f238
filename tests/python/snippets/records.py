"""Document 001, snippet 3: records parsed, decoded, resized; written by us, read by TensorFlow and by us alike."""

import numpy as np
import tensorflow as tf
from images import write_images

import stoker as sk

with sk.io.TFRecordWriter("data.tfrecord") as writer:
    for i, path in enumerate(write_images("jpegs", 20, side=40, kind="jpg") + write_images("pngs", 20, side=30)):
        with open(path, "rb") as file:
            writer.write(sk.io.encode_example({"image": file.read(), "label": i % 2}))


def parse_with(library):
    def parse_tfrecord_function(example_proto):
        feature_description = {
            "image": library.io.FixedLenFeature([], library.string),
            "label": library.io.FixedLenFeature([], library.int64),
        }
        parsed_features = library.io.parse_single_example(example_proto, feature_description)
        image = library.io.decode_jpeg(parsed_features["image"], channels=3)  # takes PNG bytes, too
        image = library.image.resize(image, [256, 256])
        image = library.cast(image, library.float32) / 255.0
        label = library.cast(parsed_features["label"], library.int32)
        return image, label

    return parse_tfrecord_function


def parsed(library):
    dataset = library.data.TFRecordDataset(["data.tfrecord"])
    return dataset.map(parse_with(library), num_parallel_calls=library.data.AUTOTUNE)


for (ours, our_label), (theirs, their_label) in zip(parsed(sk), parsed(tf).as_numpy_iterator(), strict=True):
    np.testing.assert_array_equal(ours, theirs)
    assert our_label == their_label and our_label.dtype == np.int32

dataset = parsed(sk).shuffle(buffer_size=1024).batch(32).prefetch(sk.data.AUTOTUNE)
model = tf.keras.models.Sequential([tf.keras.layers.Flatten(), tf.keras.layers.Dense(1)])
model.compile(optimizer=tf.keras.optimizers.Adam(), loss="mse")
model.fit(dataset, epochs=2, verbose=0)

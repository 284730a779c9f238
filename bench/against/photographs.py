"""Compare the training input of Stoker with that of PyTorch's DataLoader, in turns, on the same files.

The photographs are in a folder with one folder per class. Both loaders read them, decode all pixels, resize to 224 by
224 as Pillow does, flip at random, scale to [0, 1], and return batches of 64 as PyTorch tensors. The DataLoader reads
the files with torchvision's ImageFolder and transforms and with Pillow, in persistent worker processes, as many as
there are cores. Stoker reads the same files, and then the records that `stoker pack` wrote from them.

  bench/against/run photographs --photos FOLDER [--records FOLDER] [--json FILE]
"""

import argparse
import glob
import json
import os
import platform
import statistics
import time

import PIL
import torch
import torchvision
from torchvision import transforms

import stoker as sk

BATCH = 64
SIDE = 224


def files_of(folder):
    paths, labels = [], []
    for label, name in enumerate(sorted(os.listdir(folder))):
        for path in sorted(glob.glob(os.path.join(glob.escape(os.path.join(folder, name)), "*"))):
            paths.append(path)
            labels.append(label)
    return paths, labels


def image(contents):
    decoded = sk.io.decode_jpeg(contents, channels=3, like="pillow")
    small = sk.image.resize(decoded, (SIDE, SIDE), like="pillow")
    return sk.cast(sk.image.random_flip_left_right(small), sk.float32) / 255.0


def stoker_files(folder):
    paths, labels = files_of(folder)
    ds = sk.Dataset.from_tensor_slices((paths, labels)).shuffle()
    return ds.map(lambda path, label: (image(sk.io.read_file(path)), label)).repeat().batch(BATCH).torch()


def stoker_records(folder):
    features = {"image": sk.io.FixedLenFeature([], sk.string), "label": sk.io.FixedLenFeature([], sk.int64)}

    def parse(record):
        parsed = sk.io.parse_single_example(record, features)
        return image(parsed["image"]), parsed["label"]

    shards = sorted(glob.glob(os.path.join(glob.escape(folder), "*.tfrecord")))
    return sk.data.TFRecordDataset(shards).map(parse).repeat().batch(BATCH).torch()


class Endless(torch.utils.data.Sampler):
    """Yield shuffled passes without a gap, so that the DataLoader does not pay for epoch boundaries."""

    def __init__(self, count):
        self.count = count

    def __iter__(self):
        while True:
            yield from torch.randperm(self.count).tolist()


def data_loader(folder, workers):
    transform = transforms.Compose([
        transforms.Resize((SIDE, SIDE)),
        transforms.RandomHorizontalFlip(),
        transforms.ToTensor(),
    ])
    images = torchvision.datasets.ImageFolder(folder, transform)
    return torch.utils.data.DataLoader(images, batch_size=BATCH, sampler=Endless(len(images)), num_workers=workers,
                                       persistent_workers=True, prefetch_factor=2)


def rate(batches, count):
    """Return the images per second over `count` batches."""
    begun = time.perf_counter()
    for _ in range(count):
        next(batches)
    return count * BATCH / (time.perf_counter() - begun)


def measure(loaders, rounds, count):
    rates = {name: [] for name in loaders}
    for _ in range(rounds):
        for name, make in loaders.items():
            batches = iter(make())  # a new one each time, so that no other loader runs during the measurement
            rate(batches, 2)
            rates[name].append(rate(batches, count))
            del batches
    return {name: statistics.median(values) for name, values in rates.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--photos", required=True)
    parser.add_argument("--records")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--batches", type=int, default=24)
    parser.add_argument("--json")
    given = parser.parse_args()
    torch.set_num_threads(1)
    cores = len(os.sched_getaffinity(0))
    sk.configure(workers=cores)

    loaders = {f"DataLoader, {cores} workers": lambda: data_loader(given.photos, cores),
               "stoker, files": lambda: stoker_files(given.photos)}
    if given.records:
        loaders["stoker, records"] = lambda: stoker_records(given.records)
    rates = measure(loaders, given.rounds, given.batches)
    peer = next(iter(rates.values()))
    figures = [{"name": name, "images_per_second": round(value, 1), "times_the_peer": round(value / peer, 2)}
               for name, value in rates.items()]
    for one in figures:
        print(f"{one['name']:28} {one['images_per_second']:10.1f} images/s {one['times_the_peer']:6.2f}")
    versions = {"torch": torch.__version__, "torchvision": torchvision.__version__, "pillow": PIL.__version__,
                "stoker": sk.__version__, "python": platform.python_version(), "cores": cores}
    if given.json:
        with open(given.json, "w") as file:
            json.dump({"benchmark": "against/photographs", "versions": versions, "figures": figures}, file, indent=2)


if __name__ == "__main__":
    main()

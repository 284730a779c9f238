"""Data files for the tests of the command: TFRecord, tf.train.Example, images, idx."""

import struct
import zlib


def crc32c(data, table=[]):
    if not table:
        for value in range(256):
            for _ in range(8):
                value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
            table.append(value)
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ table[(crc ^ byte) & 255]
    return crc ^ 0xFFFFFFFF


def masked(data):
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def records(path):
    """Yield the payloads of a TFRecord file. Raise AssertionError if a checksum is wrong."""
    return records_in(path.read_bytes())


def records_in(data):
    at = 0
    while at < len(data):
        size, size_sum = struct.unpack_from("<QI", data, at)
        payload = data[at + 12 : at + 12 + size]
        (payload_sum,) = struct.unpack_from("<I", data, at + 12 + size)
        assert (size_sum, payload_sum) == (masked(data[at : at + 8]), masked(payload)), f"byte {at}"
        yield payload
        at += size + 16


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 128:
            return (value - 2**64 if value >> 63 else value), at


def messages(data):
    """Yield the fields of a protobuf message of messages and bytes, as (number, bytes)."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        assert tag & 7 == 2, "expected a field of wire type 2"
        size, at = varint(data, at)
        yield tag >> 3, data[at : at + size]
        at += size


def only(data, number):
    ((found, value),) = messages(data)
    assert found == number, (found, number)
    return value


def example(payload):
    """Parse a tf.train.Example whose features are single bytes and int64 values."""
    features = {}
    for _, entry in messages(only(payload, 1)):
        (_, name), (_, feature) = messages(entry)
        ((kind, values),) = messages(feature)
        features[name.decode()] = only(values, 1) if kind == 1 else varint(only(values, 1), 0)[0]
    return features


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(*rows):
    header = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 0, 0, 0, 0)
    pixels = zlib.compress(b"".join(b"\0" + bytes(row) for row in rows))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


def number_png(number):
    return png([number // 256, number % 256])


# Grayscale, 2x3, progressive, as written by Pillow: pack keeps its bytes.
JPEG = bytes.fromhex(
    "ffd8ffe000104a46494600010100000100010000ffdb004300100b0c0e0c0a100e0d0e1211101318281a181616183123251d283a333d3c"
    "3933383740485c4e404457453738506d51575f626768673e4d71797064785c656763ffc2000b080002000301011100ffc4001400010000"
    "0000000000000000000000000000ffda00080101000000017fffc40014100100000000000000000000000000000000ffda000801010001"
    "05027fffc40014100100000000000000000000000000000000ffda0008010100063f027fffc40014100100000000000000000000000000"
    "000000ffda0008010100013f217fffda00080101000000107fffc40014100100000000000000000000000000000000ffda000801010001"
    "3f107fffd9"
)
# 1x2, as written by Pillow.
GIF = bytes.fromhex("474946383761 0200 0100 810000 0202027c7c7c000000000000 2c 00000000 0200 0100 00 08 05 0001040808 00 3b")
BMP = bytes.fromhex(
    "424d 3e000000 00000000 36000000 28000000 02000000 01000000 0100 1800 00000000 08000000 c40e0000 c40e0000"
    "00000000 00000000 030201 3264c8 0000"
)
WEBP = bytes.fromhex(
    "52494646 26000000 57454250 5650384c 1a000000 2f010000000f7001b13d26c8b60d6d3bd0e73fd80f1588e87f00"
)


def idx(values, *dims, kind=8):
    return bytes([0, 0, kind, len(dims)]) + struct.pack(f">{len(dims)}I", *dims) + bytes(values)


def frame(payload):
    """Frame a payload as a record of a TFRecord file."""
    size = struct.pack("<Q", len(payload))
    return size + struct.pack("<I", masked(size)) + payload + struct.pack("<I", masked(payload))


def message(number, data):
    return to_varint(number << 3 | 2) + to_varint(len(data)) + data


def to_varint(value):
    value %= 2**64
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def to_example(**features):
    """Serialize a tf.train.Example with features of bytes, ints or floats, or lists of them."""
    entries = b""
    for name, values in features.items():
        values = values if isinstance(values, list) else [values]
        if isinstance(values[0], bytes):
            feature = message(1, b"".join(message(1, value) for value in values))
        elif isinstance(values[0], float):
            feature = message(2, message(1, struct.pack(f"<{len(values)}f", *values)))
        else:
            feature = message(3, message(1, b"".join(map(to_varint, values))))
        entries += message(1, message(1, name.encode()) + message(2, feature))
    return message(1, entries)


def segment(marker, data):
    return bytes([0xFF, marker]) + struct.pack(">H", len(data) + 2) + data


def flat_jpeg(height, width, exif=b""):
    """Return a gray JPEG that can be decoded: all coefficients are 0, and both Huffman tables have one symbol."""
    blocks = -(-height // 8) * -(-width // 8)
    one_symbol = bytes([1] + [0] * 15 + [0])
    bits = "00" * blocks
    bits += "1" * (-len(bits) % 8)
    return (
        b"\xff\xd8"
        + (segment(0xE1, b"Exif\0\0" + exif) if exif else b"")
        + segment(0xDB, b"\0" + b"\1" * 64)
        + segment(0xC0, struct.pack(">BHHB", 8, height, width, 1) + b"\1\x11\0")
        + segment(0xC4, b"\0" + one_symbol)
        + segment(0xC4, b"\x10" + one_symbol)
        + segment(0xDA, b"\1\1\0\0\x3f\0")
        + int(bits, 2).to_bytes(len(bits) // 8, "big")
        + b"\xff\xd9"
    )


def orientation(value):
    """Return EXIF data with only the orientation of an image."""
    return b"II*\0" + struct.pack("<IHHHIHHI", 8, 1, 0x112, 3, 1, value, 0, 0)

#!/usr/bin/env python3
"""Compares the classes in a .npy file with the correct ones: check.py digit.npy [labels.npy]

Prints the share of correct classes. Exits with 1 if it is below 95 %, with 2 if the files cannot be
compared. Requires only Python.
"""

import array
import ast
import struct
import sys
from pathlib import Path

WANTED = 0.95


def read_classes(path):
    """The numbers of an npy file of int64[N], little-endian."""
    data = Path(path).read_bytes()
    if data[:6] != b"\x93NUMPY" or len(data) < 12:
        raise ValueError(f"{path}: not an npy file")
    # Version 1 has a length of two bytes before the header, later ones have four.
    size, start = ("<H", 10) if data[6] == 1 else ("<I", 12)
    end = start + struct.unpack_from(size, data, 8)[0]
    header = ast.literal_eval(data[start:end].decode().strip())
    if header["descr"] != "<i8" or len(header["shape"]) != 1:
        raise ValueError(f"{path}: expected int64[N], got {header['descr']} {header['shape']}")
    if len(data) - end != 8 * header["shape"][0]:
        raise ValueError(f"{path}: its length does not fit its shape {header['shape']}")
    numbers = array.array("q", data[end:])
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def fail(message):
    print(message, file=sys.stderr)
    sys.exit(2)


def main():
    if len(sys.argv) not in (2, 3):
        fail(__doc__.strip())
    labels_file = sys.argv[2] if len(sys.argv) == 3 else Path(__file__).with_name("labels.npy")
    try:
        digits, labels = read_classes(sys.argv[1]), read_classes(labels_file)
    except (OSError, ValueError, SyntaxError, KeyError) as error:
        fail(f"error: {error}")
    if len(digits) != len(labels):
        fail(f"error: {len(digits)} classes for {len(labels)} labels")
    right = sum(digit == label for digit, label in zip(digits, labels))
    print(f"{right} of {len(labels)} right ({right / len(labels):.1%})")
    sys.exit(0 if right >= WANTED * len(labels) else 1)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Writes and checks .npy files without NumPy.

    npy.py write FILE DESCR SHAPE [NUMBER...]     npy.py write x.npy '<f4' '(2,)' 0 1
    npy.py expect FILE DESCR SHAPE NUMBER...      exits with 1 if the file has other contents

The bits of the numbers in the file's dtype are compared. `write` accepts fewer numbers than SHAPE specifies, for
broken files.
"""

import ast
import struct
import sys

CODES = {"<f4": "f", "<f8": "d", "<i8": "q", "<i4": "i", "|u1": "B", "|b1": "?"}


def pack(descr, numbers):
    convert = float if "f" in descr else int
    return struct.pack(f"<{len(numbers)}{CODES[descr]}", *[convert(n) for n in numbers])


def main():
    command, path, descr, shape = sys.argv[1:5]
    data = pack(descr, sys.argv[5:])
    if command == "write":
        header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}"
        header += " " * (-(len(header) + 11) % 64) + "\n"
        with open(path, "wb") as file:
            file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)
        return 0
    with open(path, "rb") as file:
        found = file.read()
    end = 10 + struct.unpack_from("<H", found, 8)[0]
    header = ast.literal_eval(found[10:end].decode())
    if (header["descr"], header["shape"], found[end:]) == (descr, ast.literal_eval(shape), data):
        return 0
    print(header, struct.unpack(f"<{len(found[end:]) // struct.calcsize(CODES[descr])}{CODES[descr]}", found[end:]))
    return 1


sys.exit(main())

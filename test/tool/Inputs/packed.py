"""Ragged and sparse values in .npz files, without NumPy.

    packed.py write          writes the files for ragged.test
    packed.py expect FILE    checks an output of ragged.test
"""

import struct
import sys
import zipfile

CODES = {"<f4": "f", "<i8": "q", "<i4": "i"}


def npy(descr, shape, data):
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data


def array(descr, shape, *values):
    return npy(descr, shape, struct.pack(f"<{len(values)}{CODES[descr]}", *values))


def save(path, **members):
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name + ".npy", data)


def write():
    x = array("<f4", (5, 2), *range(10))
    save("seq.npz", **{"x": x, "x.offsets": array("<i8", (4,), 0, 2, 2, 5)})
    save("down.npz", **{"x": x, "x.offsets": array("<i8", (4,), 0, 3, 2, 5)})
    save("short.npz", **{"x": x, "x.offsets": array("<i4", (3,), 0, 2, 4)})
    save("lone.npz", x=x)
    with open("x.npy", "wb") as file:
        file.write(x)
    for path, format, rows, columns in (
        ("csr.npz", b"csr", 2, 3),
        ("wide.npz", b"csr", 2, 4),
        ("csc.npz", b"csc", 3, 2),
        ("tall.npz", b"csr", 5, 3),
    ):
        save(
            path,
            indices=array("<i4", (2,), 1, 0),
            indptr=array("<i4", (3,), 0, 1, 2),
            format=npy("|S3", (), format),
            shape=array("<i8", (2,), rows, columns),
            data=array("<f4", (2,), 1.5, 2),
        )


def expect(path):
    with zipfile.ZipFile(path) as archive:
        found = {name: archive.read(name) for name in archive.namelist()}
    assert sorted(found) == ["y.npy", "y.offsets.npy"], sorted(found)
    assert found["y.npy"].endswith(struct.pack("<10f", *range(0, 20, 2)))
    assert found["y.offsets.npy"].endswith(struct.pack("<4q", 0, 2, 2, 5))


if sys.argv[1] == "write":
    write()
else:
    expect(sys.argv[2])

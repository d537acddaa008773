#!/usr/bin/env python3
"""Opens damaged files of all formats with pdl in its sandbox.

    hostile_files.py PDL [--count=N] [--first=N] [--jobs=N] [--keep=FOLDER] [--verbose]

File number N is always the same for the same tree: a seed (a source, a compiled network, an ONNX model and its external
data, a table, arrays, weights and their index, a checkpoint) with a few random changes. Each command must end
within SECONDS of processor time and WALL seconds, with a documented status: 0 to 3, and a message if it is not 0. Its
memory must stay below the memory limit that it is given plus EXTRA_BYTES. --keep writes files that fail into a folder.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import random
import re
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/faults"))
import common  # noqa: E402

SECONDS, WALL = 20, 120
LIMIT_BYTES, EXTRA_BYTES = 64 << 20, 200 << 20
NUMBERS = [0, 1, -1, 2, 7, 127, 255, 2**15, 2**31 - 1, -2**31, 2**31, 2**32 - 1, 2**53, 2**62, 2**63 - 1, -2**63]
DIGITS = b"0123456789"


def npy(dtype, values, shape, order=False):
    """An array in NumPy's format; the dtype as in Python's `struct`, f or q."""
    name = {"f": "<f4", "q": "<i8"}[dtype]
    header = f"{{'descr': '{name}', 'fortran_order': {order}, 'shape': {shape}, }}".encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    return (b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header
            + struct.pack(f"<{len(values)}{dtype}", *values))


class Seeds:
    """The seeds of each format: (folder of the files beside it or None, name, bytes), and the commands that read them."""

    def __init__(self, pdl, folder):
        self.place = common.Workplace(pdl, folder)
        self.by_format = collections.defaultdict(list)
        inputs = [f"--input={name}=random" for name in ("x", "t")]
        limit = f"--memory-limit={LIMIT_BYTES}"
        self.commands = {
            "source": [["check", "-v"], ["run", limit, "INPUTS"], ["dump", "--emit=plan"], ["memory"], ["test"],
                       ["compile", "--output=out/made.pdlc"]],
            "compiled": [["check", "-v"], ["run", limit, "--size=N=2", *inputs], ["dump", "--emit=pdl"],
                         ["export", "--output=out/made.onnx"]],
            "onnx": [["check", "-v"], ["run", limit, "--size=N=2", *inputs], ["import", "--output=out/made.pdl"]],
            "table": [["train", "dense.pdl", "--steps=1", limit, "--out=out/run", "--data=FILE"]],
            "arrays": [["train", "dense.pdl", "--steps=1", limit, "--out=out/run", "--data=FILE"]],
            "array": [["run", "dense.pdl", limit, "--output=best", "--input=t=[0]", "--input=x=FILE"]],
            "weights": [["run", "dense.pdl", limit, "--size=N=2", *inputs, "--output=best", "--weights=FILE"]],
            "index": [["run", "dense.pdl", limit, "--size=N=2", *inputs, "--output=best", "--weights=FILE"]],
            "checkpoint": [["train", "dense.pdl", "--data=data.csv", "--epochs=2", limit, "--resume",
                            "--out=dense.run"]],
            "external": [["run", "dense.onnx", limit, "--size=N=2", *inputs]],
        }
        self.add_networks()
        self.add_data()
        self.formats = sorted(self.by_format)

    def add_networks(self):
        for folder in ("examples", "test/networks", "test/layers", "test/round_trip", "test/broken"):
            for path in sorted((ROOT / folder).rglob("*.pdl")):
                if path.stat().st_size < 20_000:
                    self.by_format["source"].append((path.name, path.read_bytes()))
        for name in common.NETWORKS:
            self.add("compiled", f"{name}.pdlc")
            if name in common.EXPORTED:
                self.add("onnx", f"{name}.onnx")
        # Test cases of the ONNX project, if they have been fetched.
        cases = (ROOT / "build/onnx-1.22.0/onnx/backend/test/data/node").glob("*/model.onnx")
        for path in sorted(cases)[::5]:
            self.by_format["onnx"].append((f"{path.parent.name}.onnx", path.read_bytes()))

    def add_data(self):
        self.add("table", "data.csv")
        self.add("checkpoint", "dense.run/last.safetensors")
        self.add("weights", "dense.run/last.safetensors", "given.safetensors")
        for path in sorted(self.place.folder.glob("dense.onnx*")):
            if path.suffix != ".onnx":
                self.add("external", path.name)
        weights = self.place.before["dense.run/last.safetensors"]
        self.place.keep("part.safetensors", weights)
        header = json.loads(weights[8:8 + int.from_bytes(weights[:8], "little")])
        index = {"metadata": {"total_size": len(weights)},
                 "weight_map": {name: "part.safetensors" for name in header if name != "__metadata__"}}
        self.by_format["index"].append(("given.safetensors.index.json", json.dumps(index).encode()))
        values = [i / 8 for i in range(64)]
        for order in (False, True):
            self.by_format["array"].append(("given.npy", npy("f", values, (4, 16), order)))
        for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            path = self.place.folder / "given.npz"
            with zipfile.ZipFile(path, "w", method) as file:
                file.writestr("x.npy", npy("f", values, (4, 16)))
                file.writestr("t.npy", npy("q", [0, 1, 2, 0], (4,)))
            self.by_format["arrays"].append((path.name, path.read_bytes()))
            path.unlink()

        for path in sorted((ROOT / "test/cc/data").iterdir()):
            kind = {".npy": "array", ".npz": "arrays", ".safetensors": "weights"}.get(path.suffix)
            if kind:
                self.by_format[kind].append((path.name, path.read_bytes()))

    def add(self, kind, path, name=None):
        self.by_format[kind].append((name or path, (self.place.folder / path).read_bytes()))


def change(data, other, numbers):
    """One random change of bytes."""
    data = bytearray(data)
    at, length = numbers.randrange(len(data) + 1), numbers.choice([1, 2, 4, 8, numbers.randrange(1, 200)])
    # Most changes keep the size, since a file that is too short or too long is rejected early.
    kind = numbers.choice([5, 6, 6, 7, 7, 8, 8, numbers.randrange(10)])
    if kind == 0:
        del data[at:at + length]
    elif kind == 1:
        data[at:at] = data[numbers.randrange(len(data) + 1):][:length]
    elif kind == 2:
        data[at:at] = bytes(data[at:at + length]) * numbers.choice([2, 10, 1000])
    elif kind == 3:
        data[at:at + length] = other[numbers.randrange(len(other) + 1):][:numbers.choice([length, 2 * length, 1000])]
    elif kind == 4:
        del data[at:]
    elif kind == 5:
        data[at:at + length] = numbers.randbytes(length)
    elif kind == 6 and data:
        data[min(at, len(data) - 1)] ^= 1 << numbers.randrange(8)
    elif kind == 7:
        number = numbers.choice(NUMBERS) % 2**64
        size = numbers.choice([1, 2, 4, 8])
        data[at:at + size] = (number % 2**(8 * size)).to_bytes(size, numbers.choice(["little", "big"]))
    elif kind == 8:
        # A decimal number, or a varint of a message.
        begin = next((i for i in range(at, len(data)) if data[i] in DIGITS), None)
        if begin is None:
            data[at:at] = b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
        else:
            end = next((i for i in range(begin, len(data)) if data[i] not in DIGITS), len(data))
            data[begin:end] = str(numbers.choice(NUMBERS)).encode()
    else:
        data[at:at] = numbers.choice([b"[", b"((", b"{", b"]", b"\"", b"\0", b"\xed\xa0\x80", b"\xe2\x80\xae", b"~",
                                      b"**", b"<script>", b"../../../etc/passwd", b"/etc/passwd", b"%s%n"])
    return bytes(data)


def inputs_of(source):
    """Arguments of `pdl run` for the inputs and symbols of a source."""
    declarations = re.findall(r"^input (\w+): *(\S*\[.*?\])", source, re.MULTILINE)
    symbols = sorted({symbol for _, type_ in declarations for symbol in re.findall(r"\b[A-Z]\w*", type_)})
    names = dict.fromkeys(name for name, _ in declarations)
    return [f"--input={name}=random" for name in names] + [f"--size={symbol}=2" for symbol in symbols]


class Failure(Exception):
    pass


def examine(done, peak, limit):
    """Raises Failure if a command did not end as it must."""
    if done.returncode not in (0, 1, 2, 3):
        raise Failure(f"status {done.returncode}")
    if done.returncode != 0 and not any(word in done.stdout + done.stderr for word in ("error:", "FAIL", "failed")):
        raise Failure(f"status {done.returncode} without a message")
    if "internal error" in done.stderr:
        raise Failure("an internal error")
    if peak > limit:
        raise Failure(f"{peak >> 20} MiB of memory")


seeds = None
folder = None  # of this process


def start(pdl):
    global seeds, folder
    folder = tempfile.TemporaryDirectory(prefix="pdl-hostile-")
    seeds = Seeds(pdl, folder.name)


def limit_processor():
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def attempt(number):
    """Makes and opens file number `number`: (number, format, command, status, failure, message, bytes, peak)."""
    numbers = random.Random(number)
    kind = numbers.choice(seeds.formats)
    name, original = numbers.choice(seeds.by_format[kind])
    _, other = numbers.choice(seeds.by_format[kind])
    data = original
    for _ in range(numbers.choice([1, 1, 1, 2, 4, 16])):
        data = change(data, other, numbers)
    file = seeds.place.folder / name
    file.write_bytes(data)
    (seeds.place.folder / "out").mkdir(exist_ok=True)
    command = numbers.choice(seeds.commands[kind])
    if kind in ("source", "compiled", "onnx"):
        command = [command[0], name, *command[1:]]
    command = [part.replace("FILE", name) for part in command if part != "INPUTS"]
    if command[0] == "run" and kind == "source":
        command += inputs_of(original.decode(errors="replace"))
    command.append("--sandbox")
    failure, status, stderr = None, None, ""
    # The peak of the largest child so far: if this one is too large, the maximum has just grown beyond the limit.
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss << 10
    try:
        done = subprocess.run([seeds.place.pdl, *command], cwd=seeds.place.folder, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, errors="replace", timeout=WALL,
                              preexec_fn=limit_processor)
        status, stderr = done.returncode, done.stderr
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss << 10
        examine(done, peak if peak > before else 0, LIMIT_BYTES + EXTRA_BYTES)
    except subprocess.TimeoutExpired:
        failure = f"does not end within {WALL} s"
    except Failure as error:
        failure = str(error)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss << 10
    shutil.rmtree(seeds.place.folder / "out", ignore_errors=True)
    seeds.place.restore()
    if name not in seeds.place.everything:
        file.unlink(missing_ok=True)
    return number, kind, command, status, failure, stderr[-500:], data if failure else b"", peak


def has_sandbox(pdl):
    done = subprocess.run([pdl, "check", "--sandbox", "-"], input="", capture_output=True, text=True)
    return done.returncode != 3


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("pdl", type=os.path.abspath)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    if not has_sandbox(options.pdl):
        print("skipped: the kernel has no Landlock")
        sys.exit(77)
    statuses, failures, largest = collections.defaultdict(collections.Counter), 0, 0
    with concurrent.futures.ProcessPoolExecutor(options.jobs, initializer=start, initargs=(options.pdl,)) as pool:
        tasks = range(options.first, options.first + options.count)
        for number, kind, command, status, failure, message, data, peak in pool.map(attempt, tasks, chunksize=8):
            statuses[kind][status] += 1
            largest = max(largest, peak)
            if options.verbose:
                print(number, kind, status, " ".join(command))
            if failure is None:
                continue
            failures += 1
            print(f"file {number}: pdl {' '.join(command)}: {failure}\n{message}", file=sys.stderr, flush=True)
            if options.keep:
                options.keep.mkdir(parents=True, exist_ok=True)
                (options.keep / f"{number}.{kind}").write_bytes(data)
    for kind in sorted(statuses):
        print(f"{kind:12}", ", ".join(f"{count} with status {status}" for status, count in
                                      sorted(statuses[kind].items(), key=str)))
    print(f"{options.count} files, {failures} failures; the largest process took {largest >> 20} MiB")
    sys.exit(failures != 0)


if __name__ == "__main__":
    main()

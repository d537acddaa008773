#!/usr/bin/env python3
"""Helpers for the tests of `pdl train`.

    training.py points ROWS SEED FILE.csv     points near t = 2 x[0] - x[1] + 0.5
    training.py npy ROWS FOLDER               the same as arrays, in files of a folder
    training.py sentences ROWS FOLDER         sequences of numbers, each tagged by whether it is less than the one before it
    training.py copies ROWS FOLDER            five digits, a 10, and the same digits again
    training.py clicks ROWS FOLDER            crossed features, a sparse matrix, features, and clicks
    training.py words ROWS SIZE FOLDER        four numbers below SIZE, some of them equal, and a weight
    training.py same_rows A B                 compares the common rows of the tensors of two checkpoints
    training.py lazy_adam ROWS SIZE BATCH A   compares a table, initially zeros, with an implementation of lazy Adam
    training.py unmeasured CHECKPOINT         as if the run had been killed before it measured the part of its epoch
    training.py metrics FILE.jsonl            prints a file of metrics, without times
    training.py events FILE                   prints an event file, and checks its checksums
    training.py peak FILE.svg                 prints the distance in pixels from the peak of a curve to that of its points
    training.py broken_off KILLS COMMAND...   runs the command, kills it at random times, and restarts it
    training.py terminal COMMAND...           runs it in a terminal of 60 columns, and prints each state of the last line
    training.py interrupted COMMAND...        runs it, and sends Ctrl-C after the first epoch
    training.py twice COMMAND...              runs it for many epochs, again with --resume after the first one, and once more after killing the first run
    training.py interrupted_twice COMMAND...  runs it, with long steps, and sends Ctrl-C twice during the first step
"""

import array
import fcntl
import glob
import json
import os
import pty
import random
import re
import signal
import struct
import subprocess
import sys
import termios
import time
import zipfile


def make_points(rows, seed):
    draw = random.Random(seed)
    for _ in range(rows):
        a, b = draw.uniform(-1, 1), draw.uniform(-1, 1)
        yield a, b, 2 * a - b + 0.5 + draw.gauss(0, 0.01)


def write_points(rows, seed, path):
    with open(path, "w", encoding="ascii") as file:
        file.write("x[0],x[1],t\n")
        for a, b, t in make_points(int(rows), int(seed)):
            file.write(f"{a:.6f},{b:.6f},{t:.6f}\n")


def npy_bytes(descr, shape, data):
    header = str({"descr": descr, "fortran_order": False, "shape": shape}).encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data


def array_bytes(shape, numbers, code="f"):
    return npy_bytes({"f": "<f4", "q": "<i8"}[code], shape, array.array(code, numbers).tobytes())


def write_array(path, shape, numbers, code="f"):
    with open(path, "wb") as file:
        file.write(array_bytes(shape, numbers, code))


def write_folder(rows, folder):
    os.makedirs(folder)
    points = list(make_points(int(rows), 1))
    write_array(f"{folder}/x.npy", (len(points), 2), [v for a, b, _ in points for v in (a, b)])
    write_array(f"{folder}/t.npy", (len(points),), [t for _, _, t in points])


def write_sentences(rows, folder):
    os.makedirs(folder)
    draw = random.Random(1)
    words, tags, offsets = [], [], [0]
    for _ in range(int(rows)):
        sentence = [draw.randrange(20) for _ in range(draw.randint(1, 6))]
        words += sentence
        tags += [2] + [int(a > b) for a, b in zip(sentence, sentence[1:])]
        offsets.append(len(words))
    for name, numbers in (("word", words), ("tag", tags)):
        write_array(f"{folder}/{name}.npy", (len(numbers),), numbers, "q")
        write_array(f"{folder}/{name}.offsets.npy", (len(offsets),), offsets, "q")


def write_copies(rows, folder):
    os.makedirs(folder)
    draw = random.Random(1)
    tokens = []
    for _ in range(int(rows)):
        digits = [draw.randrange(10) for _ in range(5)]
        tokens += digits + [10] + digits
    write_array(f"{folder}/token.npy", (int(rows), 11), tokens, "q")


def write_clicks(rows, folder):
    """A click depends on the pair of user and item; each row has their crossed feature, and an irrelevant feature."""
    os.makedirs(folder)
    draw = random.Random(1)
    crosses, offsets, features, clicked = [], [0], [], []
    for _ in range(int(rows)):
        user, item = draw.randrange(20), draw.randrange(20)
        crosses += [user * 20 + item, 400 + draw.randrange(100)]
        offsets.append(len(crosses))
        features += [user, 20 + item]
        clicked.append(float((user * 7 + item * 3) % 5 < 2))
    write_array(f"{folder}/cross.npy", (len(crosses),), [1.0] * len(crosses))
    write_array(f"{folder}/cross.indices.npy", (len(crosses),), crosses, "q")
    write_array(f"{folder}/cross.offsets.npy", (len(offsets),), offsets, "q")
    write_array(f"{folder}/feature.npy", (len(clicked), 2), features, "q")
    write_array(f"{folder}/clicked.npy", (len(clicked),), clicked)
    # Pairs to predict, in SciPy's format: user 1 clicks item 1, and does not click item 2.
    members = {
        "data": array_bytes((2,), [1.0, 1.0]),
        "indices": array_bytes((2,), [21, 22], "q"),
        "indptr": array_bytes((3,), [0, 1, 2], "q"),
        "shape": array_bytes((2,), [2, 500], "q"),
        "format": npy_bytes("|S3", (), b"csr"),
    }
    with zipfile.ZipFile(f"{folder}/pairs.npz", "w") as file:
        for name, data in members.items():
            file.writestr(name + ".npy", data)


def make_words(rows, size):
    draw = random.Random(3)
    for _ in range(rows):
        words = [draw.randrange(size) for _ in range(3)]
        yield words + words[:1], draw.uniform(-1, 1)


def write_words(rows, size, folder):
    os.makedirs(folder)
    made = list(make_words(int(rows), int(size)))
    write_array(f"{folder}/word.npy", (len(made), 4), [word for words, _ in made for word in words], "q")
    write_array(f"{folder}/weight.npy", (len(made),), [weight for _, weight in made])


def read_tensors(path):
    """(dtype, dims, bytes) of each tensor of a safetensors file."""
    with open(path, "rb") as file:
        data = file.read()
    (size,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8 : 8 + size])
    header.pop("__metadata__", None)
    return {
        name: (entry["dtype"], entry["shape"], data[8 + size :][slice(*entry["data_offsets"])])
        for name, entry in header.items()
    }


def same_rows(a, b):
    a, b = read_tensors(a), read_tensors(b)
    assert a.keys() == b.keys()
    for name in a:
        shared = min(len(a[name][2]), len(b[name][2]))
        assert a[name][2][:shared] == b[name][2][:shared], f"{name} differs"
    print(f"{len(a)} tensors with the same rows")


def lazy_adam(rows, size, batch, path):
    """The loss is the sum of the rows of each word, times its weight, so the gradient of a row is the weight."""
    batch, rate, beta1, beta2, eps = int(batch), 0.01, 0.9, 0.999, 1e-8
    size = int(size)
    table = [0.0] * size
    first, second = [0.0] * size, [0.0] * size
    made = list(make_words(int(rows), size))
    for step, begin in enumerate(range(0, len(made), batch), 1):
        gradient = {}
        for words, weight in made[begin : begin + batch]:
            for word in words:
                gradient[word] = gradient.get(word, 0.0) + weight
        for row, g in gradient.items():
            first[row] = beta1 * first[row] + (1 - beta1) * g
            second[row] = beta2 * second[row] + (1 - beta2) * g * g
            change = rate * first[row] / (1 - beta1**step) / ((second[row] / (1 - beta2**step)) ** 0.5 + eps)
            table[row] -= change
    ((_, (_, width), data),) = (v for name, v in read_tensors(path).items() if name.endswith("table"))
    worst = max(
        abs(found - wanted)
        for row, wanted in zip(struct.iter_unpack(f"<{width}f", data), table)
        for found in row
    )
    assert worst < 1e-5, worst
    print(f"step {step}, {sum(m != 0 for m in first)} of {size} rows used")


def unmeasured(path):
    with open(path, "rb") as file:
        data = file.read()
    data, count = re.subn(rb'\\"measured_batch\\":\d+,', lambda found: b" " * len(found.group()), data)
    assert count == 1
    with open(path, "wb") as file:
        file.write(data)


def print_metrics(path):
    for line in open(path, encoding="utf-8"):
        fields = json.loads(line)
        assert fields.pop("time") > 1.6e9
        fields.pop("rows_per_second", None)
        print(json.dumps(fields, sort_keys=True))


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def check(data, stored):
    crc = crc32c(data)
    masked = ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF
    assert masked == struct.unpack("<I", stored)[0], "a checksum is wrong"


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if not data[at - 1] & 0x80:
            return value, at


def fields_of(data):
    """(number, value) of each field of a protobuf message."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(data, at)
        else:
            size, at = {1: (8, at), 5: (4, at)}.get(kind) or varint(data, at)
            value, at = data[at : at + size], at + size
        yield key >> 3, value


def print_events(pattern):
    (path,) = glob.glob(pattern)
    data = open(path, "rb").read()
    at = 0
    while at < len(data):
        (size,) = struct.unpack_from("<Q", data, at)
        check(data[at : at + 8], data[at + 8 : at + 12])
        event = data[at + 12 : at + 12 + size]
        check(event, data[at + 12 + size : at + 16 + size])
        at += 16 + size
        fields = dict(fields_of(event))
        assert struct.unpack("<d", fields[1])[0] > 1.6e9
        step = fields.get(2, 0)
        if 3 in fields:
            print("version", fields[3].decode())
        if 7 in fields:
            print("restart", step)
        for _, value in fields_of(fields.get(5, b"")):
            scalar = dict(fields_of(value))
            print(step, scalar[1].decode(), f"{struct.unpack('<f', scalar[2])[0]:.4g}")


def peak(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    tops = []
    for points in re.findall(r'stroke-width="[12]" d="M([^"]+)"', text):
        pairs = [pair.split() for pair in points.split("L")]
        if len(pairs) > 20:
            tops.append(min(float(y) for _, y in pairs))
    thin, thick = tops
    print(f"{thick - thin:.0f} pixels")


def broken_off(kills, command):
    """Kills runs at random times, until the given number was killed; the last one completes."""
    begin = time.monotonic()
    subprocess.run(command + ["--out", "undisturbed"], check=True, stderr=subprocess.DEVNULL)
    whole = time.monotonic() - begin
    draw = random.Random()
    killed = 0
    while killed < int(kills):
        process = subprocess.Popen(command + ["--resume"], stderr=subprocess.DEVNULL)
        time.sleep(draw.uniform(0, whole))
        process.send_signal(signal.SIGKILL)
        if process.wait() == -signal.SIGKILL:
            killed += 1
            continue
        # It completed before it was killed: try again.
        for name in os.listdir("run"):
            os.remove(os.path.join("run", name))
    subprocess.run(command + ["--resume"], check=True, stderr=subprocess.DEVNULL)
    temporaries = [name for name in os.listdir("run") if name.endswith(".tmp")]
    print(f"killed {killed} times, {len(temporaries)} temporary files left")


def terminal(command):
    controller, end = pty.openpty()
    fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 60, 0, 0))
    process = subprocess.Popen(command, stderr=end)
    os.close(end)
    shown = b""
    while True:
        try:
            shown += os.read(controller, 4096)
        except OSError:  # the other end is closed
            break
    process.wait()
    for line in shown.decode().replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        print(line.replace("\033[K", "<erase>"))


def interrupted(command):
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    for line in process.stderr:
        sys.stdout.write(line)
        if line.startswith("epoch"):
            process.send_signal(signal.SIGINT)
            break
    sys.stdout.write(process.stderr.read())
    print("status", process.wait())


def twice(command):
    with subprocess.Popen([*command, "--epochs=1000000"], stderr=subprocess.PIPE, text=True) as first:
        while not first.stderr.readline().startswith("epoch"):
            pass
        for other in [["--resume"], ["--overwrite"], ["--resume"]]:
            second = subprocess.run([*command, *other, "--epochs=1"], stderr=subprocess.PIPE, text=True)
            sys.stdout.write(f"status {second.returncode}: {second.stderr}")
            if other == ["--overwrite"]:
                first.kill()
                first.wait()


def interrupted_twice(command):
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    sys.stdout.write(process.stderr.readline())
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    time.sleep(0.5)
    assert process.poll() is None, "the first one waits for the end of the step"
    process.send_signal(signal.SIGINT)
    sys.stdout.write(process.stderr.read())
    assert process.wait() == -signal.SIGINT, process.returncode
    print("ended at once")


def main():
    what, *arguments = sys.argv[1:]
    if what == "broken_off":
        broken_off(arguments[0], arguments[1:])
    elif what == "terminal":
        terminal(arguments)
    elif what == "interrupted":
        interrupted(arguments)
    elif what == "twice":
        twice(arguments)
    elif what == "interrupted_twice":
        interrupted_twice(arguments)
    else:
        {
            "points": write_points,
            "npy": write_folder,
            "sentences": write_sentences,
            "copies": write_copies,
            "clicks": write_clicks,
            "words": write_words,
            "same_rows": same_rows,
            "lazy_adam": lazy_adam,
            "unmeasured": unmeasured,
            "metrics": print_metrics,
            "events": print_events,
            "peak": peak,
        }[what](*arguments)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Checks the examples of the pages that `pdl explain --all --format=markdown` prints.

    check_explanations.py PROGRAM

Every code has a wrong and a right example, see ir/explanations.def. Programs are compiled and commands are run; the
wrong ones must print their code and no other, the right ones must succeed. The edit that the error of a wrong one
suggests (`suggestion` in its JSON) must give a program without errors. Prints how many were checked.
"""

import io
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
import zipfile

PAGE = re.compile(r"^## (PDL\d{4}): [^\n]*\n(.*?)(?=^## |\Z)", re.M | re.S)
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)
MARK = re.compile(r"\s+(?:#|//) (wrong|right)(?:: (?P<reason>.*))?$")
# Codes whose examples cannot be run here: they need another language, a device or somebody who presses Ctrl-C.
SKETCHES = {"PDL0507", "PDL0509", "PDL0510", "PDL0511", "PDL0513"}
# Codes whose wrong example has a suggestion: the others have several corrections, or none that is one edit.
SUGGESTED = {"PDL0001", "PDL0002", "PDL0005", "PDL0006", "PDL0010", "PDL0011", "PDL0101", "PDL0108", "PDL0201", "PDL0302",
             "PDL0303", "PDL0312"}


def mark_of(line):
    """The mark of a line, "wrong", "right" or none, and the line without it."""
    found = MARK.search(line)
    return (found.group(1), line[: found.start()]) if found else (None, line)


def npy(descr, sizes, data):
    """The bytes of an .npy file."""
    shape = "(" + "".join(f"{size}," for size in sizes) + ")"
    head = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}"
    head += " " * (-(len(head) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + data


def rows(columns, count=8):
    """The bytes of an .npz file with `count` rows: x, f32[count, columns], and label, i64[count]."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        values = struct.pack(f"<{columns * count}f", *[0.5] * (columns * count))
        archive.writestr("x.npy", npy("<f4", (count, columns), values))
        archive.writestr("label.npy", npy("<i8", (count,), struct.pack(f"<{count}q", *[1] * count)))
    return file.getvalue()


def write_files(folder):
    """Writes the files that the examples read."""
    head = json.dumps({"w": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}).encode()
    files = {
        "parts.pdl": b"layer twice(x: F[...]) { return 2 * x }\n",
        "latin1.pdl": "# für\ninput x: f32[N]\n".encode("latin1"),
        "x.npy": npy("<f4", (2,), struct.pack("<2f", 0.5, 1.5)),
        "weights.safetensors": struct.pack("<Q", len(head)) + head + struct.pack("<2f", 1, 2),
        "damaged.pdlc": b"\x08\x01\xff\xff",
        "text.so": b"not a library\n",
        "two_columns.npz": rows(2),
        "three_columns.npz": rows(3),
    }
    for name, data in files.items():
        with open(os.path.join(folder, name), "wb") as file:
            file.write(data)


class Checker:
    def __init__(self, program, folder):
        self.folder, self.failures, self.checked = folder, [], 0
        self.suggested = set()
        bin_folder = os.path.join(folder, "bin")
        os.mkdir(bin_folder)
        os.symlink(os.path.abspath(program), os.path.join(bin_folder, "pdl"))
        self.environment = dict(os.environ, PATH=bin_folder + os.pathsep + os.environ["PATH"])

    def run(self, command):
        done = subprocess.run(["bash", "-c", command], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
        self.checked += 1
        return done.returncode, done.stdout.decode(errors="replace")

    def expect(self, code, kind, what, status, said):
        # The examples are too short to use all of their names.
        codes = set(re.findall(r"\[(PDL\d{4})\]", said)) - ({"PDL0107"} - {code})
        if kind == "wrong" and codes != {code}:
            self.failures.append(f"{code}: the wrong example gives {sorted(codes) or 'no code'}:\n{what}\n{said}")
        if kind != "wrong" and (status != 0 or codes):
            self.failures.append(f"{code}: the right example fails:\n{what}\n{said}")

    def program(self, code, text):
        """Compiles the programs of an example, and leaves the right one in model.pdl."""
        marked = [mark_of(line) for line in text.splitlines()]
        for kind in ("wrong", "right"):
            if kind == "wrong" and not any(mark == kind for mark, _ in marked):
                continue
            lines = [line for mark, line in marked if mark in (None, kind)]
            with open(os.path.join(self.folder, "model.pdl"), "w", encoding="utf-8") as file:
                file.write("\n".join(lines) + "\n")
            status, said = self.run("pdl check model.pdl")
            self.expect(code, kind, "\n".join(lines), status, said)
            if kind == "wrong":
                self.correct(code)

    def correct(self, code):
        """Applies the suggestion of the error in model.pdl, if it has one."""
        _, said = self.run("pdl check --diagnostics=json model.pdl")
        edits = [d["suggestion"] for d in map(json.loads, said.splitlines()) if "suggestion" in d and d["code"] == code]
        if not edits:
            return
        self.suggested.add(code)
        path = os.path.join(self.folder, "model.pdl")
        with open(path, "rb") as file:
            text = file.read()
        begin, end = (edits[0]["range"][edge]["offset"] for edge in ("start", "end"))
        text = text[:begin] + edits[0]["replacement"].encode() + text[end:]
        with open(path, "wb") as file:
            file.write(text)
        status, said = self.run("pdl check model.pdl")
        if status != 0:
            self.failures.append(f"{code}: the suggestion leads to another error:\n{text.decode()}\n{said}")

    def console(self, code, text):
        """Runs the commands, up to one that needs a compiler."""
        for line in text.splitlines():
            mark, command = mark_of(line)
            if not command.startswith("$ "):
                self.failures.append(f"{code}: not a command: {line}")
                continue
            if command.startswith("$ c++ "):
                return
            status, said = self.run(command.removeprefix("$ "))
            self.expect(code, mark or "right", command, status, said)

    def page(self, code, text):
        marks = [mark_of(line)[0] for _, block in BLOCK.findall(text) for line in block.splitlines()]
        for kind in ("wrong", "right"):
            if kind not in marks:
                self.failures.append(f"{code}: there is no example that is {kind}")
        before = self.checked
        for language, block in BLOCK.findall(text):
            if language == "pdl":
                self.program(code, block)
            elif language == "console":
                self.console(code, block)
        if (self.checked == before) != (code in SKETCHES):
            self.failures.append(f"{code}: {self.checked - before} examples can be run, see SKETCHES")


def main():
    program = sys.argv[1]
    text = subprocess.run([program, "explain", "--all", "--format=markdown"], check=True, capture_output=True,
                          text=True).stdout
    listed = subprocess.run([program, "explain"], check=True, capture_output=True, text=True).stdout
    pages = PAGE.findall(text)
    assert [code for code, _ in pages] == [line.split()[0] for line in listed.splitlines()]
    with tempfile.TemporaryDirectory() as folder:
        write_files(folder)
        checker = Checker(program, folder)
        for code, page in pages:
            checker.page(code, page)
    if checker.suggested != SUGGESTED:
        checker.failures.append(f"suggestions: {sorted(checker.suggested ^ SUGGESTED)} differ from SUGGESTED")
    print(f"{len(pages)} codes, {checker.checked} examples")
    for failure in checker.failures:
        print(failure)
    return 1 if checker.failures else 0


if __name__ == "__main__":
    sys.exit(main())

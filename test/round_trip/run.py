#!/usr/bin/env python3
"""Checks that the files written by `pdl compile` and `pdl dump --emit=pdl` contain the same network.

usage: run.py PDL ROOT [PART]

Tests each network under ROOT (those of test/round_trip, the examples, the networks and layers of the tests, and
the examples in the documentation), or those with PART in their path. `pdl check` must accept the compiled file and
the emitted source, storing and emitting them again must not change them, and their results must have the same bits.
A network for which no random inputs can be generated is not run.
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

FOLDERS = ["examples", "test/networks", "test/layers", "test/round_trip", "test/frontend", "test/digits"]
WORDS = ["in", "sparse", "bool", "min", "max"]
PAGES = ["README.md", "docs", "examples"]
# Networks with more would not fit into memory twice.
MOST_PARAMETERS = 10**9
# Common sizes for all symbols of a network.
SIZES = [4, 8, 3, 16, 1, 28, 32]


def texts_of_pages(root, folder):
    """Writes the examples of the documentation, with the files that they import; yields their paths."""
    pages = [path for name in PAGES for path in ([root / name] if name.endswith(".md") else (root / name).rglob("*.md"))]
    for page in sorted(pages):
        target = folder / page.relative_to(root).with_suffix("")
        blocks = re.findall(r"^```pdl([^\n]*)\n(.*?)^```", page.read_text(), flags=re.M | re.S)
        for number, (words, text) in enumerate(blocks):
            if "error" in words.split():
                continue
            target.mkdir(parents=True, exist_ok=True)
            named = re.search(r"file=(\S+)", words)
            path = target / (named.group(1) if named else f"block{number}.pdl")
            path.write_text(text)
            if not named:
                yield path


def ragged_value(declared, size):
    """A value for `-i` of a dense or ragged type, as lists; None for another type."""
    match = re.fullmatch(r"(\w+)\[(.*)\](?: in 0\.\.(\d+))?", declared)
    if not match or "//" in match[2] or "min" in match[2]:
        return None
    dims = match[2].split(", ") if match[2] else []
    counter = iter(range(1_000_000))

    def element():
        n = next(counter)
        if match[1] == "bool":
            return n % 3 == 0
        return n * 5 % int(match[3] or 7) if match[1][0] in "iu" else (n * 37 % 100 - 50) / 32

    def build(dims, row):
        if not dims:
            return element()
        # Equal ragged dims have equal lengths.
        length = (2 * row + 2) % 5 if dims[0][0] == "~" else int(dims[0]) if dims[0].isdigit() else size
        return [build(dims[1:], i) for i in range(length)]

    return json.dumps(build(dims, 0))


class Trip:
    def __init__(self, pdl, path):
        self.pdl, self.path = pdl, path
        self.sizes = SIZES  # for all symbols; those that fit, once they are known

    def run(self, *arguments, ok=(0,)):
        done = subprocess.run([self.pdl, *map(str, arguments)], capture_output=True, cwd=self.path.parent,
                              timeout=300)
        if ok and done.returncode not in ok:
            raise RuntimeError(f"pdl {' '.join(map(str, arguments))}: status {done.returncode}\n"
                               + done.stderr.decode(errors="replace")[:3000])
        return done

    def compare(self, flat, other):
        """True where the two give the same results; None where no input of random numbers fits."""
        inputs = re.findall(r"^input (\w+): (.*)$", flat, flags=re.M)
        names = {name for _, declared in inputs for name in re.findall(r"(?<!~)\b[A-Za-z_]\w*", declared)}
        names = sorted(name for name in names if name not in WORDS and not re.fullmatch(r"b?[fiu]\d+", name))
        for size in self.sizes:
            feeds = []
            for name, declared in inputs:
                value = ragged_value(declared, size) if "~" in declared else None
                feeds += ["-i", f"{name}={value or 'random'}"]
            sizes = [word for name in names for word in ("--size", f"{name}={size}")]
            done = self.run("compare", self.path.name, other, *feeds, *sizes, "--rtol=0", "--atol=0", ok=None)
            if done.returncode == 0:
                self.sizes = [size]
                return True
            if done.returncode == 1:
                raise RuntimeError(f"{other} gives other results:\n" + done.stdout.decode())
        return None

    def __call__(self):
        # In the folder of the files that it loads.
        compiled, printed = (self.path.with_suffix(end) for end in (".trip.pdlc", ".trip.pdl"))
        checked = self.run("check", "-v", self.path.name, ok=None)
        if checked.returncode != 0:
            return "not checked"
        self.run("compile", self.path.name, "-o", compiled)
        flat = self.run("dump", "--emit=pdl", self.path.name).stdout
        if self.run("dump", "--emit=pdl", compiled).stdout != flat:
            raise RuntimeError("the compiled file is emitted as different source")
        printed.write_bytes(flat)
        self.run("check", compiled, printed.name)
        # A `minimize` whose optimizer is a custom layer is emitted as a comment.
        without = re.sub(rb"^# .*\n", b"", flat, flags=re.M)
        if self.run("dump", "--emit=pdl", printed.name).stdout != without:
            raise RuntimeError("the emitted source is emitted as different source")
        total = re.search(rb"^ *total +(\d+)$", checked.stdout, flags=re.M)
        if total and int(total[1]) > MOST_PARAMETERS:
            return "not run"
        if not self.compare(flat.decode(), compiled):
            return "not run"
        if not self.compare(flat.decode(), printed):
            raise RuntimeError("the emitted source does not run with inputs of the same sizes")
        return "same"


def main():
    pdl, root = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        paths = []
        for source in FOLDERS:
            if (root / source).is_dir():
                shutil.copytree(root / source, folder / source, ignore=shutil.ignore_patterns("*.pdlc"))
                paths += sorted((folder / source).rglob("*.pdl"))
        paths += texts_of_pages(root, folder / "pages")
        if len(sys.argv) > 3:
            paths = [path for path in paths if sys.argv[3] in str(path)]
        counts, failures = {}, []

        def trip(path):
            try:
                return path, Trip(pdl, path)()
            except (RuntimeError, subprocess.TimeoutExpired) as error:
                return path, error

        with ThreadPoolExecutor(2) as pool:
            for path, result in pool.map(trip, paths):
                if isinstance(result, Exception):
                    failures.append(f"{path.relative_to(folder)}: {result}")
                else:
                    counts.setdefault(result, []).append(str(path.relative_to(folder)))
    print(", ".join(f"{len(paths)} {result}" for result, paths in sorted(counts.items())))
    for result in ("not run", "not checked"):
        for path in counts.get(result, []):
            print(f"{result}: {path}")
    print("\n".join(failures))
    return 1 if failures or not counts.get("same") else 0


if __name__ == "__main__":
    sys.exit(main())

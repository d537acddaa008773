#!/usr/bin/env python3
"""write_page.py PDL ROOT [--check]: writes docs/operators.md.

The page is the output of `pdl ops --format=markdown`, and a list of the operators without a CUDA kernel, whose names do
not occur in the `.cu` files of kernels/.
"""

import difflib
import json
import pathlib
import re
import subprocess
import sys


def run(*command):
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{result.stdout}{result.stderr}")
    return result.stdout


def main():
    pdl, root = sys.argv[1], pathlib.Path(sys.argv[2])
    ops = json.loads(run(pdl, "ops", "--format=json"))["ops"]
    lines = run(pdl, "ops", "--format=markdown").splitlines()

    sources = "".join(path.read_text() for path in sorted((root / "kernels").rglob("*.cu")))
    on_cuda = set(re.findall(r'"(\w+)"', sources))
    missing = [op["type"] for op in ops if op["type"] not in on_cuda]
    lines += ["", "# Operators without a CUDA kernel", "",
              "They need none: a Plan decides them, or calls of other operators stand for them.", ""]
    lines += [f"- `{name}`" for name in missing] or ["There is none."]
    text = "\n".join(lines) + "\n"

    path = root / "docs/operators.md"
    if "--check" not in sys.argv:
        path.write_text(text)
        return
    old = path.read_text() if path.exists() else ""
    if old != text:
        sys.stdout.writelines(difflib.unified_diff(
            old.splitlines(True)[:100000], text.splitlines(True), "docs/operators.md", "now", n=1))
        sys.exit("docs/operators.md is stale: run test/ops/write_page.py PDL ROOT")


if __name__ == "__main__":
    main()

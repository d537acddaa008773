#!/usr/bin/env python3
"""Writes the test files of operators: test/ops/<operator>.pdl.

    test/ops/generate/run.py [--pdl PROGRAM] [FAMILY|OPERATOR...]

A family is a file in this folder: `reductions`, or `reductions.py`. Without names, all are
written. Requires numpy, ml_dtypes, scipy, torch and onnx; `pdl fmt` formats the files.
"""

import argparse
import importlib
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent.parent
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True

import cases  # noqa: E402


def find_pdl(given):
    found = [pathlib.Path(given)] if given else sorted(
        ROOT.glob("build/*/bin/pdl"), key=lambda path: -path.stat().st_mtime)
    if not found or not found[0].exists():
        sys.exit("run.py: no build/*/bin/pdl; name one with --pdl")
    return found[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pdl", help="the program; default: the newest build/*/bin/pdl")
    parser.add_argument("names", nargs="*", metavar="FAMILY|OPERATOR")
    arguments = parser.parse_args()
    pdl = find_pdl(arguments.pdl)
    wanted = {name.removesuffix(".py") for name in arguments.names}

    for path in sorted(HERE.glob("*.py")):
        if path.stem in ("run", "cases"):
            continue
        importlib.import_module(path.stem)
    family_of = cases.FAMILIES
    unknown = wanted - set(family_of) - {name.removesuffix(".py") for name in family_of.values()}
    if unknown:
        sys.exit(f"run.py: neither a family nor an operator: {', '.join(sorted(unknown))}")

    written = []
    for name in sorted(family_of):
        if wanted and name not in wanted and family_of[name].removesuffix(".py") not in wanted:
            continue
        table = cases.Table(name)
        cases.OPERATORS[name](table)
        path = HERE.parent / f"{name}.pdl"
        path.write_text(table.text(family_of[name]))
        written.append(path)
    if not written:
        return
    subprocess.run([pdl, "fmt", *written], check=True)
    print(f"{len(written)} files written; run them with: pdl test test/ops")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Checks that passes and the runtime use properties of operators and do not refer to operators by name.

usage: check_names.py PDL ROOT

Finds the string literals in ir/ and runtime/ that equal an operator's name. Allowed are those of calls that
the code makes, `Call("add", ...)`, `Emit("add", ...)`, `Find("add")`, and what ALLOWED lists with the reason:
operators that a pass matches to rewrite them. What any operator may have is a property, see
include/pdl/op/op_properties.h.
"""

import json
import pathlib
import re
import subprocess
import sys

# (file, operator): why it is named there.
ALLOWED = {
    ("ir/differentiate.cc", "add"): "makes the call, where a gradient has two parts",
    ("ir/differentiate.cc", "add_n"): "makes the call, where a gradient has more parts",
    ("ir/differentiate.cc", "gradient"): "IsGradient, which passes ask that rewrite gradients",
    ("ir/passes/channels_last.cc", "transpose"): "removes transposes of transposes",
    ("ir/passes/fold_normalizations.cc", "conv1d"): "rewrites normalized convolutions",
    ("ir/passes/fold_normalizations.cc", "conv2d"): "rewrites normalized convolutions",
    ("ir/passes/fold_normalizations.cc", "conv3d"): "rewrites normalized convolutions",
    ("ir/passes/fold_normalizations.cc", "normalize"): "rewrites normalized convolutions",
    ("ir/passes/fold_transposes.cc", "matmul"): "rewrites matmuls of transposes",
    ("ir/passes/fold_transposes.cc", "transpose"): "rewrites matmuls of transposes",
    ("ir/passes/row_updates.cc", "scatter_add"): "rewrites gradients of rows, which are scatter_add onto zeros",
    ("ir/passes/row_updates.cc", "zeros"): "rewrites gradients of rows, which are scatter_add onto zeros",
    ("ir/passes/row_updates.cc", "sum"): "rewrites sums of all elements of such a gradient",
    ("ir/passes/row_updates.cc", "lazy_rows"): "the operator only tells this pass what it may do",
    ("ir/passes/split_step.cc", "lazy_rows"): "rejects what the operator asks of row_updates.cc",
    # Literals that happen to be names of operators.
    ("ir/op_docs.cc", "ragged"): "a kind of tensors in the documentation",
    ("ir/passes/pipeline.cc", "all"): "the sum of all rows of a table of times",
    ("ir/weights.cc", "cast"): "an option of loading weights",
    ("ir/weights.cc", "transpose"): "an option of loading weights",
    ("runtime/plan_to_string.cc", "constant"): "a kind of slots of a plan",
    ("runtime/training/trainer.cc", "training"): "what ran out of memory, in a message",
}

TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)\'', re.S)
# Functions that make a call of the operator named by the literal after them.
MAKES_CALL = re.compile(r"\b(?:Call|Emit|Find)\((?:\w+,)?\s*$")


def literals_of(source):
    """Yields (line number, text, whether a call of that name is made) for each string literal."""
    for match in TOKEN.finditer(source):
        if match.group()[0] == '"':
            before = source[max(0, match.start() - 80) : match.start()]
            line = source.count("\n", 0, match.start()) + 1
            yield line, match.group()[1:-1], MAKES_CALL.search(before) is not None


def main():
    pdl, root = sys.argv[1], pathlib.Path(sys.argv[2])
    listed = subprocess.run([pdl, "ops", "--format=json"], capture_output=True, check=True, text=True)
    operators = {op["type"] for op in json.loads(listed.stdout)["ops"]}
    paths = [p for module in ("ir", "runtime") for p in sorted((root / module).rglob("*"))]
    paths = [p for p in paths if p.suffix in (".h", ".cc", ".cu", ".cuh")]
    unused = dict(ALLOWED)
    wrong = []
    for path in paths:
        file = path.relative_to(root).as_posix()
        for line, text, makes_call in literals_of(path.read_text()):
            if text not in operators or makes_call:
                continue
            unused.pop((file, text), None)
            if (file, text) not in ALLOWED:
                wrong.append(f"{file}:{line}: names the operator '{text}'; ask for a property of it")
    wrong += [f"{file}: '{name}' is allowed and not there" for file, name in unused]
    print("\n".join(wrong) if wrong else f"{len(operators)} operators, {len(paths)} files")
    return 1 if wrong or len(operators) < 100 or len(paths) < 50 else 0


if __name__ == "__main__":
    sys.exit(main())

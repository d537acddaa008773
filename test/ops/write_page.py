#!/usr/bin/env python3
"""write_page.py PDL ROOT [--check]: writes docs/operators.md.

The page is an introduction, a table of contents, the output of `pdl ops --format=markdown`, and a list of the operators
without a CUDA kernel, whose names do not occur in the `.cu` files of kernels/.
"""

import difflib
import json
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "docs"))
sys.dont_write_bytecode = True
from check_links import headings  # noqa: E402

INTRODUCTION = """\
# Operators and layers

All operators of the language, by family, and all standard layers. This page is generated from their declarations;
`pdl ops NAME` prints one entry of it. The rules for calls are in [the language](language.md#calls-1).

## How to read an entry

An entry begins with a signature, `name(inputs, attributes) -> results`. Inputs are tensors. Attributes are fixed at
compile time.

**Inputs.** `xs...` accepts any number of values. `x = none` may be omitted. The column *accepts* has the dtypes, and
whether the input may be [ragged or sparse](language.md#types); if it does not say so, the input is dense. "No
gradient": gradients do not flow to this input.

**Attributes** are passed by name. Those marked "by position too" may also be passed by position, after the inputs, as
in `reshape(x, [N, 64])`. The default follows `=`; an attribute without one is required. `int in 0..8` excludes 8 and
`int in 0..=8` includes it; `int?` also accepts `none`; `[int]` is a list, and accepts a single value as a list of one.

| type | values |
|---|---|
| `int`, `float`, `bool`, `string` | `2`, `0.5`, `true`, `"mean"`; an int is accepted for a float |
| `shape` | a list of sizes or other ints, which may depend on symbols: `[N, T // 2]`, `dims(x)`; or a single one |
| `shape or "same"` | such a list, or this word |
| `dtype` | the name of a dtype, `f32`, or that of a tensor, `dtype(x)` |
| `tensor` | a number or a nested list of numbers, `[[1, 2], [3, 4]]` |
| `function` | [a call without its inputs](language.md#layers-1), `relu()` or `fc(size=8)` |
| `parameter` | of layers: a record of [attributes of a parameter](language.md#layers-1), `{init=zeros(), l1=1e-4}` |

**Outputs.** "Type of x" is the dtype and the dims of the input `x`. "Dtype from to" means that the attribute `to` sets
the dtype. "Dims broadcast": the dims of all inputs, [broadcast](language.md#expressions). `dx...` denotes several
results.

**Examples.** The value after `# =` is what the statement computes; tests check it.

**Properties** of an operator:

| property | meaning |
|---|---|
| elementwise | an element of the result depends only on the elements at the same index of the inputs, after broadcasting |
| commutative | the inputs can be swapped: the result has the same bits |
| moves elements | each element of a result is an element of an input, or 0 |
| computed in f16 or bf16 with mixed precision | in training with [`--precision`](training.md#mixed-precision), f32 inputs are cast to that dtype |
| *NAME* in ONNX | the ONNX operator that computes the same from the same inputs, without attributes |
| lowered to other calls before a run | it has no kernel: the compiler replaces each call |
| decided when a run is planned | it has no kernel: the compiler supplies the result, or selects an input, when the sizes of a run are known |
| differentiable, verified to order *n* | tests compare its derivatives with finite differences (`pdl gradcheck`): the first ones for order 1, the second ones as well for order 2 |
| differentiable | it has no derivatives of its own that tests can compare: it is lowered to operators that have them, or it only passes gradients on or stops them |
| largest error | of f32 results, over all f32 inputs, in ulp: the distance between adjacent f32 numbers at the exact result |

The compiler creates calls of these operators, too: those of a gradient, of a size that depends on data, or of a
statement such as `assert`. Some operators exist mainly for this; they are listed in the same families.

**Layers** have types as in [their source](language.md#layers-1). In `F[N, D]`, the symbols `N` and `D` are any sizes,
and `F` is any floating-point dtype. A symbol is the same size or dtype everywhere in a signature, so `S[]` is a scalar
whose dtype may differ from that of `F[N, D]`; but each value of `xs...` has its own sizes. `...` is any dims, `~T` a
ragged dim, and `|` separates alternatives.
"Indices" are integers in a range, `i64[N] in 0..D`. "Constraints" must hold for the sizes and attributes of a call.
"Parameter attributes" and "Bias attributes" are the fields that `param_attr` and `bias_attr` accept.
"""


def run(*command):
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{result.stdout}{result.stderr}")
    return result.stdout


def contents(lines):
    """The table of contents: an item for each family of operators, one for the layers, one for each other section."""
    sections = []
    for level, title, anchor in headings(lines):
        link = f"[{title}](#{anchor})"
        if level == 1:
            chapter = title
            if title not in ("Operators and layers", "Operators"):
                sections.append((link, []))
        elif chapter == "Operators" and level == 2:
            sections.append((link, []))
        elif chapter in ("Operators", "Layers"):
            sections[-1][1].append(link)
    return [f"- {section}" + (": " if links else "") + ", ".join(links) for section, links in sections]


def main():
    pdl, root = sys.argv[1], pathlib.Path(sys.argv[2])
    ops = json.loads(run(pdl, "ops", "--format=json"))["ops"]
    lines = run(pdl, "ops", "--format=markdown").splitlines()

    sources = "".join(path.read_text() for path in sorted((root / "kernels").rglob("*.cu")))
    on_cuda = set(re.findall(r'"(\w+)"', sources))
    missing = [op["type"] for op in ops if op["type"] not in on_cuda]
    lines += ["", "# Operators without a CUDA kernel", "",
              "They need none: a Plan decides them, or calls of other operators stand for them.", ""]
    head = INTRODUCTION.splitlines() + ["", "## Contents", ""]
    anchors = {title: anchor for level, title, anchor in headings(head + lines) if level == 3}
    lines += [f"- [`{name}`](#{anchors[name]})" for name in missing] or ["There is none."]
    text = "\n".join(head + contents(head + lines) + [""] + lines) + "\n"

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

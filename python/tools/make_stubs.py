#!/usr/bin/env python3
"""Writes the type stubs of pdl.ops and pdl.layers.

    pdl ops --format=json > ops.json
    make_stubs.py ops.json python/pdl            # writes ops.pyi and layers.pyi there
    make_stubs.py ops.json python/pdl --check    # fails where they are not what it would write

Needs nothing but that file: neither the library nor the package.
"""

from __future__ import annotations

import argparse
import pathlib
import sys
import textwrap
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "pdl"))
from _declarations import (  # type: ignore[import-not-found]  # noqa: E402
    Attribute,
    Declaration,
    Input,
    Parameter,
    Place,
    Text,
    parameters,
    read,
)
from _docs import documentation  # type: ignore[import-not-found]  # noqa: E402

HEADER = '''"""{what}

Made by python/tools/make_stubs.py; do not edit.
"""

from typing import Any, Literal, Sequence, overload

from pdl._graph import Value
from pdl._pdl import Tensor
from pdl._render import Function
from pdl._results import Results
from pdl._typing import ArrayLike, Dims, DType, FunctionLike, Operand, ParameterAttributes
'''

TYPES = {
    "INT": "int",
    "FLOAT": "float",
    "STRING": "str",
    "BOOLEAN": "bool",
    "DTYPE": "DType",
    "SHAPE": "Dims",
    "TENSOR": "Any",
    "BLOCK": "FunctionLike",
    "FUNCTION": "FunctionLike",
    "PARAMETER": "ParameterAttributes",
}
# Of these a list may be given as its one item.
SINGLE = ("INT", "FLOAT", "STRING", "BOOLEAN", "PARAMETER")


def attribute_type(attribute: Attribute) -> str:
    """The annotation of an attribute."""
    name = TYPES[attribute.type]
    if attribute.type == "STRING" and attribute.choices:
        name = "Literal[" + ", ".join(f'"{choice}"' for choice in attribute.choices) + "]"
    if attribute.is_list:
        # One value stands for a list of it.
        several = f"Sequence[{name}]"
        name = f"{name} | {several}" if attribute.type in SINGLE else several
    return f"{name} | None" if attribute.optional else name


def default_text(value: Any) -> str:
    """A default, as Python writes it; one that only the language can write is "..."."""
    if isinstance(value, Text):
        return "..."
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, float) and not (value - value == 0.0):
        return "..."
    return repr(value)


def parameter_text(one: Parameter, operand: str) -> str:
    """A parameter with annotation and default."""
    if isinstance(one.source, Input):
        several = one.source.repeatable and one.place is not Place.REPEATED
        kind = f"Sequence[{operand}] | {operand}" if several else operand
        if one.source.optional or (one.source.counted and not one.required):
            kind += " | None"
    else:
        kind = attribute_type(one.source)
    if one.place is Place.REPEATED:
        return f"*{one.name}: {kind}"
    return f"{one.name}: {kind}" + ("" if one.required else f" = {default_text(one.default)}")


def signature(declaration: Declaration, operands: list[str] | None, result: str, doc: str) -> str:
    """One form of the function. ``operands`` has the annotation of the first input and that of the
    others; without it the call leaves out its inputs."""
    texts: list[str] = []
    has_star = False
    first = True
    for one in parameters(declaration):
        is_input = isinstance(one.source, Input)
        left_out = operands is None and (
            (is_input and not one.source.optional) or (not is_input and one.source.positional)
        )
        if left_out:
            continue
        if (one.place is Place.KEYWORD or operands is None) and not has_star:
            texts.append("*")
            has_star = True
        operand = "Operand"
        if is_input and operands:
            if first and one.place is Place.REPEATED:
                texts += [f"{one.name}_0: {operands[0]}", "/"]
                first = False
            operand = operands[0] if first else operands[1]
            first = False
        has_star |= one.place is Place.REPEATED
        texts.append(parameter_text(one, operand))
    extra = [] if operands is None else ["name: str | None = None"]
    if declaration.is_layer:
        extra += ["training: bool = ...", "recompute: bool = ..."]
        if operands is None and [one.name for one in declaration.inputs[:2]] == ["w", "g"]:
            extra.append("clip_norm: float = ...")
    if extra and not has_star:
        texts.append("*")
    texts += extra
    body = f'\n    """{doc}"""' if doc else " ..."
    inside = ", ".join(texts)
    head = f"def {declaration.name}({inside}) -> {result}:"
    if len(head) > 100:
        head = (
            f"def {declaration.name}(\n"
            + "".join(f"    {text},\n" for text in texts)
            + f") -> {result}:"
        )
    return head + body


def docstring(declaration: Declaration) -> str:
    """What help() prints, indented."""
    text = documentation(declaration).replace("\\", "\\\\").replace('"""', '\\"""')
    return textwrap.indent(text, "    ").strip() + "\n    "


def stub(declaration: Declaration) -> str:
    """The function in all its forms."""
    several = len(declaration.outputs) > 1 or bool(declaration.results_from)
    doc = docstring(declaration)
    forms: list[str] = []
    if declaration.inputs:
        forms.append(
            signature(declaration, ["Value", "Operand"], "Results" if several else "Value", doc)
        )
        if not declaration.is_layer:
            result = "Results" if several else "Tensor"
            forms.append(signature(declaration, ["ArrayLike", "ArrayLike"], result, ""))
        forms.append(signature(declaration, None, "Function", ""))
    else:
        forms.append(signature(declaration, [], "Any", doc))
        first = next((one for one in declaration.attributes if one.positional), None)
        if first is not None and first.required:
            forms.append(signature(declaration, None, "Function", ""))
    if len(forms) == 1:
        return forms[0]
    return "\n".join("@overload\n" + form for form in forms)


def stubs(declarations: dict[str, Declaration], what: str) -> str:
    """A whole file."""
    return HEADER.format(what=what) + "".join(
        "\n" + stub(declarations[name]) + "\n" for name in sorted(declarations)
    )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("json", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    ops, layers = read(arguments.json.read_text())
    stale = 0
    for name, text in {
        "ops.pyi": stubs(ops, "Every operator as a function."),
        "layers.pyi": stubs(layers, "Every standard layer as a function."),
    }.items():
        path = arguments.folder / name
        if not arguments.check:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            print(f"{path} is stale: run python/tools/make_stubs.py OPS.json {arguments.folder}")
            stale = 1
    return stale


if __name__ == "__main__":
    sys.exit(main())

"""Docstrings of operators and layers in NumPy's format, generated from their declarations.

Imports nothing that needs the library, since the generator of the stubs uses it."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any, Iterable

if TYPE_CHECKING:
    from pdl._declarations import Attribute, Declaration, Input

_WIDTH = 88
_NUM_DTYPES = 13
_TYPES = {
    "INT": "int",
    "FLOAT": "float",
    "STRING": "str",
    "BOOLEAN": "bool",
    "DTYPE": "dtype",
    "SHAPE": "shape",
    "TENSOR": "array",
    "BLOCK": "function",
    "FUNCTION": "function",
    "PARAMETER": "dict",
}


def range_text(attribute: Attribute) -> str:
    """The range: " > 0", " in 0..=1" is " >= 0, <= 1"."""
    ends = []
    if attribute.lower:
        ends.append(f"{'>' if attribute.lower.is_open else '>='} {_number(attribute.lower.value)}")
    if attribute.upper:
        ends.append(f"{'<' if attribute.upper.is_open else '<='} {_number(attribute.upper.value)}")
    return " " + ", ".join(ends) if ends else ""


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else f"{value:g}"


def type_text(attribute: Attribute) -> str:
    """Type, range and choices: "float > 0"."""
    kind = _TYPES[attribute.type]
    choices = ", ".join(f'"{choice}"' for choice in attribute.choices)
    if attribute.choices and attribute.type == "STRING":
        text = f"{{{choices}}}"
    else:
        text = kind + range_text(attribute) + (f" or one of {choices}" if choices else "")
    return f"list of {text}" if attribute.is_list else text


def _default(attribute: Attribute) -> str:
    if attribute.has_default:
        text = f"default {attribute.default!r}"
        return text if len(text) < 60 else "with a default"
    return "optional" if attribute.optional else "required"


def _levels(levels: tuple[int, ...]) -> str:
    """The accepted ragged dims of a layer's input: "up to 2 ragged dims"; empty if it is dense."""
    if not levels or levels[-1] == 0:
        return ""
    several = len(levels) == levels[-1] + 1
    text = f"up to {levels[-1]}" if several else " or ".join(str(level) for level in levels)
    return f"{text} ragged dim" + ("" if levels[-1] == 1 else "s")


def _accepted(one: Input) -> str:
    if one.type:
        text = "; ".join(filter(None, [one.type, _levels(one.levels)]))
    else:
        names = list(one.dtypes) if len(one.dtypes) < _NUM_DTYPES else ["any dtype"]
        text = " or ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
        kinds = ["sparse"] if one.sparse else []
        most = one.levels[-1] if one.levels else 0
        if most:
            kinds.append("ragged" if most > 1 else "ragged at one level")
        text = f"array of {text}"
        if kinds:
            verb = "must be" if 0 not in one.levels else "may be"
            text += f"; {verb} {' or '.join(kinds)}"
    if one.repeatable:
        text += "; any number of them"
    if one.default_text and one.default_text != "none":
        return f"{text}, default {one.default_text}"
    return text + (", optional" if one.optional else "")


def _wrap(text: str, indent: str) -> list[str]:
    return textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _entries(rows: Iterable[tuple[str, str, str]]) -> list[str]:
    """Lines of entries, each from a name, a type, and a description."""
    lines = []
    for name, kind, comment in rows:
        lines.append(f"{name} : {kind}" if kind else name)
        lines += _wrap(comment, "    ")
    return lines


def _section(title: str, lines: list[str]) -> list[str]:
    return ["", title, "-" * len(title), *lines] if lines else []


def _parameters(declaration: Declaration) -> list[str]:
    rows: list[tuple[str, str, str]] = []
    for one in declaration.parameters:
        source: Any = one.source
        is_input = declaration.has_input(source.name)
        kind = _accepted(source) if is_input else f"{type_text(source)}, {_default(source)}"
        rows.append((one.name, kind, source.comment))
    if not declaration.has_name_attribute:
        rows.append(("name", "str, optional", "names the result in a graph"))
    return _entries(rows)


def _fields(attributes: Iterable[Attribute]) -> list[str]:
    return _entries(
        (one.name, f"{type_text(one)}, {_default(one)}", one.comment) for one in attributes
    )


def _notes(declaration: Declaration) -> list[str]:
    if declaration.is_layer:
        return []
    notes = [
        "Random: sampled anew in each run." if declaration.random else "",
        "Differentiable." if declaration.differentiable else "Not differentiable.",
        f"In f32, the maximum error is {declaration.max_ulp:.3g} ULP."
        if declaration.max_ulp
        else "",
    ]
    return _wrap(" ".join(filter(None, notes)), "")


def _first_sentence(text: str) -> tuple[str, str]:
    """The first sentence, and the rest. A period in parentheses does not end a sentence."""
    depth = 0
    for i, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if c == "." and depth == 0 and text[i + 1 : i + 2] == " ":
            return text[: i + 1], text[i + 2 :]
    return text, ""


def documentation(declaration: Declaration) -> str:
    """The docstring of its function. Examples are source of the language."""
    first, rest = _first_sentence(declaration.comment)
    lines = _wrap(first, "")
    if rest:
        lines += ["", *_wrap(rest, "")]
    lines += _section("Parameters", _parameters(declaration))
    returns = _entries((one.name, one.type, one.comment) for one in declaration.outputs)
    lines += _section("Returns", returns)
    lines += _section("Fields of param_attr", _fields(declaration.parameter_attributes))
    lines += _section("Fields of bias_attr", _fields(declaration.bias_attributes))
    lines += _section("Notes", _notes(declaration))
    examples = [line for example in declaration.examples for line in example.split("\n")]
    if examples:
        examples = ["In the language::", "", *(f"    {line}".rstrip() for line in examples)]
    lines += _section("Examples", examples)
    return "\n".join(lines) + "\n"

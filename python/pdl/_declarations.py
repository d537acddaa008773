"""Declarations of operators and layers, read from the output of ``pdl ops --format=json``.

Imports nothing from the package, since the generators in ``python/tools`` use it without the library.
"""

from __future__ import annotations

import json
import keyword
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Any, Mapping

_DEFAULT_KINDS = (
    "int",
    "float",
    "string",
    "bool",
    "dtype",
    "shape",
    "ints",
    "floats",
    "strings",
    "bools",
)


class Text(str):
    """A default value that has no Python equivalent: ``{}``, ``relu()``."""

    def __repr__(self) -> str:
        return str(self)


@dataclass(frozen=True)
class Bound:
    """One end of a range."""

    value: float
    is_open: bool


@dataclass(frozen=True)
class Attribute:
    """The declaration of an attribute. ``type`` is one of INT, FLOAT, STRING, BOOLEAN, DTYPE, SHAPE, TENSOR,
    BLOCK, and for layers FUNCTION and PARAMETER."""

    name: str
    comment: str
    type: str
    is_list: bool
    positional: bool
    optional: bool
    counted: bool
    has_default: bool
    default: Any
    lower: Bound | None
    upper: Bound | None
    choices: tuple[str, ...]

    @property
    def required(self) -> bool:
        """Whether calls must specify it."""
        return not (self.optional or self.counted or self.has_default)


@dataclass(frozen=True)
class Input:
    """The declaration of an input."""

    name: str
    comment: str
    repeatable: bool
    optional: bool
    # The attribute with the number of values; empty if the number of arguments determines it.
    count: str
    # The accepted numbers of ragged dims: 0 is a dense value.
    levels: tuple[int, ...]
    # Operators only: the accepted dtypes (empty: all), and whether sparse matrices are accepted.
    dtypes: tuple[str, ...]
    sparse: bool
    # Layers only: its type and its default, as source of the language.
    type: str
    default_text: str

    @property
    def counted(self) -> bool:
        """Whether a repeatable input may have no values."""
        return bool(self.count)


@dataclass(frozen=True)
class Output:
    """The declaration of an output. ``type`` is what is known of its type: "i64, scalar", "type of x"."""

    name: str
    comment: str
    type: str


@dataclass(frozen=True, eq=False)
class Library:
    """Layers of the user's own: sources by path, of which calls import ``path`` as ``alias``, a name that no other
    library has."""

    alias: str
    path: str
    files: Mapping[str, str]


@dataclass(frozen=True)
class Declaration:
    """An operator or a layer."""

    name: str
    comment: str
    is_layer: bool
    inputs: tuple[Input, ...]
    outputs: tuple[Output, ...]
    attributes: tuple[Attribute, ...]
    results_from: tuple[str, ...]
    # Calls with their results, as source of the language.
    examples: tuple[str, ...]
    differentiable: bool
    random: bool
    # The maximum error in f32, in ULP; 0 if it is not declared.
    max_ulp: float
    # Layers only: the fields of param_attr and bias_attr.
    parameter_attributes: tuple[Attribute, ...]
    bias_attributes: tuple[Attribute, ...]
    # The user's layers only: where the layer is defined.
    library: Library | None = None

    @property
    def callee(self) -> str:
        """Its name in a call, as source of the language."""
        return f"{self.library.alias}.{self.name}" if self.library else self.name

    @property
    def optimizer_options(self) -> tuple[str, ...]:
        """Arguments that ``minimize`` adds to those of a layer that updates a parameter."""
        names = tuple(one.name for one in self.inputs[:2])
        may_optimize = names == ("w", "g") or (self.library is not None and len(names) == 2)
        return ("clip_norm", "lazy") if self.is_layer and may_optimize else ()

    def takes(self, name: str) -> bool:
        """Whether calls accept an argument of that name."""
        if self.has_input(name):
            return True
        attribute = self.attribute(name)
        if attribute is not None:
            return not attribute.counted
        return name in self.optimizer_options or (
            self.is_layer and name in ("training", "recompute", "params")
        )

    @cached_property
    def parameters(self) -> list[Parameter]:
        """The parameters of its Python function."""
        return parameters(self)

    def attribute(self, name: str) -> Attribute | None:
        """The attribute with that name."""
        return next((one for one in self.attributes if one.name == name), None)

    def has_input(self, name: str) -> bool:
        """Whether there is an input with that name."""
        return any(one.name == name for one in self.inputs)

    @cached_property
    def has_name_attribute(self) -> bool:
        """Whether the declaration has an argument ``name``, so that ``name=`` cannot name the result."""
        return self.has_input("name") or self.attribute("name") is not None


class Place(Enum):
    """The kind of a parameter of a Python function."""

    ANY = "any"
    REPEATED = "repeated"
    KEYWORD = "keyword"


@dataclass(frozen=True)
class Parameter:
    """A parameter of the Python function of an operator or layer."""

    name: str
    place: Place
    source: Input | Attribute
    required: bool
    default: Any


def python_name(name: str) -> str:
    """The name with ``_`` appended if it is a Python keyword: ``from_``."""
    return name + "_" if keyword.iskeyword(name) else name


def parameters(declaration: Declaration) -> list[Parameter]:
    """The parameters of its Python function: inputs, positional attributes, other attributes."""
    result: list[Parameter] = []
    place, some_default = Place.ANY, False
    for one in declaration.inputs:
        name = python_name(one.name)
        if one.repeatable and place is Place.ANY:
            result.append(Parameter(name, Place.REPEATED, one, False, None))
            place = Place.KEYWORD
            continue
        required = not one.optional and not (one.repeatable and one.counted)
        if required and some_default:
            place = Place.KEYWORD
        some_default |= not required
        result.append(Parameter(name, place, one, required, None))
    for positional in (True, False):
        for attribute in declaration.attributes:
            if attribute.positional != positional or attribute.counted:
                continue
            if not positional or (attribute.required and some_default):
                place = Place.KEYWORD
            some_default |= not attribute.required
            name = python_name(attribute.name)
            result.append(Parameter(name, place, attribute, attribute.required, attribute.default))
    return result


def _dim(dim: dict[str, Any]) -> int | str:
    if "symbol" in dim:
        return str(dim["symbol"])
    return int(dim.get("constant", 0))


def _default(value: dict[str, Any], type_name: str) -> Any:
    kind = next((one for one in _DEFAULT_KINDS if one in value), "")
    given: Any = value.get(kind)
    if kind == "int":
        return int(given)
    if kind == "float":
        return float(given)
    if kind == "string":
        return given if type_name == "STRING" else Text(given)
    if kind == "dtype":
        return str(given).lower()
    if kind == "shape":
        return [_dim(dim) for dim in given.get("dims", [])]
    if kind == "ints":
        return [int(item) for item in given.get("values", [])]
    if kind in ("floats", "strings", "bools"):
        return list(given.get("values", []))
    return given


def _bound(row: dict[str, Any], end: str) -> Bound | None:
    bound = row.get(end)
    return (
        None
        if bound is None
        else Bound(float(bound.get("value", 0)), bool(bound.get("open", False)))
    )


def _attribute(row: dict[str, Any]) -> Attribute:
    default = row.get("default_value")
    return Attribute(
        name=row["name"],
        comment=row.get("comment", ""),
        type=row["type"],
        is_list=row.get("list", False),
        positional=row.get("positional", False),
        optional=row.get("optional", False),
        counted=row.get("counted", False),
        has_default=default is not None,
        default=None if default is None else _default(default, row["type"]),
        lower=_bound(row, "lower"),
        upper=_bound(row, "upper"),
        choices=tuple(row.get("choices", ())),
    )


def _input(row: dict[str, Any]) -> Input:
    return Input(
        name=row["name"],
        comment=row.get("comment", ""),
        repeatable=row.get("repeatable", False),
        optional=row.get("optional", False),
        count=row.get("count", ""),
        levels=tuple(row.get("levels", (0,))),
        dtypes=tuple(str(one).lower() for one in row.get("dtypes", ())),
        sparse="SPARSE" in row.get("storage", ()),
        type=row.get("type", ""),
        default_text=row.get("default_text", ""),
    )


def _output_type(row: dict[str, Any]) -> str:
    """The declared dtype and dims of an output, as `pdl ops` prints them."""
    dtype_of, dims_of = row.get("dtype_of_input"), row.get("dims_of_input")
    if dtype_of and dtype_of == dims_of:
        return f"type of {dtype_of}"
    rank = row.get("rank")
    parts = (
        row["dtype"].lower() if "dtype" in row else "",
        f"dtype of {dtype_of}" if dtype_of else "",
        f"dtype from {row['dtype_of_attribute']}" if "dtype_of_attribute" in row else "",
        "" if rank is None else "scalar" if rank == 0 else f"{rank} dim" + ("s" if rank > 1 else ""),
        "dims broadcast" if row.get("broadcast") else "",
        f"dims of {dims_of}" if dims_of else "",
        f"dims from {row['dims_of_attribute']}" if "dims_of_attribute" in row else "",
    )
    return ", ".join(filter(None, parts))


def _output(row: dict[str, Any]) -> Output:
    return Output(name=row["name"], comment=row.get("comment", ""), type=_output_type(row))


def _declaration(
    row: dict[str, Any], is_layer: bool, library: Library | None = None
) -> Declaration:
    return Declaration(
        name=row["type"],
        comment=row.get("comment", ""),
        is_layer=is_layer,
        inputs=tuple(_input(one) for one in row.get("inputs", ())),
        outputs=tuple(_output(one) for one in row.get("outputs", ())),
        attributes=tuple(_attribute(one) for one in row.get("attributes", ())),
        results_from=tuple(row.get("results_from", ())),
        examples=tuple(row.get("examples", ())),
        differentiable=row.get("differentiable", False),
        random=row.get("random", False),
        max_ulp=row.get("max_ulp", 0.0),
        parameter_attributes=tuple(_attribute(one) for one in row.get("parameter_attributes", ())),
        bias_attributes=tuple(_attribute(one) for one in row.get("bias_attributes", ())),
        library=library,
    )


def read_layers(text: str, library: Library | None) -> dict[str, Declaration]:
    """The layers of a library by name, in source order, parsed from the output of ``pdl ops --format=json``."""
    rows = json.loads(text).get("layers", ())
    return {row["type"]: _declaration(row, True, library) for row in rows}


def read(text: str) -> tuple[dict[str, Declaration], dict[str, Declaration]]:
    """Operators and layers by name, parsed from the output of ``pdl ops --format=json``."""
    everything = json.loads(text)
    ops = [_declaration(row, False) for row in everything.get("ops", ())]
    layers = [_declaration(row, True) for row in everything.get("layers", ())]
    return {one.name: one for one in ops}, {one.name: one for one in layers}

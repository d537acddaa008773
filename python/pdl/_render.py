"""Rendering of Python values as source of the language."""

from __future__ import annotations

import math
from typing import Any, Callable, Iterable, Mapping, Protocol

import numpy as np

from pdl._arrays import is_array
from pdl._check import text_of
from pdl._dtypes import dtype_name
from pdl._declarations import Attribute, Declaration, Library


class Named(Protocol):
    """A value of a graph, which has a name."""

    @property
    def name(self) -> str: ...


class Function:
    """A call without its inputs, such as ``pdl.ops.relu()``: an initializer, an optimizer, the value of an attribute
    like ``act``."""

    def __init__(
        self,
        text: str,
        values: Mapping[str, Any],
        libraries: Iterable[Library] = (),
        at_step: str | None = None,
    ) -> None:
        self.text = text
        # The source of its value at the current step of a training, if it is a schedule.
        self.at_step = at_step
        # The values of a graph in its arguments, by name.
        self.values = dict(values)
        # The libraries that its source refers to.
        self.libraries = tuple(libraries)

    def __repr__(self) -> str:
        return f"<pdl function {self.text}>"


def function_text(given: object) -> str:
    """The source of a function argument: ``pdl.layers.adam(lr=0.1)``, or ``pdl.layers.adam``."""
    if isinstance(given, Function):
        return given.text
    declaration = declaration_of(given)
    if declaration is not None:
        return f"{declaration.callee}()"
    kind = "a Python function: @pdl.layer makes a layer of it" if callable(given) else type(given).__name__
    raise TypeError(f"expected a function such as pdl.layers.adam(lr=0.001), not {kind}")


def declaration_of(given: object) -> Declaration | None:
    """The declaration of a function of an operator or a layer; None for any other object."""
    found: Declaration | None = getattr(given, "__pdl_declaration__", None)
    return found


def libraries_of(given: object) -> tuple[Library, ...]:
    """The libraries that the source of a function argument needs."""
    if isinstance(given, Function):
        return given.libraries
    declaration = declaration_of(given)
    return (declaration.library,) if declaration and declaration.library else ()


def imports_of(libraries: Iterable[Library]) -> str:
    """The statements that import libraries."""
    return "".join(f"import {text(one.path)} as {one.alias}\n" for one in libraries)


def files_of(libraries: Iterable[Library]) -> dict[str, str]:
    """The sources of libraries by path."""
    return {path: source for one in libraries for path, source in one.files.items()}


class Renderer:
    """Renders the arguments of one call. ``add_array`` adds an array and returns its name; if it is None, arrays are
    rendered as literals."""

    def __init__(
        self,
        is_value: Callable[[object], bool],
        add_array: Callable[[object, str], str] | None,
    ) -> None:
        self._is_value = is_value
        self._add_array = add_array
        # The values of a graph by name, and the libraries by alias, that the rendered source refers to.
        self.values: dict[str, Any] = {}
        self.libraries: dict[str, Library] = {}

    def operand(self, given: object, name: str) -> str:
        """Renders an argument for the input ``name``."""
        if isinstance(given, (list, tuple)):
            items = [self.operand(item, f"{name}_{i}") for i, item in enumerate(given)]
            return "[" + ", ".join(items) + "]"
        if isinstance(given, Function) and given.at_step is not None:
            self.plain(given)  # for what it refers to
            return given.at_step
        if is_array(given):
            if self._add_array is not None:
                return self._add_array(given, name)
            return self.plain(nested_list(given))
        return self.plain(given)

    def attribute(self, given: object, declared: Attribute | None) -> str:
        """Renders an argument for an attribute."""
        if declared is not None and given is not None:
            if declared.type == "DTYPE" and not isinstance(given, (list, tuple)):
                return dtype_name(given)
            if declared.type == "SHAPE" and not (isinstance(given, str) and declared.choices):
                return self._dims(given)
        if isinstance(given, Mapping):
            fields = [
                f"{text_of(key, 'a key')}={self.attribute(value, None)}" for key, value in given.items()
            ]
            return "{" + ", ".join(fields) + "}"
        if isinstance(given, (list, tuple)):
            return "[" + ", ".join(self.attribute(item, declared) for item in given) + "]"
        return self.plain(given)

    def _dims(self, given: object) -> str:
        if isinstance(given, str):
            return text_of(given, "a size")
        if isinstance(given, (list, tuple)):
            return "[" + ", ".join(self._dims(item) for item in given) + "]"
        return self.plain(given)

    def plain(self, given: object) -> str:
        """Renders any other value."""
        if self._is_value(given):
            name: str = given.name  # type: ignore[attr-defined]
            self.values[name] = given
            return name
        if isinstance(given, Function):
            self.values.update(given.values)
        if isinstance(given, Function) or declaration_of(given) is not None:
            self.libraries.update({one.alias: one for one in libraries_of(given)})
            return function_text(given)
        if isinstance(given, (list, tuple)):
            return "[" + ", ".join(self.plain(item) for item in given) + "]"
        return literal(given)


def nested_list(array: Any) -> Any:
    """The elements of an array, or of a ragged value."""
    return array.tolist() if hasattr(array, "tolist") else np.asarray(array).tolist()


def literal(given: object) -> str:
    """Renders None, a bool, a number, a string, or an array (as nested lists)."""
    if given is None:
        return "none"
    if isinstance(given, (bool, np.bool_)):
        return "true" if given else "false"
    if isinstance(given, (int, np.integer)):
        return str(int(given))
    if isinstance(given, (float, np.floating)):
        return _float(float(given))
    if isinstance(given, str):
        return text(given)
    if is_array(given):
        return _nested(nested_list(given))
    hint = ""
    if callable(given):
        hint = "; a function is one of pdl.ops or pdl.layers, such as pdl.ops.tanh, or made by pdl.layer"
    raise TypeError(f"pdl calls do not accept arguments of type {type(given).__name__}{hint}")


def _nested(items: object) -> str:
    if isinstance(items, list):
        return "[" + ", ".join(_nested(item) for item in items) + "]"
    return literal(items)


def _float(number: float) -> str:
    if math.isnan(number):
        return "nan"
    if math.isinf(number):
        return "inf" if number > 0 else "-inf"
    return repr(number).replace("e+", "e")


_ESCAPES = {"\n": "\\n", "\t": "\\t", "\r": "\\r", "\0": "\\0", "\\": "\\\\", '"': '\\"'}


def text(given: str) -> str:
    """Renders a string literal."""
    return (
        '"'
        + "".join(_ESCAPES.get(c, c if c.isprintable() else f"\\u{{{ord(c):X}}}") for c in given)
        + '"'
    )

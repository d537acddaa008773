"""Python values as the language writes them."""

from __future__ import annotations

import math
from typing import Any, Callable, Mapping, Protocol

import numpy as np

from pdl._arrays import dtype_name, is_array
from pdl._declarations import Attribute


class Named(Protocol):
    """A value of a graph: it has a name there."""

    @property
    def name(self) -> str: ...


class Function:
    """A call that leaves out its inputs, such as ``pdl.ops.relu()``: an initializer, an optimizer, the
    value of an attribute like ``act``."""

    def __init__(self, text: str, values: Mapping[str, Any]) -> None:
        self.text = text
        # What its arguments refer to, by name.
        self.values = dict(values)

    def __repr__(self) -> str:
        return f"<pdl function {self.text}>"


def function_text(given: object) -> str:
    """A function as the language writes it: ``pdl.layers.adam(lr=0.1)``, or ``pdl.layers.adam``."""
    if isinstance(given, Function):
        return given.text
    if callable(given) and hasattr(given, "__pdl_declaration__"):
        return f"{given.__pdl_declaration__.name}()"
    raise TypeError(
        f"a function is wanted, such as pdl.layers.adam(lr=0.001), not {type(given).__name__}"
    )


class Renderer:
    """Writes the arguments of one call. ``add_array`` gives a tensor a name; where it is None, arrays
    are written out as numbers."""

    def __init__(
        self,
        is_value: Callable[[object], bool],
        add_array: Callable[[object, str], str] | None,
    ) -> None:
        self._is_value = is_value
        self._add_array = add_array
        self.values: dict[str, Any] = {}

    def operand(self, given: object, name: str) -> str:
        """An argument that is an input called ``name``."""
        if isinstance(given, (list, tuple)):
            items = [self.operand(item, f"{name}_{i}") for i, item in enumerate(given)]
            return "[" + ", ".join(items) + "]"
        if is_array(given):
            if self._add_array is not None:
                return self._add_array(given, name)
            return self.plain(nested_list(given))
        return self.plain(given)

    def attribute(self, given: object, declared: Attribute | None) -> str:
        """An argument that is an attribute."""
        if declared is not None and given is not None:
            if declared.type == "DTYPE" and not isinstance(given, (list, tuple)):
                return dtype_name(given)
            if declared.type == "SHAPE" and not (isinstance(given, str) and declared.choices):
                return self._dims(given)
        if isinstance(given, Mapping):
            fields = [f"{key}={self.attribute(value, None)}" for key, value in given.items()]
            return "{" + ", ".join(fields) + "}"
        if isinstance(given, (list, tuple)):
            return "[" + ", ".join(self.attribute(item, declared) for item in given) + "]"
        return self.plain(given)

    def _dims(self, given: object) -> str:
        if isinstance(given, str):
            return given
        if isinstance(given, (list, tuple)):
            return "[" + ", ".join(self._dims(item) for item in given) + "]"
        return self.plain(given)

    def plain(self, given: object) -> str:
        """A value by itself."""
        if self._is_value(given):
            name: str = given.name  # type: ignore[attr-defined]
            self.values[name] = given
            return name
        if isinstance(given, Function):
            self.values.update(given.values)
        if isinstance(given, Function) or hasattr(given, "__pdl_declaration__"):
            return function_text(given)
        if isinstance(given, (list, tuple)):
            return "[" + ", ".join(self.plain(item) for item in given) + "]"
        return literal(given)


def nested_list(array: Any) -> Any:
    """The elements of an array, or of a ragged value."""
    return array.tolist() if hasattr(array, "tolist") else np.asarray(array).tolist()


def literal(given: object) -> str:
    """None, a truth value, a number, a text, or an array as nested lists."""
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
    raise TypeError(f"{type(given).__name__} is nothing that a call in pdl takes")


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
    """A text in quotes."""
    return (
        '"'
        + "".join(_ESCAPES.get(c, c if c.isprintable() else f"\\u{{{ord(c):X}}}") for c in given)
        + '"'
    )

"""Every operator as a function, made from what the operator declares.

On arrays it runs at once and gives tensors; on values of a ``pdl.Graph`` it adds a call. ``name=`` names
the result in a graph. Without its inputs it is a function, such as an initializer."""

from __future__ import annotations

from typing import Any

from pdl._functions import declarations, make_function


def __getattr__(name: str) -> Any:
    declaration = declarations()[0].get(name)
    if declaration is None:
        raise AttributeError(f"no operator is called '{name}'")
    function = globals()[name] = make_function(declaration, __name__)
    return function


def __dir__() -> list[str]:
    return sorted(declarations()[0])

"""Every standard layer as a function, made from what the layer declares.

Called on values of a ``pdl.Graph`` it adds a call, with parameters of its own, named after ``name=``.
Without its inputs it is a function: an optimizer, a schedule, the value of an attribute like ``act``.
"""

from __future__ import annotations

from typing import Any

from pdl._functions import declarations, make_function


def __getattr__(name: str) -> Any:
    declaration = declarations()[1].get(name)
    if declaration is None:
        raise AttributeError(f"no layer is called '{name}'")
    function = globals()[name] = make_function(declaration, __name__)
    return function


def __dir__() -> list[str]:
    return sorted(declarations()[1])

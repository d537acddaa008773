"""Functions for the standard layers, generated from their declarations.

Called on values of a ``pdl.Graph``, a function adds a call with parameters of its own, named after ``name=``. Called
without inputs, it returns a ``pdl.Function``: an optimizer, a schedule, the value of an attribute like ``act``.
"""

from __future__ import annotations

from typing import Any

from pdl._functions import declarations, make_function, missing


def __getattr__(name: str) -> Any:
    declaration = declarations()[1].get(name)
    if declaration is None:
        raise AttributeError(missing(name, "layer"))
    function = globals()[name] = make_function(declaration, __name__)
    return function


def __dir__() -> list[str]:
    return sorted(declarations()[1])

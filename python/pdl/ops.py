"""Functions for the operators, generated from their declarations.

Called on arrays, a function runs the operator and returns tensors. Called on values of a ``pdl.Graph``, it adds a
call; ``name=`` names the result. Called without inputs, it returns a ``pdl.Function``, such as an initializer."""

from __future__ import annotations

import sys
from typing import Any

from pdl import _infix
from pdl._functions import declarations, make_function, missing


def __getattr__(name: str) -> Any:
    declaration = declarations()[0].get(name)
    if declaration is None:
        raise AttributeError(missing(name, "operator"))
    function = globals()[name] = make_function(declaration, __name__)
    return function


def __dir__() -> list[str]:
    return sorted(declarations()[0])


_infix.bind_operators(sys.modules[__name__])

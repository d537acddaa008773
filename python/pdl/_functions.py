"""Python functions of operators and layers, created from their declarations on first use."""

from __future__ import annotations

import difflib
import inspect
import os
import threading
from typing import Any, Callable

from pdl import _pdl
from pdl._call import call, eager_calls
from pdl._check import path_of
from pdl._docs import documentation
from pdl._declarations import Declaration, Place, read

_KINDS = {
    Place.ANY: inspect.Parameter.POSITIONAL_OR_KEYWORD,
    Place.REPEATED: inspect.Parameter.VAR_POSITIONAL,
    Place.KEYWORD: inspect.Parameter.KEYWORD_ONLY,
}
_lock = threading.Lock()
_declarations: tuple[dict[str, Declaration], dict[str, Declaration]] | None = None


def declarations() -> tuple[dict[str, Declaration], dict[str, Declaration]]:
    """Operators and layers by name."""
    global _declarations
    with _lock:
        if _declarations is None:
            _declarations = read(_pdl.declarations())
        return _declarations


def missing(name: str, kind: str) -> str:
    """The message for an operator or a layer, the `kind`, that there is not."""
    operators, layers = declarations()
    own, others = (operators, layers) if kind == "operator" else (layers, operators)
    text = f"there is no {kind} '{name}'"
    if name in others:
        is_layer = kind == "operator"
        return f"{text}: it is {'a layer' if is_layer else 'an operator'}, pdl.{'layers' if is_layer else 'ops'}.{name}"
    near = difflib.get_close_matches(name.lower(), own, n=1, cutoff=0.7)
    return f"{text}; did you mean '{near[0]}'?" if near else text


def load_plugin(path: str | os.PathLike[str]) -> None:
    """Loads a plugin, a shared library with operators, and adds the operators to ``pdl.ops``.

    Parameters
    ----------
    path : str or path
        path of the library

    Raises
    ------
    pdl.RunError
        if it cannot be loaded, or was built for another version of pdl
    """
    global _declarations
    _pdl.load_plugin(path_of(path))
    with _lock:
        _declarations = None


def signature(declaration: Declaration) -> inspect.Signature:
    """The signature of the declaration's Python function."""
    result = []
    for one in declaration.parameters:
        default = (
            inspect.Parameter.empty if one.required or one.place is Place.REPEATED else one.default
        )
        result.append(inspect.Parameter(one.name, _KINDS[one.place], default=default))
    if not declaration.has_name_attribute:
        result.append(inspect.Parameter("name", inspect.Parameter.KEYWORD_ONLY, default=None))
    return inspect.Signature(result)


def make_function(declaration: Declaration, module: str) -> Callable[..., Any]:
    """The Python function of an operator or a layer."""

    calls = eager_calls()

    def function(*args: Any, **kwargs: Any) -> Any:
        result = calls(*args, **kwargs)
        return call(declaration, args, kwargs, calls) if result is NotImplemented else result

    function.__name__ = function.__qualname__ = declaration.name
    function.__module__ = module
    function.__doc__ = documentation(declaration)
    function.__signature__ = signature(declaration)  # type: ignore[attr-defined]
    function.__pdl_declaration__ = declaration  # type: ignore[attr-defined]
    return function

"""Layers of the user's own as Python functions, from source or from files."""

from __future__ import annotations

import difflib
import os
import re
import threading
from typing import Any, Callable, Iterator, Mapping

from pdl import _pdl
from pdl._check import path_of, shown_path, text_of
from pdl._declarations import Library, read_layers
from pdl._functions import make_function
from pdl.errors import UnknownNameError

_lock = threading.Lock()
_libraries: dict[str, Library] = {}


def _library(stem: str, name: str, text: str, imported: Mapping[str, str]) -> Library:
    """The library of these sources, with an alias derived from ``stem`` that no other has. The same sources give the
    same library, so that networks that were compiled for it are found."""
    base = re.sub(r"\W", "_", stem, flags=re.ASCII)
    base = f"_{base}" if not base or base[0].isdigit() else base
    with _lock:
        alias, number = f"{base}_layers", 1
        while True:
            sources = {f"{alias}/{path}": source for path, source in imported.items()}
            sources[f"{alias}/{name}"] = text
            known = _libraries.setdefault(alias, Library(alias, f"{alias}/{name}", sources))
            if known.files == sources:
                return known
            number += 1
            alias = f"{base}_layers_{number}"


class Layers:
    """The layers of a file, returned by ``pdl.layers_from``: each is an attribute, a function like those of
    ``pdl.layers``."""

    def __init__(self, path: str, functions: Mapping[str, Callable[..., Any]]) -> None:
        self._path = path
        self._functions = dict(functions)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        functions: Mapping[str, Callable[..., Any]] = self.__dict__.get("_functions", {})
        if name in functions:
            return functions[name]
        raise AttributeError(f"'{self.__dict__.get('_path')}' has no layer '{name}'{_hint(name, functions)}")

    def __dir__(self) -> list[str]:
        return sorted(self._functions)

    def __iter__(self) -> Iterator[str]:
        return iter(self._functions)

    def __repr__(self) -> str:
        return f"<pdl layers of {self._path}: {', '.join(self._functions)}>"


def _hint(name: str, known: Mapping[str, Any]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean '{near[0]}'?" if near else f"; it has {', '.join(known) or 'none'}"


def layer(
    source: str, name: str | None = None, *, folder: str | os.PathLike[str] = "."
) -> Callable[..., Any]:
    """A Python function for a layer that is written in the language.

    It is called like the functions of ``pdl.layers``: on arrays, on values of a graph, or without its inputs, which
    gives a ``pdl.Function``. It has the layer's signature, and its ``##`` comments as the docstring.

    Parameters
    ----------
    source : str
        the layer, and layers and imports that it needs
    name : str, optional
        the name of the layer; by default the last layer of the source
    folder : str or path
        the folder that imported files are relative to

    Raises
    ------
    pdl.Error
        if the source has an error
    pdl.UnknownNameError
        if the source has no layer of that name

    Examples
    --------
    >>> twice = pdl.layer(\"\"\"
    ... ## Multiplies by a factor.
    ... layer twice(
    ...   x: F[...],        ## any tensor
    ...   k: float = 2.0    ## the factor
    ... ) {
    ...   return x * k
    ... }
    ... \"\"\")
    >>> twice(numpy.float32([1, 2]), k=3.0)
    """
    source = text_of(source, "the source")
    json, text, imported = _pdl.read_layers(source, path_of(folder))
    functions = _functions(json, None, text, imported)
    if not functions:
        raise UnknownNameError("the source has no layer: expected \"layer NAME(…) { … }\"")
    if name is None:
        name = list(functions)[-1]
    if text_of(name, "name") not in functions:
        raise UnknownNameError(f"the source has no layer '{name}'{_hint(name, functions)}")
    return functions[name]


def layers_from(path: str | os.PathLike[str]) -> Layers:
    """The layers of a file as Python functions.

    Parameters
    ----------
    path : str or path
        a .pdl file. It may import others, and it is read once: later changes need another call

    Raises
    ------
    pdl.MissingFileError
        if the file does not exist
    pdl.Error
        if the file, or one that it imports, has an error, or if it has no layers

    Examples
    --------
    >>> own = pdl.layers_from("blocks.pdl")
    >>> y = own.block(x, width=4)
    """
    path = path_of(path)
    json, text, imported = _pdl.read_layer_file(path)
    functions = _functions(json, os.path.basename(path), text, imported)
    if not functions:
        raise UnknownNameError(f"'{shown_path(path)}' has no layers: pdl.load reads networks")
    return Layers(shown_path(path), functions)


def _functions(
    json: str, file: str | None, text: str, imported: Mapping[str, str]
) -> dict[str, Callable[..., Any]]:
    """The functions of all layers by name, in source order. ``file`` is the name of the file; None: source."""
    names = list(read_layers(json, None))
    stem = os.path.splitext(file)[0] if file is not None else names[-1] if names else ""
    library = _library(stem, f"{stem}.pdl", text, imported)
    declarations = read_layers(json, library)
    return {name: make_function(one, stem) for name, one in declarations.items()}

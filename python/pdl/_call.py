"""Calls of operators and layers from Python: run eagerly on arrays, or added to a graph.

In both cases the call is rendered as source of the language, which the compiler checks."""

from __future__ import annotations

import itertools
from functools import lru_cache, partial
from typing import Any, Sequence

import numpy as np

from pdl import _pdl
from pdl._arrays import is_array, to_array
from pdl._cache import Cache
from pdl._check import seed_of, text_of
from pdl._declarations import Declaration, Input, Library, Place
from pdl._graph import Graph, Value
from pdl._ragged import Lengths, Ragged, Sparse, bytes_of
from pdl._render import Function, Renderer, files_of, imports_of
from pdl._results import pack
from pdl.errors import ArgumentError, Error, without_place

_seed = 0
_kept: list[_pdl.EagerCalls] = []


def seed(number: int) -> None:
    """Sets the seed of random operators that are called eagerly, and restarts their sequence of numbers.

    Parameters
    ----------
    number : int
        from 0 to 2**64 - 1
    """
    global _seed
    _seed = seed_of(number)
    _pdl.begin_draws()
    for calls in _kept:
        calls.clear()


def current_seed() -> int:
    """The seed of random operators that are called eagerly."""
    return _seed


def eager_calls() -> _pdl.EagerCalls:
    """A new cache for the eager calls of one function."""
    _kept.append(_pdl.EagerCalls())
    return _kept[-1]


class _Arguments:
    """The rendered arguments of one call."""

    def __init__(self, declaration: Declaration, renderer: Renderer) -> None:
        self.declaration = declaration
        self.renderer = renderer
        self.text: list[str] = []
        # Whether lists of arrays were converted, so that operands are not the caller's arrays.
        self.made_arrays = False

    def add(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Renders all arguments, in order."""
        places = self.declaration.parameters
        repeated = next((one for one in places if one.place is Place.REPEATED), None)
        plain = iter([one for one in places if one.place is Place.ANY])
        for i, given in enumerate(args):
            source = next(plain, None)
            if source is None and repeated is not None:
                self._add_repeated(given, f"{repeated.name}_{i}")
            elif source is None or isinstance(source.source, Input):
                name = source.name if source else f"argument_{i}"
                self.text.append(self.renderer.operand(self._one_array(given), name))
            else:
                self.text.append(self.renderer.attribute(given, source.source))
        for name, given in kwargs.items():
            name = text_of(name, "a name").rstrip("_") or name
            if self.declaration.has_input(name):
                is_list = any(one.name == name and one.repeatable for one in self.declaration.inputs)
                rendered = self.renderer.operand(given if is_list else self._one_array(given), name)
            elif self.declaration.is_layer and name == "params" and not self.declaration.attribute(name):
                rendered = self.renderer.operand(given, name)
            else:
                rendered = self.renderer.attribute(given, self.declaration.attribute(name))
            self.text.append(f"{name}={rendered}")

    @property
    def libraries(self) -> list[Library]:
        """The libraries that the call refers to."""
        own = self.declaration.library
        found = self.renderer.libraries
        return list({**found, own.alias: own}.values() if own else found.values())

    def _one_array(self, given: object) -> object:
        """Converts a list that contains arrays or NumPy scalars to one array; other arguments are unchanged."""
        if not isinstance(given, (list, tuple)):
            return given
        items = list(_flat(given))
        kinds = (Value, Function, Ragged, Sparse)
        if not any(map(is_array, items)) or any(isinstance(one, kinds) for one in items):
            return given
        self.made_arrays = True
        return to_array(given, None)

    def _add_repeated(self, given: object, name: str) -> None:
        """``concat([x, y])`` is ``concat(x, y)``, as in NumPy."""
        if isinstance(given, (list, tuple)) and any(is_array(x) or _is_value(x) for x in given):
            for i, item in enumerate(given):
                self.text.append(self.renderer.operand(self._one_array(item), f"{name}_{i}"))
        else:
            self.text.append(self.renderer.operand(given, name))


def call(
    declaration: Declaration,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    calls: _pdl.EagerCalls,
) -> Any:
    """Performs a call of a generated function for which ``calls`` has no cached network."""
    name = None if declaration.has_name_attribute else kwargs.pop("name", None)
    given = list(_flat(args)) + list(_flat(kwargs.values()))
    if _is_function(declaration, args, kwargs):
        if name is not None:
            raise ArgumentError(
                f"'{declaration.name}' is called without its inputs and returns a function, which has no name: "
                "name= names the result of a call"
            )
        return _function(declaration, args, kwargs)
    graph = next((one.graph for one in given if isinstance(one, Value)), None)
    if graph is None and not any(is_array(one) for one in given):
        graph = Graph.active()
    if graph is not None:
        return _build(graph, declaration, args, kwargs, name)
    if name is not None:
        raise ArgumentError("name= is only valid inside a pdl.Graph")
    return _run(declaration, args, kwargs, calls)


def _flat(values: Any) -> Any:
    for value in values:
        if isinstance(value, (list, tuple)):
            yield from _flat(value)
        else:
            yield value


def _is_function(declaration: Declaration, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether the call has no inputs, or for an operator without inputs no sizes, and so makes a Function."""
    if args:
        return False
    if declaration.inputs:
        return not any(
            declaration.has_input(name.rstrip("_")) and not declaration_default(declaration, name)
            for name in kwargs
        )
    first = next((one for one in declaration.attributes if one.positional), None)
    return first is not None and first.required and first.name not in kwargs


def declaration_default(declaration: Declaration, name: str) -> bool:
    """Whether the input is optional, like the learning rate of an optimizer."""
    name = name.rstrip("_")
    return any(one.name == name and one.optional for one in declaration.inputs)


def _function(declaration: Declaration, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Function:
    unknown = [name for name in kwargs if not declaration.takes(name.rstrip("_") or name)]
    if unknown:
        _refuse_names(declaration, unknown)
    arguments = _Arguments(declaration, Renderer(_is_value, None))
    arguments.add(args, kwargs)
    text = f"{declaration.callee}({', '.join(arguments.text)})"
    at_step = None
    if declaration.inputs and declaration.inputs[0].name == "step":  # a schedule
        at_step = f"{declaration.callee}({', '.join(['step', *arguments.text])})"
    return Function(text, arguments.renderer.values, arguments.libraries, at_step)


def _refuse_names(declaration: Declaration, names: Sequence[str]) -> None:
    """Raises the compiler's error for keyword arguments that the declaration does not have."""
    libraries = (declaration.library,) if declaration.library else ()
    given = ", ".join(f"{text_of(name, 'a name')}=none" for name in names)
    try:
        _compile(f"layer value = {declaration.callee}({given})", libraries)
    except Error as error:
        raise without_place(error) from None


def _is_value(given: object) -> bool:
    return isinstance(given, Value)


def _build(
    graph: Graph,
    declaration: Declaration,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    name: str | None,
) -> Any:
    arguments = _Arguments(declaration, Renderer(_is_value, graph.capture))
    arguments.add(args, kwargs)
    expression = f"{declaration.callee}({', '.join(arguments.text)})"
    values = arguments.renderer.values
    with graph.importing(arguments.libraries):
        if name is None and values and all(one.is_built_in for one in values.values()):
            return graph.expression(expression)
        count = num_results(
            declaration, lambda: graph.check_text(expression, values), graph.libraries
        )
        outputs = [one.name for one in declaration.outputs]
        return pack(
            declaration, graph.assign(expression, values, declaration.name, outputs, count, name)
        )


def num_results(declaration: Declaration, text: Any, libraries: Sequence[Library]) -> int:
    """The number of results of a call. If the declaration does not determine it, ``text()`` is compiled, source
    that ends with the call and refers to ``libraries``."""
    if not declaration.results_from:
        return max(1, len(declaration.outputs))
    try:
        return _count_results(text(), tuple(libraries))
    except Error as error:
        raise without_place(error) from None


@lru_cache(maxsize=1024)
def _count_results(text: str, libraries: tuple[Library, ...]) -> int:
    return _compile(text, libraries).num_last_results


def _compile(text: str, libraries: Sequence[Library]) -> _pdl.Program:
    return _pdl.compile(imports_of(libraries) + text, "<call>", files=files_of(libraries), is_generated=True)


# --- Eager calls -------------------------------------------------------------------------------


class _Operands:
    """The operands of an eager call by name, and their declarations as inputs."""

    def __init__(self) -> None:
        self.tensors: dict[str, Any] = {}
        self.lines: list[str] = []
        self.device = "cpu"
        self._lengths = Lengths()

    def add(self, array: object, name: str) -> str:
        for i in itertools.count(2):
            if name not in self.tensors:
                break
            name = f"{name}_{i}"
        if isinstance(array, (Ragged, Sparse)):
            self.tensors[name] = array
            self.lines.append(f"input {name}: {array.type_with(self._lengths.symbol)}\n")
            return name
        tensor = array if isinstance(array, _pdl.Tensor) else _pdl.tensor(array)
        self.tensors[name] = tensor
        self.lines.append(f"input {name}: {tensor.type}\n")
        if tensor.device != "cpu":
            self.device = tensor.device
        return name


_networks: Cache[_pdl.NetworkCore] = Cache()
# Calls on more bytes are not added to EagerCalls: the cost of rendering them is small relative to their run time.
_SMALL = 1 << 20


def _network(
    text: str, libraries: Sequence[Library], device: str, is_layer: bool
) -> _pdl.NetworkCore:
    program = _compile(text, libraries)
    if is_layer and (program.parameters or program.states):
        raise ArgumentError("the layer has parameters of its own and can only be called in a pdl.Graph")
    return _pdl.NetworkCore(program, device=device, seed=_seed, at_once=True)


def _run(
    declaration: Declaration,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    calls: _pdl.EagerCalls,
) -> Any:
    operands = _Operands()
    arguments = _Arguments(declaration, Renderer(_is_value, operands.add))
    arguments.add(args, kwargs)
    expression = f"{declaration.callee}({', '.join(arguments.text)})"
    libraries = arguments.libraries
    inputs = "".join(operands.lines)
    count = num_results(declaration, lambda: inputs + expression, libraries)
    names = ", ".join(f"result_{i}" for i in range(count))
    text = f"{inputs}{names} = {expression}\noutput {names}"
    key = text, operands.device, _seed
    try:
        network = _networks.get(
            key, lambda: _network(text, libraries, operands.device, declaration.is_layer)
        )
    except Error as error:
        raise without_place(error) from None
    results = list(network(operands.tensors).values())
    num_bytes = sum(map(bytes_of, [*operands.tensors.values(), *results]))
    _networks.keep(key, network, num_bytes)
    if num_bytes <= _SMALL and not arguments.made_arrays:
        single = count == 1 and not declaration.results_from
        calls.keep(args, kwargs, network, None if single else partial(pack, declaration))
    return pack(declaration, results)

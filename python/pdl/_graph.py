"""Networks built from Python: statements of the language, added one by one.

The compiler checks each call against the types of its operands when it is added, so an error is raised at the
responsible line of Python."""

from __future__ import annotations

import builtins
import os
import re
import threading
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Callable, Iterable, Iterator, Mapping, NamedTuple, Sequence

from pdl import _pdl
from pdl._dtypes import NUMPY_NAMES, dtype_name
from pdl._check import shown
from pdl._infix import Infix, no_attribute, value_ufunc
from pdl._network import Network, Weights, compile_files
from pdl._declarations import Library
from pdl._render import (
    Function,
    Renderer,
    files_of,
    function_text,
    imports_of,
    libraries_of,
    literal,
)
from pdl._types import dims_of, dtype_of
from pdl.errors import Error, without_place


class Value(Infix):
    """A value of a graph: an input, a parameter, a state, or a result of a call. It has a name and a type and
    supports infix operators, but has no elements."""

    __slots__ = ("graph", "name", "type", "is_built_in", "__weakref__")
    __array_ufunc__ = value_ufunc
    __getattr__ = no_attribute

    def __init__(self, graph: Graph, name: str, type: str, is_built_in: bool = False) -> None:
        self.graph = graph
        self.name = name
        self.type = type
        # Whether it needs no declaration: `step`, and expressions of it.
        self.is_built_in = is_built_in

    @property
    def dtype(self) -> str:
        """The type of an element: "f32"."""
        return dtype_of(self.type)

    @property
    def shape(self) -> tuple[int | str, ...]:
        """The sizes, each an int or a string of symbols, ("N", 784), whose arithmetic gives sizes: ``x.shape[0] * 2``
        is "N * 2"."""
        return dims_of(self.type)

    @property
    def ndim(self) -> int:
        """The number of dims."""
        return len(self.shape)

    def __repr__(self) -> str:
        return f"<pdl value {self.name}: {self.type}>"

    def __bool__(self) -> bool:
        raise TypeError(
            f"'{self.name}' has no elements while the graph is built: use pdl.ops.where(condition, a, b)"
        )

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        raise TypeError(
            f"'{self.name}' is a value of a graph, without elements: use the functions of pdl.ops"
        )

    def __iter__(self) -> Any:
        raise TypeError(f"'{self.name}' is a value of a graph and cannot be iterated over: use pdl.ops.split")

    def __getitem__(self, key: Any) -> Value:
        renderer = Renderer(lambda one: isinstance(one, Value), None)
        items = key if isinstance(key, tuple) else (key,)
        inside = ", ".join(_subscript(item, renderer) for item in items)
        renderer.values[self.name] = self
        return self.graph.assign(f"{self.name}[{inside}]", renderer.values, self.name)[0]


def _subscript(item: object, renderer: Renderer) -> str:
    if isinstance(item, slice):
        parts = ["" if end is None else _bound(end, renderer) for end in (item.start, item.stop)]
        step = "" if item.step is None else f":{_bound(item.step, renderer)}"
        return f"{parts[0]}:{parts[1]}{step}"
    return _bound(item, renderer)


def _bound(item: object, renderer: Renderer) -> str:
    if item is Ellipsis:
        return "..."
    return item if isinstance(item, str) else renderer.plain(item)


def of_graph(given: Any, what: str) -> Value:
    """The argument, which must be a value of a graph; otherwise raises TypeError."""
    if isinstance(given, Value):
        return given
    raise TypeError(f"{what} must be a value of a graph, not {shown(given)}")


class Rows(NamedTuple):
    """Names and types declared by a program; the tuples are those of ``Program``."""

    inputs: list[tuple[str, str, str]]
    parameters: list[tuple[str, str, str]]
    states: list[tuple[str, str, str]]
    outputs: list[tuple[str, str, str, str]]


def rows_of(text: str, files: tuple[tuple[str, str], ...] = ()) -> Rows:
    """Compiles source. ``files`` are the files that it may import: pairs of a path and its source."""
    program = _pdl.compile(text, "<graph>", files=dict(files))
    return Rows(program.inputs, program.parameters, program.states, program.outputs)


class Instance:
    """An instance of a layer: all its calls share its parameters."""

    def __init__(self, graph: Graph, name: str) -> None:
        self.graph = graph
        self.name = name

    def __call__(self, *args: Any, name: str | None = None) -> Any:
        renderer = Renderer(lambda one: isinstance(one, Value), None)
        inside = ", ".join(renderer.operand(one, f"x_{i}") for i, one in enumerate(args))
        return self.graph.define(f"{self.name}({inside})", name or self.name)


# Values that the language has itself; one of that name would hide them.
_BUILTINS = frozenset({"step", "training"})
_active = threading.local()


class Graph:
    """A network under construction, to which calls of ``pdl.ops`` and ``pdl.layers`` are added.

    Examples
    --------
    >>> with pdl.Graph() as g:
    ...     x = pdl.input("x", "f32[N, 3]")
    ...     y = pdl.layers.fc(x, size=2, act="relu", name="hidden")
    ...     pdl.output(y, "y")
    >>> net = g.compile()
    """

    def __init__(self) -> None:
        self._inputs: list[str] = []
        self._statements: list[str] = []
        self._names: set[str] = set()
        self._outputs: set[str] = set()
        # The sources that the statements import, by path, and their networks, by their names in the graph.
        self._files: dict[str, str] = {}
        self._parts: dict[str, Network] = {}
        # The layers of the user's own that the statements call, by alias.
        self._libraries: dict[str, Library] = {}

    # --- The current graph --------------------------------------------------------------------

    def __enter__(self) -> Graph:
        _stack().append(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _stack().remove(self)

    @staticmethod
    def current() -> Graph:
        """The graph of the innermost ``with`` statement; raises ``pdl.Error`` outside of any."""
        if not _stack():
            raise Error("there is no current graph: use `with pdl.Graph() as g:`")
        return _stack()[-1]

    @staticmethod
    def active() -> Graph | None:
        """The graph of the innermost ``with`` statement; None outside of any."""
        return _stack()[-1] if _stack() else None

    # --- Statements ---------------------------------------------------------------------------

    def input(self, name: str, type: str, comment: str = "") -> Value:
        """Adds an input.

        Parameters
        ----------
        name : str
            its name
        type : str
            its type in the syntax of the language: ``f32[N, 784]``, ``i64[N] in 0..10``,
            ``f32[N, T] where T % 4 == 0``
        comment : str
            its documentation
        """
        self._check_free(name)
        _check_type(name, type)
        statement = f"input {name}: {type}"
        program = self._check("".join(self._inputs) + statement)
        self._names.add(name)
        self._inputs.append(statement + "\n")
        self._statements += [f"## {line}" for line in comment.splitlines()] + [statement]
        return Value(self, name, program.inputs[-1][1])

    def param(
        self, name: str, type: str, init: Function | str | None = None, **attributes: Any
    ) -> Value:
        """Adds a parameter.

        Parameters
        ----------
        name : str
            its name
        type : str
            its type in the syntax of the language: ``f32[784, 10]``
        init : Function or str, optional
            an initializer, ``pdl.ops.normal(std=0.02)``; by default zeros
        **attributes
            weight_decay, l1, gradient_clipping, lr_scale, trainable and name
        """
        return self._variable("param", name, type, init, attributes)

    def state(self, name: str, type: str, init: Function | str | None = None) -> Value:
        """Adds a state, a value that is kept from one run to the next; see ``update`` and ``param``."""
        return self._variable("state", name, type, init, {})

    def update(self, state: Value, value: Any) -> None:
        """Sets the value of a state for the next run. Later statements see the new value, too."""
        self.add(f"update {of_graph(state, 'a state').name} = {_renderer().plain(value)}")

    def output(self, value: Value, name: str | None = None, comment: str = "") -> None:
        """Adds an output, by default with the name of the value.

        Raises
        ------
        ValueError
            if there is an output with that name
        """
        value = of_graph(value, "an output")
        name = value.name if name is None else name
        if not value.is_built_in:
            _check_name(name)
        if name in self._outputs:
            raise ValueError(f"this graph already has an output '{name}'")
        self._outputs.add(name)
        self._statements += [f"## {line}" for line in comment.splitlines()]
        self._statements.append(
            f"output {name}" if name == value.name else f"output {name} = {value.name}"
        )

    def minimize(
        self,
        loss: Value,
        optimizer: Function,
        over: Sequence[Value | str] | Value | str | None = None,
        every: int | None = None,
    ) -> None:
        """Adds a loss that training minimizes.

        Parameters
        ----------
        loss : Value
            a scalar
        optimizer : Function
            ``pdl.layers.adam(lr=0.001)``
        over : Value or str, or a list of them, optional
            the parameters to update, or names of layers; by default all parameters
        every : int, optional
            updates them only in every n-th step
        """
        statement = f"minimize {of_graph(loss, 'a loss').name}"
        if over is not None:
            names = [over] if isinstance(over, (Value, str)) else list(over)
            listed = ", ".join(one if isinstance(one, str) else one.name for one in names)
            statement += f" over [{listed}]"
        statement += f" with {function_text(optimizer)}"
        with self.importing(libraries_of(optimizer)):
            self.add(statement if every is None else f"{statement} every {literal(every)}")

    def layer(self, name: str, function: Function) -> Instance:
        """Adds an instance of a layer: all its calls share its parameters."""
        self._take(name)
        with self.importing(libraries_of(function)):
            self.add(f"layer {name} = {function_text(function)}")
        return Instance(self, name)

    def grad(self, output: Value, inputs: Any, cotangent: Value | None = None) -> Any:
        """The gradients of a scalar with respect to a value or a list of values; with a cotangent, those of any
        value."""
        listed = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
        of = ", ".join(one.name for one in listed)
        tail = "" if cotangent is None else f", {cotangent.name}"
        names = [self.new_name(f"{one.name}_grad") for one in listed]
        values = self.define_all(
            names, f"grad({output.name}, {of if len(listed) == 1 else f'[{of}]'}{tail})"
        )
        return values[0] if not isinstance(inputs, (list, tuple)) else values

    def define(self, expression: str, name: str = "value") -> Value:
        """Adds an expression of the language and returns its value: ``g.define("hidden.w")``."""
        return self.define_all([self.new_name(name)], expression)[0]

    def add(self, statement: str) -> None:
        """Adds a statement of the language: a layer, an import, an assertion, a test."""
        self._check("\n".join([*self._statements, statement]))
        self._statements.append(statement)

    def step(self) -> Value:
        """The number of training steps done, i64[]."""
        return Value(self, "step", "i64[]", is_built_in=True)

    # --- The network --------------------------------------------------------------------------

    def text(self) -> str:
        """The source of the network in the language."""
        return imports_of(self.libraries) + "\n".join(self._statements) + "\n"

    def compile(
        self,
        *,
        name: str = "<text>",
        folder: str | os.PathLike[str] = ".",
        device: str = "cpu",
        weights: Weights = None,
        settings: Mapping[str, Any] | None = None,
        threads: int = 0,
        seed: int = 0,
    ) -> Network:
        """Compiles the graph to a network. The options are those of ``pdl.compile``.

        The parameters and states of networks that were called in the graph get their current values."""
        return compile_files(
            self.text(),
            self.files,
            self.part_values(),
            name=name,
            folder=folder,
            device=device,
            weights=weights,
            settings=settings,
            threads=threads,
            seed=seed,
            is_generated=True,
        )

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        return self.compile()._repr_html_()

    # --- Internal -----------------------------------------------------------------------------

    @property
    def capture(self) -> Callable[[Any, str], str] | None:
        """A function that adds an array operand to the graph and returns its name. If None, arrays are rendered
        as literals."""
        return None

    @property
    def files(self) -> dict[str, str]:
        """The sources that the graph imports, by path."""
        return {**self._files, **files_of(self.libraries)}

    @property
    def has_parts(self) -> bool:
        """Whether networks were called in the graph."""
        return bool(self._parts)

    @property
    def libraries(self) -> list[Library]:
        """The libraries that the graph imports."""
        return list(self._libraries.values())

    @contextmanager
    def importing(self, libraries: Iterable[Library]) -> Iterator[None]:
        """Imports libraries for statements that are added inside of the ``with`` statement; undone if it raises."""
        added = [one for one in libraries if one.alias not in self._libraries]
        for one in added:
            self._check_free(one.alias)
        self._names.update(one.alias for one in added)
        self._libraries.update({one.alias: one for one in added})
        try:
            yield
        except BaseException:
            for one in added:
                self._names.discard(one.alias)
                del self._libraries[one.alias]
            raise

    def part(self, network: Network, base: str, text: str) -> str:
        """Adds a network as a layer, imported from the source ``text``, and returns the layer's name."""
        for name, part in self._parts.items():
            if part is network:
                if self._files[f"{name}.pdl"] != text:
                    raise Error(f"'{name}' was called with a different set of inputs in this graph")
                return name
        name = self.new_name(base)
        file = self.new_name(f"{name}_file")
        self._files[f"{name}.pdl"] = text
        try:
            self.add(f'import "{name}.pdl" as {file}\nlayer {name} = {file}()')
        except BaseException:
            del self._files[f"{name}.pdl"]
            raise
        self._take(name)
        self._take(file)
        self._parts[name] = network
        return name

    def part_values(self) -> dict[str, Any]:
        """The current parameters and states of the networks in the graph, by their names in the graph."""
        return {
            f"{part}.{name}": value
            for part, network in self._parts.items()
            for values in (network.parameters, network.states)
            for name, value in values.items()
        }

    def assign(
        self,
        expression: str,
        values: Mapping[str, Value],
        base: str,
        outputs: Sequence[str] = (),
        count: int = 1,
        name: str | None = None,
    ) -> list[Value]:
        """Adds a call with operands ``values`` and returns its results. Only the call is compiled."""
        if name is not None:
            _check_name(name)
        if count == 1:
            names = [name if name is not None else self.new_name(base)]
        else:
            labels = list(outputs) if len(outputs) == count else [str(i) for i in range(count)]
            names = [self.new_name(f"{name or base}_{label}") for label in labels]
        statement = f"{', '.join(names)} = {expression}"
        program = self._check(f"{self.check_text(statement, values)}\noutput {', '.join(names)}")
        for one in names:
            self._take(one)
        self._statements.append(statement)
        return [Value(self, row[0], row[1]) for row in program.outputs]

    def expression(self, expression: str) -> Value:
        """A value whose expression is rendered at each use, like a schedule in the arguments of an optimizer."""
        program = self._check(f"output value = {expression}")
        return Value(self, expression, program.outputs[0][1], is_built_in=True)

    def check_text(self, statement: str, values: Mapping[str, Value]) -> str:
        """Source that consists of the statement, with its operands declared as inputs."""
        lines = list(self._inputs)
        known = {line.split(":")[0].removeprefix("input ") for line in lines}
        for value in values.values():
            if value.graph is not self:
                raise Error(f"'{value.name}' belongs to another graph")
            if value.name not in known and not value.is_built_in:
                lines.append(f"input {value.name}: {value.type}\n")
        return "".join(lines) + statement

    def new_name(self, base: str) -> str:
        """``base``, or ``base_2``, ``base_3``, … if that is used already."""
        base = base.replace(".", "_")
        name, number = base, 1
        while name in self._names or name in _BUILTINS or _pdl.is_keyword(name):
            number += 1
            name = f"{base}_{number}"
        return name

    def _take(self, name: str) -> None:
        self._check_free(name)
        self._names.add(name)

    def _check_free(self, name: str) -> None:
        _check_name(name)
        if name in self._names:
            raise ValueError(f"this graph already has a value '{name}'")

    def define_all(self, names: Sequence[str], expression: str) -> list[Value]:
        """``define`` for an expression with several results."""
        statement = f"{', '.join(names)} = {expression}"
        text = "\n".join(
            [*(one for one in self._statements if not one.startswith("output ")), statement]
        )
        program = self._check(f"{text}\noutput {', '.join(names)}")
        for one in names:
            self._take(one)
        self._statements.append(statement)
        return [Value(self, row[0], row[1]) for row in program.outputs]

    def _variable(
        self,
        kind: str,
        name: str,
        type: str,
        init: Function | str | None,
        attributes: Mapping[str, Any],
    ) -> Value:
        renderer = _renderer()
        self._check_free(name)
        _check_type(name, type)
        if init is None:
            init = "zeros()"
        text = init if isinstance(init, str) else renderer.plain(init)
        statement = f"{kind} {name}: {type} = {text}"
        if attributes:
            statement += f" with {renderer.attribute(attributes, None)}"
        with self.importing(renderer.libraries.values()):
            program = self._check("".join(self._inputs) + statement)
        self._take(name)
        self._statements.append(statement)
        rows = program.parameters if kind == "param" else program.states
        return Value(self, name, rows[0][1])

    def _check(self, text: str) -> Rows:
        try:
            return self._compile(text)
        except Error as error:
            raise without_place(error) from None

    def _compile(self, text: str) -> Rows:
        return rows_of(imports_of(self.libraries) + text, tuple(self.files.items()))


_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def _check_name(name: Any) -> None:
    if not isinstance(name, str):
        raise TypeError(f"a name must be a string, not {shown(name)}")
    if not _NAME.fullmatch(name):
        raise ValueError(
            f"'{name}' is not a valid name: names consist of letters, digits and _ and do not begin with a digit"
        )


def _check_type(name: str, type: Any) -> None:
    if isinstance(type, str):
        return
    try:
        dtype = "f32" if type is None else dtype_name(type)
    except TypeError:
        dtype = "f32"
    dtype = dtype if dtype in NUMPY_NAMES else "f32"
    raise TypeError(
        f"the type of '{name}' must be a string with dtype and sizes, such as '{dtype}[N, 3]', or '{dtype}[]' "
        f"for a scalar, not {type.__name__ if isinstance(type, builtins.type) else shown(type)}"
    )


def _renderer() -> Renderer:
    return Renderer(lambda one: isinstance(one, Value), None)


def _stack() -> list[Graph]:
    if not hasattr(_active, "graphs"):
        _active.graphs = []
    graphs: list[Graph] = _active.graphs
    return graphs

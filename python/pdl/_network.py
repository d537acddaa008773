"""Networks: loaded or compiled, run on arrays."""

from __future__ import annotations

import difflib
import os
from typing import Any, Iterable, Iterator, Mapping, Sequence

import numpy as np

from pdl import _pdl
from pdl._arrays import to_array
from pdl._check import integer_of, seed_of, shown, text_of, truth_of
from pdl._profile import Profile, profile_of
from pdl._render import Renderer
from pdl._types import dims_of, dtype_of, range_of
from pdl.errors import FileError, UnknownNameError, WeightError

Weights = Mapping[str, Any] | str | os.PathLike[str] | None
_ENDINGS = (".pdl", ".pdlc", ".onnx")


class Values(Mapping[str, _pdl.Tensor]):
    """The values of parameters or states by name, as they are when it is made; to be read."""

    def __init__(self, kind: str, values: Mapping[str, _pdl.Tensor]) -> None:
        self._kind = kind
        self._values = values

    def __getitem__(self, name: str) -> _pdl.Tensor:
        if name not in self._values:
            raise KeyError(f"the network has no {self._kind} '{name}'{_hint(name, self._values)}")
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return repr(dict(self._values))

    def __setitem__(self, name: str, value: Any) -> None:
        raise TypeError(
            f"the {self._kind}s of a network can only be read here: net.set_{self._kind}({name!r}, …) "
            "gives one a value"
        )


class Network(_pdl.NetworkCore):
    """A compiled network on a device. Call it with its inputs by name, arrays of any library that has
    the buffer protocol or DLPack, and it gives its outputs by name::

        net = pdl.load("model.pdl")
        prob = net(image=image)["prob"]

    Arrays are not copied where they are row-major. Many threads may call one network at once; while it
    runs, others go on. Calls of a network with states come one after another; ``session`` gives each
    caller states of their own.

    Called with values of a ``pdl.Graph`` it becomes a part of that, and gives values of it by name.

    ``pdl.train`` trains it in place: whatever uses it has what was learned up to the last step. It can
    be pickled and copied, with its parameters and states; a copy draws random numbers from the start."""

    def __repr__(self) -> str:
        inputs = ", ".join(f"{name}: {type}" for name, type in self.inputs.items())
        outputs = ", ".join(f"{name}: {type}" for name, type in self.outputs.items())
        return f"<pdl network ({inputs}) -> {outputs}, on {self.device}>"

    @property
    def inputs(self) -> dict[str, str]:
        """The types of the inputs, by name."""
        return {row[0]: row[1] for row in self.program.inputs}

    @property
    def outputs(self) -> dict[str, str]:
        """The types of the outputs, by name."""
        return {row[0]: row[1] for row in self.program.outputs}

    @property
    def parameters(self) -> Values:
        """The values of the parameters, by name, to be read: they share the network's memory.
        ``set_parameter`` changes one."""
        return Values("parameter", {row[0]: self.value(row[0]) for row in self.program.parameters})

    @property
    def states(self) -> Values:
        """The values of the states now, by name, to be read: before the first run the first ones. A
        state whose size the data decide is there once a run has made it. ``set_state`` changes one."""
        return Values("state", self._states())

    def set_parameter(self, name: str, value: Any) -> None:
        """Gives a parameter a value: an array of its dtype and sizes, or numbers and lists, which are
        copied. The network is made anew with it, so for many at once ``weights=`` of ``pdl.compile``
        and ``pdl.load`` is faster."""
        self._set_parameter(name, _fitting("parameter", name, self.program.parameters, value))

    def set_state(self, name: str, value: Any) -> None:
        """Gives a state a value, as ``set_parameter`` does, until a run updates it."""
        self._set_state(name, _fitting("state", name, self.program.states, value))

    def run(
        self,
        inputs: Mapping[str, Any],
        *,
        outputs: str | Sequence[str] = (),
        training: bool = False,
        check_finite: bool = False,
    ) -> dict[str, Any]:
        """Runs once and gives the outputs by name: all, or those named. ``training`` runs as a step of
        training does; ``check_finite`` ends with an error where a call makes a nan or an infinity."""
        return self._run(
            inputs,
            _outputs(outputs),
            truth_of(training, "training"),
            truth_of(check_finite, "check_finite"),
        )

    def profile(
        self,
        inputs: Mapping[str, Any],
        *,
        runs: int = 10,
        outputs: str | Sequence[str] = (),
        training: bool = False,
    ) -> Profile:
        """Runs so many times on these inputs, and tells how long each step takes, as ``pdl run
        --profile`` does::

            profile = net.profile({"image": image}, runs=100)
            print(profile)
            slowest = profile[0].operators, profile[0].seconds

        States go on from run to run in a copy: those of the network stay what they are."""
        count = integer_of(runs, "runs")
        if not 1 <= count <= 1_000_000:
            raise ValueError(f"runs is a number from 1 to 1000000, got {count}")
        measured = self._profile(inputs, _outputs(outputs), truth_of(training, "training"), count)
        return profile_of(*measured, count)

    @property
    def warnings(self) -> str:
        """What the compiler warned of."""
        return self.program.warnings

    def text(self) -> str:
        """The network in the language, flat: one call a line, layers expanded."""
        return self.program.text()

    def ir(self) -> str:
        """The network with all types, as ``pdl dump --emit=ir`` prints it."""
        return self.program.ir()

    def dot(self) -> str:
        """The graph in Graphviz's language."""
        return self.program.dot()

    def plan(self, *, training: bool = False, **symbols: int) -> str:
        """How it runs: calls, fused groups, and where symbols have sizes, memory: ``net.plan(N=32)``."""
        return self._plan(training, symbols)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes it to a .pdl (text) or .pdlc (compiled) file, and its parameters to a .safetensors file
        beside that; states, too, whose values were given or learned, or are not the first ones any
        more, since runs or ``set_state`` have changed them. What is loaded begins with these. A state
        whose size the data decide is not stored: it begins anew."""
        path = os.fspath(path)
        if not path.endswith((".pdl", ".pdlc")):
            raise FileError(f"'{path}' should end in .pdl (text) or .pdlc (compiled)")
        self._save(path)

    def session(self) -> Network:
        """The same network with states of its own, which begin with the first values. It keeps the
        parameters that there are now: training the network later does not change it."""
        return Network(self)

    def __reduce__(self) -> Any:
        values = self._first_values(), self._states()
        return _restore, (self.program._store(), self.device, self._threads, self._seed, *values)

    def svg(self) -> str:
        """The picture that a notebook shows, as SVG."""
        from pdl._svg import network_svg

        return network_svg(self.program)

    def _repr_html_(self) -> str:
        from pdl._html import network_html

        return network_html(self)


def _restore(
    program: tuple[Any, ...],
    device: str,
    threads: int,
    seed: int,
    weights: Mapping[str, _pdl.Tensor],
    states: Mapping[str, _pdl.Tensor],
) -> Network:
    """What a pickle of a network makes."""
    network = make(_pdl.restore_program(*program), device, weights, threads, seed)
    for name, value in states.items():
        network._set_state(name, value)
    return network


def _settings(settings: Mapping[str, Any] | None) -> dict[str, str]:
    renderer = Renderer(lambda one: False, None)
    return {name: renderer.attribute(value, None) for name, value in (settings or {}).items()}


def _outputs(given: str | Sequence[str]) -> list[str]:
    """The names of outputs."""
    names = [given] if isinstance(given, str) else given
    if isinstance(names, (list, tuple, set, frozenset)) and all(
        isinstance(name, str) for name in names
    ):
        return list(names)
    raise TypeError(f"outputs is the name of an output, or a list of them, not {shown(given)}")


def weights_of(program: _pdl.Program, weights: Weights) -> Any:
    """Weights as the extension module takes them: a path, or arrays by name."""
    if isinstance(weights, os.PathLike):
        return os.fspath(weights)
    if not isinstance(weights, Mapping):
        return weights
    types = {row[0]: row[1] for row in [*program.parameters, *program.states]}
    arrays = {}
    for name, value in weights.items():
        if not isinstance(name, str):
            raise TypeError(f"the name of a weight is a text, not {shown(name)}")
        if name not in types:
            hint = _hint(name, types)
            message = f"the network has no parameter or state '{name}'{hint} [PDL0404]"
            raise WeightError(message, "PDL0404")
        try:
            arrays[name] = to_array(value, dtype_of(types[name]))
        except (TypeError, ValueError, OverflowError, BufferError) as error:
            wrong = TypeError if isinstance(error, TypeError) else ValueError
            raise wrong(f"weight '{name}': {error}") from None
    return arrays


def _hint(name: Any, known: Iterable[str]) -> str:
    """"; did you mean 'image'?", where a name is near."""
    near = difflib.get_close_matches(str(name), list(known), n=1)
    return f"; did you mean '{near[0]}'?" if near else ""


def _fitting(kind: str, name: str, rows: list[tuple[str, str, str]], value: Any) -> _pdl.Tensor:
    """The value as a tensor of the declared type."""
    types = {row[0]: row[1] for row in rows}
    if name not in types:
        raise UnknownNameError(f"the network has no {kind} '{name}'{_hint(name, types)}", "PDL0102")
    type = types[name]
    try:
        tensor = _pdl.tensor(to_array(value, dtype_of(type)))
    except (TypeError, ValueError, OverflowError) as error:
        wrong = TypeError if isinstance(error, TypeError) else ValueError
        raise wrong(f"{kind} '{name}': {error}") from None
    dims = dims_of(type)
    if (
        tensor.dtype != dtype_of(type)
        or len(tensor.shape) != len(dims)
        or any(isinstance(dim, int) and dim != size for dim, size in zip(dims, tensor.shape))
    ):
        raise WeightError(f"{kind} '{name}' is declared {type}, got {tensor.type}", "PDL0404")
    range = range_of(type)
    elements = np.asarray(tensor) if range else np.zeros(0)
    if range and elements.size and not range[0] <= elements.min() <= elements.max() < range[1]:
        raise WeightError(f"{kind} '{name}' is declared {type}, and an element is outside", "PDL0404")
    return tensor


def make(program: _pdl.Program, device: str, weights: Weights, threads: int, seed: int) -> Network:
    """A network of a program."""
    return Network(
        program,
        device=text_of(device, "device"),
        threads=threads_of(threads),
        weights=weights_of(program, weights),
        seed=seed_of(seed),
    )


def threads_of(given: Any) -> int:
    """How many threads; 0 means all."""
    threads = integer_of(given, "threads")
    if not 0 <= threads < 1 << 16:
        raise ValueError(f"threads is how many there are, or 0 for all, got {threads}")
    return threads


def load(
    path: str | os.PathLike[str],
    *,
    device: str = "cpu",
    weights: Weights = None,
    settings: Mapping[str, Any] | None = None,
    threads: int = 0,
    seed: int = 0,
) -> Network:
    """The network in a file: text (.pdl), compiled (.pdlc), or an ONNX model. ``weights`` is a .safetensors file, or
    arrays by name; ``settings`` gives values to its ``attr``s; ``seed`` is that of initializers and
    random operators; ``threads`` 0 means all."""
    path = os.fspath(path)
    if "\n" in path:
        raise FileError("that is a text and no name of a file; pdl.compile takes texts")
    if not path.endswith(_ENDINGS):
        raise FileError(f"'{path}' is no network: it ends in none of .pdl, .pdlc and .onnx")
    program = _pdl.load(path, _settings(settings))
    return make(program, device, weights, threads, seed)


def compile(
    text: str,
    *,
    name: str = "<text>",
    folder: str | os.PathLike[str] = ".",
    device: str = "cpu",
    weights: Weights = None,
    settings: Mapping[str, Any] | None = None,
    threads: int = 0,
    seed: int = 0,
) -> Network:
    """The network that a text describes. ``name`` is what messages call it; files that it names lie in
    ``folder``. The other options are those of ``load``."""
    return compile_files(
        text,
        {},
        {},
        name=name,
        folder=folder,
        device=device,
        weights=weights,
        settings=settings,
        threads=threads,
        seed=seed,
    )


def compile_files(
    text: str,
    files: Mapping[str, str],
    values: Mapping[str, Any],
    *,
    name: str,
    folder: str | os.PathLike[str],
    device: str,
    weights: Weights,
    settings: Mapping[str, Any] | None,
    threads: int,
    seed: int,
) -> Network:
    """``compile`` of a text that may import ``files``, texts by path. ``values`` are weights, too: of
    names that the network lacks, and where ``weights`` has others, they are left out."""
    if text_of(text, "what pdl.compile takes").endswith(_ENDINGS) and "\n" not in text:
        raise FileError(f"'{text}' is the name of a file, and pdl.compile takes texts: pdl.load reads files")
    program = _pdl.compile(
        text, text_of(name, "name"), os.fspath(folder), _settings(settings), False, files
    )
    return make(program, device, with_values(program, values, weights), threads, seed)


def with_values(program: _pdl.Program, values: Mapping[str, Any], weights: Weights) -> Weights:
    """Weights that are given, and behind them values for what a program has."""
    if not values or isinstance(weights, (str, os.PathLike)):
        return weights
    own = {row[0] for row in [*program.parameters, *program.states]}
    return {**{name: values[name] for name in values if name in own}, **(weights or {})}

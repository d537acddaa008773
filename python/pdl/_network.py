"""Networks: loaded or compiled, run on arrays."""

from __future__ import annotations

import os
from typing import Any, Mapping

from pdl import _pdl
from pdl._render import Renderer
from pdl.errors import Error

Weights = Mapping[str, Any] | str | os.PathLike[str] | None


class Network(_pdl.NetworkCore):
    """A compiled network on a device. Call it with its inputs by name, arrays of any library that has
    the buffer protocol or DLPack, and it gives its outputs by name::

        net = pdl.load("model.pdl")
        prob = net(image=image)["prob"]

    Arrays are not copied where they are row-major. Many threads may call one network at once; while it
    runs, others go on. Calls of a network with states come one after another; ``session`` gives each
    caller states of their own."""

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
    def parameters(self) -> dict[str, _pdl.Tensor]:
        """The values of the parameters, by name. They share the network's memory."""
        return {row[0]: self.value(row[0]) for row in self.program.parameters}

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
        beside that."""
        path = os.fspath(path)
        if not path.endswith((".pdl", ".pdlc")):
            raise Error(f"'{path}' should end in .pdl (text) or .pdlc (compiled)")
        self._save(path)

    def session(self) -> Network:
        """The same network with states of its own."""
        return Network(self)

    def svg(self) -> str:
        """The picture that a notebook shows, as SVG."""
        from pdl._svg import network_svg

        return network_svg(self.program)

    def _repr_html_(self) -> str:
        from pdl._html import network_html

        return network_html(self)


def _settings(settings: Mapping[str, Any] | None) -> dict[str, str]:
    renderer = Renderer(lambda one: False, None)
    return {name: renderer.attribute(value, None) for name, value in (settings or {}).items()}


def _weights(weights: Weights) -> Any:
    return os.fspath(weights) if isinstance(weights, os.PathLike) else weights


def make(program: _pdl.Program, device: str, weights: Weights, threads: int, seed: int) -> Network:
    """A network of a program."""
    return Network(program, device=device, threads=threads, weights=_weights(weights), seed=seed)


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
    program = _pdl.load(os.fspath(path), _settings(settings))
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
    program = _pdl.compile(text, name, os.fspath(folder), _settings(settings))
    return make(program, device, weights, threads, seed)

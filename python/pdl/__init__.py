"""pdl: a small language for neural networks, its compiler and its runtime.

``pdl.ops`` has a function for each operator, ``pdl.layers`` one for each standard layer. ``pdl.load`` and
``pdl.compile`` create networks, ``pdl.Graph`` builds one from Python, and ``pdl.train`` trains one."""

from __future__ import annotations

from typing import Any

from pdl import _infix, _tensor, errors, layers, ops
from pdl._batches import batches
from pdl._call import seed
from pdl._epochs import Epoch, Step
from pdl._functions import load_plugin
from pdl._grad import grad, value_and_grad
from pdl._graph import Graph, Instance, Value, of_graph as _of_graph
from pdl._network import Network, compile, load, load_bytes
from pdl._own_layers import Layers, layer, layers_from
from pdl._pdl import Tensor, __version__
from pdl._profile import Profile, ProfileStep
from pdl._ragged import Ragged, Sparse, ragged, sparse
from pdl._ranks import Ranks
from pdl._reflection import declarations, declarations_proto, proto_file
from pdl._render import Function
from pdl._tensor import tensor
from pdl._trace import trace
from pdl._train import Training, train
from pdl._weights import WeightFile, weights
from pdl.errors import (
    ArgumentError,
    AttributeValueError,
    DeviceError,
    Error,
    FileError,
    MissingFileError,
    RankError,
    RunError,
    ShapeError,
    StatementError,
    SyntaxMistake,
    UnknownNameError,
    WeightError,
    explain,
)

_infix.install(Tensor)
_tensor.install()


def input(name: str, type: str, comment: str = "") -> Value:
    """Adds an input to the current graph; see ``Graph.input``."""
    return Graph.current().input(name, type, comment)


def param(name: str, type: str, init: Function | str | None = None, **attributes: Any) -> Value:
    """Adds a parameter to the current graph; see ``Graph.param``."""
    return Graph.current().param(name, type, init, **attributes)


def state(name: str, type: str, init: Function | str | None = None) -> Value:
    """Adds a state to the current graph; see ``Graph.state``."""
    return Graph.current().state(name, type, init)


def update(state: Value, value: Any) -> None:
    """Updates a state; see ``Graph.update``."""
    _of_graph(state, "a state").graph.update(state, value)


def output(value: Value, name: str | None = None, comment: str = "") -> None:
    """Adds an output; see ``Graph.output``."""
    _of_graph(value, "an output").graph.output(value, name, comment)


def minimize(loss: Value, optimizer: Function, over: Any = None, every: int | None = None) -> None:
    """Adds a loss to minimize; see ``Graph.minimize``."""
    _of_graph(loss, "a loss").graph.minimize(loss, optimizer, over, every)


def step() -> Value:
    """The number of training steps done, as a value of the current graph."""
    return Graph.current().step()


__all__ = [
    "ArgumentError",
    "AttributeValueError",
    "DeviceError",
    "Epoch",
    "Error",
    "FileError",
    "Function",
    "Graph",
    "Instance",
    "Layers",
    "MissingFileError",
    "Network",
    "Profile",
    "ProfileStep",
    "Ragged",
    "RankError",
    "Ranks",
    "RunError",
    "ShapeError",
    "Sparse",
    "StatementError",
    "Step",
    "SyntaxMistake",
    "Tensor",
    "Training",
    "UnknownNameError",
    "Value",
    "WeightError",
    "WeightFile",
    "__version__",
    "batches",
    "compile",
    "declarations",
    "declarations_proto",
    "errors",
    "explain",
    "grad",
    "input",
    "layer",
    "layers",
    "layers_from",
    "load",
    "load_bytes",
    "load_plugin",
    "minimize",
    "ops",
    "output",
    "param",
    "proto_file",
    "ragged",
    "seed",
    "sparse",
    "state",
    "step",
    "tensor",
    "trace",
    "train",
    "update",
    "value_and_grad",
    "weights",
]

"""Types of arguments, for the stubs."""

from __future__ import annotations

from typing import Any, Callable, Mapping, Protocol, Sequence, Union

from pdl._graph import Value
from pdl._ragged import Ragged, Sparse
from pdl._render import Function


class SupportsDLPack(Protocol):
    """An array of NumPy, PyTorch, JAX, CuPy, or of pdl."""

    def __dlpack__(self, *, stream: Any = None) -> Any: ...


# What an input may be outside of a graph, and in one.
ArrayLike = Union[SupportsDLPack, Ragged, Sparse, float, Sequence[Any]]
Operand = Union[Value, ArrayLike]
# "f32", numpy.float32.
DType = Any
# Sizes: numbers, and dims of the graph as texts.
Dims = Union[int, str, Sequence[Union[int, str]]]
# pdl.ops.relu(), pdl.ops.relu, "relu".
FunctionLike = Union[Function, str, Callable[..., Any]]
# {"weight_decay": 1e-4}.
ParameterAttributes = Mapping[str, Any]

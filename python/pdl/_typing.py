"""Types of arguments in the stubs."""

from __future__ import annotations

from typing import Any, Callable, Mapping, Protocol, Sequence, Union

from pdl._graph import Value
from pdl._ragged import Ragged, Sparse
from pdl._render import Function


class SupportsDLPack(Protocol):
    """An array of NumPy, PyTorch, JAX, CuPy, or pdl."""

    def __dlpack__(self, *, stream: Any = None) -> Any: ...


# Operands of eager calls, and of calls in a graph.
ArrayLike = Union[SupportsDLPack, Ragged, Sparse, float, Sequence[Any]]
Operand = Union[Value, ArrayLike]
# "f32", numpy.float32.
DType = Any
# Sizes: int, or str for symbolic dims of the graph.
Dims = Union[int, str, Sequence[Union[int, str]]]
# pdl.ops.relu(), pdl.ops.relu, "relu".
FunctionLike = Union[Function, str, Callable[..., Any]]
# {"weight_decay": 1e-4}.
ParameterAttributes = Mapping[str, Any]

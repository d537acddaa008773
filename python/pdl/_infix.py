"""Infix operators of values and tensors: each is a call of an operator, as in the language."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from pdl._dtypes import NUMPY_NAMES, is_dense_array
from pdl._pdl import Tensor

T = TypeVar("T", bound="Infix")

# The module pdl.ops, which needs this one.
_ops: Any = None


def bind_operators(ops: Any) -> None:
    """Sets the functions that infix operators call: attributes of ``ops``."""
    global _ops
    _ops = ops


def _apply(operator: str, *operands: Any) -> Any:
    if not all(map(_is_operand, operands)):
        return NotImplemented  # Python knows what `tensor == None` is
    return getattr(_ops, operator)(*operands)


def _apply_to_bits(operator: str, ufunc: np.ufunc, *operands: Any) -> Any:
    """``_apply`` of a logical operator. Tensors of integers are left to NumPy, which combines their bits."""
    kinds: set[str] = set().union(*map(_kinds_in, operands))
    if kinds & {"i", "u"} and kinds <= {"i", "u", "b"}:
        return ufunc(*(one.numpy() if isinstance(one, Tensor) else one for one in operands))
    return _apply(operator, *operands)


def _kinds_in(operand: Any) -> set[str]:
    """NumPy's kinds of the dtypes of tensors, arrays and numbers; "O" for other operands."""
    if isinstance(operand, (list, tuple)):
        return set().union(*map(_kinds_in, operand))
    if isinstance(operand, Tensor):
        return {np.dtype(NUMPY_NAMES.get(operand.dtype, "float32")).kind}
    if isinstance(operand, Infix) or not _is_operand(operand):
        return {"O"}
    return {np.asarray(operand).dtype.kind}


def _is_operand(given: Any) -> bool:
    """A number, an array, a value of a graph, or lists of them."""
    if isinstance(given, (list, tuple)):
        return all(map(_is_operand, given))
    return isinstance(given, (Infix, bool, int, float)) or is_dense_array(given)


# Operators by the names of the corresponding NumPy ufuncs.
_OF_UFUNCS = {
    "add": "add",
    "subtract": "sub",
    "multiply": "mul",
    "divide": "div",
    "floor_divide": "floor_div",
    "remainder": "mod",
    "matmul": "matmul",
    "power": "pow",
    "bitwise_and": "logical_and",
    "bitwise_or": "logical_or",
    "less": "less",
    "less_equal": "less_equal",
    "greater": "greater",
    "greater_equal": "greater_equal",
    "equal": "equal",
    "not_equal": "not_equal",
}


def array_ufunc(self: Any, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
    """``__array_ufunc__`` of tensors: ``array + tensor`` returns a tensor. If there is an output array, as in
    ``array += tensor``, and in all other ufuncs, tensors are converted to arrays."""
    name = _OF_UFUNCS.get(ufunc.__name__)
    if method == "__call__" and not options and name is not None and all(map(_is_operand, inputs)):
        if name in ("logical_and", "logical_or"):
            return _apply_to_bits(name, ufunc, *inputs)
        return _apply(name, *inputs)
    arrays = [one.numpy() if isinstance(one, Tensor) else one for one in inputs]
    outputs = options.get("out")
    if outputs is None:
        return getattr(ufunc, method)(*arrays, **options)
    options["out"] = tuple(one.numpy() if isinstance(one, Tensor) else one for one in outputs)
    results = getattr(ufunc, method)(*arrays, **options)
    if not isinstance(results, tuple):
        return outputs[0]
    return tuple(result if given is None else given for given, result in zip(outputs, results))


def value_ufunc(self: Any, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
    """``__array_ufunc__`` of values of a graph: ``array + value`` adds a call. Other ufuncs need elements and raise
    TypeError."""
    name = _OF_UFUNCS.get(ufunc.__name__)
    if method == "__call__" and not options and name is not None and all(map(_is_operand, inputs)):
        return _apply(name, *inputs)
    what = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
    raise TypeError(
        f"np.{what} needs arrays, but '{self.name}' is a value of a graph, without elements: use the functions "
        "of pdl.ops"
    )


def no_attribute(self: Any, name: str) -> Any:
    """``__getattr__``: raises AttributeError with a hint, such as ``pdl.ops.sum`` for ``value.sum``."""
    message = f"'{type(self).__name__}' object has no attribute '{name}'"
    if not name.startswith("_"):
        if name in dir(_ops):
            message += f"; use pdl.ops.{name}(…)"
        if type(self).__name__ == "Tensor" and hasattr(np.ndarray, name):
            message += f"{', or' if '; use' in message else '; use'} .numpy().{name}"
    raise AttributeError(message, name=name, obj=self)


class Infix:
    """Base class with infix operators."""

    __slots__ = ()
    __hash__ = object.__hash__

    def __add__(self: T, other: Any) -> T:
        return _apply("add", self, other)  # type: ignore[no-any-return]

    def __radd__(self: T, other: Any) -> T:
        return _apply("add", other, self)  # type: ignore[no-any-return]

    def __sub__(self: T, other: Any) -> T:
        return _apply("sub", self, other)  # type: ignore[no-any-return]

    def __rsub__(self: T, other: Any) -> T:
        return _apply("sub", other, self)  # type: ignore[no-any-return]

    def __mul__(self: T, other: Any) -> T:
        return _apply("mul", self, other)  # type: ignore[no-any-return]

    def __rmul__(self: T, other: Any) -> T:
        return _apply("mul", other, self)  # type: ignore[no-any-return]

    def __truediv__(self: T, other: Any) -> T:
        return _apply("div", self, other)  # type: ignore[no-any-return]

    def __rtruediv__(self: T, other: Any) -> T:
        return _apply("div", other, self)  # type: ignore[no-any-return]

    def __floordiv__(self: T, other: Any) -> T:
        return _apply("floor_div", self, other)  # type: ignore[no-any-return]

    def __rfloordiv__(self: T, other: Any) -> T:
        return _apply("floor_div", other, self)  # type: ignore[no-any-return]

    def __mod__(self: T, other: Any) -> T:
        return _apply("mod", self, other)  # type: ignore[no-any-return]

    def __rmod__(self: T, other: Any) -> T:
        return _apply("mod", other, self)  # type: ignore[no-any-return]

    def __matmul__(self: T, other: Any) -> T:
        return _apply("matmul", self, other)  # type: ignore[no-any-return]

    def __rmatmul__(self: T, other: Any) -> T:
        return _apply("matmul", other, self)  # type: ignore[no-any-return]

    def __pow__(self: T, other: Any) -> T:
        return _apply("pow", self, other)  # type: ignore[no-any-return]

    def __rpow__(self: T, other: Any) -> T:
        return _apply("pow", other, self)  # type: ignore[no-any-return]

    def __and__(self: T, other: Any) -> T:
        return _apply_to_bits("logical_and", np.bitwise_and, self, other)  # type: ignore[no-any-return]

    def __rand__(self: T, other: Any) -> T:
        return _apply_to_bits("logical_and", np.bitwise_and, other, self)  # type: ignore[no-any-return]

    def __or__(self: T, other: Any) -> T:
        return _apply_to_bits("logical_or", np.bitwise_or, self, other)  # type: ignore[no-any-return]

    def __ror__(self: T, other: Any) -> T:
        return _apply_to_bits("logical_or", np.bitwise_or, other, self)  # type: ignore[no-any-return]

    def __lt__(self: T, other: Any) -> T:
        return _apply("less", self, other)  # type: ignore[no-any-return]

    def __le__(self: T, other: Any) -> T:
        return _apply("less_equal", self, other)  # type: ignore[no-any-return]

    def __gt__(self: T, other: Any) -> T:
        return _apply("greater", self, other)  # type: ignore[no-any-return]

    def __ge__(self: T, other: Any) -> T:
        return _apply("greater_equal", self, other)  # type: ignore[no-any-return]

    def __eq__(self: T, other: Any) -> T:  # type: ignore[override]
        return _apply("equal", self, other)  # type: ignore[no-any-return]

    def __ne__(self: T, other: Any) -> T:  # type: ignore[override]
        return _apply("not_equal", self, other)  # type: ignore[no-any-return]

    def __neg__(self: T) -> T:
        return _apply("neg", self)  # type: ignore[no-any-return]

    def __invert__(self: T) -> T:
        return _apply_to_bits("logical_not", np.invert, self)  # type: ignore[no-any-return]

    def __abs__(self: T) -> T:
        return _apply("abs", self)  # type: ignore[no-any-return]


def install(kind: type) -> None:
    """Adds the infix operators to a class of the extension module."""
    for name, method in vars(Infix).items():
        if name.startswith("__") and (callable(method) and name not in ("__init_subclass__",)):
            setattr(kind, name, method)

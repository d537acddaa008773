"""Methods of pdl.Tensor that are implemented with NumPy: access to elements and conversions."""

from __future__ import annotations

import operator
from importlib import import_module
from types import NoneType
from typing import Any

import numpy as np

from pdl import _pdl, ops
from pdl._arrays import to_array
from pdl._dtypes import known_dtype
from pdl._infix import array_ufunc, no_attribute
from pdl._numbers import bits_of, from_bits
from pdl._pdl import Tensor


def tensor(array: Any, dtype: Any = None) -> Tensor:
    """Creates a tensor.

    Parameters
    ----------
    array : array, number or nested lists
        an array of any library with the buffer protocol or DLPack, whose memory the tensor shares (read-only if the
        array is), or numbers, which are copied
    dtype : dtype, optional
        ``"f32"``, ``"bf16"``, ``np.float32``; by default that of the array, or the one that NumPy infers
    """
    target = None if dtype is None else known_dtype(dtype)
    plain = isinstance(array, (bool, int, float, list, tuple, range, str, NoneType))
    plain = plain or hasattr(array, "__array__")
    made: Tensor = _pdl.tensor(to_array(array, target) if plain else array)
    if target is None or made.dtype == target:
        return made
    cast: Tensor = ops.cast(made, to=target)
    return cast


def _numpy(self: Tensor) -> np.ndarray[Any, Any]:
    """A NumPy array of the same memory; for bf16 with the dtype of the package ml_dtypes."""
    bits = bits_of(self)
    if self.dtype != "bf16":
        return bits
    try:
        bfloat16 = import_module("ml_dtypes").bfloat16
    except ImportError:
        raise BufferError(
            "NumPy has no dtype for bf16: use DLPack, cast the tensor, or install ml_dtypes"
        ) from None
    return bits.view(bfloat16)


def _elements(self: Tensor) -> np.ndarray[Any, Any]:
    """A NumPy array for access to elements; for bf16 a copy as float32."""
    bits = bits_of(self)
    return bits if self.dtype != "bf16" else (bits.astype(np.uint32) << 16).view(np.float32)


def _array(self: Tensor, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
    is_widened = dtype is not None and self.dtype == "bf16" and np.dtype(dtype).kind in "fiub"
    array = _elements(self) if is_widened else _numpy(self)
    if is_widened or dtype is not None and array.dtype != np.dtype(dtype):
        if copy is False:
            raise ValueError("a conversion to another dtype requires a copy")
        return array.astype(dtype, copy=not is_widened)
    return array.copy() if copy else array


def _item(self: Tensor) -> Any:
    """The single element, as a Python number."""
    return _elements(self).item()


def _tolist(self: Tensor) -> Any:
    """Nested lists of Python numbers."""
    return _elements(self).tolist()


def _make(bits: np.ndarray[Any, Any], dtype: str) -> Tensor:
    """Restores a pickled tensor."""
    return from_bits(bits, dtype) if dtype == "bf16" else _pdl.tensor(bits)


def _reduce(self: Tensor) -> Any:
    """For pickling and copying."""
    return _make, (bits_of(self).copy(), self.dtype)


def _format(self: Tensor, spec: str) -> str:
    """Scalars accept the format specifiers of Python's numbers: ``f"{loss:.3f}"``."""
    return format(self.item(), spec) if spec and self.ndim == 0 else format(str(self), spec)


def _rows(self: Tensor) -> Any:
    """The elements of a tensor that is no scalar."""
    if self.ndim == 0:
        raise TypeError(f"a scalar has no rows: {self.type}")
    return _elements(self)


def install() -> None:
    """Adds the methods to the class."""
    methods: dict[str, Any] = {
        "numpy": _numpy,
        "__array__": _array,
        "__array_ufunc__": array_ufunc,
        "__getattr__": no_attribute,
        "__format__": _format,
        "__reduce__": _reduce,
        "__len__": lambda self: len(_rows(self)),
        "__getitem__": lambda self, key: _elements(self)[key],
        "__iter__": lambda self: iter(_rows(self)),
        "__float__": lambda self: float(_elements(self)),
        "__int__": lambda self: int(_elements(self)),
        "__bool__": lambda self: bool(_elements(self)),
        "__index__": lambda self: operator.index(_elements(self)),
        "item": _item,
        "tolist": _tolist,
    }
    for name, method in methods.items():
        setattr(Tensor, name, method)

"""What pdl.Tensor takes from NumPy: elements, and conversions to Python's numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from pdl._pdl import Tensor


def _numpy(self: Tensor) -> np.ndarray[Any, Any]:
    """The same memory as a NumPy array."""
    return np.asarray(memoryview(self))


def _array(self: Tensor, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
    array = _numpy(self)
    if dtype is not None and array.dtype != np.dtype(dtype):
        if copy is False:
            raise ValueError("another dtype needs a copy")
        return array.astype(dtype)
    return array.copy() if copy else array


def install() -> None:
    """Gives them to the class."""
    methods: dict[str, Any] = {
        "numpy": _numpy,
        "__array__": _array,
        "__array_priority__": 1000,
        "__len__": lambda self: len(_numpy(self)),
        "__getitem__": lambda self, key: _numpy(self)[key],
        "__iter__": lambda self: iter(_numpy(self)),
        "__float__": lambda self: float(_numpy(self)),
        "__int__": lambda self: int(_numpy(self)),
        "__bool__": lambda self: bool(_numpy(self)),
        "__index__": lambda self: _numpy(self).__index__(),
        "item": lambda self: _numpy(self).item(),
        "tolist": lambda self: _numpy(self).tolist(),
    }
    for name, method in methods.items():
        setattr(Tensor, name, method)

"""Arrays of any library, and the names of dtypes in pdl and in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from pdl._pdl import Tensor

NUMPY_NAMES = {
    "f16": "float16",
    "f32": "float32",
    "f64": "float64",
    "i8": "int8",
    "i16": "int16",
    "i32": "int32",
    "i64": "int64",
    "u8": "uint8",
    "u16": "uint16",
    "u32": "uint32",
    "u64": "uint64",
    "bool": "bool",
}
_DTYPE_NAMES = {numpy: name for name, numpy in NUMPY_NAMES.items()}


def is_array(value: object) -> bool:
    """Whether it is a tensor: what has a buffer of numbers, or DLPack."""
    if isinstance(value, (Tensor, np.ndarray, np.generic)):
        return True
    if isinstance(value, (str, bytes, bytearray, int, float)):
        return False
    return isinstance(value, memoryview) or hasattr(value, "__dlpack__")


def to_array(value: object, dtype: str) -> np.ndarray[Any, Any]:
    """Numbers and nested lists as an array of the dtype; what has a dtype of its own keeps it."""
    if isinstance(value, (str, bytes, dict)) or value is None:
        raise TypeError(f"an array is wanted, not {type(value).__name__}")
    if hasattr(value, "dtype") or hasattr(value, "__array__"):
        return np.asarray(value)
    if dtype not in NUMPY_NAMES:
        raise TypeError(f"NumPy has no dtype for {dtype}: give an array that has it, with DLPack")
    numbers = np.asarray(value)
    wanted = np.dtype(NUMPY_NAMES[dtype])
    if numbers.dtype.kind == "f" and wanted.kind != "f":
        raise TypeError(f"numbers with a point are given where {dtype} is wanted")
    return numbers.astype(wanted)


def dtype_name(dtype: object) -> str:
    """The name that pdl has for a dtype: "f32" for ``np.float32``; a text stays."""
    if isinstance(dtype, str) and dtype not in _DTYPE_NAMES:
        return dtype
    name: str = np.dtype(dtype).name  # type: ignore[call-overload]
    return _DTYPE_NAMES.get(name, name)

"""The names of dtypes in pdl and in NumPy, and which objects are dense arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from pdl._check import text_of
from pdl._pdl import Tensor, has_buffer

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


def is_dense_array(value: object) -> bool:
    """Whether ``value`` is a tensor, or an array with the buffer protocol or DLPack."""
    if isinstance(value, (Tensor, np.ndarray, np.generic)):
        return True
    if isinstance(value, (str, bytes, bytearray, int, float)):
        return False
    return has_buffer(value) or hasattr(value, "__dlpack__")


def dtype_name(dtype: object) -> str:
    """pdl's name of a dtype: "f32" for ``np.float32``. Other strings are returned unchanged."""
    if isinstance(dtype, str) and dtype not in _DTYPE_NAMES:
        return text_of(dtype, "a dtype")
    name: str = np.dtype(dtype).name  # type: ignore[call-overload]
    return {**_DTYPE_NAMES, "bfloat16": "bf16"}.get(name, name)


def known_dtype(dtype: object) -> str:
    """pdl's name of a dtype; raises ValueError if there is none."""
    name = dtype_name(dtype)
    if name != "bf16" and name not in NUMPY_NAMES:
        raise ValueError(f"'{name}' is not a dtype; expected one of {', '.join([*NUMPY_NAMES, 'bf16'])}")
    return name

"""Arrays of any library, and the names of dtypes in pdl and in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from pdl._pdl import Tensor, tensor
from pdl._ragged import Ragged, Sparse, of_rows, sparse
from pdl._types import dims_of, dtype_of

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
    """Whether it is a tensor, what has a buffer of numbers or DLPack, or a ragged or sparse value."""
    if isinstance(value, (Tensor, np.ndarray, np.generic, Ragged, Sparse)):
        return True
    if isinstance(value, (str, bytes, bytearray, int, float)):
        return False
    return isinstance(value, memoryview) or hasattr(value, "__dlpack__")


def to_input(value: Any, name: str, type: str) -> Any:
    """What is given for an input and is no tensor by itself, as an array, or as the parts of a ragged or
    sparse value; the extension module calls it."""
    try:
        if isinstance(value, (Ragged, Sparse)):
            return value.parts()
        if type.startswith("sparse ") and not isinstance(value, (str, bytes, dict)):
            is_list = isinstance(value, (list, tuple))
            return sparse(to_array(value, dtype_of(type)) if is_list else value).parts()
        dims = dims_of(type)
        levels = sum(str(dim).startswith("~") for dim in dims)
        if levels and isinstance(value, (list, tuple)):
            row_dims = [dim if isinstance(dim, int) else 0 for dim in dims[levels + 1 :]]
            return of_rows(value, NUMPY_NAMES[dtype_of(type)], levels, row_dims).parts()
        return to_array(value, dtype_of(type))
    except (TypeError, ValueError, OverflowError, BufferError) as error:
        # As one of Python's own: what NumPy raises may take other arguments.
        kinds = (TypeError, OverflowError, BufferError, ValueError)
        kind = next(one for one in kinds if isinstance(error, one))
        raise kind(f"input '{name}': {error}") from None


def to_array(value: object, dtype: str | None) -> Any:
    """Numbers and nested lists as an array of the dtype, without one NumPy's; what has a dtype of its own
    keeps it."""
    if is_array(value):
        return tensor(value)
    if hasattr(value, "__array__"):
        return tensor(np.asarray(value))
    strange = _no_number(value)
    if strange is not None:
        of_them = f"a list with {strange}" if isinstance(value, (list, tuple)) else strange
        raise TypeError(f"an array, numbers or nested lists of numbers are wanted, not {of_them}")
    try:
        numbers = np.asarray(value)
    except ValueError:
        raise ValueError("the lists in a list are not as long as each other") from None
    if dtype is None:
        return numbers
    outside = f"a number is outside the range of {dtype}"
    if numbers.dtype.kind == "O":  # integers that no integer dtype has
        try:
            numbers = np.asarray(value, np.float64 if dtype[0] in "fb" else np.int64)
        except OverflowError:
            raise OverflowError(outside) from None
    wanted = np.dtype("float32" if dtype == "bf16" else NUMPY_NAMES[dtype])
    if numbers.size and numbers.dtype.kind == "f" and wanted.kind != "f":
        raise TypeError(f"numbers with a point are given where {dtype} is wanted")
    if wanted.kind in "iu" and numbers.size:
        range_ = np.iinfo(wanted)
        if int(numbers.min()) < range_.min or int(numbers.max()) > range_.max:
            raise OverflowError(outside)
    with np.errstate(over="ignore"):
        made = numbers.astype(wanted)
        bits = _round_to_bf16(made) if dtype == "bf16" else None
    if wanted.kind == "f":
        finite = made if bits is None else (bits.astype(np.uint32) << 16).view(np.float32)
        if not np.array_equal(np.isfinite(finite), np.isfinite(numbers)):
            raise OverflowError(outside)
    return made if bits is None else from_bits(bits, "bf16")


def _no_number(value: object) -> str | None:
    """What is no number there, by its type; None where all are numbers."""
    if isinstance(value, (list, tuple)):
        return next(filter(None, map(_no_number, value)), None)
    if isinstance(value, (bool, int, float, range, np.bool_, np.integer, np.floating, np.ndarray)):
        return None
    return None if is_array(value) else type(value).__name__


def _round_to_bf16(numbers: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The upper halves of the bits, rounded to even."""
    bits = numbers.view(np.uint32)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    return np.where(np.isnan(numbers), 0x7FC0, rounded).astype(np.uint16)


def from_bits(bits: np.ndarray[Any, Any], dtype: str) -> Tensor:
    """A tensor of what NumPy has no dtype for."""
    return tensor(bits)._view(dtype)


def dtype_name(dtype: object) -> str:
    """The name that pdl has for a dtype: "f32" for ``np.float32``; a text stays."""
    if isinstance(dtype, str) and dtype not in _DTYPE_NAMES:
        return dtype
    name: str = np.dtype(dtype).name  # type: ignore[call-overload]
    return {**_DTYPE_NAMES, "bfloat16": "bf16"}.get(name, name)


def numpy_dtype(dtype: object) -> np.dtype[Any]:
    """The dtype of NumPy, by its name in pdl or NumPy's."""
    name = dtype_name(dtype)
    if name not in NUMPY_NAMES:
        raise ValueError(f"'{name}' is no dtype of NumPy's; there are {', '.join(NUMPY_NAMES)}")
    return np.dtype(NUMPY_NAMES[name])

"""Conversion of arrays of any library, and of numbers and lists, to inputs."""

from __future__ import annotations

from typing import Any

import numpy as np

from pdl._dtypes import NUMPY_NAMES, is_dense_array
from pdl._pdl import Tensor, tensor
from pdl._ragged import Ragged, Sparse, of_rows, sparse, sparse_rows
from pdl._types import dims_of, dtype_of


def is_array(value: object) -> bool:
    """Whether ``value`` is a tensor, an array with the buffer protocol or DLPack, or a ragged or sparse value."""
    return isinstance(value, (Ragged, Sparse)) or is_dense_array(value)


def to_input(value: Any, name: str, type: str) -> Any:
    """Converts an argument that is not an array to one, or to the parts of a ragged or sparse value.

    Called by the extension module for the input ``name``, declared ``type``."""
    try:
        if isinstance(value, (Ragged, Sparse)):
            return value.parts()
        dims = dims_of(type)
        levels = sum(str(dim).startswith("~") for dim in dims)
        if type.startswith("sparse ") and not isinstance(value, (str, bytes, dict)):
            if levels and hasattr(value, "tocsr"):
                raise ValueError("a matrix is no sequences; pdl.sparse(matrix, lengths=…) makes some of its rows")
            matrix = _matrices(value, dtype_of(type), levels)
            columns = dims[-1] if isinstance(dims[-1], int) else None
            if levels == 0:
                return sparse(matrix).parts()
            return sparse_rows(matrix, columns, levels, to_array([], dtype_of(type))).parts()
        if levels and isinstance(value, (list, tuple)):
            row_dims = [dim if isinstance(dim, int) else 0 for dim in dims[levels + 1 :]]
            return of_rows(value, NUMPY_NAMES[dtype_of(type)], levels, row_dims).parts()
        return to_array(value, dtype_of(type))
    except (TypeError, ValueError, OverflowError, BufferError) as error:
        # As a built-in exception: NumPy's subclasses may take other arguments.
        kinds = (TypeError, OverflowError, BufferError, ValueError)
        kind = next(one for one in kinds if isinstance(error, one))
        raise kind(f"input '{name}': {error}") from None


def _matrices(value: Any, dtype: str, levels: int) -> Any:
    """The value with its matrices, which are ``levels`` lists deep, as arrays if they are lists."""
    if not isinstance(value, (list, tuple)):
        return value
    if levels == 0:
        return to_array(value, dtype) if len(value) else value
    return [_matrices(one, dtype, levels - 1) for one in value]


def to_array(value: object, dtype: str | None) -> Any:
    """Converts numbers and nested lists to an array of ``dtype`` (None: of the dtype that NumPy infers). Arrays
    keep their dtype."""
    if is_array(value):
        return tensor(value)
    if hasattr(value, "__array__"):
        return tensor(np.asarray(value))
    strange = _no_number(value)
    if strange is not None:
        of_them = f"a list with {strange}" if isinstance(value, (list, tuple)) else strange
        raise TypeError(f"expected an array, a number or nested lists of numbers, not {of_them}")
    try:
        numbers = np.asarray(value)
    except ValueError:
        raise ValueError("the nested lists have different lengths") from None
    if dtype is None:
        return numbers
    outside = f"a number is outside the range of {dtype}"
    if numbers.dtype.kind == "O":  # integers that do not fit into any integer dtype
        try:
            numbers = np.asarray(value, np.float64 if dtype[0] in "fb" else np.int64)
        except OverflowError:
            raise OverflowError(outside) from None
    target = np.dtype("float32" if dtype == "bf16" else NUMPY_NAMES[dtype])
    if numbers.size and numbers.dtype.kind == "f" and target.kind != "f":
        raise TypeError(f"expected {dtype}, got floating-point numbers")
    if target.kind in "iu" and numbers.size:
        range_ = np.iinfo(target)
        if int(numbers.min()) < range_.min or int(numbers.max()) > range_.max:
            raise OverflowError(outside)
    with np.errstate(over="ignore"):
        made = numbers.astype(target)
        bits = _round_to_bf16(made) if dtype == "bf16" else None
    if target.kind == "f":
        finite = made if bits is None else (bits.astype(np.uint32) << 16).view(np.float32)
        if not np.array_equal(np.isfinite(finite), np.isfinite(numbers)):
            raise OverflowError(outside)
    return made if bits is None else from_bits(bits, "bf16")


def _no_number(value: object) -> str | None:
    """The name of the type of the first element that is not a number; None if all are."""
    if isinstance(value, (list, tuple)):
        return next(filter(None, map(_no_number, value)), None)
    if isinstance(value, (bool, int, float, range, np.bool_, np.integer, np.floating, np.ndarray)):
        return None
    return None if is_array(value) else type(value).__name__


def _round_to_bf16(numbers: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The bits of the nearest bf16 numbers, ties to even."""
    bits = numbers.view(np.uint32)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    return np.where(np.isnan(numbers), 0x7FC0, rounded).astype(np.uint16)


def from_bits(bits: np.ndarray[Any, Any], dtype: str) -> Tensor:
    """A tensor of a dtype that NumPy lacks, from its bits."""
    return tensor(bits)._view(dtype)

"""Conversion of numbers and nested lists to arrays of a dtype. Numbers that the dtype cannot represent are errors."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np

from pdl._dtypes import NUMPY_NAMES, is_dense_array
from pdl._pdl import Tensor, tensor

Array = np.ndarray[Any, Any]


def numbers_of(value: object) -> Array:
    """Numbers and nested lists as an array of the dtype that NumPy infers; an array of Python's integers if no dtype
    has all of them."""
    strange = _no_number(value)
    if strange is not None:
        of_them = f"a list with {strange}" if isinstance(value, (list, tuple)) else strange
        raise TypeError(f"expected an array, a number or nested lists of numbers, not {of_them}")
    try:
        numbers = np.asarray(value)
    except ValueError:
        raise ValueError("the nested lists have different lengths") from None
    # NumPy infers f64 for integers some of which only u64 can represent.
    if numbers.dtype.kind == "f" and numbers.size and _are_integers(value):
        numbers = np.asarray(value, object)
    return numbers


def joined(arrays: Sequence[Array]) -> Array:
    """The concatenation of arrays of numbers, of a dtype that can represent all of them."""
    kinds = {one.dtype.kind for one in arrays}
    if {"i", "u"} <= kinds and "f" not in kinds:
        arrays = [one.astype(object) for one in arrays]
    return np.concatenate(arrays)


def as_dtype(numbers: Array, dtype: str | None) -> Array | Tensor:
    """The numbers as an array of pdl's ``dtype``, or without one of the dtype that NumPy inferred; as a tensor for
    bf16, which NumPy lacks.

    Raises
    ------
    TypeError
        for floating-point numbers if the dtype is not floating-point
    OverflowError
        if a number is outside the range of the dtype
    """
    if dtype is None:
        if numbers.dtype.kind != "O":
            return numbers
        dtype = "u64"
    outside = f"a number is outside the range of {dtype}"
    target = np.dtype("float32" if dtype == "bf16" else NUMPY_NAMES[dtype])
    if target.kind == "f" and (numbers.dtype.kind == "O" or dtype == "bf16"):
        try:
            numbers = _as_f64(numbers, rounds_to_odd=dtype != "f64")
        except OverflowError:
            raise OverflowError(outside) from None
    if numbers.size and numbers.dtype.kind == "f" and target.kind != "f":
        raise TypeError(f"expected {dtype}, got floating-point numbers")
    if numbers.size and target.kind in "iub":
        lowest, highest = (0, 1) if target.kind == "b" else (np.iinfo(target).min, np.iinfo(target).max)
        if int(numbers.min()) < lowest or int(numbers.max()) > highest:
            raise OverflowError(outside)
    with np.errstate(over="ignore"):
        bits = _round_to_bf16(numbers) if dtype == "bf16" else None
        made = numbers.astype(target)
    if target.kind == "f":
        finite = made if bits is None else (bits.astype(np.uint32) << 16).view(np.float32)
        if not np.array_equal(np.isfinite(finite), np.isfinite(numbers)):
            raise OverflowError(outside)
    return made if bits is None else from_bits(bits, "bf16")


def from_bits(bits: Array, dtype: str) -> Tensor:
    """A tensor of a dtype that NumPy lacks, from its bits."""
    return tensor(bits)._view(dtype)


def bits_of(array: Tensor) -> Array:
    """A NumPy array of the same memory; for a dtype that NumPy lacks, of the bits."""
    return np.asarray(memoryview(array._view("u16") if array.dtype == "bf16" else array))


def _no_number(value: object) -> str | None:
    """The name of the type of the first element that is not a number; None if all are."""
    if isinstance(value, (list, tuple)):
        return next(filter(None, map(_no_number, value)), None)
    if isinstance(value, np.ndarray):
        is_plain = not isinstance(value, np.ma.MaskedArray) and value.dtype.kind in "biuf"
        return None if is_plain else type(value).__name__
    if isinstance(value, (bool, int, float, range, np.bool_, np.integer, np.floating)):
        return None
    return None if is_dense_array(value) else type(value).__name__


def _are_integers(value: object) -> bool:
    """Whether all numbers are integers."""
    if isinstance(value, (list, tuple)):
        return all(map(_are_integers, value))
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "iub"
    return isinstance(value, (int, np.integer, range))


def _as_f64(numbers: Array, rounds_to_odd: bool) -> Array:
    """The numbers in f64. ``rounds_to_odd``: integers that f64 does not represent are rounded to odd, so that rounding
    them to a shorter dtype gives the same as rounding the integers (S. Boldo and G. Melquiond, "Emulation of FMA and
    correctly rounded sums", 2008)."""
    if rounds_to_odd and numbers.dtype.kind in "iuO":
        return np.array([_round_to_odd(one) for one in numbers.flat], np.float64).reshape(numbers.shape)
    return numbers.astype(np.float64)


def _round_to_odd(integer: Any) -> float:
    size = abs(int(integer))
    shift = max(size.bit_length() - 53, 0)
    odd = size >> shift | (size & (1 << shift) - 1 != 0)
    return float(odd << shift if integer >= 0 else -(odd << shift))


def _round_to_bf16(numbers: Array) -> Array:
    """The bits of the bf16 numbers nearest to f64 numbers, ties to even."""
    single = numbers.astype(np.float32)
    wide = single.astype(np.float64)
    # Rounded to odd: towards zero, and the last bit is set if that changed the number.
    bits = single.view(np.uint32) - (np.abs(wide) > np.abs(numbers)) | (wide != numbers)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    return np.where(np.isnan(numbers), 0x7FC0, rounded).astype(np.uint16)

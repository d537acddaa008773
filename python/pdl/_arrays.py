"""Conversion of arrays of any library, and of numbers and lists, to inputs."""

from __future__ import annotations

from typing import Any

import numpy as np

from pdl._dtypes import is_dense_array
from pdl._numbers import as_dtype, numbers_of
from pdl._pdl import tensor
from pdl._ragged import Ragged, Sparse, of_rows, sparse, sparse_rows
from pdl._types import dims_of, dtype_of


def is_array(value: object) -> bool:
    """Whether ``value`` is a tensor, an array with the buffer protocol or DLPack, or a ragged or sparse value."""
    return isinstance(value, (Ragged, Sparse)) or is_dense_array(value)


def to_input(value: Any, name: str, type: str) -> Any:
    """Converts an argument that is not an array to one, or to a ragged or sparse value.

    Called by the extension module for the input ``name``, declared ``type``."""
    try:
        dims = dims_of(type)
        if isinstance(value, (Ragged, Sparse)):
            columns = value.shape[1] if isinstance(value, Sparse) else None
            if columns is not None and isinstance(dims[-1], int) and columns != dims[-1]:
                raise ValueError(f"declared {type}, got {value.type}")
            return value
        levels = sum(str(dim).startswith("~") for dim in dims)
        if type.startswith("sparse ") and not isinstance(value, (str, bytes, dict)):
            if levels and hasattr(value, "tocsr"):
                raise ValueError("a matrix is no sequences; pdl.sparse(matrix, lengths=…) makes some of its rows")
            matrix = _matrices(value, dtype_of(type), levels)
            columns = dims[-1] if isinstance(dims[-1], int) else None
            if levels == 0:
                return sparse(matrix)
            return sparse_rows(matrix, columns, levels, to_array([], dtype_of(type)))
        if levels and isinstance(value, (list, tuple)):
            row_dims = [dim if isinstance(dim, int) else 0 for dim in dims[levels + 1 :]]
            return of_rows(value, dtype_of(type), levels, row_dims)
        if levels and is_dense_array(value):
            raise TypeError(
                f"declared {type}, got an array: pdl.ragged(list(array)) has rows of one length, "
                "pdl.ragged(array, lengths=…) divides it into rows"
            )
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
    return as_dtype(numbers_of(value), dtype)

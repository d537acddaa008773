"""Ragged values and sparse matrices, stored as dense tensors with offsets, the begin of each row."""

from __future__ import annotations

from typing import Any, Callable, Iterator, Sequence

import numpy as np

from pdl._dtypes import numpy_dtype
from pdl._infix import Infix
from pdl._pdl import Tensor, tensor
from pdl._types import dims_of

Parts = dict[str, Tensor]


def _index(array: Any) -> Tensor:
    """Offsets or indices as an i64 tensor."""
    if isinstance(array, Tensor) and array.dtype == "i64":
        return array
    numbers = np.asarray(array)
    if numbers.size and numbers.dtype.kind not in "iu":
        raise TypeError(f"offsets and indices must be integers, not {numbers.dtype}")
    return tensor(np.ascontiguousarray(numbers, np.int64))


class Lengths:
    """Symbols for the lengths of rows: equal lengths get the same symbol."""

    def __init__(self) -> None:
        self._known: list[np.ndarray[Any, Any]] = []

    def symbol(self, offsets: Tensor) -> str:
        """``T0``, ``T1``, …"""
        for i, known in enumerate(self._known):
            if np.array_equal(known, offsets):
                return f"T{i}"
        self._known.append(offsets.numpy())
        return f"T{len(self._known) - 1}"


class Ragged(Infix):
    """N rows of different lengths, concatenated in ``values``: row i is ``values[offsets[i]:offsets[i + 1]]``.

    With ``inner`` there are two ragged dims: row i consists of the inner rows ``offsets[i]`` to ``offsets[i + 1]``,
    and inner row j is ``values[inner[j]:inner[j + 1]]``.

    Networks and operators accept ragged values and return them for ragged results. See ``pdl.ragged``."""

    __slots__ = ("values", "offsets", "inner")
    __array_ufunc__ = None  # NumPy leaves `array + ragged` to the ragged value

    def __init__(self, values: Tensor, offsets: Tensor, inner: Tensor | None = None) -> None:
        self.values = values
        self.offsets = offsets
        self.inner = inner

    @property
    def dtype(self) -> str:
        """The type of an element: "f32"."""
        return self.values.dtype

    @property
    def device(self) -> str:
        """The device of its values."""
        return self.values.device

    @property
    def type(self) -> str:
        """The type in the syntax of the language: ``f32[2, ~T, 4]``."""
        symbols = iter("ST" if self.inner is not None else "T")
        return self.type_with(lambda offsets: next(symbols))

    def type_with(self, symbol: Callable[[Tensor], str]) -> str:
        """The type, with ``symbol`` applied to offsets giving the symbols of the lengths."""
        lengths = [self.offsets] if self.inner is None else [self.offsets, self.inner]
        dims = [str(len(self)), *(f"~{symbol(one)}" for one in lengths)]
        return f"{self.dtype}[{', '.join([*dims, *map(str, self.values.shape[1:])])}]"

    @property
    def lengths(self) -> np.ndarray[Any, Any]:
        """The length of each row."""
        return np.diff(self.offsets.numpy())

    def parts(self) -> Parts:
        """Its tensors, by the suffixes of the names of a network's inputs."""
        parts = {"": self.values, ".offsets": self.offsets}
        return parts if self.inner is None else {**parts, ".offsets2": self.inner}

    def __len__(self) -> int:
        return max(self.offsets.size - 1, 0)

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, key: Any) -> Any:
        """A row; for a slice or an array of row numbers, a ragged value of those rows."""
        if isinstance(key, (int, np.integer)):
            row = int(key) + (len(self) if key < 0 else 0)
            if not 0 <= row < len(self):
                raise IndexError(f"row {key} is out of range: there are {len(self)} rows")
            begin, end = self.offsets.numpy()[row : row + 2]
            if self.inner is None:
                return self.values[begin:end]
            return _pick(self.values, self.inner, np.arange(begin, end))
        rows = np.arange(len(self))[key]
        if self.inner is None:
            return _pick(self.values, self.offsets, rows)
        outer = _pick(tensor(np.arange(self.inner.size - 1)), self.offsets, rows)
        picked = _pick(self.values, self.inner, outer.values.numpy())
        return Ragged(picked.values, outer.offsets, picked.offsets)

    def tolist(self) -> list[Any]:
        """Nested lists of Python's numbers."""
        return [row.tolist() for row in self]

    def __str__(self) -> str:
        if self.values.size > 1000 or len(self) > 1000:
            return f"[{len(self)} rows]"
        rows = [str(row if isinstance(row, Ragged) else tensor(row)) for row in self]
        return "[" + ",\n ".join(rows) + "]"

    def __repr__(self) -> str:
        return f"ragged({self}, {self.type})"


def _pick(values: Tensor, offsets: Tensor, rows: Any) -> Ragged:
    """A ragged value of the given rows."""
    begin = offsets.numpy()[:-1][rows]
    lengths = np.diff(offsets.numpy())[rows]
    ends = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    indices = np.repeat(begin - ends[:-1], lengths) + np.arange(ends[-1])
    return Ragged(tensor(values[indices]), tensor(ends))


def _offsets_of(lengths: Any) -> Tensor:
    numbers = _index(lengths).numpy()
    if numbers.ndim != 1 or (numbers < 0).any():
        raise ValueError(f"lengths must be a list of non-negative integers, got {numbers.tolist()}")
    return _index(np.concatenate([[0], np.cumsum(numbers)]).astype(np.int64))


def ragged(
    values: Any, offsets: Any = None, inner: Any = None, *, lengths: Any = None, dtype: Any = None
) -> Ragged:
    """Creates a ragged value, ``f32[N, ~T, …]``.

    Parameters
    ----------
    values : sequence of rows, or array
        rows as lists or arrays; with ``offsets`` or ``lengths``, an array of all rows concatenated, which is not
        copied
    offsets : array of int, optional
        the begin of each row and the end of the last; with ``inner``, in units of inner rows
    inner : array of int, optional
        for two ragged dims: offsets of the inner rows
    lengths : array of int, optional
        the lengths of the rows, instead of ``offsets``
    dtype : dtype, optional
        dtype of lists

    Raises
    ------
    ValueError
        if offsets do not begin at 0, decrease, or do not end at the number of values or inner rows

    Examples
    --------
    >>> pdl.ragged([[1.0, 2.0], [3.0]])
    >>> pdl.ragged(values, offsets=[0, 2, 3])
    >>> pdl.ragged(values, lengths=[2, 1])
    """
    if dtype is not None:
        dtype = numpy_dtype(dtype)
    if offsets is None and lengths is None:
        return of_rows(list(values), dtype)
    if offsets is not None and lengths is not None:
        raise TypeError("pdl.ragged takes offsets or lengths, not both")
    values = values if hasattr(values, "dtype") else np.asarray(values, dtype)
    values = values if isinstance(values, Tensor) else tensor(values)
    if values.ndim == 0:
        raise ValueError("values must be an array, got a single number")
    begins = _offsets_of(lengths) if offsets is None else _index(offsets)
    inner = None if inner is None else _index(inner)
    what = "offsets" if lengths is None else "the sums of lengths"
    if inner is None:
        _check_offsets(begins, what, values.shape[0], "values")
    else:
        _check_offsets(begins, what, max(inner.size - 1, 0), "inner rows")
        _check_offsets(inner, "inner", values.shape[0], "values")
    return Ragged(values, begins, inner)


def _check_offsets(given: Tensor, name: str, count: int, of: str) -> None:
    """Checks that offsets begin at 0, do not decrease, and end at ``count``, the number of ``of``."""
    if given.ndim != 1 or given.size == 0:
        raise ValueError(
            f"{name} must have one dim, with the begin of each row and the end of the last, got {given.type}"
        )
    if given.device != "cpu":
        return  # they are checked when they are used
    numbers = given.numpy()
    if numbers[0] != 0:
        raise ValueError(f"{name} must begin at 0, got {numbers[0]}")
    down = np.flatnonzero(np.diff(numbers) < 0)
    if down.size:
        i = int(down[0])
        raise ValueError(f"{name} must not decrease, got {numbers[i + 1]} after {numbers[i]}")
    if numbers[-1] != count:
        raise ValueError(f"{name} end at {numbers[-1]}, but there are {count} {of}")


def of_rows(
    rows: Sequence[Any], dtype: Any = None, levels: int = 0, row_dims: Sequence[int] = ()
) -> Ragged:
    """A ragged value of rows, lists or arrays. ``levels`` is the number of ragged dims, 0 to determine it from the
    rows; ``row_dims`` are the dims after the ragged ones, used if all rows are empty."""
    arrays = []
    if levels != 2:
        try:
            arrays = [np.asarray(row, dtype) for row in rows]
        except ValueError:
            if levels == 1 or not all(isinstance(row, (list, tuple)) for row in rows):
                raise
            levels = 2  # the rows consist of rows of different lengths
    if levels == 2:
        flat = of_rows([item for row in rows for item in row], dtype, 1, row_dims)
        return Ragged(flat.values, _offsets_of([len(row) for row in rows]), flat.offsets)
    if any(one.ndim == 0 for one in arrays):
        raise TypeError("rows must be lists or arrays, got a single number")
    full = [one for one in arrays if one.size]
    kind = full[0].dtype if full else np.asarray([], dtype).dtype
    values = np.concatenate(full) if full else np.zeros((0, *row_dims), kind)
    return Ragged(tensor(values), _offsets_of([len(one) for one in arrays]))


class Sparse:
    """A sparse matrix in CSR format: row i has the elements ``values[offsets[i]:offsets[i + 1]]`` in the columns
    ``indices[offsets[i]:offsets[i + 1]]``. Without values its dtype is bool. See ``pdl.sparse``."""

    __slots__ = ("values", "offsets", "indices", "shape")

    def __init__(
        self, values: Tensor | None, offsets: Tensor, indices: Tensor, shape: tuple[int, int]
    ) -> None:
        self.values = values
        self.offsets = offsets
        self.indices = indices
        self.shape = shape

    @property
    def dtype(self) -> str:
        """The type of an element: "f32"; "bool" if it has no values."""
        return "bool" if self.values is None else self.values.dtype

    @property
    def device(self) -> str:
        """The device of its tensors."""
        return self.indices.device

    @property
    def type(self) -> str:
        """The type in the syntax of the language: ``sparse f32[3, 1000]``."""
        return f"sparse {self.dtype}[{self.shape[0]}, {self.shape[1]}]"

    def type_with(self, symbol: Callable[[Tensor], str]) -> str:
        """The type, which has no symbols; see ``Ragged.type_with``."""
        return self.type

    def parts(self) -> Parts:
        """Its tensors, by the suffixes of the names of a network's inputs."""
        values = {} if self.values is None else {"": self.values}
        return {**values, ".offsets": self.offsets, ".indices": self.indices}

    def __len__(self) -> int:
        return self.shape[0]

    def todense(self) -> np.ndarray[Any, Any]:
        """The matrix as a dense NumPy array."""
        values = True if self.values is None else self.values.numpy()
        dense = np.zeros(self.shape, bool if self.values is None else self.values.numpy().dtype)
        rows = np.repeat(np.arange(self.shape[0]), np.diff(self.offsets.numpy()))
        np.add.at(dense, (rows, self.indices.numpy()), values)
        return dense

    def __repr__(self) -> str:
        return f"<pdl {self.type}, {self.indices.size} elements>"


def sparse(
    matrix: Any = None,
    *,
    values: Any = None,
    offsets: Any = None,
    indices: Any = None,
    shape: tuple[int, int] | None = None,
) -> Sparse:
    """Creates a sparse matrix from a SciPy matrix, from a dense array, or from the parts of a CSR matrix.

    Parameters
    ----------
    matrix : SciPy sparse matrix or array, optional
        the matrix, instead of its parts
    values : array, optional
        the elements (``data`` in SciPy); without them the dtype is bool
    offsets : array of int
        the begin of each row and the end of the last (``indptr``)
    indices : array of int
        the column of each element
    shape : tuple of int
        numbers of rows and columns
    """
    if matrix is not None:
        if hasattr(matrix, "tocsr"):
            rows = matrix.tocsr()
            values, offsets, indices, shape = rows.data, rows.indptr, rows.indices, rows.shape
        else:
            dense = np.asarray(matrix)
            if dense.ndim != 2:
                raise ValueError(f"a sparse matrix must have 2 dims, got an array with {dense.ndim}")
            at, indices = np.nonzero(dense)
            values, shape = dense[at, indices], (dense.shape[0], dense.shape[1])
            offsets = np.searchsorted(at, np.arange(dense.shape[0] + 1))
        values = None if values.dtype == np.bool_ else values
    if offsets is None or indices is None or shape is None:
        raise TypeError("a sparse matrix requires offsets, indices and shape")
    return Sparse(
        None if values is None else tensor(np.ascontiguousarray(values)),
        _index(offsets),
        _index(indices),
        (int(shape[0]), int(shape[1])),
    )


def bytes_of(value: Tensor | Ragged | Sparse | Parts) -> int:
    """The size of all elements in bytes."""
    if isinstance(value, Tensor):
        return value.nbytes
    parts = value if isinstance(value, dict) else value.parts()
    return sum(part.nbytes for part in parts.values())


def of_parts(type: str, parts: Sequence[Tensor]) -> Ragged | Sparse | Parts:
    """An output of that type from its parts. Called by the extension module. Sequences of sparse rows, which only
    an input can have, are returned as a dict of parts."""
    if not type.startswith("sparse "):
        return Ragged(*parts)
    if "~" in type:
        names = [".offsets", ".offsets2", ".offsets3"][: type.count("~") + 1]
        values = [] if type.startswith("sparse bool[") else [""]
        return dict(zip([*values, *names, ".indices"], parts))
    offsets, indices = parts[-2:]
    columns = dims_of(type)[1]
    if not isinstance(columns, int):  # symbolic
        columns = int(indices.numpy().max(initial=-1)) + 1
    return Sparse(
        parts[0] if len(parts) == 3 else None, offsets, indices, (offsets.size - 1, columns)
    )

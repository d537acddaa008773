"""Ragged and sparse values, stored as dense tensors with offsets, the begin of each row."""

from __future__ import annotations

from typing import Any, Callable, Iterator, Sequence

import numpy as np

from pdl._check import shown
from pdl._dtypes import dtype_name, is_dense_array, known_dtype
from pdl._infix import Infix
from pdl._numbers import as_dtype, bits_of, from_bits, joined, numbers_of
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
    if numbers.size and numbers.dtype.kind == "u" and numbers.max() >= 1 << 63:
        raise ValueError(f"offsets and indices must be less than 2**63, got {numbers.max()}")
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
    picked = bits_of(values)[indices]
    return Ragged(from_bits(picked, "bf16") if values.dtype == "bf16" else tensor(picked), tensor(ends))


def _offsets_of(lengths: Any, count: int | None = None, of: str = "values") -> Tensor:
    """The offsets of rows with such lengths. ``count`` is the number of ``of``, which no length exceeds."""
    numbers = _index(lengths).numpy()
    if numbers.ndim != 1 or (numbers < 0).any():
        raise ValueError(f"lengths must be a list of non-negative integers, got {numbers.tolist()}")
    if count is not None and numbers.size and numbers.max() > count:
        raise ValueError(f"a length is {numbers.max()}, but there are {count} {of}")
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
        dtype of the numbers in lists; arrays keep theirs

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
    name = None if dtype is None else known_dtype(dtype)
    if offsets is None and lengths is None:
        try:
            rows = iter(values)
        except TypeError:
            raise TypeError(f"values must be a sequence of rows, not {shown(values)}") from None
        return of_rows(list(rows), name)
    if offsets is not None and lengths is not None:
        raise TypeError("pdl.ragged takes offsets or lengths, not both")
    if not is_dense_array(values):
        values = as_dtype(numbers_of(values), name)
    values = values if isinstance(values, Tensor) else tensor(values)
    if values.ndim == 0:
        raise ValueError("values must be an array, got a single number")
    inner = None if inner is None else _index(inner)
    count, of = values.shape[0], "values"
    if inner is not None:
        _check_offsets(inner, "inner", count, of)
        count, of = inner.size - 1, "inner rows"
    begins = _offsets_of(lengths, count, of) if offsets is None else _index(offsets)
    _check_offsets(begins, "offsets" if lengths is None else "the sums of lengths", count, of)
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
    down = np.flatnonzero(numbers[1:] < numbers[:-1])
    if down.size:
        i = int(down[0])
        raise ValueError(f"{name} must not decrease, got {numbers[i + 1]} after {numbers[i]}")
    if numbers[-1] != count:
        raise ValueError(f"{name} end at {numbers[-1]}, but there are {count} {of}")


def of_rows(
    rows: Sequence[Any], dtype: str | None = None, levels: int = 0, row_dims: Sequence[int] = ()
) -> Ragged:
    """A ragged value of rows, lists or arrays; numbers in lists are converted to ``dtype``. ``levels`` is the number
    of ragged dims, 0 to determine it from the rows; ``row_dims`` are the dims after the ragged ones, used if all rows
    are empty."""
    arrays: list[np.ndarray[Any, Any]] = []
    if levels != 2:
        try:
            arrays = [_row_of(row) for row in rows]
        except ValueError:
            if levels == 1 or not all(isinstance(row, (list, tuple)) for row in rows):
                raise
            levels = 2  # the rows consist of rows of different lengths
    if levels == 2:
        flat = of_rows([item for row in rows for item in row], dtype, 1, row_dims)
        return Ragged(flat.values, _offsets_of([len(row) for row in rows]), flat.offsets)
    if any(one.ndim == 0 for one in arrays):
        raise TypeError("rows must be lists or arrays, got a single number")
    lengths = _offsets_of([len(one) for one in arrays])
    given = [one for one, row in zip(arrays, rows) if one.size and is_dense_array(row)]
    if any(one.dtype != given[0].dtype for one in given):
        kinds = sorted({dtype_name(one.dtype) for one in given})
        raise TypeError(f"rows that are arrays must have the same dtype, got {' and '.join(kinds)}")
    if given:  # arrays keep their dtype
        dtype = dtype_name(given[0].dtype)
    full = [one for one in arrays if one.size]
    values = joined(full) if full else np.zeros((0, *row_dims))
    return Ragged(tensor(as_dtype(values, dtype)), lengths)


def _row_of(row: Any) -> np.ndarray[Any, Any]:
    """A row as an array; that of a list is not yet converted to a dtype."""
    if isinstance(row, np.ma.MaskedArray) or not is_dense_array(row):
        return numbers_of(row)
    return np.asarray(row)


class Sparse(Infix):
    """A sparse matrix in CSR format: row i has the elements ``values[offsets[i]:offsets[i + 1]]`` in the columns
    ``indices[offsets[i]:offsets[i + 1]]``. Without values its dtype is bool.

    The rows may be those of sequences: ``sequences`` has the offsets of the sequences, in rows; with two ragged dims
    those of the outer sequences, in inner ones, come first. ``shape`` is that of the matrix of all rows. See
    ``pdl.sparse``."""

    __slots__ = ("values", "offsets", "indices", "shape", "sequences")
    __array_ufunc__ = None  # NumPy leaves `array @ sparse` to the sparse matrix
    __hash__ = object.__hash__

    def __init__(
        self,
        values: Tensor | None,
        offsets: Tensor,
        indices: Tensor,
        shape: tuple[int, int],
        sequences: tuple[Tensor, ...] = (),
    ) -> None:
        self.values = values
        self.offsets = offsets
        self.indices = indices
        self.shape = shape
        self.sequences = sequences

    # No operator compares sparse matrices.
    def __eq__(self, other: object) -> bool:  # type: ignore[override]
        return self is other

    def __ne__(self, other: object) -> bool:  # type: ignore[override]
        return self is not other

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
        """The type in the syntax of the language: ``sparse f32[3, 1000]``, ``sparse f32[2, ~T, 1000]``."""
        symbols = iter("ST" if len(self.sequences) == 2 else "T")
        return self.type_with(lambda offsets: next(symbols))

    def type_with(self, symbol: Callable[[Tensor], str]) -> str:
        """The type, with the symbols of the lengths of sequences; see ``Ragged.type_with``."""
        dims = [str(len(self)), *(f"~{symbol(one)}" for one in self.sequences), str(self.shape[1])]
        return f"sparse {self.dtype}[{', '.join(dims)}]"

    def parts(self) -> Parts:
        """Its tensors, by the suffixes of the names of a network's inputs."""
        values = {} if self.values is None else {"": self.values}
        names = (".offsets", ".offsets2", ".offsets3")
        offsets = dict(zip(names, (*self.sequences, self.offsets)))
        return {**values, **offsets, ".indices": self.indices}

    def __len__(self) -> int:
        return self.sequences[0].size - 1 if self.sequences else self.shape[0]

    def todense(self) -> Any:
        """The matrix as a dense NumPy array; sequences as a ragged value of dense rows."""
        values = True if self.values is None else self.values.numpy()
        dense = np.zeros(self.shape, bool if self.values is None else self.values.numpy().dtype)
        rows = np.repeat(np.arange(self.shape[0]), np.diff(self.offsets.numpy()))
        np.add.at(dense, (rows, self.indices.numpy()), values)
        return Ragged(tensor(dense), *self.sequences) if self.sequences else dense

    def __repr__(self) -> str:
        return f"<pdl {self.type}, {self.indices.size} elements>"


def sparse(
    matrix: Any = None,
    *,
    values: Any = None,
    offsets: Any = None,
    indices: Any = None,
    shape: tuple[int, int] | None = None,
    lengths: Any = None,
) -> Sparse:
    """Creates a sparse matrix from a SciPy matrix, from a dense array, or from the parts of a CSR matrix; or
    sequences of sparse rows, ``sparse f32[N, ~T, D]``.

    Parameters
    ----------
    matrix : SciPy sparse matrix or array, optional
        the matrix, instead of its parts; a list of matrices is one sequence for each, a list of lists of matrices
        has two ragged dims
    values : array, optional
        the elements (``data`` in SciPy); without them the dtype is bool
    offsets : array of int
        the begin of each row and the end of the last (``indptr``)
    indices : array of int
        the column of each element
    shape : tuple of int
        numbers of rows and columns
    lengths : sequence of int, optional
        the number of rows of each sequence, which are the rows of the matrix, one after the other; with two ragged
        dims a list of such lists

    Raises
    ------
    ValueError
        if the parts do not agree: offsets that decrease or do not end at the number of indices, a column outside of
        the shape

    Examples
    --------
    >>> pdl.sparse([[0.0, 2.0], [1.0, 0.0]])
    >>> pdl.sparse([first, second])  # matrices with a column for each feature
    >>> pdl.sparse(rows, lengths=[2, 0, 1])
    """
    if matrix is not None:
        if isinstance(matrix, (list, tuple)) and _depth(matrix) > 2:
            if lengths is not None:
                raise TypeError("pdl.sparse takes a list of matrices or lengths, not both")
            return sparse_rows(matrix, None if shape is None else int(shape[1]))
        values, offsets, indices, shape = _csr(matrix)
    if offsets is None or indices is None or shape is None:
        raise TypeError("a sparse matrix requires offsets, indices and shape")
    if values is not None and not isinstance(values, Tensor):
        values = tensor(np.ascontiguousarray(values))
    rows, columns = int(shape[0]), int(shape[1])
    begins, places = _index(offsets), _index(indices)
    _check_csr(values, begins, places, rows, columns)
    sequences = () if lengths is None else _sequences_of(lengths, rows)
    if sequences:
        _check_offsets(sequences[-1], "the sums of lengths", rows, "rows")
    return Sparse(values, begins, places, (rows, columns), sequences)


def _check_csr(
    values: Tensor | None, offsets: Tensor, indices: Tensor, rows: int, columns: int
) -> None:
    """Checks that the parts of a CSR matrix agree with each other and with its shape."""
    if rows < 0 or columns < 0:
        raise ValueError(f"shape must have numbers of rows and columns, got ({rows}, {columns})")
    if indices.ndim != 1:
        raise ValueError(f"indices must have one dim, got {indices.type}")
    if values is not None and values.shape != indices.shape:
        raise ValueError(f"there must be one value for each index, got {values.type} and {indices.type}")
    _check_offsets(offsets, "offsets", indices.size, "indices")
    if offsets.size != rows + 1:
        raise ValueError(f"offsets are those of {offsets.size - 1} rows, but shape has {rows}")
    if indices.device != "cpu" or not indices.size:
        return  # on another device, they are checked when they are used
    numbers = indices.numpy()
    outside = numbers[(numbers < 0) | (numbers >= columns)]
    if outside.size:
        raise ValueError(f"an index must be from 0 to {columns - 1}, a column, got {outside[0]}")


def _csr(matrix: Any) -> tuple[Any, Any, Any, tuple[int, int]]:
    """The values (None for bool), offsets, indices and shape of a matrix."""
    if isinstance(matrix, Sparse):
        if matrix.sequences:
            raise ValueError(f"expected a matrix, got {matrix.type}")
        return matrix.values, matrix.offsets, matrix.indices, matrix.shape
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
    return None if values.dtype == np.bool_ else values, offsets, indices, shape


def _depth(value: Any) -> int:
    """The number of dims of a matrix or of nested lists, also of different lengths."""
    if isinstance(value, Sparse) or hasattr(value, "tocsr"):
        return 2
    if isinstance(value, (list, tuple)):
        return 1 + max(map(_depth, value), default=0)
    return int(np.ndim(value))


def _sequences_of(lengths: Any, rows: int) -> tuple[Tensor, ...]:
    """The offsets of sequences with such lengths, or lists of lengths, which have all ``rows``."""
    if len(lengths) and all(np.ndim(one) == 1 for one in lengths):
        inner = [int(length) for one in lengths for length in one]
        return _offsets_of([len(one) for one in lengths]), _offsets_of(inner, rows, "rows")
    return (_offsets_of(lengths, rows, "rows"),)


def sparse_rows(
    sequences: Sequence[Any], columns: int | None = None, levels: int = 0, none: Any = None
) -> Sparse:
    """Sequences of sparse rows from lists of matrices. ``levels`` is the number of ragged dims, 0 to determine it
    from the nesting. If there is no matrix, ``columns`` is required, and ``none`` is an empty array of the dtype."""
    levels = levels or _depth(sequences) - 2
    if levels not in (1, 2):
        raise ValueError(f"expected a list of matrices, or of lists of them, got {_depth(sequences)} dims")
    groups = sequences if levels == 2 else [sequences]
    matrices = [one for group in groups for one in group]
    # An empty list is a sequence without rows.
    parts = [None if isinstance(one, (list, tuple)) and not len(one) else _csr(one) for one in matrices]
    full = [part for part in parts if part is not None]
    widths = ([] if columns is None else [columns]) + [int(part[3][1]) for part in full]
    if not widths:
        raise ValueError("sequences without rows require shape, for the number of columns")
    if other := next((width for width in widths if width != widths[0]), None):
        raise ValueError(f"all matrices must have the same number of columns, got {widths[0]} and {other}")
    heights = [0 if part is None else int(part[3][0]) for part in parts]
    counts = [np.diff(np.asarray(part[1])) for part in full]
    elements = [
        np.ones(len(part[2]), np.bool_) if part[0] is None else np.asarray(part[0]) for part in full
    ]
    values = np.concatenate(elements) if elements else np.zeros(0, np.bool_) if none is None else none
    outer = (_offsets_of([len(group) for group in groups]),) if levels == 2 else ()
    return Sparse(
        None if values.dtype in (np.bool_, "bool") else tensor(values),
        _offsets_of(np.concatenate([*counts, np.zeros(0, np.int64)]).astype(np.int64)),
        _index(np.concatenate([*(np.asarray(part[2]) for part in full), np.zeros(0, np.int64)])),
        (sum(heights), widths[0]),
        (*outer, _offsets_of(heights)),
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

"""Columns of pyarrow's tables as data."""

from __future__ import annotations

import sys
from typing import Any, Mapping

import numpy as np

from pdl._ragged import ragged


def columns_of(given: Any) -> Mapping[str, Any] | None:
    """The columns of a pyarrow.Table or RecordBatch by name; None if the argument is something else."""
    arrow = sys.modules.get("pyarrow")
    if arrow is None or not isinstance(given, (arrow.Table, arrow.RecordBatch)):
        return None
    return {name: given.column(name) for name in given.column_names}


def column_of(name: str, given: Any) -> Column | None:
    """The argument as a column if it is an array of pyarrow; else None."""
    arrow = sys.modules.get("pyarrow")
    if arrow is None or not isinstance(given, (arrow.Array, arrow.ChunkedArray)):
        return None
    return Column(name, given)


class Column:
    """A column: rows of numbers, of lists of one size, or of lists of any size, which are ragged. Only the rows that
    are taken are read."""

    def __init__(self, name: str, values: Any) -> None:
        arrow = sys.modules["pyarrow"]
        self._name, self._values, self._sizes = name, values, []
        kind = values.type
        while arrow.types.is_fixed_size_list(kind):
            self._sizes.append(kind.list_size)
            kind = kind.value_type
        self._is_ragged = not self._sizes and (arrow.types.is_list(kind) or arrow.types.is_large_list(kind))
        element = kind.value_type if self._is_ragged else kind
        if not (arrow.types.is_primitive(element) and not arrow.types.is_temporal(element)):
            raise TypeError(f"'{name}' must be a column of numbers, or of lists of numbers, not {values.type}")
        if values.null_count:
            raise ValueError(f"'{name}' has {values.null_count} rows without a value")

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, rows: Any) -> Any:
        arrow = sys.modules["pyarrow"]
        taken = self._values.take(arrow.array(rows))
        if isinstance(taken, arrow.ChunkedArray):
            taken = taken.combine_chunks()
        if self._is_ragged:
            # The lists may be a part of a longer array.
            lengths = taken.value_lengths().to_numpy(zero_copy_only=False)
            return ragged(self._numbers(taken.flatten()), lengths=lengths)
        for _ in self._sizes:
            taken = taken.flatten()
        return self._numbers(taken).reshape(len(rows), *self._sizes)

    def _numbers(self, taken: Any) -> np.ndarray[Any, Any]:
        if taken.null_count:
            raise ValueError(f"'{self._name}' has lists with elements that have no value")
        return np.asarray(taken.to_numpy(zero_copy_only=False))

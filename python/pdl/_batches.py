"""Batches of rows, and what is given for batches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Iterable, Mapping

import numpy as np

from pdl._check import integer_of, shown
from pdl._ragged import Ragged, Sparse
from pdl._tensor import tensor

Batch = Mapping[str, Any]
Batches = Iterable[Batch]


def batches_of(given: Any, name: str) -> Batches:
    if isinstance(given, Mapping):
        raise TypeError(
            f"{name} is an iterable of batches, and one dict of arrays is given: pdl.batches({name}, 32) "
            "makes batches of its rows"
        )
    return given  # type: ignore[no-any-return]


def validation_of(given: Batches | None, epochs: int) -> Batches | None:
    if given is None:
        return None
    batches = batches_of(given, "validate")
    if not hasattr(batches, "__iter__") and not hasattr(batches, "__getitem__"):
        raise TypeError(f"validate is an iterable of batches, not {shown(given)}")
    if epochs > 1 and isinstance(batches, Iterator):
        raise TypeError(
            "validate is gone over after each epoch, and an iterator gives its batches once: give a "
            "list of batches, or pdl.batches(…)"
        )
    return batches


def batch_of(batch: Any, data: str) -> dict[str, Any]:
    if isinstance(batch, Mapping):
        return dict(batch)
    raise TypeError(
        f"a batch is a dict of arrays by the names of inputs, and the {data} give "
        f"{type(batch).__name__}"
    )


def _rows_of(name: str, given: Any) -> Any:
    """What rows are taken from by their numbers."""
    if isinstance(given, Ragged):
        return given
    if isinstance(given, Sparse) or hasattr(given, "tocsr"):
        raise TypeError(
            f"'{name}' is sparse, and no rows are taken from it: pdl.train takes any iterable of dicts"
        )
    try:
        knows_dlpack = hasattr(given, "__dlpack__") and not hasattr(given, "__array__")
        is_tensor = knows_dlpack or isinstance(given, np.ma.MaskedArray)
        array = np.asarray(tensor(given) if is_tensor else given)
    except (TypeError, ValueError) as error:
        raise type(error)(f"'{name}': {error}") from None
    if array.dtype.kind == "O":
        raise TypeError(f"'{name}' is no array of numbers, but {type(given).__name__}")
    if array.ndim == 0:
        raise ValueError(f"'{name}' is a single number, and batches are made of rows")
    return array


class batches:
    """Batches of rows of arrays, or ragged values, that are as long as each other, in another order in each
    pass::

    pdl.batches({"image": images, "label": labels}, 32)
    """

    def __init__(
        self,
        arrays: Mapping[str, Any],
        size: int,
        *,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        if not isinstance(arrays, Mapping):
            raise TypeError(
                "batches are made of a dict of arrays by the names of inputs, not of "
                f"{type(arrays).__name__}"
            )
        if not arrays:
            raise ValueError("there are no arrays to make batches of")
        self._arrays = {name: _rows_of(name, array) for name, array in arrays.items()}
        lengths = {len(array) for array in self._arrays.values()}
        if len(lengths) != 1:
            raise ValueError(
                f"the arrays have {sorted(lengths)} rows, and must have as many as each other"
            )
        if integer_of(size, "the size of a batch") < 1:
            raise ValueError(f"a batch has at least 1 row, got {size}")
        self._rows = lengths.pop()
        self._size = size
        self._random = np.random.default_rng(seed) if shuffle else None
        self._drop_last = drop_last

    def __len__(self) -> int:
        whole, rest = divmod(self._rows, self._size)
        return whole + (rest > 0 and not self._drop_last)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        order = (
            np.arange(self._rows) if self._random is None else self._random.permutation(self._rows)
        )
        for i in range(len(self)):
            rows = order[i * self._size : (i + 1) * self._size]
            yield {name: array[rows] for name, array in self._arrays.items()}

"""Batches of rows, and checks of arguments that are batches."""

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
            f"{name} must be an iterable of batches, got a dict of arrays: pdl.batches({name}, 32) "
            "makes batches of its rows"
        )
    return given  # type: ignore[no-any-return]


def validation_of(given: Batches | None, epochs: int) -> Batches | None:
    if given is None:
        return None
    batches = batches_of(given, "validate")
    if not hasattr(batches, "__iter__") and not hasattr(batches, "__getitem__"):
        raise TypeError(f"validate must be an iterable of batches, not {shown(given)}")
    if epochs > 1 and isinstance(batches, Iterator):
        raise TypeError(
            "validate is iterated over after each epoch, which an iterator allows only once: pass a list of "
            "batches, or pdl.batches(…)"
        )
    return batches


def batch_of(batch: Any, data: str) -> dict[str, Any]:
    if isinstance(batch, Mapping):
        return dict(batch)
    raise TypeError(
        f"a batch must be a dict of arrays by the names of inputs, but the {data} yield "
        f"{type(batch).__name__}"
    )


def _rows_of(name: str, given: Any) -> Any:
    """The argument as an array or a ragged value, which can be indexed by row numbers."""
    if isinstance(given, Ragged):
        return given
    if isinstance(given, Sparse) or hasattr(given, "tocsr"):
        raise TypeError(
            f"'{name}' is sparse, which pdl.batches does not support: pdl.train accepts any iterable of dicts"
        )
    try:
        knows_dlpack = hasattr(given, "__dlpack__") and not hasattr(given, "__array__")
        is_tensor = knows_dlpack or isinstance(given, np.ma.MaskedArray)
        array = np.asarray(tensor(given) if is_tensor else given)
    except (TypeError, ValueError) as error:
        raise type(error)(f"'{name}': {error}") from None
    if array.dtype.kind == "O":
        raise TypeError(f"'{name}' must be an array of numbers, not {type(given).__name__}")
    if array.ndim == 0:
        raise ValueError(f"'{name}' is a single number, but batches consist of rows")
    return array


class batches:
    """Batches of rows, in a new random order in each pass.

    Parameters
    ----------
    arrays : dict
        arrays or ragged values by the names of inputs, all with the same number of rows
    size : int
        number of rows of a batch; the last batch of a pass may have fewer
    shuffle : bool
        whether to shuffle the rows in each pass
    seed : int
        seed of the order
    drop_last : bool
        whether to drop a last batch with fewer than ``size`` rows

    Examples
    --------
    >>> pdl.batches({"image": images, "label": labels}, 32)
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
                "pdl.batches takes a dict of arrays by the names of inputs, not "
                f"{type(arrays).__name__}"
            )
        if not arrays:
            raise ValueError("pdl.batches takes at least one array")
        self._arrays = {name: _rows_of(name, array) for name, array in arrays.items()}
        lengths = {len(array) for array in self._arrays.values()}
        if len(lengths) != 1:
            raise ValueError(
                f"all arrays must have the same number of rows, got {sorted(lengths)}"
            )
        if integer_of(size, "the size of a batch") < 1:
            raise ValueError(f"the size of a batch must be at least 1, got {size}")
        self._rows = lengths.pop()
        self._size = size
        self._random = np.random.default_rng(seed) if shuffle else None
        self._drop_last = drop_last

    def __len__(self) -> int:
        full, rest = divmod(self._rows, self._size)
        return full + (rest > 0 and not self._drop_last)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        order = (
            np.arange(self._rows) if self._random is None else self._random.permutation(self._rows)
        )
        for i in range(len(self)):
            rows = order[i * self._size : (i + 1) * self._size]
            yield {name: array[rows] for name, array in self._arrays.items()}

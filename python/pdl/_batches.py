"""Batches of rows, and checks of arguments that are batches."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any, Iterable, Mapping

import numpy as np

from pdl._arrow import column_of, columns_of
from pdl._check import integer_of, seed_of, shown, truth_of
from pdl._numbers import bits_of
from pdl._pdl import Tensor
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
    column = column_of(name, given)
    if column is not None or isinstance(given, Ragged):
        return given if column is None else column
    if isinstance(given, Sparse) or hasattr(given, "tocsr"):
        raise TypeError(
            f"'{name}' is sparse, which pdl.batches does not support: pdl.train accepts any iterable of dicts"
        )
    try:
        knows_dlpack = hasattr(given, "__dlpack__") and not hasattr(given, "__array__")
        is_tensor = knows_dlpack or isinstance(given, np.ma.MaskedArray)
        array = np.asarray(tensor(given) if is_tensor else given)
    except (TypeError, ValueError) as error:
        if isinstance(given, (list, tuple)) and any(isinstance(row, (list, tuple, np.ndarray)) for row in given):
            raise type(error)(
                f"the rows of '{name}' have different lengths: pdl.ragged(rows, dtype=…) makes a ragged value of them"
            ) from None
        raise type(error)(f"'{name}': {error}") from None
    if array.dtype.kind == "O":
        raise TypeError(f"'{name}' must be an array of numbers, not {type(given).__name__}")
    if array.ndim == 0:
        raise ValueError(f"'{name}' is a single number, but batches consist of rows")
    return array


def _elements(array: Any) -> Any:
    return bits_of(array) if isinstance(array, Tensor) else np.asarray(array)


def hash_of(values: Mapping[str, Any]) -> str:
    """A hash of names, types and elements of arrays and ragged values; of large arrays, of some elements."""
    digest = hashlib.sha256()
    for name, value in values.items():
        parts = value.parts().values() if isinstance(value, Ragged) else [value]
        for array in map(_elements, parts):
            flat = array.reshape(-1)
            digest.update(f"{name} {array.dtype} {array.shape} ".encode())
            digest.update(flat[:: max(1, flat.size // 65536)].tobytes())
    return digest.hexdigest()


class batches:
    """Batches of rows, in a new random order in each pass.

    Parameters
    ----------
    arrays : dict or pyarrow.Table
        arrays or ragged values by the names of inputs, all with the same number of rows; or the columns of a table, in
        which those of ``FixedSizeList`` have rows that are arrays, and those of other lists are ragged, also if all
        lists happen to have one length
    size : int
        number of rows of a batch; the last batch of a pass may have fewer
    shuffle : bool
        whether to shuffle the rows in each pass
    seed : int
        seed of the order
    epoch : int
        the number of passes so far, which with ``seed`` determines the order of a pass: a training that is resumed
        after two epochs continues with ``epoch=2``. It is an attribute, too
    drop_last : bool
        whether to drop a last batch with fewer than ``size`` rows

    Examples
    --------
    >>> pdl.batches({"image": images, "label": labels}, 32)
    >>> pdl.batches(pyarrow.parquet.read_table("train.parquet"), 32)
    """

    def __init__(
        self,
        arrays: Mapping[str, Any],
        size: int,
        *,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
        epoch: int = 0,
    ) -> None:
        arrays = columns_of(arrays) or arrays
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
        size = integer_of(size, "the size of a batch")
        if size < 1:
            raise ValueError(f"the size of a batch must be at least 1, got {size}")
        self._rows = lengths.pop()
        self._size = size
        self._seed = seed_of(seed)
        self._shuffles = truth_of(shuffle, "shuffle")
        self._drop_last = truth_of(drop_last, "drop_last")
        self.epoch = seed_of(epoch, "epoch")

    def __len__(self) -> int:
        full, rest = divmod(self._rows, self._size)
        return full + (rest > 0 and not self._drop_last)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (self.take(rows) for rows in self.orders())

    def orders(self) -> Iterator[Any]:
        """The row numbers of each batch of a pass."""
        order = np.arange(self._rows)
        if self._shuffles:
            order = np.random.default_rng([self._seed, self.epoch]).permutation(self._rows)
        self.epoch += 1
        return (order[i * self._size : (i + 1) * self._size] for i in range(len(self)))

    def take(self, rows: Any) -> dict[str, Any]:
        """The rows with these numbers."""
        return {name: array[rows] for name, array in self._arrays.items()}

    def describe(self) -> str:
        """What processes with the same data have in common: sizes, dtypes, and a hash of some rows."""
        picked = self.take(np.linspace(0, self._rows - 1, num=min(self._rows, 64)).astype(np.int64))
        texts = [f"{self._rows} {self._size} {self._shuffles} {self._drop_last}"]
        if self._shuffles:
            texts.append(f"{self._seed} {self.epoch}")
        return " ".join([*texts, hash_of(picked)])

"""Processes that train together."""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Iterable, Iterator
from typing import Any, Mapping, NamedTuple, Protocol

import numpy as np

from pdl import _pdl
from pdl._batches import Batches, batch_of, batches
from pdl._check import integer_of, path_of, real_of, shown
from pdl.errors import Error, RankError


class Ranks:
    """The processes that run this program together, numbered from 0. All of them make the same calls of ``pdl.train``
    and of its result.

    Without arguments, they are those of the launcher that has started the program: ``mpirun`` of Open MPI or MPICH,
    ``srun`` or ``torchrun``; without a launcher there is one process. If the program has started MPI by ``mpi4py``,
    they are those of ``MPI.COMM_WORLD``.

    Parameters
    ----------
    communicator : mpi4py.MPI.Comm, optional
        an MPI communicator of the program
    rank, world : int, optional
        the number of this process, and how many there are, if no launcher has started them; they communicate by Gloo
    rendezvous : path, optional
        where these find each other: a folder that all of them see and no other run uses
    timeout : float
        the number of seconds after which a process that does not answer is a ``RankError``

    Raises
    ------
    pdl.RankError
        if the processes cannot join each other

    Examples
    --------
    >>> ranks = pdl.Ranks()
    >>> for step in pdl.train(net, data, distributed=ranks):
    ...     if ranks.rank == 0:
    ...         print(step.step, step.loss)
    """

    def __init__(
        self,
        communicator: Any = None,
        *,
        rank: int | None = None,
        world: int | None = None,
        rendezvous: str | os.PathLike[str] | None = None,
        timeout: float = 60.0,
    ) -> None:
        if not 0 < real_of(timeout, "timeout") <= 1e6:
            raise ValueError(f"timeout must be a number of seconds above 0, got {timeout}")
        by_hand = [rank, world, rendezvous]
        if by_hand == [None, None, None]:
            self._core = _pdl.RanksCore(timeout=timeout, **_given_by_mpi(communicator))
        elif communicator is not None:
            raise TypeError("communicator excludes rank, world and rendezvous")
        elif rank is None or world is None or rendezvous is None:
            raise TypeError("rank, world and rendezvous are given together")
        elif not 0 <= integer_of(rank, "rank") < integer_of(world, "world"):
            raise ValueError(f"rank must be from 0 to world - 1, got rank {rank} of {world}")
        else:
            self._core = _pdl.RanksCore(
                rank, world, path_of(rendezvous), timeout=timeout
            )
        atexit.register(self._close)

    @property
    def rank(self) -> int:
        """The number of this process."""
        return self._core.rank

    @property
    def size(self) -> int:
        """The number of processes."""
        return self._core.size

    @property
    def bytes_sent(self) -> int:
        """The number of bytes that this process has sent to the others so far."""
        return self._core.bytes_sent

    def __repr__(self) -> str:
        return f"<pdl.Ranks: rank {self.rank} of {self.size}>"

    def _close(self) -> None:
        has_failed = hasattr(sys, "last_value")
        if has_failed:
            sys.stdout.flush()
            sys.stderr.flush()
        self._core.close(has_failed)

    def all_gather(self, own: bytes) -> list[bytes]:
        """The bytes of all processes, by rank; all make this call."""
        return self._core.all_gather(own)

    def check_agreement(self, facts: Mapping[str, str]) -> None:
        """Raises an error at all ranks that names what differs."""
        self._core.check_agreement(list(facts.items()))

    def agree(self, own: str | Exception, what: str) -> str:
        """Returns a string that must be the same for all ranks. Raises an exception at all of them if it is not, or
        if one of them gives an exception."""
        failed = isinstance(own, Exception)
        texts = [text.decode() for text in self.all_gather((f"!{own}" if failed else str(own)).encode())]
        if isinstance(own, Exception):
            raise own
        for rank, text in enumerate(texts):
            if text.startswith("!"):
                raise RankError(f"rank {rank} has failed: {text[1:]}")
        for rank, text in enumerate(texts):
            if text != texts[0]:
                raise Error(f"{what}: rank 0 has {texts[0]}, but rank {rank} has {text}")
        return own


def _given_by_mpi(communicator: Any) -> dict[str, Any]:
    """The arguments of RanksCore for a communicator of mpi4py; nothing if the program does not use it."""
    mpi = sys.modules.get("mpi4py.MPI")
    if communicator is None:
        if mpi is None or not mpi.Is_initialized() or mpi.Is_finalized():
            return {}
        communicator = mpi.COMM_WORLD
    if mpi is None or not isinstance(communicator, mpi.Intracomm):
        raise TypeError(
            f"communicator must be an intracommunicator of mpi4py, not {shown(communicator)}"
        )
    library = mpi.get_vendor()[0]
    if library not in ("Open MPI", "MPICH"):
        raise RankError(f"mpi4py uses {library}, but pdl supports Open MPI and MPICH")
    return {
        "communicator": mpi._addressof(communicator),
        "size": communicator.Get_size(),
        "library": library,
    }


_launched: Ranks | None = None


def ranks_of(given: bool | Ranks | Any) -> Ranks | None:
    """The argument ``distributed`` of pdl.train."""
    global _launched
    if given is False:
        return None
    if isinstance(given, Ranks):
        return given
    if given is not True:
        return Ranks(given)
    if _launched is None:
        _launched = Ranks()
    return _launched


class Whole(NamedTuple):
    """A batch of which any rows can be taken."""

    rows: int
    arrays: Mapping[str, Any]
    # The names of the arrays that have rows; others are given as they are.
    row_inputs: frozenset[str]

    def take(self, begin: int, end: int) -> dict[str, Any]:
        return {
            name: value[begin:end] if name in self.row_inputs else value
            for name, value in self.arrays.items()
        }


class Picked(NamedTuple):
    """Rows of ``pdl.batches``, which are read when they are taken."""

    rows: int
    data: batches
    order: Any

    def take(self, begin: int, end: int) -> dict[str, Any]:
        return self.data.take(self.order[begin:end])


class Divisible(Protocol):
    """A batch that is divided into parts."""

    @property
    def rows(self) -> int: ...
    def take(self, begin: int, end: int) -> dict[str, Any]: ...


def _whole(given: Any, data: str, row_inputs: Iterable[str]) -> Whole:
    arrays = batch_of(given, data)
    names = frozenset(row_inputs) & arrays.keys()
    try:
        lengths = {len(arrays[name]) for name in names}
    except TypeError as error:
        raise TypeError(f"a batch is divided into parts, which requires arrays with rows: {error}") from None
    if len(lengths) != 1:
        raise ValueError(f"all arrays of a batch must have the same number of rows, got {sorted(lengths)}")
    return Whole(lengths.pop(), arrays, names)


def divisible(data: Batches, row_inputs: Iterable[str]) -> Iterator[Divisible]:
    """The batches of the data, with their numbers of rows."""
    if type(data) is batches:
        return (Picked(len(order), data, order) for order in data.orders())
    return (_whole(batch, "data", row_inputs) for batch in data)


class Parts:
    """Divides batches into micro-batches, of which each rank has some."""

    def __init__(self, ranks: Ranks | None, micro_batch: int) -> None:
        if integer_of(micro_batch, "micro_batch") < 0:
            raise ValueError(f"micro_batch must be at least 1, or 0 for the default, got {micro_batch}")
        self.ranks = ranks
        self.micro_batch = micro_batch

    @property
    def count(self) -> int:
        return 1 if self.ranks is None else self.ranks.size

    def next(self, batches: Iterator[Divisible], step: int) -> Divisible | None:
        """The next batch, or None at the end of the data; the same for all ranks."""
        own: str | Exception = "no more data"
        batch = None
        try:
            batch = next(batches, None)
            if batch is not None:
                own = f"a batch of {batch.rows} rows"
        except Exception as error:
            own = error
        if self.ranks is not None:
            self.ranks.agree(own, f"step {step}")
        elif isinstance(own, Exception):
            raise own
        return batch

    def of(self, batch: Divisible) -> tuple[list[dict[str, Any]], int, int]:
        """The micro-batches of this rank, the number of rows of the batch, and of a micro-batch."""
        if batch.rows == 0:
            raise Error("a batch has no rows")
        if not self.micro_batch:
            if batch.rows % self.count:
                raise Error(
                    f"{self.count} ranks cannot share a batch of {batch.rows} rows equally; micro_batch=… sets the "
                    "number of rows of a part"
                )
            self.micro_batch = batch.rows // self.count
        size = self.micro_batch
        rank = 0 if self.ranks is None else self.ranks.rank
        begin, end = _pdl.micro_batches_of(-(-batch.rows // size), rank, self.count)
        parts = [batch.take(i * size, min((i + 1) * size, batch.rows)) for i in range(begin, end)]
        return parts, batch.rows, size

    def by_turns(self, own: list[tuple[dict[str, float], int]]) -> list[tuple[dict[str, float], int]]:
        """All results of which rank r has the numbers r, r + size, …, each metrics and a number of rows."""
        if self.ranks is None or self.count == 1:
            return own
        names = sorted({name for metrics, _ in own for name in metrics})
        table = np.array([[metrics[name] for name in names] + [rows] for metrics, rows in own], np.float64)
        gathered = [np.frombuffer(one, np.float64) for one in self.ranks.all_gather(table.tobytes())]
        # Rank 0 has the first result, so it knows the names if there are any.
        names = self.ranks.all_gather("\n".join(names).encode())[0].decode().splitlines()
        tables = [one.reshape(-1, len(names) + 1) for one in gathered]
        total = sum(len(one) for one in tables)
        rows = (tables[i % self.count][i // self.count] for i in range(total))
        return [(dict(zip(names, row[:-1].tolist())), int(row[-1])) for row in rows]


def check_same(ranks: Ranks, facts: Mapping[str, Any]) -> None:
    """Raises an error if versions or ``facts`` differ between the ranks."""
    texts = {name: " ".join(str(value).split()) for name, value in facts.items()}
    ranks.check_agreement({"version of pdl": _pdl.__version__, **texts})

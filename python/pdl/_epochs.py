"""What steps and epochs of training give, and which epoch is the best one."""

from __future__ import annotations

import difflib
import math
import warnings
from typing import Mapping, NamedTuple, Sequence

from pdl._check import integer_of, text_of
from pdl.errors import Error, UnknownNameError


class Step(NamedTuple):
    """What one step of training gave. ``metrics`` are the losses, then the other outputs that are one
    number, as they were before the step; of what a step leaves out there is none. ``loss`` is the first
    loss that the step has, nan where it has none."""

    step: int
    epoch: int
    metrics: dict[str, float]
    loss: float


class Epoch(NamedTuple):
    """What one pass over the data gave. ``training`` has the means of what its steps gave, over the rows of
    the batches, and ``validation`` those of the validation data after it; empty where there are none. ``loss``
    is the first loss in ``training``. ``is_best``: no epoch before it was as good."""

    step: int
    epoch: int
    training: dict[str, float]
    validation: dict[str, float]
    is_best: bool
    loss: float


class Means:
    """Means of metrics over the rows of batches."""

    def __init__(self) -> None:
        self._sums: dict[str, float] = {}
        self._rows: dict[str, int] = {}

    def add(self, metrics: Mapping[str, float], rows: int) -> None:
        for name, value in metrics.items():
            self._sums[name] = self._sums.get(name, 0.0) + value * rows
            self._rows[name] = self._rows.get(name, 0) + rows

    def of(self, names: Sequence[str]) -> dict[str, float]:
        """Of those that there were, in this order."""
        return {name: self._sums[name] / self._rows[name] for name in names if self._rows.get(name)}


class Watch:
    """Which epoch is the best one: by the metric of ``monitor``, "right:max", else by the first loss."""

    def __init__(self, monitor: str | None, patience: int | None, metrics: Sequence[str]) -> None:
        self.name, self._is_largest = _read_monitor(monitor, metrics)
        self._patience = None if patience is None else _read_patience(patience, metrics)
        self._best = -math.inf if self._is_largest else math.inf
        self._stale = 0
        self._has_warned = False

    def is_best(self, value: float | None, epoch: int) -> bool:
        """Whether the epoch that gave this value is better than all before it; nan never is."""
        is_best = value is not None and (
            value > self._best if self._is_largest else value < self._best
        )
        if value is not None and is_best:
            self._best, self._stale = value, 0
            return True
        self._stale += 1
        if self.name and not math.isfinite(self._best) and not self._has_warned:
            self._has_warned = True
            why = "no step of it computes" if value is None else f"is {value}"
            warnings.warn(
                f"'{self.name}', which says which epoch is best, {why} after epoch {epoch}: as long as "
                "that is so, none is best",
                RuntimeWarning,
                stacklevel=2,
            )
        return False

    def is_over(self) -> bool:
        """Whether so many epochs were not better that training ends."""
        return self._patience is not None and self._stale >= self._patience


def _read_monitor(monitor: str | None, metrics: Sequence[str]) -> tuple[str, bool]:
    """The metric, and whether its largest value is the best."""
    if monitor is None:
        return (metrics[0] if metrics else ""), False
    name, _, kind = text_of(monitor, "monitor").rpartition(":")
    if not name or kind not in ("min", "max"):
        name, kind = monitor, "min"
    if name not in metrics:
        near = difflib.get_close_matches(name, metrics, n=1)
        hint = f", did you mean '{near[0]}'?" if near else f"; there are {', '.join(metrics)}"
        raise UnknownNameError(f"no loss or metric is called '{name}'{hint} [PDL0102]", "PDL0102")
    return name, kind == "max"


def _read_patience(patience: int, metrics: Sequence[str]) -> int:
    count = integer_of(patience, "patience")
    if count < 1:
        raise ValueError(
            "patience is after how many epochs that were not better than the best one training ends, at "
            f"least 1, got {patience}"
        )
    if not metrics:
        raise Error(
            "the network has no loss and no output that is one number, which could say when to end early"
        )
    return count

"""Results of training steps and epochs, and the choice of the best epoch."""

from __future__ import annotations

import math
import warnings
from typing import Mapping, NamedTuple, Sequence

from pdl import _pdl
from pdl._check import integer_of, text_of
from pdl.errors import Error


class Step(NamedTuple):
    """The result of a training step.

    ``metrics`` are the losses and then the other scalar outputs, computed with the parameters before the step.
    Those that the step does not compute (``every=``) are absent. ``loss`` is the first loss of the step, or nan."""

    step: int
    epoch: int
    metrics: dict[str, float]
    loss: float


class Epoch(NamedTuple):
    """The result of an epoch, one pass over the data.

    ``training`` are the means of the metrics of its steps over all rows, and ``validation`` the means over the
    validation data after the epoch (empty without validation data). ``loss`` is the first loss in ``training``.
    ``is_best`` is whether the epoch is better than all before it."""

    step: int
    epoch: int
    training: dict[str, float]
    validation: dict[str, float]
    is_best: bool
    loss: float


class Means:
    """Means of metrics, weighted by the numbers of rows of the batches."""

    def __init__(self) -> None:
        self._sums: dict[str, float] = {}
        self._rows: dict[str, int] = {}

    def add(self, metrics: Mapping[str, float], rows: int) -> None:
        if rows == 0:  # whose means are nan
            return
        for name, value in metrics.items():
            self._sums[name] = self._sums.get(name, 0.0) + value * rows
            self._rows[name] = self._rows.get(name, 0) + rows

    def of(self, names: Sequence[str]) -> dict[str, float]:
        """The means of ``names``, in this order, without those that were never added."""
        return {name: self._sums[name] / self._rows[name] for name in names if self._rows.get(name)}


class Watch:
    """Determines the best epoch by the metric ``monitor``, such as "right:max"; by default the first loss."""

    def __init__(self, monitor: str | None, patience: int | None, metrics: Sequence[str]) -> None:
        text = "" if monitor is None else text_of(monitor, "monitor")
        self.name, self._is_largest = _pdl.parse_monitor(text, list(metrics))
        self._patience = 0 if patience is None else _read_patience(patience, metrics)
        self._best = _pdl.BestEpoch(self._is_largest)
        self._has_warned = False

    def is_best(self, value: float | None, epoch: int) -> bool:
        """Whether an epoch with this value is better than all before it; nan never is."""
        is_best = self._best.update(value, self._is_largest)
        if self.name and not is_best and not math.isfinite(self._best.best) and not self._has_warned:
            self._has_warned = True
            why = "was computed by no step" if value is None else f"is {value}"
            warnings.warn(
                f"the monitored metric '{self.name}' {why} after epoch {epoch}, so there is no best epoch yet",
                RuntimeWarning,
                stacklevel=2,
            )
        return is_best

    def is_over(self) -> bool:
        """Whether training ends early because of ``patience``."""
        return self._best.is_stale(self._patience)


def _read_patience(patience: int, metrics: Sequence[str]) -> int:
    count = integer_of(patience, "patience")
    if count < 1:
        raise ValueError(
            "patience, the number of epochs without improvement after which training ends, must be at "
            f"least 1, got {patience}"
        )
    if not metrics:
        raise Error(
            "patience requires a metric to monitor, but the network has no loss and no scalar output"
        )
    return count

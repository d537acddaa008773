"""Training: steps on batches that any iterable gives."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Iterator
from functools import partial
from typing import Any, Callable, Mapping, NamedTuple
from weakref import ref

from pdl import _pdl
from pdl._batches import Batch, Batches, batch_of, batches_of, validation_of
from pdl._check import integer_of, seed_of, text_of, truth_of
from pdl._epochs import Epoch, Means, Step, Watch
from pdl._graph import Graph
from pdl._network import Network, Weights, make, threads_of, weights_of, with_values
from pdl._render import Function, function_text
from pdl.errors import Error, RunError, UnknownNameError

Optimizer = Function | Callable[..., Any]


class _Source(NamedTuple):
    """A text to train: its name and folder, the values of its attrs, what it imports, and values of what is
    in that."""

    text: str
    name: str = "<training>"
    folder: str = "."
    settings: Mapping[str, str] = {}
    files: Mapping[str, str] = {}
    values: Mapping[str, Any] = {}


def _source_of(source: Network | Graph | str) -> _Source:
    if isinstance(source, str):
        return _Source(source)
    if isinstance(source, Graph):
        return _Source(source.text(), files=source.files, values=source.part_values())
    program = source.program
    if not program.source:
        return _Source(source.text(), folder=program.folder)
    return _Source(
        program.source, program.name, program.folder, program.settings, program.files
    )


class Training:
    """Steps of training, one for each batch; what ``pdl.train`` gives. They are done as they are asked
    for: ``for step in training`` gives each of them, ``for epoch in training.epochs()`` each pass over the
    data. ``network()`` is the network with what was learned so far.

    ``history`` has an ``Epoch`` for each pass so far, and ``best`` is the best one of them, or None."""

    def __init__(
        self,
        source: Network | Graph | str,
        data: Batches,
        optimizer: Optimizer | None = None,
        loss: str = "loss",
        *,
        epochs: int = 1,
        validate: Batches | None = None,
        monitor: str | None = None,
        patience: int | None = None,
        device: str | None = None,
        weights: Weights = None,
        threads: int = 0,
        seed: int = 0,
        check_finite: bool = False,
        precision: str = "f32",
    ) -> None:
        self.history: list[Epoch] = []
        self.best: Epoch | None = None
        self._source = source
        self._data = batches_of(data, "data")
        self._epochs = integer_of(epochs, "epochs")
        if epochs < 1:
            raise ValueError(f"epochs is the count of passes over the data, at least 1, got {epochs}")
        self._validation = validation_of(validate, self._epochs)
        self._device = text_of(
            device or (source.device if isinstance(source, Network) else "cpu"), "device"
        )
        self._threads = threads_of(threads)
        self._seed = seed_of(seed)
        text, name, folder, settings, files, values = _source_of(source)
        # What is trained, without what a step of training adds to it.
        self._program = (
            source.program
            if isinstance(source, Network)
            else _pdl.compile(text, name, folder, settings, False, files)
        )
        if optimizer is not None:
            text_of(loss, "loss")
            text += f"\nminimize {loss} with {function_text(optimizer)}\n"
        given = with_values(self._program, values, weights)
        if isinstance(source, Network):
            # What a loss that is not finite takes it back to.
            self._before, self._states = source.session(), source.states
            if given is None:
                given = {**source.parameters, **self._states}
        try:
            program = _pdl.compile(text, name, folder, settings, True, files)
        except UnknownNameError as error:
            if optimizer is None or f"'{loss}'" not in str(error):
                raise
            told = f"{error}\n   = loss=… of pdl.train names the value that is minimized"
            raise UnknownNameError(told, error.code, error.mistakes) from None
        self._core = _pdl.TrainingCore(
            program,
            self._device,
            self._threads,
            weights_of(program, given),
            self._seed,
            truth_of(check_finite, "check_finite"),
            text_of(precision, "precision"),
        )
        self._losses = self._core.metrics[: self._core.num_losses]
        self._watch = Watch(monitor, patience, self._core.metrics)
        self._best_values: dict[str, _pdl.Tensor] = {}
        # After how many steps the network that is given has learned what they did.
        self._first = self._learned = self._core.steps
        # Made when the first step is asked for: it refers to this.
        self._events: Iterator[Step | Epoch] | None = None
        self._is_used = False

    def __iter__(self) -> Iterator[Step]:
        return self

    def __next__(self) -> Step:
        for event in self._go_on():
            if isinstance(event, Step):
                return event
        raise StopIteration

    def epochs(self) -> Iterator[Epoch]:
        """Does the steps of one pass over the data after another, and gives what each pass gave::

            for epoch in training.epochs():
                print(epoch.epoch, epoch.loss, epoch.validation)
        """
        for event in self._go_on():
            if isinstance(event, Epoch):
                yield event

    def network(self, *, best: bool = False) -> Network:
        """The network with what was learned so far, or with ``best`` with what it had learned after the
        best epoch; it trains no further."""
        self._is_used = True
        if best and self.best is None:
            raise Error("no epoch is the best one so far: none is over, or what says it was nan")
        values = self._best_values if best else self._own_values()
        return make(self._program, self._device, values, self._threads, self._seed)

    def __del__(self) -> None:
        if getattr(self, "_is_used", True):
            return
        warnings.warn(
            "pdl.train does its steps as they are asked for, and none was: loop over what it gives, "
            "or over its epochs()",
            RuntimeWarning,
            stacklevel=2,
        )

    def _go_on(self) -> Iterator[Step | Epoch]:
        """What is left to do."""
        self._is_used = True
        if self._events is None:
            self._events = self._run()
        return self._events

    def _own_values(self) -> dict[str, _pdl.Tensor]:
        own = {row[0] for row in [*self._program.parameters, *self._program.states]}
        return {name: value for name, value in self._core.values().items() if name in own}

    def _teach(self) -> None:
        """Gives the network that is trained what was learned since the last time."""
        if isinstance(self._source, Network) and self._learned != self._core.steps:
            self._learned = self._core.steps
            self._source._adopt(self.network())

    def _take_back(self) -> None:
        """Gives it what it was before the first step."""
        if isinstance(self._source, Network) and self._learned != self._first:
            self._source._adopt(self._before)
            for name, value in self._states.items():
                self._source._set_state(name, value)
        self._learned = self._core.steps

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes what the next step depends on to a .safetensors file: parameters, states, the
        optimizers' states, and how many steps were done. ``pdl.train(…, weights=path)`` goes on with it, bit
        for bit where the data do."""
        self._is_used = True
        _pdl.write_tensors(os.fspath(path), self._core.values())

    def _run(self) -> Iterator[Step | Epoch]:
        """The steps, and behind those of a pass what it gave."""
        try:
            self._look_at_validation()
            for epoch in range(1, self._epochs + 1):
                means, before = Means(), self._core.steps
                for batch in self._data:
                    metrics, rows = self._step(batch)
                    means.add(metrics, rows)
                    if isinstance(self._source, Network):
                        self._source._learn_from(partial(_teach, ref(self)))
                    yield Step(self._core.steps, epoch, metrics, self._loss_in(metrics))
                if self._core.steps == before:
                    raise Error(
                        f"the data give no batch in pass {epoch}: can they be gone over again?"
                    )
                yield self._end_epoch(epoch, means.of(self._core.metrics))
                if self._watch.is_over():
                    return
        except _Diverged as error:
            self._take_back()
            raise error.error from None
        finally:
            self._teach()

    def _loss_in(self, metrics: Mapping[str, float]) -> float:
        return next((metrics[name] for name in self._losses if name in metrics), math.nan)

    def _step(self, batch: Batch) -> tuple[dict[str, float], int]:
        arrays, before = batch_of(batch, "data"), self._core.steps
        try:
            return self._core.step(arrays)
        except _WRONG as error:
            if isinstance(error, Error) and self._core.steps > before:
                raise _Diverged(error) from None
            raise _named(f"step {before + 1}", error) from None

    def _look_at_validation(self) -> None:
        """Measures the first batch of the validation data: what does not fit is told before the steps
        of an epoch are done. An iterator gives its batches once, so nothing is taken out of it."""
        if self._validation is None or isinstance(self._validation, Iterator):
            return
        for batch in self._validation:
            self._measure(batch, 0)
            return
        raise Error("the validation data give no batch")

    def _measure(self, batch: Batch, index: int) -> tuple[dict[str, float], int]:
        place = f"validation batch {index + 1}"
        arrays = batch_of(batch, "validation data")
        try:
            return self._core.measure(arrays, index)
        except _WRONG as error:
            raise _named(place, error) from None

    def _end_epoch(self, epoch: int, training: dict[str, float]) -> Epoch:
        """Measures what the epoch has come to, and notes whether it is the best one."""
        measured = {} if self._validation is None else self._validate(epoch)
        is_best = self._watch.is_best((measured or training).get(self._watch.name), epoch)
        ended = Epoch(self._core.steps, epoch, training, measured, is_best, self._loss_in(training))
        if is_best:
            self.best, self._best_values = ended, self._own_values()
        self.history.append(ended)
        return ended

    def _validate(self, epoch: int) -> dict[str, float]:
        means, count = Means(), 0
        for count, batch in enumerate(self._validation or (), 1):
            means.add(*self._measure(batch, count - 1))
        if count == 0:
            raise Error(
                f"the validation data give no batch after epoch {epoch}: can they be gone over again?"
            )
        measured = means.of(self._core.metrics)
        for name in self._losses:
            if not math.isfinite(measured.get(name, 0.0)):
                message = (
                    f"the loss '{name}' of the validation data is {measured[name]} after step "
                    f"{self._core.steps}, of epoch {epoch}"
                )
                raise _Diverged(RunError(f"{message} [PDL0514]", "PDL0514"))
        return measured


# What arrays that do not fit raise.
_WRONG = (Error, TypeError, ValueError, OverflowError, BufferError)


def _named(place: str, error: Exception) -> Exception:
    """The same exception, with the place of the batch."""
    if isinstance(error, Error):
        return type(error)(f"{place}: {error}", error.code, error.mistakes)
    return type(error)(f"{place}: {error}")


def _teach(training: ref[Training]) -> None:
    """What the network calls when it is used; a training that is gone has taught it already."""
    alive = training()
    if alive is not None:
        alive._teach()


class _Diverged(Exception):
    """A step was done with a loss that is not finite: what it learned is worth nothing."""

    def __init__(self, error: Error) -> None:
        super().__init__()
        self.error = error


def train(
    source: Network | Graph | str,
    data: Batches,
    optimizer: Optimizer | None = None,
    loss: str = "loss",
    *,
    epochs: int = 1,
    validate: Batches | None = None,
    monitor: str | None = None,
    patience: int | None = None,
    device: str | None = None,
    weights: Weights = None,
    threads: int = 0,
    seed: int = 0,
    check_finite: bool = False,
    precision: str = "f32",
) -> Training:
    """Trains on batches, each a dict of arrays by the names of inputs::

        for step in pdl.train(net, pdl.batches(data, 32), epochs=10):
            print(step.step, step.loss)

    ``source`` is a network, a graph or a text. It has ``minimize`` statements, or ``optimizer``
    (``pdl.layers.adam(lr=0.001)``) minimizes its value ``loss``. A network that is given goes on from
    its parameters and states, and has learned what the steps so far did whenever it is used: in the
    loop, and after it, also where it was left by ``break``, an exception or Ctrl-C, which ends it
    between two steps. A session that was made before keeps the parameters of then. Of graphs and texts
    ``network()`` gives the network. A loss that is not finite raises an error, and the network is as it
    was before the loop; ``check_finite`` finds the call that makes the first nan or infinity, before a
    parameter is changed by it, and passes over gradients that overflow in f16, whose step is skipped.

    The loop may go over epochs, each with its means::

        training = pdl.train(net, data, epochs=100, validate=held_back, patience=5)
        for epoch in training.epochs():
            print(epoch.epoch, epoch.loss, epoch.validation["loss"])
        training.network(best=True).save("best.pdlc")

    ``validate`` are batches, too: after each epoch the network is measured by them, in inference mode, as
    means over their rows (over batches where the inputs do not all begin with one and the same symbol).
    ``monitor`` names the loss or the output that says which epoch is best, by the data of ``validate``, or
    without them by the means of the epoch; ``"accuracy:max"`` where larger is better. It is the first
    loss unless said. ``patience`` ends the loop after so many epochs that were not better than the best.

    The other options: ``epochs`` (passes over ``data``, at least 1), ``device``, ``weights`` (first
    values, as in ``pdl.load``, or what ``Training.save`` wrote, to go on), ``threads``, ``seed``,
    ``precision`` (``"bf16"`` or ``"f16"``: of products, as ``pdl train --precision`` has it).
    """
    return Training(
        source,
        data,
        optimizer,
        loss,
        epochs=epochs,
        validate=validate,
        monitor=monitor,
        patience=patience,
        device=device,
        weights=weights,
        threads=threads,
        seed=seed,
        check_finite=check_finite,
        precision=precision,
    )

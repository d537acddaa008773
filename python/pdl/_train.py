"""Training on batches from an iterable."""

from __future__ import annotations

import itertools
import math
import os
import warnings
from collections.abc import Iterator
from functools import partial
from typing import Any, Callable, Mapping, NamedTuple
from weakref import ref

from pdl import _pdl
from pdl._batches import Batch, Batches, batch_of, batches, batches_of, hash_of, validation_of
from pdl._check import integer_of, path_of, real_of, seed_of, shown_path, text_of, truth_of
from pdl._epochs import Epoch, Means, Step, Watch
from pdl._graph import Graph
from pdl._network import Network, Weights, check_is_source, make, threads_of, weights_of, with_values
from pdl._ranks import Parts, Ranks, check_same, divisible, ranks_of
from pdl._render import Function, files_of, function_text, imports_of, libraries_of
from pdl.errors import Error, FileError, RunError, UnknownNameError

Optimizer = Function | Callable[..., Any]
# Of trainings, from 1 on.
_numbers = itertools.count(1)


class _Source(NamedTuple):
    """Source to train: its name and folder, the values of its attrs, the sources that it imports by path, and
    values of their parameters and states."""

    text: str
    name: str = "<training>"
    folder: str = "."
    settings: Mapping[str, str] = {}
    files: Mapping[str, str] = {}
    values: Mapping[str, Any] = {}
    is_generated: bool = False


def _source_of(source: Network | Graph | str, loads: bool) -> _Source:
    """``loads``: the source of a network that was stored loads its weights from their files, which an ONNX model does
    not have; otherwise the network's own parameters are used."""
    if isinstance(source, str):
        check_is_source(source)
        return _Source(source)
    if isinstance(source, Graph):
        return _Source(source.text(), files=source.files, values=source.part_values(), is_generated=True)
    if not isinstance(source, Network):
        hint = "; pdl.load reads files" if isinstance(source, os.PathLike) else ""
        raise TypeError(f"expected a network, a graph or source, not {type(source).__name__}{hint}")
    program = source.program
    if not program.source:
        return _Source(program.text(loads), folder=program.folder, is_generated=True)
    return _Source(
        program.source,
        program.name,
        program.folder,
        program.settings,
        program.files,
        is_generated=program.is_generated,
    )


class Training:
    """A training run, returned by ``pdl.train``.

    Steps are executed lazily: ``for step in training`` iterates over steps, one for each batch, and
    ``for epoch in training.epochs()`` over epochs. ``network()`` returns the network with the current parameters.

    ``history`` lists an ``Epoch`` for each epoch so far, and ``best`` is the best of them, or None."""

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
        average: float = 0.0,
        micro_batch: int = 0,
        distributed: bool | Ranks | Any = False,
        cpu_sums: bool = False,
    ) -> None:
        self.history: list[Epoch] = []
        self.best: Epoch | None = None
        self._source = source
        self._data = batches_of(data, "data")
        self._epochs = integer_of(epochs, "epochs")
        if self._epochs < 1:
            raise ValueError(f"epochs must be at least 1, got {epochs}")
        self._validation = validation_of(validate, self._epochs)
        self._device = text_of(
            device or (source.device if isinstance(source, Network) else "cpu"), "device"
        )
        self._threads = threads_of(threads)
        self._seed = seed_of(seed)
        given_source = _source_of(source, loads=weights is not None)
        text, name, folder, settings, files, values, is_generated = given_source
        # The network to train, without the updates of a training step.
        self._program = (
            source.program
            if isinstance(source, Network)
            else _pdl.compile(text, name, folder, settings, False, files, False, is_generated)
        )
        if optimizer is not None:
            text_of(loss, "loss")
            libraries = libraries_of(optimizer)
            files = {**files, **files_of(libraries)}
            added = [one for one in imports_of(libraries).splitlines() if one not in text]
            text = "\n".join([text, *added, f"minimize {loss} with {function_text(optimizer)}\n"])
        given = with_values(self._program, values, weights)
        if isinstance(source, Network):
            source._training = ref(self)
            if given is None:
                given = {**source.parameters, **source.states}
                # Schedules begin anew, also if the network itself counts its steps.
                given.pop("step", None)
        try:
            program = _pdl.compile(text, name, folder, settings, True, files, False, is_generated)
        except UnknownNameError as error:
            if optimizer is None or f"'{loss}'" not in str(error):
                raise
            message = f"{error}\n   = loss=… of pdl.train names the value that is minimized"
            raise UnknownNameError(message, error.code, error.mistakes) from None
        ranks = ranks_of(distributed)
        self._parts = Parts(ranks, micro_batch) if ranks is not None or micro_batch else None
        self._core = _pdl.TrainingCore(
            program,
            self._device,
            self._threads,
            weights_of(program, given),
            self._seed,
            truth_of(check_finite, "check_finite"),
            text_of(precision, "precision"),
            real_of(average, "average"),
            None if ranks is None else ranks._core,
            self._parts is not None,
            truth_of(cpu_sums, "cpu_sums"),
        )
        if self._core.missing or self._core.unused:
            differences = [f"it has no {_listed(self._core.missing)}, which begin anew"] if self._core.missing else []
            if self._core.unused:
                differences.append(f"{_listed(self._core.unused)} of it are not used")
            warnings.warn(
                "the weights are those of a training with another network, optimizer, precision or average: "
                f"{'; '.join(differences)}",
                RuntimeWarning,
                stacklevel=3,
            )
        # Options that must be the same at all ranks.
        self._options = {
            "seed": seed,
            "micro-batch": micro_batch,
            "device that adds gradients": "cpu" if cpu_sums else self._device.split(":")[0],
            "precision": precision,
            "decay of the averages": average,
            "number of epochs, patience or monitor": f"{epochs} {patience} {monitor}",
            "checks": check_finite,
        }
        self._losses = self._core.metrics[: self._core.num_losses]
        self._watch = Watch(monitor, patience, self._core.metrics)
        self._best_values: dict[str, _pdl.Tensor] = {}
        self._number = next(_numbers)
        # The number of steps when the given network was last updated.
        self._learned = self._core.steps
        # Created at the first step, since it holds a reference to this object.
        self._events: Iterator[Step | Epoch] | None = None
        self._is_used = False
        self._has_joined = False
        # Why the steps ended early.
        self._failure = ""
        if not self._losses and self._program.parameters:
            warnings.warn(
                "no parameter is trained, since there is no 'minimize' statement and no optimizer: steps only "
                "update states",
                RuntimeWarning,
                stacklevel=3,
            )

    def __iter__(self) -> Iterator[Step]:
        return self

    def __next__(self) -> Step:
        for event in self._go_on():
            if isinstance(event, Step):
                return event
        raise StopIteration

    def epochs(self) -> Iterator[Epoch]:
        """Iterates over epochs: executes the steps of an epoch and yields its result.

        Examples
        --------
        >>> for epoch in training.epochs():
        ...     print(epoch.epoch, epoch.loss, epoch.validation)
        """
        for event in self._go_on():
            if isinstance(event, Epoch):
                yield event

    def network(self, *, best: bool = False) -> Network:
        """A network with the current parameters, or with ``best`` those after the best epoch. Later steps do not
        change it."""
        self._is_used = True
        if best and self.best is None:
            raise Error("there is no best epoch yet: no epoch is complete, or the monitored metric was nan")
        if not best:
            self._core.check_parameters()
        values = self._best_values if best else self._own_values()
        precision = self._source.precision if isinstance(self._source, Network) else "f32"
        return make(self._program, self._device, values, self._threads, self._seed, precision)

    def __del__(self) -> None:
        if getattr(self, "_is_used", True):
            return
        warnings.warn(
            "pdl.train executes steps lazily, and none was executed: iterate over its result, or over its "
            "epochs()",
            RuntimeWarning,
            stacklevel=2,
        )

    def _go_on(self) -> Iterator[Step | Epoch]:
        """The remaining steps and epochs."""
        self._is_used = True
        if self._failure:
            raise Error(
                f"this training ended after step {self._core.steps} with {self._failure}; pdl.train begins another one"
            )
        if self._events is None:
            self._events = self._run()
        return self._events

    def set_value(self, name: str, value: _pdl.Tensor) -> None:
        """Sets a parameter or a state of the next step. Called by the network that is trained in place."""
        if not self._failure:
            self._core.set(name, value)

    def _own_values(self) -> dict[str, _pdl.Tensor]:
        own = {row[0] for row in [*self._program.parameters, *self._program.states]}
        return {name: value for name, value in self._core.values(averaged=True).items() if name in own}

    def _teach(self) -> None:
        """Copies the current parameters to the given network, if there were steps since the last time, and if they
        are finite."""
        steps = self._core.steps
        if not isinstance(self._source, Network) or self._learned == steps:
            return
        try:
            self._core.check_parameters()
        except RunError:
            pass
        else:
            self._source._adopt(self.network(), (self._number, steps))
        self._learned = max(self._learned, steps)

    def _teach_at_end(self) -> None:
        """``_teach``, also if Ctrl-C interrupts it."""
        try:
            self._teach()
        except KeyboardInterrupt:
            self._teach()
            raise

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a checkpoint, a .safetensors file with parameters, states, optimizer states, and the number of
        steps. ``pdl.train(…, weights=path)`` resumes from it; with the same batches in the same order, results have
        the same bits: ``pdl.batches(…, epoch=2)`` continues after two epochs. Its epochs, its best epoch and its
        patience begin anew. Of several processes, only rank 0 writes."""
        path = path_of(path)
        if not path.endswith(".safetensors"):
            raise FileError(
                f"'{shown_path(path)}' must end in .safetensors: a training is saved as a checkpoint; "
                "training.network().save(path) saves the network"
            )
        self._is_used = True
        self._core.check_parameters()
        if self._ranks is not None and self._ranks.rank > 0:
            return
        _pdl.write_tensors(path, self._core.values())

    def _run(self) -> Iterator[Step | Epoch]:
        """Yields the steps of each epoch and then the epoch's result."""
        try:
            self._join()
            self._look_at_validation()
            for epoch in range(1, self._epochs + 1):
                means, before = Means(), self._core.steps
                for metrics, rows in self._steps():
                    means.add(metrics, rows)
                    if isinstance(self._source, Network):
                        self._source._learn_from(partial(_teach, ref(self)))
                    yield Step(self._core.steps, epoch, metrics, self._loss_in(metrics))
                if self._core.steps == before:
                    repeats = "" if epoch == 1 else ": can they be iterated over repeatedly?"
                    raise Error(f"the data yield no batch in epoch {epoch}{repeats}")
                yield self._end_epoch(epoch, means.of(self._core.metrics))
                if self._watch.is_over():
                    return
        except GeneratorExit:
            raise
        except BaseException as error:  # SystemExit, too
            self._failure = _described(error)
            raise
        finally:
            self._teach_at_end()

    def _loss_in(self, metrics: Mapping[str, float]) -> float:
        return next((metrics[name] for name in self._losses if name in metrics), math.nan)

    @property
    def _ranks(self) -> Ranks | None:
        return None if self._parts is None else self._parts.ranks

    def _join(self) -> None:
        """Compares what must be the same for all ranks, once."""
        if self._ranks is None or self._has_joined:
            return
        self._has_joined = True
        described = {
            name: data.describe() if type(data) is batches else "given by an iterable"
            for name, data in (("data", self._data), ("validation data", self._validation))
        }
        check_same(
            self._ranks,
            {
                "network": self._core.fingerprint,
                **described,
                "initial weights, or the checkpoint": hash_of(self._core.values()),
                **self._options,
            },
        )

    def _steps(self) -> Iterator[tuple[dict[str, float], int]]:
        """The results of the steps of an epoch."""
        if self._parts is None:
            for batch in self._data:
                yield self._step(self._core.step, batch_of(batch, "data"))
            return
        given = divisible(self._data, self._core.row_inputs)
        while (one := self._parts.next(given, self._core.steps + 1)) is not None:
            yield self._step(self._core.step_in_parts, *self._parts.of(one))

    def _step(
        self, step: Callable[..., tuple[dict[str, float], int]], *arguments: Any
    ) -> tuple[dict[str, float], int]:
        before = self._core.steps
        if isinstance(self._source, Network) and self._source._training() is not self:
            raise Error("another pdl.train has begun to train this network, which has one training at a time")
        try:
            return step(*arguments)
        except _WRONG as error:
            raise _named(f"step {before + 1}", error) from None

    def _look_at_validation(self) -> None:
        """Evaluates the first batch of the validation data, so that type errors are raised before the first epoch.
        Skipped for iterators, which yield their batches only once."""
        if self._validation is None or isinstance(self._validation, Iterator):
            return
        for batch in self._validation:
            self._measure(batch, 0)
            return
        raise Error("the validation data yield no batch")

    def _measure(self, batch: Batch, index: int) -> tuple[dict[str, float], int]:
        arrays = batch_of(batch, "validation data")
        try:
            return self._core.measure(arrays, index)
        except _WRONG as error:
            raise _named(f"validation batch {index + 1}", error) from None

    def _end_epoch(self, epoch: int, training: dict[str, float]) -> Epoch:
        """Evaluates the validation data, records the epoch's result, and whether it is the best one."""
        self._core.check_parameters()
        measured = {} if self._validation is None else self._validate(epoch)
        is_best = self._watch.is_best((measured or training).get(self._watch.name), epoch)
        ended = Epoch(self._core.steps, epoch, training, measured, is_best, self._loss_in(training))
        if is_best:
            self.best, self._best_values = ended, self._own_values()
        self.history.append(ended)
        return ended

    def _validate(self, epoch: int) -> dict[str, float]:
        means, count, results = Means(), 0, []
        ranks = self._ranks
        for count, batch in enumerate(self._validation or (), 1):
            if ranks is None or (count - 1) % ranks.size == ranks.rank:
                results.append(self._measure(batch, count - 1))
        if self._parts is not None:
            results = self._parts.by_turns(results)
        for metrics, rows in results:
            means.add(metrics, rows)
        if count == 0:
            raise Error(
                f"the validation data yield no batch after epoch {epoch}: can they be iterated over repeatedly?"
            )
        if results and all(rows == 0 for _, rows in results):
            raise Error(f"the validation data have no rows after epoch {epoch}")
        measured = means.of(self._core.metrics)
        for name in self._losses:
            if not math.isfinite(measured.get(name, 0.0)):
                message = (
                    f"the loss '{name}' of the validation data is {measured[name]} after step "
                    f"{self._core.steps}, of epoch {epoch}"
                )
                raise RunError(f"{message} [PDL0514]", "PDL0514")
        return measured


# Exceptions for wrong arrays in a batch.
_WRONG = (Error, TypeError, ValueError, OverflowError, BufferError)


def _named(place: str, error: Exception) -> Exception:
    """The exception with ``place``, which names the batch, before its message."""
    if isinstance(error, Error):
        return type(error)(f"{place}: {error}", error.code, error.mistakes)
    return type(error)(f"{place}: {error}")


def _listed(names: list[str]) -> str:
    return ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")


def _described(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _teach(training: ref[Training]) -> None:
    """Called by the network when it is used. A Training that was deleted has updated it already."""
    alive = training()
    if alive is not None:
        alive._teach()


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
    average: float = 0.0,
    micro_batch: int = 0,
    distributed: bool | Ranks | Any = False,
    cpu_sums: bool = False,
) -> Training:
    """Trains a network on batches.

    Parameters
    ----------
    source : Network, Graph or str
        the network to train: a network, which is trained in place, or a graph or source
    data : iterable of dict
        batches, each a dict of arrays by the names of inputs; see ``pdl.batches``
    optimizer : Function, optional
        ``pdl.layers.adam(lr=0.001)``, which minimizes ``loss``; not needed if the network has ``minimize`` statements
    loss : str
        the value that ``optimizer`` minimizes
    epochs : int
        number of passes over ``data``
    validate : iterable of dict, optional
        validation batches; after each epoch the network is evaluated on them in inference mode, and on the first of
        them before the first step, so that wrong arrays are reported then. Metrics are means over rows (over batches if the first dims of the inputs are not all the same symbol)
    monitor : str, optional
        the loss or scalar output that determines the best epoch, computed on the validation data if there are any:
        ``"loss"``, or ``"accuracy:max"`` if larger is better; by default the first loss
    patience : int, optional
        ends training after this number of epochs without improvement
    device : str, optional
        as in ``pdl.load``; by default that of the network
    weights : path or dict, optional
        initial values as in ``pdl.load``, or a checkpoint of ``Training.save`` to resume from
    threads, seed : int
        as in ``pdl.load``
    check_finite : bool
        whether to raise an error at the first call that computes a nan or an infinity, before parameters change;
        gradients that overflow in f16, whose step is skipped, are no error
    precision : str
        ``"bf16"`` or ``"f16"`` for mixed precision, like ``pdl train --precision``
    average : float
        the decay of moving averages of the parameters, usually 0.99 to 0.9999: each step moves them by the fraction
        ``1 - average`` towards the parameters. They are the parameters of ``Training.network``, of a network that is
        trained in place, and of evaluations; ``save`` writes both. 0: none
    micro_batch : int
        computes the gradients of a step from parts of this number of rows, like ``pdl train --micro-batch``; 0: the
        rows that a process has of the first batch, and in one process no parts
    distributed : bool, Ranks or mpi4py.MPI.Comm
        whether the processes that run this program train together: those of the launcher, those of ``pdl.Ranks``, or
        those of an MPI communicator. Each gives all batches and computes a part of each. The result has the bits of
        one process with the same ``micro_batch``
    cpu_sums : bool
        whether to add gradients on the CPU also if GPUs compute them, like ``pdl train --cpu-sums``

    Returns
    -------
    Training
        an iterator over steps, which are executed lazily

    Raises
    ------
    pdl.RunError
        from the iterator, if a batch has wrong arrays, or if a loss, or at the end of an epoch a parameter, is nan or
        infinite. A step with such a loss changes nothing; on a GPU, without ``micro_batch``, it changes parameters.
        Nan or infinite parameters are neither given to the network, which keeps those of its last use, nor saved
    pdl.RankError
        if another process has failed or does not answer

    Notes
    -----
    A given network starts from its current parameters and states. Whenever it is used, in the loop or after it, it has
    the parameters after the last step, also if the loop was left by ``break``, an exception or Ctrl-C, which takes
    effect between two steps. ``set_parameter`` and ``set_state`` between two steps take effect in the next one; with
    ``average``, the moving averages are not set. Its states after the training are their initial values from then on. Sessions created before keep their parameters.
    For graphs and source, ``Training.network`` returns the network.

    After ``break``, the same iterator continues with the next step. After an exception in a step or in the data, it
    raises an error.

    Examples
    --------
    >>> for step in pdl.train(net, pdl.batches(data, 32), epochs=10):
    ...     print(step.step, step.loss)

    >>> training = pdl.train(net, data, epochs=100, validate=validation, patience=5)
    >>> for epoch in training.epochs():
    ...     print(epoch.epoch, epoch.loss, epoch.validation["loss"])
    >>> training.network(best=True).save("best.pdlc")
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
        average=average,
        micro_batch=micro_batch,
        distributed=distributed,
        cpu_sums=cpu_sums,
    )

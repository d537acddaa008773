"""Training: steps on batches that any iterable gives."""

from __future__ import annotations

import os
from functools import partial
from typing import Any, Callable, Iterable, Iterator, Mapping, NamedTuple
from weakref import ref

import numpy as np

from pdl import _pdl
from pdl._check import integer_of, seed_of, text_of, truth_of
from pdl._graph import Graph
from pdl._network import Network, Weights, _weights, make, threads_of
from pdl._ragged import Ragged
from pdl._render import Function, function_text
from pdl.errors import Error

Batch = Mapping[str, Any]
Optimizer = Function | Callable[..., Any]


class Step(NamedTuple):
    """What one step of training gave. ``metrics`` are the losses, then outputs of one element, as they
    were before the step; of what a step leaves out there is none."""

    step: int
    epoch: int
    metrics: dict[str, float]

    @property
    def loss(self) -> float:
        """The first loss."""
        return next(iter(self.metrics.values()))


def _text_of(source: Network | Graph | str) -> tuple[str, str, str, dict[str, str]]:
    """The text to train, its name, its folder and the values of its attrs."""
    if not isinstance(source, Network):
        return (source if isinstance(source, str) else source.text()), "<training>", ".", {}
    program = source.program
    if program.source:
        return program.source, program.name, program.folder, program.settings
    return source.text(), "<training>", program.folder, {}


class Training:
    """Steps of training, one for each batch; what ``pdl.train`` gives. ``network()`` is the network with
    what was learned so far."""

    def __init__(
        self,
        source: Network | Graph | str,
        data: Iterable[Batch],
        optimizer: Optimizer | None = None,
        loss: str = "loss",
        *,
        epochs: int = 1,
        device: str | None = None,
        weights: Weights = None,
        threads: int = 0,
        seed: int = 0,
        check_finite: bool = False,
        precision: str = "f32",
    ) -> None:
        self._source = source
        self._data = data
        self._epochs = integer_of(epochs, "epochs")
        if epochs < 1:
            raise ValueError(f"epochs is the count of passes over the data, at least 1, got {epochs}")
        self._device = text_of(
            device or (source.device if isinstance(source, Network) else "cpu"), "device"
        )
        self._threads = threads_of(threads)
        self._seed = seed_of(seed)
        text, name, folder, settings = _text_of(source)
        # What is trained, without what a step of training adds to it.
        self._program = (
            source.program
            if isinstance(source, Network)
            else _pdl.compile(text, name, folder, settings)
        )
        if optimizer is not None:
            text += f"\nminimize {loss} with {function_text(optimizer)}\n"
        given = _weights(weights)
        if isinstance(source, Network):
            # What a loss that is not finite takes it back to.
            self._before, self._states = source.session(), source.states
            if given is None:
                given = {**source.parameters, **self._states}
        program = _pdl.compile(text, name, folder, settings, True)
        self._core = _pdl.TrainingCore(
            program,
            self._device,
            self._threads,
            given,
            self._seed,
            truth_of(check_finite, "check_finite"),
            text_of(precision, "precision"),
        )
        # After how many steps the network that is given has learned what they did.
        self._first = self._learned = self._core.steps
        self._steps = self._run()

    def __iter__(self) -> Iterator[Step]:
        return self._steps

    def __next__(self) -> Step:
        return next(self._steps)

    def network(self) -> Network:
        """The network with what was learned so far; it trains no further."""
        own = {row[0] for row in [*self._program.parameters, *self._program.states]}
        values = {name: value for name, value in self._core.values().items() if name in own}
        return make(self._program, self._device, values, self._threads, self._seed)

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
        _pdl.write_tensors(os.fspath(path), self._core.values())

    def _run(self) -> Iterator[Step]:
        try:
            for epoch in range(self._epochs):
                before = self._core.steps
                for batch in self._data:
                    metrics = self._step(batch)
                    if isinstance(self._source, Network):
                        self._source._learn_from(partial(_teach, ref(self)))
                    yield Step(self._core.steps, epoch + 1, metrics)
                if self._core.steps == before:
                    raise Error(
                        f"the data give no batch in pass {epoch + 1}: can they be gone over again?"
                    )
        except _Diverged as error:
            self._take_back()
            raise error.error from None
        finally:
            self._teach()

    def _step(self, batch: Batch) -> dict[str, float]:
        if not isinstance(batch, Mapping):
            raise TypeError(
                "a batch is a dict of arrays by the names of inputs, and the data give "
                f"{type(batch).__name__}"
            )
        before = self._core.steps
        try:
            return self._core.step(dict(batch))
        except Error as error:
            if self._core.steps > before:
                raise _Diverged(error) from None
            raise


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
    data: Iterable[Batch],
    optimizer: Optimizer | None = None,
    loss: str = "loss",
    **options: Any,
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

    Options: ``epochs`` (passes over ``data``, at least 1), ``device``, ``weights`` (first values, as in ``pdl.load``,
    or what ``Training.save`` wrote, to go on), ``threads``, ``seed``, ``check_finite``,
    ``precision`` (``"bf16"`` or ``"f16"``: of products, as ``pdl train --precision`` has it).
    """
    return Training(source, data, optimizer, loss, **options)


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
        if not arrays:
            raise ValueError("there are no arrays to make batches of")
        self._arrays: dict[str, Any] = {
            name: array if isinstance(array, Ragged) else np.asarray(array)
            for name, array in arrays.items()
        }
        for name, array in self._arrays.items():
            if not isinstance(array, Ragged) and array.ndim == 0:
                raise ValueError(f"'{name}' is a single number, and batches are made of rows")
        lengths = {len(array) for array in self._arrays.values()}
        if len(lengths) != 1:
            raise ValueError(
                f"the arrays have {sorted(lengths)} rows, and must have as many as each other"
            )
        if size < 1:
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

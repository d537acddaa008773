"""Networks: loading, compiling, and running on arrays."""

from __future__ import annotations

import os
from typing import Any, Callable, Mapping, Sequence

from pdl import _pdl
from pdl._arrays import to_array
from pdl._check import integer_of, path_of, seed_of, shown, shown_path, text_of, truth_of
from pdl._profile import Profile, profile_of
from pdl._render import Renderer
from pdl._types import dtype_of
from pdl._values import Values, fitting, hint_of
from pdl._weights import WeightFile, weights as weight_file
from pdl.errors import FileError, UnknownNameError, WeightError

Weights = Mapping[str, Any] | WeightFile | str | os.PathLike[str] | None
_ENDINGS = (".pdl", ".pdlc", ".onnx")


def check_is_source(text: object) -> None:
    """Raises FileError if the argument is the name of a file, and TypeError if it is not a string."""
    given = text_of(text, "the source")
    if given.endswith(_ENDINGS) and "\n" not in given:
        raise FileError(f"expected source, got the file name '{given}': use pdl.load to read files")


class Network(_pdl.NetworkCore):
    """A compiled network on a device.

    A call takes the inputs by name, arrays of any library that supports the buffer protocol or DLPack, and returns
    a dict of the outputs by name. Called with values of a ``pdl.Graph``, the network is added to the graph as a
    layer, and the call returns values of the graph.

    Notes
    -----
    Row-major arrays are not copied. Several threads may call a network concurrently, and runs release the GIL. Calls
    of a network with states run one after another; ``session`` creates a network with separate states.

    ``pdl.train`` trains a network in place: all its users see the parameters of the last step. Networks can be
    pickled and copied, with their parameters and states; a copy restarts the sequence of random numbers.

    Examples
    --------
    >>> net = pdl.load("model.pdl")
    >>> prob = net(image=image)["prob"]
    """

    # The training of this network, a weak reference.
    _training: Callable[[], Any] = staticmethod(lambda: None)

    def __repr__(self) -> str:
        inputs = ", ".join(f"{name}: {type}" for name, type in self.inputs.items())
        outputs = ", ".join(f"{name}: {type}" for name, type in self.outputs.items())
        return f"<pdl network ({inputs}) -> {outputs}, on {self.device}>"

    @property
    def inputs(self) -> dict[str, str]:
        """The types of the inputs, by name."""
        return {row[0]: row[1] for row in self.program.inputs}

    @property
    def outputs(self) -> dict[str, str]:
        """The types of the outputs, by name."""
        return {row[0]: row[1] for row in self.program.outputs}

    @property
    def parameters(self) -> Values:
        """The values of the parameters by name, read-only: they share the network's memory. ``set_parameter``
        changes one."""
        return Values("parameter", {row[0]: self.value(row[0]) for row in self.program.parameters})

    @property
    def states(self) -> Values:
        """The current values of the states by name, read-only; before the first run the initial values. A state
        with a data-dependent size exists only after the first run. ``set_state`` changes one."""
        return Values("state", self._states())

    def value(self, name: str) -> _pdl.Tensor:
        """The value of a parameter, or the initial value of a state."""
        return self._value(text_of(name, "name"))

    def set_parameter(self, name: str, value: Any) -> None:
        """Sets the value of a parameter.

        This creates the network again, so to set many parameters, use ``weights=`` of ``pdl.compile`` and
        ``pdl.load``. A training in place continues with the value.

        Parameters
        ----------
        name : str
            the parameter
        value : array, number or nested lists
            is copied; arrays must have the declared dtype and sizes

        Raises
        ------
        pdl.UnknownNameError
            if there is no such parameter
        pdl.WeightError
            if the value does not have the declared type
        """
        self._set("parameter", name, value)

    def set_state(self, name: str, value: Any) -> None:
        """Sets the current value of a state; see ``set_parameter``."""
        self._set("state", name, value)

    def _set(self, kind: str, name: str, value: Any) -> None:
        name = text_of(name, "name")
        is_state = kind == "state"
        rows = self.program.states if is_state else self.program.parameters
        value = fitting(kind, name, rows, value)
        (self._set_state if is_state else self._set_parameter)(name, value)
        training = self._training()
        if training is not None:
            training.set_value(name, value)

    def run(
        self,
        inputs: Mapping[str, Any],
        *,
        outputs: str | Sequence[str] = (),
        training: bool = False,
        check_finite: bool = False,
        check_indices: bool = False,
    ) -> dict[str, Any]:
        """Runs the network once.

        Parameters
        ----------
        inputs : dict
            arrays by the names of inputs
        outputs : str or sequence of str
            names of the outputs to compute; by default all
        training : bool
            whether to run in training mode
        check_finite : bool
            whether to raise an error at the first call that computes a nan or an infinity
        check_indices : bool
            whether to raise an error at the first call with an index outside its axis

        Returns
        -------
        dict
            the outputs by name

        Raises
        ------
        pdl.RunError
            if inputs are missing or have wrong types, or the run fails
        """
        return self._run(
            inputs,
            self._requested(outputs),
            truth_of(training, "training"),
            truth_of(check_finite, "check_finite"),
            truth_of(check_indices, "check_indices"),
        )

    def _requested(self, outputs: str | Sequence[str]) -> list[str]:
        names = _outputs(outputs)
        for name in names:
            output = name.rpartition(".")[0]
            if output in self.outputs and name not in self.outputs:
                message = f"'{name}' is a part of the output '{output}', which is requested instead [PDL0102]"
                raise UnknownNameError(message, "PDL0102")
        return names

    def profile(
        self,
        inputs: Mapping[str, Any],
        *,
        runs: int = 10,
        outputs: str | Sequence[str] = (),
        training: bool = False,
    ) -> Profile:
        """Runs the network repeatedly and measures the time of each step, like ``pdl profile``.

        The runs update a copy of the states, not those of the network.

        Parameters
        ----------
        inputs : dict
            arrays by the names of inputs
        runs : int
            number of runs, from 1 to 1000000
        outputs : str or sequence of str
            names of the outputs to compute; by default all
        training : bool
            whether to run in training mode

        Examples
        --------
        >>> profile = net.profile({"image": image}, runs=100)
        >>> print(profile)
        >>> slowest = profile[0].operators, profile[0].seconds
        """
        count = integer_of(runs, "runs")
        if not 1 <= count <= 1_000_000:
            raise ValueError(f"runs must be from 1 to 1000000, got {count}")
        measured = self._profile(inputs, self._requested(outputs), truth_of(training, "training"), count)
        return profile_of(*measured, count)

    @property
    def warnings(self) -> str:
        """The compiler's warnings, as ``pdl check`` prints them; "" if there are none."""
        return self.program.warnings

    def text(self) -> str:
        """The source of the network with layers expanded, one call in each line."""
        return self.program.text()

    def ir(self) -> str:
        """The network with all types, like the output of ``pdl dump --emit=ir``."""
        return self.program.ir()

    def dot(self) -> str:
        """The graph in Graphviz's DOT language."""
        return self.program.dot()

    def plan(self, *, training: bool = False, **symbols: int) -> str:
        """The execution plan: calls and fused groups, and if all symbols are given, memory: ``net.plan(N=32)``."""
        sizes = {name: integer_of(size, name) for name, size in symbols.items()}
        wrong = next((name for name, size in sizes.items() if not 0 <= size < 1 << 63), None)
        if wrong is not None:
            bound = "must not be negative" if sizes[wrong] < 0 else "must be less than 2**63"
            raise ValueError(f"the size {wrong} {bound}, got {sizes[wrong]}")
        return self._plan(truth_of(training, "training"), sizes)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the network to a file, and its parameters to a .safetensors file next to it; or an ONNX model for
        inference. The parameters of ``net.pdl`` or ``net.pdlc`` are in ``net.safetensors``; if that file belongs to
        another network, they are in ``net.pdl.safetensors`` or ``net.pdlc.safetensors``.

        States are stored if their values were given or learned, or changed by runs or ``set_state``; they are the
        initial values of the loaded network. States with data-dependent sizes are not stored.

        Parameters
        ----------
        path : str or path
            ends in .pdl (source), .pdlc (compiled) or .onnx

        Raises
        ------
        pdl.FileError
            if the path has another suffix, or the file cannot be written
        pdl.Error
            for .onnx, if ONNX has no counterpart for a call; the message lists all such calls
        """
        path = path_of(path)
        if not path.endswith(_ENDINGS):
            raise FileError(f"'{shown_path(path)}' must end in .pdl (source), .pdlc (compiled) or .onnx")
        self._save(path)

    def session(self) -> Network:
        """A network with the current parameters of this one and separate states, which have their initial values:
        those of ``weights=`` or of the last training, or else of the source. Training this network later does not
        change it."""
        return Network(self)

    def __reduce__(self) -> Any:
        values = self._first_values(), self._states()
        made = (self.program._store(), self.device, self._threads, self._seed, self.precision, *values)
        attributes = {name: value for name, value in vars(self).items() if name != "_training"}
        return _restore, (type(self), *made), attributes or None

    def page(self) -> str:
        """An HTML page that shows the network, complete in itself, as ``pdl view`` writes it.

        Layers and bodies of loops are boxes that open; a click on a box shows its source. Boxes are placed by the
        program ``dot`` of Graphviz; where it is not installed, they are nested lists.

        Examples
        --------
        >>> pathlib.Path("net.html").write_text(net.page(), encoding="utf-8")
        """
        return self.program.page()

    def _repr_html_(self) -> str:
        from pdl._html import frame

        return frame(self.page())


def _restore(
    kind: type[Network],
    program: tuple[Any, ...],
    device: str,
    threads: int,
    seed: int,
    precision: str,
    weights: Mapping[str, _pdl.Tensor],
    states: Mapping[str, _pdl.Tensor],
) -> Network:
    """Restores a pickled network, without a call of ``__init__`` of a subclass."""
    network = kind.__new__(kind)
    restored = _pdl.restore_program(*program)
    _pdl.NetworkCore.__init__(network, restored, device, threads, weights, seed, False, precision)
    for name, value in states.items():
        network._set_state(name, value)
    return network


def _settings(settings: Mapping[str, Any] | None) -> dict[str, str]:
    renderer = Renderer(lambda one: False, None)
    return {
        text_of(name, "a setting"): renderer.attribute(value, None)
        for name, value in (settings or {}).items()
    }


def _model_settings(settings: Mapping[str, Any] | None) -> dict[str, str]:
    """The settings of an ONNX model: a string is the path of a .npy file."""
    paths = {
        name: path_of(value)
        for name, value in (settings or {}).items()
        if isinstance(value, (str, os.PathLike))
    }
    return {**_settings({k: v for k, v in (settings or {}).items() if k not in paths}), **paths}


def _outputs(given: str | Sequence[str]) -> list[str]:
    """The argument ``outputs`` as a list."""
    names = [given] if isinstance(given, str) else given
    if isinstance(names, (list, tuple, set, frozenset)) and all(
        isinstance(name, str) for name in names
    ):
        return [text_of(name, "an output") for name in names]
    raise TypeError(f"outputs must be the name of an output, or a list of names, not {shown(given)}")


def weights_of(program: _pdl.Program, weights: Weights) -> Any:
    """The argument ``weights`` in the form that the extension module expects: a path, or arrays by name."""
    if isinstance(weights, (str, os.PathLike)):
        weights = weight_file(weights)
    if isinstance(weights, WeightFile):
        # A plain path, which may be a checkpoint of a training run, stays one.
        path, tensors, rules = weights.described()
        return path if tensors is None and not rules else (path, tensors, rules)
    if not isinstance(weights, Mapping):
        return weights
    types = {row[0]: row[1] for row in [*program.parameters, *program.states]}
    arrays = {}
    for name, value in weights.items():
        if not isinstance(name, str):
            raise TypeError(f"the name of a weight must be a string, not {shown(name)}")
        if name not in types:
            hint = hint_of(name, types)
            message = f"the network has no parameter or state '{name}'{hint} [PDL0404]"
            raise WeightError(message, "PDL0404")
        try:
            arrays[name] = to_array(value, dtype_of(types[name]))
        except (TypeError, ValueError, OverflowError, BufferError) as error:
            wrong = TypeError if isinstance(error, TypeError) else ValueError
            raise wrong(f"weight '{name}': {error}") from None
    return arrays


def make(
    program: _pdl.Program, device: str, weights: Weights, threads: int, seed: int, precision: str = "f32"
) -> Network:
    """Creates a network from a program."""
    return Network(
        program,
        device=text_of(device, "device"),
        threads=threads_of(threads),
        weights=weights_of(program, weights),
        seed=seed_of(seed),
        precision=text_of(precision, "precision"),
    )


def threads_of(given: Any) -> int:
    """The argument ``threads``; 0 means all."""
    threads = integer_of(given, "threads")
    if not 0 <= threads < 1 << 16:
        raise ValueError(f"threads must be the number of threads, or 0 for all, got {threads}")
    return threads


def load(
    path: str | os.PathLike[str],
    *,
    device: str = "cpu",
    weights: Weights = None,
    settings: Mapping[str, Any] | None = None,
    threads: int = 0,
    seed: int = 0,
    precision: str = "f32",
) -> Network:
    """Loads a network from a file.

    Parameters
    ----------
    path : str or path
        source (.pdl), a compiled network (.pdlc), or an ONNX model (.onnx)
    device : str
        "cpu", "cuda" or "cuda:1"
    weights : path or dict, optional
        a .safetensors file, ``pdl.weights(…)`` with options for loading it, or arrays by the names of parameters and
        states
    settings : dict, optional
        values of the network's ``attr`` declarations. For an ONNX model: inputs that become constants
        (``{"axes": [-1]}``, arrays, or the path of a .npy file), and symbolic sizes (``{"N": 1}``)
    threads : int
        number of threads; 0 means all
    seed : int
        seed of initializers and random operators
    precision : str
        ``"bf16"`` (on cuda ``"f16"``, too) to round operands of f32 matmuls and convolutions to that dtype, like
        ``pdl run --precision``. On a CPU, weights then take half the time to read, and results stay f32

    Raises
    ------
    pdl.FileError
        if the file cannot be read, or is broken
    pdl.Error
        if the source has errors; ``mistakes`` lists them
    """
    path = path_of(path)
    if "\n" in path:
        raise FileError("expected a file name, got source: use pdl.compile to compile source")
    check_ending(path)
    program = _pdl.load(path, _settings_of(path, settings))
    return make(program, device, weights, threads, seed, precision)


def load_bytes(
    data: bytes | bytearray | memoryview,
    *,
    name: str,
    folder: str | os.PathLike[str] = ".",
    device: str = "cpu",
    weights: Weights = None,
    settings: Mapping[str, Any] | None = None,
    threads: int = 0,
    seed: int = 0,
    precision: str = "f32",
) -> Network:
    """Loads a network from memory.

    Parameters
    ----------
    data : bytes
        the contents of a file that ``pdl.load`` accepts
    name : str
        file name for error messages. Its ending is the format: .pdl, .pdlc or .onnx
    folder : str or path
        folder for relative paths of imported files and weights
    device, weights, settings, threads, seed, precision
        as in ``pdl.load``

    Raises
    ------
    pdl.FileError
        if ``data`` is broken, or ``name`` has another ending
    pdl.Error
        if the source has errors; ``mistakes`` lists them
    """
    if isinstance(data, str):
        raise TypeError("expected bytes, got str: use pdl.compile to compile source")
    name = text_of(name, "name")
    check_ending(name)
    if not isinstance(data, bytes):
        data = bytes(memoryview(data))
    program = _pdl.load_bytes(data, name, path_of(folder), _settings_of(name, settings))
    return make(program, device, weights, threads, seed, precision)


def check_ending(name: str) -> None:
    if not name.endswith(_ENDINGS):
        raise FileError(f"'{shown_path(name)}' is not a network: the name must end in .pdl, .pdlc or .onnx")


def _settings_of(name: str, settings: Mapping[str, Any] | None) -> dict[str, str]:
    """The settings of a network in a file of that name."""
    return (_model_settings if name.endswith(".onnx") else _settings)(settings)


def compile(
    text: str,
    *,
    name: str = "<text>",
    folder: str | os.PathLike[str] = ".",
    device: str = "cpu",
    weights: Weights = None,
    settings: Mapping[str, Any] | None = None,
    threads: int = 0,
    seed: int = 0,
    precision: str = "f32",
) -> Network:
    """Compiles source to a network.

    Parameters
    ----------
    text : str
        source in the language
    name : str
        file name for error messages
    folder : str or path
        folder for relative paths of imported files and weights
    device, weights, settings, threads, seed, precision
        as in ``pdl.load``

    Raises
    ------
    pdl.Error
        if the source has errors; ``mistakes`` lists them
    """
    return compile_files(
        text,
        {},
        {},
        name=name,
        folder=folder,
        device=device,
        weights=weights,
        settings=settings,
        threads=threads,
        seed=seed,
        precision=precision,
        warn_unused=True,
    )


def compile_files(
    text: str,
    files: Mapping[str, str],
    values: Mapping[str, Any],
    *,
    name: str,
    folder: str | os.PathLike[str],
    device: str,
    weights: Weights,
    settings: Mapping[str, Any] | None,
    threads: int,
    seed: int,
    precision: str = "f32",
    warn_unused: bool = False,
    is_generated: bool = False,
) -> Network:
    """``compile`` for source that may import ``files``, sources by path. ``values`` are additional weights:
    ``weights`` takes precedence, and names that the network lacks are ignored. ``warn_unused``: warn of names
    that nothing uses. ``is_generated``: errors of runs do not show lines of the source."""
    check_is_source(text)
    program = _pdl.compile(
        text,
        text_of(name, "name"),
        path_of(folder),
        _settings(settings),
        False,
        files,
        warn_unused,
        is_generated,
    )
    given = with_values(program, values, weights)
    return make(program, device, given, threads, seed, precision)


def with_values(program: _pdl.Program, values: Mapping[str, Any], weights: Weights) -> Weights:
    """``weights``, and ``values`` for other parameters and states of the program."""
    if not values or isinstance(weights, (str, os.PathLike, WeightFile)):
        return weights
    own = {row[0] for row in [*program.parameters, *program.states]}
    return {**{name: values[name] for name in values if name in own}, **(weights or {})}

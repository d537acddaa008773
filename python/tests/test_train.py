"""Training, and the digits example."""

from __future__ import annotations

import pathlib
import shutil
import re
import subprocess
from typing import Any, Iterator

import digits
import numpy as np
import pytest

import pdl

LINE = """
input x: f32[N]
input target: f32[N]
param a: f32[] = zeros()
param b: f32[] = zeros()
y = a * x + b
loss = mean((y - target) ** 2)
output y
"""


def points() -> Iterator[dict[str, np.ndarray]]:  # type: ignore[type-arg]
    random = np.random.default_rng(0)
    for _ in range(300):
        x = random.normal(size=16).astype(np.float32)
        yield {"x": x, "target": 3 * x - 1}


def test_any_iterable_of_batches() -> None:
    net = pdl.compile(LINE)
    steps = list(pdl.train(net, points(), pdl.layers.adam(lr=0.05)))
    assert [step.step for step in steps] == list(range(1, 301))
    assert steps[0].loss > 1 > 1e-3 > steps[-1].loss and list(steps[0].metrics) == ["loss"]
    np.testing.assert_allclose([net.parameters[k].item() for k in "ab"], [3, -1], atol=0.05)
    np.testing.assert_allclose(net.run({"x": [1.0]}, outputs=["y"])["y"], [2], atol=0.1)


def test_the_same_batches_give_the_same_bits() -> None:
    def learned() -> list[float]:
        training = pdl.train(LINE + "minimize loss with adam(lr=0.05)", points())
        assert len(list(training)) == 300
        return [training.network().parameters[k].item() for k in "ab"]

    assert learned() == learned()


DIGITS = """
input image: f32[N, 64]
input label: i64[N] in 0..10
logits = image |> fc(size=32, act=relu()) |> fc(size=10)
loss = mean(cross_entropy(logits, label))
minimize loss with sgd(lr=0.1)
"""


@pytest.mark.parametrize("precision", ["bf16", "f16"])
def test_precision(
    precision: str, root: pathlib.Path, pdl_tool: str, tmp_path: pathlib.Path
) -> None:
    """Learns the same as `pdl train --precision`."""
    data = root / "examples" / "digits" / "train.npz"
    (tmp_path / "net.pdl").write_text(DIGITS)
    arguments = ["--data", data, "--no-shuffle", "--precision", precision, "--out", tmp_path]
    subprocess.run(
        [pdl_tool, "train", tmp_path / "net.pdl", *arguments], check=True, capture_output=True
    )
    arrays = dict(np.load(data))
    training = pdl.train(DIGITS, pdl.batches(arrays, 32, shuffle=False), precision=precision)
    assert len(list(training)) == 50
    learned = training.network().parameters
    other = pdl.compile(DIGITS, weights=tmp_path / "best.safetensors").parameters
    for name, value in other.items():
        assert value.dtype == "f32"
        np.testing.assert_array_equal(learned[name], value)


def test_check_finite_passes_over_skipped_steps(tmp_path: pathlib.Path) -> None:
    """Gradients that overflow in f16 are no error, and the bits are those of a run without the check."""
    text = """
input x: f32[N, 2]
param w: f32[2, 1] = normal()
state seen: i64[] = zeros()
loss = 100.0 * mean(dropout(x @ w, p=0.1) ** 2)
output before = 1.0 * cast(seen, to=f32)
update seen = seen + 1
minimize loss with adam(lr=0.02)
"""
    random = np.random.default_rng(0)
    batches = [{"x": random.normal(size=(4, 2)).astype(np.float32)} for _ in range(12)]
    saved = []
    for check_finite in (False, True):
        training = pdl.train(text, batches, precision="f16", check_finite=check_finite)
        *_, last = training
        assert last.step == 12 and 0 < last.metrics["before"] < 11
        training.save(tmp_path / "w.safetensors")
        saved.append((tmp_path / "w.safetensors").read_bytes())
    assert saved[0] == saved[1] and b"loss_scale" in saved[0]
    batches[5]["x"][2, 1] = np.inf
    with pytest.raises(pdl.RunError, match=r"input 'x': f32\[4, 2\] holds inf at \[2, 1\]"):
        list(pdl.train(text, batches, precision="f16", check_finite=True))


def test_a_precision_that_there_is_not() -> None:
    with pytest.raises(pdl.Error, match="must be f32, bf16 or f16, got f8"):
        pdl.train(DIGITS, [], precision="f8")


def test_it_agrees_with_pdl_train(
    root: pathlib.Path, pdl_tool: str, tmp_path: pathlib.Path
) -> None:
    """The same network, with the same order of rows, learns the same as on the command line."""
    folder = root / "examples" / "digits"
    arguments = ["--data", folder / "train.npz", "--epochs", "2", "--no-shuffle", "--out", tmp_path]
    subprocess.run(
        [pdl_tool, "train", folder / "train.pdl", *arguments], check=True, capture_output=True
    )
    theirs = pdl.load(folder / "train.pdl", weights=tmp_path / "last.safetensors")
    arrays = dict(np.load(folder / "train.npz"))
    ours = pdl.load(folder / "train.pdl")
    for _ in pdl.train(ours, pdl.batches(arrays, 32, shuffle=False), epochs=2):
        pass
    for name, value in ours.parameters.items():
        np.testing.assert_array_equal(value, theirs.parameters[name])


def test_a_broken_off_loop_keeps_what_was_learned() -> None:
    net = pdl.compile(LINE)
    for step in pdl.train(net, points(), pdl.layers.sgd(lr=0.1)):
        if step.step == 3:
            break
    import gc

    gc.collect()
    assert net.parameters["a"].item() != 0


def test_a_network_has_learned_what_the_steps_so_far_did() -> None:
    net, sgd = pdl.compile(LINE), pdl.layers.sgd(lr=0.1)
    session = net.session()
    training = pdl.train(net, points(), sgd)
    for step in training:
        seen = net.parameters["a"].item()
        assert seen == training.network().parameters["a"].item() != 0
        if step.step == 3:
            break
    assert net.parameters["a"].item() == seen  # while the training is alive
    assert net.run({"x": [0.0]}, outputs="y")["y"].item() == net.parameters["b"].item() != 0
    assert session.parameters["a"].item() == 0  # it has the parameters of then
    assert net.session().parameters["a"].item() == seen
    next(training)
    assert net.parameters["a"].item() != seen


@pytest.mark.parametrize("is_over", [False, True])
def test_an_interrupt_loses_nothing_that_was_learned(is_over: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C while the network gets its new parameters: at a use of it, or at the end of the training."""
    net = pdl.compile(LINE)
    training = pdl.train(net, points(), pdl.layers.sgd(lr=0.1))
    next(training)
    given = type(training).network

    def interrupted(self: Any, **options: Any) -> Any:
        monkeypatch.setattr(type(training), "network", given)
        raise KeyboardInterrupt

    monkeypatch.setattr(type(training), "network", interrupted)
    with pytest.raises(KeyboardInterrupt):
        list(training) if is_over else net(x=[1.0], target=[1.0])
    expected = training.network().parameters["a"].item()
    del training
    assert net.parameters["a"].item() == expected != 0


def test_a_network_does_not_go_back_to_an_earlier_step() -> None:
    """A thread may take the parameters of a step over after another thread has taken those of a later one."""
    net = pdl.compile(LINE)
    trained = [net.session() for _ in range(2)]
    for i, one in enumerate(trained):
        one.set_parameter("a", i)
    net._adopt(trained[1], (1, 8))
    net._adopt(trained[0], (1, 7))
    assert net.parameters["a"].item() == 1
    net._adopt(trained[0], (2, 1))
    assert net.parameters["a"].item() == 0


def test_states_go_on_in_training(tmp_path: pathlib.Path) -> None:
    """States of batch_norm are trained and saved like parameters."""
    net = pdl.compile("input x: f32[N, 2]\ny = batch_norm(x)\nloss = mean((y - 1.0) ** 2)\noutput y")
    first = {name: value.tolist() for name, value in net.states.items()}
    assert first
    data = [{"x": np.full((4, 2), 5, np.float32)}]
    list(pdl.train(net, data, pdl.layers.sgd(lr=0.1)))
    second = {name: value.tolist() for name, value in net.states.items()}
    list(pdl.train(net, data, pdl.layers.sgd(lr=0.1)))
    third = {name: value.tolist() for name, value in net.states.items()}
    assert first != second != third
    net.save(tmp_path / "net.pdl")
    again = pdl.load(tmp_path / "net.pdl").states
    assert {name: value.tolist() for name, value in again.items()} == third


def test_an_optimizer_and_settings_of_the_text() -> None:
    text = """
attr rate: float > 0 = 0.01
layer downhill(w: F[...], g: F[...], lr: f32[] = 0.1) { return w - lr * g }
"""
    net = pdl.compile(text + LINE + "minimize loss with downhill(lr=rate)", settings={"rate": 0.1})
    assert list(pdl.train(net, points()))[-1].loss < 1e-3


def test_a_stored_network_is_trained(tmp_path: pathlib.Path) -> None:
    pdl.compile(LINE + "minimize loss with adam(lr=0.05)").save(tmp_path / "line.pdlc")
    net = pdl.load(tmp_path / "line.pdlc")
    assert list(pdl.train(net, points()))[-1].loss < 1e-3


def test_mistakes() -> None:
    with pytest.raises(pdl.Error, match="nothing to train"):
        pdl.train(LINE, points())
    with pytest.raises(pdl.Error, match=r"(?s)no value is called 'cost'.*loss=… of pdl.train names"):
        pdl.train(LINE, points(), pdl.layers.adam(), loss="cost")
    with pytest.raises(TypeError, match="loss must be a string, not function"):
        pdl.train(LINE, points(), pdl.layers.adam(), pdl.ops.mean)  # type: ignore[arg-type]
    with pytest.raises(pdl.AttributeValueError, match="'beta1'"):
        pdl.train(LINE, points(), pdl.layers.adam(beta1=2.0))
    with pytest.raises(pdl.RunError, match="step 1: the loss 'loss' is nan"):
        next(pdl.train(LINE, [{"x": [np.nan], "target": [0.0]}], pdl.layers.adam()))
    with pytest.raises(pdl.Error, match="no batch in epoch 2"):
        list(pdl.train(LINE, points(), pdl.layers.adam(), epochs=2))
    with pytest.raises(ValueError, match="the same number of rows"):
        pdl.batches({"a": [1], "b": [1, 2]}, 1)
    with pytest.raises(ValueError, match="'a' is a single number"):
        pdl.batches({"a": 1}, 1)
    with pytest.raises(ValueError, match=r"the rows of 'a' have different lengths: pdl.ragged\(rows, dtype=…\)"):
        pdl.batches({"a": [[1, 2], [3]]}, 1)
    with pytest.raises(ValueError, match="at least one array"):
        pdl.batches({}, 1)


BATCH = {"x": np.ones(4, np.float32), "target": np.full(4, 2, np.float32)}


def after_one(*rest: Any) -> Iterator[Any]:
    """One good batch, then these; exceptions are raised."""
    yield BATCH
    for one in rest:
        if isinstance(one, Exception):
            raise one
        yield one


@pytest.mark.parametrize(
    "then,kind,message",
    [
        (OSError("the disk is gone"), OSError, "the disk is gone"),
        ({"x": BATCH["x"], "tragte": BATCH["target"]}, pdl.RunError, "no input 'tragte'"),
        ({"x": BATCH["x"]}, pdl.RunError, "^step 2: no value for input 'target'"),
        ({**BATCH, "z": BATCH["x"]}, pdl.RunError, "the network has no input 'z'"),
        ({**BATCH, "x": np.ones(4)}, pdl.RunError, r"'x' is declared f32\[N\], got f64\[4\]; pdl.tensor\("),
        ({**BATCH, "x": np.ones(3, np.float32)}, pdl.RunError, "'N' is 3 by input 'x' and 4 by"),
        ({**BATCH, "x": "abc"}, TypeError, "^step 2: input 'x': expected an array, a number or nested lists"),
        ((BATCH["x"], BATCH["target"]), TypeError, "a batch must be a dict .* the data yield tuple"),
    ],
)
def test_data_that_fail_in_the_middle(then: Any, kind: Any, message: str) -> None:
    """The results of earlier steps are kept, and those of the failed step are discarded."""
    net, one = pdl.compile(LINE), pdl.compile(LINE)
    with pytest.raises(kind, match=message):
        list(pdl.train(net, after_one(then), pdl.layers.sgd(lr=0.1)))
    list(pdl.train(one, [BATCH], pdl.layers.sgd(lr=0.1)))
    assert net.parameters["a"].item() == one.parameters["a"].item() != 0
    assert net.run({"x": [1.0]}, outputs=["y"])["y"].shape == (1,)


def test_an_output_is_not_taken_for_the_input_of_its_name() -> None:
    text = LINE + "input rate: f32[]\noutput rate\nscaled = loss * rate\nminimize scaled with sgd(lr=0.1)"
    data = [{**BATCH, "rate": 1.0}, BATCH]
    with pytest.raises(pdl.RunError, match="step 2: no value for input 'rate'"):
        list(pdl.train(text, data))


def test_data_that_are_no_batches() -> None:
    net = pdl.compile(LINE)
    sgd = pdl.layers.sgd(lr=0.1)
    with pytest.raises(pdl.Error, match="no batch in epoch 1"):
        list(pdl.train(net, [], sgd))
    with pytest.raises(TypeError, match="'int' object is not iterable"):
        list(pdl.train(net, 3, sgd))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"got a dict of arrays: pdl.batches\(data, 32\)"):
        list(pdl.train(net, BATCH, sgd))  # type: ignore[arg-type]
    for epochs in (0, -1):
        with pytest.raises(ValueError, match=f"at least 1, got {epochs}"):
            pdl.train(net, [BATCH], sgd, epochs=epochs)
    with pytest.raises(TypeError, match="epochs must be an integer, not 1.5"):
        pdl.train(net, [BATCH], sgd, epochs=1.5)
    assert net.parameters["a"].item() == 0
    with pytest.raises(TypeError, match="expected a function such as .*, not str"):
        pdl.train(net, [BATCH], "adam")  # type: ignore[arg-type]
    assert len(list(pdl.train(net, [BATCH], pdl.layers.sgd))) == 1


def test_schedules_begin_anew_in_each_training() -> None:
    """Also if an output shows the number of steps, which is a state then."""
    text = LINE + "minimize loss with sgd(lr=warmup(step, peak=0.1, steps=4))\n"
    losses = []
    for more in ("", "output count = step\n"):
        net = pdl.compile(text + more)
        first = [step.loss for step in pdl.train(net, [BATCH] * 4)]
        for name in ("a", "b"):
            net.set_parameter(name, np.float32(0))
        assert [step.loss for step in pdl.train(net, [BATCH] * 4)] == first
        losses.append(first)
    assert losses[0] == losses[1]


def test_a_source_of_another_type() -> None:
    with pytest.raises(TypeError, match="a network, a graph or source, not PosixPath; pdl.load reads files"):
        pdl.train(pathlib.Path("m.pdl"), [BATCH])  # type: ignore[arg-type]


def test_a_network_of_an_onnx_model_is_trained(root: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """It begins with its own parameters, which are in no weights file."""
    shutil.copy(root / "test" / "conformance" / "onnx" / "transformer.onnx", tmp_path / "model.onnx")
    net = pdl.load(tmp_path / "model.onnx")
    x = np.random.default_rng(0).normal(size=(2, 3, 32)).astype(np.float32)
    loss = np.mean(np.square(np.asarray(net(x=x)["y"])))
    steps = list(
        pdl.train(net, [{"x": x}] * 3, optimizer=pdl.layers.sgd(lr=0.1), loss="mean(y * y)")
    )
    assert steps[0].loss == pytest.approx(float(loss), rel=1e-5)
    assert steps[2].loss < steps[1].loss < steps[0].loss
    assert np.mean(np.square(np.asarray(net(x=x)["y"]))) < steps[2].loss


class Exported:
    """An array with DLPack and nothing else."""

    def __init__(self, array: Any) -> None:
        self._array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self._array.__dlpack_device__()


def test_what_batches_are_made_of() -> None:
    x = np.arange(3, dtype=np.float32)
    for given in (x, x.tolist(), Exported(x), pdl.tensor(x), memoryview(x)):
        (batch,) = pdl.batches({"x": given}, 3, shuffle=False)
        assert batch["x"].tolist() == [0, 1, 2]
    wrong: list[tuple[Any, type[Exception], str]] = [
        ([x], TypeError, "pdl.batches takes a dict of arrays by the names of inputs, not list"),
        ({"x": object()}, TypeError, "'x' must be an array of numbers, not object"),
        ({"x": [[1], [2, 3]]}, ValueError, "the rows of 'x' have different lengths"),
        ({"x": pdl.sparse(np.eye(2, dtype=np.float32))}, TypeError, "'x' is sparse, which pdl.batches does not support"),
    ]
    for arrays, kind, message in wrong:
        with pytest.raises(kind, match=message):
            pdl.batches(arrays, 1)
    with pytest.raises(TypeError, match="the size of a batch must be an integer, not '2'"):
        pdl.batches({"x": x}, "2")  # type: ignore[arg-type]


def test_batches() -> None:
    data = pdl.batches({"a": np.arange(10), "b": np.arange(10) * 2}, 4)
    passes = [[batch["a"].tolist() for batch in data] for _ in range(2)]
    assert [len(one) for one in passes[0]] == [4, 4, 2] and len(data) == 3
    assert sorted(sum(passes[0], [])) == list(range(10)) and passes[0] != passes[1]
    assert len(list(pdl.batches({"a": np.arange(10)}, 4, drop_last=True))) == 2


# --- The digits page ---------------------------------------------------------------------------


def up_to_names(text: str) -> str:
    """Emitted source without comments, with names replaced by numbers in order of definition."""
    lines = [line for line in text.splitlines() if line and not line.startswith("##")]
    names: dict[str, str] = {}
    for line in lines:
        defined = re.match(r"(?:(?:input|param|state) )?([\w.]+(?:, [\w.]+)*)(?::| =) ", line)
        if defined and not line.startswith("output"):
            for name in defined[1].split(", "):
                names.setdefault(name, f"%{len(names)}")
    result = []
    for line in lines:
        # `output y` is `output y = y`; outputs are compared by value, not by name.
        output = re.fullmatch(r"output ([\w.]+)(?: = ([\w.]+))?", line)
        if output:
            result.append(f"output {names[output[2] or output[1]]}")
            continue
        line = re.sub(r"(?<=\d)_(?=\d)", "", line)
        line = re.sub(r'load\("([^"]*)", "([^"]*)"\)', r'load("\1", …)', line)
        result.append(re.sub(r"[A-Za-z_][\w.]*(?!\w*[=(])", lambda m: names.get(m[0], m[0]), line))
    return "\n".join(
        sorted(one for one in result if one.startswith(("output", "minimize")))
    ) + "\n".join(one for one in result if not one.startswith(("output", "minimize")))


def test_the_page_builds_what_a_person_wrote(root: pathlib.Path) -> None:
    written = pdl.load(root / "examples" / "digits" / "train.pdl").text()
    assert up_to_names(digits.training_graph().compile().text()) == up_to_names(written)
    assert up_to_names("input x: f32[N]\ny = cos(x)\noutput y\n") != up_to_names(
        "input x: f32[N]\ny = sin(x)\noutput y\n"
    )


def test_the_page_trains_and_saves(root: pathlib.Path, tmp_path: pathlib.Path) -> None:
    folder = root / "examples" / "digits"
    net = digits.train(epochs=40)
    net.save(tmp_path / "digits.pdl")
    written = pdl.load(folder / "digits.pdl").text()
    saved = (tmp_path / "digits.pdl").read_text()
    assert up_to_names(saved) == up_to_names(written)
    digit = pdl.load(tmp_path / "digits.pdl")(image=np.load(folder / "images.npy"))["digit"]
    assert (digit.numpy() == np.load(folder / "labels.npy")).mean() >= 0.95


COUNTER = LINE + "state s: i64[] = zeros()\nupdate s = s + 1\n"


def test_values_set_between_two_steps() -> None:
    net = pdl.compile(COUNTER)
    training = pdl.train(net, points(), pdl.layers.sgd(lr=0.05))
    for step in training:
        if step.step == 5:
            net.set_state("s", 100)
            net.set_parameter("a", 7.0)
            assert net.parameters["a"].item() == 7.0 and net.states["s"].item() == 100
        if step.step == 6:
            assert 6 < net.parameters["a"].item() < 7 and net.states["s"].item() == 101
            break
    net.reset()
    assert net.states["s"].item() == 101 and net.session().states["s"].item() == 101


def test_a_network_has_one_training_at_a_time() -> None:
    net = pdl.compile(LINE)
    first = pdl.train(net, points(), pdl.layers.sgd(lr=0.05))
    next(first)
    second = pdl.train(net, points(), pdl.layers.sgd(lr=0.05))
    next(second)
    with pytest.raises(pdl.Error, match="another pdl.train has begun to train this network"):
        next(first)
    next(second)


def test_batches_go_on_in_the_next_epoch() -> None:
    data = {"x": np.arange(20, dtype=np.float32)}
    make = lambda epoch: pdl.batches(data, 8, seed=3, epoch=epoch)
    passes = lambda batches: [batch["x"].tolist() for batch in batches]
    whole = make(0)
    three = [passes(whole) for _ in range(3)]
    assert three[2] == passes(make(2)) and three[0] != three[1] != three[2] and whole.epoch == 3
    with pytest.raises(TypeError, match="shuffle must be True or False, not 'no'"):
        pdl.batches(data, 8, shuffle="no")  # type: ignore[arg-type]


def test_nothing_but_states_is_updated() -> None:
    with pytest.warns(RuntimeWarning, match="no parameter is trained, since there is no 'minimize' statement"):
        steps = list(pdl.train(COUNTER, points()))
    assert len(steps) == 300


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
def test_a_training_that_has_failed(kind: type[BaseException]) -> None:
    def data() -> Iterator[Any]:
        for i, batch in enumerate(points()):
            if i == 2:
                raise kind
            yield batch

    net = pdl.compile(LINE)
    training = pdl.train(net, data(), pdl.layers.sgd(lr=0.05))
    with pytest.raises(kind):
        list(training)
    message = f"this training ended after step 2 with {kind.__name__}; pdl.train begins"
    for again in (lambda: next(training), lambda: list(training.epochs())):
        with pytest.raises(pdl.Error, match=message):
            again()
    assert net.parameters["a"].item() != 0


def test_a_schedule_of_the_optimizer() -> None:
    decay = pdl.layers.step_decay(from_=0.1, every=2)
    learned = []
    for source, optimizer in (
        (LINE, pdl.layers.sgd(lr=decay)),
        (LINE + "minimize loss with sgd(lr=step_decay(step, from=0.1, every=2))", None),
    ):
        training = pdl.train(source, points(), optimizer)
        for step in training:
            if step.step == 5:
                break
        learned.append([training.network().parameters[name].item() for name in "ab"])
    assert learned[0] == learned[1]
    with pytest.raises(TypeError, match="not a Python function: @pdl.layer makes a layer of it"):
        pdl.train(LINE, points(), lambda w, g: w)

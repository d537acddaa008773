"""Gradients of Python functions with captured variables."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
import pytest

import pdl
from pdl import _pdl


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The sources compiled during a test."""
    texts: list[str] = []
    compile = _pdl.compile

    def counting(text: str, *args: Any, **options: Any) -> Any:
        texts.append(text)
        return compile(text, *args, **options)

    monkeypatch.setattr(_pdl, "compile", counting)
    return texts


def f32(*numbers: float) -> Any:
    return np.array(numbers, np.float32)


def test_a_loop_over_minibatches(compiled: list[str]) -> None:
    """Each step uses the current value of the captured batch, and only the first compiles."""
    batches = [f32(1, 2), f32(3, 4), f32(5, 6)]
    counts, w, batch = [], f32(1, 1), batches[0]
    slope = pdl.grad(lambda w: pdl.ops.sum(w * batch))
    for batch in batches:
        assert slope(w).tolist() == batch.tolist()
        counts.append(len(compiled))
    assert counts[0] > 0 and counts[2] == counts[1] == counts[0]
    assert not any("5.0" in text for text in compiled)
    batch = f32(1, 2, 3)
    assert slope(f32(1, 1, 1)).tolist() == [1, 2, 3] and len(compiled) > counts[2]


def test_a_number_that_changes() -> None:
    rate = 2.0
    both = pdl.value_and_grad(lambda w: pdl.ops.sum(w * w * rate))
    assert [one.tolist() for one in both(f32(1, 2))] == [10, [4, 8]]
    rate = 3.0
    assert [one.tolist() for one in both(f32(1, 2))] == [15, [6, 12]]
    up = True
    slope = pdl.grad(lambda x: x * x if up else -x)
    assert slope(3.0).item() == 6
    up = False
    assert slope(3.0).item() == -1


def test_an_array_that_is_changed_in_place() -> None:
    batch = f32(1, 2)
    slope = pdl.grad(lambda w: pdl.ops.sum(w * batch))
    assert slope(f32(0, 0)).tolist() == [1, 2]
    batch[:] = 7
    assert slope(f32(0, 0)).tolist() == [7, 7]


def test_an_array_that_the_function_writes_to() -> None:
    row = f32(0, 0)

    def total(w: pdl.Value) -> pdl.Value:
        row[:] = 1
        first = w * row
        row[:] = 10
        return pdl.ops.sum(first + w * row)

    assert pdl.grad(total)(f32(0, 0)).tolist() == [11, 11]


@pytest.mark.parametrize(
    "around",
    [
        pdl.tensor(f32(2, 3)),
        memoryview(f32(2, 3)),
        np.frombuffer(f32(2, 3).tobytes(), np.float32),
        pdl.ops.add(f32(1, 2), f32(1, 1)),
    ],
)
def test_arrays_of_any_kind(around: Any) -> None:
    assert pdl.grad(lambda w: pdl.ops.sum(pdl.ops.mul(w, around)))(f32(0, 0)).tolist() == [2, 3]


def test_ragged_values_around_a_function() -> None:
    rows, other = pdl.ragged([f32(1, 2), f32(3)]), pdl.ragged([f32(4), f32(5, 6)])

    def total(w: pdl.Value) -> pdl.Value:
        pooled = [pdl.ops.sequence_pool(one * w, kind="sum") for one in (rows, other, rows)]
        return pdl.ops.sum(pooled[0] + pooled[1] + pooled[2])

    slope = pdl.grad(total)
    assert slope(np.float32(1)).item() == 6 + 15 + 6
    rows = other
    assert slope(np.float32(1)).item() == 45
    of_both = pdl.grad(
        lambda x, y: pdl.ops.sum(pdl.ops.sequence_pool(x * 2.0, kind="sum"))
        + pdl.ops.sum(pdl.ops.sequence_pool(y * 3.0, kind="sum")),
        argnums=(0, 1),
    )
    of_x, of_y = of_both(pdl.ragged([f32(1, 2), f32(3)]), pdl.ragged([f32(4), f32(5, 6)]))
    assert of_x.tolist() == [[2, 2], [2]] and of_y.tolist() == [[3], [3, 3]]


def test_gradients_of_gradients_take_what_there_is_then() -> None:
    scale = f32(2, 3)
    slope = pdl.grad(lambda x: pdl.ops.sum(x**3 * scale))
    curvature = pdl.grad(lambda x: pdl.ops.sum(slope(x)))
    assert curvature(f32(1, 1)).tolist() == [12, 18]
    scale = f32(1, 1)
    assert curvature(f32(1, 1)).tolist() == [6, 6]


def test_arrays_keep_their_dtype() -> None:
    around = np.array([1.0, 2.0])
    with pytest.raises(pdl.ShapeError, match="dtypes differ: f32 and f64"):
        pdl.grad(lambda w: pdl.ops.sum(w * around))(f32(0, 0))


def test_random_operators_draw_anew_and_from_the_seed() -> None:
    noisy: Callable[[Any], Any] = pdl.grad(lambda w: pdl.ops.sum(w * pdl.ops.normal([2])))
    pdl.seed(3)
    first, second = noisy(f32(0, 0)).tolist(), noisy(f32(0, 0)).tolist()
    pdl.seed(3)
    assert noisy(f32(0, 0)).tolist() == first != second
    pdl.seed(0)


@pytest.mark.parametrize(
    "argnums,kind,message",
    [
        ((0, 0), ValueError, r"^argnums contains an argument twice: \(0, 0\)$"),
        ([1, -1], ValueError, r"^argnums contains an argument twice: \[1, -1\]$"),
        ((), ValueError, "^argnums is empty$"),
        ("x", TypeError, "^argnums must be an integer, not 'x'$"),
        ((0, 1.0), TypeError, "^argnums must be an integer, not 1.0$"),
    ],
)
def test_arguments_that_cannot_be(argnums: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        pdl.grad(lambda x, y: pdl.ops.sum(x * y), argnums=argnums)(f32(1), f32(2))


def test_arguments_by_name() -> None:
    def loss(x: Any, y: Any = 2.0) -> Any:
        """The loss."""
        return pdl.ops.sum(x * x * y)

    gradient = pdl.grad(loss)
    x = np.array([1.0, 2.0])
    assert gradient(x=x, y=np.array(3.0)).tolist() == gradient(x, np.array(3.0)).tolist() == [6, 12]
    assert gradient.__name__ == "loss" and gradient.__doc__ == "The loss."
    with pytest.raises(TypeError, match="'k' can only be given by name"):
        pdl.grad(lambda x, *, k: x)(x, k=x)
    with pytest.raises(TypeError, match="expected a function or a value of a graph, not ndarray"):
        pdl.grad(x)
    assert "Python numbers" in (pdl.Tensor.tolist.__doc__ or "")

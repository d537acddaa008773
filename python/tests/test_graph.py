"""Networks built from Python."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import pdl


def test_calls_become_statements() -> None:
    with pdl.Graph() as g:
        x = pdl.input("x", "f32[N, 3]", comment="points")
        y = pdl.ops.cos(x, scale=5.0)
        z = pdl.layers.fc(y, size=2, act="relu", param_attr={"weight_decay": 1e-4}, name="hidden")
        pdl.output(z * 2 + 1.0, "out")
    assert g.text() == (
        "## points\n"
        "input x: f32[N, 3]\n"
        "cos = cos(x, scale=5.0)\n"
        'hidden = fc(cos, size=2, act="relu", param_attr={weight_decay=0.0001})\n'
        "mul = mul(hidden, 2)\n"
        "add = add(mul, 1.0)\n"
        "output out = add\n"
    )
    net = g.compile()
    assert list(net.parameters) == ["hidden.w", "hidden.b"]
    assert net(x=np.zeros((4, 3), np.float32))["out"].shape == (4, 2)


def test_types_are_known_at_once() -> None:
    with pdl.Graph():
        x = pdl.input("x", "f32[N, 3]")
        y = pdl.input("y", "f32[M, 3]")
        both = pdl.ops.concat(x, y)
        assert both.type == "f32[M + N, 3]" and both.shape == ("M + N", 3) and both.dtype == "f32"
        assert both[:, 0].shape == ("M + N",) and both[..., 1:3].shape == ("M + N", 2)
        assert pdl.ops.reshape(both, [3, "M + N"]).shape == (3, "M + N")
        assert (x @ pdl.ops.transpose(y, [1, 0])).shape == ("N", "M")
        assert pdl.ops.topk(x, k=2).indices.type == "i64[N, 2] in 0..3"
        parts = pdl.ops.split(x, parts=3, axis=1)
        assert [part.shape for part in parts] == [("N", 1)] * 3
        assert repr(x) == "<pdl value x: f32[N, 3]>" and x.ndim == 2
        assert pdl.layers.lstm(pdl.ops.reshape(x, ["N", 1, 3]), size=4).last.shape == ("N", 4)


def test_sizes_have_arithmetic() -> None:
    with pdl.Graph():
        x = pdl.input("x", "f32[N, 6, M, 4]")
        n, six, m, _ = x.shape
        assert (n * six, n + m, n // 2, n % 2, 2 * n - 1) == ("N * 6", "N + M", "N // 2", "N % 2", "(N * 2) - 1")
        assert (1 + n, 7 - n, 8 // n, 8 % n) == ("1 + N", "7 - N", "8 // N", "8 % N")
        assert pdl.ops.reshape(x, [n * six, m * 4]).shape == ("6*N", "4*M")
        assert pdl.ops.reshape(x, [(n + 0) * m, 24]).shape == ("M*N", 24)
        assert pdl.ops.zeros([n // 2 + 1, m % 3]).shape == ("N // 2 + 1", "M % 3")
        assert "size " + n == "size N" and n + " rows" == "N rows" and "%s rows" % n == "N rows"
        assert pickle.loads(pickle.dumps(n * 2)) * 3 == "(N * 2) * 3"
        for wrong in (lambda: n * 0.5, lambda: n - None, lambda: n // "2", lambda: True * n):
            with pytest.raises(TypeError):
                wrong()


@pytest.mark.parametrize(
    "kind,message,make",
    [
        (pdl.AttributeValueError, "attribute 'scale' of 'cos' must be larger than 0, got -1.0", lambda x: pdl.ops.cos(x, scale=-1.0)),
        (pdl.AttributeValueError, "attribute 'size' of 'fc' must be larger than 0, got 0", lambda x: pdl.layers.fc(x, size=0)),
        (pdl.ShapeError, "matmul: inner dims differ: 3 and 4", lambda x: x @ pdl.param("w", "f32[4, 2]")),
        (pdl.UnknownNameError, "no symbol or constant is called 'M'", lambda x: pdl.ops.ones([2, "M"])),
        (pdl.ShapeError, "5", lambda x: x[:, 5]),
    ],
)  # fmt: skip
def test_mistakes_are_raised_where_they_are_made(
    kind: type[Exception], message: str, make: object
) -> None:
    with pdl.Graph() as g:
        x = pdl.input("x", "f32[N, 3]")
        with pytest.raises(kind, match=message):
            make(x)  # type: ignore[operator]
        assert "cos" not in g.text() and "fc" not in g.text()


def test_names() -> None:
    with pdl.Graph() as g:
        x = pdl.input("x", "f32[N]")
        assert [pdl.ops.relu(x).name for _ in range(3)] == ["relu", "relu_2", "relu_3"]
        assert pdl.ops.relu(x, name="mine").name == "mine"
        with pytest.raises(ValueError, match="this graph already has a value 'mine'"):
            pdl.ops.cos(x, name="mine")
        with pytest.raises(ValueError, match="'x'"):
            pdl.input("x", "f32[N]")
    with pdl.Graph(), pytest.raises(pdl.Error, match="belongs to another graph"):
        pdl.ops.add(pdl.input("y", "f32[N]"), x)
    with pytest.raises(pdl.Error, match="there is no current graph"):
        pdl.input("x", "f32[N]")
    assert g.text().count("relu(x)") == 4


def test_arrays_become_constants() -> None:
    with pdl.Graph() as g:
        x = pdl.input("x", "f32[N, 2]")
        pdl.output(x + np.array([0.5, 2.0]) - pdl.ops.ones([2]), "y")
    assert g.compile()(x=np.zeros((1, 2), np.float32))["y"].tolist() == [[-0.5, 1.0]]


def test_states_instances_and_text() -> None:
    with pdl.Graph() as g:
        x = pdl.input("x", "f32[N, 4]")
        count = pdl.state("count", "i64[]")
        pdl.update(count, count + 1)
        encode = g.layer("encode", pdl.layers.fc(size=3))
        g.add("layer twice(x: F[...]) { return x * 2 }")
        pdl.output(encode(x) + encode(x), "y")
        pdl.output(g.define("twice(encode.b)", "doubled"))
        pdl.output(count, "count")
    net = g.compile()
    assert list(net.parameters) == ["encode.w", "encode.b"]
    assert net(x=np.zeros((1, 4), np.float32))["doubled"].tolist() == [0, 0, 0]
    assert net(x=np.zeros((1, 4), np.float32))["count"].item() == 2


def test_functions() -> None:
    assert repr(pdl.layers.adam(lr=0.01)) == "<pdl function adam(lr=0.01)>"
    assert repr(pdl.ops.relu()) == "<pdl function relu()>"
    assert repr(pdl.ops.normal(std=0.02)) == "<pdl function normal(std=0.02)>"
    with pdl.Graph() as g:
        x = pdl.input("x", "f32[N, 8]")
        y = pdl.layers.residual(x, body=pdl.layers.fc(size=8, act=pdl.ops.gelu))
        pdl.output(pdl.layers.fc(y, size=2, act=pdl.ops.tanh(), name="last"), "y")
    assert "act=gelu()" in g.text() and "act=tanh()" in g.text()
    assert g.compile()(x=np.zeros((2, 8), np.float32))["y"].shape == (2, 2)


def test_gradients_in_a_graph() -> None:
    with pdl.Graph() as g:
        x = pdl.input("x", "f32[N]")
        w = pdl.param("w", "f32[]", pdl.ops.ones())
        loss = pdl.ops.sum(w * x**3)
        slope, of_w = pdl.grad(loss, [x, w])
        pdl.output(pdl.grad(pdl.ops.sum(slope), x), "curvature")
        pdl.output(of_w, "of_w")
        assert slope.type == "f32[N]" and of_w.type == "f32[]"
        with pytest.raises(pdl.Error, match="does not depend"):
            pdl.grad(loss, pdl.param("v", "f32[]"))
    results = g.compile()(x=[1.0, 2.0])
    assert results["curvature"].tolist() == [6, 12] and results["of_w"].item() == 9


def test_gradients_of_functions() -> None:
    def f(x: pdl.Value, w: pdl.Value) -> pdl.Value:
        return pdl.ops.sum(x * x * w)

    x, w = np.array([1.0, 2.0]), np.array([3.0, 5.0])
    assert pdl.grad(f)(x, w).tolist() == [6, 20]
    value, (of_x, of_w) = pdl.value_and_grad(f, argnums=(0, 1))(x, w)
    assert value.item() == 23 and of_x.tolist() == [6, 20] and of_w.tolist() == [1, 4]


def test_gradients_of_gradients() -> None:
    slope = pdl.grad(lambda x: x**4)
    assert slope(2.0).item() == 32
    assert pdl.grad(slope)(2.0).item() == 48
    assert pdl.grad(lambda x: pdl.grad(slope)(x))(np.array(2.0)).item() == 48
    assert pdl.grad(lambda x: pdl.ops.sum(pdl.grad(lambda v: pdl.ops.sum(v**3))(x)))(
        [1.0, 2.0]
    ).tolist() == [6, 12]


@pytest.mark.parametrize(
    "of,options,kind,message",
    [
        (lambda x: x * x, {}, pdl.ShapeError, r"a gradient is taken of a scalar, got f64\[2\]"),
        (lambda x: pdl.ops.sum(x), {"argnums": 3}, TypeError, "argnums contains 3, but there are 1"),
        (lambda x: np.float32(3), {}, TypeError, "the function must return a value .*, got float32"),
        (lambda x: np.sin(x), {}, TypeError, "np.sin needs arrays"),
        (lambda x: x if x > 0 else -x, {}, TypeError, "pdl.ops.where"),
    ],
)
def test_functions_that_have_no_gradient(of: Any, options: Any, kind: Any, message: str) -> None:
    with pytest.raises(kind, match=message):
        pdl.grad(of, **options)(np.array([1.0, 2.0]))


def test_a_value_has_no_truth() -> None:
    with pdl.Graph():
        x = pdl.input("x", "f32[]")
        with pytest.raises(TypeError, match="pdl.ops.where"):
            bool(x > 0)


@pytest.mark.parametrize(
    "make,kind,message",
    [
        (lambda x: pdl.output(np.ones(2), "k"), TypeError, "an output must be a value of a graph, not nd"),
        (lambda x: pdl.minimize(3.0, pdl.layers.adam()), TypeError, "a loss must be a value .* not 3.0"),
        (lambda x: pdl.update("x", x), TypeError, "a state must be a value of a graph, not 'x'"),
        (lambda x: pdl.output(x, "a b"), ValueError, "^'a b' is not a valid name: names consist of letters, dig"),
        (lambda x: pdl.output(x, ""), ValueError, "^'' is not a valid name"),
        (lambda x: pdl.input("a b", "f32[]"), ValueError, "^'a b' is not a valid name"),
        (lambda x: pdl.param("1a", "f32[]"), ValueError, "^'1a' is not a valid name"),
        (lambda x: pdl.ops.cos(x, name="a-b"), ValueError, "^'a-b' is not a valid name"),
        (lambda x: pdl.input(3, "f32[]"), TypeError, "^a name must be a string, not 3$"),
        (
            lambda x: pdl.input("q", np.float16),
            TypeError,
            r"the type of 'q' must be a string .* such as 'f16\[N, 3\]', or 'f16\[\]' .* not float16",
        ),
        (lambda x: pdl.input("q", None), TypeError, r"such as 'f32\[N, 3\]'.* not None"),
        (lambda x: pdl.input("q", (None, 3)), TypeError, r"such as 'f32\[N, 3\]'.* not tuple"),
        (lambda x: pdl.state("q", 3), TypeError, r"such as 'f32\[N, 3\]'.* not 3$"),
    ],
)
def test_what_does_not_fit_is_said_at_its_line(
    make: Any, kind: type[Exception], message: str
) -> None:
    with pdl.Graph():
        x = pdl.input("x", "f32[N]")
        with pytest.raises(kind, match=message):
            make(x)
        pdl.input("q", "f32[]")  # its name is still free


def test_two_outputs_of_one_name() -> None:
    with pdl.Graph() as g:
        x = pdl.input("x", "f32[N]")
        pdl.output(x, "k")
        with pytest.raises(ValueError, match="^this graph already has an output 'k'$"):
            pdl.output(x + 1.0, "k")
        pdl.output(x)
        with pytest.raises(ValueError, match="^this graph already has an output 'x'"):
            pdl.output(x)
    assert list(g.compile()(x=[1.0])) == ["k", "x"]

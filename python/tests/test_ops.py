"""Operators called on arrays."""

from __future__ import annotations

import inspect
import pydoc
import re
from typing import Any

import numpy as np
import pytest

import pdl
from pdl._declarations import Attribute, Declaration, Input, parameters, python_name
from pdl._functions import declarations

OPS, LAYERS = declarations()


def f32(*numbers: float) -> np.ndarray[Any, Any]:
    return np.array(numbers, np.float32)


def test_there_are_all_operators() -> None:
    assert len(OPS) > 200 and len(LAYERS) > 40
    assert dir(pdl.ops) == sorted(OPS)
    assert dir(pdl.layers) == sorted(LAYERS)
    with pytest.raises(AttributeError, match="there is no operator 'cosine_of'"):
        pdl.ops.cosine_of
    with pytest.raises(AttributeError, match=r"there is no operator 'sofmax'; did you mean 'softmax'\?"):
        pdl.ops.sofmax
    with pytest.raises(AttributeError, match="there is no operator 'fc': it is a layer, pdl.layers.fc"):
        pdl.ops.fc
    with pytest.raises(AttributeError, match="there is no layer 'relu': it is an operator, pdl.ops.relu"):
        pdl.layers.relu


@pytest.mark.parametrize("name", sorted(OPS))
def test_help_names_every_input_and_attribute(name: str) -> None:
    declaration = OPS[name]
    shown = pydoc.render_doc(getattr(pdl.ops, name), renderer=pydoc.plaintext)
    signature = inspect.signature(getattr(pdl.ops, name))
    for one in declaration.inputs:
        name = python_name(one.name)
        assert re.search(rf"^    {name} : \S", shown, re.M), name
        assert name in signature.parameters
        assert not one.comment or words(one.comment) in words(shown)
    for attribute in declaration.attributes:
        if attribute.counted:
            continue
        line = re.search(rf"^    {python_name(attribute.name)} : (.*)$", shown, re.M)
        assert line, attribute.name
        for bound in (attribute.lower, attribute.upper):
            assert bound is None or number(bound.value) in line[1], (attribute, line[1])
        assert not attribute.has_default or ", default " in line[1] or "with a default" in line[1]
        assert attribute.has_default or not attribute.required or ", required" in line[1]
        assert all(choice in line[1] for choice in attribute.choices)
        parameter = signature.parameters[python_name(attribute.name)]
        if attribute.has_default:
            assert parameter.default == attribute.default
    for output in declaration.outputs:
        kind = f" : {re.escape(output.type)}" if output.type else ""
        assert re.search(rf"^    {output.name}{kind}$", shown, re.M)


def words(text: str) -> str:
    return " ".join(text.split())


def number(value: float) -> str:
    return f"{value:g}" if value != int(value) else str(int(value))


def outside(attribute: Attribute) -> Any:
    """A value just outside the range."""
    value: Any
    if attribute.lower is not None:
        value = attribute.lower.value if attribute.lower.is_open else attribute.lower.value - 1
    else:
        assert attribute.upper is not None
        value = attribute.upper.value if attribute.upper.is_open else attribute.upper.value + 1
    value = int(value) if attribute.type == "INT" else float(value)
    return [value] if attribute.is_list else value


def some_value(attribute: Attribute) -> Any:
    """A value that an attribute accepts according to its declaration."""
    if attribute.choices:
        return attribute.choices[0]
    single = {
        "INT": 1,
        "FLOAT": 0.5,
        "STRING": "a",
        "BOOLEAN": True,
        "DTYPE": "f32",
        "SHAPE": [1],
        "TENSOR": 0.0,
        "BLOCK": "relu",
    }[attribute.type]
    return [single] if attribute.is_list else single


def some_call(declaration: Declaration, wrong: str, value: Any) -> Any:
    """Calls the operator with tensors of one element, and one wrong attribute."""
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    for one in parameters(declaration):
        if isinstance(one.source, Input):
            if one.required or (one.source.repeatable and not args):
                args.append(np.zeros((1, 1), np.float32))
        elif one.required and one.source.name != wrong:
            kwargs[one.name] = some_value(one.source)
    return getattr(pdl.ops, declaration.name)(*args, **{**kwargs, python_name(wrong): value})


RANGES = [
    (name, one.name)
    for name in sorted(OPS)
    for one in OPS[name].attributes
    if (one.lower or one.upper) and not one.counted
]
CHOICES = [(name, one.name) for name in sorted(OPS) for one in OPS[name].attributes if one.choices]


@pytest.mark.parametrize("name,attribute", RANGES)
def test_an_attribute_out_of_range_raises(name: str, attribute: str) -> None:
    declared = OPS[name].attribute(attribute)
    assert declared is not None
    value = outside(declared)
    with pytest.raises(pdl.AttributeValueError) as caught:
        some_call(OPS[name], attribute, value)
    message = str(caught.value)
    single = value[0] if isinstance(value, list) else value
    assert f"attribute '{attribute}' of '{name}'" in message
    assert f"got {single}" in message
    bound = declared.lower or declared.upper
    assert bound is not None and number(bound.value) in message.replace("_", "")
    assert isinstance(caught.value, ValueError) and caught.value.code == "PDL0203"


@pytest.mark.parametrize("name,attribute", CHOICES)
def test_an_attribute_that_is_no_choice_raises(name: str, attribute: str) -> None:
    declared = OPS[name].attribute(attribute)
    assert declared is not None
    with pytest.raises(pdl.AttributeValueError) as caught:
        some_call(OPS[name], attribute, "no such choice")
    assert f"attribute '{attribute}' of '{name}'" in str(caught.value)
    assert all(f'"{choice}"' in str(caught.value) for choice in declared.choices)


def test_results_are_right() -> None:
    x, y = f32(0, 1, -2), f32(4, 5, 6)
    a = np.arange(6, dtype=np.float64).reshape(2, 3)
    for result, expected in [
        (pdl.ops.cos(x, scale=5.0), 5 * np.cos(x)),
        (pdl.ops.add(x, y), x + y),
        (pdl.ops.add(x, 2), x + 2),
        (pdl.ops.matmul(a, a.T), a @ a.T),
        (pdl.ops.concat(x, y, axis=0), np.concatenate([x, y])),
        (pdl.ops.reshape(a, [3, 2]), a.reshape(3, 2)),
        (pdl.ops.transpose(a, [1, 0]), a.T),
        (pdl.ops.cast(x, to=np.float64), x.astype(np.float64)),
        (pdl.ops.cast(x, to="i64"), x.astype(np.int64)),
        (pdl.ops.sum(a, axes=[1]), a.sum(axis=1)),
        (pdl.ops.where(x > 0, x, y), np.where(x > 0, x, y)),
        (pdl.ops.ones([2, 3]), np.ones((2, 3), np.float32)),
        (pdl.ops.constant([[1, 2], [3, 4]]), np.array([[1, 2], [3, 4]])),
        (pdl.ops.einsum(a, a, equation="ij,kj->ik"), a @ a.T),
    ]:
        assert (
            result.dtype
            == {"float32": "f32", "float64": "f64", "int64": "i64"}[expected.dtype.name]
        )
        np.testing.assert_allclose(result, expected, rtol=1e-6)


def test_several_results() -> None:
    best = pdl.ops.topk(f32(3, 1, 2), k=2)
    values, indices = best
    np.testing.assert_array_equal(values, [3, 2])
    np.testing.assert_array_equal(best.indices, indices)
    parts = pdl.ops.split(f32(1, 2, 3, 4), parts=2)
    assert [part.tolist() for part in parts] == [[1, 2], [3, 4]]
    with pytest.raises(AttributeError, match="no output 'rest'; there are y, indices"):
        best.rest


def test_a_loop_over_time() -> None:
    total = pdl.ops.scan(f32(1, 2, 3), init=f32(0).reshape(()), axis=0, body=pdl.ops.add)
    assert total[0].item() == 6.0
    assert pdl.ops.scan(f32(1, 2, 3), init=0.0, axis=0, body="add")[0].item() == 6.0


@pytest.mark.parametrize(
    "make,kind,message",
    [
        (
            lambda: pdl.ops.cos(f32(1), scale=-5.0),
            pdl.AttributeValueError,
            "attribute 'scale' of 'cos' must be larger than 0, got -5.0 [PDL0203]",
        ),
        (
            lambda: pdl.ops.cos(f32(1), scael=2.0),
            pdl.ArgumentError,
            "'cos' has no attribute or input 'scael'; did you mean 'scale'? [PDL0201]",
        ),
        (
            lambda: pdl.ops.add(f32(1, 2, 3), f32(1, 2)),
            pdl.ShapeError,
            "add: sizes do not broadcast: 3 and 2 [PDL0304]\n   = x: f32[3]\n   = y: f32[2]",
        ),
        (
            lambda: pdl.ops.add(f32(1), np.zeros(1)),
            pdl.ShapeError,
            "add: dtypes differ: f32 and f64 [PDL0303]\n   = x: f32[1]\n   = y: f64[1]",
        ),
        (lambda: pdl.ops.cast(f32(1)), pdl.ArgumentError, "'cast' needs the attribute 'to'"),
        # Calls without a recognized input, which are functions otherwise.
        (
            lambda: pdl.ops.cos(scael=2.0),
            pdl.ArgumentError,
            "'cos' has no attribute or input 'scael'; did you mean 'scale'? [PDL0201]",
        ),
        (
            lambda: pdl.ops.cos(input=f32(1), scale=-1.0),
            pdl.ArgumentError,
            "'cos' has no attribute or input 'input'; it takes x and scale [PDL0201]",
        ),
        (
            lambda: pdl.layers.fc(input=f32(1), size=56, with_bias=True, activation="sigmoid"),
            pdl.ArgumentError,
            "'fc' has no attribute or input 'input'; it takes xs, size, act, bias, dropout_rate, ",
        ),
        (
            lambda: pdl.layers.adam(lrr=0.1),
            pdl.ArgumentError,
            "'adam' has no attribute or input 'lrr'; did you mean 'lr'? [PDL0201]",
        ),
        (
            lambda: pdl.layers.fc(size=3, clip_norm=1.0),
            pdl.ArgumentError,
            "'fc' has no attribute or input 'clip_norm'",
        ),
        (
            lambda: pdl.layers.fc(size=3, name="hidden"),
            pdl.ArgumentError,
            "'fc' is called without its inputs and returns a function, which has no name: name= names",
        ),
    ],
)
def test_messages_are_the_compilers(make: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind) as caught:
        make()
    assert str(caught.value).startswith(message)


def test_all_misnamed_arguments_are_reported_together() -> None:
    with pytest.raises(pdl.ArgumentError) as caught:
        pdl.layers.fc(input=f32(1), size=56, with_bias=True, activation="sigmoid")
    names = [one.message.split("'")[3] for one in caught.value.mistakes]
    assert names == ["input", "with_bias", "activation"]
    with pdl.Graph():
        with pytest.raises(pdl.ArgumentError, match="'fc' has no attribute or input 'input'"):
            pdl.layers.fc(input=pdl.input("x", "f32[N, 3]"), size=2)  # type: ignore[call-overload]


def test_what_functions_accept() -> None:
    """Arguments of every layer, and of optimizers."""
    assert repr(pdl.layers.adam(lr=0.1, clip_norm=1.0)) == "<pdl function adam(lr=0.1, clip_norm=1.0)>"
    assert repr(pdl.layers.sgd(lazy=True)) == "<pdl function sgd(lazy=true)>"
    assert repr(pdl.layers.dropout(training=False)) == "<pdl function dropout(training=false)>"
    assert repr(pdl.layers.fc(size=2, recompute=True)) == "<pdl function fc(size=2, recompute=true)>"


def test_random_operators_draw_anew() -> None:
    pdl.seed(7)
    first, second = pdl.ops.normal([100]), pdl.ops.normal([100])
    assert not np.array_equal(first, second)
    assert abs(float(pdl.ops.mean(pdl.ops.normal([100_000])))) < 0.02
    pdl.seed(0)


def test_the_seed_makes_draws_repeatable() -> None:
    def draws() -> list[Any]:
        return [pdl.ops.uniform([5]).tolist(), pdl.ops.normal([4]).tolist(), pdl.ops.normal([4]).tolist()]

    pdl.seed(7)
    first = draws()
    assert draws() != first and first[1] != first[2]
    for number in (7, np.int64(7)):
        pdl.seed(number)
        assert draws() == first
    pdl.seed(2**64 - 1)
    assert draws() != first
    pdl.seed(0)


@pytest.mark.parametrize(
    "number,kind,message",
    [
        ("a", TypeError, "^seed must be an integer, not 'a'$"),
        (1.5, TypeError, "^seed must be an integer, not 1.5$"),
        (True, TypeError, "^seed must be an integer, not True$"),
        (None, TypeError, "^seed must be an integer, not None$"),
        (-1, ValueError, r"^seed must be an integer from 0 to 2\*\*64 - 1, got -1$"),
        (2**70, ValueError, r"from 0 to 2\*\*64 - 1, got 1180591620717411303424"),
    ],
)
def test_what_is_no_seed(number: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        pdl.seed(number)


def test_docstrings_say_types_and_gradients() -> None:
    pool, index = pdl.ops.sequence_pool.__doc__, pdl.ops.argmax.__doc__
    assert "must be ragged" in pool and "Differentiable." in pool and "y : dtype of x\n" in pool
    assert "may be ragged" in index and "Not differentiable." in index and "index : i64\n" in index
    lstm = pdl.layers.lstm.__doc__
    assert "x : F[N, ~T, D] | F[N, T, D]; up to 1 ragged dim\n" in lstm
    assert "cell\n    the cell state after the last step of each sequence" in lstm
    assert "weight_decay : float >= 0, <= 1, default 0.0\n    L2 penalty" in lstm
    missing = [
        (declaration.name, part.name)
        for declaration in [*OPS.values(), *LAYERS.values()]
        for part in [*declaration.inputs, *declaration.outputs, *declaration.attributes]
        if not part.comment
    ]
    assert not missing


def test_infix_operators_of_tensors() -> None:
    x, y = pdl.tensor(f32(1, 2)), pdl.tensor(f32(3, 5))
    assert (x + y).tolist() == [4, 7]
    assert (1 - x).tolist() == [0, -1]
    assert (x * 2.0).tolist() == [2, 4]
    assert (-x @ y).item() == -13.0
    assert (x < y).tolist() == [True, True]
    assert (x == x).tolist() == [True, True]
    assert (f32(1, 1) + x).tolist() == [2, 3]


def test_a_layer_with_parameters_needs_a_graph() -> None:
    with pytest.raises(pdl.ArgumentError, match="parameters of its own"):
        pdl.layers.fc(np.zeros((1, 3), np.float32), size=2)


def test_codes_are_explained() -> None:
    assert "range" in pdl.explain("PDL0203")
    with pytest.raises(KeyError):
        pdl.explain("PDL9999")


def test_layers_with_given_parameters() -> None:
    x, w = np.float32([[1, 2], [3, 4]]), np.float32([[1, 0], [0, 2]])
    b = np.float32([10, 20])
    expected = x @ w + b
    for scale in [1.0, 2.0]:
        found = pdl.layers.fc(x, size=2, params=[scale * w, b])
        assert np.array_equal(found, scale * (x @ w) + b)
    with pdl.Graph() as g:
        given = g.input("x", "f32[N, 2]")
        net = g.param("w", "f32[2, 2]", pdl.ops.ones())
        y = pdl.layers.fc(given, size=2, params=[2.0 * net, [10.0, 20.0]], name="y")
        g.output(y)
    assert np.array_equal(g.compile()(x=x)["y"], 2 * (x @ np.ones((2, 2))) + b)
    assert np.array_equal(pdl.layers.fc(x, size=2, params=[w, b]), expected)
    with pytest.raises(pdl.Error, match=r"params has 1 value, and none for '.*b'"):
        pdl.layers.fc(x, size=2, params=[w])

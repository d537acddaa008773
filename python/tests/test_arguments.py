"""Arguments for inputs of networks and operators: the right result, or a clear error."""

from __future__ import annotations

import array
import ctypes
import math
import types
from typing import Any, Callable, Mapping

import numpy as np
import pytest
from conftest import resident_bytes

import pdl


NET = pdl.compile("input x: f32[N]\nstate s: f32[] = zeros()\nupdate s = sum(x)\noutput y = x + s")


def f32(*numbers: float) -> np.ndarray[Any, Any]:
    return np.array(numbers, np.float32)


def read_only(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    array.flags.writeable = False
    return array


def doubled(given: Any, type: str = "f32[N]") -> Any:
    return pdl.compile(f"input x: {type}\noutput y = x * 2")(x=given)["y"]


@pytest.mark.parametrize(
    "given,type,expected",
    [
        (f32(1, 2), "f32[N]", [2, 4]),
        (f32(1, 9, 2, 9)[::2], "f32[N]", [2, 4]),
        (f32(1, 2)[::-1], "f32[N]", [4, 2]),
        (np.broadcast_to(np.float32(3), (2,)), "f32[N]", [6, 6]),
        (read_only(f32(1, 2)), "f32[N]", [2, 4]),
        (np.asfortranarray(np.array([[1, 2], [3, 4]], np.float32)), "f32[N, M]", [[2, 4], [6, 8]]),
        (f32(), "f32[N]", []),
        (np.zeros((2, 0), np.float32), "f32[N, M]", [[], []]),
        (np.array(3, np.float32), "f32[]", 6),
        (np.float32(3), "f32[]", 6),
        (3, "f32[]", 6),
        (3.5, "f32[]", 7),
        (True, "f32[]", 2),
        (10**30, "f32[]", 2 * np.float32(10**30)),
        ([1, 2.5], "f32[N]", [2, 5]),
        ((1, 2), "f32[N]", [2, 4]),
        ([[1, 2], [3, 4]], "f32[N, M]", [[2, 4], [6, 8]]),
        ([f32(1, 2), f32(3, 4)], "f32[N, M]", [[2, 4], [6, 8]]),
        ([np.float32(1)], "f32[N]", [2]),
        (range(3), "f32[N]", [0, 2, 4]),
        (np.ma.masked_equal(f32(1, 2), 3), "f32[N]", [2, 4]),
        ([float("inf"), 1], "f16[N]", [float("inf"), 2]),
        ([], "f32[N]", []),
        ([], "i64[N]", []),
        ([1, 2], "i64[N] in 0..5", [2, 4]),
        (np.array([1], np.int8), "i8[N]", [2]),
        (memoryview(f32(1, 2)), "f32[N]", [2, 4]),
        ([1, 2.5, 3.0078125], "bf16[N]", [2, 5, 6]),
    ],
)
def test_what_is_taken(given: Any, type: str, expected: Any) -> None:
    assert doubled(given, type).tolist() == expected


class Column:
    """Like a column of pandas: neither a buffer nor DLPack."""

    dtype = np.dtype(np.float32)

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray[Any, Any]:
        return f32(1, 2)


def test_what_numpy_makes_an_array_of() -> None:
    assert doubled(Column()).tolist() == [2, 4]


NO_ARRAY = "input 'x': expected an array, a number or nested lists of numbers, not "


@pytest.mark.parametrize(
    "given,type,kind,message",
    [
        (np.ones(3), "f32[N]", pdl.RunError, r"input 'x' is declared f32\[N\], got f64\[3\]"),
        (np.float64(2), "f32[]", pdl.RunError, r"input 'x' is declared f32\[\], got f64\[\]"),
        (f32(1, 2), "i64[N]", pdl.RunError, r"input 'x' is declared i64\[N\], got f32\[2\]"),
        (np.array([1], np.int32), "i64[N]", pdl.RunError, r"declared i64\[N\], got i32\[1\]"),
        (np.ones((2, 2), np.float32), "f32[N]", pdl.RunError, r"got f32\[2, 2\]"),
        (3.0, "f32[N]", pdl.RunError, r"input 'x' is declared f32\[N\], got f32\[\]"),
        ([[1, 2]], "f32[N]", pdl.RunError, r"input 'x' is declared f32\[N\], got f32\[1, 2\]"),
        (b"ab", "f32[N]", pdl.RunError, r"input 'x' is declared f32\[N\], got u8\[2\]"),
        (f32(1).astype(">f4"), "f32[N]", TypeError, r"input 'x': elements of dtype '>f4' have no dtype in pdl; array.astype\(array.dtype.newbyteorder\('='\)\)"),
        (np.array([1], object), "f32[N]", TypeError, r"input 'x': elements of dtype 'object' have no dtype in pdl; array.astype\(\"float32\"\) converts"),
        (np.array(["a"]), "f32[N]", TypeError, "input 'x': elements of dtype '<U1' have no dtype"),
        (np.array([1j]), "f32[N]", TypeError, "input 'x': elements of dtype 'complex128' have no"),
        (np.array(["2020-01-01"], "M8[D]"), "f32[N]", TypeError, r"dtype 'datetime64\[D\]' have no"),
        (np.zeros(1, [("a", "f4")]), "f32[N]", TypeError, r"dtype '\[\('a', '<f4'\)\]' have no"),
        (None, "f32[N]", TypeError, NO_ARRAY + "NoneType"),
        ("abc", "f32[N]", TypeError, NO_ARRAY + "str"),
        ({"a": 1}, "f32[N]", TypeError, NO_ARRAY + "dict"),
        ({1}, "f32[N]", TypeError, NO_ARRAY + "set"),
        ((i for i in [1]), "f32[N]", TypeError, NO_ARRAY + "generator"),
        (1j, "f32[]", TypeError, NO_ARRAY + "complex"),
        (object(), "f32[N]", TypeError, NO_ARRAY + "object"),
        ([1, "a"], "f32[N]", TypeError, NO_ARRAY + "a list with str"),
        ([[1], [2, 3]], "f32[N, M]", ValueError, "input 'x': the nested lists have different lengths"),
        ([1.5], "i64[N]", TypeError, "input 'x': expected i64, got floating-point numbers"),
        ([300], "u8[N]", OverflowError, "input 'x': a number is outside the range of u8"),
        ([10**30], "i64[N]", OverflowError, "input 'x': a number is outside the range of i64"),
        ([1e6], "f16[N]", OverflowError, "input 'x': a number is outside the range of f16"),
        ([70000], "f16[N]", OverflowError, "input 'x': a number is outside the range of f16"),
        (-1e60, "f32[]", OverflowError, "input 'x': a number is outside the range of f32"),
        ([10**400], "f32[N]", OverflowError, "input 'x': a number is outside the range of f32"),
        ([3.4e38], "bf16[N]", OverflowError, "input 'x': a number is outside the range of bf16"),
        (np.ma.masked_equal(f32(1, 2), 2), "f32[N]", TypeError, r"input 'x': elements of the array are masked; array.filled\(value\)"),
        ([9], "i64[N] in 0..5", pdl.RunError, "input 'x' must be in 0..5, and element 0 is 9"),
    ],
)  # fmt: skip
def test_what_is_refused(given: Any, type: str, kind: Any, message: str) -> None:
    with pytest.raises(kind, match=message):
        doubled(given, type)


@pytest.mark.parametrize(
    "given,type",
    [
        (np.ones(2), "f32[N]"),
        (np.ones(2, np.int32), "i64[N] in 0..5"),
        (pdl.tensor([1.0]), "f32[N]"),
        (np.ones(2), "bf16[N]"),
        (memoryview(np.ones(2)), "f32[N]"),
    ],
)
def test_another_dtype_is_told_how_to_be_converted(given: Any, type: str) -> None:
    with pytest.raises(pdl.RunError) as caught:
        doubled(given, type)
    code = str(caught.value).partition("; ")[2].removesuffix(" converts it [PDL0503]")
    converted = eval(code, {"array": given, "pdl": pdl})
    assert doubled(converted, type).tolist() == [2 * one for one in np.asarray(given).tolist()]


def test_other_dtypes_that_no_output_needs_are_left_alone() -> None:
    net = pdl.compile("input x: f32[N]\ninput t: f32[N]\noutput y = x * 2.0\noutput loss = mean(x - t)")
    inputs = {"x": f32(1), "t": np.ones(1)}
    assert net.run(inputs, outputs="y")["y"].tolist() == [2]
    for call in (lambda: net(inputs), lambda: net.profile(inputs)):
        with pytest.raises(pdl.RunError, match=r"'t' is declared .*; pdl.tensor\(array, dtype=\"f32\"\)"):
            call()


class Interrupting:
    """An array whose library fails."""

    def __dlpack__(self, **_: Any) -> Any:
        raise KeyboardInterrupt


def test_an_interrupt_is_not_taken_for_a_wrong_array() -> None:
    with pytest.raises(KeyboardInterrupt):
        doubled(Interrupting())


class OnNoDevice:
    """An array with a device that there is not."""

    def __dlpack__(self, **_: Any) -> Any:
        return None

    def __dlpack_device__(self) -> Any:
        return "cpu"


def test_a_device_that_is_no_pair() -> None:
    message = r"__dlpack_device__\(\) must return the type of a device and its index"
    with pytest.raises(TypeError, match=f"^input 'x': {message}"):
        doubled(OnNoDevice())
    with pytest.raises(TypeError, match=message):
        pdl.ops.neg(OnNoDevice())


def test_truth_values_of_any_byte() -> None:
    """A mask of 0 and 255 viewed as bool, which NumPy allows."""
    mask = np.array([[2, 0], [255, 1]], np.uint8).view(bool)
    expected = [[1, 0], [1, 1]]
    net = pdl.compile("input b: bool[N, M]\noutput y = cast(b, to=f32)")
    for given in (mask, mask.T.copy().T, memoryview(mask), pdl.tensor(mask)):
        assert net(b=given)["y"].tolist() == expected
        assert pdl.ops.cast(given, to="i64").tolist() == expected
    assert pdl.ops.equal(mask, mask.astype(np.uint8) != 0).tolist() == [[True, True], [True, True]]


def test_elements_that_are_masked() -> None:
    masked = np.ma.masked_equal(f32(1, 2), 2)
    for call in (lambda: pdl.ops.neg(masked), lambda: pdl.tensor(masked), lambda: pdl.batches({"x": masked}, 1)):
        with pytest.raises(TypeError, match=r"elements of the array are masked"):
            call()


def test_numbers_of_tensors_are_formatted() -> None:
    assert f"{pdl.tensor(1.25):.1f} {pdl.tensor([1, 2])} {pdl.tensor(3):>3d}" == "1.2 [1, 2]   3"


def test_what_is_no_attribute_is_told_where_it_is() -> None:
    x = pdl.tensor([1.0])
    with pytest.raises(AttributeError, match=r"use pdl.ops.sum\(…\), or .numpy\(\).sum$"):
        x.sum()
    with pytest.raises(AttributeError, match=r"attribute 'T'; use .numpy\(\).T$"):
        x.T
    with pytest.raises(AttributeError, match="has no attribute 'nothing'$"):
        x.nothing
    with pdl.Graph():
        value = pdl.input("x", "f32[N]")
        with pytest.raises(AttributeError, match=r"'Value' object .* 'sum'; use pdl.ops.sum\(…\)$"):
            value.sum()  # type: ignore[attr-defined]
        assert not hasattr(value, "sum") and isinstance(f32(1, 2) + value, pdl.Value)
        for call in (lambda: np.maximum(value, 0), lambda: np.sum(value), lambda: np.asarray(value)):
            with pytest.raises(TypeError, match="'x' is a value of a graph, without elements"):
                call()


def test_weights_as_lists_and_names_that_are_near() -> None:
    text = "param weight: f32[2] = zeros()\noutput weight"
    assert pdl.compile(text, weights={"weight": [1, 2]})()["weight"].tolist() == [1, 2]
    with pytest.raises(pdl.WeightError, match="no parameter or state 'wieght'; did you mean 'weight'"):
        pdl.compile(text, weights={"wieght": f32(1, 2)})
    with pytest.raises(ValueError, match="weight 'weight': the nested lists have different lengths"):
        pdl.compile(text, weights={"weight": [[1], [1, 2]]})
    with pytest.raises(KeyError, match="the network has no parameter 'wieght'; did you mean 'weight'"):
        pdl.compile(text).parameters["wieght"]


@pytest.mark.parametrize(
    "call,kind,message",
    [
        (lambda: pdl.compile("model.pdl"), pdl.FileError, "got the file name 'model.pdl': use pdl.load"),
        (lambda: pdl.train("model.pdl", []), pdl.FileError, "got the file name 'model.pdl': use pdl.load"),
        (lambda: pdl.compile(b"output y = 1.0"), TypeError, "the source must be a string, not bytes"),
        (lambda: pdl.load("output y = 1.0\n"), pdl.FileError, "expected a file name, got source: use pdl.compile"),
        (lambda: pdl.explain(203), TypeError, "code must be a string, not 203"),
        (lambda: pdl.explain("PDL9999"), KeyError, "there is no error code 'PDL9999'"),
        (lambda: pdl.grad(lambda x: x)({"a": 1}), TypeError, "an array, a number or nested .*, not dict"),
    ],
)
def test_what_is_called_with_something_else(call: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        call()


def test_names_and_mappings() -> None:
    net = pdl.compile("input x: f32[]\ninput z: f32[]\noutput y = x * 2.0 + z")
    assert net({"x": 1}, z=2)["y"].item() == 4
    mapping: Mapping[str, Any] = types.MappingProxyType({"x": 1, "z": 2})
    assert net(mapping)["y"].item() == net.run(mapping)["y"].item() == 4
    wrong: Any
    for wrong in ([1, 2], 3, f32(1)):
        with pytest.raises(TypeError, match=r"takes its inputs by name: net\(x=…\), or as a dict"):
            net(wrong)
    with pytest.raises(TypeError, match="takes its inputs by name"):
        net({}, {})
    with pytest.raises(TypeError, match="takes its inputs by name"):
        net.run([1])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="the name of an input must be a string, not int"):
        net({1: 2})
    with pytest.raises(pdl.RunError, match=r"no value for input 'z': f32\[\]"):
        net(x=1)
    with pytest.raises(pdl.UnknownNameError, match="the network has no output 'w'"):
        net.run({"x": 1, "z": 2}, outputs=["w"])
    with pytest.raises(TypeError, match="weights must be the path of a .safetensors file, pdl.weights"):
        pdl.compile("output y = 1", weights=[1])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="the name of a weight must be a string"):
        pdl.compile("output y = 1", weights={1: 2})  # type: ignore[dict-item]


@pytest.mark.parametrize(
    "given,expected",
    [
        (f32(1, 2)[::-1], [-2, -1]),
        (np.zeros((0, 3), np.float32), []),
        (np.array(2, np.float32), -2),
        (np.float64(2.5), -2.5),
        (read_only(f32(1)), [-1]),
        ([1, 2], [-1, -2]),
        ([[1, 2], [3, 4]], [[-1, -2], [-3, -4]]),
        (3, -3),
        (3.5, -3.5),
        (array.array("f", [1, 2]), [-1, -2]),
        ((ctypes.c_float * 2)(1, 2), [-1, -2]),
        (memoryview(f32(1, 2)), [-1, -2]),
        ([array.array("f", [1]), array.array("f", [2])], [[-1], [-2]]),
    ],
)
def test_an_operator_takes(given: Any, expected: Any) -> None:
    for _ in range(2):  # compiled, and kept
        assert pdl.ops.neg(given).tolist() == expected


def test_buffers_are_operands() -> None:
    tensor, buffer = pdl.tensor(f32(1, 2)), array.array("f", [10, 20])
    for total in (tensor + buffer, buffer + tensor, pdl.ops.add(buffer, 0) + tensor):
        assert total.tolist() == [11, 22]
    assert pdl.ragged(buffer, lengths=[2]).tolist() == [[10, 20]]
    with pdl.Graph() as g:
        pdl.output(pdl.input("x", "f32[2]") * buffer, "y")
    assert g.compile()(x=f32(1, 2))["y"].tolist() == [10, 40]


@pytest.mark.parametrize(
    "make,kind,message",
    [
        (lambda: pdl.ops.neg(f32(1).astype(">f4")), TypeError, "elements of dtype '>f4' have no dtype"),
        (lambda: pdl.ops.neg(np.array([1], object)), TypeError, "elements of dtype 'object' have no"),
        (lambda: pdl.ops.neg(np.array([1], np.uint16)), pdl.ShapeError, r"'x' must be .*, got u16\[1\]"),
        (lambda: pdl.ops.neg(True), pdl.ShapeError, r"'x' must be .*, got bool\[\]"),
        (lambda: pdl.ops.neg("x"), pdl.ArgumentError, 'expected a tensor, got the string "x"'),
        (lambda: pdl.ops.neg(None), pdl.ArgumentError, "input 'x' of 'neg' is missing"),
        (lambda: pdl.ops.neg({1}), TypeError, "pdl calls do not accept arguments of type set$"),
        (lambda: pdl.ops.neg(len), TypeError, "of type builtin_function_or_method; a function is one of pdl.ops or"),
        (lambda: pdl.ops.neg(f32(1), x=f32(1)), pdl.ArgumentError, "given twice: by position and by name"),
        (lambda: pdl.ops.add(f32(1)), pdl.ArgumentError, r"add: takes 2 inputs \(x, y\), got 1"),
        (lambda: pdl.ops.cos(f32(1), 5.0), pdl.ArgumentError, "attributes are given by name: scale=…"),
        (lambda: pdl.ops.cos(f32(1), scale="a"), pdl.ArgumentError, "'scale' of 'cos' must be a float"),
        (lambda: pdl.ops.sum(f32(1), axis=0), pdl.ArgumentError, "did you mean 'axes'"),
        (lambda: pdl.ops.cast(f32(1), to="f99"), pdl.UnknownNameError, "f99"),
        (lambda: pdl.ops.neg(f32(1), name="y"), pdl.ArgumentError, "name= is only valid inside"),
    ],
)  # fmt: skip
def test_an_operator_refuses(make: Any, kind: Any, message: str) -> None:
    for _ in range(2):
        with pytest.raises(kind, match=message):
            make()


def test_lists_of_numpys_numbers_are_arrays() -> None:
    """Such as a list of losses."""
    x = f32(1, 2)
    for _ in range(2):
        assert pdl.ops.sum([x[0], x[1]]).tolist() == 3 and pdl.ops.sum(x=[x[0], x[1]]).dtype == "f32"
        assert pdl.ops.sum([np.float64(1), 2.0]).dtype == "f64"
        assert pdl.ops.sum([[x[0]], [x[1]]], axes=[1]).tolist() == [1, 2]
        assert pdl.ops.concat([[x[0]], x]).tolist() == [1, 1, 2]
        assert pdl.ops.stack([x, x]).shape == (2, 2)
        assert pdl.ops.add([pdl.tensor(x), pdl.tensor(x)], x).tolist() == [[2, 4], [2, 4]]
    with pytest.raises(ValueError, match="the nested lists have different lengths"):
        pdl.ops.sum([x, x[:1]])


def test_calls_that_are_kept_are_told_apart() -> None:
    """Calls with equal types and attributes share a cache entry; other calls do not."""
    x = f32(0, 1)
    for _ in range(2):
        assert pdl.ops.cos(x, scale=5.0).tolist()[0] == 5
        assert pdl.ops.cos(x, scale=4.0).tolist()[0] == 4
        assert pdl.ops.cos(x, scale=np.float32(3)).tolist()[0] == 3
        assert pdl.ops.cos(x=x).tolist()[0] == 1
        assert pdl.ops.sum(np.ones((2, 3)), axes=[0]).tolist() == [2, 2, 2]
        assert pdl.ops.sum(np.ones((2, 3)), axes=np.array([1])).tolist() == [3, 3]
        assert pdl.ops.sum(np.ones((2, 3)), axes=np.array([0])).tolist() == [2, 2, 2]
        assert pdl.ops.concat([x, x]).shape == (4,) and pdl.ops.concat(x, x, x).shape == (6,)
        assert pdl.ops.add(x, 1).tolist() == [1, 2] and pdl.ops.add(x, 2).tolist() == [2, 3]
        assert pdl.ops.add(1, x).dtype == "f32" and pdl.ops.sub(1, x).tolist() == [1, 0]
        assert pdl.ops.topk(x, k=1).indices.tolist() == [1]
        assert pdl.ops.topk(x, 2).indices.tolist() == [1, 0]
    for n in range(600):  # more than are kept
        assert pdl.ops.add(x, n).tolist() == [n, n + 1]
    with pdl.Graph() as g:
        assert isinstance(pdl.ops.cos(pdl.input("x", "f32[N]")), pdl.Value)
        assert isinstance(pdl.ops.cos(x), pdl.Tensor) and g.text().count("cos") == 2


def test_calls_that_are_kept_hold_little_memory() -> None:
    """With arrays of many different sizes."""

    def call_all(first: int) -> None:
        for n in range(first, first + 150):
            x = np.ones(1_000_000 + n, np.float32)  # 4 MB
            pdl.ops.neg(x), pdl.ops.softmax(x), pdl.ops.topk(x, k=1), slope(x)

    slope = pdl.grad(lambda x: pdl.ops.sum(pdl.ops.tanh(x) * x))
    call_all(0)
    before = resident_bytes()
    call_all(1000)
    assert resident_bytes() - before < 100 << 20


@pytest.mark.parametrize("form", ["[N]", "[N, ~T]"])
def test_numbers_in_lists(form: str) -> None:
    def of(dtype: str, numbers: list[Any]) -> Any:
        net = pdl.compile(f"input x: {dtype}{form}\noutput y = x")
        given: Any = numbers if form == "[N]" else [numbers[:1], [], numbers[1:]]
        result = net(x=given)["y"]
        return result.values if isinstance(result, pdl.Ragged) else result

    assert of("u64", [2**64 - 1, 0]).tolist() == [2**64 - 1, 0]
    assert of("f64", [2**64, -1]).tolist() == [2.0**64, -1.0]
    assert of("bool", [True, 0, 1]).tolist() == [True, False, True]
    assert of("i8", [True, -128]).tolist() == [1, -128]
    assert of("bf16", [1.0, 3]).tolist() == [1.0, 3.0] and of("bf16", [1.0]).dtype == "bf16"
    # Rounded once: the f32 next to each is halfway between two numbers of bf16.
    for number, nearest in (
        (1 + 2**-8 + 2**-30, 1 + 2**-7),
        (1 + 3 * 2**-8 - 2**-30, 1 + 2**-7),
        (-(1 + 2**-8 + 2**-30), -(1 + 2**-7)),
        (2**60 + 2**52 + 1, 2**60 + 2**53),
        (2**64 + 2**56 + 1, 2**64 + 2**57),
    ):
        assert of("bf16", [number]).tolist() == [nearest]
    assert of("f32", [2**64 + 2**40 + 1, -1]).tolist() == [2.0**64 + 2.0**41, -1]
    assert of("f16", [math.inf, 65504]).tolist() == [math.inf, 65504]
    for dtype, numbers in (("i64", [1.7, 2]), ("bool", [0.5, 1]), ("u8", [1, 2.0])):
        with pytest.raises(TypeError, match=f"input 'x': expected {dtype}, got floating-point numbers"):
            of(dtype, numbers)
    for dtype, numbers in (("i64", [-1, 2**63]), ("u64", [1, -1]), ("f16", [1, 70000.0]), ("bf16", [1, 1e39]),
                           ("bool", [1, 2]), ("u8", [1, 300]), ("f32", [1, 10**400])):
        with pytest.raises(OverflowError, match=f"input 'x': a number is outside the range of {dtype}"):
            of(dtype, numbers)
    masked = np.ma.masked_array(np.ones(2, np.float32), mask=[0, 1])
    for wrong in ("12", None, masked):
        with pytest.raises(TypeError, match=r"not (a list with )?(str|NoneType|MaskedArray)"):
            of("f32", [1.0, wrong] if wrong is not masked or form == "[N]" else [masked])


def test_inferred_dtypes() -> None:
    assert pdl.tensor([2**64 - 1, 0]).type == "u64[2]" and pdl.tensor([1, 2.5]).type == "f64[2]"
    assert pdl.ragged([[2**63], [-1]], dtype="f32").values.tolist() == [2.0**63, -1.0]
    with pytest.raises(OverflowError, match="a number is outside the range of u64"):
        pdl.tensor([2**64, 0])


@pytest.mark.parametrize(
    "call,message",
    [
        (lambda: pdl.ops.relu([1.0], **{"\ud800": 1}), "a name has a lone surrogate, character 0, which is not Unicode"),
        (lambda: pdl.ops.sum([1.0], reduction={"a\ud800": 1}), "a key has a lone surrogate, character 1, which is not"),
        (lambda: pdl.ops.zeros("\ud800"), "a size has a lone surrogate"),
        (lambda: pdl.ops.zeros([2], dtype="\ud800"), "a dtype has a lone surrogate"),
        (lambda: NET.value("\ud800"), "name has a lone surrogate"),
        (lambda: NET.set_state("\ud800", 1), "name has a lone surrogate"),
        (lambda: NET.run({"x": [1.0]}, outputs="\ud800"), "an output has a lone surrogate"),
        (lambda: pdl.compile("output y = 1", settings={"\ud800": 1}), "a setting has a lone surrogate"),
        (lambda: pdl.compile("output y = 1 # \ud800"), "the source has a lone surrogate, character 15"),
        (lambda: pdl.explain("\ud800"), "code has a lone surrogate"),
        (lambda: pdl.load("\ud800.pdl"), "surrogates not allowed"),
        (lambda: NET.save("\ud800.pdl"), "surrogates not allowed"),
        (lambda: NET(**{"\ud800": 1}), r"^the network has no input '\\ud800' \[PDL0502\]$"),
        (lambda: NET.run({"\ud800": 1}), r"^the network has no input '\\ud800' \[PDL0502\]$"),
    ],
)
def test_strings_that_are_not_unicode(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(
    "call,message",
    [
        (lambda: pdl.ragged(3), "values must be a sequence of rows, not 3"),
        (lambda: pdl.ragged(None), "values must be a sequence of rows, not None"),
        (lambda: iter(pdl.tensor(1.0)), r"a scalar has no rows: f64\[\]"),
        (lambda: list(pdl.tensor(1.0, "bf16")), r"a scalar has no rows: bf16\[\]"),
        (lambda: len(pdl.tensor(1.0, "bf16")), r"a scalar has no rows: bf16\[\]"),
        (lambda: [1, 2][pdl.tensor(1.0, "bf16")], "cannot be interpreted as an integer"),
        (lambda: NET.value(3), "name must be a string, not 3"),
        (lambda: NET.set_state(None, 3), "name must be a string, not None"),
        (lambda: pdl.layers.fc(size={3: 1}), "a key must be a string, not 3"),
    ],
)
def test_arguments_of_other_types(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        call()


class Two:
    """An integer for functions that take one."""

    def __index__(self) -> int:
        return 2


def test_any_integer_is_a_number_of_epochs() -> None:
    net = pdl.compile("input x: f32[N]\nparam w: f32[] = ones()\nloss = mean(x * w)\nminimize loss with sgd(lr=0.1)")
    assert len(list(pdl.train(net, [{"x": f32(1, 2)}], epochs=Two()))) == 2  # type: ignore[arg-type]
    assert len(pdl.batches({"x": f32(1, 2, 3)}, pdl.tensor(2))) == 2  # type: ignore[arg-type]

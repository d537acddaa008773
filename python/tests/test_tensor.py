"""Arrays as inputs and outputs without copies."""

from __future__ import annotations

import gc
import pathlib
import weakref
from typing import Any

import numpy as np
import pytest
from conftest import resident_bytes

import pdl

DTYPES = {
    "f16": np.float16,
    "f32": np.float32,
    "f64": np.float64,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "u8": np.uint8,
    "u16": np.uint16,
    "u32": np.uint32,
    "u64": np.uint64,
    "bool": np.bool_,
}


class Asked:
    """An array with DLPack and without the buffer protocol."""

    def __init__(self, tensor: pdl.Tensor, **options: Any) -> None:
        self._tensor = tensor
        self._options = options

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._tensor.__dlpack_device__()

    def __dlpack__(self, **options: Any) -> Any:
        return self._tensor.__dlpack__(**{**options, **self._options})


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 4), (2, 3, 4)])
def test_memory_is_shared_both_ways(name: str, shape: tuple[int, ...]) -> None:
    array = np.ones(shape, DTYPES[name])
    tensor = pdl.tensor(array)
    assert (tensor.dtype, tensor.shape, tensor.ndim) == (name, shape, len(shape))
    assert (tensor.size, tensor.nbytes, tensor.device) == (array.size, array.nbytes, "cpu")
    for back in (np.asarray(tensor), tensor.numpy(), np.from_dlpack(tensor)):
        assert (back.dtype, back.shape) == (array.dtype, shape)
        np.testing.assert_array_equal(back, array)
        if array.size:
            assert back.ctypes.data == tensor.address == array.ctypes.data


def test_memory_lives_as_long_as_it_is_seen() -> None:
    class Array(np.ndarray[Any, Any]):
        pass

    array = np.arange(4.0).view(Array)
    gone = weakref.ref(array)
    tensor = pdl.tensor(array)
    view = tensor.numpy()
    del array, tensor
    gc.collect()
    assert gone() is not None and view.tolist() == [0, 1, 2, 3]
    del view
    gc.collect()
    assert gone() is None


def test_a_network_keeps_no_input() -> None:
    class Array(np.ndarray[Any, Any]):
        pass

    net = pdl.compile("input x: f64[N]\noutput y = x + 1.0")
    array = np.arange(4.0).view(Array)
    gone = weakref.ref(array)
    y = net(x=array)["y"]
    del array
    gc.collect()
    assert gone() is None and y.tolist() == [1, 2, 3, 4]


def test_a_result_is_not_written_over_while_it_is_seen() -> None:
    net = pdl.compile("input x: f32[N]\noutput y = x + 1.0")
    first = net(x=np.zeros(3, np.float32))["y"].numpy()
    second = net(x=np.ones(3, np.float32))["y"]
    assert first.tolist() == [1, 1, 1] and second.tolist() == [2, 2, 2]


def test_a_large_input_is_not_copied() -> None:
    """The network reads the array's memory."""
    net = pdl.compile("input x: f32[N]\noutput y = max(x)")
    array = np.zeros(64 << 20, np.float32)
    array[-1] = 5
    net(x=array[:16])
    before = resident_bytes()
    assert net(x=array)["y"].item() == 5
    assert resident_bytes() - before < array.nbytes // 4


def test_what_is_not_row_major_is_copied() -> None:
    array = np.arange(12.0, dtype=np.float32).reshape(3, 4)
    for view in (array.T, array[:, ::2], array[::-1]):
        tensor = pdl.tensor(view)
        assert tensor.tolist() == view.tolist()
        assert tensor.address != view.ctypes.data
    unaligned = np.frombuffer(b"\0" + array.tobytes(), np.uint8)[1:].view(np.float32)
    assert pdl.tensor(unaligned).tolist() == array.ravel().tolist()


def test_other_buffers() -> None:
    import array

    assert pdl.tensor(array.array("d", [1, 2])).type == "f64[2]"
    assert pdl.tensor(memoryview(b"ab")).type == "u8[2]"


def test_what_may_only_be_read_stays_so(tmp_path: pathlib.Path) -> None:
    np.save(tmp_path / "a.npy", np.ones(3, np.float32))
    frozen = np.ones(3, np.float32)
    frozen.flags.writeable = False
    for array in (
        np.frombuffer(np.ones(3, np.float32).tobytes(), np.float32),
        np.load(tmp_path / "a.npy", mmap_mode="r"),
        frozen,
    ):
        tensor = pdl.tensor(array)
        assert tensor.address == array.ctypes.data
        for one in (tensor, pdl.tensor(tensor), tensor._view("u32")):
            assert not np.asarray(one).flags.writeable and memoryview(one).readonly
            with pytest.raises(BufferError, match="shared and read-only"):
                one.__dlpack__()
            copied = np.from_dlpack(Asked(one, copy=True))
            assert copied.flags.writeable and copied.ctypes.data != tensor.address
            if np.lib.NumpyVersion(np.__version__) >= "2.1.0":
                back = np.from_dlpack(one)
                assert not back.flags.writeable and back.ctypes.data == tensor.address
                assert memoryview(pdl.tensor(Asked(one))).readonly
    row_major = pdl.tensor(np.broadcast_to(np.float32(3), (2,)))  # a copy
    assert np.asarray(row_major).flags.writeable


@pytest.mark.parametrize(
    "array", [np.zeros(2, ">f4"), np.zeros(2, np.complex64), np.array(["a"]), np.array([{}])]
)
def test_elements_without_a_dtype_are_refused(array: Any) -> None:
    with pytest.raises((TypeError, ValueError, BufferError)):
        pdl.tensor(array)


@pytest.mark.parametrize(
    "given,dtype,type,elements",
    [
        (3, None, "i64[]", 3),
        (2.5, "f32", "f32[]", 2.5),
        ([1, 2], None, "i64[2]", [1, 2]),
        ([1.5, 2], None, "f64[2]", [1.5, 2]),
        ([[1], [2]], np.float32, "f32[2, 1]", [[1], [2]]),
        ([1, 2.5], "bf16", "bf16[2]", [1, 2.5]),
        ((True, False), None, "bool[2]", [True, False]),
        (range(3), "int8", "i8[3]", [0, 1, 2]),
        (np.array([1.0, 2.7]), "i32", "i32[2]", [1, 2]),
        (np.array([1.5], np.float32), "bf16", "bf16[1]", [1.5]),
        (np.float32(3), "f32", "f32[]", 3),
    ],
)
def test_numbers_lists_and_dtypes(given: Any, dtype: Any, type: str, elements: Any) -> None:
    tensor = pdl.tensor(given, dtype=dtype)
    assert tensor.type == type and tensor.tolist() == elements
    assert pdl.tensor(tensor, tensor.dtype).address == tensor.address


@pytest.mark.parametrize(
    "given,dtype,kind,message",
    [
        ("a", None, TypeError, "a number or nested lists of numbers, not str"),
        (None, None, TypeError, "nested lists of numbers, not NoneType"),
        ([1, "a"], None, TypeError, "not a list with str"),
        ({}, None, TypeError, "expected an array with the buffer protocol or DLPack"),
        ([[1], [1, 2]], None, ValueError, "the nested lists have different lengths"),
        ([1.5], "i64", TypeError, "expected i64, got floating-point numbers"),
        ([300], "u8", OverflowError, "outside the range of u8"),
        ([1], "f31", ValueError, "^'f31' is not a dtype; expected one of f16, f32, .*, bf16$"),
        (np.zeros(1), object, ValueError, "'object' is not a dtype"),
    ],
)
def test_what_is_no_tensor(given: Any, dtype: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        pdl.tensor(given, dtype=dtype)


def test_an_array_is_changed_in_place() -> None:
    tensor = pdl.tensor(np.array([1, 2], np.float32))
    array = same = np.array([10, 20], np.float32)
    array += tensor
    array *= tensor
    assert array is same and array.tolist() == [11, 44]
    np.add(array, 1, out=np.asarray(tensor))
    assert tensor.tolist() == [12, 45]
    for result, expected in [
        (array + tensor, array + tensor.numpy()),
        (array - tensor, array - tensor.numpy()),
        (array @ tensor, array @ tensor.numpy()),
        (np.float32([2, 0]) ** tensor, [4096, 0]),
        (array < tensor, array < tensor.numpy()),
        (array == tensor, array == tensor.numpy()),
        (np.float32(2) * tensor, 2 * tensor.numpy()),
    ]:
        assert isinstance(result, pdl.Tensor) and result.tolist() == np.asarray(expected).tolist()
    for array_of in (np.sqrt(tensor), np.maximum(array, tensor), np.add(array, tensor, dtype="f8")):
        assert isinstance(array_of, np.ndarray)
    assert np.add.reduce(tensor) == 57
    assert np.add(array, 1, out=tensor) is tensor and tensor.tolist() == (array + 1).tolist()
    whole = np.zeros(2, np.float32)
    assert np.modf(array / 4, out=(tensor, whole))[0] is tensor and tensor.tolist() == [0.75, 0]
    assert np.add.reduce(array, out=pdl.tensor(np.zeros((), np.float32))).item() == 55


def test_bits_of_integers() -> None:
    array = np.array([6, 3], np.int32)
    tensor, mask = pdl.tensor(array), pdl.tensor(np.array([True, False]))
    for result, expected in [
        (tensor & 2, [2, 2]),
        (1 | tensor, [7, 3]),
        (array & tensor, [6, 3]),
        (tensor | [1, 8], [7, 11]),
        (np.bitwise_or(tensor, tensor), [6, 3]),
        (tensor & mask, [0, 0]),
        (~tensor, [-7, -4]),
    ]:
        assert isinstance(result, np.ndarray) and result.tolist() == expected
    for result, expected in [(mask & True, [1, 0]), (mask | np.array([False, True]), [1, 1]), (~mask, [0, 1])]:
        assert isinstance(result, pdl.Tensor) and result.tolist() == expected
    for wrong in (pdl.tensor([1.5, 2.0]), pdl.tensor([1.0, 2.0], "bf16")):
        with pytest.raises(pdl.ShapeError, match="logical_and"):
            wrong & tensor


def test_what_is_no_operand() -> None:
    tensor = pdl.tensor(np.array([1, 2], np.float32))
    with pdl.Graph():
        value = pdl.input("x", "f32[N]")
    for one in (tensor, value, pdl.ragged([[1.0]])):
        for other in (None, "a", object(), {}, 1j):
            assert not (one == other) and one != other and other != one
            with pytest.raises(TypeError, match="unsupported operand"):
                one + other
            with pytest.raises(TypeError, match="not supported between instances"):
                one < other
        assert one not in [None, "a"]
    assert (tensor == [1, 3]).tolist() == [True, False]


def test_weights_are_read_only() -> None:
    net = pdl.compile("input x: f32[2]\nparam w: f32[2] = ones()\noutput y = x * w")
    weight = net.parameters["w"].numpy()
    assert not weight.flags.writeable and not np.from_dlpack(net.parameters["w"]).flags.writeable
    with pytest.raises(ValueError):
        weight[0] = 1


def test_a_tensor_prints_like_numpys() -> None:
    tensor = pdl.tensor(np.array([[1.5, 2.0], [3.0, 4.25]]))
    assert str(tensor) == "[[1.5 , 2.0 ],\n [3.0 , 4.25]]"
    assert repr(pdl.tensor(np.array([1, 2]))) == "tensor([1, 2], i64[2])"
    assert float(pdl.tensor(np.array(2.5))) == 2.5 and bool(pdl.tensor(np.array(True)))
    assert len(tensor) == 2 and tensor[1].tolist() == [3.0, 4.25]
    assert [row.tolist() for row in tensor] == tensor.tolist()


def test_pytorch() -> None:
    torch = pytest.importorskip("torch")
    there = torch.arange(6, dtype=torch.bfloat16).reshape(2, 3)
    tensor = pdl.tensor(there)
    assert tensor.type == "bf16[2, 3]" and tensor.address == there.data_ptr()
    back = torch.from_dlpack(pdl.ops.add(tensor, tensor))
    assert back.dtype == torch.bfloat16 and back.tolist() == [[0, 2, 4], [6, 8, 10]]
    assert pdl.tensor(there.float().T).tolist() == [[0, 3], [1, 4], [2, 5]]
    with pytest.raises(BufferError, match="NumPy has no dtype for bf16"):
        np.asarray(memoryview(tensor))


def test_bf16() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    array = np.array([1.5, -2, 3], ml_dtypes.bfloat16)
    tensor = pdl.tensor(array)
    assert tensor.type == "bf16[3]" and tensor.address == array.ctypes.data
    assert pdl.tensor(array[::2]).tolist() == [1.5, 3]
    back = (tensor * 2.0).numpy()
    assert back.dtype == array.dtype and back.tolist() == [3, -4, 6]
    assert np.asarray(tensor).ctypes.data == array.ctypes.data
    net = pdl.compile("input x: bf16[N]\noutput y = -x")
    assert net(x=array)["y"].tolist() == [-1.5, 2, -3]
    with pytest.raises(TypeError, match="elements of dtype 'float8_e5m2' have no dtype in pdl"):
        pdl.tensor(np.zeros(2, ml_dtypes.float8_e5m2))


def test_elements_of_bf16_without_a_dtype_of_numpys() -> None:
    tensor = pdl.ops.cast(np.array([[1.5, -2]], np.float32), to="bf16")
    assert tensor.tolist() == [[1.5, -2]] and tensor[0].tolist() == [1.5, -2]
    assert str(tensor) == "[[ 1.5, -2.0]]" and np.asarray(tensor, np.float32).tolist() == [[1.5, -2]]
    assert float(pdl.ops.cast(np.float32(2.5), to="bf16")) == 2.5
    with pytest.raises(ValueError, match="a conversion to another dtype requires a copy"):
        tensor.__array__(np.float32, copy=False)


def test_pickles_and_copies() -> None:
    import copy
    import pickle

    for dtype in ("f32", "bool", "bf16"):
        tensor = pdl.ops.cast(np.array([[1, 0]], np.float32), to=dtype)
        for again in (pickle.loads(pickle.dumps(tensor)), copy.deepcopy(tensor)):
            assert again.type == tensor.type and again.tolist() == tensor.tolist()
            assert again.address != tensor.address


def test_dlpack_says_what_it_does() -> None:
    tensor = pdl.tensor(np.arange(3.0))
    assert tensor.__dlpack_device__() == (1, 0)
    shared = np.from_dlpack(tensor)
    copied = np.from_dlpack(tensor, copy=True)
    assert shared.ctypes.data == tensor.address != copied.ctypes.data
    assert copied.tolist() == [0, 1, 2] and copied.flags.writeable
    with pytest.raises(BufferError, match="another device"):
        tensor.__dlpack__(dl_device=(2, 0))
    weights = pdl.compile("param w: f32[2] = ones()\noutput w").parameters["w"]
    with pytest.raises(BufferError, match="read-only: request DLPack 1.0"):
        weights.__dlpack__()


def test_buffers_say_what_they_have() -> None:
    tensor = pdl.tensor(np.arange(6.0).reshape(2, 3))
    with pytest.raises(BufferError, match="row-major"):
        import ctypes

        view = ctypes.create_string_buffer(128)  # a Py_buffer
        kind = ctypes.pythonapi.PyObject_GetBuffer
        kind.argtypes = [ctypes.py_object, ctypes.c_void_p, ctypes.c_int]
        kind(tensor, view, 0x0040 | 0x0010 | 0x0008)  # PyBUF_F_CONTIGUOUS
    with pytest.raises(BufferError, match="not initialized"):
        memoryview(pdl.Tensor.__new__(pdl.Tensor))


def test_jax() -> None:
    jax = pytest.importorskip("jax")
    there = jax.numpy.arange(6, dtype=jax.numpy.float32).reshape(2, 3)
    tensor = pdl.tensor(there)
    assert tensor.type == "f32[2, 3]" and tensor.address == there.unsafe_buffer_pointer()
    result = pdl.ops.neg(tensor)
    back = jax.dlpack.from_dlpack(result)
    assert back.unsafe_buffer_pointer() == result.address
    assert back.tolist() == [[0, -1, -2], [-3, -4, -5]]
    assert pdl.tensor(there.astype(jax.numpy.bfloat16)).type == "bf16[2, 3]"


class OnGpu:
    """Describes itself like an array on a GPU, but has its elements on the CPU."""

    def __init__(self) -> None:
        self.array = np.arange(3.0)
        self.calls: list[dict[str, Any]] = []

    def __dlpack_device__(self) -> tuple[int, int]:
        return (2, 0)

    def __dlpack__(self, *, stream: Any, max_version: Any = None) -> Any:
        self.calls.append({"stream": stream, "max_version": max_version})
        return self.array.__dlpack__()


class OfTheTimeBeforeVersions(OnGpu):
    """The same with an older version of DLPack."""

    def __dlpack__(self, *, stream: Any) -> Any:  # type: ignore[override]
        return super().__dlpack__(stream=stream)


def test_an_array_on_a_gpu_is_asked_to_be_done() -> None:
    array = OnGpu()
    assert pdl.tensor(array).tolist() == [0, 1, 2]
    assert array.calls == [{"stream": 1, "max_version": (1, 0)}]
    older = OfTheTimeBeforeVersions()
    assert pdl.tensor(older).tolist() == [0, 1, 2]
    assert older.calls == [{"stream": 1, "max_version": None}]

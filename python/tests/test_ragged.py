"""Ragged values and sparse matrices."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import pdl


def rows(*lists: Any) -> pdl.Ragged:
    return pdl.ragged(list(lists), dtype=np.float32)


def test_a_ragged_value() -> None:
    values = np.arange(5, dtype=np.float32)
    x = pdl.ragged(values, [0, 2, 2, 5])
    assert (x.type, x.dtype, x.device, len(x)) == ("f32[3, ~T]", "f32", "cpu", 3)
    assert x.values.address == values.ctypes.data and x.lengths.tolist() == [2, 0, 3]
    assert x.tolist() == [[0, 1], [], [2, 3, 4]] == [row.tolist() for row in x]
    assert x[2].tolist() == [2, 3, 4] == x[-1].tolist() and x[::-1].tolist() == x.tolist()[::-1]
    assert x[[2, 0]].tolist() == [[2, 3, 4], [0, 1]]
    assert repr(x) == "ragged([[0.0, 1.0],\n [],\n [2.0, 3.0, 4.0]], f32[3, ~T])"
    assert pdl.ragged(values, lengths=[2, 0, 3]).tolist() == x.tolist()
    assert pickle.loads(pickle.dumps(x)).tolist() == x.tolist()
    with pytest.raises(IndexError, match="row 3 is out of range: there are 3"):
        x[3]
    with pytest.raises(TypeError, match="offsets and indices must be integers, not float64"):
        pdl.ragged(values, [0.0, 5.0])
    with pytest.raises(TypeError, match="not both"):
        pdl.ragged(values, [0, 5], lengths=[5])
    with pytest.raises(TypeError, match="rows must be lists or arrays, got a single number"):
        pdl.ragged([1, 2])


def test_rows_of_rows() -> None:
    lists = [[[1, 2], [3]], [], [[4]]]
    x = rows(*lists)
    assert x.type == "f32[3, ~S, ~T]" and x.tolist() == lists
    assert x[0].tolist() == [[1, 2], [3]] and x[[2, 0]].tolist() == [[[4]], [[1, 2], [3]]]
    assert (x * 2.0).tolist() == [[[2, 4], [6]], [], [[8]]]


def test_operators_on_ragged_values() -> None:
    x = rows([1, 2], [3])
    assert (-x).tolist() == [[-1, -2], [-3]] and (1 - x).tolist() == [[0, -1], [-2]]
    assert (np.float32(1) + x).tolist() == [[2, 3], [4]]
    assert (x + rows([10, 20], [30])).tolist() == [[11, 22], [33]]
    assert pdl.ops.sequence_pool(x, kind="sum").tolist() == [3, 3]
    assert pdl.ops.neg([[1, 2], [3]]).tolist() == [[-1, -2], [-3]]
    assert pdl.grad(lambda one: pdl.ops.sum(one * one))(x).tolist() == [[2, 4], [6]]
    with pytest.raises(pdl.ShapeError, match="sizes do not broadcast: ~T0 and ~T1"):
        x + rows([1], [2, 3])
    with pytest.raises(pdl.RunError, match="the offsets end at 9, but there are 3 rows"):
        -pdl.Ragged(x.values, pdl.tensor([0, 2, 9]))
    with pytest.raises(pdl.RunError, match="offsets must not decrease, but after 2 comes 1"):
        -pdl.Ragged(x.values, pdl.tensor([0, 2, 1]))


def test_a_network_with_a_ragged_input() -> None:
    net = pdl.compile('input x: f32[N, ~T]\noutput y = sequence_pool(x, kind="sum")\noutput z = -x')
    x = rows([1, 2], [], [3])
    for given in (x, [[1, 2], [], [3]], [np.array([1, 2], np.float32), [], [3]]):
        results = net(x=given)
        assert results["y"].tolist() == [3, 0, 3] and results["z"].tolist() == [[-1, -2], [], [-3]]
        assert list(results) == ["y", "z"]
    parts = {"x": x.values, "x.offsets": x.offsets}
    assert net.run(parts, outputs=["z"])["z"].type == "f32[3, ~T]"
    assert net(x=[])["y"].shape == (0,) and net(x=[[], []])["y"].tolist() == [0, 0]
    with pytest.raises(pdl.RunError, match=r"'x' is declared f32\[N, ~T\], got f32\[1, ~S, ~T\]"):
        net(x=rows([[1], [2, 3]]))
    with pytest.raises(TypeError, match=r"input 'x': declared f32\[N, ~T\], got an array: pdl.ragged\("):
        net(x=x.values)
    other = pdl.compile("input s: sparse f32[N, 5]\noutput y = s @ ones([5, 2])")
    with pytest.raises(pdl.RunError, match=r"no value for input 's.indices'[^;]*$"):
        other.run({"s": x.values, "s.offsets": x.offsets})
    with pytest.raises(pdl.RunError, match=r"got elements f64\[2\]"):
        net(x=pdl.ragged([[1.0], [2.0]]))
    with pytest.raises(TypeError, match="input 'x': rows must be lists or arrays"):
        net(x=[1, 2])
    dense = pdl.compile("input x: f32[N]\noutput y = x")
    with pytest.raises(pdl.RunError, match=r"input 'x' is declared f32\[N\], got f32\[3, ~T\]"):
        dense(x=x)


def test_a_network_with_rows_of_rows() -> None:
    net = pdl.compile("input x: f32[N, ~S, ~T, 2]\noutput y = x * 2.0")
    assert net(x=[[[[1, 2]], [[3, 4]]]])["y"].tolist() == [[[[2, 4]], [[6, 8]]]]
    assert net(x=[[], []])["y"].tolist() == [[], []]


def test_words_are_indices() -> None:
    net = pdl.compile(
        "input words: i64[N, ~T] in 0..4\nparam table: f32[4, 2] = zeros()\n"
        'output y = sequence_pool(gather(table, words), kind="sum")',
        weights={"table": np.arange(8, dtype=np.float32).reshape(4, 2)},
    )
    assert net(words=[[0, 1], [3]])["y"].tolist() == [[2, 4], [6, 7]]
    with pytest.raises(pdl.RunError, match="input 'words' must be in 0..4, and element 1 is 4"):
        net(words=[[0, 4]])


MATRIX = np.array([[0, 2, 0], [0, 0, 0], [1, 0, 3]], np.float32)


def test_a_sparse_matrix() -> None:
    x = pdl.sparse(MATRIX)
    assert x.type == "sparse f32[3, 3]" and x.values is not None
    assert (x.values.tolist(), x.indices.tolist()) == ([2, 1, 3], [1, 0, 2])
    assert x.offsets.tolist() == [0, 1, 1, 3] and x.todense().tolist() == MATRIX.tolist()
    assert repr(x) == "<pdl sparse f32[3, 3], 3 elements>" and len(x) == 3
    w = np.arange(6, dtype=np.float32).reshape(3, 2)
    assert pdl.ops.matmul(x, w).tolist() == (MATRIX @ w).tolist()
    for right in (w, pdl.tensor(w)):
        assert (x @ right).tolist() == (MATRIX @ w).tolist()
    assert x == x and x != pdl.sparse(MATRIX) and x in [x]
    with pytest.raises(pdl.Error, match="add: 'x' must be dense"):
        x + 1
    with pytest.raises(pdl.Error, match="matmul: 'b' must be dense"):
        w @ x
    with pytest.raises(ValueError, match="a sparse matrix must have 2 dims, got an array with 1"):
        pdl.sparse(np.ones(3))
    with pytest.raises(TypeError, match="requires offsets, indices and shape"):
        pdl.sparse(values=[1.0])


class LikeScipys:
    """An object with the attributes of SciPy's sparse matrices."""

    def __init__(self, dense: np.ndarray[Any, Any]) -> None:
        at, self.indices = np.nonzero(dense)
        self.indices = self.indices.astype(np.int32)
        self.data, self.shape = dense[at, self.indices], dense.shape
        self.indptr = np.searchsorted(at, np.arange(len(dense) + 1)).astype(np.int32)

    def tocsr(self) -> LikeScipys:
        return self


def test_a_network_with_a_sparse_input() -> None:
    w = np.arange(6, dtype=np.float32).reshape(3, 2)
    text = "input x: sparse {}[N, 3]\nparam w: f32[3, 2] = zeros()\noutput y = x @ w"
    net = pdl.compile(text.format("f32"), weights={"w": w})
    for given in (pdl.sparse(MATRIX), LikeScipys(MATRIX), MATRIX.tolist()):
        assert net(x=given)["y"].tolist() == (MATRIX @ w).tolist()
    of_ones = pdl.compile(text.format("bool"), weights={"w": w})
    ones = MATRIX != 0
    there = pdl.sparse(indices=[1, 0, 2], offsets=[0, 1, 1, 3], shape=(3, 3))
    for given in (pdl.sparse(ones), there, ones, LikeScipys(ones)):
        assert of_ones(x=given)["y"].tolist() == (ones.astype(np.float32) @ w).tolist()
    with pytest.raises(pdl.RunError, match=r"declared sparse f32\[N, 3\], got sparse bool"):
        net(x=pdl.sparse(ones))
    with pytest.raises(pdl.RunError, match="must be in 0..3, and element 3 is 3"):
        net(x=LikeScipys(np.eye(4, dtype=np.float32)))


def test_sequences_of_sparse_rows_are_their_parts() -> None:
    net = pdl.compile("input x: sparse f32[N, ~T, 3]\ny = x @ [[1.0], [10.0], [100.0]]\noutput y\noutput x")
    x = pdl.sparse(MATRIX)
    parts = {"x": x.values, "x.offsets": np.array([0, 2, 2, 3]), "x.offsets2": x.offsets, "x.indices": x.indices}
    results = net(parts)
    assert results["y"].tolist() == [[[20], [0]], [], [[301]]]
    given = results["x"]
    assert list(given) == ["", ".offsets", ".offsets2", ".indices"]
    assert given[".offsets2"].tolist() == [0, 1, 1, 3] and given[""].tolist() == [2, 1, 3]


def test_sequences_of_sparse_rows() -> None:
    first, second = MATRIX[:2], MATRIX[2:]
    none: list[Any] = []
    w = np.array([[1.0], [10.0], [100.0]], np.float32)
    net = pdl.compile("input x: sparse f32[N, ~T, 3]\noutput y = x @ [[1.0], [10.0], [100.0]]")
    x = pdl.sparse([first, none, second])
    assert x.type == "sparse f32[3, ~T, 3]" and len(x) == 3 and x.shape == (3, 3)
    assert [x.sequences[0].tolist(), x.offsets.tolist(), x.indices.tolist()] == [[0, 2, 2, 3], [0, 1, 1, 3], [1, 0, 2]]
    assert x.todense().tolist() == [first.tolist(), [], second.tolist()]
    assert repr(x) == "<pdl sparse f32[3, ~T, 3], 3 elements>"
    ways = (
        x,
        pdl.sparse(MATRIX, lengths=[2, 0, 1]),
        pdl.sparse(LikeScipys(MATRIX), lengths=np.array([2, 0, 1])),
        pdl.sparse([LikeScipys(first), none, pdl.sparse(second)]),
        pdl.sparse(values=[2, 1, 3], offsets=x.offsets, indices=x.indices, shape=(3, 3), lengths=[2, 0, 1]),
        [first, none, LikeScipys(second)],
        [first.tolist(), none, second.tolist()],
    )
    for given in ways[:4] + ways[5:]:
        assert net(x=given)["y"].tolist() == [[[20], [0]], [], [[301]]]
    assert pdl.ops.matmul(x, w).tolist() == [[[20], [0]], [], [[301]]]
    assert net(x=[none, none])["y"].tolist() == [[], []]
    with pytest.raises(pdl.RunError, match=r"input 'x' is declared sparse f32\[N, ~T, 3\], got elements i64\[3\]"):
        net(x=ways[4])


def test_sequences_of_sequences_of_sparse_rows() -> None:
    net = pdl.compile("input x: sparse bool[N, ~S, ~T, 3]\noutput y = x @ [[1.0], [10.0], [100.0]]")
    ones = MATRIX != 0
    x = pdl.sparse([[ones[:2], ones[:0]], [], [ones[2:]]])
    assert x.type == "sparse bool[3, ~S, ~T, 3]" and x.values is None
    assert [one.tolist() for one in x.sequences] == [[0, 2, 2, 3], [0, 2, 2, 3]]
    for given in (x, pdl.sparse(ones, lengths=[[2, 0], [], [1]]), [[ones[:2].tolist(), []], [], [ones[2:].tolist()]]):
        assert net(x=given)["y"].tolist() == [[[[10], [0]], []], [], [[[101]]]]


def test_training_on_sequences_of_sparse_rows() -> None:
    net = pdl.compile(
        "input x: sparse f32[N, ~T, 3]\ninput target: f32[N, 1]\n"
        'y = x |> fc(size=1, bias=false) |> sequence_pool(kind="sum")\nloss = mean((y - target) ** 2)'
    )
    batch = {"x": pdl.sparse([MATRIX, MATRIX[2:]]), "target": np.array([[6], [4]], np.float32)}
    losses = [step.loss for step in pdl.train(net, [batch] * 50, pdl.layers.sgd(lr=0.02))]
    assert losses[-1] < 1e-3 * losses[0]


def _fed(text: str, given: Any) -> Any:
    return pdl.compile(text)(x=given)


@pytest.mark.parametrize(
    "make,kind,message",
    [
        (
            lambda: pdl.sparse([MATRIX, MATRIX[:, :2]]),
            ValueError,
            "^all matrices must have the same number of columns, got 3 and 2$",
        ),
        (
            lambda: pdl.sparse(MATRIX, lengths=[2, 2]),
            ValueError,
            "^the sums of lengths end at 4, but there are 3 rows$",
        ),
        (
            lambda: pdl.sparse(MATRIX, lengths=[4, -1]),
            ValueError,
            "^lengths must be a list of non-negative integers",
        ),
        (
            lambda: pdl.sparse([MATRIX], lengths=[3]),
            TypeError,
            "^pdl.sparse takes a list of matrices or lengths, not both$",
        ),
        (
            lambda: pdl.sparse([[[MATRIX]]]),
            ValueError,
            "^expected a list of matrices, or of lists of them, got 5 dims$",
        ),
        (
            lambda: pdl.sparse([pdl.sparse([MATRIX]), MATRIX]),
            ValueError,
            r"^expected a matrix, got sparse f32\[1, ~T, 3\]$",
        ),
        (
            lambda: _fed("input x: sparse f32[N, ~T, D]\ninput w: f32[D, 2]\noutput y = x @ w", [[], []]),
            ValueError,
            "^input 'x': sequences without rows require shape, for the number of columns$",
        ),
        (
            lambda: _fed("input x: sparse f32[N, ~T, 3]\noutput y = x @ ones([3, 2])", LikeScipys(MATRIX)),
            ValueError,
            r"^input 'x': a matrix is no sequences; pdl.sparse\(matrix, lengths=…\) makes some of its rows$",
        ),
    ],
)
def test_wrong_sequences_of_sparse_rows(make: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        make()


def test_rows_of_bf16() -> None:
    x = pdl.ragged([[1.5, 2.0], [], [3.0]], dtype="bf16")
    for picked in (x[1:], x[[2, 0]], x[np.array([True, False, True])]):
        assert picked.dtype == "bf16"
    assert x[[2, 0]].tolist() == [[3.0], [1.5, 2.0]]
    nested = pdl.ragged(x.values, [0, 1, 2], [0, 2, 3])
    assert nested[1:].type == "bf16[1, ~S, ~T]" and nested[0].type == "bf16[1, ~T]"
    net = pdl.compile(
        "input x: bf16[N, ~T]\nparam a: f32[] = zeros()\n"
        'loss = mean((a * sequence_pool(cast(x, to=f32), kind="sum") - 1.0) ** 2)'
    )
    assert len(list(pdl.train(net, pdl.batches({"x": x}, 2), pdl.layers.sgd(lr=0.1)))) == 2
    assert net.parameters["a"].item() != 0


def test_training_on_ragged_batches() -> None:
    net = pdl.compile(
        "input x: f32[N, ~T]\ninput target: f32[N]\nparam a: f32[] = zeros()\n"
        'loss = mean((a * sequence_pool(x, kind="sum") - target) ** 2)'
    )
    x = rows([1, 2], [1], [], [0.5, 0.5, 1])
    data = pdl.batches({"x": x, "target": np.array([9, 3, 0, 6], np.float32)}, 2)
    steps = list(pdl.train(net, data, pdl.layers.sgd(lr=0.05), epochs=40))
    assert len(steps) == 80 and abs(net.parameters["a"].item() - 3) < 1e-2


@pytest.mark.parametrize(
    "options,kind,message",
    [
        ({"offsets": [1, 3]}, ValueError, "^offsets must begin at 0, got 1$"),
        ({"offsets": [0, 2, 1, 3]}, ValueError, "^offsets must not decrease, got 1 after 2$"),
        ({"offsets": [0, 2]}, ValueError, "^offsets end at 2, but there are 3 values$"),
        ({"offsets": [0, 4]}, ValueError, "^offsets end at 4, but there are 3 values$"),
        ({"offsets": []}, ValueError, r"^offsets must have one dim, .* got i64\[0\]$"),
        ({"offsets": [[0, 3]]}, ValueError, r"^offsets must have one dim, .* got i64\[1, 2\]$"),
        ({"offsets": [0.0, 3.0]}, TypeError, "offsets and indices must be integers, not float64"),
        ({"lengths": [2, 2]}, ValueError, "^the sums of lengths end at 4, but there are 3 values$"),
        ({"offsets": [0, 2**62, -(2**63), 3]}, ValueError, "^offsets must not decrease, got -9223372036854775808 after"),
        ({"offsets": np.array([0, 2**63, 3], np.uint64)}, ValueError, r"must be less than 2\*\*63, got 9223372036854775808$"),
        ({"lengths": [2**62] * 4 + [3]}, ValueError, "^a length is 4611686018427387904, but there are 3 values$"),
        ({"lengths": [3], "inner": [0, 1, 3]}, ValueError, "^a length is 3, but there are 2 inner rows$"),
        ({"lengths": [4, -1]}, ValueError, r"^lengths must be a list of non-negative integers, got \[4, -1\]$"),
        ({"lengths": [1.5, 1.5]}, TypeError, "integers, not float64"),
        ({"offsets": [0, 2], "inner": [0, 1, 2]}, ValueError, "^inner end at 2, but there are 3 values$"),
        ({"offsets": [0, 3], "inner": [0, 1, 3]}, ValueError, "end at 3, but there are 2 inner rows$"),
        ({"offsets": [0, 2], "inner": [0, 4, 3]}, ValueError, "^inner must not decrease, got 3 after 4$"),
    ],
)
def test_offsets_that_do_not_fit(options: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        pdl.ragged(np.arange(3, dtype=np.float32), **options)


def test_values_that_are_a_number() -> None:
    with pytest.raises(ValueError, match="^values must be an array, got a single number"):
        pdl.ragged(np.float32(3), offsets=[0, 1])


def test_parts_that_are_lists() -> None:
    net = pdl.compile("input x: f32[N, ~T]\noutput y = x * 2")
    values = np.float32([1, 2, 3])
    for wrong in (pdl.Ragged(values, [0, 2, 3]), pdl.Ragged([1.0, 2.0, 3.0], np.int64([0, 2, 3]))):  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="parts of input 'x' must be arrays, such as those that pdl.ragged"):
            net(x=wrong)


def test_rows_that_are_not_there() -> None:
    assert pdl.ragged(np.zeros(0, np.float32), offsets=[0]).tolist() == []
    assert pdl.ragged(np.zeros(0, np.float32), lengths=[]).tolist() == []
    assert pdl.ragged(np.zeros(0, np.float32), offsets=[0], inner=[0]).tolist() == []


def test_dtypes_are_called_as_everywhere() -> None:
    for dtype in ("f32", "float32", np.float32):
        assert pdl.ragged([[1, 2], [3]], dtype=dtype).dtype == "f32"
        assert pdl.ragged([1, 2, 3], lengths=[2, 1], dtype=dtype).dtype == "f32"
    with pytest.raises(ValueError, match="'f31' is not a dtype; expected one of f16, f32"):
        pdl.ragged([[1]], dtype="f31")


def test_rows_that_are_arrays_keep_their_dtype() -> None:
    net = pdl.compile("input x: u8[N, ~T]\noutput y = x")
    assert net(x=[np.array([1], np.uint8), [2, 3]])["y"].tolist() == [[1], [2, 3]]
    with pytest.raises(pdl.RunError, match=r"is declared u8\[.*got elements i64"):
        net(x=[np.array([300]), [1]])
    with pytest.raises(TypeError, match="rows that are arrays must have the same dtype, got f32 and i64"):
        net(x=[np.array([1]), np.ones(1, np.float32)])
    assert pdl.ragged([[1.0, 2.0], []], dtype="bf16").type == "bf16[2, ~T]"
    assert pdl.ragged([1.0, 2.0], lengths=[1, 1], dtype="bf16").type == "bf16[2, ~T]"


def test_the_parts_of_a_matrix_agree() -> None:
    good: dict[str, Any] = {"values": [1.0, 2.0], "offsets": [0, 1, 2], "indices": [0, 4], "shape": (2, 5)}
    assert pdl.sparse(**good).todense().tolist() == [[1, 0, 0, 0, 0], [0, 0, 0, 0, 2]]
    for wrong, message in [
        ({"values": [1.0]}, r"there must be one value for each index, got f64\[1\] and i64\[2\]"),
        ({"indices": [0, -1]}, "an index must be from 0 to 4, a column, got -1"),
        ({"indices": [0, 5]}, "an index must be from 0 to 4, a column, got 5"),
        ({"offsets": [0, 1, 3]}, "offsets end at 3, but there are 2 indices"),
        ({"offsets": [0, 2, 1]}, "offsets must not decrease"),
        ({"shape": (9, 5)}, "offsets are those of 2 rows, but shape has 9"),
        ({"shape": (2, -5)}, "shape must have numbers of rows and columns"),
        ({"indices": [[0, 4]], "values": None}, r"indices must have one dim, got i64\[1, 2\]"),
    ]:
        with pytest.raises(ValueError, match=message):
            pdl.sparse(**{**good, **wrong})
    with pytest.raises(ValueError, match="^a length is 4611686018427387904, but there are 1 rows$"):
        pdl.sparse([[1.0]], lengths=[2**62] * 4 + [1])
    assert pdl.sparse(offsets=[0, 0], indices=[], shape=(1, 0)).type == "sparse bool[1, 0]"


def test_an_array_for_a_sparse_input() -> None:
    net = pdl.compile("input f: sparse f32[N, 5]\nparam w: f32[5, 2] = ones()\noutput y = f @ w")
    dense = np.eye(3, 5, dtype=np.float32)
    assert net(f=dense)["y"].tolist() == net(f=pdl.sparse(dense))["y"].tolist() == [[1, 1]] * 3
    with pytest.raises(ValueError, match=r"input 'f': declared sparse f32\[N, 5\], got sparse f32\[3, 4\]"):
        net(f=pdl.sparse(dense[:, :4]))
    of_ones = pdl.compile("input f: sparse bool[N, 5]\nparam w: f32[5, 2] = ones()\noutput y = f @ w")
    for wrong in (dense, LikeScipys(dense), pdl.tensor(dense), pdl.sparse(dense)):
        with pytest.raises(pdl.RunError, match=r"^input 'f' is declared sparse bool\[N, 5\], got sparse f32\[3, 5\] \[PDL0503\]$"):
            of_ones(f=wrong)
    with pytest.raises(pdl.RunError, match=r"^input 'f' is declared sparse f32\[N, 5\], got sparse bool\[3, 5\] \[PDL0503\]$"):
        net(f=dense != 0)


def test_parts_of_an_output_are_not_requested_alone() -> None:
    net = pdl.compile("input x: f32[N, ~T]\noutput y = x * 2.0")
    x = pdl.ragged([[1.0], [2.0, 3.0]], dtype="f32")
    assert net.run({"x": x}, outputs="y")["y"].tolist() == [[2.0], [4.0, 6.0]]
    with pytest.raises(pdl.UnknownNameError, match="'y.offsets' is a part of the output 'y', which is requested instead"):
        net.run({"x": x}, outputs=["y.offsets"])

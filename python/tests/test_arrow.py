"""Tables of pyarrow as data; skipped where it is not installed."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest

import pdl

pa = pytest.importorskip("pyarrow")

NET = """
input image: f32[N, 2, 3]
input words: i64[N, ~T] in 0..9
input label: i64[N] in 0..2
logits = reshape(image, [N, 6]) |> fc(size=2)
loss = mean(cross_entropy(logits, label)) + mean(fc(embedding(words, size=4), size=1) ** 2)
minimize loss with adam(lr=0.01)
"""


def rows() -> tuple[np.ndarray, list[list[int]], np.ndarray]:  # type: ignore[type-arg]
    random = np.random.default_rng(0)
    words = [random.integers(0, 9, 1 + i % 4).tolist() for i in range(20)]
    return random.normal(size=(20, 2, 3)).astype(np.float32), words, random.integers(0, 2, 20)


def table() -> pa.Table:
    image, words, label = rows()
    inner = pa.FixedSizeListArray.from_arrays(pa.array(image.reshape(-1)), 3)
    columns = {"image": pa.FixedSizeListArray.from_arrays(inner, 2), "words": pa.array(words), "label": label}
    return pa.table(columns)


def test_a_table_has_the_bits_of_arrays(tmp_path: pathlib.Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    image, words, label = rows()
    arrays = {"image": image, "words": pdl.ragged(words), "label": label}
    parquet.write_table(table(), tmp_path / "train.parquet", row_group_size=7)
    results = []
    for data in (arrays, table(), parquet.read_table(tmp_path / "train.parquet"), table().combine_chunks().to_batches()[0]):
        training = pdl.train(NET, pdl.batches(data, 6), epochs=2, micro_batch=2)
        results.append([step.loss for step in training])
    assert results[0] == results[1] == results[2] == results[3]


def test_arrays_of_arrow_and_parts_of_arrays() -> None:
    batches = pdl.batches({"x": pa.array([1.0, 2.0, 3.0, 4.0]).slice(1), "y": np.arange(3)}, 2, shuffle=False)
    assert [batch["x"].tolist() for batch in batches] == [[2.0, 3.0], [4.0]]
    lists = pa.array([[9], [1, 2], [], [3]])[1:]
    assert [batch["x"].tolist() for batch in pdl.batches({"x": lists}, 2, shuffle=False)] == [[[1, 2], []], [[3]]]


def test_errors() -> None:
    with pytest.raises(TypeError, match="'x' must be a column of numbers, or of lists of numbers, not string"):
        pdl.batches(pa.table({"x": ["a"]}), 1)
    with pytest.raises(ValueError, match="'x' has 1 rows without a value"):
        pdl.batches(pa.table({"x": [1.0, None]}), 1)
    with pytest.raises(ValueError, match="'x' has lists with elements that have no value"):
        list(pdl.batches(pa.table({"x": [[1.0, None]]}), 1))

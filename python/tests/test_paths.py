"""Paths that are not UTF-8."""

from __future__ import annotations

import os
import pathlib
import pickle

import pytest
from conftest import LAYERED

import pdl


def test_paths_that_are_not_utf8(tmp_path: pathlib.Path) -> None:
    folder = os.path.join(os.fsencode(tmp_path), b"\xff")
    os.mkdir(folder)
    path = os.path.join(folder, b"\xfe.pdl")
    with open(path, "w", encoding="utf-8") as file:
        file.write(LAYERED)
    net = pdl.load(path)  # type: ignore[arg-type]
    assert os.fsencode(net.program.name) == path and os.fsencode(net.program.folder) == folder
    with pytest.raises(pdl.RunError, match=r"/\ufffd/\ufffd.pdl:2:10: error: assert_true") as caught:
        net(x=[-1.0])
    assert os.fsencode(caught.value.mistakes[0].file) == path
    net.set_parameter("a", 3.0)
    for ending in (b".pdl", b".pdlc", b".onnx"):
        saved = os.fsdecode(os.path.join(folder, b"saved" + ending))
        net.save(saved)
        assert pdl.load(saved)(x=[2.0])["loss"].item() == 6
    with pytest.raises(pdl.WeightError, match="the name of its file is empty, is not UTF-8"):
        net.save(os.fsdecode(path + b".pdlc"))
    weights = os.fsdecode(path.replace(b".pdl", b".safetensors"))
    training = pdl.train(net, [{"x": [1.0]}], pdl.layers.sgd(lr=1.0))
    next(training)
    training.save(weights)
    for given in (weights, pdl.weights(weights)):
        assert pdl.load(os.fsdecode(path), weights=given)(x=[2.0])["loss"].item() == 4
    for copied in (pickle.loads(pickle.dumps(net)), pdl.load_bytes(b"output y = 1.0", name="net.pdl", folder=folder)):
        assert os.fsencode(copied.program.folder) == folder
    assert list(pdl.layers_from(os.fsdecode(path))) == ["positive"]
    with pdl.trace(os.fsdecode(path + b".pftrace")):
        net(x=[1.0])
    assert os.path.getsize(path + b".pftrace") > 0 and "\ufffd" in net.ir() and net.page() and net.dot()
    assert net.profile({"x": [1.0]})
    for call in (lambda: pdl.load(path + b"x.pdl"), lambda: pdl.layers_from(os.fsdecode(path + b"x.pdl"))):
        with pytest.raises(pdl.MissingFileError, match="/\ufffd/\ufffd.pdlx.pdl'"):
            call()
    for wrong in (lambda: pdl.load(path + b"x"), lambda: net.save(path + b"x")):
        with pytest.raises(pdl.FileError, match="/\ufffd/\ufffd.pdlx'"):
            wrong()

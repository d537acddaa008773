"""Declarations for tools."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import pdl


def test_declarations(pdl_tool: str) -> None:
    found = pdl.declarations()
    ops = {one["type"]: one for one in found["ops"]}
    layers = {one["type"]: one for one in found["layers"]}
    assert sorted(ops) == dir(pdl.ops) and sorted(layers) == dir(pdl.layers)
    scale = ops["cos"]["attributes"][0]
    assert scale["name"] == "scale" and scale["type"] == "FLOAT" and scale["lower"]["open"]
    assert found["pdl_version"] == pdl.__version__
    # In a process of its own, without the plugins that other tests load.
    program = "import sys, pdl; sys.stdout.buffer.write(pdl.declarations_proto())"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    own = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, env=environment).stdout
    command = [pdl_tool, "ops", "--format=proto"]
    assert subprocess.run(command, capture_output=True, check=True).stdout == own


def test_the_messages_are_there(root: pathlib.Path) -> None:
    text = pathlib.Path(pdl.proto_file()).read_text()
    assert text == (root / "proto" / "pdl.proto").read_text() and "message OpProtoList" in text

"""Operators of plugins."""

import os
import pathlib

import pytest

import pdl

PLUGIN = pathlib.Path(pdl._pdl.__file__).parents[2] / "test" / "lib" / "libown_checks_plugin.so"


@pytest.mark.skipif(not PLUGIN.exists(), reason="the plugin is not built")
def test_checks_of_an_operator() -> None:
    pdl.load_plugin(os.fspath(PLUGIN))
    assert pdl.ops.test_cos([0.0], scale=4.0).tolist() == [4]
    message = "test_cos: Scale of cosine op should be at most 100, got 200.00"
    with pytest.raises(ValueError, match=message) as caught:
        pdl.ops.test_cos([0.0], scale=200.0)
    assert isinstance(caught.value, pdl.errors.AttributeValueError) and caught.value.code == "PDL0203"
    with pytest.raises(ValueError, match=message) as caught:
        pdl.compile("input x: f32[N]\noutput y = test_cos(x, scale=200.0)")
    assert "2:30: error: " + message in str(caught.value)
    graph = pdl.Graph()
    x = graph.input("x", "f32[3]")
    with pytest.raises(ValueError, match="test_cos: Scale of cosine op should be even, got 3"):
        pdl.ops.test_cos(x, scale=3.0)

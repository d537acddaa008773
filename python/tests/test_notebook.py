"""Representations of networks in notebooks."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from typing import Any

import digits

import pdl


def transformer(layers: int) -> pdl.Network:
    """A transformer on words, with residual connections around attention and feed-forward layers."""
    with pdl.Graph() as g:
        x = pdl.layers.embedding(pdl.input("tokens", "i64[N, 32] in 0..100"), size=64, name="embed")
        for i in range(layers):
            h = pdl.layers.layer_norm(x, name=f"before{i}")
            x = x + pdl.layers.multi_head_attention(h, h, heads=4, name=f"attention{i}")
            h = pdl.layers.fc(x, size=256, act="gelu", name=f"up{i}")
            x = x + pdl.layers.fc(h, size=64, name=f"down{i}")
        pdl.output(pdl.layers.fc(x, size=100, name="logits"), "logits")
    return g.compile()


def deep() -> pdl.Network:
    with pdl.Graph() as g:
        x = pdl.input("x", "f32[N, 8]")
        for i in range(40):
            x = pdl.layers.fc(x, size=8, act="relu", name=f"layer{i}")
        pdl.output(x, "y")
    return g.compile()


class Parts(HTMLParser):
    """The text of the elements of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.frames: list[str] = []
        self.data = ""
        self._in_data = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self._in_data = found.get("id") == "data"
        if tag == "iframe":
            assert found["sandbox"] == "allow-scripts"
            self.frames.append(found["srcdoc"] or "")

    def handle_data(self, data: str) -> None:
        if self._in_data:
            self.data += data

    def handle_endtag(self, tag: str) -> None:
        self._in_data = False


def data_of(net: pdl.Network) -> dict[str, Any]:
    """The data of a network's page."""
    return json.loads(Parts(net.page()).data)


def titles(data: dict[str, Any], level: int) -> list[str]:
    found = data["levels"][level]
    return [node["t"] for node in data["nodes"][found["f"] : found["f"] + found["n"]]]


def test_a_network_is_a_frame_with_its_page() -> None:
    net = digits.reading_graph().compile()
    (page,) = Parts(net._repr_html_()).frames
    assert page == net.page()
    data = json.loads(Parts(page).data)
    assert {"image", "matmul", "relu", "softmax", "argmax", "digit", "confidence"} <= set(titles(data, 0))
    assert "f32[N, 64]" in data["types"]
    matmul = next(node for node in data["nodes"] if node["t"] == "matmul")
    assert "first_w f32[64, 64]" in matmul["s"]
    assert "softmax" in data["files"][0]["text"]


def test_layers_are_levels() -> None:
    data = data_of(transformer(2))
    assert {"embed", "attention0", "up0", "attention1", "logits"} <= {
        name for node in data["nodes"] for name in (node["t"], *node["s"])
    }
    layer = next(node for node in data["nodes"] if node["t"] == "attention0")
    assert "softmax" not in titles(data, 0) and len(titles(data, layer["v"])) > 3
    assert len(data["levels"]) > len(data["placements"]), "equal layers share a placement"


def test_a_deep_network_has_all_layers() -> None:
    data = data_of(deep())
    assert [f"layer{i}" in titles(data, 0) for i in range(40)] == [True] * 40
    assert "matmul" not in titles(data, 0)


def test_a_large_network_has_parts() -> None:
    with pdl.Graph() as g:
        x = pdl.input("x", "f32[]")
        pdl.output(g.define("x" + " + x * x" * 300), "y")
    data = data_of(g.compile())
    assert titles(data, 0) == ["x", *["50 calls"] * 12, "y"]


def test_a_network_without_calls() -> None:
    assert titles(data_of(pdl.compile("output y = 1")), 0) == ["y"]
    assert titles(data_of(pdl.compile("")), 0) == []


def test_names_are_not_markup() -> None:
    net = pdl.compile('input x: f32[2]  # </script><b>"&\noutput y = relu(x)')
    page = net.page()
    assert "</script><b>" not in page and page.count("</script>") == 2
    (framed,) = Parts(net._repr_html_()).frames
    assert framed == page

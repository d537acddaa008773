"""Representations of networks in notebooks."""

from __future__ import annotations

import itertools
import re
import xml.etree.ElementTree as xml

import digits
import pytest

import pdl
from pdl._html import highlight
from pdl._svg import _CHARACTER, _SMALL, network_svg

SVG = "{http://www.w3.org/2000/svg}"


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


def labels(picture: xml.Element) -> list[str]:
    return [one.text or "" for one in picture.iter(f"{SVG}text")]


def check_readable(picture: xml.Element) -> None:
    """Boxes do not overlap, labels are inside their boxes, and edges do not cross boxes."""
    boxes = []
    for one in picture.iter(f"{SVG}rect"):
        if one.get("stroke"):
            x, y, width, height = (float(one.attrib[key]) for key in ("x", "y", "width", "height"))
            boxes.append((x, y, x + width, y + height))
    for a, b in itertools.combinations(boxes, 2):
        assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1], "boxes overlap"
    at = set()
    for text in picture.iter(f"{SVG}text"):
        x, y = float(text.attrib["x"]), float(text.attrib["y"])
        half = len(text.text or "") * (_SMALL if text.get("font-size") else _CHARACTER) / 2
        assert any(b[0] <= x - half and x + half <= b[2] and b[1] < y < b[3] for b in boxes)
        assert (x, y) not in at
        at.add((x, y))
    width, height = float(picture.attrib["width"]), float(picture.attrib["height"])
    assert all(b[0] > 0 and b[1] > 0 and b[2] < width and b[3] < height for b in boxes)
    for path in picture.iter(f"{SVG}path"):
        numbers = [float(n) for n in re.findall(r"-?\d+\.\d", path.attrib["d"])]
        points = list(zip(numbers[::2], numbers[1::2]))
        stops = [points[0], *points[3::3]]
        for x, y in stops[1:-1]:
            assert not any(b[0] < x < b[2] and b[1] < y < b[3] for b in boxes), "a hidden line"


def test_a_network_is_a_picture_and_its_text() -> None:
    net = digits.reading_graph().compile()
    html = net._repr_html_()
    assert html.count("<svg") == 1 and '<span style="color:#e36209">softmax</span>' in html
    picture = xml.fromstring(net.svg())
    shown = labels(picture)
    for label in ("image", "f32[N, 64]", "matmul", "argmax", "digit", "confidence"):
        assert label in shown
    assert "first_w: f32[64, 64]" in shown
    check_readable(picture)
    # image, two layers of matmul and add, relu, softmax, argmax, max; two outputs.
    assert len(list(picture.iter(f"{SVG}path"))) == 10


@pytest.mark.parametrize("make", [lambda: transformer(1), lambda: transformer(4), deep])
def test_pictures_are_readable(make: object) -> None:
    check_readable(xml.fromstring(make().svg()))  # type: ignore[operator]


def test_examples_are_readable(root: object) -> None:
    for name in ("tagger/tagger", "unet/unet", "resnet/resnet", "wide_deep/wide_deep"):
        picture = xml.fromstring(pdl.load(f"{root}/examples/{name}.pdl").svg())
        check_readable(picture)
        assert len(labels(picture)) < 400


def test_a_deep_network_is_drawn_by_layers() -> None:
    picture = xml.fromstring(deep().svg())
    shown = labels(picture)
    assert [f"layer{i}" in shown for i in range(40)] == [True] * 40
    assert "w: f32[8, 8]" in shown and "matmul" not in shown


def test_what_several_use_is_a_box() -> None:
    net = pdl.compile(
        "input x: f32[N, 4]\nparam w: f32[4, 4] = zeros()\noutput y = (x @ w) @ w\noutput w\n"
        "output z = x * 2.0"
    )
    shown = labels(xml.fromstring(net.svg()))
    assert shown.count("w") == 2 and shown.count("f32[4, 4]") == 2 and "mul" in shown
    assert "constant" not in shown
    assert network_svg(pdl.compile("output y = 1").program).startswith("<svg")


def test_a_network_without_a_picture() -> None:
    with pdl.Graph() as g:
        x = pdl.input("x", "f32[]")
        text = "x" + " + x * x" * 300
        pdl.output(g.define(text), "y")
    assert g.compile().svg() == "<p>600 calls are too many for a diagram; see `text()`</p>"


def test_text_has_colours() -> None:
    html = highlight("## a < b\ninput x: f32[N]\ny = cos(x, scale=5.0)\noutput y\n")
    assert '<span style="color:#6a737d">## a &lt; b</span>' in html
    assert '<span style="color:#d73a49">input</span>' in html
    assert '<span style="color:#6f42c1">f32</span>' in html
    assert '<span style="color:#e36209">cos</span>' in html
    assert '<span style="color:#005cc5">5.0</span>' in html

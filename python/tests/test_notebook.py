"""What a notebook shows."""

from __future__ import annotations

import xml.etree.ElementTree as xml

import digits

import pdl
from pdl._html import highlight
from pdl._svg import network_svg


def test_a_network_is_a_picture_and_its_text() -> None:
    net = digits.reading_graph().compile()
    html = net._repr_html_()
    assert html.count("<svg") == 1 and '<span style="color:#e36209">softmax</span>' in html
    picture = xml.fromstring(network_svg(net.program))
    labels = [one.text for one in picture.iter("{http://www.w3.org/2000/svg}text")]
    for label in ("image", "f32[N, 64]", "first_w", "matmul", "argmax", "digit", "confidence"):
        assert label in labels
    boxes = [one.attrib for one in picture.iter("{http://www.w3.org/2000/svg}rect")]
    spans = [(float(b["y"]), float(b["x"]), float(b["x"]) + float(b["width"])) for b in boxes]
    for i, one in enumerate(spans):
        for other in spans[i + 1 :]:
            assert one[0] != other[0] or one[2] <= other[1] or other[2] <= one[1], "boxes overlap"
    paths = list(picture.iter("{http://www.w3.org/2000/svg}path"))
    assert len(paths) == 14


def test_a_deep_network_is_drawn_by_layers() -> None:
    with pdl.Graph() as g:
        x = pdl.input("x", "f32[N, 8]")
        for i in range(40):
            x = pdl.layers.fc(x, size=8, act="relu", name=f"layer{i}")
        pdl.output(x, "y")
    svg = network_svg(g.compile().program)
    assert svg.count("<rect") < 40 * 4 and "layer39" in svg


def test_text_has_colours() -> None:
    html = highlight("## a < b\ninput x: f32[N]\ny = cos(x, scale=5.0)\noutput y\n")
    assert '<span style="color:#6a737d">## a &lt; b</span>' in html
    assert '<span style="color:#d73a49">input</span>' in html
    assert '<span style="color:#6f42c1">f32</span>' in html
    assert '<span style="color:#e36209">cos</span>' in html
    assert '<span style="color:#005cc5">5.0</span>' in html

"""Traces, read with Perfetto's own definition of the format."""

from __future__ import annotations

import pathlib
import threading
from collections import defaultdict
from typing import Any

import numpy as np
import pytest

import pdl

TEXT = """
layer dense(x: f32[N, D], size: int > 0) {
  param w: f32[D, size] = normal()
  return relu(x @ w + 1.0)
}
input x: f32[N, 64]
layer hidden = dense(size=512)
y = hidden(x)
output total = sum(scan(y, init=zeros([N]), axis=1, body=add()))
"""


class Slices:
    """The slices of a trace: name, source, track, begin, end and annotations; and the counters by track."""

    def __init__(self, path: pathlib.Path) -> None:
        trace_pb2 = pytest.importorskip("perfetto.protos.perfetto.trace.perfetto_trace_pb2")
        trace = trace_pb2.Trace()
        trace.ParseFromString(path.read_bytes())
        texts: dict[str, dict[int, Any]] = defaultdict(dict)
        events = []
        self.tracks: dict[int, Any] = {}
        for packet in trace.packet:
            for field, entries in packet.interned_data.ListFields():
                for entry in entries:
                    texts[field.name][entry.iid] = entry
            if packet.HasField("track_descriptor"):
                self.tracks[packet.track_descriptor.uuid] = packet.track_descriptor
            if packet.HasField("track_event"):
                events.append((packet.timestamp, packet.track_event))
        self.slices = []
        self.counters: dict[str, list[float]] = defaultdict(list)
        opened: dict[int, list[dict[str, Any]]] = defaultdict(list)
        types = trace_pb2.TrackEvent
        for time, event in sorted(events, key=lambda pair: pair[0]):
            stack = opened[event.track_uuid]
            if event.type == types.TYPE_SLICE_BEGIN:
                place = texts["source_locations"][event.source_location_iid]
                notes = {
                    texts["debug_annotation_names"][note.name_iid].name: note.double_value
                    or texts["debug_annotation_string_values"][note.string_value_iid].str.decode()
                    for note in event.debug_annotations
                    if note.double_value or note.string_value_iid
                }
                name = texts["event_names"][event.name_iid].name
                kind = texts["event_categories"][event.category_iids[0]].name
                stack.append(
                    dict(name=name, kind=kind, file=place.file_name, line=place.line_number,
                         notes=notes, track=event.track_uuid, begin=time)
                )  # fmt: skip
            elif event.type == types.TYPE_SLICE_END:
                self.slices.append(stack.pop() | {"end": time})
            else:
                track = self.tracks[event.track_uuid]
                self.counters[track.name].append(event.double_counter_value or event.counter_value)
        assert not any(opened.values()), "a slice has no end"

    def named(self, name: str) -> list[dict[str, Any]]:
        return [slice for slice in self.slices if slice["name"] == name]


def test_every_slice_names_a_source_line(tmp_path: pathlib.Path) -> None:
    with pdl.trace(tmp_path / "t.pftrace"):
        net = pdl.compile(TEXT, name="net.pdl")
        net(x=np.ones((300, 64), np.float32))
    trace = Slices(tmp_path / "t.pftrace")
    assert trace.slices and all(slice["file"] and slice["line"] > 0 for slice in trace.slices)
    (group,) = [s for s in trace.named("matmul, add, relu") if s["kind"] == "call"]
    assert (group["file"], group["line"]) == ("net.pdl", 4)
    notes = group["notes"]
    assert notes["result"].endswith(": f32[300, 512]") and notes["layer"] == "hidden"
    assert "x: f32[300, 64], " in notes["operands"] and ": f32[64, 512]" in notes["operands"]
    assert notes["operations"] == 300 * 512 * (2 * 64 + 2)
    seconds = (group["end"] - group["begin"]) * 1e-9
    assert notes["GFLOP/s"] == pytest.approx(notes["operations"] / seconds / 1e9, rel=0.05)
    assert notes["share of the peak"] > 0
    (run,) = trace.named("run")
    (scan,) = [s for s in trace.named("scan") if s["kind"] == "call"]
    steps = [s for s in trace.named("add") if s["kind"] == "call"]
    assert len(steps) == 512  # the body of the loop
    for outer, inner in [(run, group), (run, scan), (scan, steps[0]), (scan, steps[-1])]:
        assert outer["begin"] <= inner["begin"] <= inner["end"] <= outer["end"]
    for name in ["parse", "elaborate", "plan", "bind sizes"]:
        assert trace.named(name), name
    assert trace.counters["arithmetic"][-1] == 0 and max(trace.counters["arithmetic"]) > 0
    assert max(trace.counters["memory traffic"]) > 0 and max(trace.counters["arena"]) > 0
    assert max(trace.counters["tensors and arenas"]) > 0


def test_two_threads_have_tracks_of_their_own(tmp_path: pathlib.Path) -> None:
    net = pdl.compile(TEXT, name="net.pdl")
    x = np.ones((30, 64), np.float32)

    def run() -> None:
        for _ in range(20):
            net(x=x)

    with pdl.trace(tmp_path / "t.pftrace"):
        threads = [threading.Thread(target=run) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    trace = Slices(tmp_path / "t.pftrace")
    runs = trace.named("run")
    assert len(runs) == 40
    ids = {trace.tracks[run["track"]].thread.tid for run in runs}
    assert len(ids) == 2
    assert len([s for s in trace.named("scan") if s["kind"] == "call"]) == 40


def test_training_has_slices_for_its_steps(tmp_path: pathlib.Path) -> None:
    text = """input x: f32[N, 3]
input t: f32[N, 1]
param w: f32[3, 1] = normal()
loss = mean((x @ w - t) ** 2)
minimize loss with sgd(lr=0.1)
output loss
"""
    data = {"x": np.ones((64, 3), np.float32), "t": np.ones((64, 1), np.float32)}
    batches = pdl.batches(data, 16)
    with pdl.trace(tmp_path / "t.pftrace"):
        steps = list(pdl.train(pdl.compile(text, name="line.pdl"), batches, epochs=2))
    trace = Slices(tmp_path / "t.pftrace")
    assert len(steps) == 8 and len(trace.named("run")) >= 8 and trace.named("update states")
    lines = {s["line"] for s in trace.slices if s["file"] == "line.pdl" and s["kind"] == "call"}
    assert 4 in lines and lines <= {3, 4, 5}


def test_a_trace_ends_at_its_limit(tmp_path: pathlib.Path) -> None:
    net = pdl.compile(TEXT, name="net.pdl")
    path = tmp_path / "t.pftrace"
    with pytest.warns(UserWarning, match=r"the trace ended early, since '.*' reached 20000 bytes"):
        with pdl.trace(path, max_bytes=20000):
            net(x=np.ones((3, 64), np.float32))
    assert 10000 < path.stat().st_size < 40000


def test_wrong_uses_are_errors(tmp_path: pathlib.Path) -> None:
    with pytest.raises(pdl.Error, match="cannot write '.*t.pftrace': No such file or directory"):
        with pdl.trace(tmp_path / "no" / "t.pftrace"):
            pass
    with pytest.raises(ValueError, match="max_bytes must be at least 1, got 0"):
        with pdl.trace(tmp_path / "t.pftrace", max_bytes=0):
            pass
    with pdl.trace(tmp_path / "t.pftrace"):
        with pytest.raises(pdl.Error, match="a trace is being recorded already"):
            with pdl.trace(tmp_path / "u.pftrace"):
                pass
    with pdl.trace(tmp_path / "u.pftrace"):  # the first one has ended
        pass

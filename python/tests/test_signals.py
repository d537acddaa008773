"""Ctrl-C in a training loop, and in a long run."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

START = """
import time
import numpy as np
import pdl
"""

TRAINING = """
net = pdl.compile("input x: f32[N]\\nparam a: f32[] = zeros()\\nloss = mean((a * x - 1.0) ** 2)")
def data():
    while True:
        yield {"x": np.ones(4, np.float32)}
steps = 0
try:
    print("running", flush=True)
    for step in pdl.train(net, data(), pdl.layers.sgd(lr=0.1)):
        steps = step.step
except KeyboardInterrupt:
    # What was learned is in the network, which goes on to work.
    assert steps > 0 and abs(net.parameters["a"].item() - 1) < 0.5 or steps < 10
    net(x=np.ones(4, np.float32))
    list(pdl.train(net, [{"x": np.ones(4, np.float32)}], pdl.layers.sgd(lr=0.1)))
    print("interrupted")
"""

# One call that runs for seconds, and nothing else.
RUN = """
net = pdl.compile(
    "input x: f32[N, N]\\ny = x\\nfor i in 0..40 { y = y @ x }\\noutput y", threads=1)
x = np.zeros((1500, 1500), np.float32)
small = np.zeros((8, 8), np.float32)
net(x=small)
begin = time.monotonic()
try:
    print("running", flush=True)
    net(x=x)
    for _ in range(100): time.sleep(0.01)
    print("went on")
except KeyboardInterrupt:
    assert net(x=small)["y"].shape == (8, 8)
    print("interrupted")
"""


def interrupted(code: str) -> list[str]:
    """The output of a program that receives SIGINT while it runs."""
    with subprocess.Popen(
        [sys.executable, "-c", START + code], stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "running\n"
        time.sleep(0.5)
        child.send_signal(signal.SIGINT)
        output = child.communicate(timeout=120)[0]
    assert child.returncode == 0
    return output.split()


def test_training_ends_between_steps() -> None:
    assert interrupted(TRAINING) == ["interrupted"]


def test_a_run_ends_first() -> None:
    assert interrupted(RUN) == ["interrupted"]

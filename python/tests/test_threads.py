"""One network in many threads, and in a child process."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from typing import Any

import numpy as np
import pytest
from conftest import resident_bytes

import pdl

# PDL_SOAK_SECONDS=60 is the long form.
SECONDS = float(os.environ.get("PDL_SOAK_SECONDS", "2"))
TEXT = """
input x: f32[N, 16]
param w: f32[16, 16] = normal(std=0.3)
output y = tanh(relu(x @ w) @ w) + sum(x, axes=[1], keep=true)
"""


def test_eight_threads_get_right_results_in_steady_memory() -> None:
    net = pdl.compile(TEXT, threads=2)
    random = np.random.default_rng(0)
    inputs = [random.normal(size=(n, 16)).astype(np.float32) for n in range(1, 9)]
    expected = [net(x=x)["y"].numpy().copy() for x in inputs]
    end = time.monotonic() + SECONDS
    middle = time.monotonic() + SECONDS / 2
    wrong: list[int] = []
    calls = [0] * 8
    half: list[int] = []

    def work(k: int) -> None:
        while (now := time.monotonic()) < end:
            i = (calls[k] + k) % 8
            if not np.array_equal(net(x=inputs[i])["y"].numpy(), expected[i]):
                wrong.append(i)
            calls[k] += 1
            if k == 0 and now > middle and not half:
                half.append(resident_bytes())

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and min(calls) > 0
    assert resident_bytes() - half[0] < 4 << 20


def test_threads_share_the_states_of_one_network() -> None:
    net = pdl.compile("input x: i64[]\nstate n: i64[] = zeros()\nupdate n = n + x\noutput y = n")
    threads = [threading.Thread(target=lambda: [net(x=1) for _ in range(200)]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert net(x=0)["y"].item() == 1600


def test_others_go_on_while_a_network_runs() -> None:
    net = pdl.compile(
        "input x: f32[N, N]\ny = x @ x\nfor i in 0..20 { y = y @ x }\noutput y", threads=1
    )
    x = np.zeros((500, 500), np.float32)
    net(x=x)
    begin = time.monotonic()
    net(x=x)
    alone = time.monotonic() - begin
    ticks = 0
    thread = threading.Thread(target=lambda: net(x=x))
    thread.start()
    while thread.is_alive():
        ticks += 1
        time.sleep(alone / 100)
    assert ticks > 5


def _child(net: Any, x: Any, queue: Any) -> None:
    queue.put(net(x=x)["y"].numpy())


def test_a_network_works_in_a_forked_child() -> None:
    net = pdl.compile("input x: f32[N, N]\noutput y = tanh(x @ x)")
    x = np.full((300, 300), 0.01, np.float32)
    expected = net(x=x)["y"].numpy()
    context = multiprocessing.get_context("fork")
    queue: Any = context.Queue()
    child = context.Process(target=_child, args=(net, x, queue))
    child.start()
    result = queue.get(timeout=60)
    child.join(timeout=60)
    assert child.exitcode == 0
    np.testing.assert_array_equal(result, expected)


def test_forks_in_the_middle_of_runs() -> None:
    """A child process does not inherit a lock held by another thread of the parent."""
    net = pdl.compile(TEXT, threads=2)
    x = np.ones((64, 16), np.float32)
    expected = net(x=x)["y"].numpy().copy()
    done = threading.Event()

    def work() -> None:
        while not done.is_set():
            net(x=x)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    statuses = []
    try:
        for _ in range(int(20 * SECONDS)):
            child = os.fork()
            if child == 0:
                # Without what pytest would do at the end.
                signal.alarm(20)
                right = np.array_equal(net(x=x)["y"].numpy(), expected)
                right = right and pdl.ops.neg(x).tolist() == (-x).tolist()
                right = right and len(list(pdl.train(LINE, [{"x": [1.0]}]))) == 1
                os._exit(0 if right else 1)
            statuses.append(os.waitpid(child, 0)[1])
    finally:
        done.set()
        for thread in threads:
            thread.join()
    assert statuses == [0] * len(statuses)


LINE = "input x: f32[N]\nparam a: f32[] = zeros()\nminimize mean((a * x - 1.0) ** 2) with sgd(lr=0.1)"


DAEMON = """
import threading, time
import numpy as np
import pdl

net = pdl.compile("input x: f32[N, M]\\noutput y = x @ transpose(x)")
rows = pdl.compile("input x: f32[N, ~T]\\noutput y = x * 2.0")
LINE = "input x: f32[N]\\nparam a: f32[] = zeros()\\nminimize mean((a * x - 1.0) ** 2) with sgd(lr=0.1)"
array = np.ones((200, 200), np.float32)

def work():
    while True:
        CALL

CALL
threading.Thread(target=work, daemon=True).start()
time.sleep(0.1)
"""


@pytest.mark.parametrize(
    "call",
    [
        "net(x=array)",
        "net(x=[[1.0] * 20] * 20)",
        "rows(x=[[1.0], [2.0, 3.0]])",
        "pdl.ops.topk(array, k=1)",
        "list(pdl.train(LINE, [{'x': [1.0]}] * 10))",
        "pdl.compile('output y = 1.0')",
    ],
)
def test_the_interpreter_ends_while_a_daemon_thread_makes_calls(call: str) -> None:
    code = DAEMON.replace("CALL", call)
    for _ in range(4):
        child = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
        assert (child.returncode, child.stderr) == (0, "")

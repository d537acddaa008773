#!/usr/bin/env python3
"""Calls the Python package with random arguments: every call must return, or raise an error that says what is wrong.

    python_api.py [--runs=N] [--seed=N]      N inputs of random bytes
    python_api.py --atheris [OPTION…]        as a target of atheris (PyPI), with libFuzzer's options
    python_api.py FILE…                      the inputs in these files

An input is bytes that decide the calls. Allowed are pdl.Error, and errors of Python that describe an argument. An
error that begins inside the package is a finding: an AttributeError there, or a TypeError such as "'NoneType' object
is not iterable", says nothing to the caller. So are "internal error", SystemError, and calls of more than a minute.
"""

import argparse
import copy
import faulthandler
import inspect
import io
import operator
import pathlib
import pickle
import random
import sys
import tempfile
import traceback
import warnings

ATHERIS = "--atheris" in sys.argv
if ATHERIS:
    sys.argv.remove("--atheris")
    import atheris
    with atheris.instrument_imports(include=["pdl"]):
        import pdl
else:
    import pdl
import numpy as np

FOLDER = tempfile.TemporaryDirectory(prefix="pdl_python_api_")
PACKAGE = str(pathlib.Path(pdl.__file__).parent)
OPS, LAYERS = dir(pdl.ops), dir(pdl.layers)
DTYPES = ["f4", "f8", "f2", "i8", "i4", "i2", "i1", "u1", "u2", "u4", "u8", "?", ">f4", "c8", "O", "U3", "M8[s]", "V3"]
TYPES = ["f32[N, 3]", "f32[2, 3]", "f64[N]", "i64[N] in 0..4", "f32[]", "f32[N, ~T, 2]", "sparse f32[N, 3]", "bool[N]",
         "f16[3]", "bf16[N]", "i8[N, 0]", "f32[N", "f32[-1]", "f99[N]", "F[...]", ""]
NAMES = ["x", "y", "w", "a.b", "out", "input", "1x", "", "é", "\ud800", "x y", "_x", "__class__", "for", "s"]
NUMBERS = [0, 1, -1, 2, 3, 7, 255, 2**31, 2**63 - 1, -2**63, 2**63, 2**64, 10**30, 0.5, -0.0, 1e-45, 3.4e38, 1e39, 1e308,
           float("inf"), float("nan"), True, False]
SOURCES = [
    "input x: f32[N, 3]\nparam w: f32[3, 2] = normal(std=1.0)\noutput y = softmax(x @ w), z = sum(x)\n",
    "input x: f32[N]\nstate s: f32[] = zeros()\nupdate s = s + sum(x)\noutput y = s\n",
    "input x: f32[N, ~T, 2]\noutput y = sum(x, axes=[1])\n",
    "input x: sparse f32[N, 3]\ninput w: f32[3, 2]\noutput y = x @ w\n",
    "input x: i64[N] in 0..4\nparam table: f32[4, 2] = ones()\noutput y = gather(table, x)\n",
    "attr width: int > 0 = 3\nattr act: function = relu()\ninput x: f32[N, width]\noutput y = act(fc(x, size=width))\n",
    "input x: f32[N, 3]\ninput t: i64[N] in 0..2\nlogits = fc(x, size=2)\nloss = mean(cross_entropy(logits, t))\n"
    "output logits, loss\nminimize loss with adam(lr=0.01)\n",
    "layer twice(x: F[...], k: float = 2.0) {\n  return x * k\n}\ninput x: f32[N]\noutput y = twice(x, k=3.0)\n",
]


class Choices:
    """Decisions that the bytes of an input make; zeros follow the last byte."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def below(self, limit):
        value = 0
        for _ in range(1 if limit <= 256 else 2):
            value = value * 256 + (self.data[self.at] if self.at < len(self.data) else 0)
            self.at += 1
        return value % limit

    def pick(self, options):
        return options[self.below(len(options))]

    def chance(self, one_in):
        return self.below(one_in) == 1

    @property
    def is_at_end(self):
        return self.at >= len(self.data)


class Indexable:

    def __index__(self):
        return 2


class BrokenArray:
    """Fails when it is asked for its elements."""

    def __array__(self, dtype=None, copy=None):
        raise ValueError("this array cannot be read")


class Own(Exception):
    """Raised by a caller's function, and must get back to the caller."""


def raises(*_, **__):
    raise Own()


def make_array(c):
    dtype = np.dtype(c.pick(DTYPES if c.chance(4) else DTYPES[:4]))
    sizes = tuple(c.pick([1, 2, 3, 0, 5, 17]) for _ in range(c.pick([2, 1, 0, 3, 4])))
    count = int(np.prod(sizes))
    if dtype.kind in "fiu?" and dtype.itemsize <= 8:
        values = np.array([c.pick([0, 1, 2, -1, 0.5, np.nan, np.inf, 1e30]) for _ in range(min(count, 4))] or [0])
        with np.errstate(all="ignore"):
            array = np.resize(values, count).astype(dtype).reshape(sizes)
    else:
        array = np.zeros(sizes, dtype)
    form = c.below(10)
    if form == 1:
        array = array.T
    elif form == 2 and array.ndim:
        array = array[::-1]
    elif form == 3 and array.ndim:
        array = array[..., ::2]
    elif form == 4:
        array.flags.writeable = False
    elif form == 5:
        array = np.ma.masked_array(array)
    elif form == 6:
        array = np.broadcast_to(array, (2, *array.shape))
    return array


def make_value(c, kept, depth=0):
    kind = c.below(24)
    if kind < 8:
        return make_array(c)
    if kind < 11:
        return c.pick(NUMBERS)
    if kind == 11 and kept:
        return c.pick(kept)
    if kind == 12 and depth < 3:
        return [make_value(c, kept, depth + 1) for _ in range(c.below(4))]
    if kind == 13 and depth < 3:
        return tuple(make_value(c, kept, depth + 1) for _ in range(c.below(3)))
    if kind == 14 and depth < 3:
        return {c.pick(NAMES): make_value(c, kept, depth + 1) for _ in range(c.below(3))}
    if kind == 15:
        return c.pick(NAMES + ["relu", "same", "f32", "mean", "a,b->ab", "f64"])
    if kind == 16:
        return c.pick([None, b"bytes", range(3), set(), 1j, Indexable(), BrokenArray(), object(), np.float32, int, raises,
                       lambda x: x, Ellipsis, slice(1), np.int64(3), np.float16(0.5), pathlib.Path("x"), np.dtype("f4")])
    if kind == 17:
        return [[c.pick(NUMBERS) for _ in range(c.below(3))] for _ in range(c.below(4))]
    if kind == 18:
        return c.pick([pdl.ops.relu, pdl.ops.tanh(), pdl.layers.fc(size=2), pdl.layers.adam(lr=0.1), pdl.layers.fc])
    return c.pick([2, 3, 1, 0, -1, [0], [1, 2], "same", 0.5, True])


def arguments_of(c, function, kept):
    """Positional and named arguments, the first of which are often arrays."""
    positional = [make_array(c) if c.below(3) else make_value(c, kept) for _ in range(c.pick([1, 2, 1, 0, 3]))]
    try:
        names = [name for name in inspect.signature(function).parameters]
    except (TypeError, ValueError):
        names = []
    named = {}
    for _ in range(c.below(4)):
        name = c.pick(names) if names and not c.chance(12) else c.pick(NAMES)
        if name not in ("args", "kwargs"):
            named[name] = make_value(c, kept)
    return positional, named


# --- Calls --------------------------------------------------------------------------------------------------------------


def call_operator(c, kept):
    function = getattr(pdl.ops, c.pick(OPS))
    positional, named = arguments_of(c, function, kept)
    return function(*positional, **named)


def call_layer(c, kept):
    function = getattr(pdl.layers, c.pick(LAYERS))
    positional, named = arguments_of(c, function, kept)
    return function(*positional, **named)


def make_tensor(c, kept):
    if c.chance(3):
        return pdl.ragged(make_value(c, kept), *([make_value(c, kept)] if c.chance(3) else []))
    if c.chance(4):
        return pdl.sparse(make_value(c, kept), make_value(c, kept), *([make_value(c, kept)] if c.chance(2) else []))
    return pdl.tensor(make_value(c, kept), *([c.pick(["f32", "f16", "i64", "bool", "bf16", "x", np.float32])]
                                             if c.chance(2) else []))


def use_tensor(c, kept):
    tensor = c.pick(kept) if kept else make_tensor(c, kept)
    what = c.below(16)
    if what == 0:
        return tensor[make_value(c, kept)]
    if what == 1:
        return tensor[tuple(c.pick([0, -1, slice(None), slice(None, None, -1), None, ..., 99, [0], 2**70])
                            for _ in range(c.below(4)))]
    if what == 2:
        return c.pick([operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod,
                       operator.pow, operator.matmul, operator.lt, operator.eq, operator.and_, operator.lshift])(
                           tensor, make_value(c, kept))
    if what == 3:
        return c.pick([operator.neg, operator.not_, operator.invert, abs, len, float, int, bool, hash, repr, str, iter,
                       list, operator.index])(tensor)
    if what == 4:
        return c.pick([np.asarray, np.from_dlpack, np.sum, np.exp, np.array_repr, np.shape])(tensor)
    if what == 5:
        return pickle.loads(pickle.dumps(tensor))
    if what == 6:
        return copy.deepcopy(tensor)
    if what == 7:
        return format(tensor, c.pick(["", ".2f", "x", "{}"]))
    if what == 8:
        return np.asarray(tensor, dtype=c.pick(DTYPES))
    if what == 9:
        return np.add(make_array(c), tensor)
    if what == 10:
        tensor[0] = make_value(c, kept)
    return getattr(tensor, c.pick(["shape", "dtype", "ndim", "size", "nbytes", "device", "tolist", "item", "numpy", "address"]))


def mutated(c, text):
    for _ in range(c.pick([0, 0, 0, 1, 2])):
        at = c.below(len(text) + 1)
        text = text[:at] + c.pick(["(", "\n", "é", "\0", "9" * 30, "\"", "}", " "]) + text[at + c.below(4):]
    return text


def make_network(c, kept):
    text = mutated(c, c.pick(SOURCES))
    settings = {c.pick(["width", "act", "x"]): make_value(c, kept)} if c.chance(3) else {}
    if c.chance(8):
        return pdl.load_bytes(text.encode("utf-8", "replace"))
    return pdl.compile(text, **({"settings": settings} if settings else {}))


def use_network(c, kept):
    network = make_network(c, kept)
    for _ in range(c.pick([1, 2, 3])):
        what = c.below(15)
        inputs = {c.pick(["x", "x", "w", "t", "y"]): make_value(c, kept) for _ in range(c.pick([1, 2, 0]))}
        try:
            if what < 5:
                kept.extend(network(**{name: value for name, value in inputs.items()}).values())
            elif what == 5:
                network.run(inputs, outputs=make_value(c, kept))
            elif what == 6:
                network.set_parameter(make_value(c, kept) if c.chance(4) else c.pick(NAMES), make_value(c, kept))
            elif what == 7:
                network.set_state(c.pick(["s", *NAMES]), make_value(c, kept))
            elif what == 8:
                path = pathlib.Path(FOLDER.name) / "n.pdlc"
                network.save(path)
                pdl.load(path)
            elif what == 9:
                pickle.loads(pickle.dumps(network)), copy.deepcopy(network), repr(network), network._repr_html_()
            elif what == 10:
                session = network.session()
                session(**inputs)
                session.reset()
            elif what == 11:
                for step in pdl.train(network, [inputs] * 2, epochs=make_value(c, kept) if c.chance(3) else 1):
                    repr(step.loss)
            elif what == 12:
                network.value(make_value(c, kept) if c.chance(2) else c.pick(NAMES)), network.reset()
            elif what == 13:
                network.plan(**{c.pick(["N", "T", "x", "training"]): make_value(c, kept)}), network.states, network.text()
            else:
                network.profile(inputs, make_value(c, kept))
        except Exception as error:  # a network works after an error
            check(error)


def make_graph(c, kept):
    values = []
    with pdl.Graph() as graph:
        for _ in range(2 + c.below(8)):
            what = c.below(9)
            try:
                if what < 2:
                    values.append(pdl.input(c.pick(NAMES[:5] if c.below(4) else NAMES), c.pick(TYPES)))
                elif what == 2:
                    values.append(pdl.param(c.pick(NAMES), c.pick(TYPES), c.pick([None, "zeros()", pdl.ops.ones(), 3, "x"])))
                elif what == 3:
                    values.append(pdl.state(c.pick(NAMES), c.pick(TYPES)))
                elif what < 6:
                    function = getattr(c.pick([pdl.ops, pdl.layers]), c.pick(["relu", "fc", "matmul", "sum", "concat"])
                                       if c.below(2) else c.pick(OPS), None)
                    if function is not None:
                        positional, named = arguments_of(c, function, kept + values)
                        if values:
                            positional[:1] = [c.pick(values)]
                        made = function(*positional, **named)
                        values.extend(made if isinstance(made, tuple) else [made])
                elif what == 6 and values:
                    values.append(c.pick([operator.add, operator.matmul, operator.truediv, operator.eq])(
                        c.pick(values), make_value(c, kept + values)))
                elif what == 7 and values:
                    pdl.output(c.pick(values), c.pick(NAMES + [None]))
                elif values:
                    c.pick([bool, len, iter, repr, float, hash, operator.neg, pdl.update, pdl.minimize])(
                        c.pick(values), *([make_value(c, kept)] if c.chance(4) else []))
            except Exception as error:
                check(error)
    graph.text()
    network = graph.compile()
    network(**{name: make_array(c) for name in [i for i in network.inputs]})


def call_other(c, kept):
    value = make_value(c, kept)
    what = c.below(12)
    if what == 0:
        return pdl.explain(value)
    if what == 1:
        return pdl.seed(value)
    if what == 2:
        return pdl.layer(mutated(c, SOURCES[-1].split("input")[0]))(make_array(c), **{c.pick(["k", "x", "z"]): value})
    if what == 3:
        return list(pdl.batches({c.pick(NAMES): value, "x": make_array(c)}, make_value(c, kept)))
    if what == 4:
        return pdl.grad(c.pick([lambda x: pdl.ops.sum(x * x), lambda x: value, raises, value]))(make_array(c))
    if what == 5:
        return pdl.trace(c.pick([lambda x: x + 1, lambda x: value, raises, value]))(make_array(c))
    if what == 6:
        return pdl.weights(value)
    if what == 7:
        return pdl.load(value)
    if what == 8:
        return pdl.load_bytes(value)
    if what == 9:
        return pdl.compile(value)
    if what == 10:
        return pdl.declarations(value) if c.chance(2) else pdl.value_and_grad(value)
    return pdl.Graph().output(value, c.pick(NAMES))


CALLS = [call_operator, call_operator, call_operator, use_tensor, make_tensor, use_network, make_graph, call_layer, call_other]

# --- What must hold -----------------------------------------------------------------------------------------------------

# Python says this where code uses a value that it has not looked at.
INTERNAL = ["object is not iterable", "not subscriptable", "not supported between", "unhashable type", "has no len()",
            "object is not callable", "must be str, not", "unsupported operand type", "concatenate str", "sequence item",
            "not enough values to unpack", "too many values to unpack", "bad operand type", "internal error",
            "can't encode", "incompatible function arguments", "expected string or bytes-like", "unhashable",
            "argument of type"]
DESCRIBED = (TypeError, ValueError, IndexError, OverflowError, MemoryError, BufferError, KeyError, ZeroDivisionError)


class Finding(Exception):
    pass


def check(error):
    """Raises Finding if `error` says nothing to the caller."""
    message = str(error)
    if isinstance(error, (Own, Finding)):
        if isinstance(error, Finding):
            raise error
        return
    if isinstance(error, pdl.Error):
        if "internal error" in message or not message:
            raise Finding(f"{type(error).__name__}: {message}") from error
        return
    frames = traceback.extract_tb(error.__traceback__)
    is_inside = frames[-1].filename.startswith(PACKAGE)
    if "this array cannot be read" in message or not is_inside:
        # Python's own functions, called by this file; the tensor's methods are in C++.
        if isinstance(error, (SystemError, RecursionError)) or "internal error" in message:
            raise Finding(f"{type(error).__name__}: {message}") from error
        if "incompatible function arguments" in message:
            raise Finding(f"{type(error).__name__}: {message}") from error
        return
    if not isinstance(error, DESCRIBED) or any(part in message for part in INTERNAL):
        raise Finding(f"{type(error).__name__} at {frames[-1].filename}:{frames[-1].lineno}: {message}") from error


def run(data):
    c = Choices(bytes(data))
    kept = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(4):
            try:
                result = c.pick(CALLS)(c, kept)
                if isinstance(result, (pdl.Tensor, pdl.Ragged, pdl.Sparse)):
                    kept.append(result)
            except Exception as error:
                check(error)
            if c.is_at_end:
                break


def main():
    faulthandler.enable()
    if ATHERIS:
        atheris.Setup(sys.argv, run)
        return atheris.Fuzz()
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--all", action="store_true", help="go on after a finding")
    parser.add_argument("files", nargs="*")
    options = parser.parse_args()
    inputs = [(path, pathlib.Path(path).read_bytes()) for path in options.files]
    if not inputs:
        inputs = [(f"seed {seed}", random.Random(seed).randbytes(96))
                  for seed in range(options.seed, options.seed + options.runs)]
    seen = set()
    for name, data in inputs:
        faulthandler.dump_traceback_later(60, exit=True)
        try:
            run(data)
        except Finding as finding:
            if str(finding)[:80] in seen:
                continue
            seen.add(str(finding)[:80])
            print(f"{name}: {finding}", file=sys.stderr)
            if not options.all:
                traceback.print_exception(finding.__cause__)
                return 1
            stream = io.StringIO()
            traceback.print_exception(finding.__cause__, file=stream)
            print("\n".join(stream.getvalue().splitlines()[-9:]), file=sys.stderr)
        faulthandler.cancel_dump_traceback_later()
    print(f"{len(inputs)} inputs, {len(seen)} findings")
    return 1 if seen else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""export_runtime.py PDL [-v]: networks whose sizes are known only at run time, exported and run by ONNX Runtime.

The outputs must be within 1e-4 of those of `pdl run` (f64: 1e-12; integers must be equal), for several sizes, and so
must those of the model imported again. It also checks the messages for networks that cannot be exported.

Exit status 77 where Python has no onnx or no onnxruntime.
"""

import argparse
import itertools
import subprocess
import sys
import tempfile

try:
    import numpy
    import onnx
    import onnxruntime  # pylint: disable=unused-import
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

from models import floats, run_runtime

# Windows with input size / stride outputs. If ONNX Runtime deviates from ONNX's definition of auto_pad (windows
# that skip elements, or with dilation), the padding is computed.
WINDOWS = {
    "conv2d(x, w, {})": "w",
    "conv2d(x, w, {}, groups=1)": "w",
    "max_pool(x - 100.0, kernel=[{k}], {})": "",
    "avg_pool(x, kernel=[{k}], {})": "",
    "avg_pool(x, kernel=[{k}], count_include_pad=true, {})": "",
    "lp_pool(x, kernel=[{k}], {})": "",
    "im2col(x, kernel=[{k}], {})": "",
}


def windows():
    """(name, text, feeds)"""
    for (call, weights), pad, (k, stride, dilation) in itertools.product(
            WINDOWS.items(), ("same", "same_lower"), ((3, 2, 1), (1, 2, 1), (2, 3, 1), (3, 2, 2), (2, 3, 2))):
        text = "input x: f32[N, 2, H, W]\n"
        if weights:
            text += f"input w: f32[2, 2, {k}, {k}]\n"
        arguments = f'pad="{pad}", stride=[{stride}], dilation=[{dilation}]'
        text += "output y = " + call.format(arguments, k=k) + "\n"
        feeds = []
        for height, width in ((5, 7), (6, 8), (9, 7)):
            feeds.append({"x": floats(2, 2, height, width)})
            if weights:
                feeds[-1]["w"] = floats(2, 2, k, k)
        yield f"{call.format(arguments, k=k)}", text, feeds
    # Padding that is larger than the kernel.
    for call, pad, (k, dilation, stride), (ceil_mode, sizes) in itertools.product(
            (call for call in WINDOWS if "pool" in call), ('"same_lower"', "[2, 3]", "[1, 3, 2, 0]"),
            ((2, 3, 1), (2, 4, 3)), (("false", "H, 8"), ("true", "8, 8"), ("true", "9, 7"))):
        arguments = f"pad={pad}, stride=[{stride}], dilation=[{dilation}], ceil_mode={ceil_mode}"
        text = f"input x: f32[N, 2, {sizes}]\noutput y = " + call.format(arguments, k=k) + "\n"
        feeds = [{"x": floats(2, 2, *((9, 7) if "9" in sizes else (8, 8)))}]
        yield f"{call.format(arguments, k=k)} of {sizes}", text, feeds
    text = "input x: f32[N, 2, H, W]\ninput w: f32[2, 2, 3, 3]\noutput y = conv2d(x, w, pad=[H // 3, W // 2])\n"
    yield "padding of a size", text, [{"x": floats(1, 2, 6, 5), "w": floats(2, 2, 3, 3)}]


def f16s(*sizes):
    return floats(*sizes).astype(numpy.float16)


def f64s(*values):
    return numpy.array(values, numpy.float64)


def i64s(*values):
    return numpy.array(values, numpy.int64)


def one_output(call, *sizes):
    """A network that is a call of an f32 input of these sizes."""
    return call, f"input x: f32[{', '.join(map(str, sizes))}]\noutput y = {call}\n", [{"x": floats(*sizes)}]


def global_pools():
    """ONNX has GlobalMaxPool for floats only, and ONNX Runtime not for f64."""
    for dtype, largest in (("i8", 127), ("u8", 255), ("i32", 2**31 - 1), ("i64", 2**53 + 1), ("f64", 0.1)):
        name = {"i": "int", "u": "uint", "f": "float"}[dtype[0]] + dtype[1:]
        x = numpy.array([1, 2, 3, largest, 5, 0], name).reshape(1, 2, 3)
        for size in (1, 2):
            yield (f"adaptive_max_pool of {dtype} to {size}",
                   f"input x: {dtype}[N, 2, 3]\noutput y = adaptive_max_pool(x, size={size})\n", [{"x": x}])
    yield ("adaptive_avg_pool of f64", "input x: f64[N, 2, A, B]\noutput y = adaptive_avg_pool(x, size=1)\n",
           [{"x": floats(1, 2, 3, 2).astype("float64")}])


def rounded_up_pools():
    """With ceil_mode, one dim needs rounding up, and ONNX counts a window too many in another."""
    for op, arguments, sizes in (
            ("lp_pool", "stride=[2, 2], kernel=[1, 4], p=3.0", (1, 2, 4, 5)),
            ("max_pool", "stride=[4, 4, 2], kernel=[3, 4, 2]", (1, 3, 4, 7, 4)),
            ("max_pool", "stride=[4, 4], kernel=[3, 1]", (1, 1, 6, 2)),
            ("max_pool_index", "stride=[2, 2], kernel=[1, 4]", (1, 2, 4, 5)),
            ("max_pool_index", "stride=[4, 4, 2], kernel=[3, 4, 2]", (1, 3, 4, 7, 4)),
            ("avg_pool", "stride=[3, 3], dilation=[3, 1], kernel=[2, 1], count_include_pad=true", (2, 3, 9, 5)),
            ("avg_pool", "stride=[3, 3], dilation=[3, 1], kernel=[2, 1]", (2, 3, 9, 5))):
        yield one_output(f"{op}(x, {arguments}, ceil_mode=true)", *sizes)


def ended_rows():
    """Rows that end at different steps, with results of dtypes for which ONNX Runtime has no Where."""
    for dtype in ("f16", "bf16", "i8", "u8", "bool", "i64"):
        keep = "not x" if dtype == "bool" else "x + x"
        yield (f"rows of {dtype} that end",
               f"layer step(x: {dtype}[N], h: f32[N], k: {dtype}[N]) {{\n  return h=h + 1.0, k=x, out={keep}\n}}\n"
               f"input x: f32[N, T]\ninput l: i64[N]\n"
               f"v = cast(x > 0.0, to={dtype})\n"
               f"o, h, k = scan(v, init=[zeros([N]), cast(zeros([N]), to={dtype})], lengths=l, body=step())\n"
               "output y = cast(o, to=f32) + cast(h, to=f32)[:, none] * 10.0 + cast(k, to=f32)[:, none] * 100.0\n",
               [{"x": floats(3, 4), "l": i64s(2, 0, 4)}])


def empty_planes():
    """Pools of ONNX Runtime reject them."""
    for op, arguments in itertools.product(("max_pool", "max_pool_index", "avg_pool", "lp_pool"), (
            "kernel=[2], pad=[1]", "kernel=[2], stride=[12], pad=[1], ceil_mode=true")):
        yield one_output(f"{op}(x, {arguments})", 2, 3, 0, 5)
        yield one_output(f"{op}(x, {arguments})", 2, 0, 4, 5)
    for dtype in ("i8", "i64", "bf16"):
        yield (f"max_pool of empty planes of {dtype}", f"input x: f32[2, 3, 0]\n"
               f"output y = cast(max_pool(cast(x, to={dtype}), kernel=[2], pad=[1]), to=f32)\n", [{"x": floats(2, 3, 0)}])


def reflections():
    """ONNX Runtime rejects as many elements as there are."""
    for before, after in (("5, 0", "0, 7"), ("2, -1", "-3, 2"), ("1, 1", "4, -2"), ("-1, 9", "-1, 9")):
        call = f'pad({{}}, before=[{before}], after=[{after}], axes=[0, 2], mode="reflect")'
        for x in ("x", "x > 0.0"):
            y = call.format(x)
            yield y, f"input x: f32[5, N, 3]\noutput y = {y}\n", [{"x": floats(5, 2, 3)}]
    yield one_output('pad(x, before=[3], after=[2], mode="reflect")', 1)


# (name, source, inputs): each with one output, y.
NETWORKS = [
    # A side of an `if` on sizes is computed only for the sizes that it is for.
    ("sizes that are equal", "input x: f32[N, T]\ninput z: f32[N, S]\ny = x\n"
     "if T == S { y = x + z } else { y = x - 1.0 }\noutput y\n",
     [{"x": floats(2, 3), "z": floats(2, 3)}, {"x": floats(1, 1), "z": floats(1, 4)},
      {"x": floats(2, 3), "z": floats(2, 2)}]),
    ("a slice that may be outside", "input x: f32[N, T]\ny = sum(x, axes=[1])\n"
     "if T >= 3 { y = x[:, 2] } else { y = y + 1.0 }\noutput y\n",
     [{"x": floats(1, 2)}, {"x": floats(2, 2)}, {"x": floats(2, 5)}]),
    ("pairs", "input x: f32[N, T]\ny = x[:, 0]\n"
     "if T % 2 == 0 { y = max(reshape(x, [N, 2, T // 2]), axes=[1, 2]) } else { y = y * 2.0 }\noutput y\n",
     [{"x": floats(2, 3)}, {"x": floats(2, 4)}]),
    ("sides with sides", "input x: f32[N, T]\ny = sum(x)\nz = y\nif T >= 3 {\n  h = x[:, none, :2]\n"
     "  if N > 1 {\n    y = y * 3.0 + sum(h)\n    z = z - 1.0\n  } else {\n    y = sum(h)\n  }\n} else {\n"
     "  y = y * 2.0\n  z = sum(x[:, T - 1])\n}\noutput y = y * 10.0 + z\n",
     [{"x": floats(2, 2)}, {"x": floats(2, 4)}, {"x": floats(1, 4)}, {"x": floats(1, 1)}]),
    ("in a loop", "layer step(h: F[N, D], x: F[N, D]) {\n  y = h + x\n"
     "  if N > 2 { y = y + x[2:3] } else { y = y - x }\n  return y, h=y\n}\ninput x: f32[T, N, D]\n"
     "ys, h = scan(x, init=zeros([N, D]), body=step(), axis=0)\noutput y = ys + h\n",
     [{"x": floats(2, 3, 2)}, {"x": floats(2, 1, 2)}]),
    ("values from outside", "input x: f32[N, T]\ninput z: f32[N, T]\ny = x\nif T > 2 { y = z }\noutput y\n",
     [{"x": floats(2, 2), "z": floats(2, 2)}, {"x": floats(2, 4), "z": floats(2, 4)}]),
    # Each is kept by one side of the next.
    ("a chain", "input x: f32[N, T]\ny = sum(x, axes=[1])\n"
     "for i in 1..60 { if T == i { y = y * 0.5 + sum(x[:, i - 1:] * 2.0, axes=[1]) } }\noutput y\n",
     [{"x": floats(2, 1)}, {"x": floats(2, 3)}, {"x": floats(2, 59)}, {"x": floats(2, 61)}]),
    ("a size that data decide", "input x: f32[N]\nk = nonzero(x)\ny = sum(x)\n"
     "if N > 2 { y = y + sum(cast(k, to=f32)) } else { y = y * 2.0 }\noutput y = y + zeros([dims(k)[0]])\n",
     [{"x": floats(2)}, {"x": floats(5)}]),
    # ONNX Runtime joins these transposes with the matmul if its second operand is a vector.
    ("a transposed matrix times a vector", "input x: f32[3, 4]\ninput v: f32[3]\n"
     "output y = (transpose(x) @ v) * 0.5 + transpose(x * 0.5) @ v\n", [{"x": floats(3, 4), "v": floats(3)}]),
    ("corners of a rounded size",
     "input x: f32[1, 1, L]\noutput y = resize(x, scale=1.5, mode=\"linear\", coordinates=\"align_corners\")\n",
     [{"x": floats(1, 1, 5)}, {"x": floats(1, 1, 4)}]),
    ("cubic lines", "input x: f32[N, 2, L]\noutput y = resize(x, scale=2.0, mode=\"cubic\")\n",
     [{"x": floats(2, 2, 5)}]),
    ("cubic lines of a size", "input x: f32[N, 2, L]\n"
     "output y = resize(x, size=[7], mode=\"cubic\", coordinates=\"align_corners\")\n", [{"x": floats(2, 2, 5)}]),
    *((call, f"input x: f32[N, 4]\nb = cast(x, to=bf16)\noutput y = cast({call}, to=f32)\n", [{"x": floats(3, 4)}])
      for call in ["pad(b, before=[1, 0], after=[0, 1])", "pad(b, before=[1, 0], after=[0, 1], mode=\"reflect\")",
                   "tile(b, [2, 1])", "broadcast_to(b[none], [2, N, 4])", "diag(b[0])",
                   "take_along_axis(b, [[0, 1]], axis=1)"]),
    ("results of a loop in bf16", "layer step(more: bool[], v: F[N], n: i64[]) {\n  next = v * 0.5\n"
     "  return more=any(abs(next) > 0.1), v=next, n=n + 1, out=next[0:1]\n}\ninput x: f32[N]\n"
     "o, m, v, n = while_loop(init=[true, cast(x, to=bf16), 0], max_steps=7, body=step())\n"
     "output y = cast(o, to=f32)\n", [{"x": floats(3)}]),
    ("sums in f16", "input x: f16[N, 4]\ninput i: i64[M]\ninput u: f16[M, 4]\n"
     "y = scatter_add(x, i, u) + scatter(x, broadcast_to(i[:, none], [M, 4]), u, axis=0, reduction=\"max\")\n"
     "output y = round(cast(y, to=f32) * 100.0)\n", [{"x": f16s(3, 4), "i": numpy.array([0, 2, 1]), "u": f16s(3, 4)}]),
    ("reversed steps", "input x: f32[N, T, 2]\ninput l: i64[N]\n"
     "output y = sequence_reverse(x) + sequence_reverse(x, l)\n",
     [{"x": floats(3, 4, 2), "l": numpy.array([0, 4, 3])}, {"x": floats(3, 4, 2), "l": numpy.array([-2, 9, 1])},
      {"x": floats(0, 4, 2), "l": numpy.zeros(0, numpy.int64)}]),
    ("both directions", "input x: f32[N, T, 8]\n"
     "output y = bidirectional(x, forward=gru(size=4), backward=gru(size=4))\n",
     [{"x": floats(3, 4, 8)}, {"x": floats(1, 1, 8)}]),
    *ended_rows(),
    *global_pools(),
    *rounded_up_pools(),
    *empty_planes(),
    *reflections(),
    # Windows that have padding only, as the second of 5 and the third of 6 elements.
    *(one_output(f"avg_pool(x, kernel=[3], pad=[9], dilation=[9], ceil_mode={ceil}, count_include_pad={counts})", 2, 1, 5, 6)
      for ceil, counts in itertools.product(("true", "false"), repeat=2)),
    # Windows that have an element each: the padding is less than the dilation.
    *(one_output(f"avg_pool(x, kernel=[3], pad=[2], dilation=[9], ceil_mode={ceil}, count_include_pad={counts})", 2, 1, 17, 18)
      for ceil, counts in itertools.product(("true", "false"), repeat=2)),
    # The attribute epsilon of BatchNormalization is an f32.
    ("normalize of f64", "input x: f64[N, 3]\noutput y = normalize(x, zeros([3], dtype=f64), "
     "constant([1e-6, 1e-9, 1.0], dtype=f64), ones([3], dtype=f64), zeros([3], dtype=f64))\n",
     [{"x": floats(2, 3).astype(numpy.float64)}]),
    ("negative powers of integers", "input x: i64[N]\ninput p: i64[M]\n"
     "a = cast(x, to=i8)\nb = cast(p, to=i8)\n"
     "output y = pow(x[:, none], p) + 1000 * cast(pow(a[:, none], b), to=i64)\n",
     [{"x": i64s(-2, -1, 0, 1, 2, 5), "p": i64s(-3, -2, -1, 0, 1, 2)}]),
    # ONNX Runtime rejects both.
    ("a transposed convolution without elements",
     "input x: f32[N, 3, 1]\ninput w: f32[3, 2, 3]\noutput y = conv_transpose1d(x, w, pad=[2, 1])\n",
     [{"x": floats(2, 3, 1), "w": floats(3, 2, 3)}]),
    ("no classes", "input x: i64[N]\noutput y = one_hot(x, 0)\n", [{"x": i64s(0, 1)}]),
    ("a parameter as an output", "input x: f32[N, 3]\nparam y: f32[3] = ones()\noutput y\noutput z = x * y\n",
     [{"x": floats(2, 3)}]),
    ("a state as an output", "input x: f32[N, 3]\nstate y: f32[3] = ones()\noutput y\noutput z = x * y\n",
     [{"x": floats(2, 3)}]),
    # ONNX Runtime adds these windows to wrong elements if they are not those of an image.
    *(one_output(f"col2im(x, {arguments})", *sizes) for arguments, sizes in (
        ("dilation=[2], kernel=[3], size=[7]", (2, 6, 3)), ("kernel=[3], size=[7]", (2, 6, 5)),
        ("stride=[3], dilation=[2], pad=[1, 3], kernel=[3], size=[8]", (4, 3, 3)),
        ("dilation=[2, 1], kernel=[2, 2], size=[4, 4]", (1, 8, 6)))),
    *(one_output(f'resize(x, {sizes}, mode="{mode}", outside="skip"{more})', 2, 1, 5, 4)
      for sizes, mode, more in itertools.product(("scale=1.5", "size=[3, 7]"), ("nearest", "linear", "cubic"), (
          "", ', coordinates="asymmetric"'))),
    *(one_output(f"resize(x, {arguments}, antialias=true)", 1, 2, 8, 3) for arguments in (
        'scales=[1.5, 1.3], mode="linear"', 'scales=[0.5, 2.0], mode="cubic", outside="skip"',
        'scales=[0.5, 1.3], mode="linear", coordinates="align_corners"',
        'scales=[0.3, 0.4], mode="linear"', 'size=[3, 2], mode="linear", coordinates="align_corners"')),
    ("numbers above 2 ** 53", "input x: i64[N]\n"
     "output y = x + fill([N], value=9007199254740993, dtype=i64) + "
     "range(0, 18014398509481987, step=9007199254740993)\n", [{"x": i64s(0, 1, 2)}]),
    ("a bound of infinities", "input x: f32[N]\noutput y = concat(clip(x, low=-1), clip(x, high=0.5), "
     "clip(x, low=-1, high=0.5))\n", [{"x": numpy.array([numpy.inf, -numpy.inf, numpy.nan, 0.7, -3], "float32")}]),
    ("a bound of integers", "input x: i64[N]\noutput y = concat(clip(x, low=-1), clip(x, high=0.5))\n",
     [{"x": i64s(2**60 + 1, -2**60 - 1, 0)}]),
    ("max_unpool of f16", "input x: f16[1, 2, 2]\ninput i: i64[1, 2, 2]\n"
     "output y = cast(max_unpool(x, i, size=[4]), to=f32)\n",
     [{"x": f16s(1, 2, 2), "i": i64s(0, 3, 1, 2).reshape(1, 2, 2)}]),
    ("gelu of f64", "input x: f64[N]\noutput y = gelu(x, approximate=true)\n",
     [{"x": f64s(-3, -0.7, 0, 1e-3, 0.3, 9)}]),
    *((f"angles of {dtype}", f"input x: {dtype}[N, T, 8]\ninput p: i64[T]\n"
       "output y = rotary_embedding(x, p)\n", [{"x": numpy.ones((1, 3, 8), name), "p": i64s(1, 131071, 10000019)}])
      for dtype, name in (("f32", "float32"), ("f64", "float64"))),
]


# Networks that cannot be exported: (source, message with location).
REJECTED = [
    ("input x: f32[2, 4, 36]\noutput y = col2im(x, dilation=[1, 3, 3], kernel=[2, 1, 2], size=[7, 3, 5])\n",
     "<stdin>:2:12: 'col2im' cannot be exported: Col2Im of ONNX Runtime is wrong for dilated windows of 3 dims "
     "[PDL0901]"),
    ("input x: f32[1, 1, 9]\noutput y = max_pool_index(x, dilation=[2], pad=[2], kernel=[2])\n",
     "<stdin>:2:12: 'max_pool_index' cannot be exported: MaxPool of ONNX Runtime requires 'pad' to be smaller than "
     "'kernel' [PDL0901]"),
    ('input x: f32[N, 1, A, B, C]\noutput y = resize(x, scale=2.0, mode="cubic")\n',
     "<stdin>:2:12: 'resize' cannot be exported: ONNX Runtime has no cubic interpolation of volumes [PDL0901]"),
    ('input x: f32[N, 1, H]\noutput y = resize(x, scale=0.5, mode="linear", outside="skip", antialias=true)\n',
     "<stdin>:2:12: 'resize' cannot be exported: linear interpolation of ONNX Runtime cannot skip elements outside of "
     "x [PDL0901]"),
    ('input x: f32[N, 1, 5]\n'
     'output y = resize(x, scale=0.7, mode="linear", coordinates="align_corners", antialias=true)\n',
     "<stdin>:2:12: 'resize' cannot be exported: the antialiasing filter would have the width for the rounded size "
     "[PDL0901]"),
    ('input x: f32[N, 1, 8, 3]\noutput y = resize(x, scales=[0.5, 1.3], mode="linear", antialias=true)\n',
     "<stdin>:2:12: 'resize' cannot be exported: Resize of ONNX Runtime does not scale dims that keep their sizes "
     "[PDL0901]"),
    ('input x: f32[N, 1, 1, 2]\noutput y = resize(x, scales=[1.5, 1.3], mode="linear")\n',
     "<stdin>:2:12: 'resize' cannot be exported: Resize of ONNX Runtime does not scale dims that keep their sizes "
     "[PDL0901]"),
    # A state whose number of rows is known only at run time.
    ("input x: f32[N, 3]\nstate s: f32[N, 3] = zeros()\noutput y = x + s\n",
     "<stdin>:2:1: the state 's' is f32[N, 3], but the initial states of an ONNX model have fixed sizes; make it an "
     "input, or a computed value [PDL0901]"),
    ("input x: f32[N, 3]\nstate s: f32[N, 3] = zeros()\ny = x + s\nupdate s = y\noutput y\n",
     "<stdin>:2:1: a run changes the state 's', and an ONNX model has no states [PDL0901]"),
]


def differs(got, expected):
    if got.shape != expected.shape:
        return f"the sizes are {got.shape}, expected {expected.shape}"
    if got.dtype != expected.dtype:
        return f"the dtype is {got.dtype}, expected {expected.dtype}"
    if expected.dtype.kind != "f":
        good = numpy.array_equal(got, expected)
    else:
        rtol, atol = (1e-12, 1e-12) if expected.dtype == numpy.float64 else (1e-4, 1e-5)
        good = numpy.allclose(got, expected, rtol=rtol, atol=atol, equal_nan=True)
    return None if good else f"{got.ravel()[:8]}, expected {expected.ravel()[:8]}"


def run_pdl(pdl, path, fed, folder):
    """The output y of a network."""
    command = [pdl, "run", path, "--output", f"y={folder}/y.npy"]
    for name, array in fed.items():
        numpy.save(f"{folder}/{name}.npy", array)
        command += ["--input", f"{name}={folder}/{name}.npy"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.strip())
    return numpy.load(f"{folder}/y.npy")


def judge(pdl, text, feeds, folder):
    """The error, or None."""
    path, exported = f"{folder}/model.pdl", f"{folder}/model.onnx"
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    done = subprocess.run([pdl, "export", path, "-o", exported], capture_output=True, text=True, check=False)
    if done.returncode:
        return done.stderr.strip()
    try:
        onnx.checker.check_model(exported, full_check=True)
    except Exception as error:  # pylint: disable=broad-except
        return str(error)
    for fed in feeds:
        expected = run_pdl(pdl, path, fed, folder)
        try:
            why = differs(run_runtime(exported, fed)[0], expected)
            if not why and (why := differs(run_pdl(pdl, exported, fed, folder), expected)):
                why = f"imported: {why}"
        except Exception as error:  # pylint: disable=broad-except
            why = str(error)
        if why:
            return f"of {fed['x'].shape}: {why}"
    return None


def check_rejection(pdl, text, expected):
    done = subprocess.run([pdl, "export", "-", "-o", "/dev/null"], input=text, capture_output=True, text=True,
                          check=False)
    message = done.stderr.split("\n")[0].replace(": error: ", ": ", 1)
    good = done.returncode == 1 and message == expected
    return None if good else f"{done.returncode}: {done.stderr.strip()}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("pdl")
    parser.add_argument("-v", "--verbose", action="store_true")
    arguments = parser.parse_args()
    outcomes = []
    with tempfile.TemporaryDirectory() as folder:
        for name, text, feeds in [*windows(), *NETWORKS]:
            outcomes.append((name, judge(arguments.pdl, text, feeds, folder)))
    for text, expected in REJECTED:
        outcomes.append((expected, check_rejection(arguments.pdl, text, expected)))
    for name, why in outcomes:
        if why or arguments.verbose:
            print(f"{name}: {why or 'good'}")
    failed = sum(why is not None for _, why in outcomes)
    print(f"{len(outcomes) - failed} good, {failed} bad")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())

"""Loops: scan, segment_scan, while_loop."""

import numpy as np
import torch

from cases import *

LENGTHS = [2, 0, 3]
OFFSETS = np.cumsum([0] + LENGTHS)

LAYERS = """
layer decay(x: F[...], h: F[...]) {
  next = x + 0.5 * h
  return h=next, y=next
}
""", """
layer decay_by(x: F[...], h: F[...], rate: F[...]) {
  next = x + rate * h
  return h=next, y=next
}
""", """
layer keep(x: f32[N], h: f32[N], which: bool[]) {
  return h=where(which, x, h)
}
""", """
layer two(x: F[N], z: F[N], sum: F[N], product: F[N]) {
  total = sum + x
  return sum=total, product=product * z, difference=total - z, both=stack(x, z, axis=-1)
}
""", """
layer row_sum(row: F[T]) {
  total = scan(row, init=0.0, axis=0, body=add())
  return total
}
""", """
layer learned(x: F[N, D], h: F[N, D]) {
  param w: F[D, D] = eye()
  next = x + 0.5 * (h @ w)
  return h=next, y=next
}
""", """
layer held(x: F[N], h: F[N]) {
  rate = 0.5
  if training { rate = 1.0 }
  return h=x + rate * h
}
"""


def decayed(x, h, axis, reverse=False, rate=0.5):
    """All h = x + rate * h along an axis, and the last one."""
    steps = list(np.moveaxis(x, axis, 0))
    every = []
    for step in (reversed(steps) if reverse else steps):
        h = step + rate * h
        every.append(h)
    last = h
    if reverse:
        every.reverse()
    stacked = np.stack(every, axis) if every else np.zeros(x.shape, x.dtype)
    return stacked, last


def by_rows(x, h, lengths, reverse=False):
    """The same for rows of their own lengths; zeros behind the end."""
    y, last = np.zeros_like(x), h.copy()
    for n, length in enumerate(lengths):
        if length:
            y[n, :length], last[n] = decayed(x[n, :length], h[n], 0, reverse)
    return y, last


def torch_weights(kind, size, inputs, seed=0):
    torch.manual_seed(seed)
    module = {"lstm": torch.nn.LSTM, "gru": torch.nn.GRU, "rnn": torch.nn.RNN}[kind](
        inputs, size, batch_first=True).double()
    return module, {name: value.detach().numpy() for name, value in module.named_parameters()}


def short(x):
    return np.round(np.asarray(x, np.float64), 12)


def run_torch(module, x, lengths, states, reverse):
    """Each sequence by itself: values of its steps, and its last states."""
    every, last = [], []
    with torch.no_grad():
        for n, length in enumerate(lengths):
            first = [torch.from_numpy(s[n:n + 1])[None] for s in states]
            part = x[n][:length]
            if length == 0:
                every.append(np.zeros((0, states[0].shape[1])))
                last.append([s[n] for s in states])
                continue
            given = torch.from_numpy(part[::-1].copy() if reverse else part.copy())[None]
            y, final = module(given, tuple(first) if len(first) > 1 else first[0])
            y = y[0].numpy()
            every.append(y[::-1] if reverse else y)
            final = final if len(first) > 1 else (final,)
            last.append([s[0, 0].numpy() for s in final])
    return every, [np.stack(column) for column in zip(*last)]


def recurrent(t, kind, ragged, reverse):
    """The steps of the standard layers, as PyTorch computes them."""
    size, inputs, lengths = 2, 3, [3, 1, 0, 2]
    module, weights = torch_weights(kind, size, inputs)
    weights = {name: short(value) for name, value in weights.items()}
    with torch.no_grad():
        for name, value in module.named_parameters():
            value.copy_(torch.from_numpy(weights[name]))
    random = np.random.default_rng(1)
    x = short(random.uniform(-1, 1, (4, 3, inputs)))
    states = [short(random.uniform(-1, 1, (4, size))) for _ in range(2 if kind == "lstm" else 1)]
    every, last = run_torch(module, x, lengths, states, reverse)
    w_x, w_h = weights["weight_ih_l0"].T, weights["weight_hh_l0"].T
    b_x, b_h = weights["bias_ih_l0"], weights["bias_hh_l0"]
    lines = []
    if ragged:
        value = Ragged([x[n][:length] for n, length in enumerate(lengths)], "f64")
        name, text = value.input(1)
        t.inputs.setdefault(name, text)
        lines.append(f"feed {name} = {spell(value)}")
    else:
        name = "x"
        lines.append(declared("x", x))
        lines.append(declared("lengths", np.array(lengths, np.int64)))
    for label, value in [("w_x", w_x), ("w_h", w_h), ("b_x", b_x), ("b_h", b_h)]:
        lines.append(declared(label, value))
    for label, value in zip("hc", states):
        lines.append(declared(label, value))
    gates = f"{name} @ w_x"
    captured = "[w_h, b_x, b_h]" if kind == "gru" else "[w_h, b_x + b_h]"
    results = ["y", "last"] + (["cell"] if kind == "lstm" else [])
    extra = ("" if ragged else ", lengths=lengths") + (", reverse=true" if reverse else "")
    lines.append(f"{', '.join(results)} = scan({gates}, init=[{', '.join('hc'[:len(states)])}], "
                 f"captured={captured}{extra}, body={kind}_step())")
    if ragged:
        want = Ragged(every, "f64")
    else:
        want = np.zeros((4, 3, size))
        for n, part in enumerate(every):
            want[n, :len(part)] = part
    for label, value in zip(results, [want] + last):
        lines.append(f"expect {label} ~= {spell(value)} tol 1e-12")
    t.raw(f"{kind}, {'ragged' if ragged else 'padded'}{', reversed' if reverse else ''}", *lines)


@operator("scan")
def scan(t):
    for layer in LAYERS:
        t.declare(layer)
    for dtype in NUMBERS:
        x, h = numbers(dtype, (3, 4)), numbers(dtype, (3,), seed=1)
        t.case(dtype, {"xs": x, "init": h}, exact(lambda x, h: h + x.sum(1), x, h), body=Dim("add()"))
        c = numbers(dtype, (3,), seed=2)
        t.case(f"{dtype}, captured", {"xs": x, "init": h, "captured": c},
               exact(lambda x, h, c: h + x.sum(1) + 4 * c, x, h, c), body=Dim("add_n()"))
    x, h = numbers("bool", (3, 4)), numbers("bool", (3,), seed=1)
    t.case("bool", {"xs": x, "init": h}, np.logical_xor.reduce(x, 1) ^ h, body=Dim("logical_xor()"))
    x, h = numbers("f32", (3, 4)), numbers("f32", (3,))
    t.case("bool, captured", {"xs": x, "init": h, "captured": np.array(True)}, x[:, -1],
           body=Dim("keep()"))
    for axis in [0, 1, 2, -1]:
        for reverse in [False, True]:
            x = numbers("f64", (2, 3, 2))
            h = numbers("f64", np.delete(x.shape, axis), seed=1)
            t.case(f"axis {axis}{', reversed' if reverse else ''}", {"xs": x, "init": h},
                   exact(lambda x, h: decayed(x, h, axis, reverse), x, h),
                   axis=axis, reverse=reverse, body=Dim("decay()"))
    x, h = numbers("f32", (3, 4)), numbers("f32", (3,), seed=1)
    t.case("a captured value", {"xs": x, "init": h, "captured": np.array([0.5, 0.25, -1], np.float32)},
           exact(lambda x, h: decayed(x, h, 1, rate=np.array([0.5, 0.25, -1])), x, h),
           body=Dim("decay_by()"))
    x = np.stack([specials("f32"), np.ones(7, np.float32)], 1)
    h = np.zeros(7, np.float32)
    t.case("nan and infinities", {"xs": x, "init": h}, exact(lambda x, h: decayed(x, h, 1), x, h),
           body=Dim("decay()"))
    x, h = np.zeros((3, 0, 2), np.float32), numbers("f32", (3, 2))
    t.case("no steps", {"xs": x, "init": h}, (x, h), body=Dim("decay()"))
    x, h = np.zeros((0, 3, 2), np.float32), np.zeros((0, 2), np.float32)
    t.case("no rows", {"xs": x, "init": h}, (x, h), body=Dim("decay()"))
    x, h = np.zeros((2, 3, 0), np.float32), np.zeros((2, 0), np.float32)
    t.case("nothing in a row", {"xs": x, "init": h}, (x, h), body=Dim("decay()"))
    for reverse in [False, True]:
        name = ", reversed" if reverse else ""
        x, h = numbers("f64", (4, 3, 2)), numbers("f64", (4, 2), seed=1)
        lengths = np.array([2, 0, 3, 1], np.int64)
        y, last = by_rows(x, h, lengths, reverse)
        t.case("rows of their own lengths" + name, {"xs": x, "init": h, "lengths": lengths},
               (y, last), reverse=reverse, body=Dim("decay()"))
        t.case("rows of their own lengths, axis 0" + name,
               {"xs": x.swapaxes(0, 1).copy(), "init": h, "lengths": lengths},
               (y.swapaxes(0, 1).copy(), last), reverse=reverse, axis=0, body=Dim("decay()"))
        cut = Ragged([x[n, :length] for n, length in enumerate(lengths)], "f64")
        want = Ragged([y[n, :length] for n, length in enumerate(lengths)], "f64")
        name_of_input, text = cut.input(1)
        t.inputs.setdefault(name_of_input, text)
        t.raw("ragged rows" + name, f"feed {name_of_input} = {spell(cut)}", declared("h", h),
              f"y, last = scan({name_of_input}, init=h, reverse={attribute(reverse)}, body=decay())",
              f"expect y ~= {spell(want)}", f"expect last ~= {spell(last)}")
    lengths = np.array([-1, 9, 2, 0], np.int64)
    y, last = by_rows(x, h, np.clip(lengths, 0, 3))
    t.case("lengths that cannot be", {"xs": x, "init": h, "lengths": lengths}, (y, last),
           body=Dim("decay()"))
    x = np.zeros((0, 3, 2), np.float32)
    t.case("lengths of no rows", {"xs": x, "init": np.zeros((0, 2), np.float32),
                                  "lengths": np.zeros(0, np.int64)},
           (x, np.zeros((0, 2), np.float32)), body=Dim("decay()"))

    x, z = numbers("f64", (2, 3)), numbers("f64", (2, 3), seed=1)
    s, p = numbers("f64", (2,), seed=2), numbers("f64", (2,), seed=3)
    total = s[:, None] + np.cumsum(x, 1)
    t.raw("two sequences, two carried values", declared("x", x), declared("z", z),
          declared("s", s), declared("p", p),
          "difference, both, sum, product = scan(x, z, init=[s, p], body=two())",
          f"expect difference ~= {spell(total - z)}",
          f"expect both ~= {spell(np.stack([x, z], -1))}",
          f"expect sum ~= {spell(total[:, -1])}",
          f"expect product ~= {spell(p * z.prod(1))}")
    x = numbers("f64", (3, 4))
    t.raw("a loop in a loop", declared("x", x), "sums = scan(x, axis=0, body=row_sum())",
          f"expect sums ~= {spell(x.sum(1))}")
    x, h = numbers("f64", (2, 3, 2)), numbers("f64", (2, 2), seed=1)
    y, last = decayed(x, h, 1)
    t.raw("a parameter of the body", declared("x", x), declared("h", h),
          "y, last = scan(x, init=h, body=learned())", "expect y.body.w ~= [[1.0, 0.0], [0.0, 1.0]]",
          f"expect y ~= {spell(y)}", f"expect last ~= {spell(last)}")
    x, h = numbers("f32", (2, 3)), numbers("f32", (2,), seed=1)
    t.raw("a condition on training", declared("x", x), declared("h", h),
          "last = scan(x, init=h, body=held())", f"expect last ~= {spell(decayed(x, h, 1)[1])}",
          "feed training = true", "last = scan(x, init=h, body=held())", f"expect last ~= {spell(decayed(x, h, 1, rate=1)[1])}")
    t.raw("numbers for what is carried", "y = scan([1.0, 2.0, 4.0], init=0.0, axis=0, body=add())",
          "expect y == 7")
    for kind in ["lstm", "gru", "rnn"]:
        for ragged in [False, True]:
            for reverse in [False, True]:
                recurrent(t, kind, ragged, reverse)
    t.refused("a body of another type", "a carried value has type f32[2], but the body returns "
              "f32[2, 2] as its value 1",
              "scan(zeros([2, 3, 2]), init=zeros([2]), body=add())")
    t.refused("nothing to go over", "requires at least one sequence to iterate over",
              "scan(init=zeros([2]), body=add())")
    t.refused("other counts of steps", "numbers of steps differ: 3 and 4",
              "scan(zeros([2, 3]), zeros([2, 4]), body=add())")


@operator("segment_scan")
def segment_scan(t):
    for layer in LAYERS[:3]:
        t.declare(layer)
    offsets = OFFSETS.astype(np.int64)

    def rows(x, h, reverse=False):
        y, last = np.zeros_like(x), h.copy()
        for n, (a, b) in enumerate(zip(OFFSETS, OFFSETS[1:])):
            if b > a:
                y[a:b], last[n] = decayed(x[a:b], h[n], 0, reverse)
        return y, last

    def sums(x, h):
        return np.stack([h[n] + x[a:b].sum(0) for n, (a, b) in enumerate(zip(OFFSETS, OFFSETS[1:]))])

    for dtype in NUMBERS:
        x, h, c = numbers(dtype, (5,)), numbers(dtype, (3,), seed=1), numbers(dtype, (1,), seed=2)
        t.case(dtype, {"xs": x, "init": h, "offsets": offsets}, exact(sums, x, h), body=Dim("add()"))
        t.case(f"{dtype}, captured", {"xs": x, "init": h, "captured": c, "offsets": offsets},
               exact(lambda x, h, c: sums(x + c, h), x, h, c), body=Dim("add_n()"))
    x, h = numbers("bool", (5,)), numbers("bool", (3,), seed=1)
    want = np.array([np.logical_xor.reduce(x[a:b]) ^ h[n]
                     for n, (a, b) in enumerate(zip(OFFSETS, OFFSETS[1:]))])
    t.case("bool", {"xs": x, "init": h, "offsets": offsets}, want, body=Dim("logical_xor()"))
    x, h = numbers("f32", (5,)), numbers("f32", (3,))
    t.case("bool, captured",
           {"xs": x, "init": h, "captured": np.array(True), "offsets": offsets},
           np.array([x[1], h[1], x[4]]), body=Dim("keep()"))
    for reverse in [False, True]:
        x, h = numbers("f64", (5, 2)), numbers("f64", (3, 2), seed=1)
        t.case("every step" + (", reversed" if reverse else ""),
               {"xs": x, "init": h, "offsets": offsets}, rows(x, h, reverse), reverse=reverse,
               body=Dim("decay()"))
    x = array([[np.nan], [1], [np.inf], [2], [-np.inf]], "f32")
    h = np.zeros((3, 1), np.float32)
    t.case("nan and infinities", {"xs": x, "init": h, "offsets": offsets},
           exact(lambda x, h: rows(x, h), x, h), body=Dim("decay()"))
    x, h = np.zeros((0, 2), np.float32), numbers("f32", (3, 2))
    t.case("no rows", {"xs": x, "init": h, "offsets": np.zeros(4, np.int64)}, (x, h),
           body=Dim("decay()"))
    x, h = np.zeros((0, 2), np.float32), np.zeros((0, 2), np.float32)
    t.case("no segments", {"xs": x, "init": h, "offsets": np.zeros(1, np.int64)}, (x, h),
           body=Dim("decay()"))
    x, h = numbers("f64", (5, 2)), numbers("f64", (3, 2), seed=1)
    y, last = np.zeros_like(x), h.copy()
    y[3:5], last[2] = decayed(x[3:5], h[2], 0)
    t.case("offsets that cannot be",
           {"xs": x, "init": h, "offsets": np.array([9, 4, 3, 7], np.int64)}, (y, last),
           body=Dim("decay()"))
    t.refused("lengths in place of offsets", "'offsets' must be i64[N + 1]",
              "segment_scan(zeros([5]), init=zeros([3]), offsets=[[0, 5]], body=add())")


def doubled(x, bound, steps):
    """The steps of `double`, with zeros after the end, and the last value."""
    x, every = x.copy(), np.zeros((steps,) + x.shape, x.dtype)
    for i in range(steps):
        x = x + x
        every[i] = x
        if not (x.astype(np.float64) < bound).all():
            break
    return every, x


@operator("while_loop")
def while_loop(t):
    t.declare("""
layer double(more: bool[], x: F[...], bound: F[]) {
  next = x + x
  return more=all(next < bound), x=next, y=next
}
""")
    t.declare("""
layer count(more: bool[], i: i64[]) {
  return more=i < 2, i=i + 1
}
""")
    t.declare("""
layer keep_all(more: bool[], x: f32[N, M]) {
  return more=more, x=x, y=x
}
""")
    t.declare("""
layer spread(more: bool[], x: bool[N], which: bool[]) {
  next = x or which
  return more=not all(next), x=next
}
""")
    for dtype in INTS:
        t.declare(f"""
layer double_{dtype}(more: bool[], x: {dtype}[...], bound: {dtype}[]) {{
  next = x + x
  return more=all(next < bound), x=next, y=next
}}
""")
    t.raw("bool", "x: bool[3] = [true, false, true]",
          "more, last = while_loop(init=[true, x], captured=true, max_steps=5, body=spread())",
          "expect last", "expect not more")
    for dtype in NUMBERS:
        x = array([[1, 0.5], [0.25, 2]] if dtype in FLOATS else [[1, 0], [3, 2]], dtype)
        every, last = doubled(x, 12, 5)
        body = "double()" if dtype in FLOATS else f"double_{dtype}()"
        t.raw(dtype, declared("x", x), f"bound: {dtype}[] = 12",
              f"y, more, last = while_loop(init=[true, x], captured=bound, max_steps=5, body={body})",
              f"expect y ~= {spell(every)}", f"expect last ~= {spell(last)}", "expect not more")
    x = np.array([1, np.nan, np.inf, -np.inf], np.float32)
    t.raw("nan and infinities", declared("x", x), "bound: f32[] = 12",
          "y, more, last = while_loop(init=[true, x], captured=bound, max_steps=2, body=double())",
          f"expect y ~= {spell(np.stack([x + x, 0 * np.ones(4, np.float32)]))}",
          f"expect last ~= {spell(x + x)}", "expect not more")
    t.raw("only carried values", "more, i = while_loop(init=[true, 0], max_steps=9, body=count())",
          "expect i == 3", "expect not more")
    t.raw("no steps", "more, i = while_loop(init=[false, 5], max_steps=9, body=count())",
          "expect i == 5", "expect not more")
    t.raw("empty", "y, more, last = while_loop(init=[true, zeros([2, 0])], max_steps=3, body=keep_all())",
          "expect more", "expect last ~= zeros([2, 0])", "expect y ~= zeros([3, 2, 0])")
    t.refused("no condition", "is the condition, which must be bool[]",
              "while_loop(init=1.0, max_steps=3, body=cos())")


@operator("assert_true")
def assert_true(t):
    t.case("bool", [np.array([True, True])], np.array(True), message="never")
    t.case("empty", [np.zeros((0,), bool)], np.array(True))
    t.case("a size of 0", [np.zeros((2, 0), bool)], np.array(True))


@operator("check_index")
def check_index(t):
    for dtype in ["i32", "i64"]:
        x = array([[2, 0], [1, 2]], dtype)
        t.case(dtype, [x], x, below=Dim("3"))
    t.case("empty", [np.zeros((0,), np.int64)], np.zeros((0,), np.int64), below=Dim("3"))
    t.case("a size of 0", [np.zeros((2, 0), np.int64)], np.zeros((2, 0), np.int64), below=Dim("0"))

"""Constants, random numbers, and conditions of a plan."""

import numpy as np

from cases import *


def filled(t, value):
    for dtype in ALL:
        t.case(dtype, [], array(np.full((2, 3), value), dtype), dims=[2, 3], dtype=Dim(dtype))
    t.case("f32 where nothing is said", [], np.full((2,), value, np.float32), dims=[2])
    t.case("a scalar", [], np.full((), value, np.float32), dims=[])
    t.case("empty", [], np.zeros(0, np.float32), dims=[0])
    t.case("a size of 0", [], np.zeros((0, 3), np.float32), dims=[0, 3])


@operator("zeros")
def zeros(t):
    filled(t, 0)


@operator("ones")
def ones(t):
    filled(t, 1)


@operator("fill")
def fill(t):
    for dtype in ALL:
        value = True if dtype == "bool" else 2.5 if is_float(dtype) else 7
        t.case(dtype, [], array(np.full((2, 3), value), dtype), dims=[2, 3], value=value,
               dtype=Dim(dtype))
    for value in [np.nan, np.inf, -np.inf]:
        t.case(literal(np.float64(value)), [], np.full(2, value, np.float32), dims=[2],
               value=float(value))
    t.case("empty", [], np.zeros(0, np.float32), dims=[0], value=1.0)
    t.case("a size of 0", [], np.zeros((0, 3), np.float32), dims=[0, 3], value=1.0)


@operator("constant")
def constant(t):
    for dtype in ALL:
        x = numbers(dtype, (2, 2))
        t.case(dtype, [], x, value=Dim(literal(x)), dtype=Dim(dtype))
    t.case("integers are i64", [], array([1, -2], "i64"), value=[1, -2])
    t.case("numbers with a point are f32", [], array([1, 2.5], "f32"), value=[1.0, 2.5])
    t.case("special values", [], specials("f32"), value=Dim(literal(specials("f32"))))
    t.case("empty", [], np.zeros(0, np.float32), value=[], dtype=Dim("f32"))
    t.case("rows without elements", [], np.zeros((2, 0), np.float32), value=[[], []],
           dtype=Dim("f32"))


@operator("range")
def range_cases(t):
    for dtype in NUMBERS:
        t.case(dtype, [], array(np.arange(2, 7), dtype), start=2, stop=7, dtype=Dim(dtype))
    for start, stop, step in [(0, 10, 3), (0, 9, 3), (5, 0, -2), (-3, 3, 2), (3, -3, -3)]:
        t.case(f"{start} to {stop} by {step}", [], np.arange(start, stop, step), start=start,
               stop=stop, step=step)
    t.raw("by position", "y: i64[3] = range(1, 8, 3)", "expect y == [1, 4, 7]")
    t.case("nothing", [], np.arange(0), start=3, stop=3)
    for start, stop, step in [(3, 1, 1), (0, -3, 1), (1, 3, -2), (-5, -6, 4)]:
        t.case(f"nothing from {start} to {stop} by {step}", [], np.arange(start, stop, step),
               start=start, stop=stop, step=step)


@operator("linspace")
def linspace(t):
    for dtype in FLOATS:
        t.case(dtype, [], array(np.linspace(-1, 2, 7), dtype), start=-1.0, stop=2.0, count=7,
               dtype=Dim(dtype))
    t.case("downwards", [], np.linspace(3, -3, 4, dtype=np.float32), start=3.0, stop=-3.0, count=4)
    t.case("one", [], np.linspace(3, 5, 1, dtype=np.float32), start=3.0, stop=5.0, count=1)
    t.case("none", [], np.zeros(0, np.float32), start=3.0, stop=5.0, count=0)


@operator("size")
def size(t):
    for dtype in NUMBERS:
        t.case(dtype, [], array(24, dtype), dims=[2, 3, 4], dtype=Dim(dtype))
    t.case("of a scalar", [], np.int64(1), dims=[])
    t.case("of nothing", [], np.int64(0), dims=[3, 0])
    t.raw("of symbols in a call", "x = zeros([3, 5])", "n: i64[] = size([dims(x)[0]])",
          "expect n == 3")


def random(t, call, mean, std, low=None, high=None, **other):
    """`call(dims, dtype)`: the text; `mean` and `std` of the numbers, and their ends."""
    for dtype in FLOATS:
        # The mean of 4000 numbers is at least this accurate in all but one of 10^6 samples.
        tolerance = 5 * std / 4000**0.5 + {"bf16": 0.01, "f16": 1e-3}.get(dtype, 0) * (
            abs(mean) + std)
        lines = [f"x: {dtype}[50, 80] = {call('[50, 80]', dtype)}", "wide = cast(x, to=f64)",
                 f"expect mean(wide) ~= {literal(np.float64(mean))} tol "
                 f"{literal(np.float64(float(f'{tolerance:.2g}')))}",
                 "away = wide - mean(wide)",
                 f"expect sqrt(mean(away * away)) / {literal(np.float64(std))} ~= 1.0 tol 0.08"]
        if low is not None:
            lines.append(f"expect x >= {literal(np.float64(low))}")
        if high is not None:
            lines.append(f"expect x <= {literal(np.float64(high))}")
        t.raw(dtype, *lines)
    t.raw("two calls differ", f"x = {call('[100]', 'f32')}", f"y = {call('[100]', 'f32')}",
          "expect sum(cast(x == y, to=i64)) < 5")
    one_stream(t, call("[100]", "f32"))
    t.raw("neighbours do not hang together", f"x = {call('[4000]', 'f64')}",
          f"a = (x - mean(x)) / {literal(np.float64(std))}",
          "expect mean(a[1:] * a[:-1]) ~= 0.0 tol 0.08")
    t.raw("empty", f"x = {call('[0]', 'f32')}", "expect x ~= zeros([0])")
    t.raw("a size of 0", f"x = {call('[0, 3]', 'f32')}", "expect x ~= zeros([0, 3])")
    for name, lines in other.items():
        t.raw(name.replace("_", " "), *lines)


@operator("uniform")
def uniform(t):
    random(t, lambda dims, dtype: f"uniform({dims}, low=-1.0, high=3.0, dtype={dtype})", 1,
           4 / 12**0.5, -1, 3)
    t.raw("in [0, 1) where nothing is said", "x = uniform([1000])", "expect x >= 0.0",
          "expect x < 1.0", "expect mean(x) ~= 0.5 tol 0.05")


@operator("normal")
def normal(t):
    random(t, lambda dims, dtype: f"normal({dims}, mean=0.5, std=2.0, dtype={dtype})", 0.5, 2)
    t.raw("mean 0, deviation 1 where nothing is said", "x = normal([4000])",
          "expect mean(x) ~= 0.0 tol 0.08", "expect mean(x * x) ~= 1.0 tol 0.12")
    t.raw("a third of the numbers is further away than the deviation", "x = normal([4000])",
          "expect mean(cast(abs(x) > 1.0, to=f32)) ~= 0.3173 tol 0.04",
          "expect mean(cast(abs(x) > 2.0, to=f32)) ~= 0.0455 tol 0.02")


@operator("truncated_normal")
def truncated_normal(t):
    from scipy import stats
    cut = stats.truncnorm(-1, 1.5)
    random(t, lambda dims, dtype: f"truncated_normal({dims}, mean=0.5, std=2.0, low=-1.0, "
           f"high=1.5, dtype={dtype})", 0.5 + 2 * cut.mean(), 2 * cut.std(), -1.5, 3.5)
    t.raw("within two deviations where nothing is said", "x = truncated_normal([1000])",
          "expect abs(x) <= 2.0", "expect mean(x) ~= 0.0 tol 0.15")


def initializer(t, name, std_of, is_uniform, modes):
    def spread(dims, fan_std):
        end = 3**0.5 * fan_std
        lines = [f"x = {dims}", f"expect sqrt(mean(x * x)) / {literal(np.float64(fan_std))} "
                 "~= 1.0 tol 0.08", "expect mean(x) ~= 0.0 tol "
                 f"{literal(np.float64(float(f'{5 * fan_std / 4000**0.5:.2g}')))}"]
        if is_uniform:
            lines += [f"expect abs(x) <= {literal(np.float64(end * 1.0001))}"]
        return lines

    for layout, shape, fan_in, fan_out in [
            ("auto", (50, 80), 50, 80), ("in_out", (5, 40, 20), 40, 20),
            ("out_in", (40, 20, 5), 100, 200), ("auto", (40, 20, 5), 100, 200),
            ("out_in", (50, 80), 80, 50)]:
        for mode in modes:
            given = f", mode=\"{mode}\"" if mode else ""
            text = f"{name}({list(shape)}, layout=\"{layout}\"{given})"
            t.raw(f"{layout} of {list(shape)}" + (f", {mode}" if mode else ""),
                  *spread(text, std_of(fan_in, fan_out, mode)))
    for dtype in FLOATS:
        t.raw(dtype, f"x: {dtype}[50, 80] = {name}([50, 80], gain=3.0, dtype={dtype})",
              "wide = cast(x, to=f64)",
              "expect sqrt(mean(wide * wide)) ~= "
              f"{literal(np.float64(float(f'{3 / std_of.gain * std_of(50, 80, modes[0]):.6g}')))} "
              "tol 0.04")
    one_stream(t, f"{name}([3, 4])")
    t.raw("empty", f"x = {name}([0, 3])", "expect x ~= zeros([0, 3])")


def declare(name, formula, gain, is_uniform, modes=("",)):
    formula.gain = gain

    @operator(name)
    def cases(t):
        initializer(t, name, formula, is_uniform, modes)


def glorot(fan_in, fan_out, mode):
    return (2 / (fan_in + fan_out))**0.5


def he(fan_in, fan_out, mode):
    return (2 / (fan_out if mode == "fan_out" else fan_in))**0.5


declare("xavier_uniform", glorot, 1, True)
declare("xavier_normal", glorot, 1, False)
declare("he_uniform", he, 2**0.5, True, ("fan_in", "fan_out"))
declare("he_normal", he, 2**0.5, False, ("fan_in", "fan_out"))


@operator("training")
def training(t):
    t.raw("not where nothing is said", "expect not training()")
    t.raw("where it is fed", "feed training = true", "expect training()")


@operator("plan_select")
def plan_select(t):
    for dtype in ALL:
        x, y = numbers(dtype, (2, 3)), numbers(dtype, (2, 3), seed=1)
        t.raw(dtype, declared("x", x), declared("y", y),
              f"r: {type_of(y)} = plan_select(training(), x, y)", f"expect r ~= {literal(y)}")
    x, y = specials("f32"), specials("f32")[::-1].copy()
    t.raw("while training", "feed training = true", declared("x", x), declared("y", y),
          "r = plan_select(training(), x, y)", f"expect r ~= {literal(x)}")
    t.raw("empty", "r = plan_select(training(), zeros([0]), ones([0]))", "expect r ~= zeros([0])")
    t.raw("a size of 0", "r = plan_select(training(), zeros([2, 0]), ones([2, 0]))",
          "expect r ~= zeros([2, 0])")

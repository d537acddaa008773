"""What reads each axis in another way: pad, flip, roll, tile; and stack, squeeze, unsqueeze."""

import numpy as np

from cases import *


def padded(x, before, after, axes=None, mode="constant", value=0):
    """numpy.pad, after what negative counts take off."""
    axes = list(range(x.ndim)) if axes is None else [axis % x.ndim for axis in axes]
    widths = [(0, 0)] * x.ndim
    for axis, front, back in zip(axes, before, after):
        take = [slice(None)] * x.ndim
        take[axis] = slice(max(-front, 0), x.shape[axis] - max(-back, 0))
        x = x[tuple(take)]
        widths[axis] = (max(front, 0), max(back, 0))
    settings = {"constant_values": value} if mode == "constant" else {}
    return np.pad(x, widths, mode=mode, **settings)


@operator("pad")
def pad(t):
    for dtype in ALL:
        x = numbers(dtype, (2, 3))
        t.case(dtype, x, padded(x, [1, 0], [0, 2]), before=[1, 0], after=[0, 2])
    x = specials("f32")
    for mode in ["constant", "reflect", "edge", "wrap"]:
        t.case(f"{mode}: nan and infinities", x, padded(x, [2], [3], mode=mode), before=[2],
               after=[3], mode=mode)
        y = numbers("i32", (2, 3, 4))
        t.case(f"{mode}: axes", y, padded(y, [1, 2], [0, 1], [2, 0], mode), before=[1, 2],
               after=[0, 1], axes=[2, 0], mode=mode)
        t.case(f"{mode}: more than there is", x[3:6], padded(x[3:6], [7], [8], mode=mode),
               before=[7], after=[8], mode=mode)
        t.case(f"{mode}: one element", x[5:6], padded(x[5:6], [2], [1], mode=mode), before=[2],
               after=[1], mode=mode)
        y = numbers("f64", (4, 5))
        t.case(f"{mode}: taken off and added", y, padded(y, [-1, 2], [2, -3], mode=mode),
               before=[-1, 2], after=[2, -3], mode=mode)
    t.case("nothing is added", x, x, before=[0], after=[0])
    t.case("only taken off", numbers("i64", (3, 4)), numbers("i64", (3, 4))[1:, :2],
           before=[-1, 0], after=[0, -2])
    t.case("all is taken off", numbers("f32", (3,)), np.zeros(0, np.float32), before=[-2],
           after=[-1])
    for dtype, value in [("f32", np.inf), ("f16", 0.5), ("i8", -128), ("u8", 255), ("bool", 1)]:
        x = numbers(dtype, (2,))
        t.case(f"{dtype}: a value", x, padded(x, [1], [1], value=value), before=[1], after=[1],
               value=float(value))
    t.case("an empty tensor", numbers("f32", (0,)), np.zeros(3, np.float32), before=[1], after=[2])
    t.case("an axis of size 0", numbers("f32", (2, 0)), np.zeros((3, 2), np.float32),
           before=[0, 1], after=[1, 1])
    t.case("an axis of size 0 stays", numbers("f32", (2, 0)), np.zeros((5, 0), np.float32),
           before=[1], after=[2], axes=[0], mode="edge")
    t.refused("nothing to pad with", "no elements to pad with",
              'pad(zeros([0]), before=[1], after=[0], mode="edge")')
    t.refused("too much is taken off", "more elements are removed than axis 0 of f32[3] has",
              "pad(zeros([3]), before=[-2], after=[-2])")
    t.refused("a value that the dtype has not", "i8 cannot represent the value 128",
              "pad(x, before=[1], after=[0], value=128.0)", "x: i8[1] = [1]")
    t.refused("too few counts", "'after' must have one entry for each of the 2 axes, got 1",
              "pad(zeros([2, 2]), before=[1, 1], after=[1])")
    t.refused("an axis twice", "axis 1 is named twice",
              "pad(zeros([2, 2]), before=[1, 1], after=[1, 1], axes=[1, -1])")
    t.raw("sizes are symbols' values", "x: f32[2, 3] = [[1, 2, 3], [4, 5, 6]]",
          "y = pad(x, before=[dims(x)[0], 0], after=[0, -dims(x)[0]])",
          "expect y ~= [[0], [0], [1], [4]]")


@operator("flip")
def flip(t):
    for dtype in ALL:
        x = numbers(dtype, (2, 3))
        t.case(dtype, x, np.flip(x))
    x = numbers("f64", (2, 3, 4))
    for axes in [[0], [1], [-1], [0, 2], [-2, 0], []]:
        t.case(f"axes {axes}", x, np.flip(x, tuple(axes)), axes=axes)
    t.case("nan and infinities", specials(), np.flip(specials()), axes=[0])
    t.case("many", np.arange(100, dtype=np.int32), np.arange(100, dtype=np.int32)[::-1])
    t.case("an empty tensor", numbers("f32", (0,)), numbers("f32", (0,)))
    t.case("an axis of size 0", numbers("f32", (2, 0)), numbers("f32", (2, 0)), axes=[0])
    t.case("a scalar", array(2.5, "f32"), array(2.5, "f32"))
    t.refused("no such axis", "axis 2 is outside -2..=1", "flip(zeros([2, 2]), axes=[2])")


@operator("roll")
def roll(t):
    for dtype in ALL:
        x = numbers(dtype, (2, 3))
        t.case(dtype, x, np.roll(x, 1), shifts=[1])
    x = numbers("f64", (2, 3, 4))
    for shifts, axes in [([1], [0]), ([-1], [1]), ([5], [-1]), ([1, 2], [0, 2]), ([0], [1]),
                         ([-7, 9], [-1, -2]), ([], [])]:
        t.case(f"by {shifts} along {axes}", x, np.roll(x, shifts, axes) if axes else x,
               shifts=shifts, axes=axes)
    for shift in [-3, 0, 24, 1000]:
        t.case(f"all by {shift}", x, np.roll(x, shift), shifts=[shift])
    t.case("nan and infinities", specials(), np.roll(specials(), 2), shifts=[2], axes=[0])
    t.case("an empty tensor", numbers("f32", (0,)), numbers("f32", (0,)), shifts=[1])
    t.case("an axis of size 0", numbers("f32", (2, 0)), numbers("f32", (2, 0)), shifts=[1, 1],
           axes=[0, 1])
    t.refused("shifts without axes", "must have one entry if 'axes' is not given, got 2",
              "roll(zeros([2, 2]), [1, 1])")
    t.refused("too few shifts", "'shifts' must have one entry for each of the 2 axes, got 1",
              "roll(zeros([2, 2]), [1], axes=[0, 1])")


@operator("tile")
def tile(t):
    for dtype in ALL:
        x = numbers(dtype, (2, 3))
        t.case(dtype, x, np.tile(x, (2, 2)), repeats=[2, 2])
    x = numbers("f64", (2, 3))
    for repeats in [[1, 1], [3, 1], [1, 3], [2], [2, 1, 3], [0, 2], []]:
        t.case(f"repeats {repeats}", x, np.tile(x, repeats), repeats=repeats)
    t.case("nan and infinities", specials(), np.tile(specials(), 2), repeats=[2])
    t.case("one element", array([2.5], "f32"), np.tile(array([2.5], "f32"), 40), repeats=[40])
    t.case("a scalar", array(2, "i32"), np.tile(array(2, "i32"), (2, 2)), repeats=[2, 2])
    t.case("an empty tensor", numbers("f32", (0,)), numbers("f32", (0,)), repeats=[2])
    t.case("an axis of size 0", numbers("f32", (2, 0)), numbers("f32", (4, 0)), repeats=[2, 3])
    t.refused("a negative repeat", "a size must not be negative, got -1", "tile(zeros([2]), [-1])")


@operator("stack")
def stack(t):
    for dtype in ALL:
        x, y = numbers(dtype, (2, 3)), numbers(dtype, (2, 3), seed=1)
        t.case(dtype, [x, y], np.stack([x, y]))
    parts = [numbers("f64", (2, 3), seed=seed) for seed in range(3)]
    for axis in [1, 2, -1, -2, -3]:
        t.case(f"axis {axis}", parts, np.stack(parts, axis), axis=axis)
    t.case("one", parts[:1], np.stack(parts[:1], 1), axis=1)
    t.case("scalars", [array(1, "i64"), array(2, "i64")], array([1, 2], "i64"))
    t.case("nan and infinities", [specials(), specials()], np.stack([specials()] * 2, 1), axis=1)
    empty = numbers("f32", (0,))
    t.case("empty tensors", [empty, empty], np.stack([empty, empty]))
    empty = numbers("f32", (2, 0))
    t.case("an axis of size 0", [empty, empty], np.stack([empty, empty], 1), axis=1)
    t.refused("no such axis", "axis 2 is outside -2..=1", "stack(zeros([2]), zeros([2]), axis=2)")
    t.refused("sizes differ", "sizes differ: 2 and 3", "stack(zeros([2]), zeros([3]))")
    t.refused("ranks differ", "ranks differ: 1 and 2", "stack(zeros([2]), zeros([2, 1]))")
    t.refused("dtypes differ", "dtypes differ: f32 and i64", "stack(zeros([2]), x)",
              "x: i64[2] = [1, 2]")


@operator("squeeze")
def squeeze(t):
    for dtype in ALL:
        x = numbers(dtype, (1, 3, 1))
        t.case(dtype, x, np.squeeze(x))
    x = numbers("f64", (1, 3, 1, 2))
    for axes in [[0], [2], [-2], [0, 2], []]:
        t.case(f"axes {axes}", x, np.squeeze(x, tuple(axes)), axes=axes)
    t.case("nan and infinities", specials().reshape(7, 1), specials())
    t.case("nothing to drop", specials(), specials())
    t.case("an empty tensor", numbers("f32", (0, 1)), numbers("f32", (0,)))
    t.case("an axis of size 0", numbers("f32", (1, 0, 2)), numbers("f32", (0, 2)), axes=[0])
    t.refused("an axis of another size", "axis 0 of f32[2, 1] has size 2, not 1",
              "squeeze(zeros([2, 1]), [0])")


@operator("unsqueeze")
def unsqueeze(t):
    for dtype in ALL:
        x = numbers(dtype, (2, 3))
        t.case(dtype, x, np.expand_dims(x, 1), axes=[1])
    x = numbers("f64", (2, 3))
    for axes in [[0], [2], [-1], [0, 1], [3, 0], [-1, -4]]:
        t.case(f"axes {axes}", x, np.expand_dims(x, tuple(axes)), axes=axes)
    t.case("nan and infinities", specials(), specials().reshape(7, 1), axes=[-1])
    t.case("a scalar", array(2, "i32"), array([[2]], "i32"), axes=[0, 1])
    t.case("an empty tensor", numbers("f32", (0,)), numbers("f32", (1, 0)), axes=[0])
    t.case("an axis of size 0", numbers("f32", (2, 0)), numbers("f32", (2, 1, 0)), axes=[1])
    t.refused("no such axis", "axis 3 is outside -3..=2", "unsqueeze(zeros([2, 2]), [3])")
    t.refused("an axis twice", "axis 0 is named twice", "unsqueeze(zeros([2]), [0, -3])")

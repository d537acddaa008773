"""Shapes, slices, indexing and casts: elements that move."""

import numpy as np

from cases import *



def moves(t, shape, call):
    """Every dtype, special values: `call(x)` gives the result and the attributes."""
    for dtype in ALL:
        x = numbers(dtype, shape)
        want, attributes = call(x)
        t.case(dtype, x, want, **attributes)
    for dtype in FLOATS:
        x = np.resize(specials(dtype), shape)
        want, attributes = call(x)
        t.case(f"{dtype}: nan and infinities", x, want, **attributes)


@operator("reshape")
def reshape(t):
    moves(t, (2, 6), lambda x: (x.reshape(3, 4), {"dims": [3, 4]}))
    x = numbers("f32", (6,))
    t.case("more axes", x, x.reshape(1, 2, 1, 3), dims=[1, 2, 1, 3])
    t.case("to a scalar", x[:1], x[0], dims=[])
    t.case("what is left", x, x.reshape(3, -1), dims=[3, -1])
    t.case("nothing but what is left", x, x.reshape(-1), dims=[-1])
    x = numbers("f32", (2, 0, 3))
    t.case("empty", x, x.reshape(0, 5), dims=[0, 5])
    t.case("empty: what is left", x, x.reshape(2, 3, -1), dims=[2, 3, -1])


@operator("flatten")
def flatten(t):
    moves(t, (2, 3, 2), lambda x: (x.reshape(2, 6), {}))
    x = numbers("f64", (2, 3, 2))
    t.case("from the first axis", x, x.reshape(12), axis=0)
    t.case("from a negative axis", x, x, axis=-1)
    x = numbers("f32", (2, 0, 3))
    t.case("empty", x, x.reshape(2, 0))


@operator("transpose")
def transpose(t):
    moves(t, (2, 3, 2), lambda x: (np.swapaxes(x, -1, -2), {}))
    x = numbers("f64", (2, 3, 4))
    for perm in [[2, 0, 1], [1, 0, 2], [0, 1, 2], [-1, 1, 0]]:
        t.case(f"in the order {perm}", x, x.transpose(perm), perm=perm)
    x = numbers("f32", (2, 0))
    t.case("empty", x, x.T)
    x = numbers("f32", (3, 3, 0, 2))
    t.case("a size of 0", x, x.transpose(3, 2, 1, 0), perm=[3, 2, 1, 0])


@operator("broadcast_to")
def broadcast_to(t):
    moves(t, (3, 1), lambda x: (np.broadcast_to(x, (2, 3, 4)), {"dims": [2, 3, 4]}))
    x = numbers("f64", ())
    t.case("a scalar", x, np.broadcast_to(x, (2, 2)), dims=[2, 2])
    x = numbers("f64", (2, 1))
    t.case("to its own dims", x, x, dims=[2, 1])
    t.case("to nothing", x, np.zeros((2, 0)), dims=[2, 0])
    x = numbers("f32", (0, 1))
    t.case("empty", x, np.zeros((0, 3), np.float32), dims=[0, 3])


@operator("slice")
def slice_cases(t):
    moves(t, (4, 3), lambda x: (x[1:3], {"axes": [0], "starts": [1], "stops": [3]}))
    x = numbers("f64", (5, 6))
    t.case("two axes with steps", x, x[0:5:3, 1:6:2], axes=[1, 0], starts=[1, 0], stops=[6, 5],
           steps=[2, 3])
    t.case("negative bounds", x, x[-3:-1], axes=[-2], starts=[-3], stops=[-1])
    t.case("nothing", x, x[2:2], axes=[0], starts=[2], stops=[2])
    t.case("the last row", x, x[4:5], axes=[0], starts=[4], stops=[5])
    x = numbers("f32", (0, 3))
    t.case("of nothing", x, x[:, 1:], axes=[1], starts=[1], stops=[3])
    t.refused("out of range", "", "slice(zeros([3]), axes=[0], starts=[0], stops=[4])")


@operator("concat")
def concat(t):
    for dtype in ALL:
        x, y = numbers(dtype, (2, 3)), numbers(dtype, (1, 3), seed=1)
        t.case(dtype, [x, y], np.concatenate([x, y]))
    for dtype in FLOATS:
        x = specials(dtype)
        t.case(f"{dtype}: nan and infinities", [x, x], np.concatenate([x, x]))
    x = [numbers("f64", (2, n), seed=n) for n in (3, 1, 2)]
    t.case("three along the last axis", x, np.concatenate(x, -1), axis=-1)
    x = [numbers("f32", (2, n), seed=n) for n in (3, 0, 2)]
    t.case("one is empty", x, np.concatenate(x, 1), axis=1)
    t.case("one", [x[0]], x[0])
    x = [numbers("f32", (0, 3))] * 2
    t.case("all are empty", x, x[0])


@operator("split")
def split(t):
    for dtype in ALL:
        x = numbers(dtype, (4, 3))
        t.case(dtype, x, tuple(np.split(x, 2)), parts=2)
    for dtype in FLOATS:
        x = specials(dtype)
        t.case(f"{dtype}: nan and infinities", x, tuple(np.split(x, [3])), sizes=[3, 4])
    x = numbers("f64", (2, 6))
    t.case("along the last axis", x, tuple(np.split(x, 3, -1)), parts=3, axis=-1)
    t.case("of these sizes", x, tuple(np.split(x, [1, 3], 1)), sizes=[1, 2, 3], axis=1)
    t.case("one part is empty", x, tuple(np.split(x, [0], 0)), sizes=[0, 2])
    x = numbers("f32", (0, 4))
    t.case("of nothing", x, tuple(np.split(x, 2, 1)), parts=2, axis=1)


@operator("gather")
def gather(t):
    indices = array([2, 0, -1, -3], "i64")
    for dtype in ALL:
        x = numbers(dtype, (3, 2))
        t.case(dtype, [x, indices], np.take(x, indices, 0))
    for dtype in FLOATS:
        x = specials(dtype)
        t.case(f"{dtype}: nan and infinities", [x, indices], np.take(x, indices))
    x = numbers("f64", (2, 4))
    two = array([[0, 3], [1, 1]], "i32")
    t.case("along the last axis, i32 of two dims", [x, two], np.take(x, two, -1), axis=-1)
    t.case("one index", [x, array(1, "i64")], x[1])
    t.case("outside", [x, array([1, 2, -3], "i64")],
           np.stack([x[1], np.full(4, np.nan), np.full(4, np.nan)]))
    t.case("integers outside", [array([4, 5], "i32"), array([2, 1], "i64")], array([0, 5], "i32"))
    none = array(np.zeros(0, int), "i64")
    t.case("no indices", [x, none], x[:0])
    x = numbers("f32", (3, 0))
    t.case("of rows without elements", [x, indices], np.take(x, indices, 0))


@operator("scatter_add")
def scatter_add(t):
    def want(x, indices, updates, axis=0):
        def f(x, updates):
            y = np.moveaxis(x.copy(), axis, 0)
            np.add.at(y, indices, np.moveaxis(updates, axis, 0))
            return np.moveaxis(y, 0, axis)
        return exact(f, x, updates)

    indices = array([1, 1, -1, 0], "i64")
    for dtype in NUMBERS:
        x, updates = numbers(dtype, (3, 2)), numbers(dtype, (4, 2), seed=1)
        t.case(dtype, [x, indices, updates], want(x, indices, updates))
    for dtype in FLOATS:
        x, updates = specials(dtype), array([1, np.nan, np.inf, -np.inf], dtype)
        t.case(f"{dtype}: nan and infinities", [x, indices, updates], want(x, indices, updates))
    x, updates = numbers("f64", (2, 5, 2)), numbers("f64", (2, 3, 2), seed=1)
    three = array([4, 0, 4], "i32")
    t.case("another axis, i32", [x, three, updates], want(x, three, updates, 1), axis=1)
    t.case("outside", [numbers("f32", (2,)), array([2, -3, 0], "i64"), array([1, 1, 1], "f32")],
           numbers("f32", (2,)) + array([1, 0], "f32"))
    none = array(np.zeros(0, int), "i64")
    t.case("no updates", [numbers("f32", (2, 3)), none, numbers("f32", (0, 3))],
           numbers("f32", (2, 3)))
    x = numbers("f32", (3, 0))
    t.case("rows without elements", [x, indices, numbers("f32", (4, 0))], x)


@operator("one_hot")
def one_hot(t):
    def want(indices, depth, dtype="f32"):
        row = np.arange(depth) == np.where(indices < 0, indices + depth, indices)[..., None]
        return array(row.astype(np.int64), dtype)

    for index_dtype in ["i64", "i32"]:
        x = array([[0, 2], [-1, 1]], index_dtype)
        t.case(index_dtype, x, want(x, 3), depth=3)
    x = array([1, 3, -4, -3], "i64")
    t.case("outside", x, want(x, 3), depth=3)
    for dtype in ALL:
        t.case(f"a result of {dtype}", x, want(x, 4, dtype), depth=4, dtype=Dim(dtype))
    t.case("one index", array(2, "i64"), want(np.asarray(2), 3), depth=3)
    t.case("empty", array(np.zeros((0, 2), int), "i64"), np.zeros((0, 2, 3), np.float32), depth=3)
    t.case("no classes", array([0, 1], "i64"), np.zeros((2, 0), np.float32), depth=0)


@operator("cast")
def cast(t):
    for source in ALL:
        x = numbers(source, (4,), -3, 3)
        for target in ALL:
            if target == "bool":
                want = x != 0
            elif is_float(source) and not is_float(target):
                want = array(np.trunc(x.astype(np.float64)).astype(np.int64), target)
            else:
                want = exact(lambda x: x.astype(np.int64) if x.dtype == np.bool_ else x, x,
                             dtype=target)
            t.case(f"{source} to {target}", x, want, to=Dim(target))
    x = specials("f64")
    for target in FLOATS:
        t.case(f"special values to {target}", x, array(x, target), to=Dim(target))
    t.case("special values to bool", x, array(x != 0, "bool"), to=Dim("bool"))
    x = array([np.nan, np.inf, -np.inf, 1e300], "f64")
    for target in ["i32", "i64"]:
        least = np.full(4, np.iinfo(DTYPES[target]).min)
        t.case(f"what does not fit {target}", x, array(least, target), to=Dim(target))
    # Small integers come by way of i32, whose smallest number ends in zeros.
    x = array([300, -1, 1e10, -1e10, np.nan, np.inf, 2.9, -2.9, 65536.5], "f32")
    t.case("reals wrap around in i8", x, array([44, -1, 0, 0, 0, 0, 2, -2, 0], "i8"), to=Dim("i8"))
    t.case("reals wrap around in u8", x, array([44, 255, 0, 0, 0, 0, 2, 254, 0], "u8"), to=Dim("u8"))
    x = array([1 + 2**-11 + 2**-40, 65519.99999, 65520, 1e300, 2**-25 + 2**-60, 2**-25], "f64")
    t.case("f64 to f16 rounds once", x, array([1.0009765625, 65504, np.inf, np.inf, 2**-24, 0],
                                              "f16"), tol=0, to=Dim("f16"))
    x = array([16777217, -2**60 - 1], "i64")
    t.case("large integers round", x, array([16777216, -2.0**60], "f32"), tol=0, to=Dim("f32"))
    x = array([300, -1, 256, -129], "i32")
    t.case("integers wrap around", x, array(x, "i8"), to=Dim("i8"))
    # Storage-only dtypes have no literals: their values are cast from i64, or from floats.
    x = array([0, 1, -1, 40000, 70000, 2**31 + 5, -2**31, 2**40 + 1, -2**62 - 3], "i64")
    for stored in STORED:
        y = x.astype(DTYPES[stored])
        for target in ALL + STORED:
            want = y != 0 if target == "bool" else exact(lambda v: v, y, dtype=target)
            call, suffix = f"cast(cast(x, to={stored}), to={target})", ""
            if target in STORED:
                call, want = f"cast({call}, to=i64)", want.astype(np.int64)
            elif target in FLOATS:
                suffix = " tol 0.0"
            t.raw(f"{stored} to {target}", declared("x", x), f"r: {type_of(want)} = {call}",
                  f"expect r ~= {spell(want)}{suffix}")
        for source in FLOATS:
            reals = array([0, 1.5, -1.5, 96, 200, 30000], source)
            want = np.trunc(reals.astype(np.float64)).astype(np.int64).astype(DTYPES[stored])
            t.raw(f"{source} to {stored}", declared("x", reals),
                  f"r: i64[6] = cast(cast(x, to={stored}), to=i64)",
                  f"expect r ~= {spell(want.astype(np.int64))}")
    x = array([2.0**63, 1.5 * 2.0**63, 2.0**32, 2.0**62], "f64")
    t.raw("large reals to u64", declared("x", x),
          "r: f64[4] = cast(cast(x, to=u64), to=f64)", f"expect r ~= {spell(x)} tol 0.0")
    x = array([2.0**31, 2.0**32 - 1, -1, 2.0**32], "f64")
    t.raw("large reals to u32", declared("x", x), "r: f64[4] = cast(cast(x, to=u32), to=f64)",
          f"expect r ~= {spell(array([2.0**31, 2.0**32 - 1, 2.0**32 - 1, 0], 'f64'))} tol 0.0")
    t.case("to u8", x, array(x, "u8"), to=Dim("u8"))
    x = array([65519, 65520, 1e-8, 1 / 3], "f32")
    t.case("rounds to f16", x, array(x, "f16"), tol=0, to=Dim("f16"))
    t.case("rounds to bf16", x, array(x, "bf16"), tol=0, to=Dim("bf16"))
    for shape in [(0,), (3, 0)]:
        x = numbers("f32", shape)
        t.case("empty " + "x".join(map(str, shape)), x, array(x, "i64"), to=Dim("i64"))

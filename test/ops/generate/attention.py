"""Attention and what belongs to it."""

import numpy as np
import torch

from cases import *


def scores(q, k, past=0, mask=None, causal=False, scale=None):
    """The scores of one or more heads, in double, as torch has them; k has as many heads as q."""
    q, k = (torch.from_numpy(x.astype(np.float64)) for x in (q, k))
    scale = 1 / np.sqrt(q.shape[-1]) if scale is None else scale
    s = q @ k.transpose(-1, -2) * scale
    if mask is not None:
        mask = torch.from_numpy(np.asarray(mask if mask.dtype == np.bool_ else mask.astype(np.float64)))
        s = s.masked_fill(~mask, -torch.inf) if mask.dtype == torch.bool else s + mask
    if causal:
        rows, columns = torch.arange(s.shape[-2])[:, None], torch.arange(s.shape[-1])
        s = s.masked_fill(columns > rows + int(past), -torch.inf)
    return s


def spread(x, q):
    """Keys or values, with as many heads as the queries have."""
    return x if q.ndim < 3 else np.repeat(x, q.shape[-3] // max(x.shape[-3], 1), axis=-3)


def attended(q, k, v, past=0, mask=None, causal=False, scale=None):
    """(y, lse); a query that sees nothing gives 0."""
    s = scores(q, spread(k, q), past, mask, causal, scale)
    values = torch.from_numpy(spread(v, q).astype(np.float64))
    y = torch.softmax(s, -1)
    y = torch.where(torch.isneginf(s).all(-1, keepdim=True), 0.0, y) @ values
    wide = "f64" if name_of(q.dtype) == "f64" else "f32"
    return array(y.numpy(), name_of(q.dtype)), array(torch.logsumexp(s, -1).numpy(), wide)


def operands(dtype, heads=(2,), groups=None, rows=3, columns=3, depth=4, width=4):
    groups = heads if groups is None else groups
    return (numbers(dtype, (*heads, rows, depth), -2, 2), numbers(dtype, (*groups, columns, depth), -2, 2, seed=1),
            numbers(dtype, (*groups, columns, width), -2, 2, seed=2))


TOLERANCE = {"f32": 1e-5, "f64": 1e-13, "f16": 2e-3, "bf16": 1e-2}


@operator("attention")
def attention(t):
    def case(name, q, k, v, past=None, mask=None, **attributes):
        want = attended(q, k, v, 0 if past is None else past, mask, **attributes)
        given = [q, k, v] + [x for x in (past, mask) if x is not None]
        t.case(name, given, want, tol=TOLERANCE[name_of(q.dtype)], **attributes)

    zero = array(0, "i64")
    for dtype in FLOATS:
        q, k, v = operands(dtype)
        case(dtype, q, k, v)
        case(f"{dtype}, causal", q, k, v, causal=True)
        case(f"{dtype}, added mask", q, k, v, zero, numbers(dtype, (3, 3), seed=3))
        seen = np.array([[True, False, True], [False, False, False], [True, True, True]])
        case(f"{dtype}, truth mask", q, k, v, zero, seen)
    q, k, v = operands("f64", (2, 4), (2, 2), rows=2, columns=5, width=3)
    case("grouped heads", q, k, v)
    case("grouped heads, causal, with a past", q, k, v, array(3, "i64"), causal=True)
    case("one head of keys", *operands("f64", (2, 4), (2, 1)))
    case("a past of i32", q, k, v, array(1, "i32"), causal=True)
    case("a past that is negative", q, k, v, array(-1, "i64"), causal=True)
    case("a past longer than the keys", q, k, v, array(9, "i64"), causal=True)
    for shape in [(5,), (2, 1), (4, 1, 5), (2, 1, 2, 5), (1, 4, 2, 1)]:
        case(f"a mask of {list(shape)}", q, k, v, zero, numbers("f64", shape, seed=4))
        case(f"truths of {list(shape)}, causal", q, k, v, array(2, "i64"), numbers("bool", shape),
             causal=True)
    case("a scale", q, k, v, scale=0.25)
    case("no heads", *operands("f32", ()), causal=True)
    case("one query", *operands("f32", (2,), rows=1, columns=70, depth=5, width=3))
    case("more than a block", *operands("f64", (1,), rows=37, columns=70, depth=2, width=2),
         causal=True)
    q, k, v = operands("f32", (1,), rows=2, columns=2)
    for special in [np.nan, np.inf, -np.inf]:
        odd = np.array(k)
        odd[0, 0, 0] = special
        case(f"{special} in a key", np.abs(q), odd, v)
        odd = np.array(v)
        odd[0, 0, 0] = special
        case(f"{special} in a value", q, k, odd)
    case("no queries", *operands("f32", rows=0))
    case("no keys", *operands("f32", columns=0))
    case("an empty tensor", *operands("f32", (0,)))
    case("values of length 0", *operands("f32", width=0))
    t.refused("keys of another length", "queries and keys differ in depth: 4 and 5",
              "attention(zeros([1, 2, 4]), zeros([1, 2, 5]), zeros([1, 2, 4]))")
    t.refused("too few values", "there must be one value for each key: 2 and 3",
              "attention(zeros([1, 2, 4]), zeros([1, 2, 4]), zeros([1, 3, 4]))")
    t.refused("heads that do not share", "the number of heads of the queries must be a multiple of those of the keys",
              "attention(zeros([3, 2, 4]), zeros([2, 2, 4]), zeros([2, 2, 4]))")
    t.refused("a mask of other sizes", "the mask does not broadcast to the scores: 3 and 2",
              "attention(zeros([1, 2, 4]), zeros([1, 2, 4]), zeros([1, 2, 4]), 0, zeros([3]))")
    t.refused("several pasts", "'past' must be a scalar, got i64[2]",
              "attention(zeros([1, 2, 4]), zeros([1, 2, 4]), zeros([1, 2, 4]), [0, 1])")


@operator("attention_gradient")
def attention_gradient(t):
    def case(name, q, k, v, past=None, mask=None, **attributes):
        tensors = [torch.tensor(x.astype(np.float64), requires_grad=True) for x in (q, k, v)]
        seen = torch.from_numpy(np.array(
            ~np.isneginf(scores(q, spread(k, q), past or 0, mask, **attributes).numpy())))
        sharing = q.shape[-3] // max(k.shape[-3], 1)
        tq, tk, tv = tensors
        tk, tv = (x.repeat_interleave(sharing, dim=-3) for x in (tk, tv))
        s = tq @ tk.transpose(-1, -2) * attributes.get("scale", 1 / np.sqrt(q.shape[-1]))
        if mask is not None and mask.dtype != np.bool_:
            s = s + torch.from_numpy(mask.astype(np.float64))
        # exp(s - lse) instead of softmax, so that a query without visible keys has no gradient.
        e = torch.where(seen, torch.exp(s), 0.0)
        y = e / e.sum(-1, keepdim=True).clamp(min=1e-300) @ tv
        dy = numbers(name_of(q.dtype), y.shape, seed=7)
        y.backward(torch.from_numpy(dy.astype(np.float64)))
        wide = "f64" if name_of(q.dtype) == "f64" else "f32"
        lse = array(np.log(e.sum(-1).detach().numpy()), wide)
        shift = array((y.detach().numpy() * dy.astype(np.float64)).sum(-1), wide)
        want = tuple(array(x.grad.numpy(), name_of(q.dtype)) for x in tensors)
        given = [q, k, v, lse, dy, shift] + [x for x in (past, mask) if x is not None]
        t.case(name, given, want, tol=TOLERANCE[name_of(q.dtype)] * 4, **attributes)

    zero = array(0, "i64")
    for dtype in FLOATS:
        q, k, v = operands(dtype)
        case(dtype, q, k, v)
        case(f"{dtype}, causal", q, k, v, causal=True)
        case(f"{dtype}, added mask", q, k, v, zero, numbers(dtype, (3, 3), seed=3))
        seen = np.array([[True, False, True], [False, False, False], [True, True, True]])
        case(f"{dtype}, truth mask", q, k, v, zero, seen)
    q, k, v = operands("f64", (2, 4), (2, 2), rows=2, columns=5, width=3)
    case("grouped heads", q, k, v)
    case("grouped heads, causal, with a past", q, k, v, array(3, "i32"), causal=True)
    case("a scale", q, k, v, scale=0.25)
    case("a mask of heads", q, k, v, zero, numbers("f64", (4, 1, 5), seed=4))
    case("more than a block", *operands("f64", (2,), (1,), rows=37, columns=70, depth=2, width=2),
         causal=True)
    q, k, v = operands("f32", (1,), rows=2, columns=2)
    for special in [np.nan, np.inf, -np.inf]:
        odd = np.array(v)
        odd[0, 0, 0] = special
        lse = attended(q, k, v)[1]
        t.case(f"{special} in a value", [q, k, odd, lse, np.zeros_like(v), array([[special] * 2], "f32")],
               {"dv": np.zeros_like(v)})
    case("no queries", *operands("f32", rows=0))
    case("no keys", *operands("f32", columns=0))
    t.refused("a gradient of other sizes", "the sizes must match those of the queries: 1 and 2",
              "attention_gradient(zeros([1, 2, 4]), zeros([1, 2, 4]), zeros([1, 2, 4]), "
              "zeros([1, 2]), zeros([1, 1, 4]), zeros([1, 2]))")


def rotated(x, positions, base=10000.0, interleaved=False, width=None):
    width = x.shape[-1] if width is None else width
    pairs = width // 2
    angles = np.asarray(positions, np.float64)[..., None] * base ** (-np.arange(pairs) / pairs)
    cosine, sine = np.cos(angles), np.sin(angles)
    y = np.array(x)
    if pairs == 0:
        return y
    low = np.s_[..., 0:width:2] if interleaved else np.s_[..., :pairs]
    high = np.s_[..., 1:width:2] if interleaved else np.s_[..., pairs:width]
    y[low] = x[low] * cosine - x[high] * sine
    y[high] = x[high] * cosine + x[low] * sine
    return y


@operator("rotary_embedding")
def rotary_embedding(t):
    def case(name, x, positions, **attributes):
        want = exact(lambda x: rotated(x, positions, **attributes), x)
        t.case(name, [x, positions], want, tol={"f64": 1e-12}.get(name_of(x.dtype)), **attributes)

    places = array([0, 1, 7], "i64")
    for dtype in FLOATS:
        case(dtype, numbers(dtype, (3, 6)), places)
        case(f"{dtype}, neighbours", numbers(dtype, (3, 6)), places, interleaved=True)
    x = numbers("f64", (2, 2, 3, 8))
    case("heads", x, places)
    case("a position for each row", x, array(np.arange(6).reshape(2, 1, 3) - 2, "i32"))
    case("one position", x, array(100000, "i64"), base=500.0)
    case("one base", x, places, base=1.0)
    for width in [0, 2, 6, 8]:
        case(f"width {width}", x, places, width=width)
        case(f"width {width}, neighbours", x, places, width=width, interleaved=True)
    case("nan and infinities", array([[np.nan, 1], [np.inf, 2], [-np.inf, 3]], "f32"), places)
    case("an empty tensor", numbers("f32", (0, 4)), array([], "i64"))
    case("rows of length 0", numbers("f32", (3, 0)), places)
    t.refused("an odd length", "the length of the rows of x must be even", "rotary_embedding(zeros([2, 3]), 0)")
    t.refused("an odd width", "'width' must be even and at most 4, got 3",
              "rotary_embedding(zeros([2, 4]), 0, width=3)")
    t.refused("too few positions", "there must be a position for each row: 3 and 2",
              "rotary_embedding(zeros([2, 4]), [0, 1, 2])")

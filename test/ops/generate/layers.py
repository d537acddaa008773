"""Standard layers of one formula: norms, metrics, gemm."""

import numpy as np
import torch
import torch.nn.functional as functional

from cases import *

TWO, HALF = Dim("{init=normal(mean=2.0, std=0.0)}"), Dim("{init=normal(mean=0.5, std=0.0)}")


def of_torch(function, *arrays):
    """In double, rounded to the first array's dtype."""
    return exact(lambda *xs: function(*[torch.from_numpy(x) for x in xs]).numpy(), *arrays)


def norm_layer(t, function, shapes, floats=FLOATS, bias=True, **attributes):
    """`function(x, eps)` of PyTorch, without weights."""
    tolerance = {"f16": 4e-3, "bf16": 3e-2}
    for dtype in floats:
        x = numbers(dtype, shapes[0])
        t.case(dtype, x, of_torch(lambda x: function(x, 1e-5), x), tol=tolerance.get(dtype),
               eps=1e-5, **attributes)
    for shape in shapes:
        x = numbers("f64", shape)
        want = exact(lambda x: function(torch.from_numpy(x), 0.1).numpy(), x)
        name = "x".join(map(str, shape))
        t.case(f"{name}, another eps, no weights", x, want, eps=0.1, scale=False,
               **({"bias": False} if bias else {}), **attributes)
        t.case(f"{name}, a factor", x, 2 * want, eps=0.1, param_attr=TWO, **attributes)
        if bias:
            t.case(f"{name}, a factor and a shift", x, 2 * want + 0.5, eps=0.1, param_attr=TWO,
                   bias_attr=HALF, **attributes)


@operator("group_norm")
def group_norm(t):
    norm_layer(t, lambda x, eps: functional.group_norm(x, 2, eps=eps),
               [(2, 4, 3), (3, 6), (2, 4, 3, 2)], groups=2)
    x = numbers("f64", (2, 6, 3))
    for groups in (1, 3, 6):
        t.case(f"{groups} groups", x, of_torch(lambda x: functional.group_norm(x, groups), x),
               groups=groups)
    t.case("empty", numbers("f32", (0, 4, 3)), numbers("f32", (0, 4, 3)), groups=2)
    t.refused("a count that does not divide", "a multiple of the groups",
              "group_norm(zeros([2, 5, 3]), groups=2)")


@operator("instance_norm")
def instance_norm(t):
    norm_layer(t, lambda x, eps: functional.instance_norm(x, eps=eps),
               [(2, 3, 4), (2, 3, 4, 2)])


@operator("rms_norm")
def rms_norm(t):
    norm_layer(t, lambda x, eps: functional.rms_norm(x, x.shape[-1:], eps=eps),
               [(2, 5), (2, 3, 4), (6,)], bias=False)
    t.case("zeros", np.zeros((2, 3), np.float32), np.zeros((2, 3), np.float32))


@operator("l2_normalize")
def l2_normalize(t):
    for dtype in FLOATS:
        x = numbers(dtype, (2, 5))
        t.case(dtype, x, of_torch(lambda x: functional.normalize(x, dim=-1), x))
    x = numbers("f64", (2, 3, 4))
    t.case("another axis", x, of_torch(lambda x: functional.normalize(x, dim=1), x), axes=[1])
    t.case("two axes", x, of_torch(lambda x: functional.normalize(x, dim=(0, 2)), x), axes=[0, 2])
    t.case("another eps", x, of_torch(lambda x: functional.normalize(x, dim=-1, eps=2.5), x),
           eps=2.5)
    t.case("zeros", np.zeros((2, 3), np.float32), np.zeros((2, 3), np.float32))


@operator("local_response_norm")
def local_response_norm(t):
    def want(x, size=5, alpha=1e-4, beta=0.75, bias=1.0):
        # As in ONNX, the window of an even size has one more element after the center.
        total = np.zeros_like(x)
        for c in range(x.shape[1]):
            low, high = max(0, c - (size - 1) // 2), min(x.shape[1], c + size // 2 + 1)
            total[:, c] = np.sum(x[:, low:high]**2, axis=1)
        return x / (bias + alpha / size * total)**beta

    for dtype in FLOATS:
        x = numbers(dtype, (2, 7, 3))
        t.case(dtype, x, exact(want, x))
    x = numbers("f64", (2, 7, 3))
    for size in (1, 2, 3, 4, 5, 9):
        t.case(f"size {size}", x, exact(lambda x: want(x, size, 0.5), x), size=size, alpha=0.5)
    t.case("all attributes", x, exact(lambda x: want(x, 3, 0.3, 0.5, 2.0), x), size=3, alpha=0.3,
           beta=0.5, bias=2.0)
    t.case("as PyTorch", x,
           of_torch(lambda x: functional.local_response_norm(x, 3, 0.3, 0.5, 2.0), x), size=3,
           alpha=0.3, beta=0.5, bias=2.0)
    x = numbers("f64", (2, 4))
    t.case("no other dims", x, exact(lambda x: want(x, 3, 0.5), x), size=3, alpha=0.5)


@operator("gemm")
def gemm(t):
    a, b, c = numbers("f64", (2, 3)), numbers("f64", (3, 4), seed=1), numbers("f64", (2, 4), seed=2)
    t.case("and a sum", [a, b, c], a @ b + c)
    t.case("factors", [a, b, c], 0.5 * (a @ b) + 2.0 * c, alpha=0.5, beta=2.0)
    t.case("turned", [a.T.copy(), b.T.copy(), c[0]], a @ b + c[0], transpose_a=True,
           transpose_b=True)
    t.case("a column that is added", [a, b, c[:, :1].copy()], a @ b + c[:, :1])


@operator("accuracy")
def accuracy(t):
    x = array([[1, 2, 3], [3, 2, 1], [1, 3, 2], [5, 4, 1]], "f32")
    t.case("three of four", [x, array([2, 0, 1, 1], "i64")], array(0.75, "f32"))
    t.case("of equal ones the first", [array([[1, 1]], "f64"), array([0], "i64")], array(1, "f32"))
    t.case("more dims", [x.reshape(2, 2, 3), array([[2, 0], [0, 0]], "i64")], array(0.75, "f32"))


@operator("topk_accuracy")
def topk_accuracy(t):
    x = array([[1, 2, 3, 0], [3, 2, 1, 0], [1, 3, 2, 0], [5, 4, 1, np.nan]], "f32")
    label = array([2, 1, 3, 3], "i64")
    t.case("the first", [x, label], array(0.25, "f32"), k=1)
    t.case("two", [x, label], array(0.5, "f32"), k=2)
    t.case("four", [x, label], array(0.75, "f32"), k=4)
    t.case("five without being told", [x, label], array(0.75, "f32"))

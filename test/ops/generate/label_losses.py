"""Losses at labels, and of single elements."""

import numpy as np
import torch

import losses
from binary import binary
from cases import *

# The cases with only logits and labels are with the other losses.
plain_cross_entropy = OPERATORS.pop("cross_entropy")


def torch_rows(function, x, label, weight=None, **attributes):
    """A loss of PyTorch for each row, computed in double; its classes are the second dim."""
    name = name_of(x.dtype)
    x = torch.tensor(x.astype(np.float64)).movedim(-1, 1) if x.ndim > 1 else torch.tensor(
        x.astype(np.float64))
    if weight is not None:
        weight = torch.tensor(weight.astype(np.float64))
    y = function(x, torch.tensor(label.astype(np.int64)), weight=weight, reduction="none",
                 **attributes)
    return array(y.numpy(), name)


def label_loss(t, function):
    for dtype in FLOATS:
        for labels in ("i64", "i32"):
            x, label = numbers(dtype, (4, 3)), array([0, 2, 1, 2], labels)
            t.case(f"{dtype}, {labels}", [x, label], torch_rows(function, x, label))
    for dtype in FLOATS:
        x, label = numbers(dtype, (4, 3)), array([0, 2, 1, 2], "i64")
        weight = array([0.5, 2, 1.25], dtype)
        t.case(f"{dtype}: weights", [x, label, weight], torch_rows(function, x, label, weight),
               tol={"f16": 2e-3, "bf16": 2e-2}.get(dtype))
    x, label = numbers("f64", (4, 3)), array([0, 2, 1, 2], "i64")
    weight = array([0.5, 2, 1.25], "f64")
    t.case("an index to ignore", [x, label], torch_rows(function, x, label, ignore_index=2),
           ignore_index=2)
    outside = array([-100, 2, 1, -100], "i64")
    t.case("an index to ignore, no class", [x, outside],
           torch_rows(function, x, outside, ignore_index=-100), ignore_index=-100)
    t.case("weights, an index to ignore", [x, label, weight],
           torch_rows(function, x, label, weight, ignore_index=0), ignore_index=0)
    x, label = numbers("f64", (2, 5, 3)), array([[0, 1, 2, 0, 1], [1, 1, 0, 2, 2]], "i64")
    t.case("more dims", [x, label], torch_rows(function, x, label))
    x, label = numbers("f64", (3,)), array(1, "i64")
    t.case("one row", [x, label], torch_rows(function, x, label))
    x = array([[np.nan, 1, 2], [1, np.inf, 2], [1, -np.inf, 2]], "f32")
    label = array([0, 0, 1], "i64")
    t.case("nan and infinities", [x, label], torch_rows(function, x, label))
    x = numbers("f32", (2, 3))
    t.case("a label that is no class", [x, array([3, -1], "i64")], array([np.nan, np.nan], "f32"))
    for shape in [(0, 3), (2, 0, 3)]:
        x = numbers("f32", shape)
        label = np.zeros(shape[:-1], np.int64)
        t.case("empty " + "x".join(map(str, shape)), [x, label], np.zeros(shape[:-1], np.float32))
    t.refused("other rows", "have different dims", f"{t.name}(zeros([2, 3]), cast(zeros([4]), to=i64))")
    t.refused("other weights", "must be the number of classes",
              f"{t.name}(zeros([2, 3]), cast(zeros([2]), to=i64), zeros([4]))")


@operator("cross_entropy")
def cross_entropy(t):
    function = torch.nn.functional.cross_entropy
    plain_cross_entropy(t)
    label_loss(t, function)
    x, label = numbers("f64", (4, 3)), array([0, 2, 1, 2], "i64")
    weight = array([0.5, 2, 1.25], "f64")
    t.case("smoothed", [x, label], torch_rows(function, x, label, label_smoothing=0.1),
           label_smoothing=0.1)
    t.case("smoothed altogether", [x, label], torch_rows(function, x, label, label_smoothing=1.0),
           label_smoothing=1.0)
    t.case("smoothed, weights, an index to ignore", [x, label, weight],
           torch_rows(function, x, label, weight, label_smoothing=0.25, ignore_index=1),
           label_smoothing=0.25, ignore_index=1)
    x = array([[1000, 0, -1000], [-1000, 0, 1000]], "f32")
    label = array([2, 2], "i64")
    t.case("large logits", [x, label], torch_rows(function, x, label))
    x, label = numbers("f32", (2, 700)), array([5, 699], "i64")
    t.case("many classes", [x, label], torch_rows(function, x, label), tol=1e-5)


@operator("nll")
def nll(t):
    label_loss(t, torch.nn.functional.nll_loss)


def attributes_of(t, function, name, other):
    x, y = numbers("f64", (2, 3)), numbers("f64", (2, 3), seed=1)
    t.case(f"{name} {other}", [x, y], exact(lambda x, y: function(x, y, other), x, y),
           **{name: other})


def huber_of(x, y, delta=1.0):
    d = np.abs(x - y)
    return np.where(d <= delta, 0.5 * d * d, delta * (d - 0.5 * delta))


@operator("huber")
def huber(t):
    binary(t, huber_of, FLOATS)
    attributes_of(t, huber_of, "delta", 0.40625)
    x, y = numbers("f64", (8,)), numbers("f64", (8,), seed=1)
    want = torch.nn.functional.huber_loss(torch.tensor(x), torch.tensor(y), reduction="none",
                                          delta=0.7).numpy()
    t.case("as PyTorch", [x, y], want, delta=0.7)


def hinge_of(x, label, margin=1.0):
    return np.maximum(margin - x * label, 0)


@operator("hinge")
def hinge(t):
    binary(t, hinge_of, FLOATS)
    attributes_of(t, hinge_of, "margin", 0.3)


def kl_of(log_q, p):
    with np.errstate(all="ignore"):
        return np.where(p == 0, 0, p * (np.log(p) - log_q))


def log_kl_of(log_q, log_p):
    with np.errstate(all="ignore"):
        p = np.exp(log_p)
        return np.where(p == 0, 0, p * (log_p - log_q))


@operator("kl_div")
def kl_div(t):
    binary(t, kl_of, FLOATS, low=0.125, high=3)
    for dtype in FLOATS:
        x, y = numbers(dtype, (2, 3), -3, -0.25), numbers(dtype, (2, 3), -3, -0.25, seed=1)
        t.case(f"{dtype}: logarithms", [x, y], exact(log_kl_of, x, y), log_target=True)
    x, y = array([np.nan, 0, -1, np.inf, -np.inf], "f32"), array([0, -np.inf, np.nan, 1, 1], "f32")
    t.case("logarithms: nan and infinities", [x, y], exact(log_kl_of, x, y), log_target=True)
    x = numbers("f64", (2, 3), -3, -0.25)
    p = numbers("f64", (2, 3), 0.125, 1, seed=1)
    want = torch.nn.functional.kl_div(torch.tensor(x), torch.tensor(p), reduction="none").numpy()
    t.case("as PyTorch", [x, p], want)

"""Every operator as a function.

Made by python/tools/make_stubs.py; do not edit.
"""

from typing import Any, Literal, Sequence, overload

from pdl._graph import Value
from pdl._pdl import Tensor
from pdl._render import Function
from pdl._results import Results
from pdl._typing import ArrayLike, Dims, DType, FunctionLike, Operand, ParameterAttributes

@overload
def abs(x: Value, *, name: str | None = None) -> Value:
    """The absolute value, element by element. The smallest integer stays as it is; the gradient at
    0 is 0.

    Inputs:
      x: any numbers

    Outputs:
      y: type as x
    """
@overload
def abs(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def abs() -> Function: ...

@overload
def acos(x: Value, *, name: str | None = None) -> Value:
    """The arc cosine, element by element: nan outside [-1, 1].

    Inputs:
      x: numbers in [-1, 1]

    Outputs:
      y: angles in [0, pi]; type as x
    """
@overload
def acos(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def acos() -> Function: ...

@overload
def acosh(x: Value, *, name: str | None = None) -> Value:
    """The number from 0 on whose hyperbolic cosine is x, element by element: nan below 1.

    Inputs:
      x: numbers from 1 on

    Outputs:
      y: from 0 on; type as x
    """
@overload
def acosh(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def acosh() -> Function: ...

@overload
def adaptive_avg_pool(x: Value, size: Dims, *, name: str | None = None) -> Value:
    """The mean of each part of x, channel by channel, where a dim of size S is cut into `size`
    parts: part i is from i * S // size up to (i + 1) * S / size, rounded up. size=1 is global
    pooling. Halves are added up in f32.

    Inputs:
      x: [N, C, ...] with 1 to 3 more dims

    Outputs:
      y: [N, C, size...]; dtype as x

    Attributes:
      size: the spatial sizes of the result: one for all dims, or one for each
    """
@overload
def adaptive_avg_pool(x: ArrayLike, size: Dims, *, name: str | None = None) -> Tensor: ...
@overload
def adaptive_avg_pool() -> Function: ...

@overload
def adaptive_avg_pool_grad(dy: Value, size: Dims, *, name: str | None = None) -> Value:
    """The gradient of adaptive_avg_pool: each element of dy, divided by the count of its part's
    elements, goes to all of them, and is added up where parts overlap.

    Inputs:
      dy: the result's gradient: [N, C, ...] with 1 to 3 more dims

    Outputs:
      dx: [N, C, size...]; dtype as dy

    Attributes:
      size: the spatial sizes of what was pooled
    """
@overload
def adaptive_avg_pool_grad(dy: ArrayLike, size: Dims, *, name: str | None = None) -> Tensor: ...
@overload
def adaptive_avg_pool_grad() -> Function: ...

@overload
def adaptive_max_pool(x: Value, size: Dims, *, name: str | None = None) -> Value:
    """The largest element of each part of x, channel by channel, where a dim of size S is cut into
    `size` parts: part i is from i * S // size up to (i + 1) * S / size, rounded up. nan where a
    part has one.

    Inputs:
      x: [N, C, ...] with 1 to 3 more dims

    Outputs:
      y: [N, C, size...]; dtype as x

    Attributes:
      size: the spatial sizes of the result: one for all dims, or one for each
    """
@overload
def adaptive_max_pool(x: ArrayLike, size: Dims, *, name: str | None = None) -> Tensor: ...
@overload
def adaptive_max_pool() -> Function: ...

@overload
def adaptive_max_pool_index(x: Value, size: Dims, *, name: str | None = None) -> Value:
    """Where adaptive_max_pool finds the largest element of each part: its place in the plane of
    its channel, counted in row-major order, for max_unpool. The first of equal elements, the
    last nan.

    Inputs:
      x: [N, C, ...] with 1 to 3 more dims

    Outputs:
      indices: i64[N, C, size...]

    Attributes:
      size: the spatial sizes of the result: one for all dims, or one for each
    """
@overload
def adaptive_max_pool_index(x: ArrayLike, size: Dims, *, name: str | None = None) -> Tensor: ...
@overload
def adaptive_max_pool_index() -> Function: ...

@overload
def add(x: Value, y: Operand, *, name: str | None = None) -> Value:
    """x + y. Integers wrap around. Broadcasts as NumPy does, over sizes that are literally 1.

    Inputs:
      x: left operand
      y: right operand; dtype as x

    Outputs:
      z: dtype as x, the dims of both broadcast
    """
@overload
def add(x: ArrayLike, y: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def add() -> Function: ...

@overload
def add_n(x_0: Value, /, *x: Operand, name: str | None = None) -> Value:
    """The sum of one or more tensors, from left to right; of one it is that. Integers wrap around.
    Broadcasts as NumPy does, over sizes that are literally 1.

    Inputs:
      x: one or more, of one dtype

    Outputs:
      y: dtype as x, the dims of all broadcast
    """
@overload
def add_n(x_0: ArrayLike, /, *x: ArrayLike, name: str | None = None) -> Tensor: ...
@overload
def add_n() -> Function: ...

@overload
def all(
    x: Value,
    *,
    axes: Sequence[int] | None = None,
    keep: bool = False,
    name: str | None = None,
) -> Value:
    """Whether all elements over axes are true or other than 0; true where there is none. nan is
    other than 0.

    Inputs:
      x: elements of any rank; the ragged dims and the one before them are reduced together only

    Outputs:
      y: bool; the dims of x without the axes

    Attributes:
      axes: axes to go over, negative ones from the end; none: all
      keep = False: keep each of these axes, with size 1
    """
@overload
def all(
    x: ArrayLike,
    *,
    axes: Sequence[int] | None = None,
    keep: bool = False,
    name: str | None = None,
) -> Tensor: ...
@overload
def all(*, axes: Sequence[int] | None = None, keep: bool = False) -> Function: ...

@overload
def any(
    x: Value,
    *,
    axes: Sequence[int] | None = None,
    keep: bool = False,
    name: str | None = None,
) -> Value:
    """Whether an element over axes is true or other than 0; false where there is none. nan is
    other than 0.

    Inputs:
      x: elements of any rank; the ragged dims and the one before them are reduced together only

    Outputs:
      y: bool; the dims of x without the axes

    Attributes:
      axes: axes to go over, negative ones from the end; none: all
      keep = False: keep each of these axes, with size 1
    """
@overload
def any(
    x: ArrayLike,
    *,
    axes: Sequence[int] | None = None,
    keep: bool = False,
    name: str | None = None,
) -> Tensor: ...
@overload
def any(*, axes: Sequence[int] | None = None, keep: bool = False) -> Function: ...

@overload
def argmax(x: Value, *, axis: int = -1, keep: bool = False, name: str | None = None) -> Value:
    """Where the largest element along an axis is: the first of equal ones, or the first nan. The
    axis must not be empty.

    Inputs:
      x: at least one dim

    Outputs:
      index: i64, below the size of the axis; the dims of x without it

    Attributes:
      axis = -1: the axis, a negative one from the end
      keep = False: keep the axis, with size 1
    """
@overload
def argmax(x: ArrayLike, *, axis: int = -1, keep: bool = False, name: str | None = None) -> Tensor: ...
@overload
def argmax(*, axis: int = -1, keep: bool = False) -> Function: ...

@overload
def argmin(x: Value, *, axis: int = -1, keep: bool = False, name: str | None = None) -> Value:
    """Where the smallest element along an axis is: the first of equal ones, or the first nan. The
    axis must not be empty.

    Inputs:
      x: at least one dim

    Outputs:
      index: i64, below the size of the axis; the dims of x without it

    Attributes:
      axis = -1: the axis, a negative one from the end
      keep = False: keep the axis, with size 1
    """
@overload
def argmin(x: ArrayLike, *, axis: int = -1, keep: bool = False, name: str | None = None) -> Tensor: ...
@overload
def argmin(*, axis: int = -1, keep: bool = False) -> Function: ...

@overload
def argsort(
    x: Value,
    *,
    axis: int = -1,
    descending: bool = False,
    name: str | None = None,
) -> Value:
    """The places of the elements of each line along an axis, in the order of the elements. Equal
    elements stay in their order. nan counts as larger than every number, so it comes last, and
    first where the order is descending.

    Inputs:
      x: at least one dim

    Outputs:
      indices: i64, dims as x: where each element of the sorted line stands in x

    Attributes:
      axis = -1: the axis, a negative one from the end
      descending = False: the largest first
    """
@overload
def argsort(
    x: ArrayLike,
    *,
    axis: int = -1,
    descending: bool = False,
    name: str | None = None,
) -> Tensor: ...
@overload
def argsort(*, axis: int = -1, descending: bool = False) -> Function: ...

@overload
def asin(x: Value, *, name: str | None = None) -> Value:
    """The arc sine, element by element: nan outside [-1, 1].

    Inputs:
      x: numbers in [-1, 1]

    Outputs:
      y: angles in [-pi / 2, pi / 2]; type as x
    """
@overload
def asin(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def asin() -> Function: ...

@overload
def asinh(x: Value, *, name: str | None = None) -> Value:
    """The number whose hyperbolic sine is x, element by element.

    Inputs:
      x: any numbers

    Outputs:
      y: type as x
    """
@overload
def asinh(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def asinh() -> Function: ...

@overload
def atan(x: Value, *, name: str | None = None) -> Value:
    """The arc tangent, element by element.

    Inputs:
      x: any numbers

    Outputs:
      y: angles in [-pi / 2, pi / 2]; type as x
    """
@overload
def atan(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def atan() -> Function: ...

@overload
def atan2(y: Value, x: Operand, *, name: str | None = None) -> Value:
    """The angle of the point (x, y) in radians, element by element. The gradient where both are 0
    is 0. Broadcasts as NumPy does, over sizes that are literally 1.

    Inputs:
      y: how far up the points are
      x: how far to the right; dtype as y

    Outputs:
      angle: in [-pi, pi]; dtype as y, the dims of both broadcast
    """
@overload
def atan2(y: ArrayLike, x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def atan2() -> Function: ...

@overload
def atanh(x: Value, *, name: str | None = None) -> Value:
    """The number whose hyperbolic tangent is x, element by element: infinite at 1 and -1, nan
    beyond.

    Inputs:
      x: numbers in [-1, 1]

    Outputs:
      y: type as x
    """
@overload
def atanh(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def atanh() -> Function: ...

@overload
def attention(
    q: Value,
    k: Operand,
    v: Operand,
    past: Operand | None = None,
    mask: Operand | None = None,
    *,
    causal: bool = False,
    scale: float | None = None,
    name: str | None = None,
) -> Results:
    """Scaled dot product attention (Vaswani et al., arXiv:1706.03762): softmax(scale * q k^T +
    mask) v, with memory for blocks of the scores only. Each row of q is a query that sees the
    rows of k and v, its keys and values. With `causal`, query i sees the keys up to `past` + i.
    Where k and v have fewer heads than q, as many neighbouring heads of q share one (grouped
    queries, arXiv:2305.13245). A query that sees no key gives 0.

    Inputs:
      q: [..., H, T, D]: T queries, of H heads; or [T, D]
      k: [..., G, S, D]: S keys; G divides H
      v: [..., G, S, E]: the values of the keys
      past: how many keys come before the first query's own, with `causal`; 0 if left out
      mask: broadcasts to [..., H, T, S]: truth values, true where a query sees a key; or of q's
          dtype, added to the scaled products

    Outputs:
      y: [..., H, T, E]; dtype as q
      lse: [..., H, T]: the logarithm of each query's sum of exponentials; f64, or f32

    Attributes:
      causal = False: queries see no keys that come after their own
      scale: what the products are multiplied by; none: 1 / sqrt(D)
    """
@overload
def attention(
    q: ArrayLike,
    k: ArrayLike,
    v: ArrayLike,
    past: ArrayLike | None = None,
    mask: ArrayLike | None = None,
    *,
    causal: bool = False,
    scale: float | None = None,
    name: str | None = None,
) -> Results: ...
@overload
def attention(
    *,
    past: Operand | None = None,
    mask: Operand | None = None,
    causal: bool = False,
    scale: float | None = None,
) -> Function: ...

@overload
def attention_gradient(
    q: Value,
    k: Operand,
    v: Operand,
    lse: Operand,
    dy: Operand,
    shift: Operand,
    past: Operand | None = None,
    mask: Operand | None = None,
    *,
    causal: bool = False,
    scale: float | None = None,
    name: str | None = None,
) -> Results:
    """The gradients of attention(q, k, v, past, mask), with memory for blocks of the scores only.

    Inputs:
      q: as attention had it
      k: as attention had it
      v: as attention had it
      lse: what attention gave
      dy: the gradient of y
      shift: for each query the sum of y * dy, less the gradient of lse; dtype as lse
      past: as attention had it
      mask: as attention had it

    Outputs:
      dq: type as q
      dk: type as k
      dv: type as v

    Attributes:
      causal = False: as attention had it
      scale: as attention had it
    """
@overload
def attention_gradient(
    q: ArrayLike,
    k: ArrayLike,
    v: ArrayLike,
    lse: ArrayLike,
    dy: ArrayLike,
    shift: ArrayLike,
    past: ArrayLike | None = None,
    mask: ArrayLike | None = None,
    *,
    causal: bool = False,
    scale: float | None = None,
    name: str | None = None,
) -> Results: ...
@overload
def attention_gradient(
    *,
    past: Operand | None = None,
    mask: Operand | None = None,
    causal: bool = False,
    scale: float | None = None,
) -> Function: ...

@overload
def avg_pool(
    x: Value,
    *,
    kernel: Dims,
    stride: Dims | None = None,
    pad: Dims = [0],
    dilation: Dims = [1],
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor: int | None = None,
    name: str | None = None,
) -> Value:
    """The mean of each window of x, channel by channel. A window without elements gives 0.
    divisor=1 gives sums. Halves are added up in f32.

    Inputs:
      x: [N, C, ...] with 1 to 3 more dims

    Outputs:
      y: [N, C, ...], each size as the window gives it; dtype as x

    Attributes:
      kernel: the window's sizes: one for all dims, or one for each
      stride: steps between windows, one for all dims or for each; none: the kernel
      pad in "same", "same_lower", "valid" = [0]: places added around x: one count for all
          sides, one for each dim, or begin and end for each dim. "same": as many as give size /
          stride windows, rounded up, an odd one at the end ("same_lower": at the begin);
          "valid": none
      dilation = [1]: steps between the places of a window, one for all dims or for each
      ceil_mode = False: one more window for what is left at the end, unless it would begin in
          the padding there
      count_include_pad = True: the padding counts as elements, of value 0
      divisor >= 1: divides by this, not by the count of elements
    """
@overload
def avg_pool(
    x: ArrayLike,
    *,
    kernel: Dims,
    stride: Dims | None = None,
    pad: Dims = [0],
    dilation: Dims = [1],
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor: int | None = None,
    name: str | None = None,
) -> Tensor: ...
@overload
def avg_pool(
    *,
    kernel: Dims,
    stride: Dims | None = None,
    pad: Dims = [0],
    dilation: Dims = [1],
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor: int | None = None,
) -> Function: ...

@overload
def avg_pool_grad(
    dy: Value,
    *,
    size: Dims,
    kernel: Dims,
    stride: Dims | None = None,
    pad: Dims = [0],
    dilation: Dims = [1],
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor: int | None = None,
    name: str | None = None,
) -> Value:
    """The gradient of avg_pool: each element of dy, divided as the mean was, goes to all elements
    of its window, and is added up where windows overlap.

    Inputs:
      dy: the result's gradient: [N, C, ...] with 1 to 3 more dims

    Outputs:
      dx: [N, C, size...]; dtype as dy

    Attributes:
      size: the spatial sizes of what was pooled
      kernel: the window's sizes: one for all dims, or one for each
      stride: steps between windows, one for all dims or for each; none: the kernel
      pad in "same", "same_lower", "valid" = [0]: places added around x: one count for all
          sides, one for each dim, or begin and end for each dim. "same": as many as give size /
          stride windows, rounded up, an odd one at the end ("same_lower": at the begin);
          "valid": none
      dilation = [1]: steps between the places of a window, one for all dims or for each
      ceil_mode = False: one more window for what is left at the end, unless it would begin in
          the padding there
      count_include_pad = True: the padding counts as elements, of value 0
      divisor >= 1: divides by this, not by the count of elements
    """
@overload
def avg_pool_grad(
    dy: ArrayLike,
    *,
    size: Dims,
    kernel: Dims,
    stride: Dims | None = None,
    pad: Dims = [0],
    dilation: Dims = [1],
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor: int | None = None,
    name: str | None = None,
) -> Tensor: ...
@overload
def avg_pool_grad(
    *,
    size: Dims,
    kernel: Dims,
    stride: Dims | None = None,
    pad: Dims = [0],
    dilation: Dims = [1],
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor: int | None = None,
) -> Function: ...

@overload
def bernoulli(x: Value, *, dtype: DType | None = None, name: str | None = None) -> Value:
    """1 with the probability that x gives, else 0, element by element; 0 for nan. The numbers
    depend on x, the seed, the count of runs and the name of the result alone. The gradient is
    0.

    Inputs:
      x: probabilities, in [0, 1]

    Outputs:
      y: 0 or 1; dims as x

    Attributes:
      dtype: of the result; none: as x
    """
@overload
def bernoulli(x: ArrayLike, *, dtype: DType | None = None, name: str | None = None) -> Tensor: ...
@overload
def bernoulli(*, dtype: DType | None = None) -> Function: ...

@overload
def binary_cross_entropy(
    p: Value,
    label: Operand,
    *,
    logits: bool = False,
    name: str | None = None,
) -> Value:
    """-(label * log(p) + (1 - label) * log(1 - p)), element by element, with logarithms of at
    least -100. Broadcasts as NumPy does, over sizes that are literally 1.

    Inputs:
      p: probabilities, in [0, 1]
      label: what they should be, in [0, 1]; dtype as p

    Outputs:
      loss: from 0 on; dtype as p, the dims of both broadcast

    Attributes:
      logits = False: p are any numbers, of which the probabilities are the sigmoid; more exact
          than to take it before
    """
@overload
def binary_cross_entropy(
    p: ArrayLike,
    label: ArrayLike,
    *,
    logits: bool = False,
    name: str | None = None,
) -> Tensor: ...
@overload
def binary_cross_entropy(*, logits: bool = False) -> Function: ...

@overload
def bitwise_and(x: Value, y: Operand, *, name: str | None = None) -> Value:
    """The bits that are set in both. Broadcasts as NumPy does, over sizes that are literally 1.

    Inputs:
      x: left operand
      y: right operand; dtype as x

    Outputs:
      z: dtype as x, the dims of both broadcast
    """
@overload
def bitwise_and(x: ArrayLike, y: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def bitwise_and() -> Function: ...

@overload
def bitwise_not(x: Value, *, name: str | None = None) -> Value:
    """Each bit turned over, element by element: -1 - x for a signed integer.

    Inputs:
      x: integers or truth values

    Outputs:
      y: type as x
    """
@overload
def bitwise_not(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def bitwise_not() -> Function: ...

@overload
def bitwise_or(x: Value, y: Operand, *, name: str | None = None) -> Value:
    """The bits that are set in at least one. Broadcasts as NumPy does, over sizes that are
    literally 1.

    Inputs:
      x: left operand
      y: right operand; dtype as x

    Outputs:
      z: dtype as x, the dims of both broadcast
    """
@overload
def bitwise_or(x: ArrayLike, y: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def bitwise_or() -> Function: ...

@overload
def bitwise_xor(x: Value, y: Operand, *, name: str | None = None) -> Value:
    """The bits that are set in one of them only. Broadcasts as NumPy does, over sizes that are
    literally 1.

    Inputs:
      x: left operand
      y: right operand; dtype as x

    Outputs:
      z: dtype as x, the dims of both broadcast
    """
@overload
def bitwise_xor(x: ArrayLike, y: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def bitwise_xor() -> Function: ...

@overload
def broadcast_to(x: Value, dims: Dims, *, name: str | None = None) -> Value:
    """x repeated to fill other dims: along sizes that are literally 1, and along new axes in
    front.

    Inputs:
      x: elements of any rank

    Outputs:
      y: dims as said; dtype as x

    Attributes:
      dims: the new dims
    """
@overload
def broadcast_to(x: ArrayLike, dims: Dims, *, name: str | None = None) -> Tensor: ...
@overload
def broadcast_to() -> Function: ...

@overload
def cast(x: Value, *, to: DType, name: str | None = None) -> Value:
    """Each element as another dtype. Reals become integers by dropping the fraction, and bool by
    being other than 0. Integers wrap around; a real outside i32 or i64, or nan, becomes the
    smallest integer. i16, u16, u32 and u64, which no other operator computes with, come in and
    go out this way.

    Inputs:
      x: elements of any rank

    Outputs:
      y: dims as x

    Attributes:
      to: the new dtype
    """
@overload
def cast(x: ArrayLike, *, to: DType, name: str | None = None) -> Tensor: ...
@overload
def cast(*, to: DType) -> Function: ...

@overload
def cbrt(x: Value, *, name: str | None = None) -> Value:
    """The cube root, element by element; that of a negative number is negative.

    Inputs:
      x: any numbers

    Outputs:
      y: type as x
    """
@overload
def cbrt(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def cbrt() -> Function: ...

@overload
def ceil(x: Value, *, name: str | None = None) -> Value:
    """The smallest integer that is not below x. The gradient is 0.

    Inputs:
      x: any numbers

    Outputs:
      y: type as x
    """
@overload
def ceil(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def ceil() -> Function: ...

@overload
def celu(x: Value, *, alpha: float = 1.0, name: str | None = None) -> Value:
    """x where it is positive, else alpha * (exp(x / alpha) - 1), element by element (Barron,
    arXiv:1704.07483).

    Inputs:
      x: any numbers

    Outputs:
      y: type as x

    Attributes:
      alpha > 0 = 1.0: minus the limit for small x
    """
@overload
def celu(x: ArrayLike, *, alpha: float = 1.0, name: str | None = None) -> Tensor: ...
@overload
def celu(*, alpha: float = 1.0) -> Function: ...

@overload
def clip(
    x: Value,
    *,
    low: float | None = None,
    high: float | None = None,
    name: str | None = None,
) -> Value:
    """x, but at least `low` and at most `high`, element by element; nan stays. The gradient is
    that of x where x is within both, else 0.

    Inputs:
      x: any numbers

    Outputs:
      y: type as x

    Attributes:
      low: the smallest result; none: no limit
      high: the largest result; none: no limit
    """
@overload
def clip(
    x: ArrayLike,
    *,
    low: float | None = None,
    high: float | None = None,
    name: str | None = None,
) -> Tensor: ...
@overload
def clip(*, low: float | None = None, high: float | None = None) -> Function: ...

@overload
def col2im(
    columns: Value,
    size: Dims,
    *,
    kernel: Dims,
    stride: Dims = [1],
    pad: Dims = [0],
    dilation: Dims = [1],
    name: str | None = None,
) -> Value:
    """Adds up columns where windows of the result overlap: the reverse of im2col (PyTorch's fold).
    Halves are added up in f32, integers wrap around.

    Inputs:
      columns: [N, C * kernel, L], as im2col gives them

    Outputs:
      y: [N, C, size...]; dtype as the columns

    Attributes:
      size: the spatial sizes of the result, 1 to 3
      kernel: the window's sizes: one for all dims, or one for each
      stride = [1]: steps between windows, one for all dims or for each
      pad in "same", "same_lower", "valid" = [0]: places added around x: one count for all
          sides, one for each dim, or begin and end for each dim. "same": as many as give size /
          stride windows, rounded up, an odd one at the end ("same_lower": at the begin);
          "valid": none
      dilation = [1]: steps between the places of a window, one for all dims or for each
    """
@overload
def col2im(
    columns: ArrayLike,
    size: Dims,
    *,
    kernel: Dims,
    stride: Dims = [1],
    pad: Dims = [0],
    dilation: Dims = [1],
    name: str | None = None,
) -> Tensor: ...
@overload
def col2im(*, kernel: Dims, stride: Dims = [1], pad: Dims = [0], dilation: Dims = [1]) -> Function: ...

@overload
def concat(x_0: Value, /, *x: Operand, axis: int = 0, name: str | None = None) -> Value:
    """Tensors one after another along an axis.

    Inputs:
      x: one or more, of one dtype and rank, with the same sizes beside the axis

    Outputs:
      y: dtype as x; the sizes along the axis added up

    Attributes:
      axis = 0: the axis, a negative one from the end
    """
@overload
def concat(x_0: ArrayLike, /, *x: ArrayLike, axis: int = 0, name: str | None = None) -> Tensor: ...
@overload
def concat(*, axis: int = 0) -> Function: ...

@overload
def constant(value: Any, *, dtype: DType | None = None, name: str | None = None) -> Any:
    """A tensor whose elements stand in the text.

    Outputs:
      y: as `value`

    Attributes:
      value: a number, or a nested list of numbers
      dtype: how the numbers are read; none: i64, or f32 where one has a point
    """
@overload
def constant(*, dtype: DType | None = None) -> Function: ...

@overload
def conv1d(
    x: Value,
    w: Operand,
    bias: Operand | None = None,
    *,
    stride: Dims = [1],
    pad: Dims = [0],
    dilation: Dims = [1],
    groups: int = 1,
    name: str | None = None,
) -> Value:
    """Slides a window over x and adds up its elements, weighted, over all channels; the weights
    are not turned round (a cross-correlation, as in PyTorch). Padding counts as 0. A size S
    becomes (S + padding - ((kernel - 1) * dilation + 1)) // stride + 1. groups = C is a
    depthwise convolution. Halves are added up in f32, integers wrap around.

    Inputs:
      x: [N, C, L]
      w: [K, C / groups, kernel...]; dtype as x
      bias: added to each channel of the result: [K]; dtype as x

    Outputs:
      y: [N, K, L], each size as the window gives it; dtype as x

    Attributes:
      stride = [1]: steps between windows, one for all dims or for each
      pad in "same", "same_lower", "valid" = [0]: places added around x: one count for all
          sides, one for each dim, or begin and end for each dim. "same": as many as give size /
          stride windows, rounded up, an odd one at the end ("same_lower": at the begin);
          "valid": none
      dilation = [1]: steps between the places of a window, one for all dims or for each
      groups >= 1 = 1: parts that the channels are split into; each part of the result sees its
          own part of x alone
    """
@overload
def conv1d(
    x: ArrayLike,
    w: ArrayLike,
    bias: ArrayLike | None = None,
    *,
    stride: Dims = [1],
    pad: Dims = [0],
    dilation: Dims = [1],
    groups: int = 1,
    name: str | None = None,
) -> Tensor: ...
@overload
def conv1d(
    *,
    bias: Operand | None = None,
    stride: Dims = [1],
    pad: Dims = [0],
    dilation: Dims = [1],
    groups: int = 1,
) -> Function: ...

@overload
def conv2d(
    x: Value,
    w: Operand,
    bias: Operand | None = None,
    *,
    stride: Dims = [1],
    pad: Dims = [0],
    dilation: Dims = [1],
    groups: int = 1,
    name: str | None = None,
) -> Value:
    """Slides a window over x and adds up its elements, weighted, over all channels; the weights
    are not turned round (a cross-correlation, as in PyTorch). Padding counts as 0. A size S
    becomes (S + padding - ((kernel - 1) * dilation + 1)) // stride + 1. groups = C is a
    depthwise convolution. Halves are added up in f32, integers wrap around.

    Inputs:
      x: [N, C, H, W]
      w: [K, C / groups, kernel...]; dtype as x
      bias: added to each channel of the result: [K]; dtype as x

    Outputs:
      y: [N, K, H, W], each size as the window gives it; dtype as x

    Attributes:
      stride = [1]: steps between windows, one for all dims or for each
      pad in "same", "same_lower", "valid" = [0]: places added around x: one count for all
          sides, one for each dim, or begin and end for each dim. "same": as many as give size /
          stride windows, rounded up, an odd one at the end ("same_lower": at the begin);
          "valid": none
      dilation = [1]: steps between the places of a window, one for all dims or for each
      groups >= 1 = 1: parts that the channels are split into; each part of the result sees its
          own part of x alone
    """
@overload
def conv2d(
    x: ArrayLike,
    w: ArrayLike,
    bias: ArrayLike | None = None,
    *,
    stride: Dims = [1],
    pad: Dims = [0],
    dilation: Dims = [1],
    groups: int = 1,
    name: str | None = None,
) -> Tensor: ...
@overload
def conv2d(
    *,
    bias: Operand | None = None,
    stride: Dims = [1],
    pad: Dims = [0],
    dilation: Dims = [1],
    groups: int = 1,
) -> Function: ...

@overload
def conv3d(
    x: Value,
    w: Operand,
    bias: Operand | None = None,
    *,
    stride: Dims = [1],
    pad: Dims = [0],
    dilation: Dims = [1],
    groups: int = 1,
    name: str | None = None,
) -> Value:
    """Slides a window over x and adds up its elements, weighted, over all channels; the weights
    are not turned round (a cross-correlation, as in PyTorch). Padding counts as 0. A size S
    becomes (S + padding - ((kernel - 1) * dilation + 1)) // stride + 1. groups = C is a
    depthwise convolution. Halves are added up in f32, integers wrap around.

    Inputs:
      x: [N, C, D, H, W]
      w: [K, C / groups, kernel...]; dtype as x
      bias: added to each channel of the result: [K]; dtype as x

    Outputs:
      y: [N, K, D, H, W], each size as the window gives it; dtype as x

    Attributes:
      stride = [1]: steps between windows, one for all dims or for each
      pad in "same", "same_lower", "valid" = [0]: places added around x: one count for all
          sides, one for each dim, or begin and end for each dim. "same": as many as give size /
          stride windows, rounded up, an odd one at the end ("same_lower": at the begin);
          "valid": none
      dilation = [1]: steps between the places of a window, one for all dims or for each
      groups >= 1 = 1: parts that the channels are split into; each part of the result sees its
          own part of x alone
    """
@overload
def conv3d(
    x: ArrayLike,
    w: ArrayLike,
    bias: ArrayLike | None = None,
    *,
    stride: Dims = [1],
    pad: Dims = [0],
    dilation: Dims = [1],
    groups: int = 1,
    name: str | None = None,
) -> Tensor: ...
@overload
def conv3d(
    *,
    bias: Operand | None = None,
    stride: Dims = [1],
    pad: Dims = [0],
    dilation: Dims = [1],
    groups: int = 1,
) -> Function: ...

@overload
def conv_transpose1d(
    x: Value,
    w: Operand,
    bias: Operand | None = None,
    *,
    stride: Dims = [1],
    pad: Dims = [0],
    dilation: Dims = [1],
    groups: int = 1,
    output_padding: Dims = [0],
    size: Dims | None = None,
    name: str | None = None,
) -> Value:
    """Spreads each element of x, weighted, over a window of the result, and adds up where windows
    overlap: the gradient of a convolution of the result's size (PyTorch's conv_transpose). A
    size S becomes (S - 1) * stride - padding + (kernel - 1) * dilation + 1 + output_padding,
    and S * stride where pad is "same". Halves are added up in f32, integers wrap around.

    Inputs:
      x: [N, C, L]
      w: [C, K / groups, kernel...]; dtype as x
      bias: added to each channel of the result: [K]; dtype as x

    Outputs:
      y: [N, K, L], each size as the window gives it; dtype as x

    Attributes:
      stride = [1]: steps between windows, one for all dims or for each
      pad in "same", "same_lower", "valid" = [0]: places added around x: one count for all
          sides, one for each dim, or begin and end for each dim. "same": as many as give size /
          stride windows, rounded up, an odd one at the end ("same_lower": at the begin);
          "valid": none
      dilation = [1]: steps between the places of a window, one for all dims or for each
      groups >= 1 = 1: parts that the channels are split into; each part of the result sees its
          own part of x alone
      output_padding = [0]: added to the sizes of the result, at the end; less than the stride
      size: the spatial sizes of the result, instead of output_padding: any whose convolution
          has the sizes of x
    """
@overload
def conv_transpose1d(
    x: ArrayLike,
    w: ArrayLike,
    bias: ArrayLike | None = None,
    *,
    stride: Dims = [1],
    pad: Dims = [0],
    dilation: Dims = [1],
    groups: int = 1,
    output_padding: Dims = [0],
    size: Dims | None = None,
    name: str | None = None,
) -> Tensor: ...
@overload
def conv_transpose1d(
    *,
    bias: Operand | None = None,
    stride: Dims = [1],
    pad: Dims = [0],
    dilation: Dims = [1],
    groups: int = 1,
    output_padding: Dims = [0],
    size: Dims | None = None,
) -> Function: ...

@overload
def conv_transpose2d(
    x: Value,
    w: Operand,
    bias: Operand | None = None,
    *,
    stride: Dims = [1],
    pad: Dims = [0],
    dilation: Dims = [1],
    groups: int = 1,
    output_padding: Dims = [0],
    size: Dims | None = None,
    name: str | None = None,
) -> Value:
    """Spreads each element of x, weighted, over a window of the result, and adds up where windows
    overlap: the gradient of a convolution of the result's size (PyTorch's conv_transpose). A
    size S becomes (S - 1) * stride - padding + (kernel - 1) * dilation + 1 + output_padding,
    and S * stride where pad is "same". Halves are added up in f32, integers wrap around.

    Inputs:
      x: [N, C, H, W]
      w: [C, K / groups, kernel...]; dtype as x
      bias: added to each channel of the result: [K]; dtype as x

    Outputs:
      y: [N, K, H, W], each size as the window gives it; dtype as x

    Attributes:
      stride = [1]: steps between windows, one for all dims or for each
      pad in "same", "same_lower", "valid" = [0]: places added around x: one count for all
          sides, one for each dim, or begin and end for each dim. "same": as many as give size /
          stride windows, rounded up, an odd one at the end ("same_lower": at the begin);
          "valid": none
      dilation = [1]: steps between the places of a window, one for all dims or for each
      groups >= 1 = 1: parts that the channels are split into; each part of the result sees its
          own part of x alone
      output_padding = [0]: added to the sizes of the result, at the end; less than the stride
      size: the spatial sizes of the result, instead of output_padding: any whose convolution
          has the sizes of x
    """
@overload
def conv_transpose2d(
    x: ArrayLike,
    w: ArrayLike,
    bias: ArrayLike | None = None,
    *,
    stride: Dims = [1],
    pad: Dims = [0],
    dilation: Dims = [1],
    groups: int = 1,
    output_padding: Dims = [0],
    size: Dims | None = None,
    name: str | None = None,
) -> Tensor: ...
@overload
def conv_transpose2d(
    *,
    bias: Operand | None = None,
    stride: Dims = [1],
    pad: Dims = [0],
    dilation: Dims = [1],
    groups: int = 1,
    output_padding: Dims = [0],
    size: Dims | None = None,
) -> Function: ...

@overload
def conv_transpose3d(
    x: Value,
    w: Operand,
    bias: Operand | None = None,
    *,
    stride: Dims = [1],
    pad: Dims = [0],
    dilation: Dims = [1],
    groups: int = 1,
    output_padding: Dims = [0],
    size: Dims | None = None,
    name: str | None = None,
) -> Value:
    """Spreads each element of x, weighted, over a window of the result, and adds up where windows
    overlap: the gradient of a convolution of the result's size (PyTorch's conv_transpose). A
    size S becomes (S - 1) * stride - padding + (kernel - 1) * dilation + 1 + output_padding,
    and S * stride where pad is "same". Halves are added up in f32, integers wrap around.

    Inputs:
      x: [N, C, D, H, W]
      w: [C, K / groups, kernel...]; dtype as x
      bias: added to each channel of the result: [K]; dtype as x

    Outputs:
      y: [N, K, D, H, W], each size as the window gives it; dtype as x

    Attributes:
      stride = [1]: steps between windows, one for all dims or for each
      pad in "same", "same_lower", "valid" = [0]: places added around x: one count for all
          sides, one for each dim, or begin and end for each dim. "same": as many as give size /
          stride windows, rounded up, an odd one at the end ("same_lower": at the begin);
          "valid": none
      dilation = [1]: steps between the places of a window, one for all dims or for each
      groups >= 1 = 1: parts that the channels are split into; each part of the result sees its
          own part of x alone
      output_padding = [0]: added to the sizes of the result, at the end; less than the stride
      size: the spatial sizes of the result, instead of output_padding: any whose convolution
          has the sizes of x
    """
@overload
def conv_transpose3d(
    x: ArrayLike,
    w: ArrayLike,
    bias: ArrayLike | None = None,
    *,
    stride: Dims = [1],
    pad: Dims = [0],
    dilation: Dims = [1],
    groups: int = 1,
    output_padding: Dims = [0],
    size: Dims | None = None,
    name: str | None = None,
) -> Tensor: ...
@overload
def conv_transpose3d(
    *,
    bias: Operand | None = None,
    stride: Dims = [1],
    pad: Dims = [0],
    dilation: Dims = [1],
    groups: int = 1,
    output_padding: Dims = [0],
    size: Dims | None = None,
) -> Function: ...

@overload
def conv_weight_grad(
    x: Value,
    dy: Operand,
    *,
    kernel: Dims,
    stride: Dims = [1],
    pad: Dims = [0],
    dilation: Dims = [1],
    groups: int = 1,
    name: str | None = None,
) -> Value:
    """The gradient of a convolution's weights: for each weight, the elements of x that it was
    multiplied by, times those of dy that it went to, added up over the batch and all windows.
    Of 1 to 3 spatial dims.

    Inputs:
      x: what was convolved: [N, C, ...]
      dy: the result's gradient: [N, K, ...]; dtype as x

    Outputs:
      dw: [K, C / groups, kernel...]; dtype as x

    Attributes:
      kernel: the window's sizes: one for all dims, or one for each
      stride = [1]: steps between windows, one for all dims or for each
      pad in "same", "same_lower", "valid" = [0]: places added around x: one count for all
          sides, one for each dim, or begin and end for each dim. "same": as many as give size /
          stride windows, rounded up, an odd one at the end ("same_lower": at the begin);
          "valid": none
      dilation = [1]: steps between the places of a window, one for all dims or for each
      groups >= 1 = 1: parts that the channels are split into; each part of the result sees its
          own part of x alone
    """
@overload
def conv_weight_grad(
    x: ArrayLike,
    dy: ArrayLike,
    *,
    kernel: Dims,
    stride: Dims = [1],
    pad: Dims = [0],
    dilation: Dims = [1],
    groups: int = 1,
    name: str | None = None,
) -> Tensor: ...
@overload
def conv_weight_grad(
    *,
    kernel: Dims,
    stride: Dims = [1],
    pad: Dims = [0],
    dilation: Dims = [1],
    groups: int = 1,
) -> Function: ...

@overload
def cos(x: Value, *, scale: float = 1.0, name: str | None = None) -> Value:
    """scale * cos(x), element by element.

    Inputs:
      x: angles in radians

    Outputs:
      y: in [-scale, scale]; type as x

    Attributes:
      scale > 0 = 1.0: the largest result
    """
@overload
def cos(x: ArrayLike, *, scale: float = 1.0, name: str | None = None) -> Tensor: ...
@overload
def cos(*, scale: float = 1.0) -> Function: ...

@overload
def cos_sim(x: Value, y: Operand, *, scale: float = 1.0, name: str | None = None) -> Value:
    """scale times the cosine of the angle between the rows of x and y, along the last dim. A row
    of zeros has no direction: the result and the gradients are 0 there.

    Inputs:
      x: [..., D]
      y: type as x

    Outputs:
      z: [...], in [-scale, scale]; dtype as x

    Attributes:
      scale > 0 = 1.0: the largest result
    """
@overload
def cos_sim(x: ArrayLike, y: ArrayLike, *, scale: float = 1.0, name: str | None = None) -> Tensor: ...
@overload
def cos_sim(*, scale: float = 1.0) -> Function: ...

@overload
def cosh(x: Value, *, name: str | None = None) -> Value:
    """The hyperbolic cosine, (exp(x) + exp(-x)) / 2, element by element.

    Inputs:
      x: any numbers

    Outputs:
      y: from 1 on; type as x
    """
@overload
def cosh(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def cosh() -> Function: ...

@overload
def count_nonzero(
    x: Value,
    *,
    axes: Sequence[int] | None = None,
    keep: bool = False,
    name: str | None = None,
) -> Value:
    """How many elements over axes are true or other than 0, as nan is.

    Inputs:
      x: elements of any rank; the ragged dims and the one before them are reduced together only

    Outputs:
      y: i64; the dims of x without the axes

    Attributes:
      axes: axes to go over, negative ones from the end; none: all
      keep = False: keep each of these axes, with size 1
    """
@overload
def count_nonzero(
    x: ArrayLike,
    *,
    axes: Sequence[int] | None = None,
    keep: bool = False,
    name: str | None = None,
) -> Tensor: ...
@overload
def count_nonzero(*, axes: Sequence[int] | None = None, keep: bool = False) -> Function: ...

@overload
def counted_places(counts: Value, dims: Dims, *, name: str | None = None) -> Value:
    """The places where a running count, over the elements in their order, goes up by one: a row
    for each, an index for each axis. There are as many as the count is at its end; it must
    begin at 0 or 1.

    Inputs:
      counts: elements of any rank: what cumsum gives of ones and zeros

    Outputs:
      places: i64[dims, rank of counts]

    Attributes:
      dims: how many there are: one size
    """
@overload
def counted_places(counts: ArrayLike, dims: Dims, *, name: str | None = None) -> Tensor: ...
@overload
def counted_places() -> Function: ...

@overload
def cross_entropy(
    logits: Value,
    label: Operand,
    weight: Operand | None = None,
    *,
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
    name: str | None = None,
) -> Value:
    """-log(softmax(logits)) at the label, along the last dim, without overflow for large logits. A
    label outside the classes gives nan; labels declared `in 0..C` cannot be outside.

    Inputs:
      logits: [..., C], a number for each class
      label: [...], classes
      weight: [C], what the loss at a label of that class is multiplied by; left out: 1

    Outputs:
      loss: [...], from 0 on; dtype as the logits

    Attributes:
      ignore_index: rows with this label cost 0; a mean over the others is the sum divided by
          their count. None: no such label
      label_smoothing >= 0, <= 1 = 0.0: the share of what is wanted that is spread over all
          classes alike (Szegedy et al., arXiv:1512.00567)
    """
@overload
def cross_entropy(
    logits: ArrayLike,
    label: ArrayLike,
    weight: ArrayLike | None = None,
    *,
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
    name: str | None = None,
) -> Tensor: ...
@overload
def cross_entropy(
    *,
    weight: Operand | None = None,
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
) -> Function: ...

@overload
def csr_matmul(
    offsets: Value,
    indices: Operand,
    b: Operand,
    values: Operand | None = None,
    *,
    name: str | None = None,
) -> Value:
    """A sparse matrix, given by its rows (CSR), times a dense one: what `s @ b` becomes where s is
    sparse. Row i of the matrix has its elements at offsets[i]..offsets[i + 1]; columns that
    occur twice in a row add up. Without values every element is 1, and row i of the result is
    the sum of some rows of b: a bag of embeddings. A column outside b adds nothing. Halves are
    added up in f32.

    Inputs:
      offsets: [N + 1], where each row begins, and where the last one ends, from 0 on
      indices: [K], the column of each element, row after row
      b: [D, M]
      values: [K], the elements; ones where it is left out

    Outputs:
      c: [N, M]; dtype as b
    """
@overload
def csr_matmul(
    offsets: ArrayLike,
    indices: ArrayLike,
    b: ArrayLike,
    values: ArrayLike | None = None,
    *,
    name: str | None = None,
) -> Tensor: ...
@overload
def csr_matmul(*, values: Operand | None = None) -> Function: ...

@overload
def cumprod(
    x: Value,
    *,
    axis: int = -1,
    exclusive: bool = False,
    reverse: bool = False,
    name: str | None = None,
) -> Value:
    """The products of the first elements along an axis. Integers wrap around.

    Inputs:
      x: at least one dim

    Outputs:
      y: type as x

    Attributes:
      axis = -1: the axis, a negative one from the end
      exclusive = False: of the elements before each place, without the one at it
      reverse = False: from the end of the axis to its start
    """
@overload
def cumprod(
    x: ArrayLike,
    *,
    axis: int = -1,
    exclusive: bool = False,
    reverse: bool = False,
    name: str | None = None,
) -> Tensor: ...
@overload
def cumprod(*, axis: int = -1, exclusive: bool = False, reverse: bool = False) -> Function: ...

@overload
def cumsum(
    x: Value,
    *,
    axis: int = -1,
    exclusive: bool = False,
    reverse: bool = False,
    name: str | None = None,
) -> Value:
    """The sums of the first elements along an axis. Integers wrap around.

    Inputs:
      x: at least one dim

    Outputs:
      y: type as x

    Attributes:
      axis = -1: the axis, a negative one from the end
      exclusive = False: of the elements before each place, without the one at it
      reverse = False: from the end of the axis to its start
    """
@overload
def cumsum(
    x: ArrayLike,
    *,
    axis: int = -1,
    exclusive: bool = False,
    reverse: bool = False,
    name: str | None = None,
) -> Tensor: ...
@overload
def cumsum(*, axis: int = -1, exclusive: bool = False, reverse: bool = False) -> Function: ...

@overload
def data_size(count: Value, dims: Dims, *, name: str | None = None) -> Value:
    """Makes a new symbol stand for a number that is computed. What nonzero and its like become
    holds one; calls that have the symbol in their dims run when the number is known.

    Inputs:
      count: i64[], at least 0

    Outputs:
      y: count

    Attributes:
      dims: the symbol
    """
@overload
def data_size(count: ArrayLike, dims: Dims, *, name: str | None = None) -> Tensor: ...
@overload
def data_size() -> Function: ...

@overload
def depth_to_space(
    x: Value,
    block: int,
    *,
    mode: Literal["dcr", "crd"] = "dcr",
    name: str | None = None,
) -> Value:
    """Lays out channels as blocks of a larger image: with block=2, four channels of [H, W] become
    one of [2*H, 2*W].

    Inputs:
      x: [N, C * places, ...] with 1 to 3 more dims; a block has block ** dims places

    Outputs:
      y: [N, C, ...], each spatial size times `block`; dtype as x

    Attributes:
      block >= 1: the size of a block along each spatial dim
      mode in "dcr", "crd" = 'dcr': which of the channels is the outer count: "dcr" the place in
          the block, "crd" the channel with blocks (PyTorch's pixel_shuffle)
    """
@overload
def depth_to_space(
    x: ArrayLike,
    block: int,
    *,
    mode: Literal["dcr", "crd"] = "dcr",
    name: str | None = None,
) -> Tensor: ...
@overload
def depth_to_space(*, mode: Literal["dcr", "crd"] = "dcr") -> Function: ...

@overload
def dequantize(
    x: Value,
    scale: Operand,
    zero_point: Operand | None = None,
    *,
    axis: int = 1,
    name: str | None = None,
) -> Value:
    """(x - zero_point) * scale, as reals.

    Inputs:
      x: integers
      scale: the distance of neighbours: one, or for each index of `axis`
      zero_point: what 0 became, dims as the scale, dtype as x; left out: 0

    Outputs:
      y: dims as x, dtype as the scale

    Attributes:
      axis = 1: of a scale with a dim: the axis, a negative one from the end
    """
@overload
def dequantize(
    x: ArrayLike,
    scale: ArrayLike,
    zero_point: ArrayLike | None = None,
    *,
    axis: int = 1,
    name: str | None = None,
) -> Tensor: ...
@overload
def dequantize(*, zero_point: Operand | None = None, axis: int = 1) -> Function: ...

@overload
def diag(x: Value, *, k: int = 0, name: str | None = None) -> Value:
    """Square matrices with the rows of x on a diagonal, and zeros elsewhere.

    Inputs:
      x: [..., N]

    Outputs:
      y: [..., N + |k|, N + |k|]; dtype as x

    Attributes:
      k = 0: the diagonal: 0 the main one, 1 the one above it, -1 below
    """
@overload
def diag(x: ArrayLike, *, k: int = 0, name: str | None = None) -> Tensor: ...
@overload
def diag(*, k: int = 0) -> Function: ...

@overload
def diagonal(x: Value, *, k: int = 0, name: str | None = None) -> Value:
    """The elements on a diagonal of matrices.

    Inputs:
      x: [..., N, M]

    Outputs:
      y: [..., length of the diagonal]; dtype as x

    Attributes:
      k = 0: the diagonal: 0 the main one, 1 the one above it, -1 below
    """
@overload
def diagonal(x: ArrayLike, *, k: int = 0, name: str | None = None) -> Tensor: ...
@overload
def diagonal(*, k: int = 0) -> Function: ...

@overload
def div(x: Value, y: Operand, *, name: str | None = None) -> Value:
    """x / y, for real numbers; floor_div is for integers. Broadcasts as NumPy does, over sizes
    that are literally 1.

    Inputs:
      x: left operand
      y: right operand; dtype as x

    Outputs:
      z: dtype as x, the dims of both broadcast
    """
@overload
def div(x: ArrayLike, y: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def div() -> Function: ...

@overload
def einsum(x_0: Value, /, *x: Operand, equation: str, name: str | None = None) -> Value:
    """Products of elements whose axes have equal labels, summed over the labels that the result
    lacks, as NumPy's einsum: "ij,jk->ik" is the product of two matrices. A label that one
    operand has twice takes its diagonal, `...` stands for axes that broadcast, and without "->"
    the result has the labels that occur once, in the order of the alphabet. Matrix products
    compute it, two operands at a time from left to right. Integers wrap around.

    Inputs:
      x: one or more; all of one dtype

    Outputs:
      y: dtype as x, the dims that the equation says

    Attributes:
      equation: the labels of each operand's axes, and of the result's
    """
@overload
def einsum(x_0: ArrayLike, /, *x: ArrayLike, equation: str, name: str | None = None) -> Tensor: ...
@overload
def einsum(*, equation: str) -> Function: ...

@overload
def elu(x: Value, *, alpha: float = 1.0, name: str | None = None) -> Value:
    """x where it is positive, else alpha * (exp(x) - 1), element by element.

    Inputs:
      x: any numbers

    Outputs:
      y: type as x

    Attributes:
      alpha = 1.0: minus the limit for small x
    """
@overload
def elu(x: ArrayLike, *, alpha: float = 1.0, name: str | None = None) -> Tensor: ...
@overload
def elu(*, alpha: float = 1.0) -> Function: ...

@overload
def equal(x: Value, y: Operand, *, name: str | None = None) -> Value:
    """x == y; nan equals nothing. Broadcasts as NumPy does, over sizes that are literally 1.

    Inputs:
      x: left operand
      y: right operand; dtype as x

    Outputs:
      z: bool, the dims of both broadcast
    """
@overload
def equal(x: ArrayLike, y: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def equal() -> Function: ...

@overload
def erf(x: Value, *, name: str | None = None) -> Value:
    """The error function, 2 / sqrt(pi) times the integral of exp(-t**2) from 0 to x.

    Inputs:
      x: any numbers

    Outputs:
      y: in [-1, 1]; type as x
    """
@overload
def erf(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def erf() -> Function: ...

@overload
def erfc(x: Value, *, name: str | None = None) -> Value:
    """1 - erf(x), element by element; exact also where that is small.

    Inputs:
      x: any numbers

    Outputs:
      y: in [0, 2]; type as x
    """
@overload
def erfc(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def erfc() -> Function: ...

@overload
def exp(x: Value, *, name: str | None = None) -> Value:
    """e to the power of x, element by element.

    Inputs:
      x: exponents

    Outputs:
      y: type as x
    """
@overload
def exp(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def exp() -> Function: ...

@overload
def exp2(x: Value, *, name: str | None = None) -> Value:
    """2 to the power of x, element by element.

    Inputs:
      x: exponents

    Outputs:
      y: type as x
    """
@overload
def exp2(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def exp2() -> Function: ...

@overload
def expm1(x: Value, *, name: str | None = None) -> Value:
    """exp(x) - 1, element by element; exact also where x is small.

    Inputs:
      x: exponents

    Outputs:
      y: from -1 on; type as x
    """
@overload
def expm1(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def expm1() -> Function: ...

@overload
def eye(dims: Dims, *, dtype: DType = "f32", k: int = 0, name: str | None = None) -> Any:
    """Matrices with ones on a diagonal and zeros elsewhere.

    Outputs:
      y: `dims`; of `dtype`

    Attributes:
      dims: the sizes; the last two are those of a matrix
      dtype = 'f32': of the elements
      k = 0: the diagonal: 0 the main one, 1 the one above it, -1 below
    """
@overload
def eye(*, dtype: DType = "f32", k: int = 0) -> Function: ...

@overload
def fill(dims: Dims, *, value: Any, dtype: DType = "f32", name: str | None = None) -> Any:
    """One number everywhere.

    Outputs:
      y: `dims` elements of `dtype`

    Attributes:
      dims: the sizes
      value: the number
      dtype = 'f32': of the elements
    """
@overload
def fill(*, value: Any, dtype: DType = "f32") -> Function: ...

@overload
def flatten(x: Value, *, axis: int = 1, name: str | None = None) -> Value:
    """The same elements in the same order, with an axis and all after it joined to one.

    Inputs:
      x: at least one dim

    Outputs:
      y: dtype as x

    Attributes:
      axis = 1: the first axis that is joined, a negative one from the end
    """
@overload
def flatten(x: ArrayLike, *, axis: int = 1, name: str | None = None) -> Tensor: ...
@overload
def flatten(*, axis: int = 1) -> Function: ...

@overload
def flip(x: Value, axes: Sequence[int] | None = None, *, name: str | None = None) -> Value:
    """x with the order of its elements turned round along axes.

    Inputs:
      x: elements of any rank

    Outputs:
      y: type as x

    Attributes:
      axes: the axes, each once, negative ones from the end; none: all
    """
@overload
def flip(x: ArrayLike, axes: Sequence[int] | None = None, *, name: str | None = None) -> Tensor: ...
@overload
def flip() -> Function: ...

@overload
def floor(x: Value, *, name: str | None = None) -> Value:
    """The largest integer that is not above x. The gradient is 0.

    Inputs:
      x: any numbers

    Outputs:
      y: type as x
    """
@overload
def floor(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def floor() -> Function: ...

@overload
def floor_div(x: Value, y: Operand, *, name: str | None = None) -> Value:
    """x // y: the quotient rounded down; 0 where an integer is divided by 0. Broadcasts as NumPy
    does, over sizes that are literally 1.

    Inputs:
      x: left operand
      y: right operand; dtype as x

    Outputs:
      z: dtype as x, the dims of both broadcast
    """
@overload
def floor_div(x: ArrayLike, y: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def floor_div() -> Function: ...

@overload
def fmod(x: Value, y: Operand, *, name: str | None = None) -> Value:
    """x - y * trunc(x / y), with the sign of x, as C's fmod and the operator % of C; 0 where an
    integer is divided by 0. `mod` has the sign of y. Broadcasts as NumPy does, over sizes that
    are literally 1.

    Inputs:
      x: left operand
      y: right operand; dtype as x

    Outputs:
      z: dtype as x, the dims of both broadcast
    """
@overload
def fmod(x: ArrayLike, y: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def fmod() -> Function: ...

@overload
def gather(x: Value, indices: Operand, *, axis: int = 0, name: str | None = None) -> Value:
    """The elements of x, or rows of it, at given places along an axis, as NumPy's take: with
    axis=0, y[i, ...] is x[indices[i], ...]. A negative index counts from the end. At an index
    outside the axis the result is nan, or 0 for integers and truth values; indices declared `in
    0..V` cannot be outside where V is at most the size of the axis, which is checked.

    Inputs:
      x: at least one dim
      indices: places along the axis

    Outputs:
      y: dtype as x; the dims of x, with those of the indices in place of the axis

    Attributes:
      axis = 0: the axis of x, a negative one from the end
    """
@overload
def gather(x: ArrayLike, indices: ArrayLike, *, axis: int = 0, name: str | None = None) -> Tensor: ...
@overload
def gather(*, axis: int = 0) -> Function: ...

@overload
def gather_nd(x: Value, indices: Operand, *, batch_dims: int = 0, name: str | None = None) -> Value:
    """The elements of x, or parts of it, at places that are given along several axes: y[i, ...] is
    x[indices[i, 0], ..., indices[i, K - 1], ...]. Negative indices count from the end. Where
    one is outside its axis the result is nan, or 0 for integers and truth values.

    Inputs:
      x: at least one dim
      indices: [..., K]: places along the first K axes of x behind `batch_dims`

    Outputs:
      y: dtype as x; the dims of the indices without K, then those of x not indexed

    Attributes:
      batch_dims >= 0 = 0: how many of the first axes x and the indices share
    """
@overload
def gather_nd(
    x: ArrayLike,
    indices: ArrayLike,
    *,
    batch_dims: int = 0,
    name: str | None = None,
) -> Tensor: ...
@overload
def gather_nd(*, batch_dims: int = 0) -> Function: ...

@overload
def gelu(x: Value, *, approximate: bool = False, name: str | None = None) -> Value:
    """x times the part of a standard normal distribution that lies below x (Hendrycks and Gimpel,
    arXiv:1606.08415), element by element.

    Inputs:
      x: any numbers

    Outputs:
      y: type as x

    Attributes:
      approximate = False: x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3))) in its place
    """
@overload
def gelu(x: ArrayLike, *, approximate: bool = False, name: str | None = None) -> Tensor: ...
@overload
def gelu(*, approximate: bool = False) -> Function: ...

@overload
def gradient(
    y: Value,
    dy: Operand,
    *xs: Operand,
    count: int = 1,
    name: str | None = None,
) -> Results:
    """How y changes with each of xs: the derivative of the sum of y times dy. In the language
    `grad(loss, x)`, `grad(loss, [a, b])` and `grad(y, x, dy)` are this. It becomes the calls of
    the way back (`pdl dump --emit=opt` shows them), which can be derived again.

    Inputs:
      y: any rank; computed from xs
      dy: type as y
      xs: what y is derived by

    Outputs:
      dx: one for each of xs, of its type

    Attributes:
      count >= 1 = 1: how many xs there are
    """
@overload
def gradient(
    y: ArrayLike,
    dy: ArrayLike,
    *xs: ArrayLike,
    count: int = 1,
    name: str | None = None,
) -> Results: ...
@overload
def gradient(*, count: int = 1) -> Function: ...

@overload
def greater(x: Value, y: Operand, *, name: str | None = None) -> Value:
    """x > y; false where one is nan. Broadcasts as NumPy does, over sizes that are literally 1.

    Inputs:
      x: left operand
      y: right operand; dtype as x

    Outputs:
      z: bool, the dims of both broadcast
    """
@overload
def greater(x: ArrayLike, y: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def greater() -> Function: ...

@overload
def greater_equal(x: Value, y: Operand, *, name: str | None = None) -> Value:
    """x >= y; false where one is nan. Broadcasts as NumPy does, over sizes that are literally 1.

    Inputs:
      x: left operand
      y: right operand; dtype as x

    Outputs:
      z: bool, the dims of both broadcast
    """
@overload
def greater_equal(x: ArrayLike, y: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def greater_equal() -> Function: ...

@overload
def hard_sigmoid(
    x: Value,
    *,
    alpha: float = 0.16666666666666666,
    beta: float = 0.5,
    name: str | None = None,
) -> Value:
    """alpha * x + beta, but at least 0 and at most 1, element by element. The gradient is that of
    the straight line between 0 and 1, else 0.

    Inputs:
      x: any numbers

    Outputs:
      y: type as x

    Attributes:
      alpha = 0.16666666666666666: the slope; 1 / 6 as in PyTorch and hard_swish, ONNX has 0.2
      beta = 0.5: what 0 becomes
    """
@overload
def hard_sigmoid(
    x: ArrayLike,
    *,
    alpha: float = 0.16666666666666666,
    beta: float = 0.5,
    name: str | None = None,
) -> Tensor: ...
@overload
def hard_sigmoid(*, alpha: float = 0.16666666666666666, beta: float = 0.5) -> Function: ...

@overload
def hard_swish(x: Value, *, name: str | None = None) -> Value:
    """x * hard_sigmoid(x) (Howard et al., arXiv:1905.02244), element by element: 0 up to -3, x
    from 3 on.

    Inputs:
      x: any numbers

    Outputs:
      y: type as x
    """
@overload
def hard_swish(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def hard_swish() -> Function: ...

@overload
def he_normal(
    dims: Dims,
    *,
    gain: float = 1.4142135623730951,
    layout: Literal["auto", "in_out", "out_in"] = "auto",
    dtype: DType = "f32",
    mode: Literal["fan_in", "fan_out"] = "fan_in",
    name: str | None = None,
) -> Any:
    """First values of a weight before relu (He et al., arXiv:1502.01852): normal with the standard
    deviation gain / sqrt(fan). They depend on the seed, the count of runs and the name of the
    result alone.

    Outputs:
      y: `dims` elements of `dtype`

    Attributes:
      dims: the sizes
      gain >= 0 = 1.4142135623730951: a factor for all numbers
      layout in "auto", "in_out", "out_in" = 'auto': where the counts of inputs and outputs are:
          the last two dims (those before are a stack of weights), or as a convolution has them,
          output first, other dims its window; auto: "in_out" up to two dims, "out_in" beyond
      dtype = 'f32': of the elements
      mode in "fan_in", "fan_out" = 'fan_in': what `fan` is: the count of an output's inputs, or
          of an input's outputs
    """
@overload
def he_normal(
    *,
    gain: float = 1.4142135623730951,
    layout: Literal["auto", "in_out", "out_in"] = "auto",
    dtype: DType = "f32",
    mode: Literal["fan_in", "fan_out"] = "fan_in",
) -> Function: ...

@overload
def he_uniform(
    dims: Dims,
    *,
    gain: float = 1.4142135623730951,
    layout: Literal["auto", "in_out", "out_in"] = "auto",
    dtype: DType = "f32",
    mode: Literal["fan_in", "fan_out"] = "fan_in",
    name: str | None = None,
) -> Any:
    """First values of a weight before relu (He et al., arXiv:1502.01852): uniform in [-a, a) with
    a = gain * sqrt(3 / fan). They depend on the seed, the count of runs and the name of the
    result alone.

    Outputs:
      y: `dims` elements of `dtype`

    Attributes:
      dims: the sizes
      gain >= 0 = 1.4142135623730951: a factor for all numbers
      layout in "auto", "in_out", "out_in" = 'auto': where the counts of inputs and outputs are:
          the last two dims (those before are a stack of weights), or as a convolution has them,
          output first, other dims its window; auto: "in_out" up to two dims, "out_in" beyond
      dtype = 'f32': of the elements
      mode in "fan_in", "fan_out" = 'fan_in': what `fan` is: the count of an output's inputs, or
          of an input's outputs
    """
@overload
def he_uniform(
    *,
    gain: float = 1.4142135623730951,
    layout: Literal["auto", "in_out", "out_in"] = "auto",
    dtype: DType = "f32",
    mode: Literal["fan_in", "fan_out"] = "fan_in",
) -> Function: ...

@overload
def hinge(x: Value, label: Operand, *, margin: float = 1.0, name: str | None = None) -> Value:
    """margin - x * label, but at least 0, element by element. `mean` makes one number of it.
    Broadcasts as NumPy does, over sizes that are literally 1.

    Inputs:
      x: any numbers, whose sign is the decision
      label: 1 or -1; dtype as x

    Outputs:
      loss: from 0 on; dtype as x, the dims of both broadcast

    Attributes:
      margin = 1.0: how far x is to be on its side
    """
@overload
def hinge(
    x: ArrayLike,
    label: ArrayLike,
    *,
    margin: float = 1.0,
    name: str | None = None,
) -> Tensor: ...
@overload
def hinge(*, margin: float = 1.0) -> Function: ...

@overload
def huber(x: Value, y: Operand, *, delta: float = 1.0, name: str | None = None) -> Value:
    """Half the square of x - y where that is at most delta, else delta * (abs(x - y) - delta / 2),
    element by element (Huber, 1964). `mean` makes one number of it. Broadcasts as NumPy does,
    over sizes that are literally 1.

    Inputs:
      x: any numbers
      y: what they should be; dtype as x

    Outputs:
      loss: from 0 on; dtype as x, the dims of both broadcast

    Attributes:
      delta > 0 = 1.0: where the square becomes a straight line
    """
@overload
def huber(x: ArrayLike, y: ArrayLike, *, delta: float = 1.0, name: str | None = None) -> Tensor: ...
@overload
def huber(*, delta: float = 1.0) -> Function: ...

@overload
def hypot(x: Value, y: Operand, *, name: str | None = None) -> Value:
    """sqrt(x**2 + y**2), element by element, without overflow; infinite where one of them is. The
    gradient where both are 0 is 0. Broadcasts as NumPy does, over sizes that are literally 1.

    Inputs:
      x: left operand
      y: right operand; dtype as x

    Outputs:
      z: from 0 on; dtype as x, the dims of both broadcast
    """
@overload
def hypot(x: ArrayLike, y: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def hypot() -> Function: ...

@overload
def im2col(
    x: Value,
    *,
    kernel: Dims,
    stride: Dims = [1],
    pad: Dims = [0],
    dilation: Dims = [1],
    name: str | None = None,
) -> Value:
    """The elements of each window of x as a column (PyTorch's unfold): rows are the channels, and
    in each the places of the kernel; columns are the windows in row-major order. Padding counts
    as 0.

    Inputs:
      x: [N, C, ...] with 1 to 3 more dims

    Outputs:
      columns: [N, C * kernel, L] for L windows; dtype as x

    Attributes:
      kernel: the window's sizes: one for all dims, or one for each
      stride = [1]: steps between windows, one for all dims or for each
      pad in "same", "same_lower", "valid" = [0]: places added around x: one count for all
          sides, one for each dim, or begin and end for each dim. "same": as many as give size /
          stride windows, rounded up, an odd one at the end ("same_lower": at the begin);
          "valid": none
      dilation = [1]: steps between the places of a window, one for all dims or for each
    """
@overload
def im2col(
    x: ArrayLike,
    *,
    kernel: Dims,
    stride: Dims = [1],
    pad: Dims = [0],
    dilation: Dims = [1],
    name: str | None = None,
) -> Tensor: ...
@overload
def im2col(*, kernel: Dims, stride: Dims = [1], pad: Dims = [0], dilation: Dims = [1]) -> Function: ...

@overload
def isfinite(x: Value, *, name: str | None = None) -> Value:
    """True where x is neither nan nor infinite, element by element.

    Inputs:
      x: any numbers

    Outputs:
      y: bool, dims as x
    """
@overload
def isfinite(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def isfinite() -> Function: ...

@overload
def isinf(x: Value, *, name: str | None = None) -> Value:
    """True where x is inf or -inf, element by element.

    Inputs:
      x: any numbers

    Outputs:
      y: bool, dims as x
    """
@overload
def isinf(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def isinf() -> Function: ...

@overload
def isnan(x: Value, *, name: str | None = None) -> Value:
    """True where x is nan, element by element.

    Inputs:
      x: any numbers

    Outputs:
      y: bool, dims as x
    """
@overload
def isnan(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def isnan() -> Function: ...

@overload
def kl_div(log_q: Value, p: Operand, *, log_target: bool = False, name: str | None = None) -> Value:
    """p * (log(p) - log_q), element by element: what `sum` over the classes makes the divergence
    of Kullback and Leibler of. 0 where p is 0; its gradient there is 0. Broadcasts as NumPy
    does, over sizes that are literally 1.

    Inputs:
      log_q: logarithms of probabilities, as log_softmax gives them
      p: the probabilities that are wanted; dtype as log_q

    Outputs:
      loss: dtype as log_q, the dims of both broadcast

    Attributes:
      log_target = False: p are logarithms of the probabilities, too
    """
@overload
def kl_div(
    log_q: ArrayLike,
    p: ArrayLike,
    *,
    log_target: bool = False,
    name: str | None = None,
) -> Tensor: ...
@overload
def kl_div(*, log_target: bool = False) -> Function: ...

@overload
def lazy_rows(x: Value, *, name: str | None = None) -> Value:
    """x itself: the gradient of a parameter, whose rows are 0 where a step did not use them (those
    that no index of `gather` or of an embedding named). What is computed from the result as the
    next value of a state may then leave those rows as they are: a step costs what the rows cost
    that it uses. `lazy=true` of an optimizer in `minimize` is this.

    Inputs:
      x: the gradient

    Outputs:
      y: x; type as x
    """
@overload
def lazy_rows(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def lazy_rows() -> Function: ...

@overload
def leaky_relu(x: Value, *, alpha: float = 0.01, name: str | None = None) -> Value:
    """x where it is positive, else alpha * x, element by element. The gradient at 0 is alpha.

    Inputs:
      x: any numbers

    Outputs:
      y: type as x

    Attributes:
      alpha = 0.01: the slope below 0
    """
@overload
def leaky_relu(x: ArrayLike, *, alpha: float = 0.01, name: str | None = None) -> Tensor: ...
@overload
def leaky_relu(*, alpha: float = 0.01) -> Function: ...

@overload
def less(x: Value, y: Operand, *, name: str | None = None) -> Value:
    """x < y; false where one is nan. Broadcasts as NumPy does, over sizes that are literally 1.

    Inputs:
      x: left operand
      y: right operand; dtype as x

    Outputs:
      z: bool, the dims of both broadcast
    """
@overload
def less(x: ArrayLike, y: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def less() -> Function: ...

@overload
def less_equal(x: Value, y: Operand, *, name: str | None = None) -> Value:
    """x <= y; false where one is nan. Broadcasts as NumPy does, over sizes that are literally 1.

    Inputs:
      x: left operand
      y: right operand; dtype as x

    Outputs:
      z: bool, the dims of both broadcast
    """
@overload
def less_equal(x: ArrayLike, y: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def less_equal() -> Function: ...

@overload
def linear_recurrence(
    x: Value,
    decay: Operand,
    *,
    axis: int = -1,
    reverse: bool = False,
    name: str | None = None,
) -> Value:
    """y[i] = decay[i] * y[i - 1] + x[i] along an axis, beginning with y[0] = x[0]: a moving
    average, or the core of a state space model.

    Inputs:
      x: at least one dim
      decay: what is kept of the result before; type as x

    Outputs:
      y: type as x

    Attributes:
      axis = -1: the axis, a negative one from the end
      reverse = False: from the end of the axis to its start
    """
@overload
def linear_recurrence(
    x: ArrayLike,
    decay: ArrayLike,
    *,
    axis: int = -1,
    reverse: bool = False,
    name: str | None = None,
) -> Tensor: ...
@overload
def linear_recurrence(*, axis: int = -1, reverse: bool = False) -> Function: ...

@overload
def linspace(
    start: float,
    stop: float,
    count: Dims,
    *,
    dtype: DType = "f32",
    name: str | None = None,
) -> Any:
    """Evenly spaced numbers from `start` to `stop`, both among them; of one, `start`.

    Outputs:
      y: one dim; numbers of `dtype`

    Attributes:
      start: the first number
      stop: the last number
      count: how many there are
      dtype = 'f32': of the elements
    """
@overload
def linspace(*, dtype: DType = "f32") -> Function: ...

@overload
def log(x: Value, *, name: str | None = None) -> Value:
    """The natural logarithm, element by element: -inf at 0, nan below.

    Inputs:
      x: numbers from 0 on

    Outputs:
      y: type as x
    """
@overload
def log(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def log() -> Function: ...

@overload
def log10(x: Value, *, name: str | None = None) -> Value:
    """The logarithm to the base 10, element by element: -inf at 0, nan below.

    Inputs:
      x: numbers from 0 on

    Outputs:
      y: type as x
    """
@overload
def log10(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def log10() -> Function: ...

@overload
def log1p(x: Value, *, name: str | None = None) -> Value:
    """log(1 + x), element by element, exact also where x is small: -inf at -1, nan below.

    Inputs:
      x: numbers from -1 on

    Outputs:
      y: type as x
    """
@overload
def log1p(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def log1p() -> Function: ...

@overload
def log2(x: Value, *, name: str | None = None) -> Value:
    """The logarithm to the base 2, element by element: -inf at 0, nan below.

    Inputs:
      x: numbers from 0 on

    Outputs:
      y: type as x
    """
@overload
def log2(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def log2() -> Function: ...

@overload
def log_sigmoid(x: Value, *, name: str | None = None) -> Value:
    """log(1 / (1 + exp(-x))), element by element, without overflow.

    Inputs:
      x: any numbers

    Outputs:
      y: type as x
    """
@overload
def log_sigmoid(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def log_sigmoid() -> Function: ...

@overload
def log_softmax(x: Value, *, axis: int = -1, name: str | None = None) -> Value:
    """log(softmax(x)) along an axis, without overflow for large x.

    Inputs:
      x: at least one dim

    Outputs:
      y: up to 0; type as x

    Attributes:
      axis = -1: the axis, a negative one from the end
    """
@overload
def log_softmax(x: ArrayLike, *, axis: int = -1, name: str | None = None) -> Tensor: ...
@overload
def log_softmax(*, axis: int = -1) -> Function: ...

@overload
def logaddexp(x: Value, y: Operand, *, name: str | None = None) -> Value:
    """log(exp(x) + exp(y)), element by element, without overflow: the sum of two probabilities
    that are given by their logarithms. In f32 the error near 0 is at most 1e-9. Broadcasts as
    NumPy does, over sizes that are literally 1.

    Inputs:
      x: left operand
      y: right operand; dtype as x

    Outputs:
      z: at least the larger one; dtype as x, the dims of both broadcast
    """
@overload
def logaddexp(x: ArrayLike, y: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def logaddexp() -> Function: ...

@overload
def logical_and(x: Value, y: Operand, *, name: str | None = None) -> Value:
    """True where both are. Broadcasts as NumPy does, over sizes that are literally 1.

    Inputs:
      x: left operand
      y: right operand; dtype as x

    Outputs:
      z: bool, the dims of both broadcast
    """
@overload
def logical_and(x: ArrayLike, y: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def logical_and() -> Function: ...

@overload
def logical_not(x: Value, *, name: str | None = None) -> Value:
    """True where x is false, element by element.

    Inputs:
      x: truth values

    Outputs:
      y: bool, dims as x
    """
@overload
def logical_not(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def logical_not() -> Function: ...

@overload
def logical_or(x: Value, y: Operand, *, name: str | None = None) -> Value:
    """True where at least one is. Broadcasts as NumPy does, over sizes that are literally 1.

    Inputs:
      x: left operand
      y: right operand; dtype as x

    Outputs:
      z: bool, the dims of both broadcast
    """
@overload
def logical_or(x: ArrayLike, y: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def logical_or() -> Function: ...

@overload
def logical_xor(x: Value, y: Operand, *, name: str | None = None) -> Value:
    """True where one of them is. Broadcasts as NumPy does, over sizes that are literally 1.

    Inputs:
      x: left operand
      y: right operand; dtype as x

    Outputs:
      z: bool, the dims of both broadcast
    """
@overload
def logical_xor(x: ArrayLike, y: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def logical_xor() -> Function: ...

@overload
def logsumexp(
    x: Value,
    *,
    axes: Sequence[int] | None = None,
    keep: bool = False,
    name: str | None = None,
) -> Value:
    """log(sum(exp(x))) over axes, without overflow for large x; -inf where there is nothing.

    Inputs:
      x: elements of any rank; the ragged dims and the one before them are reduced together only

    Outputs:
      y: dtype as x; the dims of x without the axes

    Attributes:
      axes: axes to go over, negative ones from the end; none: all
      keep = False: keep each of these axes, with size 1
    """
@overload
def logsumexp(
    x: ArrayLike,
    *,
    axes: Sequence[int] | None = None,
    keep: bool = False,
    name: str | None = None,
) -> Tensor: ...
@overload
def logsumexp(*, axes: Sequence[int] | None = None, keep: bool = False) -> Function: ...

@overload
def lp_pool(
    x: Value,
    *,
    p: float = 2.0,
    kernel: Dims,
    stride: Dims | None = None,
    pad: Dims = [0],
    dilation: Dims = [1],
    ceil_mode: bool = False,
    name: str | None = None,
) -> Value:
    """The p-norm of each window of x, channel by channel: the sum of |x|^p to the power 1 / p.
    Where that is 0 the gradient is 0. Halves are added up in f32.

    Inputs:
      x: [N, C, ...] with 1 to 3 more dims

    Outputs:
      y: [N, C, ...], each size as the window gives it; dtype as x

    Attributes:
      p > 0 = 2.0: which norm
      kernel: the window's sizes: one for all dims, or one for each
      stride: steps between windows, one for all dims or for each; none: the kernel
      pad in "same", "same_lower", "valid" = [0]: places added around x: one count for all
          sides, one for each dim, or begin and end for each dim. "same": as many as give size /
          stride windows, rounded up, an odd one at the end ("same_lower": at the begin);
          "valid": none
      dilation = [1]: steps between the places of a window, one for all dims or for each
      ceil_mode = False: one more window for what is left at the end, unless it would begin in
          the padding there
    """
@overload
def lp_pool(
    x: ArrayLike,
    *,
    p: float = 2.0,
    kernel: Dims,
    stride: Dims | None = None,
    pad: Dims = [0],
    dilation: Dims = [1],
    ceil_mode: bool = False,
    name: str | None = None,
) -> Tensor: ...
@overload
def lp_pool(
    *,
    p: float = 2.0,
    kernel: Dims,
    stride: Dims | None = None,
    pad: Dims = [0],
    dilation: Dims = [1],
    ceil_mode: bool = False,
) -> Function: ...

@overload
def matmul(
    a: Value,
    b: Operand,
    *,
    transpose_a: bool = False,
    transpose_b: bool = False,
    name: str | None = None,
) -> Value:
    """The product of matrices. Dims before the last two are a batch and broadcast as NumPy does;
    an operand of one dim is a row on the left, a column on the right, and its dim is left out
    of the result. Halves are added up in f32, integers wrap around. Where a is sparse or
    ragged, b is one matrix; the truth values of a sparse a are ones.

    Inputs:
      a: [..., M, K], or [K]; bool only where it is sparse
      b: [..., K, N], or [K]; dtype as a

    Outputs:
      c: [..., M, N]; dtype as a

    Attributes:
      transpose_a = False: take a as [..., K, M]
      transpose_b = False: take b as [..., N, K]
    """
@overload
def matmul(
    a: ArrayLike,
    b: ArrayLike,
    *,
    transpose_a: bool = False,
    transpose_b: bool = False,
    name: str | None = None,
) -> Tensor: ...
@overload
def matmul(*, transpose_a: bool = False, transpose_b: bool = False) -> Function: ...

@overload
def max(
    x: Value,
    *,
    axes: Sequence[int] | None = None,
    keep: bool = False,
    name: str | None = None,
) -> Value:
    """The largest element over axes; nan where one is nan. An axis must not be empty.

    Inputs:
      x: elements of any rank; the ragged dims and the one before them are reduced together only

    Outputs:
      y: dtype as x; the dims of x without the axes

    Attributes:
      axes: axes to go over, negative ones from the end; none: all
      keep = False: keep each of these axes, with size 1
    """
@overload
def max(
    x: ArrayLike,
    *,
    axes: Sequence[int] | None = None,
    keep: bool = False,
    name: str | None = None,
) -> Tensor: ...
@overload
def max(*, axes: Sequence[int] | None = None, keep: bool = False) -> Function: ...

@overload
def max_pool(
    x: Value,
    *,
    kernel: Dims,
    stride: Dims | None = None,
    pad: Dims = [0],
    dilation: Dims = [1],
    ceil_mode: bool = False,
    name: str | None = None,
) -> Value:
    """The largest element of each window of x, channel by channel. Padding has no part in it; a
    window without elements gives -inf, or the lowest integer. nan where a window has one. The
    gradient goes to the first of equal elements.

    Inputs:
      x: [N, C, ...] with 1 to 3 more dims

    Outputs:
      y: [N, C, ...], each size as the window gives it; dtype as x

    Attributes:
      kernel: the window's sizes: one for all dims, or one for each
      stride: steps between windows, one for all dims or for each; none: the kernel
      pad in "same", "same_lower", "valid" = [0]: places added around x: one count for all
          sides, one for each dim, or begin and end for each dim. "same": as many as give size /
          stride windows, rounded up, an odd one at the end ("same_lower": at the begin);
          "valid": none
      dilation = [1]: steps between the places of a window, one for all dims or for each
      ceil_mode = False: one more window for what is left at the end, unless it would begin in
          the padding there
    """
@overload
def max_pool(
    x: ArrayLike,
    *,
    kernel: Dims,
    stride: Dims | None = None,
    pad: Dims = [0],
    dilation: Dims = [1],
    ceil_mode: bool = False,
    name: str | None = None,
) -> Tensor: ...
@overload
def max_pool(
    *,
    kernel: Dims,
    stride: Dims | None = None,
    pad: Dims = [0],
    dilation: Dims = [1],
    ceil_mode: bool = False,
) -> Function: ...

@overload
def max_pool_index(
    x: Value,
    *,
    kernel: Dims,
    stride: Dims | None = None,
    pad: Dims = [0],
    dilation: Dims = [1],
    ceil_mode: bool = False,
    name: str | None = None,
) -> Value:
    """Where max_pool finds the largest element of each window: its place in the plane of its
    channel, counted in row-major order, for max_unpool. The first of equal elements, the last
    nan; -1 for a window without elements.

    Inputs:
      x: [N, C, ...] with 1 to 3 more dims

    Outputs:
      indices: i64; dims as max_pool has them

    Attributes:
      kernel: the window's sizes: one for all dims, or one for each
      stride: steps between windows, one for all dims or for each; none: the kernel
      pad in "same", "same_lower", "valid" = [0]: places added around x: one count for all
          sides, one for each dim, or begin and end for each dim. "same": as many as give size /
          stride windows, rounded up, an odd one at the end ("same_lower": at the begin);
          "valid": none
      dilation = [1]: steps between the places of a window, one for all dims or for each
      ceil_mode = False: one more window for what is left at the end, unless it would begin in
          the padding there
    """
@overload
def max_pool_index(
    x: ArrayLike,
    *,
    kernel: Dims,
    stride: Dims | None = None,
    pad: Dims = [0],
    dilation: Dims = [1],
    ceil_mode: bool = False,
    name: str | None = None,
) -> Tensor: ...
@overload
def max_pool_index(
    *,
    kernel: Dims,
    stride: Dims | None = None,
    pad: Dims = [0],
    dilation: Dims = [1],
    ceil_mode: bool = False,
) -> Function: ...

@overload
def max_unpool(x: Value, indices: Operand, size: Dims, *, name: str | None = None) -> Value:
    """Planes of zeros with the elements of x at given places, added up where places are equal: the
    reverse of max_pool, with the indices that max_pool_index gives. An index outside the plane
    is left out. Integers wrap around.

    Inputs:
      x: [N, C, ...] with 1 to 3 more dims
      indices: places in the planes of the result, counted in row-major order; dims as x

    Outputs:
      y: [N, C, size...]; dtype as x

    Attributes:
      size: the spatial sizes of the result: one for all dims, or one for each
    """
@overload
def max_unpool(x: ArrayLike, indices: ArrayLike, size: Dims, *, name: str | None = None) -> Tensor: ...
@overload
def max_unpool() -> Function: ...

@overload
def maximum(x: Value, y: Operand, *, name: str | None = None) -> Value:
    """The larger of x and y; nan where one is nan. Broadcasts as NumPy does, over sizes that are
    literally 1.

    Inputs:
      x: left operand
      y: right operand; dtype as x

    Outputs:
      z: dtype as x, the dims of both broadcast
    """
@overload
def maximum(x: ArrayLike, y: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def maximum() -> Function: ...

@overload
def mean(
    x: Value,
    *,
    axes: Sequence[int] | None = None,
    keep: bool = False,
    name: str | None = None,
) -> Value:
    """The mean over axes; nan where there is nothing.

    Inputs:
      x: elements of any rank; the ragged dims and the one before them are reduced together only

    Outputs:
      y: dtype as x; the dims of x without the axes

    Attributes:
      axes: axes to go over, negative ones from the end; none: all
      keep = False: keep each of these axes, with size 1
    """
@overload
def mean(
    x: ArrayLike,
    *,
    axes: Sequence[int] | None = None,
    keep: bool = False,
    name: str | None = None,
) -> Tensor: ...
@overload
def mean(*, axes: Sequence[int] | None = None, keep: bool = False) -> Function: ...

@overload
def min(
    x: Value,
    *,
    axes: Sequence[int] | None = None,
    keep: bool = False,
    name: str | None = None,
) -> Value:
    """The smallest element over axes; nan where one is nan. An axis must not be empty.

    Inputs:
      x: elements of any rank; the ragged dims and the one before them are reduced together only

    Outputs:
      y: dtype as x; the dims of x without the axes

    Attributes:
      axes: axes to go over, negative ones from the end; none: all
      keep = False: keep each of these axes, with size 1
    """
@overload
def min(
    x: ArrayLike,
    *,
    axes: Sequence[int] | None = None,
    keep: bool = False,
    name: str | None = None,
) -> Tensor: ...
@overload
def min(*, axes: Sequence[int] | None = None, keep: bool = False) -> Function: ...

@overload
def minimum(x: Value, y: Operand, *, name: str | None = None) -> Value:
    """The smaller of x and y; nan where one is nan. Broadcasts as NumPy does, over sizes that are
    literally 1.

    Inputs:
      x: left operand
      y: right operand; dtype as x

    Outputs:
      z: dtype as x, the dims of both broadcast
    """
@overload
def minimum(x: ArrayLike, y: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def minimum() -> Function: ...

@overload
def mish(x: Value, *, name: str | None = None) -> Value:
    """x * tanh(softplus(x)) (Misra, arXiv:1908.08681), element by element.

    Inputs:
      x: any numbers

    Outputs:
      y: type as x
    """
@overload
def mish(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def mish() -> Function: ...

@overload
def mod(x: Value, y: Operand, *, name: str | None = None) -> Value:
    """x % y = x - y * (x // y), with the sign of y, as Python and NumPy; 0 where an integer is
    divided by 0. `fmod` has the sign of x. Broadcasts as NumPy does, over sizes that are
    literally 1.

    Inputs:
      x: left operand
      y: right operand; dtype as x

    Outputs:
      z: dtype as x, the dims of both broadcast
    """
@overload
def mod(x: ArrayLike, y: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def mod() -> Function: ...

@overload
def moments(x: Value, *, keep: Sequence[int] = [], name: str | None = None) -> Results:
    """The mean and the variance over all axes but some. The variance is that of the whole
    population: the mean of squared distances from the mean. Both are nan where there is
    nothing.

    Inputs:
      x: elements of any rank; ragged dims and the one before them are not kept

    Outputs:
      mean: dtype as x; the dims of x that are kept
      variance: type as the mean

    Attributes:
      keep = []: the axes that are kept, negative ones from the end
    """
@overload
def moments(x: ArrayLike, *, keep: Sequence[int] = [], name: str | None = None) -> Results: ...
@overload
def moments(*, keep: Sequence[int] = []) -> Function: ...

@overload
def mse(x: Value, y: Operand, *, name: str | None = None) -> Value:
    """The mean of (x - y)**2 over all elements; nan where there are none.

    Inputs:
      x: elements of any rank
      y: type as x

    Outputs:
      loss: a scalar, dtype as x
    """
@overload
def mse(x: ArrayLike, y: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def mse() -> Function: ...

@overload
def mul(x: Value, y: Operand, *, name: str | None = None) -> Value:
    """x * y. Integers wrap around. Broadcasts as NumPy does, over sizes that are literally 1.

    Inputs:
      x: left operand
      y: right operand; dtype as x

    Outputs:
      z: dtype as x, the dims of both broadcast
    """
@overload
def mul(x: ArrayLike, y: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def mul() -> Function: ...

@overload
def neg(x: Value, *, name: str | None = None) -> Value:
    """-x, element by element. Integers wrap around.

    Inputs:
      x: any numbers

    Outputs:
      y: type as x
    """
@overload
def neg(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def neg() -> Function: ...

@overload
def nll(
    log_prob: Value,
    label: Operand,
    weight: Operand | None = None,
    *,
    ignore_index: int | None = None,
    name: str | None = None,
) -> Value:
    """-log_prob at the label, along the last dim: the negative log-likelihood, of what log_softmax
    gives. A label outside the classes gives nan.

    Inputs:
      log_prob: [..., C], the logarithm of each class's probability
      label: [...], classes
      weight: [C], what the loss at a label of that class is multiplied by; left out: 1

    Outputs:
      loss: [...]; dtype as log_prob

    Attributes:
      ignore_index: rows with this label cost 0; a mean over the others is the sum divided by
          their count. None: no such label
    """
@overload
def nll(
    log_prob: ArrayLike,
    label: ArrayLike,
    weight: ArrayLike | None = None,
    *,
    ignore_index: int | None = None,
    name: str | None = None,
) -> Tensor: ...
@overload
def nll(*, weight: Operand | None = None, ignore_index: int | None = None) -> Function: ...

@overload
def nonzero(x: Value, *, name: str | None = None) -> Value:
    """Where elements are not 0 (a nan is not): a row for each, in the order of the elements, and
    in it an index for each axis, as `argwhere` of NumPy gives them. `NonZero` of ONNX is the
    transposed: transpose(nonzero(x)). How many rows there are only the data decide, so a
    network runs in two parts, with the count between them.

    Inputs:
      x: elements of any rank; no gradient

    Outputs:
      places: i64[count, rank of x]
    """
@overload
def nonzero(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def nonzero() -> Function: ...

@overload
def norm(
    x: Value,
    *,
    axes: Sequence[int] | None = None,
    keep: bool = False,
    name: str | None = None,
) -> Value:
    """The Euclidean norm over axes, the square root of the sum of squares; the gradient at 0 is 0.

    Inputs:
      x: elements of any rank; the ragged dims and the one before them are reduced together only

    Outputs:
      y: from 0 on; dtype as x; the dims of x without the axes

    Attributes:
      axes: axes to go over, negative ones from the end; none: all
      keep = False: keep each of these axes, with size 1
    """
@overload
def norm(
    x: ArrayLike,
    *,
    axes: Sequence[int] | None = None,
    keep: bool = False,
    name: str | None = None,
) -> Tensor: ...
@overload
def norm(*, axes: Sequence[int] | None = None, keep: bool = False) -> Function: ...

@overload
def normal(
    dims: Dims,
    *,
    mean: float = 0.0,
    std: float = 1.0,
    dtype: DType = "f32",
    name: str | None = None,
) -> Any:
    """Random numbers of a normal distribution. They depend on the seed, the count of runs and the
    name of the result alone.

    Outputs:
      y: `dims` elements of `dtype`

    Attributes:
      dims: the sizes
      mean = 0.0: the mean
      std >= 0 = 1.0: the standard deviation
      dtype = 'f32': of the elements
    """
@overload
def normal(*, mean: float = 0.0, std: float = 1.0, dtype: DType = "f32") -> Function: ...

@overload
def normalize(
    x: Value,
    mean: Operand,
    variance: Operand,
    gamma: Operand | None = None,
    beta: Operand | None = None,
    *,
    axis: int = 1,
    eps: float = 1e-05,
    name: str | None = None,
) -> Value:
    """(x - mean) / sqrt(variance + eps) * gamma + beta, with one mean, variance, gamma and beta
    for each index of an axis.

    Inputs:
      x: at least one dim
      mean: [C], where C is the size of the axis; dtype as x
      variance: type as the mean
      gamma: type as the mean, or one number for all; left out: 1
      beta: type as the mean; left out: 0

    Outputs:
      y: type as x

    Attributes:
      axis = 1: the axis, a negative one from the end
      eps >= 0 = 1e-05: added to the variance
    """
@overload
def normalize(
    x: ArrayLike,
    mean: ArrayLike,
    variance: ArrayLike,
    gamma: ArrayLike | None = None,
    beta: ArrayLike | None = None,
    *,
    axis: int = 1,
    eps: float = 1e-05,
    name: str | None = None,
) -> Tensor: ...
@overload
def normalize(
    *,
    gamma: Operand | None = None,
    beta: Operand | None = None,
    axis: int = 1,
    eps: float = 1e-05,
) -> Function: ...

@overload
def not_equal(x: Value, y: Operand, *, name: str | None = None) -> Value:
    """x != y; nan differs from all. Broadcasts as NumPy does, over sizes that are literally 1.

    Inputs:
      x: left operand
      y: right operand; dtype as x

    Outputs:
      z: bool, the dims of both broadcast
    """
@overload
def not_equal(x: ArrayLike, y: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def not_equal() -> Function: ...

@overload
def one_hot(indices: Value, depth: Dims, *, dtype: DType = "f32", name: str | None = None) -> Value:
    """For each index a row of zeros with a 1 at its place. A negative index counts from the end;
    the row of one outside the depth has no 1.

    Inputs:
      indices: places in the rows

    Outputs:
      y: the dims of the indices, then `depth`

    Attributes:
      depth: the length of a row
      dtype = 'f32': of the result
    """
@overload
def one_hot(
    indices: ArrayLike,
    depth: Dims,
    *,
    dtype: DType = "f32",
    name: str | None = None,
) -> Tensor: ...
@overload
def one_hot(*, dtype: DType = "f32") -> Function: ...

@overload
def ones(dims: Dims, *, dtype: DType = "f32", name: str | None = None) -> Any:
    """Ones.

    Outputs:
      y: `dims` elements of `dtype`

    Attributes:
      dims: the sizes
      dtype = 'f32': of the elements
    """
@overload
def ones(*, dtype: DType = "f32") -> Function: ...

@overload
def orthogonal(
    dims: Dims,
    *,
    gain: float = 1.0,
    dtype: DType = "f32",
    name: str | None = None,
) -> Any:
    """First values of a weight (Saxe et al., arXiv:1312.6120): a random matrix whose rows stand at
    right angles to one another and have the length `gain`, or its columns where it has more
    rows than columns. Its rows are along the first dim, its columns along all others. It
    depends on the seed, the count of runs and the name of the result alone.

    Outputs:
      y: `dims` elements of `dtype`

    Attributes:
      dims: the sizes, two or more
      gain >= 0 = 1.0: a factor for all numbers
      dtype = 'f32': of the elements
    """
@overload
def orthogonal(*, gain: float = 1.0, dtype: DType = "f32") -> Function: ...

@overload
def pad(
    x: Value,
    *,
    before: Dims,
    after: Dims,
    axes: Sequence[int] | None = None,
    mode: Literal["constant", "reflect", "edge", "wrap"] = "constant",
    value: float = 0.0,
    name: str | None = None,
) -> Value:
    """x with elements added before and after it along axes, or taken off where a count is
    negative. What is added is a constant, or read from what is left of x: mirrored at the edge
    ("reflect": 3 2 | 1 2 3 | 2 1), the last element again ("edge": 1 1 | 1 2 3 | 3 3), or x
    again ("wrap": 2 3 | 1 2 3 | 1 2), as often as it takes. Elements are taken off first.

    Inputs:
      x: elements of any rank

    Outputs:
      y: dtype as x; sizes with what is added

    Attributes:
      before: for each axis how many elements are added before it
      after: for each axis how many elements are added after it
      axes: the axes, each once, negative ones from the end; none: all
      mode in "constant", "reflect", "edge", "wrap" = 'constant': what is added
      value = 0.0: the constant that is added; an element of x's dtype
    """
@overload
def pad(
    x: ArrayLike,
    *,
    before: Dims,
    after: Dims,
    axes: Sequence[int] | None = None,
    mode: Literal["constant", "reflect", "edge", "wrap"] = "constant",
    value: float = 0.0,
    name: str | None = None,
) -> Tensor: ...
@overload
def pad(
    *,
    before: Dims,
    after: Dims,
    axes: Sequence[int] | None = None,
    mode: Literal["constant", "reflect", "edge", "wrap"] = "constant",
    value: float = 0.0,
) -> Function: ...

@overload
def plan_select(
    condition: Value,
    then: Operand,
    otherwise: Operand,
    *,
    name: str | None = None,
) -> Value:
    """`then` where the condition holds, else `otherwise`; the calls that only the other one needs
    are not run, and their inputs need not be fed. The condition is made of `training()`,
    `size(...)` and constants: it is decided when a run is planned.

    Inputs:
      condition: bool[]
      then: any type
      otherwise: type as then

    Outputs:
      y: type as then
    """
@overload
def plan_select(
    condition: ArrayLike,
    then: ArrayLike,
    otherwise: ArrayLike,
    *,
    name: str | None = None,
) -> Tensor: ...
@overload
def plan_select() -> Function: ...

@overload
def plane_gather(x: Value, indices: Operand, *, name: str | None = None) -> Value:
    """The elements of x at given places of each plane, as max_pool_index gives them: the reverse
    of max_unpool. 0 at an index outside the plane.

    Inputs:
      x: [N, C, ...] with 1 to 3 more dims
      indices: [N, C, ...]: places in the planes of x, counted in row-major order

    Outputs:
      y: dims as the indices, dtype as x
    """
@overload
def plane_gather(x: ArrayLike, indices: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def plane_gather() -> Function: ...

@overload
def pow(x: Value, y: Operand, *, name: str | None = None) -> Value:
    """x to the power of y. Integers wrap around, and a negative power of one other than 1 and -1
    is 0. At x = 0 the gradient of y is taken to be 0. Broadcasts as NumPy does, over sizes that
    are literally 1.

    Inputs:
      x: left operand
      y: right operand; dtype as x

    Outputs:
      z: dtype as x, the dims of both broadcast
    """
@overload
def pow(x: ArrayLike, y: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def pow() -> Function: ...

@overload
def prelu(x: Value, slope: Operand, *, name: str | None = None) -> Value:
    """x from 0 on, slope * x below, element by element (He et al., arXiv:1502.01852). Broadcasts
    as NumPy does, over sizes that are literally 1.

    Inputs:
      x: any numbers
      slope: the slope below 0, often a parameter; dtype as x

    Outputs:
      y: dtype as x, the dims of both broadcast
    """
@overload
def prelu(x: ArrayLike, slope: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def prelu() -> Function: ...

@overload
def prod(
    x: Value,
    *,
    axes: Sequence[int] | None = None,
    keep: bool = False,
    name: str | None = None,
) -> Value:
    """The product over axes; 1 where there is nothing. Integers wrap around. The gradient of a
    ragged x is nan where an element is 0.

    Inputs:
      x: elements of any rank; the ragged dims and the one before them are reduced together only

    Outputs:
      y: dtype as x, i64 for integers and truth values; the dims of x without the axes

    Attributes:
      axes: axes to go over, negative ones from the end; none: all
      keep = False: keep each of these axes, with size 1
    """
@overload
def prod(
    x: ArrayLike,
    *,
    axes: Sequence[int] | None = None,
    keep: bool = False,
    name: str | None = None,
) -> Tensor: ...
@overload
def prod(*, axes: Sequence[int] | None = None, keep: bool = False) -> Function: ...

@overload
def quantize(
    x: Value,
    scale: Operand,
    zero_point: Operand | None = None,
    *,
    axis: int = 1,
    dtype: DType | None = None,
    name: str | None = None,
) -> Value:
    """round(x / scale) + zero_point as an 8-bit integer, the nearest that there is: of two halves
    the even one, as ONNX. nan becomes the smallest.

    Inputs:
      x: any numbers
      scale: the distance of neighbours: one, or for each index of `axis`; dtype as x
      zero_point: what 0 becomes, dims as the scale; left out: 0

    Outputs:
      y: i8 or u8, dims as x

    Attributes:
      axis = 1: of a scale with a dim: the axis, a negative one from the end
      dtype: i8 or u8; none: that of the zero point, u8 without
    """
@overload
def quantize(
    x: ArrayLike,
    scale: ArrayLike,
    zero_point: ArrayLike | None = None,
    *,
    axis: int = 1,
    dtype: DType | None = None,
    name: str | None = None,
) -> Tensor: ...
@overload
def quantize(
    *,
    zero_point: Operand | None = None,
    axis: int = 1,
    dtype: DType | None = None,
) -> Function: ...

@overload
def ragged(x: Value, lengths: Operand, *, name: str | None = None) -> Value:
    """Rows as sequences of these lengths: the first lengths[0] rows are the first sequence, the
    next lengths[1] rows the second. Of sequences come sequences of sequences. The lengths add
    up to the rows; none is negative. `[[1, 2, 3], [4]]` where a tensor is wanted is ragged([1,
    2, 3, 4], [3, 1]).

    Inputs:
      x: [R, ...] or [R, ~T, ...]
      lengths: rows of each sequence, i64[N]

    Outputs:
      y: [N, ~T, ...] or [N, ~S, ~T, ...]; dtype as x
    """
@overload
def ragged(x: ArrayLike, lengths: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def ragged() -> Function: ...

@overload
def randperm(n: Dims, *, name: str | None = None) -> Any:
    """The numbers below n in an order drawn at random. It depends on the seed, the count of runs
    and the name of the result alone.

    Outputs:
      y: i64[n], below n

    Attributes:
      n: how many there are
    """
@overload
def randperm() -> Function: ...

@overload
def range(
    start: Dims,
    stop: Dims,
    step: int = 1,
    *,
    dtype: DType = "i64",
    name: str | None = None,
) -> Any:
    """The numbers from `start` on, `step` apart, before `stop` is reached.

    Outputs:
      y: one dim; numbers of `dtype`

    Attributes:
      start: the first number
      stop: where it ends: this number is not among them
      step = 1: the distance of neighbours; below 0, numbers go down
      dtype = 'i64': of the elements
    """
@overload
def range(*, dtype: DType = "i64") -> Function: ...

@overload
def reciprocal(x: Value, *, name: str | None = None) -> Value:
    """1 / x, element by element.

    Inputs:
      x: any numbers

    Outputs:
      y: type as x
    """
@overload
def reciprocal(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def reciprocal() -> Function: ...

@overload
def relu(x: Value, *, name: str | None = None) -> Value:
    """The larger of x and 0, element by element; nan stays. The gradient at 0 is 0.

    Inputs:
      x: any numbers

    Outputs:
      y: from 0 on; type as x
    """
@overload
def relu(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def relu() -> Function: ...

@overload
def reshape(x: Value, dims: Dims, *, name: str | None = None) -> Value:
    """The same elements in the same order, under other dims.

    Inputs:
      x: elements of any rank

    Outputs:
      y: dims as said; dtype as x

    Attributes:
      dims: the new dims; their product is the count of elements of x. Ragged dims of x and
          those before them stay
    """
@overload
def reshape(x: ArrayLike, dims: Dims, *, name: str | None = None) -> Tensor: ...
@overload
def reshape() -> Function: ...

@overload
def resize(
    x: Value,
    *,
    size: Dims | None = None,
    scale: float | None = None,
    scales: Sequence[float] | None = None,
    mode: Literal["nearest", "linear", "cubic"] = "nearest",
    coordinates: Literal["half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners"] = "half_pixel",
    rounding: Literal["prefer_floor", "prefer_ceil", "floor", "ceil"] = "prefer_floor",
    cubic_a: float = -0.75,
    antialias: bool = False,
    outside: Literal["edge", "skip"] = "edge",
    name: str | None = None,
) -> Value:
    """An image of another size (ONNX's Resize, PyTorch's interpolate), dim by dim: each element is
    the nearest of x, or an interpolation. One of `size`, `scale` and `scales` says how large it
    is.

    Inputs:
      x: [N, C, ...] with 1 to 3 more dims; floats where mode is not nearest

    Outputs:
      y: [N, C, ...] with the new sizes; dtype as x

    Attributes:
      size: the spatial sizes of the result: one for all dims, or one for each
      scale > 0: multiplies every spatial size, instead of `size`; rounded down
      scales > 0: the same with a factor for each spatial dim
      mode in "nearest", "linear", "cubic" = 'nearest': what an element is made of: the nearest
          one, or 2 or 4 along each dim
      coordinates in "half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners" =
          'half_pixel': where element o of the result lies: half_pixel at (o + 0.5) / scale -
          0.5; pytorch_half_pixel the same, but at 0 where the result has one; asymmetric at o /
          scale; align_corners so that the ends meet
      rounding in "prefer_floor", "prefer_ceil", "floor", "ceil" = 'prefer_floor': which element
          is the nearest; the first two differ at halves
      cubic_a = -0.75: the slope of the cubic at 1; Pillow's is -0.5
      antialias = False: of linear and cubic: a smaller result is made of all elements, by
          weights that are spread as far as it is smaller
      outside in "edge", "skip" = 'edge': what has a weight outside of x: edge gives it to the
          element there; skip leaves it out, as PyTorch and Pillow do with `antialias`
    """
@overload
def resize(
    x: ArrayLike,
    *,
    size: Dims | None = None,
    scale: float | None = None,
    scales: Sequence[float] | None = None,
    mode: Literal["nearest", "linear", "cubic"] = "nearest",
    coordinates: Literal["half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners"] = "half_pixel",
    rounding: Literal["prefer_floor", "prefer_ceil", "floor", "ceil"] = "prefer_floor",
    cubic_a: float = -0.75,
    antialias: bool = False,
    outside: Literal["edge", "skip"] = "edge",
    name: str | None = None,
) -> Tensor: ...
@overload
def resize(
    *,
    size: Dims | None = None,
    scale: float | None = None,
    scales: Sequence[float] | None = None,
    mode: Literal["nearest", "linear", "cubic"] = "nearest",
    coordinates: Literal["half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners"] = "half_pixel",
    rounding: Literal["prefer_floor", "prefer_ceil", "floor", "ceil"] = "prefer_floor",
    cubic_a: float = -0.75,
    antialias: bool = False,
    outside: Literal["edge", "skip"] = "edge",
) -> Function: ...

@overload
def resize_grad(
    dy: Value,
    *,
    before: Dims,
    size: Dims | None = None,
    scale: float | None = None,
    scales: Sequence[float] | None = None,
    mode: Literal["nearest", "linear", "cubic"] = "nearest",
    coordinates: Literal["half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners"] = "half_pixel",
    rounding: Literal["prefer_floor", "prefer_ceil", "floor", "ceil"] = "prefer_floor",
    cubic_a: float = -0.75,
    antialias: bool = False,
    outside: Literal["edge", "skip"] = "edge",
    name: str | None = None,
) -> Value:
    """The gradient of resize: each element of dy, weighted as it was made, is added to those that
    it was made of.

    Inputs:
      dy: the result's gradient: [N, C, ...] with 1 to 3 more dims

    Outputs:
      dx: [N, C, before...]; dtype as dy

    Attributes:
      before: the spatial sizes of what was resized
      size: the spatial sizes of the result: one for all dims, or one for each
      scale > 0: multiplies every spatial size, instead of `size`; rounded down
      scales > 0: the same with a factor for each spatial dim
      mode in "nearest", "linear", "cubic" = 'nearest': what an element is made of: the nearest
          one, or 2 or 4 along each dim
      coordinates in "half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners" =
          'half_pixel': where element o of the result lies: half_pixel at (o + 0.5) / scale -
          0.5; pytorch_half_pixel the same, but at 0 where the result has one; asymmetric at o /
          scale; align_corners so that the ends meet
      rounding in "prefer_floor", "prefer_ceil", "floor", "ceil" = 'prefer_floor': which element
          is the nearest; the first two differ at halves
      cubic_a = -0.75: the slope of the cubic at 1; Pillow's is -0.5
      antialias = False: of linear and cubic: a smaller result is made of all elements, by
          weights that are spread as far as it is smaller
      outside in "edge", "skip" = 'edge': what has a weight outside of x: edge gives it to the
          element there; skip leaves it out, as PyTorch and Pillow do with `antialias`
    """
@overload
def resize_grad(
    dy: ArrayLike,
    *,
    before: Dims,
    size: Dims | None = None,
    scale: float | None = None,
    scales: Sequence[float] | None = None,
    mode: Literal["nearest", "linear", "cubic"] = "nearest",
    coordinates: Literal["half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners"] = "half_pixel",
    rounding: Literal["prefer_floor", "prefer_ceil", "floor", "ceil"] = "prefer_floor",
    cubic_a: float = -0.75,
    antialias: bool = False,
    outside: Literal["edge", "skip"] = "edge",
    name: str | None = None,
) -> Tensor: ...
@overload
def resize_grad(
    *,
    before: Dims,
    size: Dims | None = None,
    scale: float | None = None,
    scales: Sequence[float] | None = None,
    mode: Literal["nearest", "linear", "cubic"] = "nearest",
    coordinates: Literal["half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners"] = "half_pixel",
    rounding: Literal["prefer_floor", "prefer_ceil", "floor", "ceil"] = "prefer_floor",
    cubic_a: float = -0.75,
    antialias: bool = False,
    outside: Literal["edge", "skip"] = "edge",
) -> Function: ...

@overload
def roll(
    x: Value,
    shifts: Dims,
    axes: Sequence[int] | None = None,
    *,
    name: str | None = None,
) -> Value:
    """x with its elements moved on along axes; those that leave at the end come in at the start.
    Without axes they are moved as if x had one dim.

    Inputs:
      x: elements of any rank

    Outputs:
      y: type as x

    Attributes:
      shifts: for each axis by how many places; a negative one moves back
      axes: the axes, each once, negative ones from the end; none: x as one dim
    """
@overload
def roll(
    x: ArrayLike,
    shifts: Dims,
    axes: Sequence[int] | None = None,
    *,
    name: str | None = None,
) -> Tensor: ...
@overload
def roll() -> Function: ...

@overload
def rotary_embedding(
    x: Value,
    positions: Operand,
    *,
    base: float = 10000.0,
    interleaved: bool = False,
    width: int | None = None,
    name: str | None = None,
) -> Value:
    """Marks each row with its position (Su et al., arXiv:2104.09864): pair i of its elements is
    turned by the angle position * base ** (-2 i / width), so that products of rows depend on
    the distance of their positions.

    Inputs:
      x: [..., T, D]
      positions: of the rows; broadcasts to [..., T]

    Outputs:
      y: type as x

    Attributes:
      base > 0 = 10000.0: how slow the slowest pair is turned
      interleaved = False: pairs are neighbours; else element i and the one half a width further
          on
      width >= 0: how many elements of a row are turned, an even number; none: all
    """
@overload
def rotary_embedding(
    x: ArrayLike,
    positions: ArrayLike,
    *,
    base: float = 10000.0,
    interleaved: bool = False,
    width: int | None = None,
    name: str | None = None,
) -> Tensor: ...
@overload
def rotary_embedding(
    *,
    base: float = 10000.0,
    interleaved: bool = False,
    width: int | None = None,
) -> Function: ...

@overload
def round(x: Value, *, name: str | None = None) -> Value:
    """The nearest integer, the even one of two, as NumPy. The gradient is 0.

    Inputs:
      x: any numbers

    Outputs:
      y: type as x
    """
@overload
def round(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def round() -> Function: ...

@overload
def rsqrt(x: Value, *, name: str | None = None) -> Value:
    """1 / sqrt(x), element by element: inf at 0, nan below.

    Inputs:
      x: any numbers

    Outputs:
      y: type as x
    """
@overload
def rsqrt(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def rsqrt() -> Function: ...

@overload
def run_starts(x: Value, *, name: str | None = None) -> Value:
    """1 where a run of equal elements begins, else 0. A nan is equal to the nan before it.

    Inputs:
      x: one dim

    Outputs:
      starts: i64, dims as x
    """
@overload
def run_starts(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def run_starts() -> Function: ...

@overload
def scan(
    xs_0: Value,
    /,
    *xs: Operand | None,
    init: Sequence[Operand] | Operand | None = None,
    captured: Sequence[Operand] | Operand | None = None,
    lengths: Operand | None = None,
    axis: int = 1,
    body: FunctionLike,
    reverse: bool = False,
    name: str | None = None,
) -> Results:
    """A loop over time: the body is run for each step along an axis, with a slice of each sequence
    and with what the step before carried to it. Ragged sequences, and those of a padded batch
    with lengths, end each with its own last step: a step works on the rows that still run, and
    the body's count of rows is a size of its own. What stands behind the end of a padded row
    comes out as zeros. Without steps, what is carried comes out as it begins. A body that draws
    random numbers is refused. The gradient is a loop in the other direction, whose steps
    compute those of the loop again.

    Inputs:
      xs: the sequences: of the same size along the axis, which is 1 for ragged ones
      init: what is carried into the first step: any number of values of any type
      captured: values from outside that the body takes behind these, the same at each step;
          what the body uses besides is added here
      lengths: the steps of each row of a padded batch, i64[N]

    Outputs:
      results: the values of all steps, stacked, of each that the body gives behind those that
          it carries; then what is carried out of the last step, of the types of init

    Attributes:
      axis = 1: the axis of time, which slices do not have
      body: what a step does: a function of a slice of each sequence, what is carried, and
          captured values, which returns what is carried to the next step, and then the values
          of the step
      reverse = False: from the last step to the first
    """
@overload
def scan(
    xs_0: ArrayLike,
    /,
    *xs: ArrayLike | None,
    init: Sequence[ArrayLike] | ArrayLike | None = None,
    captured: Sequence[ArrayLike] | ArrayLike | None = None,
    lengths: ArrayLike | None = None,
    axis: int = 1,
    body: FunctionLike,
    reverse: bool = False,
    name: str | None = None,
) -> Results: ...
@overload
def scan(
    *,
    lengths: Operand | None = None,
    axis: int = 1,
    body: FunctionLike,
    reverse: bool = False,
) -> Function: ...

@overload
def scatter(
    x: Value,
    indices: Operand,
    updates: Operand,
    *,
    axis: int = -1,
    reduction: Literal["none", "add", "mul", "min", "max"] = "none",
    name: str | None = None,
) -> Value:
    """x with `updates` put at places along an axis that are given for each line by itself: with
    axis=1, y[i, indices[i, j]] is updates[i, j]. Where places are equal, updates come one after
    another in the order of their indices, so without a reduction the last one stays. A negative
    index counts from the end; an update at an index outside the axis is left out. Integers wrap
    around.

    Inputs:
      x: at least one dim
      indices: places along the axis; rank as x, beside the axis no larger than x
      updates: dtype as x; dims as the indices

    Outputs:
      y: type as x

    Attributes:
      axis = -1: the axis of x, a negative one from the end
      reduction in "none", "add", "mul", "min", "max" = 'none': what an update does to the
          element there: takes its place, is added, multiplied, or the smaller or larger one
          stays (nan wins)
    """
@overload
def scatter(
    x: ArrayLike,
    indices: ArrayLike,
    updates: ArrayLike,
    *,
    axis: int = -1,
    reduction: Literal["none", "add", "mul", "min", "max"] = "none",
    name: str | None = None,
) -> Tensor: ...
@overload
def scatter(
    *,
    axis: int = -1,
    reduction: Literal["none", "add", "mul", "min", "max"] = "none",
) -> Function: ...

@overload
def scatter_add(
    x: Value,
    indices: Operand,
    updates: Operand,
    *,
    axis: int = 0,
    name: str | None = None,
) -> Value:
    """x with `updates` added at given places along an axis, one after another where places are
    equal: the reverse of gather. A negative index counts from the end; an update at an index
    outside the axis is left out. Integers wrap around.

    Inputs:
      x: at least one dim
      indices: places along the axis
      updates: dtype as x; dims as gather(x, indices, axis) has

    Outputs:
      y: type as x

    Attributes:
      axis = 0: the axis of x, a negative one from the end
    """
@overload
def scatter_add(
    x: ArrayLike,
    indices: ArrayLike,
    updates: ArrayLike,
    *,
    axis: int = 0,
    name: str | None = None,
) -> Tensor: ...
@overload
def scatter_add(*, axis: int = 0) -> Function: ...

@overload
def scatter_nd(
    x: Value,
    indices: Operand,
    updates: Operand,
    *,
    reduction: Literal["none", "add", "mul", "min", "max"] = "none",
    batch_dims: int = 0,
    name: str | None = None,
) -> Value:
    """x with `updates` put at places that are given along several axes, the reverse of gather_nd:
    y[indices[i, 0], ..., indices[i, K - 1], ...] is updates[i, ...]. Where places are equal,
    updates come one after another in the order of their indices, so without a reduction the
    last one stays. Negative indices count from the end; an update with one outside its axis is
    left out. Integers wrap around.

    Inputs:
      x: at least one dim
      indices: [..., K]: places along the first K axes of x behind `batch_dims`
      updates: dtype as x; dims as gather_nd(x, indices) has

    Outputs:
      y: type as x

    Attributes:
      reduction in "none", "add", "mul", "min", "max" = 'none': what an update does to the
          element there: takes its place, is added, multiplied, or the smaller or larger one
          stays (nan wins)
      batch_dims >= 0 = 0: how many of the first axes x and the indices share
    """
@overload
def scatter_nd(
    x: ArrayLike,
    indices: ArrayLike,
    updates: ArrayLike,
    *,
    reduction: Literal["none", "add", "mul", "min", "max"] = "none",
    batch_dims: int = 0,
    name: str | None = None,
) -> Tensor: ...
@overload
def scatter_nd(
    *,
    reduction: Literal["none", "add", "mul", "min", "max"] = "none",
    batch_dims: int = 0,
) -> Function: ...

@overload
def segment_ids(offsets: Value, dims: Dims, *, name: str | None = None) -> Value:
    """For each row the segment that it lies in: i where offsets[i] <= row < offsets[i + 1].
    `gather(x, segment_ids(offsets, rows))` repeats row i of x for every row of segment i. A row
    behind the last segment counts to that one.

    Inputs:
      offsets: [N + 1], where each segment begins, and where the last one ends, from 0 on

    Outputs:
      places: [R], i64 below N

    Attributes:
      dims: how many rows there are in all: one size
    """
@overload
def segment_ids(offsets: ArrayLike, dims: Dims, *, name: str | None = None) -> Tensor: ...
@overload
def segment_ids() -> Function: ...

@overload
def segment_pad(offsets: Value, dims: Dims, size: Dims, *, name: str | None = None) -> Value:
    """The rows of each segment, side by side: row i of the result names the first `size` rows of
    segment i. R, the count of all rows, stands for what a shorter one lacks; what a longer one
    has beyond is left out.

    Inputs:
      offsets: [N + 1], where each segment begins, and where the last one ends, from 0 on

    Outputs:
      places: [N, size], i64 up to R

    Attributes:
      dims: how many rows there are in all: one size
      size: how many rows of each segment: one size
    """
@overload
def segment_pad(offsets: ArrayLike, dims: Dims, size: Dims, *, name: str | None = None) -> Tensor: ...
@overload
def segment_pad() -> Function: ...

@overload
def segment_pool(
    x: Value,
    offsets: Operand,
    *,
    kind: Literal["sum", "mean", "sqrt", "max", "min", "first", "last"] = "sum",
    empty: float = 0.0,
    name: str | None = None,
) -> Value:
    """One row for each segment of rows: their sum, mean, sum divided by the square root of their
    count, largest or smallest elements, the first or the last row. nan wins over every number.

    Inputs:
      x: [R, ...], rows
      offsets: [N + 1], where each segment begins, and where the last one ends, from 0 on

    Outputs:
      y: [N, ...]; dtype as x

    Attributes:
      kind in "sum", "mean", "sqrt", "max", "min", "first", "last" = 'sum': what of the rows
      empty = 0.0: each element where a segment has no rows
    """
@overload
def segment_pool(
    x: ArrayLike,
    offsets: ArrayLike,
    *,
    kind: Literal["sum", "mean", "sqrt", "max", "min", "first", "last"] = "sum",
    empty: float = 0.0,
    name: str | None = None,
) -> Tensor: ...
@overload
def segment_pool(
    *,
    kind: Literal["sum", "mean", "sqrt", "max", "min", "first", "last"] = "sum",
    empty: float = 0.0,
) -> Function: ...

@overload
def segment_reverse(offsets: Value, dims: Dims, *, name: str | None = None) -> Value:
    """For each row the one that is at its place when each segment is turned round; what lies
    behind the last segment stays.

    Inputs:
      offsets: [N + 1], where each segment begins, and where the last one ends, from 0 on

    Outputs:
      places: [R], i64 below R

    Attributes:
      dims: how many rows there are in all: one size
    """
@overload
def segment_reverse(offsets: ArrayLike, dims: Dims, *, name: str | None = None) -> Tensor: ...
@overload
def segment_reverse() -> Function: ...

@overload
def segment_scan(
    xs_0: Value,
    /,
    *xs: Operand | None,
    init: Sequence[Operand] | Operand | None = None,
    captured: Sequence[Operand] | Operand | None = None,
    offsets: Operand,
    body: FunctionLike,
    reverse: bool = False,
    name: str | None = None,
) -> Results:
    """A loop over the rows of each segment, as `scan` of ragged sequences is one: their packed
    rows, and where each sequence begins.

    Inputs:
      xs: the rows of all segments, one after another: [R, ...]
      init: what is carried into the first step: any number of values of any type
      captured: values from outside that the body takes behind these, the same at each step;
          what the body uses besides is added here
      offsets: where each segment begins, and where the last one ends: i64[N + 1]

    Outputs:
      results: the values of all steps, stacked, of each that the body gives behind those that
          it carries; then what is carried out of the last step, of the types of init

    Attributes:
      body: what a step does: a function of a slice of each sequence, what is carried, and
          captured values, which returns what is carried to the next step, and then the values
          of the step
      reverse = False: from the last step to the first
    """
@overload
def segment_scan(
    xs_0: ArrayLike,
    /,
    *xs: ArrayLike | None,
    init: Sequence[ArrayLike] | ArrayLike | None = None,
    captured: Sequence[ArrayLike] | ArrayLike | None = None,
    offsets: ArrayLike,
    body: FunctionLike,
    reverse: bool = False,
    name: str | None = None,
) -> Results: ...
@overload
def segment_scan(*, body: FunctionLike, reverse: bool = False) -> Function: ...

@overload
def segment_softmax(x: Value, offsets: Operand, *, name: str | None = None) -> Value:
    """exp(x) divided by its sum over the rows of a segment, for each column by itself. Computed so
    that large numbers do not overflow.

    Inputs:
      x: [R, ...], rows
      offsets: [N + 1], where each segment begins, and where the last one ends, from 0 on

    Outputs:
      y: type as x
    """
@overload
def segment_softmax(x: ArrayLike, offsets: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def segment_softmax() -> Function: ...

@overload
def segment_window(
    offsets: Value,
    dims: Dims,
    *,
    size: int = 3,
    start: int = -1,
    name: str | None = None,
) -> Value:
    """For each row the rows around it: `size` of them, the first one `start` rows away. R, the
    count of all rows, stands for what lies outside its segment.

    Inputs:
      offsets: [N + 1], where each segment begins, and where the last one ends, from 0 on

    Outputs:
      places: [R, size], i64 up to R

    Attributes:
      dims: how many rows there are in all: one size
      size >= 1, <= 1.04858e+06 = 3: rows in a window
      start >= -1.07374e+09, <= 1.07374e+09 = -1: from the row to the first of its window
    """
@overload
def segment_window(
    offsets: ArrayLike,
    dims: Dims,
    *,
    size: int = 3,
    start: int = -1,
    name: str | None = None,
) -> Tensor: ...
@overload
def segment_window(*, size: int = 3, start: int = -1) -> Function: ...

@overload
def selu(x: Value, *, name: str | None = None) -> Value:
    """1.0507 * x where x is positive, else 1.7581 * (exp(x) - 1), element by element (Klambauer et
    al., arXiv:1706.02515, which gives the factors to more digits).

    Inputs:
      x: any numbers

    Outputs:
      y: type as x
    """
@overload
def selu(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def selu() -> Function: ...

@overload
def sequence_at(x: Value, at: Dims, *, name: str | None = None) -> Value:
    """One of the sequences as a dense tensor: `x[n]` of a ragged x is sequence_at(x, [n]). How
    many rows it has only the data decide.

    Inputs:
      x: [N, ~T, ...]

    Outputs:
      y: [rows, ...]; dtype as x

    Attributes:
      at: which one, from 0: one size
    """
@overload
def sequence_at(x: ArrayLike, at: Dims, *, name: str | None = None) -> Tensor: ...
@overload
def sequence_at() -> Function: ...

@overload
def sequence_concat(xs_0: Value, /, *xs: Operand, name: str | None = None) -> Value:
    """Sequences one behind the other: each is made of the rows of those at its place, in the order
    of the operands. Of sequences of sequences the inner ones are taken.

    Inputs:
      xs: [N, ~T, ...] each, or [N, ~S, ~T, ...] with the same ~S; one dtype

    Outputs:
      y: [N, ~rows, ...] or [N, ~S, ~rows, ...]; dtype as xs
    """
@overload
def sequence_concat(xs_0: ArrayLike, /, *xs: ArrayLike, name: str | None = None) -> Tensor: ...
@overload
def sequence_concat() -> Function: ...

@overload
def sequence_expand(x: Value, like: Operand, *, name: str | None = None) -> Value:
    """Each row of x as often as the sequence of `like` at its place has rows.

    Inputs:
      x: [N, ...], or [N, ~S, ...] where `like` has two ragged dims
      like: [N, ~T, ...] or [N, ~S, ~T, ...]

    Outputs:
      y: [N, ~T, ...] or [N, ~S, ~T, ...]; dtype as x
    """
@overload
def sequence_expand(x: ArrayLike, like: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def sequence_expand() -> Function: ...

@overload
def sequence_length(x: Value, *, name: str | None = None) -> Value:
    """How many rows each sequence has; of sequences of sequences the inner ones.

    Inputs:
      x: [N, ~T, ...] or [N, ~S, ~T, ...]

    Outputs:
      y: i64[N] or i64[N, ~S]
    """
@overload
def sequence_length(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def sequence_length() -> Function: ...

@overload
def sequence_pad(x: Value, size: Dims, *, value: float = 0.0, name: str | None = None) -> Value:
    """Sequences as a dense tensor: each with `size` rows, filled up at its end, or cut off there.

    Inputs:
      x: [N, ~T, ...]

    Outputs:
      y: [N, size, ...]; dtype as x

    Attributes:
      size: rows of each sequence: one size
      value = 0.0: what is filled up with
    """
@overload
def sequence_pad(
    x: ArrayLike,
    size: Dims,
    *,
    value: float = 0.0,
    name: str | None = None,
) -> Tensor: ...
@overload
def sequence_pad(*, value: float = 0.0) -> Function: ...

@overload
def sequence_pool(
    x: Value,
    *,
    kind: Literal["sum", "mean", "sqrt", "max", "min", "first", "last"] = "sum",
    empty: float = 0.0,
    name: str | None = None,
) -> Value:
    """One row for each sequence: the sum of its rows, their mean, their sum divided by the square
    root of their count, their largest or smallest elements, the first or the last of them. Of
    sequences of sequences the inner ones are taken.

    Inputs:
      x: [N, ~T, ...] or [N, ~S, ~T, ...]

    Outputs:
      y: [N, ...] or [N, ~S, ...]; dtype as x

    Attributes:
      kind in "sum", "mean", "sqrt", "max", "min", "first", "last" = 'sum': what of the rows
      empty = 0.0: each element for a sequence without rows
    """
@overload
def sequence_pool(
    x: ArrayLike,
    *,
    kind: Literal["sum", "mean", "sqrt", "max", "min", "first", "last"] = "sum",
    empty: float = 0.0,
    name: str | None = None,
) -> Tensor: ...
@overload
def sequence_pool(
    *,
    kind: Literal["sum", "mean", "sqrt", "max", "min", "first", "last"] = "sum",
    empty: float = 0.0,
) -> Function: ...

@overload
def sequence_reverse(x: Value, lengths: Operand | None = None, *, name: str | None = None) -> Value:
    """Each sequence turned round: its last row comes first. Of a padded batch the steps of each
    row, and with lengths the first ones of them; what stands behind the end stays there.

    Inputs:
      x: [N, ~T, ...], [N, ~S, ~T, ...] or [N, T, ...]
      lengths: the steps of each row of a padded batch, i64[N]

    Outputs:
      y: type as x
    """
@overload
def sequence_reverse(
    x: ArrayLike,
    lengths: ArrayLike | None = None,
    *,
    name: str | None = None,
) -> Tensor: ...
@overload
def sequence_reverse(*, lengths: Operand | None = None) -> Function: ...

@overload
def sequence_slice(
    x: Value,
    starts: Operand,
    lengths: Operand | None = None,
    *,
    name: str | None = None,
) -> Value:
    """Some rows of each sequence: `lengths` of them from the row `starts` on, as far as there are
    so many. Of sequences of sequences the inner ones are taken. How many rows that makes only
    the data decide, so a network runs in two parts, with the count between them.

    Inputs:
      x: [N, ~T, ...] or [N, ~S, ~T, ...]
      starts: the first row of each, below 0 from the end: one number, or [N], or [N, ~S]; no
          gradient
      lengths: how many rows of each: in the same way; left out: all that follow

    Outputs:
      y: [N, ~rows, ...] or [N, ~S, ~rows, ...]; dtype as x
    """
@overload
def sequence_slice(
    x: ArrayLike,
    starts: ArrayLike,
    lengths: ArrayLike | None = None,
    *,
    name: str | None = None,
) -> Tensor: ...
@overload
def sequence_slice(*, lengths: Operand | None = None) -> Function: ...

@overload
def sequence_softmax(x: Value, *, name: str | None = None) -> Value:
    """The softmax over the rows of each sequence, for each column by itself: attention over
    sequences of any length.

    Inputs:
      x: [N, ~T, ...] or [N, ~S, ~T, ...]

    Outputs:
      y: type as x
    """
@overload
def sequence_softmax(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def sequence_softmax() -> Function: ...

@overload
def sequence_unpad(x: Value, lengths: Operand, *, name: str | None = None) -> Value:
    """The first steps of each row of a padded batch as a sequence: what `sequence_pad` filled up
    is left out again. A length beyond the steps is all of them, a negative one none.

    Inputs:
      x: [N, T, ...]
      lengths: steps of each row, i64[N]

    Outputs:
      y: [N, ~T, ...]; dtype as x
    """
@overload
def sequence_unpad(x: ArrayLike, lengths: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def sequence_unpad() -> Function: ...

@overload
def sequence_window(x: Value, *, size: int = 3, start: int = -1, name: str | None = None) -> Value:
    """Beside each row the rows around it in its sequence, with zeros outside: a product with a
    matrix [size * D, M] makes a convolution over sequences of it.

    Inputs:
      x: [N, ~T, D] or [N, ~S, ~T, D]

    Outputs:
      y: [N, ~T, size * D]; dtype as x

    Attributes:
      size >= 1, <= 1.04858e+06 = 3: rows in a window
      start >= -1.07374e+09, <= 1.07374e+09 = -1: from the row to the first of its window
    """
@overload
def sequence_window(
    x: ArrayLike,
    *,
    size: int = 3,
    start: int = -1,
    name: str | None = None,
) -> Tensor: ...
@overload
def sequence_window(*, size: int = 3, start: int = -1) -> Function: ...

@overload
def shift_left(x: Value, y: Operand, *, name: str | None = None) -> Value:
    """x with its bits moved up by y places, as NumPy: 0 where that is as many as it has, or
    negative. Broadcasts as NumPy does, over sizes that are literally 1.

    Inputs:
      x: left operand
      y: how many places; dtype as x

    Outputs:
      z: dtype as x, the dims of both broadcast
    """
@overload
def shift_left(x: ArrayLike, y: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def shift_left() -> Function: ...

@overload
def shift_right(x: Value, y: Operand, *, name: str | None = None) -> Value:
    """x with its bits moved down by y places, and copies of the sign in their place, as NumPy: x
    // 2**y. Where y is as many as it has bits, or negative, 0, or -1 if x is negative.
    Broadcasts as NumPy does, over sizes that are literally 1.

    Inputs:
      x: left operand
      y: how many places; dtype as x

    Outputs:
      z: dtype as x, the dims of both broadcast
    """
@overload
def shift_right(x: ArrayLike, y: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def shift_right() -> Function: ...

@overload
def shrink(
    x: Value,
    *,
    threshold: float = 0.5,
    bias: float = 0.0,
    name: str | None = None,
) -> Value:
    """x brought nearer to 0 by `bias` where it is farther from 0 than `threshold`, else 0, element
    by element; nan stays. Soft shrinking is with equal ones, hard shrinking without bias.

    Inputs:
      x: any numbers

    Outputs:
      y: type as x

    Attributes:
      threshold >= 0 = 0.5: the largest absolute value that gives 0
      bias = 0.0: what is taken off the absolute value
    """
@overload
def shrink(
    x: ArrayLike,
    *,
    threshold: float = 0.5,
    bias: float = 0.0,
    name: str | None = None,
) -> Tensor: ...
@overload
def shrink(*, threshold: float = 0.5, bias: float = 0.0) -> Function: ...

@overload
def sigmoid(x: Value, *, name: str | None = None) -> Value:
    """1 / (1 + exp(-x)), element by element.

    Inputs:
      x: any numbers

    Outputs:
      y: in [0, 1]; type as x
    """
@overload
def sigmoid(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def sigmoid() -> Function: ...

@overload
def sign(x: Value, *, name: str | None = None) -> Value:
    """-1 below 0, 0 at 0, 1 above, element by element; nan stays. The gradient is 0.

    Inputs:
      x: any numbers

    Outputs:
      y: type as x
    """
@overload
def sign(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def sign() -> Function: ...

@overload
def silu(x: Value, *, name: str | None = None) -> Value:
    """x * sigmoid(x), also called swish, element by element.

    Inputs:
      x: any numbers

    Outputs:
      y: type as x
    """
@overload
def silu(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def silu() -> Function: ...

@overload
def sin(x: Value, *, scale: float = 1.0, name: str | None = None) -> Value:
    """scale * sin(x), element by element.

    Inputs:
      x: angles in radians

    Outputs:
      y: in [-scale, scale]; type as x

    Attributes:
      scale > 0 = 1.0: the largest result
    """
@overload
def sin(x: ArrayLike, *, scale: float = 1.0, name: str | None = None) -> Tensor: ...
@overload
def sin(*, scale: float = 1.0) -> Function: ...

@overload
def sinh(x: Value, *, name: str | None = None) -> Value:
    """The hyperbolic sine, (exp(x) - exp(-x)) / 2, element by element.

    Inputs:
      x: any numbers

    Outputs:
      y: type as x
    """
@overload
def sinh(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def sinh() -> Function: ...

@overload
def size(dims: Dims, *, dtype: DType = "i64", name: str | None = None) -> Any:
    """The product of sizes as a number: what a symbol stands for among tensors. With ragged dims
    it is the count of the elements that exist.

    Outputs:
      y: a scalar of `dtype`

    Attributes:
      dims: the sizes
      dtype = 'i64': of the result
    """
@overload
def size(*, dtype: DType = "i64") -> Function: ...

@overload
def slice(
    x: Value,
    *,
    axes: Sequence[int],
    starts: Dims,
    stops: Dims,
    steps: Sequence[int] | None = None,
    name: str | None = None,
) -> Value:
    """A part of x along some axes, as x[0:10, 2:] takes it. A bound outside its axis is a mistake,
    never clamped.

    Inputs:
      x: elements of any rank

    Outputs:
      y: dtype as x

    Attributes:
      axes: the axes of x of which not all is taken, each once; they lie behind ragged dims
      starts: for each of them the first index taken; a negative number counts from the end
      stops: for each of them the first index not taken; a negative number as in `starts`
      steps >= 1: for each of them the distance of indices; none: 1
    """
@overload
def slice(
    x: ArrayLike,
    *,
    axes: Sequence[int],
    starts: Dims,
    stops: Dims,
    steps: Sequence[int] | None = None,
    name: str | None = None,
) -> Tensor: ...
@overload
def slice(
    *,
    axes: Sequence[int],
    starts: Dims,
    stops: Dims,
    steps: Sequence[int] | None = None,
) -> Function: ...

@overload
def softmax(x: Value, *, axis: int = -1, name: str | None = None) -> Value:
    """exp(x) / sum(exp(x)) along an axis, without overflow for large x: positive numbers that add
    up to 1.

    Inputs:
      x: at least one dim

    Outputs:
      y: in [0, 1]; type as x

    Attributes:
      axis = -1: the axis, a negative one from the end
    """
@overload
def softmax(x: ArrayLike, *, axis: int = -1, name: str | None = None) -> Tensor: ...
@overload
def softmax(*, axis: int = -1) -> Function: ...

@overload
def softplus(x: Value, *, name: str | None = None) -> Value:
    """log(1 + exp(x)), element by element, without overflow for large x.

    Inputs:
      x: any numbers

    Outputs:
      y: type as x
    """
@overload
def softplus(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def softplus() -> Function: ...

@overload
def softsign(x: Value, *, name: str | None = None) -> Value:
    """x / (1 + abs(x)), element by element; 1 or -1 where x is infinite.

    Inputs:
      x: any numbers

    Outputs:
      y: type as x
    """
@overload
def softsign(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def softsign() -> Function: ...

@overload
def sort(x: Value, *, axis: int = -1, descending: bool = False, name: str | None = None) -> Results:
    """The elements of each line along an axis in order. Equal elements stay in their order. nan
    counts as larger than every number, so it comes last, and first where the order is
    descending.

    Inputs:
      x: at least one dim

    Outputs:
      y: type as x
      indices: i64, dims as x: where each element of y stands in x

    Attributes:
      axis = -1: the axis, a negative one from the end
      descending = False: the largest first
    """
@overload
def sort(
    x: ArrayLike,
    *,
    axis: int = -1,
    descending: bool = False,
    name: str | None = None,
) -> Results: ...
@overload
def sort(*, axis: int = -1, descending: bool = False) -> Function: ...

@overload
def space_to_depth(
    x: Value,
    block: int,
    *,
    mode: Literal["dcr", "crd"] = "dcr",
    name: str | None = None,
) -> Value:
    """Takes blocks of an image apart into channels: with block=2, [2*H, 2*W] becomes four channels
    of [H, W]. The reverse of depth_to_space.

    Inputs:
      x: [N, C, ...] with 1 to 3 more dims, each a multiple of `block`

    Outputs:
      y: [N, C * places, ...], each spatial size divided by `block`; dtype as x

    Attributes:
      block >= 1: the size of a block along each spatial dim
      mode in "dcr", "crd" = 'dcr': which of the channels is the outer count: "dcr" the place in
          the block, "crd" the channel with blocks (PyTorch's pixel_shuffle)
    """
@overload
def space_to_depth(
    x: ArrayLike,
    block: int,
    *,
    mode: Literal["dcr", "crd"] = "dcr",
    name: str | None = None,
) -> Tensor: ...
@overload
def space_to_depth(*, mode: Literal["dcr", "crd"] = "dcr") -> Function: ...

@overload
def split(
    x: Value,
    *,
    parts: int | None = None,
    sizes: Dims | None = None,
    axis: int = 0,
    name: str | None = None,
) -> Results:
    """A tensor cut into parts along an axis: `parts` equal ones, or parts of these sizes. `q, k, v
    = split(x, parts=3)`.

    Inputs:
      x: at least one dim

    Outputs:
      y: each part; dtype as x

    Attributes:
      parts >= 1, <= 65536: how many equal parts
      sizes: the size of each part along the axis
      axis = 0: the axis, a negative one from the end
    """
@overload
def split(
    x: ArrayLike,
    *,
    parts: int | None = None,
    sizes: Dims | None = None,
    axis: int = 0,
    name: str | None = None,
) -> Results: ...
@overload
def split(*, parts: int | None = None, sizes: Dims | None = None, axis: int = 0) -> Function: ...

@overload
def sqrt(x: Value, *, name: str | None = None) -> Value:
    """The square root, element by element: nan below 0.

    Inputs:
      x: numbers from 0 on

    Outputs:
      y: type as x
    """
@overload
def sqrt(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def sqrt() -> Function: ...

@overload
def square(x: Value, *, name: str | None = None) -> Value:
    """x * x, element by element. Integers wrap around.

    Inputs:
      x: any numbers

    Outputs:
      y: type as x
    """
@overload
def square(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def square() -> Function: ...

@overload
def squeeze(x: Value, axes: Sequence[int] | None = None, *, name: str | None = None) -> Value:
    """x without axes of size 1. Without `axes` all that are literally 1 go; a symbol never does.

    Inputs:
      x: elements of any rank

    Outputs:
      y: the other dims; dtype as x

    Attributes:
      axes: the axes to drop, each once, negative ones from the end
    """
@overload
def squeeze(x: ArrayLike, axes: Sequence[int] | None = None, *, name: str | None = None) -> Tensor: ...
@overload
def squeeze() -> Function: ...

@overload
def stack(x_0: Value, /, *x: Operand, axis: int = 0, name: str | None = None) -> Value:
    """Tensors of one type one after another along a new axis.

    Inputs:
      x: one or more, of one dtype and the same sizes

    Outputs:
      y: dtype as x; the count of tensors is the size of the new axis

    Attributes:
      axis = 0: where it stands in the result, a negative one from its end
    """
@overload
def stack(x_0: ArrayLike, /, *x: ArrayLike, axis: int = 0, name: str | None = None) -> Tensor: ...
@overload
def stack(*, axis: int = 0) -> Function: ...

@overload
def standardize(
    x: Value,
    gamma: Operand | None = None,
    beta: Operand | None = None,
    *,
    axis: int = -1,
    eps: float = 1e-05,
    center: bool = True,
    name: str | None = None,
) -> Value:
    """(x - mean) / sqrt(variance + eps) * gamma + beta, with the mean and the (population)
    variance over an axis and all after it: layer normalization (Ba, Kiros and Hinton,
    arXiv:1607.06450), or without `center` RMS normalization (Zhang and Sennrich,
    arXiv:1910.07467).

    Inputs:
      x: at least one dim
      gamma: the dims of x from the axis on, or one number for all; left out: 1
      beta: the dims of x from the axis on; left out: 0

    Outputs:
      y: type as x

    Attributes:
      axis = -1: the first of the axes that are taken together, a negative one from the end
      eps >= 0 = 1e-05: added to the variance
      center = True: false: the mean is taken for 0, in the variance too
    """
@overload
def standardize(
    x: ArrayLike,
    gamma: ArrayLike | None = None,
    beta: ArrayLike | None = None,
    *,
    axis: int = -1,
    eps: float = 1e-05,
    center: bool = True,
    name: str | None = None,
) -> Tensor: ...
@overload
def standardize(
    *,
    gamma: Operand | None = None,
    beta: Operand | None = None,
    axis: int = -1,
    eps: float = 1e-05,
    center: bool = True,
) -> Function: ...

@overload
def std(
    x: Value,
    *,
    axes: Sequence[int] | None = None,
    keep: bool = False,
    ddof: int = 0,
    name: str | None = None,
) -> Value:
    """The standard deviation over axes, the square root of the variance; nan where there is
    nothing. The gradient where all elements are equal is 0.

    Inputs:
      x: elements of any rank; the ragged dims and the one before them are reduced together only

    Outputs:
      y: from 0 on; dtype as x; the dims of x without the axes

    Attributes:
      axes: axes to go over, negative ones from the end; none: all
      keep = False: keep each of these axes, with size 1
      ddof >= 0 = 0: what is taken off the count that the sum of squares is divided by, as
          NumPy: 1 estimates the variance of what x is a sample of
    """
@overload
def std(
    x: ArrayLike,
    *,
    axes: Sequence[int] | None = None,
    keep: bool = False,
    ddof: int = 0,
    name: str | None = None,
) -> Tensor: ...
@overload
def std(*, axes: Sequence[int] | None = None, keep: bool = False, ddof: int = 0) -> Function: ...

@overload
def stop_gradient(x: Value, *, name: str | None = None) -> Value:
    """x itself, which counts as a constant wherever a gradient is taken. Costs nothing.

    Inputs:
      x: anything; no gradient

    Outputs:
      y: x; type as x
    """
@overload
def stop_gradient(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def stop_gradient() -> Function: ...

@overload
def sub(x: Value, y: Operand, *, name: str | None = None) -> Value:
    """x - y. Integers wrap around. Broadcasts as NumPy does, over sizes that are literally 1.

    Inputs:
      x: left operand
      y: right operand; dtype as x

    Outputs:
      z: dtype as x, the dims of both broadcast
    """
@overload
def sub(x: ArrayLike, y: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def sub() -> Function: ...

@overload
def sum(
    x: Value,
    *,
    axes: Sequence[int] | None = None,
    keep: bool = False,
    name: str | None = None,
) -> Value:
    """The sum over axes; 0 where there is nothing to add.

    Inputs:
      x: elements of any rank; the ragged dims and the one before them are reduced together only

    Outputs:
      y: dtype as x, i64 for integers and truth values; the dims of x without the axes

    Attributes:
      axes: axes to go over, negative ones from the end; none: all
      keep = False: keep each of these axes, with size 1
    """
@overload
def sum(
    x: ArrayLike,
    *,
    axes: Sequence[int] | None = None,
    keep: bool = False,
    name: str | None = None,
) -> Tensor: ...
@overload
def sum(*, axes: Sequence[int] | None = None, keep: bool = False) -> Function: ...

@overload
def take_along_axis(
    x: Value,
    indices: Operand,
    *,
    axis: int = -1,
    name: str | None = None,
) -> Value:
    """The elements of x at places along an axis that are given for each line by itself, as NumPy's
    take_along_axis: with axis=1, y[i, j] is x[i, indices[i, j]]. A negative index counts from
    the end; at one outside the axis the result is nan, or 0 for integers and truth values.

    Inputs:
      x: at least one dim
      indices: places along the axis; rank as x, beside the axis the sizes broadcast

    Outputs:
      y: dtype as x; along the axis the size of the indices

    Attributes:
      axis = -1: the axis of x, a negative one from the end
    """
@overload
def take_along_axis(
    x: ArrayLike,
    indices: ArrayLike,
    *,
    axis: int = -1,
    name: str | None = None,
) -> Tensor: ...
@overload
def take_along_axis(*, axis: int = -1) -> Function: ...

@overload
def tan(x: Value, *, name: str | None = None) -> Value:
    """The tangent, element by element.

    Inputs:
      x: angles in radians

    Outputs:
      y: type as x
    """
@overload
def tan(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def tan() -> Function: ...

@overload
def tanh(x: Value, *, name: str | None = None) -> Value:
    """The hyperbolic tangent, element by element.

    Inputs:
      x: any numbers

    Outputs:
      y: in [-1, 1]; type as x
    """
@overload
def tanh(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def tanh() -> Function: ...

@overload
def thresholded_relu(x: Value, *, alpha: float = 1.0, name: str | None = None) -> Value:
    """x where it is larger than alpha, else 0, element by element; nan stays.

    Inputs:
      x: any numbers

    Outputs:
      y: type as x

    Attributes:
      alpha = 1.0: the largest x that gives 0
    """
@overload
def thresholded_relu(x: ArrayLike, *, alpha: float = 1.0, name: str | None = None) -> Tensor: ...
@overload
def thresholded_relu(*, alpha: float = 1.0) -> Function: ...

@overload
def tile(x: Value, repeats: Dims, *, name: str | None = None) -> Value:
    """x side by side with itself, so many times along each axis. Repeats and dims are matched from
    the last on; where there are fewer of the one, ones stand in front.

    Inputs:
      x: elements of any rank

    Outputs:
      y: dtype as x; sizes multiplied

    Attributes:
      repeats: for each of the last axes how many times
    """
@overload
def tile(x: ArrayLike, repeats: Dims, *, name: str | None = None) -> Tensor: ...
@overload
def tile() -> Function: ...

@overload
def topk(
    x: Value,
    k: Dims,
    *,
    axis: int = -1,
    largest: bool = True,
    name: str | None = None,
) -> Results:
    """The k largest or smallest elements of each line along an axis, in order, and their places.
    Of equal elements the one that stands first comes first. nan counts as larger than every
    number.

    Inputs:
      x: at least one dim

    Outputs:
      y: dtype as x; along the axis of size k
      indices: i64, dims as y: where each element of y stands in x

    Attributes:
      k: how many; at most the size of the axis
      axis = -1: the axis, a negative one from the end
      largest = True: the largest, and from the largest on; else the smallest
    """
@overload
def topk(
    x: ArrayLike,
    k: Dims,
    *,
    axis: int = -1,
    largest: bool = True,
    name: str | None = None,
) -> Results: ...
@overload
def topk(*, axis: int = -1, largest: bool = True) -> Function: ...

def training(*, name: str | None = None) -> Any:
    """Whether the network runs for training. It is known when a run is planned, so that
    `plan_select` may ask for it.

    Outputs:
      y: bool[]
    """

@overload
def transpose(x: Value, perm: Sequence[int] | None = None, *, name: str | None = None) -> Value:
    """The same elements with the axes in another order.

    Inputs:
      x: elements of any rank

    Outputs:
      y: axis i is axis perm[i] of x; dtype as x

    Attributes:
      perm: each axis of x once, negative ones from the end; none: the last two exchanged
    """
@overload
def transpose(
    x: ArrayLike,
    perm: Sequence[int] | None = None,
    *,
    name: str | None = None,
) -> Tensor: ...
@overload
def transpose() -> Function: ...

@overload
def tril(x: Value, k: int = 0, *, name: str | None = None) -> Value:
    """The lower triangle of matrices: the elements on a diagonal and on the side below it, and 0
    elsewhere.

    Inputs:
      x: [..., N, M]

    Outputs:
      y: type as x

    Attributes:
      k = 0: the diagonal: 0 the main one, 1 the one above it, -1 below
    """
@overload
def tril(x: ArrayLike, k: int = 0, *, name: str | None = None) -> Tensor: ...
@overload
def tril() -> Function: ...

@overload
def triu(x: Value, k: int = 0, *, name: str | None = None) -> Value:
    """The upper triangle of matrices: the elements on a diagonal and on the side above it, and 0
    elsewhere.

    Inputs:
      x: [..., N, M]

    Outputs:
      y: type as x

    Attributes:
      k = 0: the diagonal: 0 the main one, 1 the one above it, -1 below
    """
@overload
def triu(x: ArrayLike, k: int = 0, *, name: str | None = None) -> Tensor: ...
@overload
def triu() -> Function: ...

@overload
def trunc(x: Value, *, name: str | None = None) -> Value:
    """The nearest integer towards 0. The gradient is 0.

    Inputs:
      x: any numbers

    Outputs:
      y: type as x
    """
@overload
def trunc(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def trunc() -> Function: ...

@overload
def truncated_normal(
    dims: Dims,
    *,
    mean: float = 0.0,
    std: float = 1.0,
    low: float = -2.0,
    high: float = 2.0,
    dtype: DType = "f32",
    name: str | None = None,
) -> Any:
    """Random numbers of a normal distribution of which only a piece around the mean is left. They
    depend on the seed, the count of runs and the name of the result alone.

    Outputs:
      y: `dims` elements of `dtype`

    Attributes:
      dims: the sizes
      mean = 0.0: the mean of the whole distribution
      std >= 0 = 1.0: its standard deviation
      low = -2.0: the smallest number, in standard deviations from the mean
      high = 2.0: the largest number, in standard deviations from the mean
      dtype = 'f32': of the elements
    """
@overload
def truncated_normal(
    *,
    mean: float = 0.0,
    std: float = 1.0,
    low: float = -2.0,
    high: float = 2.0,
    dtype: DType = "f32",
) -> Function: ...

@overload
def uniform(
    dims: Dims,
    *,
    low: float = 0.0,
    high: float = 1.0,
    dtype: DType = "f32",
    name: str | None = None,
) -> Any:
    """Random numbers, each as likely as any other in [low, high). They depend on the seed, the
    count of runs and the name of the result alone.

    Outputs:
      y: `dims` elements of `dtype`

    Attributes:
      dims: the sizes
      low = 0.0: the smallest number
      high = 1.0: above all numbers; where it is equal to `low`, they all are that
      dtype = 'f32': of the elements
    """
@overload
def uniform(*, low: float = 0.0, high: float = 1.0, dtype: DType = "f32") -> Function: ...

@overload
def unique(x: Value, *, sorted: bool = True, name: str | None = None) -> Results:
    """The different elements of x, from the smallest on; all nan are one, the last. With them,
    which of them each element of x is, how often each occurs, and where first. How many there
    are only the data decide.

    Inputs:
      x: elements of any rank; no gradient

    Outputs:
      values: [count]; dtype as x
      inverse: i64[elements of x]: gather(values, inverse) are the elements of x
      counts: i64[count]
      first: i64[count]: the place of the first of each among the elements of x

    Attributes:
      sorted = True: from the smallest on; else in the order of their first elements
    """
@overload
def unique(x: ArrayLike, *, sorted: bool = True, name: str | None = None) -> Results: ...
@overload
def unique(*, sorted: bool = True) -> Function: ...

@overload
def unsqueeze(x: Value, axes: Sequence[int], *, name: str | None = None) -> Value:
    """x with further axes of size 1.

    Inputs:
      x: elements of any rank

    Outputs:
      y: dtype as x

    Attributes:
      axes: where they stand in the result, each once, negative ones from its end
    """
@overload
def unsqueeze(x: ArrayLike, axes: Sequence[int], *, name: str | None = None) -> Tensor: ...
@overload
def unsqueeze() -> Function: ...

@overload
def variance(
    x: Value,
    *,
    axes: Sequence[int] | None = None,
    keep: bool = False,
    ddof: int = 0,
    name: str | None = None,
) -> Value:
    """The variance over axes: the mean of squared distances from the mean; nan where there is
    nothing.

    Inputs:
      x: elements of any rank; the ragged dims and the one before them are reduced together only

    Outputs:
      y: from 0 on; dtype as x; the dims of x without the axes

    Attributes:
      axes: axes to go over, negative ones from the end; none: all
      keep = False: keep each of these axes, with size 1
      ddof >= 0 = 0: what is taken off the count that the sum of squares is divided by, as
          NumPy: 1 estimates the variance of what x is a sample of
    """
@overload
def variance(
    x: ArrayLike,
    *,
    axes: Sequence[int] | None = None,
    keep: bool = False,
    ddof: int = 0,
    name: str | None = None,
) -> Tensor: ...
@overload
def variance(*, axes: Sequence[int] | None = None, keep: bool = False, ddof: int = 0) -> Function: ...

@overload
def where(condition: Value, x: Operand, y: Operand, *, name: str | None = None) -> Value:
    """x where the condition is true, y elsewhere. Broadcasts as NumPy does, over sizes that are
    literally 1.

    Inputs:
      condition: truth values
      x: chosen where it is true
      y: chosen where it is false; dtype as x

    Outputs:
      z: dtype as x, the dims of all broadcast
    """
@overload
def where(condition: ArrayLike, x: ArrayLike, y: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def where() -> Function: ...

@overload
def write(
    x: Value,
    value: Operand,
    at: Operand,
    *,
    axis: int = 0,
    name: str | None = None,
) -> Value:
    """x with a part of it replaced, from a position on that is known when it runs: along the axis,
    y[at : at + T] is the value, of T places. A negative position counts from the end; what
    would lie outside the axis is left out. Where nobody else needs x, nothing of it is copied.

    Inputs:
      x: at least one dim
      value: dtype and rank as x; as large, but along the axis
      at: the first place that is written, a scalar

    Outputs:
      y: type as x

    Attributes:
      axis = 0: the axis, a negative one from the end
    """
@overload
def write(
    x: ArrayLike,
    value: ArrayLike,
    at: ArrayLike,
    *,
    axis: int = 0,
    name: str | None = None,
) -> Tensor: ...
@overload
def write(*, axis: int = 0) -> Function: ...

@overload
def xavier_normal(
    dims: Dims,
    *,
    gain: float = 1.0,
    layout: Literal["auto", "in_out", "out_in"] = "auto",
    dtype: DType = "f32",
    name: str | None = None,
) -> Any:
    """First values of a weight (Glorot and Bengio 2010): normal with the standard deviation gain *
    sqrt(2 / (fan_in + fan_out)). They depend on the seed, the count of runs and the name of the
    result alone.

    Outputs:
      y: `dims` elements of `dtype`

    Attributes:
      dims: the sizes
      gain >= 0 = 1.0: a factor for all numbers
      layout in "auto", "in_out", "out_in" = 'auto': where the counts of inputs and outputs are:
          the last two dims (those before are a stack of weights), or as a convolution has them,
          output first, other dims its window; auto: "in_out" up to two dims, "out_in" beyond
      dtype = 'f32': of the elements
    """
@overload
def xavier_normal(
    *,
    gain: float = 1.0,
    layout: Literal["auto", "in_out", "out_in"] = "auto",
    dtype: DType = "f32",
) -> Function: ...

@overload
def xavier_uniform(
    dims: Dims,
    *,
    gain: float = 1.0,
    layout: Literal["auto", "in_out", "out_in"] = "auto",
    dtype: DType = "f32",
    name: str | None = None,
) -> Any:
    """First values of a weight (Glorot and Bengio 2010): uniform in [-a, a) with a = gain * sqrt(6
    / (fan_in + fan_out)). They depend on the seed, the count of runs and the name of the result
    alone.

    Outputs:
      y: `dims` elements of `dtype`

    Attributes:
      dims: the sizes
      gain >= 0 = 1.0: a factor for all numbers
      layout in "auto", "in_out", "out_in" = 'auto': where the counts of inputs and outputs are:
          the last two dims (those before are a stack of weights), or as a convolution has them,
          output first, other dims its window; auto: "in_out" up to two dims, "out_in" beyond
      dtype = 'f32': of the elements
    """
@overload
def xavier_uniform(
    *,
    gain: float = 1.0,
    layout: Literal["auto", "in_out", "out_in"] = "auto",
    dtype: DType = "f32",
) -> Function: ...

@overload
def zeros(dims: Dims, *, dtype: DType = "f32", name: str | None = None) -> Any:
    """Zeros.

    Outputs:
      y: `dims` elements of `dtype`

    Attributes:
      dims: the sizes
      dtype = 'f32': of the elements
    """
@overload
def zeros(*, dtype: DType = "f32") -> Function: ...

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
    """The absolute value, element by element.

    The smallest integer stays as it is; the gradient at 0 is 0.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64 or u8; may be ragged
        any numbers
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        type as x

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = abs([-1.5, 2.0])  # = [1.5, 2.0]
    """
@overload
def abs(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def abs() -> Function: ...

@overload
def acos(x: Value, *, name: str | None = None) -> Value:
    """The arc cosine, element by element: nan outside [-1, 1].

    Parameters
    ----------
    x : array of f16, bf16, f32 or f64; may be ragged
        numbers in [-1, 1]
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        angles in [0, pi]; type as x

    Notes
    -----
    Differentiable. In f32, the largest error is 0.51 units of the last place.

    Examples
    --------
    In the language::

        y = acos([0.0, 0.5, -1.0])  # = [1.5707964, 1.0471976, 3.1415927]
    """
@overload
def acos(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def acos() -> Function: ...

@overload
def acosh(x: Value, *, name: str | None = None) -> Value:
    """The number from 0 on whose hyperbolic cosine is x, element by element: nan below 1.

    Parameters
    ----------
    x : array of f16, bf16, f32 or f64; may be ragged
        numbers from 1 on
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        from 0 on; type as x

    Notes
    -----
    Differentiable. In f32, the largest error is 0.51 units of the last place.

    Examples
    --------
    In the language::

        y = acosh([1.0, 2.0])  # = [0.0, 1.316958]
    """
@overload
def acosh(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def acosh() -> Function: ...

@overload
def adaptive_avg_pool(x: Value, size: Dims, *, name: str | None = None) -> Value:
    """The mean of each part of x, channel by channel, where a dim of size S is cut into `size`
    parts: part i is from i * S // size up to (i + 1) * S / size, rounded up.

    size=1 is global pooling. Halves are added up in f32.

    Parameters
    ----------
    x : array of f16, bf16, f32 or f64
        [N, C, ...] with 1 to 3 more dims
    size : shape, required
        the spatial sizes of the result: one for all dims, or one for each
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        [N, C, size...]; dtype as x

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = adaptive_avg_pool([[[1.0, 5.0, 2.0]]], 2)  # = [[[3.0, 3.5]]]
    """
@overload
def adaptive_avg_pool(x: ArrayLike, size: Dims, *, name: str | None = None) -> Tensor: ...
@overload
def adaptive_avg_pool() -> Function: ...

@overload
def adaptive_avg_pool_grad(dy: Value, size: Dims, *, name: str | None = None) -> Value:
    """The gradient of adaptive_avg_pool: each element of dy, divided by the count of its
    part's elements, goes to all of them, and is added up where parts overlap.

    Parameters
    ----------
    dy : array of f16, bf16, f32 or f64
        the result's gradient: [N, C, ...] with 1 to 3 more dims
    size : shape, required
        the spatial sizes of what was pooled
    name : str, optional
        names the result in a graph

    Returns
    -------
    dx
        [N, C, size...]; dtype as dy

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        dx = adaptive_avg_pool_grad([[[2.0, 4.0]]], 3)  # = [[[1.0, 3.0, 2.0]]]
    """
@overload
def adaptive_avg_pool_grad(dy: ArrayLike, size: Dims, *, name: str | None = None) -> Tensor: ...
@overload
def adaptive_avg_pool_grad() -> Function: ...

@overload
def adaptive_max_pool(x: Value, size: Dims, *, name: str | None = None) -> Value:
    """The largest element of each part of x, channel by channel, where a dim of size S is cut
    into `size` parts: part i is from i * S // size up to (i + 1) * S / size, rounded up.

    nan where a part has one.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64 or u8
        [N, C, ...] with 1 to 3 more dims
    size : shape, required
        the spatial sizes of the result: one for all dims, or one for each
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        [N, C, size...]; dtype as x

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = adaptive_max_pool([[[1.0, 5.0, 2.0]]], 2)  # = [[[5.0, 5.0]]]
    """
@overload
def adaptive_max_pool(x: ArrayLike, size: Dims, *, name: str | None = None) -> Tensor: ...
@overload
def adaptive_max_pool() -> Function: ...

@overload
def adaptive_max_pool_index(x: Value, size: Dims, *, name: str | None = None) -> Value:
    """Where adaptive_max_pool finds the largest element of each part: its place in the plane
    of its channel, counted in row-major order, for max_unpool.

    The first of equal elements, the last nan.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64 or u8
        [N, C, ...] with 1 to 3 more dims
    size : shape, required
        the spatial sizes of the result: one for all dims, or one for each
    name : str, optional
        names the result in a graph

    Returns
    -------
    indices
        i64[N, C, size...]

    Notes
    -----
    Not differentiable.

    Examples
    --------
    In the language::

        i = adaptive_max_pool_index([[[1.0, 5.0, 2.0]]], 2)  # = [[[1, 1]]]
    """
@overload
def adaptive_max_pool_index(x: ArrayLike, size: Dims, *, name: str | None = None) -> Tensor: ...
@overload
def adaptive_max_pool_index() -> Function: ...

@overload
def add(x: Value, y: Operand, *, name: str | None = None) -> Value:
    """x + y.

    Integers wrap around. Broadcasts as NumPy does, over sizes that are literally 1.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64 or u8; may be ragged
        left operand
    y : array of f16, bf16, f32, f64, i8, i32, i64 or u8; may be ragged
        right operand; dtype as x
    name : str, optional
        names the result in a graph

    Returns
    -------
    z
        dtype as x, the dims of both broadcast

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        z = add([1, 2], [[10], [20]])  # = [[11, 12], [21, 22]]
    """
@overload
def add(x: ArrayLike, y: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def add() -> Function: ...

@overload
def add_n(x_0: Value, /, *x: Operand, name: str | None = None) -> Value:
    """The sum of one or more tensors, from left to right; of one it is that.

    Integers wrap around. Broadcasts as NumPy does, over sizes that are literally 1.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64 or u8; may be ragged; any number of them
        one or more, of one dtype
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        dtype as x, the dims of all broadcast

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = add_n([1.0, 2.0], [10.0, 20.0], [100.0, 200.0])  # = [111.0, 222.0]
    """
@overload
def add_n(x_0: ArrayLike, /, *x: ArrayLike, name: str | None = None) -> Tensor: ...
@overload
def add_n() -> Function: ...

@overload
def all(
    x: Value,
    *,
    axes: int | Sequence[int] | None = None,
    keep: bool = False,
    name: str | None = None,
) -> Value:
    """Whether all elements over axes are true or other than 0; true where there is none.

    nan is other than 0.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64, u8 or bool; may be ragged
        elements of any rank; the ragged dims and the one before them are reduced together
        only
    axes : list of int, optional
        axes to go over, negative ones from the end; none: all
    keep : bool, default False
        keep each of these axes, with size 1
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        bool; the dims of x without the axes

    Notes
    -----
    Not differentiable.

    Examples
    --------
    In the language::

        y = all([[1.0, 2.0], [3.0, 0.0]], axes=[1])  # = [true, false]
    """
@overload
def all(
    x: ArrayLike,
    *,
    axes: int | Sequence[int] | None = None,
    keep: bool = False,
    name: str | None = None,
) -> Tensor: ...
@overload
def all(*, axes: int | Sequence[int] | None = None, keep: bool = False) -> Function: ...

@overload
def any(
    x: Value,
    *,
    axes: int | Sequence[int] | None = None,
    keep: bool = False,
    name: str | None = None,
) -> Value:
    """Whether an element over axes is true or other than 0; false where there is none.

    nan is other than 0.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64, u8 or bool; may be ragged
        elements of any rank; the ragged dims and the one before them are reduced together
        only
    axes : list of int, optional
        axes to go over, negative ones from the end; none: all
    keep : bool, default False
        keep each of these axes, with size 1
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        bool; the dims of x without the axes

    Notes
    -----
    Not differentiable.

    Examples
    --------
    In the language::

        y = any([[0.0, 2.0], [0.0, 0.0]], axes=[1])  # = [true, false]
    """
@overload
def any(
    x: ArrayLike,
    *,
    axes: int | Sequence[int] | None = None,
    keep: bool = False,
    name: str | None = None,
) -> Tensor: ...
@overload
def any(*, axes: int | Sequence[int] | None = None, keep: bool = False) -> Function: ...

@overload
def argmax(x: Value, *, axis: int = -1, keep: bool = False, name: str | None = None) -> Value:
    """Where the largest element along an axis is: the first of equal ones, or the first nan.

    The axis must not be empty.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64, u8 or bool; may be ragged
        at least one dim
    axis : int, default -1
        the axis, a negative one from the end
    keep : bool, default False
        keep the axis, with size 1
    name : str, optional
        names the result in a graph

    Returns
    -------
    index
        i64, below the size of the axis; the dims of x without it

    Notes
    -----
    Not differentiable.

    Examples
    --------
    In the language::

        index = argmax([[1.0, 5.0, 2.0], [7.0, 0.0, 7.0]])  # = [1, 0]
    """
@overload
def argmax(x: ArrayLike, *, axis: int = -1, keep: bool = False, name: str | None = None) -> Tensor: ...
@overload
def argmax(*, axis: int = -1, keep: bool = False) -> Function: ...

@overload
def argmin(x: Value, *, axis: int = -1, keep: bool = False, name: str | None = None) -> Value:
    """Where the smallest element along an axis is: the first of equal ones, or the first nan.

    The axis must not be empty.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64, u8 or bool; may be ragged
        at least one dim
    axis : int, default -1
        the axis, a negative one from the end
    keep : bool, default False
        keep the axis, with size 1
    name : str, optional
        names the result in a graph

    Returns
    -------
    index
        i64, below the size of the axis; the dims of x without it

    Notes
    -----
    Not differentiable.

    Examples
    --------
    In the language::

        y = argmin([3.0, 1.0, 2.0, 1.0])  # = 1
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
    """The places of the elements of each line along an axis, in the order of the elements.

    Equal elements stay in their order. nan counts as larger than every number, so it comes
    last, and first where the order is descending.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64, u8 or bool
        at least one dim
    axis : int, default -1
        the axis, a negative one from the end
    descending : bool, default False
        the largest first
    name : str, optional
        names the result in a graph

    Returns
    -------
    indices
        i64, dims as x: where each element of the sorted line stands in x

    Notes
    -----
    Not differentiable.

    Examples
    --------
    In the language::

        i = argsort([3, 1, 2])  # = [1, 2, 0]
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

    Parameters
    ----------
    x : array of f16, bf16, f32 or f64; may be ragged
        numbers in [-1, 1]
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        angles in [-pi / 2, pi / 2]; type as x

    Notes
    -----
    Differentiable. In f32, the largest error is 0.51 units of the last place.

    Examples
    --------
    In the language::

        y = asin([0.0, 0.5, -1.0])  # = [0.0, 0.5235988, -1.5707964]
    """
@overload
def asin(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def asin() -> Function: ...

@overload
def asinh(x: Value, *, name: str | None = None) -> Value:
    """The number whose hyperbolic sine is x, element by element.

    Parameters
    ----------
    x : array of f16, bf16, f32 or f64; may be ragged
        any numbers
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        type as x

    Notes
    -----
    Differentiable. In f32, the largest error is 0.51 units of the last place.

    Examples
    --------
    In the language::

        y = asinh([0.0, 1.0])  # = [0.0, 0.8813736]
    """
@overload
def asinh(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def asinh() -> Function: ...

@overload
def atan(x: Value, *, name: str | None = None) -> Value:
    """The arc tangent, element by element.

    Parameters
    ----------
    x : array of f16, bf16, f32 or f64; may be ragged
        any numbers
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        angles in [-pi / 2, pi / 2]; type as x

    Notes
    -----
    Differentiable. In f32, the largest error is 0.51 units of the last place.

    Examples
    --------
    In the language::

        y = atan([0.0, 1.0, -10.0])  # = [0.0, 0.7853982, -1.4711276]
    """
@overload
def atan(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def atan() -> Function: ...

@overload
def atan2(y: Value, x: Operand, *, name: str | None = None) -> Value:
    """The angle of the point (x, y) in radians, element by element.

    The gradient where both are 0 is 0. Broadcasts as NumPy does, over sizes that are
    literally 1.

    Parameters
    ----------
    y : array of f16, bf16, f32 or f64; may be ragged
        how far up the points are
    x : array of f16, bf16, f32 or f64; may be ragged
        how far to the right; dtype as y
    name : str, optional
        names the result in a graph

    Returns
    -------
    angle
        in [-pi, pi]; dtype as y, the dims of both broadcast

    Notes
    -----
    Differentiable. In f32, the largest error is 0.51 units of the last place.

    Examples
    --------
    In the language::

        y = atan2([1.0, 0.0], [1.0, -2.0])  # = [0.7853982, 3.1415927]
    """
@overload
def atan2(y: ArrayLike, x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def atan2() -> Function: ...

@overload
def atanh(x: Value, *, name: str | None = None) -> Value:
    """The number whose hyperbolic tangent is x, element by element: infinite at 1 and -1, nan
    beyond.

    Parameters
    ----------
    x : array of f16, bf16, f32 or f64; may be ragged
        numbers in [-1, 1]
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        type as x

    Notes
    -----
    Differentiable. In f32, the largest error is 0.51 units of the last place.

    Examples
    --------
    In the language::

        y = atanh([0.0, 0.5])  # = [0.0, 0.54930615]
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
    mask) v, with memory for blocks of the scores only.

    Each row of q is a query that sees the rows of k and v, its keys and values. With
    `causal`, query i sees the keys up to `past` + i. Where k and v have fewer heads than q,
    as many neighbouring heads of q share one (grouped queries, arXiv:2305.13245). A query
    that sees no key gives 0.

    Parameters
    ----------
    q : array of f16, bf16, f32 or f64
        [..., H, T, D]: T queries, of H heads; or [T, D]
    k : array of f16, bf16, f32 or f64
        [..., G, S, D]: S keys; G divides H
    v : array of f16, bf16, f32 or f64
        [..., G, S, E]: the values of the keys
    past : array of i32 or i64, optional
        how many keys come before the first query's own, with `causal`; 0 if left out
    mask : array of f16, bf16, f32, f64 or bool, optional
        broadcasts to [..., H, T, S]: truth values, true where a query sees a key; or of q's
        dtype, added to the scaled products
    causal : bool, default False
        queries see no keys that come after their own
    scale : float, optional
        what the products are multiplied by; none: 1 / sqrt(D)
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        [..., H, T, E]; dtype as q
    lse
        [..., H, T]: the logarithm of each query's sum of exponentials; f64, or f32

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = attention([[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, 1.0]], [[1.0], [3.0]], causal=true, scale=0.0)  # = [[1.0], [2.0]]
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
    """The gradients of attention(q, k, v, past, mask), with memory for blocks of the scores
    only.

    Parameters
    ----------
    q : array of f16, bf16, f32 or f64
        as attention had it
    k : array of f16, bf16, f32 or f64
        as attention had it
    v : array of f16, bf16, f32 or f64
        as attention had it
    lse : array of f32 or f64
        what attention gave
    dy : array of f16, bf16, f32 or f64
        the gradient of y
    shift : array of f32 or f64
        for each query the sum of y * dy, less the gradient of lse; dtype as lse
    past : array of i32 or i64, optional
        as attention had it
    mask : array of f16, bf16, f32, f64 or bool, optional
        as attention had it
    causal : bool, default False
        as attention had it
    scale : float, optional
        as attention had it
    name : str, optional
        names the result in a graph

    Returns
    -------
    dq
        type as q
    dk
        type as k
    dv
        type as v

    Notes
    -----
    Not differentiable.

    Examples
    --------
    In the language::

        dq, dk, dv = attention_gradient([[1.0]], [[1.0]], [[2.0]], [1.0], [[3.0]], [6.0])
        d = dv  # = [[3.0]]
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
    """The mean of each window of x, channel by channel.

    A window without elements gives 0. divisor=1 gives sums. Halves are added up in f32.

    Parameters
    ----------
    x : array of f16, bf16, f32 or f64
        [N, C, ...] with 1 to 3 more dims
    kernel : shape, required
        the window's sizes: one for all dims, or one for each
    stride : shape, optional
        steps between windows, one for all dims or for each; none: the kernel
    pad : shape or one of "same", "same_lower", "valid", default [0]
        places added around x: one count for all sides, one for each dim, or begin and end
        for each dim. "same": as many as give size / stride windows, rounded up, an odd one
        at the end ("same_lower": at the begin); "valid": none
    dilation : shape, default [1]
        steps between the places of a window, one for all dims or for each
    ceil_mode : bool, default False
        one more window for what is left at the end, unless it would begin in the padding
        there
    count_include_pad : bool, default True
        the padding counts as elements, of value 0
    divisor : int >= 1, optional
        divides by this, not by the count of elements
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        [N, C, ...], each size as the window gives it; dtype as x

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = avg_pool([[[1.0, 5.0, 2.0, 3.0]]], kernel=2)  # = [[[3.0, 2.5]]]
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
    """The gradient of avg_pool: each element of dy, divided as the mean was, goes to all
    elements of its window, and is added up where windows overlap.

    Parameters
    ----------
    dy : array of f16, bf16, f32 or f64
        the result's gradient: [N, C, ...] with 1 to 3 more dims
    size : shape, required
        the spatial sizes of what was pooled
    kernel : shape, required
        the window's sizes: one for all dims, or one for each
    stride : shape, optional
        steps between windows, one for all dims or for each; none: the kernel
    pad : shape or one of "same", "same_lower", "valid", default [0]
        places added around x: one count for all sides, one for each dim, or begin and end
        for each dim. "same": as many as give size / stride windows, rounded up, an odd one
        at the end ("same_lower": at the begin); "valid": none
    dilation : shape, default [1]
        steps between the places of a window, one for all dims or for each
    ceil_mode : bool, default False
        one more window for what is left at the end, unless it would begin in the padding
        there
    count_include_pad : bool, default True
        the padding counts as elements, of value 0
    divisor : int >= 1, optional
        divides by this, not by the count of elements
    name : str, optional
        names the result in a graph

    Returns
    -------
    dx
        [N, C, size...]; dtype as dy

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        dx = avg_pool_grad([[[4.0, 2.0]]], size=4, kernel=2)  # = [[[2.0, 2.0, 1.0, 1.0]]]
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
    """1 with the probability that x gives, else 0, element by element; 0 for nan.

    The numbers depend on x, the seed, the count of runs and the name of the result alone.
    The gradient is 0.

    Parameters
    ----------
    x : array of f16, bf16, f32 or f64
        probabilities, in [0, 1]
    dtype : dtype, optional
        of the result; none: as x
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        0 or 1; dims as x

    Notes
    -----
    Random: drawn anew in each run. Differentiable.

    Examples
    --------
    In the language::

        y = bernoulli([0.0, 1.0])  # = [0.0, 1.0]
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
    least -100.

    Broadcasts as NumPy does, over sizes that are literally 1.

    Parameters
    ----------
    p : array of f16, bf16, f32 or f64; may be ragged
        probabilities, in [0, 1]
    label : array of f16, bf16, f32 or f64; may be ragged
        what they should be, in [0, 1]; dtype as p
    logits : bool, default False
        p are any numbers, of which the probabilities are the sigmoid; more exact than to
        take it before. Infinite ones are the probabilities 0 and 1
    name : str, optional
        names the result in a graph

    Returns
    -------
    loss
        from 0 on; dtype as p, the dims of both broadcast

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        loss = binary_cross_entropy([0.5, 0.75], [1.0, 0.0])  # = [0.693147, 1.386294]
        loss = binary_cross_entropy([0.0], [1.0], logits=true)  # = [0.693147]
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
    """The bits that are set in both.

    Broadcasts as NumPy does, over sizes that are literally 1.

    Parameters
    ----------
    x : array of i8, i32, i64, u8 or bool; may be ragged
        left operand
    y : array of i8, i32, i64, u8 or bool; may be ragged
        right operand; dtype as x
    name : str, optional
        names the result in a graph

    Returns
    -------
    z
        dtype as x, the dims of both broadcast

    Notes
    -----
    Not differentiable.

    Examples
    --------
    In the language::

        y = bitwise_and([6, 5], [3, 4])  # = [2, 4]
    """
@overload
def bitwise_and(x: ArrayLike, y: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def bitwise_and() -> Function: ...

@overload
def bitwise_not(x: Value, *, name: str | None = None) -> Value:
    """Each bit turned over, element by element: -1 - x for a signed integer.

    Parameters
    ----------
    x : array of i8, i32, i64, u8 or bool; may be ragged
        integers or truth values
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        type as x

    Notes
    -----
    Not differentiable.

    Examples
    --------
    In the language::

        y = bitwise_not([0, 5])  # = [-1, -6]
    """
@overload
def bitwise_not(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def bitwise_not() -> Function: ...

@overload
def bitwise_or(x: Value, y: Operand, *, name: str | None = None) -> Value:
    """The bits that are set in at least one.

    Broadcasts as NumPy does, over sizes that are literally 1.

    Parameters
    ----------
    x : array of i8, i32, i64, u8 or bool; may be ragged
        left operand
    y : array of i8, i32, i64, u8 or bool; may be ragged
        right operand; dtype as x
    name : str, optional
        names the result in a graph

    Returns
    -------
    z
        dtype as x, the dims of both broadcast

    Notes
    -----
    Not differentiable.

    Examples
    --------
    In the language::

        y = bitwise_or([6, 5], [3, 4])  # = [7, 5]
    """
@overload
def bitwise_or(x: ArrayLike, y: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def bitwise_or() -> Function: ...

@overload
def bitwise_xor(x: Value, y: Operand, *, name: str | None = None) -> Value:
    """The bits that are set in one of them only.

    Broadcasts as NumPy does, over sizes that are literally 1.

    Parameters
    ----------
    x : array of i8, i32, i64, u8 or bool; may be ragged
        left operand
    y : array of i8, i32, i64, u8 or bool; may be ragged
        right operand; dtype as x
    name : str, optional
        names the result in a graph

    Returns
    -------
    z
        dtype as x, the dims of both broadcast

    Notes
    -----
    Not differentiable.

    Examples
    --------
    In the language::

        y = bitwise_xor([6, 5], [3, 4])  # = [5, 1]
    """
@overload
def bitwise_xor(x: ArrayLike, y: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def bitwise_xor() -> Function: ...

@overload
def broadcast_to(x: Value, dims: Dims, *, name: str | None = None) -> Value:
    """x repeated to fill other dims: along sizes that are literally 1, and along new axes in
    front.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64, u8 or bool
        elements of any rank
    dims : shape, required
        the new dims
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        dims as said; dtype as x

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = broadcast_to([[1], [2]], [2, 3])  # = [[1, 1, 1], [2, 2, 2]]
    """
@overload
def broadcast_to(x: ArrayLike, dims: Dims, *, name: str | None = None) -> Tensor: ...
@overload
def broadcast_to() -> Function: ...

@overload
def cast(x: Value, *, to: DType, name: str | None = None) -> Value:
    """Each element as another dtype.

    Reals become integers by dropping the fraction, and bool by being other than 0. Integers
    wrap around; a real outside i32 or i64, or nan, becomes the smallest integer. i16, u16,
    u32 and u64, which no other operator computes with, come in and go out this way.

    Parameters
    ----------
    x : array of any dtype; may be ragged
        elements of any rank
    to : dtype, required
        the new dtype
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        dims as x

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = cast([1.75, -1.75], to=i32)  # = [1, -1]
    """
@overload
def cast(x: ArrayLike, *, to: DType, name: str | None = None) -> Tensor: ...
@overload
def cast(*, to: DType) -> Function: ...

@overload
def cbrt(x: Value, *, name: str | None = None) -> Value:
    """The cube root, element by element; that of a negative number is negative.

    Parameters
    ----------
    x : array of f16, bf16, f32 or f64; may be ragged
        any numbers
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        type as x

    Notes
    -----
    Differentiable. In f32, the largest error is 0.51 units of the last place.

    Examples
    --------
    In the language::

        y = cbrt([8.0, -27.0])  # = [2.0, -3.0]
    """
@overload
def cbrt(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def cbrt() -> Function: ...

@overload
def ceil(x: Value, *, name: str | None = None) -> Value:
    """The smallest integer that is not below x.

    The gradient is 0.

    Parameters
    ----------
    x : array of f16, bf16, f32 or f64; may be ragged
        any numbers
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        type as x

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = ceil([1.25, -1.25])  # = [2.0, -1.0]
    """
@overload
def ceil(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def ceil() -> Function: ...

@overload
def celu(x: Value, *, alpha: float = 1.0, name: str | None = None) -> Value:
    """x where it is positive, else alpha * (exp(x / alpha) - 1), element by element (Barron,
    arXiv:1704.07483).

    Parameters
    ----------
    x : array of f16, bf16, f32 or f64; may be ragged
        any numbers
    alpha : float > 0, default 1.0
        minus the limit for small x
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        type as x

    Notes
    -----
    Differentiable. In f32, the largest error is 0.51 units of the last place.

    Examples
    --------
    In the language::

        y = celu([1.0, -1.0], alpha=2.0)  # = [1.0, -0.7869387]
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
    """x, but at least `low` and at most `high`, element by element; nan stays.

    Where `low` is larger than `high` the result is `high`, as in NumPy. The gradient is
    that of x where x is within both, else 0.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64 or u8; may be ragged
        any numbers
    low : float, optional
        the smallest result; none: no limit
    high : float, optional
        the largest result; none: no limit
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        type as x

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = clip([-2.0, 0.5, 9.0], low=-1.0, high=1.0)  # = [-1.0, 0.5, 1.0]
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
    """Adds up columns where windows of the result overlap: the reverse of im2col (PyTorch's
    fold).

    Halves are added up in f32, integers wrap around.

    Parameters
    ----------
    columns : array of f16, bf16, f32, f64, i8, i32, i64 or u8
        [N, C * kernel, L], as im2col gives them
    size : shape, required
        the spatial sizes of the result, 1 to 3
    kernel : shape, required
        the window's sizes: one for all dims, or one for each
    stride : shape, default [1]
        steps between windows, one for all dims or for each
    pad : shape or one of "same", "same_lower", "valid", default [0]
        places added around x: one count for all sides, one for each dim, or begin and end
        for each dim. "same": as many as give size / stride windows, rounded up, an odd one
        at the end ("same_lower": at the begin); "valid": none
    dilation : shape, default [1]
        steps between the places of a window, one for all dims or for each
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        [N, C, size...]; dtype as the columns

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = col2im([[[1.0, 2.0], [2.0, 3.0]]], 3, kernel=2)  # = [[[1.0, 4.0, 3.0]]]
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

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64, u8 or bool; may be ragged; any number of them
        one or more, of one dtype and rank, with the same sizes beside the axis
    axis : int, default 0
        the axis, a negative one from the end
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        dtype as x; the sizes along the axis added up

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = concat([[1], [2]], [[3, 4], [5, 6]], axis=1)  # = [[1, 3, 4], [2, 5, 6]]
    """
@overload
def concat(x_0: ArrayLike, /, *x: ArrayLike, axis: int = 0, name: str | None = None) -> Tensor: ...
@overload
def concat(*, axis: int = 0) -> Function: ...

@overload
def constant(value: Any, *, dtype: DType | None = None, name: str | None = None) -> Any:
    """A tensor whose elements stand in the text.

    Parameters
    ----------
    value : array, required
        a number, or a nested list of numbers
    dtype : dtype, optional
        how the numbers are read; none: i64, or f32 where one has a point
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        as `value`

    Notes
    -----
    Not differentiable.

    Examples
    --------
    In the language::

        y = constant([1, 2], dtype=f16)  # = [1.0, 2.0]
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
    """Slides a window over x and adds up its elements, weighted, over all channels; the
    weights are not turned round (a cross-correlation, as in PyTorch).

    Padding takes no part: an infinite weight over it adds nothing (on CUDA it may be
    multiplied as 0, which gives nan). A size S becomes (S + padding - ((kernel - 1) *
    dilation + 1)) // stride + 1. groups = C is a depthwise convolution. Halves are added up
    in f32, integers wrap around.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64 or u8
        [N, C, L]
    w : array of f16, bf16, f32, f64, i8, i32, i64 or u8
        [K, C / groups, kernel...]; dtype as x
    bias : array of f16, bf16, f32, f64, i8, i32, i64 or u8, optional
        added to each channel of the result: [K]; dtype as x
    stride : shape, default [1]
        steps between windows, one for all dims or for each
    pad : shape or one of "same", "same_lower", "valid", default [0]
        places added around x: one count for all sides, one for each dim, or begin and end
        for each dim. "same": as many as give size / stride windows, rounded up, an odd one
        at the end ("same_lower": at the begin); "valid": none
    dilation : shape, default [1]
        steps between the places of a window, one for all dims or for each
    groups : int >= 1, default 1
        parts that the channels are split into; each part of the result sees its own part of
        x alone
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        [N, K, L], each size as the window gives it; dtype as x

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = conv1d([[[1.0, 2.0, 3.0, 4.0]]], [[[1.0, 0.0, -1.0]]])  # = [[[-2.0, -2.0]]]
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
    """Slides a window over x and adds up its elements, weighted, over all channels; the
    weights are not turned round (a cross-correlation, as in PyTorch).

    Padding takes no part: an infinite weight over it adds nothing (on CUDA it may be
    multiplied as 0, which gives nan). A size S becomes (S + padding - ((kernel - 1) *
    dilation + 1)) // stride + 1. groups = C is a depthwise convolution. Halves are added up
    in f32, integers wrap around.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64 or u8
        [N, C, H, W]
    w : array of f16, bf16, f32, f64, i8, i32, i64 or u8
        [K, C / groups, kernel...]; dtype as x
    bias : array of f16, bf16, f32, f64, i8, i32, i64 or u8, optional
        added to each channel of the result: [K]; dtype as x
    stride : shape, default [1]
        steps between windows, one for all dims or for each
    pad : shape or one of "same", "same_lower", "valid", default [0]
        places added around x: one count for all sides, one for each dim, or begin and end
        for each dim. "same": as many as give size / stride windows, rounded up, an odd one
        at the end ("same_lower": at the begin); "valid": none
    dilation : shape, default [1]
        steps between the places of a window, one for all dims or for each
    groups : int >= 1, default 1
        parts that the channels are split into; each part of the result sees its own part of
        x alone
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        [N, K, H, W], each size as the window gives it; dtype as x

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = conv2d(ones([1, 1, 3, 3]), ones([1, 1, 3, 3]), pad="same")  # = [[[[4.0, 6.0, 4.0], [6.0, 9.0, 6.0], [4.0, 6.0, 4.0]]]]
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
    """Slides a window over x and adds up its elements, weighted, over all channels; the
    weights are not turned round (a cross-correlation, as in PyTorch).

    Padding takes no part: an infinite weight over it adds nothing (on CUDA it may be
    multiplied as 0, which gives nan). A size S becomes (S + padding - ((kernel - 1) *
    dilation + 1)) // stride + 1. groups = C is a depthwise convolution. Halves are added up
    in f32, integers wrap around.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64 or u8
        [N, C, D, H, W]
    w : array of f16, bf16, f32, f64, i8, i32, i64 or u8
        [K, C / groups, kernel...]; dtype as x
    bias : array of f16, bf16, f32, f64, i8, i32, i64 or u8, optional
        added to each channel of the result: [K]; dtype as x
    stride : shape, default [1]
        steps between windows, one for all dims or for each
    pad : shape or one of "same", "same_lower", "valid", default [0]
        places added around x: one count for all sides, one for each dim, or begin and end
        for each dim. "same": as many as give size / stride windows, rounded up, an odd one
        at the end ("same_lower": at the begin); "valid": none
    dilation : shape, default [1]
        steps between the places of a window, one for all dims or for each
    groups : int >= 1, default 1
        parts that the channels are split into; each part of the result sees its own part of
        x alone
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        [N, K, D, H, W], each size as the window gives it; dtype as x

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = conv3d(ones([1, 2, 2, 2, 2]), ones([1, 2, 2, 2, 2]))  # = [[[[[16.0]]]]]
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
    """Spreads each element of x, weighted, over a window of the result, and adds up where
    windows overlap: the gradient of a convolution of the result's size (PyTorch's
    conv_transpose).

    A size S becomes (S - 1) * stride - padding + (kernel - 1) * dilation + 1 +
    output_padding, and S * stride where pad is "same". Halves are added up in f32, integers
    wrap around.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64 or u8
        [N, C, L]
    w : array of f16, bf16, f32, f64, i8, i32, i64 or u8
        [C, K / groups, kernel...]; dtype as x
    bias : array of f16, bf16, f32, f64, i8, i32, i64 or u8, optional
        added to each channel of the result: [K]; dtype as x
    stride : shape, default [1]
        steps between windows, one for all dims or for each
    pad : shape or one of "same", "same_lower", "valid", default [0]
        places added around x: one count for all sides, one for each dim, or begin and end
        for each dim. "same": as many as give size / stride windows, rounded up, an odd one
        at the end ("same_lower": at the begin); "valid": none
    dilation : shape, default [1]
        steps between the places of a window, one for all dims or for each
    groups : int >= 1, default 1
        parts that the channels are split into; each part of the result sees its own part of
        x alone
    output_padding : shape, default [0]
        added to the sizes of the result, at the end; less than the stride
    size : shape, optional
        the spatial sizes of the result, instead of output_padding: any whose convolution
        has the sizes of x
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        [N, K, L], each size as the window gives it; dtype as x

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = conv_transpose1d([[[1.0, 2.0]]], [[[1.0, 1.0, 1.0]]], stride=2)  # = [[[1.0, 1.0, 3.0, 2.0, 2.0]]]
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
    """Spreads each element of x, weighted, over a window of the result, and adds up where
    windows overlap: the gradient of a convolution of the result's size (PyTorch's
    conv_transpose).

    A size S becomes (S - 1) * stride - padding + (kernel - 1) * dilation + 1 +
    output_padding, and S * stride where pad is "same". Halves are added up in f32, integers
    wrap around.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64 or u8
        [N, C, H, W]
    w : array of f16, bf16, f32, f64, i8, i32, i64 or u8
        [C, K / groups, kernel...]; dtype as x
    bias : array of f16, bf16, f32, f64, i8, i32, i64 or u8, optional
        added to each channel of the result: [K]; dtype as x
    stride : shape, default [1]
        steps between windows, one for all dims or for each
    pad : shape or one of "same", "same_lower", "valid", default [0]
        places added around x: one count for all sides, one for each dim, or begin and end
        for each dim. "same": as many as give size / stride windows, rounded up, an odd one
        at the end ("same_lower": at the begin); "valid": none
    dilation : shape, default [1]
        steps between the places of a window, one for all dims or for each
    groups : int >= 1, default 1
        parts that the channels are split into; each part of the result sees its own part of
        x alone
    output_padding : shape, default [0]
        added to the sizes of the result, at the end; less than the stride
    size : shape, optional
        the spatial sizes of the result, instead of output_padding: any whose convolution
        has the sizes of x
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        [N, K, H, W], each size as the window gives it; dtype as x

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = conv_transpose2d([[[[1.0, 2.0]]]], ones([1, 1, 2, 2]), stride=2)  # = [[[[1.0, 1.0, 2.0, 2.0], [1.0, 1.0, 2.0, 2.0]]]]
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
    """Spreads each element of x, weighted, over a window of the result, and adds up where
    windows overlap: the gradient of a convolution of the result's size (PyTorch's
    conv_transpose).

    A size S becomes (S - 1) * stride - padding + (kernel - 1) * dilation + 1 +
    output_padding, and S * stride where pad is "same". Halves are added up in f32, integers
    wrap around.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64 or u8
        [N, C, D, H, W]
    w : array of f16, bf16, f32, f64, i8, i32, i64 or u8
        [C, K / groups, kernel...]; dtype as x
    bias : array of f16, bf16, f32, f64, i8, i32, i64 or u8, optional
        added to each channel of the result: [K]; dtype as x
    stride : shape, default [1]
        steps between windows, one for all dims or for each
    pad : shape or one of "same", "same_lower", "valid", default [0]
        places added around x: one count for all sides, one for each dim, or begin and end
        for each dim. "same": as many as give size / stride windows, rounded up, an odd one
        at the end ("same_lower": at the begin); "valid": none
    dilation : shape, default [1]
        steps between the places of a window, one for all dims or for each
    groups : int >= 1, default 1
        parts that the channels are split into; each part of the result sees its own part of
        x alone
    output_padding : shape, default [0]
        added to the sizes of the result, at the end; less than the stride
    size : shape, optional
        the spatial sizes of the result, instead of output_padding: any whose convolution
        has the sizes of x
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        [N, K, D, H, W], each size as the window gives it; dtype as x

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = conv_transpose3d([[[[[2.0]]]]], ones([1, 1, 1, 1, 3]))  # = [[[[[2.0, 2.0, 2.0]]]]]
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
    multiplied by, times those of dy that it went to, added up over the batch and all
    windows.

    Of 1 to 3 spatial dims.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64 or u8
        what was convolved: [N, C, ...]
    dy : array of f16, bf16, f32, f64, i8, i32, i64 or u8
        the result's gradient: [N, K, ...]; dtype as x
    kernel : shape, required
        the window's sizes: one for all dims, or one for each
    stride : shape, default [1]
        steps between windows, one for all dims or for each
    pad : shape or one of "same", "same_lower", "valid", default [0]
        places added around x: one count for all sides, one for each dim, or begin and end
        for each dim. "same": as many as give size / stride windows, rounded up, an odd one
        at the end ("same_lower": at the begin); "valid": none
    dilation : shape, default [1]
        steps between the places of a window, one for all dims or for each
    groups : int >= 1, default 1
        parts that the channels are split into; each part of the result sees its own part of
        x alone
    name : str, optional
        names the result in a graph

    Returns
    -------
    dw
        [K, C / groups, kernel...]; dtype as x

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        dw = conv_weight_grad([[[1.0, 2.0, 3.0]]], [[[1.0, 10.0]]], kernel=2)  # = [[[21.0, 32.0]]]
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

    Parameters
    ----------
    x : array of f16, bf16, f32 or f64; may be ragged
        angles in radians
    scale : float > 0, default 1.0
        the largest result
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        in [-scale, scale]; type as x

    Notes
    -----
    Differentiable. In f32, the largest error is 1.6 units of the last place.

    Examples
    --------
    In the language::

        y = cos([0.0, 1.0], scale=2.0)  # = [2.0, 1.080605]
    """
@overload
def cos(x: ArrayLike, *, scale: float = 1.0, name: str | None = None) -> Tensor: ...
@overload
def cos(*, scale: float = 1.0) -> Function: ...

@overload
def cos_sim(x: Value, y: Operand, *, scale: float = 1.0, name: str | None = None) -> Value:
    """scale times the cosine of the angle between the rows of x and y, along the last dim.

    A row of zeros has no direction: the result and the gradients are 0 there.

    Parameters
    ----------
    x : array of f16, bf16, f32 or f64; may be ragged
        [..., D]
    y : array of f16, bf16, f32 or f64; may be ragged
        type as x
    scale : float > 0, default 1.0
        the largest result
    name : str, optional
        names the result in a graph

    Returns
    -------
    z
        [...], in [-scale, scale]; dtype as x

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        z = cos_sim([[1.0, 0.0], [3.0, 4.0]], [[0.0, 2.0], [6.0, 8.0]])  # = [0.0, 1.0]
    """
@overload
def cos_sim(x: ArrayLike, y: ArrayLike, *, scale: float = 1.0, name: str | None = None) -> Tensor: ...
@overload
def cos_sim(*, scale: float = 1.0) -> Function: ...

@overload
def cosh(x: Value, *, name: str | None = None) -> Value:
    """The hyperbolic cosine, (exp(x) + exp(-x)) / 2, element by element.

    Parameters
    ----------
    x : array of f16, bf16, f32 or f64; may be ragged
        any numbers
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        from 1 on; type as x

    Notes
    -----
    Differentiable. In f32, the largest error is 0.51 units of the last place.

    Examples
    --------
    In the language::

        y = cosh([0.0, 1.0])  # = [1.0, 1.5430807]
    """
@overload
def cosh(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def cosh() -> Function: ...

@overload
def count_nonzero(
    x: Value,
    *,
    axes: int | Sequence[int] | None = None,
    keep: bool = False,
    name: str | None = None,
) -> Value:
    """How many elements over axes are true or other than 0, as nan is.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64, u8 or bool; may be ragged
        elements of any rank; the ragged dims and the one before them are reduced together
        only
    axes : list of int, optional
        axes to go over, negative ones from the end; none: all
    keep : bool, default False
        keep each of these axes, with size 1
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        i64; the dims of x without the axes

    Notes
    -----
    Not differentiable.

    Examples
    --------
    In the language::

        y = count_nonzero([[1.0, 2.0], [3.0, 0.0]], axes=[1])  # = [2, 1]
    """
@overload
def count_nonzero(
    x: ArrayLike,
    *,
    axes: int | Sequence[int] | None = None,
    keep: bool = False,
    name: str | None = None,
) -> Tensor: ...
@overload
def count_nonzero(*, axes: int | Sequence[int] | None = None, keep: bool = False) -> Function: ...

@overload
def counted_places(counts: Value, dims: Dims, *, name: str | None = None) -> Value:
    """The places where a running count, over the elements in their order, goes up by one: a
    row for each, an index for each axis.

    There are as many as the count is at its end; it must begin at 0 or 1.

    Parameters
    ----------
    counts : array of i64
        elements of any rank: what cumsum gives of ones and zeros
    dims : shape, required
        how many there are: one size
    name : str, optional
        names the result in a graph

    Returns
    -------
    places
        i64[dims, rank of counts]

    Notes
    -----
    Not differentiable.

    Examples
    --------
    In the language::

        places = counted_places([0, 1, 1, 2], [2])  # = [[1], [3]]
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
    """-log(softmax(logits)) at the label, along the last dim, without overflow for large
    logits.

    A label outside the classes gives nan; labels declared `in 0..C` cannot be outside.

    Parameters
    ----------
    logits : array of f16, bf16, f32 or f64; may be ragged
        [..., C], a number for each class
    label : array of i32 or i64; may be ragged
        [...], classes
    weight : array of f16, bf16, f32 or f64, optional
        [C], what the loss at a label of that class is multiplied by; left out: 1
    ignore_index : int, optional
        rows with this label cost 0; a mean over the others is the sum divided by their
        count. None: no such label
    label_smoothing : float >= 0, <= 1, default 0.0
        the share of what is wanted that is spread over all classes alike (Szegedy et al.,
        arXiv:1512.00567)
    name : str, optional
        names the result in a graph

    Returns
    -------
    loss
        [...], from 0 on; dtype as the logits

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        loss = cross_entropy([[0.0, 0.0], [5.0, 0.0]], [1, 0])  # = [0.693147, 0.006715]
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
    """A sparse matrix, given by its rows (CSR), times a dense one: what `s @ b` becomes where
    s is sparse.

    Row i of the matrix has its elements at offsets[i]..offsets[i + 1]; columns that occur
    twice in a row add up. Without values every element is 1, and row i of the result is the
    sum of some rows of b: a bag of embeddings. A column outside b adds nothing. Halves are
    added up in f32.

    Parameters
    ----------
    offsets : array of i64
        [N + 1], where each row begins, and where the last one ends, from 0 on
    indices : array of i64
        [K], the column of each element, row after row
    b : array of f16, bf16, f32 or f64
        [D, M]
    values : array of f16, bf16, f32 or f64, optional
        [K], the elements; ones where it is left out
    name : str, optional
        names the result in a graph

    Returns
    -------
    c
        [N, M]; dtype as b

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        c = csr_matmul([0, 2, 3], [0, 2, 1], [[1.0], [10.0], [100.0]])  # = [[101.0], [10.0]]
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
    """The products of the first elements along an axis.

    Integers wrap around.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64 or u8
        at least one dim
    axis : int, default -1
        the axis, a negative one from the end
    exclusive : bool, default False
        of the elements before each place, without the one at it
    reverse : bool, default False
        from the end of the axis to its start
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        type as x

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = cumprod([1, 2, 3, 4])  # = [1, 2, 6, 24]
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
    """The sums of the first elements along an axis.

    Integers wrap around.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64 or u8
        at least one dim
    axis : int, default -1
        the axis, a negative one from the end
    exclusive : bool, default False
        of the elements before each place, without the one at it
    reverse : bool, default False
        from the end of the axis to its start
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        type as x

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = cumsum([1, 2, 3, 4])  # = [1, 3, 6, 10]
        y = cumsum([1, 2, 3, 4], exclusive=true, reverse=true)  # = [9, 7, 4, 0]
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
    """Makes a new symbol stand for a number that is computed.

    What nonzero and its like become holds one; calls that have the symbol in their dims run
    when the number is known.

    Parameters
    ----------
    count : array of i64
        i64[], at least 0
    dims : shape, required
        the symbol
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        count

    Notes
    -----
    Not differentiable.
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
    """Lays out channels as blocks of a larger image: with block=2, four channels of [H, W]
    become one of [2*H, 2*W].

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64, u8 or bool
        [N, C * places, ...] with 1 to 3 more dims; a block has block ** dims places
    block : int >= 1, required
        the size of a block along each spatial dim
    mode : {"dcr", "crd"}, default 'dcr'
        which of the channels is the outer count: "dcr" the place in the block, "crd" the
        channel with blocks (PyTorch's pixel_shuffle)
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        [N, C, ...], each spatial size times `block`; dtype as x

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = depth_to_space([[[1.0], [2.0]]], 2)  # = [[[1.0, 2.0]]]
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

    Parameters
    ----------
    x : array of i8, i32 or u8
        integers
    scale : array of f16, bf16, f32 or f64
        the distance of neighbours: one, or for each index of `axis`
    zero_point : array of i8, i32 or u8, optional
        what 0 became, dims as the scale, dtype as x; left out: 0
    axis : int, default 1
        of a scale with a dim: the axis, a negative one from the end
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        dims as x, dtype as the scale

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = dequantize(quantize([0.0, 1.0, 2.5], 0.5), 0.5)  # = [0.0, 1.0, 2.5]
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

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64, u8 or bool
        [..., N]
    k : int, default 0
        the diagonal: 0 the main one, 1 the one above it, -1 below
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        [..., N + |k|, N + |k|]; dtype as x

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = diag([1, 2])  # = [[1, 0], [0, 2]]
    """
@overload
def diag(x: ArrayLike, *, k: int = 0, name: str | None = None) -> Tensor: ...
@overload
def diag(*, k: int = 0) -> Function: ...

@overload
def diagonal(x: Value, *, k: int = 0, name: str | None = None) -> Value:
    """The elements on a diagonal of matrices.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64, u8 or bool
        [..., N, M]
    k : int, default 0
        the diagonal: 0 the main one, 1 the one above it, -1 below
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        [..., length of the diagonal]; dtype as x

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = diagonal([[1, 2, 3], [4, 5, 6]], k=1)  # = [2, 6]
    """
@overload
def diagonal(x: ArrayLike, *, k: int = 0, name: str | None = None) -> Tensor: ...
@overload
def diagonal(*, k: int = 0) -> Function: ...

@overload
def div(x: Value, y: Operand, *, name: str | None = None) -> Value:
    """x / y, for real numbers; floor_div is for integers.

    Broadcasts as NumPy does, over sizes that are literally 1.

    Parameters
    ----------
    x : array of f16, bf16, f32 or f64; may be ragged
        left operand
    y : array of f16, bf16, f32 or f64; may be ragged
        right operand; dtype as x
    name : str, optional
        names the result in a graph

    Returns
    -------
    z
        dtype as x, the dims of both broadcast

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        z = div([1.0, 6.0], [2.0, 4.0])  # = [0.5, 1.5]
    """
@overload
def div(x: ArrayLike, y: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def div() -> Function: ...

@overload
def einsum(x_0: Value, /, *x: Operand, equation: str, name: str | None = None) -> Value:
    """Products of elements whose axes have equal labels, summed over the labels that the
    result lacks, as NumPy's einsum: "ij,jk->ik" is the product of two matrices.

    A label that one operand has twice takes its diagonal, `...` stands for axes that
    broadcast, and without "->" the result has the labels that occur once, in the order of
    the alphabet. Matrix products compute it, two operands at a time from left to right.
    Integers wrap around.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64 or u8; any number of them
        one or more; all of one dtype
    equation : str, required
        the labels of each operand's axes, and of the result's
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        dtype as x, the dims that the equation says

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = einsum([[1.0, 2.0], [3.0, 4.0]], [1.0, 10.0], equation="ij,j->i")  # = [21.0, 43.0]
    """
@overload
def einsum(x_0: ArrayLike, /, *x: ArrayLike, equation: str, name: str | None = None) -> Tensor: ...
@overload
def einsum(*, equation: str) -> Function: ...

@overload
def elu(x: Value, *, alpha: float = 1.0, name: str | None = None) -> Value:
    """x where it is positive, else alpha * (exp(x) - 1), element by element.

    Parameters
    ----------
    x : array of f16, bf16, f32 or f64; may be ragged
        any numbers
    alpha : float, default 1.0
        minus the limit for small x
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        type as x

    Notes
    -----
    Differentiable. In f32, the largest error is 0.51 units of the last place.

    Examples
    --------
    In the language::

        y = elu([-1.0, 2.0])  # = [-0.632121, 2.0]
    """
@overload
def elu(x: ArrayLike, *, alpha: float = 1.0, name: str | None = None) -> Tensor: ...
@overload
def elu(*, alpha: float = 1.0) -> Function: ...

@overload
def equal(x: Value, y: Operand, *, name: str | None = None) -> Value:
    """x == y; nan equals nothing.

    Broadcasts as NumPy does, over sizes that are literally 1.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64, u8 or bool; may be ragged
        left operand
    y : array of f16, bf16, f32, f64, i8, i32, i64, u8 or bool; may be ragged
        right operand; dtype as x
    name : str, optional
        names the result in a graph

    Returns
    -------
    z
        bool, the dims of both broadcast

    Notes
    -----
    Not differentiable.

    Examples
    --------
    In the language::

        z = equal([1, 2], [1, 3])  # = [true, false]
    """
@overload
def equal(x: ArrayLike, y: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def equal() -> Function: ...

@overload
def erf(x: Value, *, name: str | None = None) -> Value:
    """The error function, 2 / sqrt(pi) times the integral of exp(-t**2) from 0 to x.

    Parameters
    ----------
    x : array of f16, bf16, f32 or f64; may be ragged
        any numbers
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        in [-1, 1]; type as x

    Notes
    -----
    Differentiable. In f32, the largest error is 1.39 units of the last place.

    Examples
    --------
    In the language::

        y = erf([0.0, 0.5])  # = [0.0, 0.5205]
    """
@overload
def erf(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def erf() -> Function: ...

@overload
def erfc(x: Value, *, name: str | None = None) -> Value:
    """1 - erf(x), element by element; exact also where that is small.

    Parameters
    ----------
    x : array of f16, bf16, f32 or f64; may be ragged
        any numbers
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        in [0, 2]; type as x

    Notes
    -----
    Differentiable. In f32, the largest error is 0.99 units of the last place.

    Examples
    --------
    In the language::

        y = erfc([0.0, 1.0])  # = [1.0, 0.1572992]
    """
@overload
def erfc(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def erfc() -> Function: ...

@overload
def exp(x: Value, *, name: str | None = None) -> Value:
    """e to the power of x, element by element.

    Parameters
    ----------
    x : array of f16, bf16, f32 or f64; may be ragged
        exponents
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        type as x

    Notes
    -----
    Differentiable. In f32, the largest error is 1.1 units of the last place.

    Examples
    --------
    In the language::

        y = exp([0.0, 1.0])  # = [1.0, 2.718282]
    """
@overload
def exp(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def exp() -> Function: ...

@overload
def exp2(x: Value, *, name: str | None = None) -> Value:
    """2 to the power of x, element by element.

    Parameters
    ----------
    x : array of f16, bf16, f32 or f64; may be ragged
        exponents
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        type as x

    Notes
    -----
    Differentiable. In f32, the largest error is 0.51 units of the last place.

    Examples
    --------
    In the language::

        y = exp2([0.0, 3.0, -1.0])  # = [1.0, 8.0, 0.5]
    """
@overload
def exp2(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def exp2() -> Function: ...

@overload
def expm1(x: Value, *, name: str | None = None) -> Value:
    """exp(x) - 1, element by element; exact also where x is small.

    Parameters
    ----------
    x : array of f16, bf16, f32 or f64; may be ragged
        exponents
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        from -1 on; type as x

    Notes
    -----
    Differentiable. In f32, the largest error is 1.72 units of the last place.

    Examples
    --------
    In the language::

        y = expm1([0.0, 1.0])  # = [0.0, 1.7182819]
    """
@overload
def expm1(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def expm1() -> Function: ...

@overload
def eye(dims: Dims, *, dtype: DType = "f32", k: int = 0, name: str | None = None) -> Any:
    """Matrices with ones on a diagonal and zeros elsewhere.

    Parameters
    ----------
    dims : shape, required
        the sizes; the last two are those of a matrix
    dtype : dtype, default 'f32'
        of the elements
    k : int, default 0
        the diagonal: 0 the main one, 1 the one above it, -1 below
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        `dims`; of `dtype`

    Notes
    -----
    Not differentiable.

    Examples
    --------
    In the language::

        y = eye([2, 3])  # = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    """
@overload
def eye(*, dtype: DType = "f32", k: int = 0) -> Function: ...

@overload
def fill(dims: Dims, *, value: Any, dtype: DType = "f32", name: str | None = None) -> Any:
    """One number everywhere.

    Parameters
    ----------
    dims : shape, required
        the sizes
    value : array, required
        the number
    dtype : dtype, default 'f32'
        of the elements
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        `dims` elements of `dtype`

    Notes
    -----
    Not differentiable.

    Examples
    --------
    In the language::

        y = fill([2, 2], value=2.5)  # = [[2.5, 2.5], [2.5, 2.5]]
    """
@overload
def fill(*, value: Any, dtype: DType = "f32") -> Function: ...

@overload
def flatten(x: Value, *, axis: int = 1, name: str | None = None) -> Value:
    """The same elements in the same order, with an axis and all after it joined to one.

    Parameters
    ----------
    x : array of any dtype; may be ragged
        at least one dim
    axis : int, default 1
        the first axis that is joined, a negative one from the end
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        dtype as x

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = flatten([[[1, 2], [3, 4]], [[5, 6], [7, 8]]])  # = [[1, 2, 3, 4], [5, 6, 7, 8]]
    """
@overload
def flatten(x: ArrayLike, *, axis: int = 1, name: str | None = None) -> Tensor: ...
@overload
def flatten(*, axis: int = 1) -> Function: ...

@overload
def flip(x: Value, axes: int | Sequence[int] | None = None, *, name: str | None = None) -> Value:
    """x with the order of its elements turned round along axes.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64, u8 or bool
        elements of any rank
    axes : list of int, optional
        the axes, each once, negative ones from the end; none: all
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        type as x

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = flip([[1, 2], [3, 4]], axes=[1])  # = [[2, 1], [4, 3]]
    """
@overload
def flip(
    x: ArrayLike,
    axes: int | Sequence[int] | None = None,
    *,
    name: str | None = None,
) -> Tensor: ...
@overload
def flip() -> Function: ...

@overload
def floor(x: Value, *, name: str | None = None) -> Value:
    """The largest integer that is not above x.

    The gradient is 0.

    Parameters
    ----------
    x : array of f16, bf16, f32 or f64; may be ragged
        any numbers
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        type as x

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = floor([1.75, -1.25])  # = [1.0, -2.0]
    """
@overload
def floor(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def floor() -> Function: ...

@overload
def floor_div(x: Value, y: Operand, *, name: str | None = None) -> Value:
    """x // y: the quotient rounded down; 0 where an integer is divided by 0.

    Broadcasts as NumPy does, over sizes that are literally 1.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64 or u8; may be ragged
        left operand
    y : array of f16, bf16, f32, f64, i8, i32, i64 or u8; may be ragged
        right operand; dtype as x
    name : str, optional
        names the result in a graph

    Returns
    -------
    z
        dtype as x, the dims of both broadcast

    Notes
    -----
    Not differentiable.

    Examples
    --------
    In the language::

        z = floor_div([7, -7], [2, 2])  # = [3, -4]
    """
@overload
def floor_div(x: ArrayLike, y: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def floor_div() -> Function: ...

@overload
def fmod(x: Value, y: Operand, *, name: str | None = None) -> Value:
    """x - y * trunc(x / y), with the sign of x, as C's fmod and the operator % of C; 0 where
    an integer is divided by 0.

    `mod` has the sign of y. Broadcasts as NumPy does, over sizes that are literally 1.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64 or u8; may be ragged
        left operand
    y : array of f16, bf16, f32, f64, i8, i32, i64 or u8; may be ragged
        right operand; dtype as x
    name : str, optional
        names the result in a graph

    Returns
    -------
    z
        dtype as x, the dims of both broadcast

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = fmod([7.0, -7.0], [3.0, 3.0])  # = [1.0, -1.0]
    """
@overload
def fmod(x: ArrayLike, y: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def fmod() -> Function: ...

@overload
def gather(x: Value, indices: Operand, *, axis: int = 0, name: str | None = None) -> Value:
    """The elements of x, or rows of it, at given places along an axis, as NumPy's take: with
    axis=0, y[i, ...] is x[indices[i], ...].

    A negative index counts from the end. At an index outside the axis the result is nan, or
    0 for integers and truth values; indices declared `in 0..V` cannot be outside where V is
    at most the size of the axis, which is checked.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64, u8 or bool
        at least one dim
    indices : array of i32 or i64; may be ragged
        places along the axis
    axis : int, default 0
        the axis of x, a negative one from the end
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        dtype as x; the dims of x, with those of the indices in place of the axis

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = gather([10.0, 20.0, 30.0], [2, 0, -1])  # = [30.0, 10.0, 30.0]
    """
@overload
def gather(x: ArrayLike, indices: ArrayLike, *, axis: int = 0, name: str | None = None) -> Tensor: ...
@overload
def gather(*, axis: int = 0) -> Function: ...

@overload
def gather_nd(x: Value, indices: Operand, *, batch_dims: int = 0, name: str | None = None) -> Value:
    """The elements of x, or parts of it, at places that are given along several axes: y[i,
    ...] is x[indices[i, 0], ..., indices[i, K - 1], ...].

    Negative indices count from the end. Where one is outside its axis the result is nan, or
    0 for integers and truth values.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64, u8 or bool
        at least one dim
    indices : array of i32 or i64
        [..., K]: places along the first K axes of x behind `batch_dims`
    batch_dims : int >= 0, default 0
        how many of the first axes x and the indices share
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        dtype as x; the dims of the indices without K, then those of x not indexed

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = gather_nd([[1, 2], [3, 4]], [[0, 1], [1, 0]])  # = [2, 3]
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
    """x times the part of a standard normal distribution that lies below x (Hendrycks and
    Gimpel, arXiv:1606.08415), element by element.

    Parameters
    ----------
    x : array of f16, bf16, f32 or f64; may be ragged
        any numbers
    approximate : bool, default False
        x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3))) in its place
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        type as x

    Notes
    -----
    Differentiable. In f32, the largest error is 1.96 units of the last place.

    Examples
    --------
    In the language::

        y = gelu([-1.0, 0.0, 1.0])  # = [-0.158655, 0.0, 0.841345]
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
    """How y changes with each of xs: the derivative of the sum of y times dy.

    In the language `grad(loss, x)`, `grad(loss, [a, b])` and `grad(y, x, dy)` are this. It
    becomes the calls of the way back (`pdl dump --emit=opt` shows them), which can be
    derived again.

    Parameters
    ----------
    y : array of f16, bf16, f32 or f64; may be ragged
        any rank; computed from xs
    dy : array of f16, bf16, f32 or f64; may be ragged
        type as y
    xs : array of f16, bf16, f32 or f64; may be ragged; any number of them
        what y is derived by
    count : int >= 1, default 1
        how many xs there are
    name : str, optional
        names the result in a graph

    Returns
    -------
    dx
        one for each of xs, of its type

    Notes
    -----
    Not differentiable.

    Examples
    --------
    In the language::

        x = constant([1.0, 2.0], dtype=f32)
        y = gradient(x * x, [1.0, 1.0], x)  # = [2.0, 4.0]
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
    """x > y; false where one is nan.

    Broadcasts as NumPy does, over sizes that are literally 1.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64 or u8; may be ragged
        left operand
    y : array of f16, bf16, f32, f64, i8, i32, i64 or u8; may be ragged
        right operand; dtype as x
    name : str, optional
        names the result in a graph

    Returns
    -------
    z
        bool, the dims of both broadcast

    Notes
    -----
    Not differentiable.

    Examples
    --------
    In the language::

        z = greater([1, 2, 3], 2)  # = [false, false, true]
    """
@overload
def greater(x: ArrayLike, y: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def greater() -> Function: ...

@overload
def greater_equal(x: Value, y: Operand, *, name: str | None = None) -> Value:
    """x >= y; false where one is nan.

    Broadcasts as NumPy does, over sizes that are literally 1.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64 or u8; may be ragged
        left operand
    y : array of f16, bf16, f32, f64, i8, i32, i64 or u8; may be ragged
        right operand; dtype as x
    name : str, optional
        names the result in a graph

    Returns
    -------
    z
        bool, the dims of both broadcast

    Notes
    -----
    Not differentiable.

    Examples
    --------
    In the language::

        z = greater_equal([1, 2, 3], 2)  # = [false, true, true]
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
    """alpha * x + beta, but at least 0 and at most 1, element by element.

    The gradient is that of the straight line between 0 and 1, else 0.

    Parameters
    ----------
    x : array of f16, bf16, f32 or f64; may be ragged
        any numbers
    alpha : float, default 0.16666666666666666
        the slope; 1 / 6 as in PyTorch and hard_swish, ONNX has 0.2
    beta : float, default 0.5
        what 0 becomes
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        type as x

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = hard_sigmoid([-4.0, 0.0, 1.5, 4.0])  # = [0.0, 0.5, 0.75, 1.0]
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

    The gradient at -3 is 0, at 3 it is 1.

    Parameters
    ----------
    x : array of f16, bf16, f32 or f64; may be ragged
        any numbers
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        type as x

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = hard_swish([-4.0, 1.5, 4.0])  # = [0.0, 1.125, 4.0]
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
    """First values of a weight before relu (He et al., arXiv:1502.01852): normal with the
    standard deviation gain / sqrt(fan).

    They depend on the seed, the count of runs and the name of the result alone.

    Parameters
    ----------
    dims : shape, required
        the sizes
    gain : float >= 0, default 1.4142135623730951
        a factor for all numbers
    layout : {"auto", "in_out", "out_in"}, default 'auto'
        where the counts of inputs and outputs are: the last two dims (those before are a
        stack of weights), or as a convolution has them, output first, other dims its
        window; auto: "in_out" up to two dims, "out_in" beyond
    dtype : dtype, default 'f32'
        of the elements
    mode : {"fan_in", "fan_out"}, default 'fan_in'
        what `fan` is: the count of an output's inputs, or of an input's outputs
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        `dims` elements of `dtype`

    Notes
    -----
    Random: drawn anew in each run. Not differentiable.

    Examples
    --------
    In the language::

        w = he_normal([784, 128])
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
    """First values of a weight before relu (He et al., arXiv:1502.01852): uniform in [-a, a)
    with a = gain * sqrt(3 / fan). They depend on the seed, the count of runs and the name
    of the result alone.

    Parameters
    ----------
    dims : shape, required
        the sizes
    gain : float >= 0, default 1.4142135623730951
        a factor for all numbers
    layout : {"auto", "in_out", "out_in"}, default 'auto'
        where the counts of inputs and outputs are: the last two dims (those before are a
        stack of weights), or as a convolution has them, output first, other dims its
        window; auto: "in_out" up to two dims, "out_in" beyond
    dtype : dtype, default 'f32'
        of the elements
    mode : {"fan_in", "fan_out"}, default 'fan_in'
        what `fan` is: the count of an output's inputs, or of an input's outputs
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        `dims` elements of `dtype`

    Notes
    -----
    Random: drawn anew in each run. Not differentiable.

    Examples
    --------
    In the language::

        w = he_uniform([64, 3, 3, 3], mode="fan_out")
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
    """margin - x * label, but at least 0, element by element.

    `mean` makes one number of it. Broadcasts as NumPy does, over sizes that are literally
    1.

    Parameters
    ----------
    x : array of f16, bf16, f32 or f64; may be ragged
        any numbers, whose sign is the decision
    label : array of f16, bf16, f32 or f64; may be ragged
        1 or -1; dtype as x
    margin : float, default 1.0
        how far x is to be on its side
    name : str, optional
        names the result in a graph

    Returns
    -------
    loss
        from 0 on; dtype as x, the dims of both broadcast

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = hinge([2.0, 0.5, -1.0], [1.0, 1.0, 1.0])  # = [0.0, 0.5, 2.0]
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
    """Half the square of x - y where that is at most delta, else delta * (abs(x - y) - delta /
    2), element by element (Huber, 1964).

    `mean` makes one number of it. Broadcasts as NumPy does, over sizes that are literally
    1.

    Parameters
    ----------
    x : array of f16, bf16, f32 or f64; may be ragged
        any numbers
    y : array of f16, bf16, f32 or f64; may be ragged
        what they should be; dtype as x
    delta : float > 0, default 1.0
        where the square becomes a straight line
    name : str, optional
        names the result in a graph

    Returns
    -------
    loss
        from 0 on; dtype as x, the dims of both broadcast

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = huber([0.5, 3.0], [0.0, 0.0])  # = [0.125, 2.5]
    """
@overload
def huber(x: ArrayLike, y: ArrayLike, *, delta: float = 1.0, name: str | None = None) -> Tensor: ...
@overload
def huber(*, delta: float = 1.0) -> Function: ...

@overload
def hypot(x: Value, y: Operand, *, name: str | None = None) -> Value:
    """sqrt(x**2 + y**2), element by element, without overflow; infinite where one of them is.

    The gradient where both are 0 is 0. Broadcasts as NumPy does, over sizes that are
    literally 1.

    Parameters
    ----------
    x : array of f16, bf16, f32 or f64; may be ragged
        left operand
    y : array of f16, bf16, f32 or f64; may be ragged
        right operand; dtype as x
    name : str, optional
        names the result in a graph

    Returns
    -------
    z
        from 0 on; dtype as x, the dims of both broadcast

    Notes
    -----
    Differentiable. In f32, the largest error is 0.51 units of the last place.

    Examples
    --------
    In the language::

        y = hypot([3.0, 0.0], [4.0, -2.0])  # = [5.0, 2.0]
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
    """The elements of each window of x as a column (PyTorch's unfold): rows are the channels,
    and in each the places of the kernel; columns are the windows in row-major order.

    Padding counts as 0.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64, u8 or bool
        [N, C, ...] with 1 to 3 more dims
    kernel : shape, required
        the window's sizes: one for all dims, or one for each
    stride : shape, default [1]
        steps between windows, one for all dims or for each
    pad : shape or one of "same", "same_lower", "valid", default [0]
        places added around x: one count for all sides, one for each dim, or begin and end
        for each dim. "same": as many as give size / stride windows, rounded up, an odd one
        at the end ("same_lower": at the begin); "valid": none
    dilation : shape, default [1]
        steps between the places of a window, one for all dims or for each
    name : str, optional
        names the result in a graph

    Returns
    -------
    columns
        [N, C * kernel, L] for L windows; dtype as x

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = im2col([[[1.0, 2.0, 3.0]]], kernel=2)  # = [[[1.0, 2.0], [2.0, 3.0]]]
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

    Parameters
    ----------
    x : array of f16, bf16, f32 or f64; may be ragged
        any numbers
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        bool, dims as x

    Notes
    -----
    Not differentiable.

    Examples
    --------
    In the language::

        y = isfinite([1.0, inf, nan])  # = [true, false, false]
    """
@overload
def isfinite(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def isfinite() -> Function: ...

@overload
def isinf(x: Value, *, name: str | None = None) -> Value:
    """True where x is inf or -inf, element by element.

    Parameters
    ----------
    x : array of f16, bf16, f32 or f64; may be ragged
        any numbers
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        bool, dims as x

    Notes
    -----
    Not differentiable.

    Examples
    --------
    In the language::

        y = isinf([1.0, -inf, nan])  # = [false, true, false]
    """
@overload
def isinf(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def isinf() -> Function: ...

@overload
def isnan(x: Value, *, name: str | None = None) -> Value:
    """True where x is nan, element by element.

    Parameters
    ----------
    x : array of f16, bf16, f32 or f64; may be ragged
        any numbers
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        bool, dims as x

    Notes
    -----
    Not differentiable.

    Examples
    --------
    In the language::

        y = isnan([1.0, -inf, nan])  # = [false, false, true]
    """
@overload
def isnan(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def isnan() -> Function: ...

@overload
def kl_div(log_q: Value, p: Operand, *, log_target: bool = False, name: str | None = None) -> Value:
    """p * (log(p) - log_q), element by element: what `sum` over the classes makes the
    divergence of Kullback and Leibler of.

    0 where p is 0; its gradient there is 0. Broadcasts as NumPy does, over sizes that are
    literally 1.

    Parameters
    ----------
    log_q : array of f16, bf16, f32 or f64; may be ragged
        logarithms of probabilities, as log_softmax gives them
    p : array of f16, bf16, f32 or f64; may be ragged
        the probabilities that are wanted; dtype as log_q
    log_target : bool, default False
        p are logarithms of the probabilities, too
    name : str, optional
        names the result in a graph

    Returns
    -------
    loss
        dtype as log_q, the dims of both broadcast

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = kl_div([-1.0, -2.0], [1.0, 0.0])  # = [1.0, 0.0]
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
    """x itself: the gradient of a parameter, whose rows are 0 where a step did not use them
    (those that no index of `gather` or of an embedding named).

    What is computed from the result as the next value of a state may then leave those rows
    as they are: a step costs what the rows cost that it uses. `lazy=true` of an optimizer
    in `minimize` is this.

    Parameters
    ----------
    x : array of f16, bf16, f32 or f64; may be ragged
        the gradient
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        x; type as x

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = lazy_rows([1.0, 2.0])  # = [1.0, 2.0]
    """
@overload
def lazy_rows(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def lazy_rows() -> Function: ...

@overload
def leaky_relu(x: Value, *, alpha: float = 0.01, name: str | None = None) -> Value:
    """x where it is positive, else alpha * x, element by element.

    The gradient at 0 is alpha.

    Parameters
    ----------
    x : array of f16, bf16, f32 or f64; may be ragged
        any numbers
    alpha : float, default 0.01
        the slope below 0
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        type as x

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = leaky_relu([-1.0, 2.0], alpha=0.1)  # = [-0.1, 2.0]
    """
@overload
def leaky_relu(x: ArrayLike, *, alpha: float = 0.01, name: str | None = None) -> Tensor: ...
@overload
def leaky_relu(*, alpha: float = 0.01) -> Function: ...

@overload
def less(x: Value, y: Operand, *, name: str | None = None) -> Value:
    """x < y; false where one is nan.

    Broadcasts as NumPy does, over sizes that are literally 1.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64 or u8; may be ragged
        left operand
    y : array of f16, bf16, f32, f64, i8, i32, i64 or u8; may be ragged
        right operand; dtype as x
    name : str, optional
        names the result in a graph

    Returns
    -------
    z
        bool, the dims of both broadcast

    Notes
    -----
    Not differentiable.

    Examples
    --------
    In the language::

        z = less([1, 2, 3], 2)  # = [true, false, false]
    """
@overload
def less(x: ArrayLike, y: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def less() -> Function: ...

@overload
def less_equal(x: Value, y: Operand, *, name: str | None = None) -> Value:
    """x <= y; false where one is nan.

    Broadcasts as NumPy does, over sizes that are literally 1.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64 or u8; may be ragged
        left operand
    y : array of f16, bf16, f32, f64, i8, i32, i64 or u8; may be ragged
        right operand; dtype as x
    name : str, optional
        names the result in a graph

    Returns
    -------
    z
        bool, the dims of both broadcast

    Notes
    -----
    Not differentiable.

    Examples
    --------
    In the language::

        z = less_equal([1, 2, 3], 2)  # = [true, true, false]
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

    Parameters
    ----------
    x : array of f16, bf16, f32 or f64
        at least one dim
    decay : array of f16, bf16, f32 or f64
        what is kept of the result before; type as x
    axis : int, default -1
        the axis, a negative one from the end
    reverse : bool, default False
        from the end of the axis to its start
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        type as x

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = linear_recurrence([1.0, 1.0, 1.0], [0.5, 0.5, 0.5])  # = [1.0, 1.5, 1.75]
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

    Parameters
    ----------
    start : float, required
        the first number
    stop : float, required
        the last number
    count : shape, required
        how many there are
    dtype : dtype, default 'f32'
        of the elements
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        one dim; numbers of `dtype`

    Notes
    -----
    Not differentiable.

    Examples
    --------
    In the language::

        y = linspace(0.0, 1.0, 5)  # = [0.0, 0.25, 0.5, 0.75, 1.0]
    """
@overload
def linspace(*, dtype: DType = "f32") -> Function: ...

@overload
def log(x: Value, *, name: str | None = None) -> Value:
    """The natural logarithm, element by element: -inf at 0, nan below.

    Parameters
    ----------
    x : array of f16, bf16, f32 or f64; may be ragged
        numbers from 0 on
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        type as x

    Notes
    -----
    Differentiable. In f32, the largest error is 0.81 units of the last place.

    Examples
    --------
    In the language::

        y = log([1.0, 10.0])  # = [0.0, 2.302585]
    """
@overload
def log(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def log() -> Function: ...

@overload
def log10(x: Value, *, name: str | None = None) -> Value:
    """The logarithm to the base 10, element by element: -inf at 0, nan below.

    Parameters
    ----------
    x : array of f16, bf16, f32 or f64; may be ragged
        numbers from 0 on
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        type as x

    Notes
    -----
    Differentiable. In f32, the largest error is 0.51 units of the last place.

    Examples
    --------
    In the language::

        y = log10([1.0, 1000.0])  # = [0.0, 3.0]
    """
@overload
def log10(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def log10() -> Function: ...

@overload
def log1p(x: Value, *, name: str | None = None) -> Value:
    """log(1 + x), element by element, exact also where x is small: -inf at -1, nan below.

    Parameters
    ----------
    x : array of f16, bf16, f32 or f64; may be ragged
        numbers from -1 on
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        type as x

    Notes
    -----
    Differentiable. In f32, the largest error is 0.51 units of the last place.

    Examples
    --------
    In the language::

        y = log1p([0.0, 1.0])  # = [0.0, 0.6931472]
    """
@overload
def log1p(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def log1p() -> Function: ...

@overload
def log2(x: Value, *, name: str | None = None) -> Value:
    """The logarithm to the base 2, element by element: -inf at 0, nan below.

    Parameters
    ----------
    x : array of f16, bf16, f32 or f64; may be ragged
        numbers from 0 on
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        type as x

    Notes
    -----
    Differentiable. In f32, the largest error is 0.51 units of the last place.

    Examples
    --------
    In the language::

        y = log2([1.0, 8.0])  # = [0.0, 3.0]
    """
@overload
def log2(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def log2() -> Function: ...

@overload
def log_sigmoid(x: Value, *, name: str | None = None) -> Value:
    """log(1 / (1 + exp(-x))), element by element, without overflow.

    Parameters
    ----------
    x : array of f16, bf16, f32 or f64; may be ragged
        any numbers
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        type as x

    Notes
    -----
    Differentiable. In f32, the largest error is 1.5 units of the last place.

    Examples
    --------
    In the language::

        y = log_sigmoid([0.0, -200.0])  # = [-0.6931472, -200.0]
    """
@overload
def log_sigmoid(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def log_sigmoid() -> Function: ...

@overload
def log_softmax(x: Value, *, axis: int = -1, name: str | None = None) -> Value:
    """log(softmax(x)) along an axis, without overflow for large x.

    Parameters
    ----------
    x : array of f16, bf16, f32 or f64
        at least one dim
    axis : int, default -1
        the axis, a negative one from the end
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        up to 0; type as x

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = log_softmax([0.0, 0.0])  # = [-0.693147, -0.693147]
    """
@overload
def log_softmax(x: ArrayLike, *, axis: int = -1, name: str | None = None) -> Tensor: ...
@overload
def log_softmax(*, axis: int = -1) -> Function: ...

@overload
def logaddexp(x: Value, y: Operand, *, name: str | None = None) -> Value:
    """log(exp(x) + exp(y)), element by element, without overflow: the sum of two probabilities
    that are given by their logarithms.

    In f32 the error near 0 is at most 1e-9. Broadcasts as NumPy does, over sizes that are
    literally 1.

    Parameters
    ----------
    x : array of f16, bf16, f32 or f64; may be ragged
        left operand
    y : array of f16, bf16, f32 or f64; may be ragged
        right operand; dtype as x
    name : str, optional
        names the result in a graph

    Returns
    -------
    z
        at least the larger one; dtype as x, the dims of both broadcast

    Notes
    -----
    Differentiable. In f32, the largest error is 0.51 units of the last place.

    Examples
    --------
    In the language::

        y = logaddexp([0.0, 1000.0], [0.0, 999.0])  # = [0.6931472, 1000.3133]
    """
@overload
def logaddexp(x: ArrayLike, y: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def logaddexp() -> Function: ...

@overload
def logical_and(x: Value, y: Operand, *, name: str | None = None) -> Value:
    """True where both are.

    Broadcasts as NumPy does, over sizes that are literally 1.

    Parameters
    ----------
    x : array of bool; may be ragged
        left operand
    y : array of bool; may be ragged
        right operand; dtype as x
    name : str, optional
        names the result in a graph

    Returns
    -------
    z
        bool, the dims of both broadcast

    Notes
    -----
    Not differentiable.

    Examples
    --------
    In the language::

        z = logical_and([true, true], [true, false])  # = [true, false]
    """
@overload
def logical_and(x: ArrayLike, y: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def logical_and() -> Function: ...

@overload
def logical_not(x: Value, *, name: str | None = None) -> Value:
    """True where x is false, element by element.

    Parameters
    ----------
    x : array of bool; may be ragged
        truth values
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        bool, dims as x

    Notes
    -----
    Not differentiable.

    Examples
    --------
    In the language::

        y = logical_not([true, false])  # = [false, true]
    """
@overload
def logical_not(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def logical_not() -> Function: ...

@overload
def logical_or(x: Value, y: Operand, *, name: str | None = None) -> Value:
    """True where at least one is.

    Broadcasts as NumPy does, over sizes that are literally 1.

    Parameters
    ----------
    x : array of bool; may be ragged
        left operand
    y : array of bool; may be ragged
        right operand; dtype as x
    name : str, optional
        names the result in a graph

    Returns
    -------
    z
        bool, the dims of both broadcast

    Notes
    -----
    Not differentiable.

    Examples
    --------
    In the language::

        z = logical_or([true, false], [false, false])  # = [true, false]
    """
@overload
def logical_or(x: ArrayLike, y: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def logical_or() -> Function: ...

@overload
def logical_xor(x: Value, y: Operand, *, name: str | None = None) -> Value:
    """True where one of them is.

    Broadcasts as NumPy does, over sizes that are literally 1.

    Parameters
    ----------
    x : array of bool; may be ragged
        left operand
    y : array of bool; may be ragged
        right operand; dtype as x
    name : str, optional
        names the result in a graph

    Returns
    -------
    z
        bool, the dims of both broadcast

    Notes
    -----
    Not differentiable.

    Examples
    --------
    In the language::

        y = logical_xor([true, true], [true, false])  # = [false, true]
    """
@overload
def logical_xor(x: ArrayLike, y: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def logical_xor() -> Function: ...

@overload
def logsumexp(
    x: Value,
    *,
    axes: int | Sequence[int] | None = None,
    keep: bool = False,
    name: str | None = None,
) -> Value:
    """log(sum(exp(x))) over axes, without overflow for large x; -inf where there is nothing.

    Parameters
    ----------
    x : array of f16, bf16, f32 or f64; may be ragged
        elements of any rank; the ragged dims and the one before them are reduced together
        only
    axes : list of int, optional
        axes to go over, negative ones from the end; none: all
    keep : bool, default False
        keep each of these axes, with size 1
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        dtype as x; the dims of x without the axes

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = logsumexp([1000.0, 1000.0])  # = 1000.6931
    """
@overload
def logsumexp(
    x: ArrayLike,
    *,
    axes: int | Sequence[int] | None = None,
    keep: bool = False,
    name: str | None = None,
) -> Tensor: ...
@overload
def logsumexp(*, axes: int | Sequence[int] | None = None, keep: bool = False) -> Function: ...

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

    Parameters
    ----------
    x : array of f16, bf16, f32 or f64
        [N, C, ...] with 1 to 3 more dims
    p : float > 0, default 2.0
        which norm
    kernel : shape, required
        the window's sizes: one for all dims, or one for each
    stride : shape, optional
        steps between windows, one for all dims or for each; none: the kernel
    pad : shape or one of "same", "same_lower", "valid", default [0]
        places added around x: one count for all sides, one for each dim, or begin and end
        for each dim. "same": as many as give size / stride windows, rounded up, an odd one
        at the end ("same_lower": at the begin); "valid": none
    dilation : shape, default [1]
        steps between the places of a window, one for all dims or for each
    ceil_mode : bool, default False
        one more window for what is left at the end, unless it would begin in the padding
        there
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        [N, C, ...], each size as the window gives it; dtype as x

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = lp_pool([[[3.0, -4.0, 0.0, 2.0]]], kernel=2)  # = [[[5.0, 2.0]]]
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
    """The product of matrices.

    Dims before the last two are a batch and broadcast as NumPy does; an operand of one dim
    is a row on the left, a column on the right, and its dim is left out of the result.
    Halves are added up in f32, integers wrap around. Where a is sparse or ragged, b is one
    matrix; the truth values of a sparse a are ones.

    Parameters
    ----------
    a : array of f16, bf16, f32, f64, i8, i32, i64, u8 or bool; may be sparse or ragged
        [..., M, K], or [K]; bool only where it is sparse
    b : array of f16, bf16, f32, f64, i8, i32, i64 or u8
        [..., K, N], or [K]; dtype as a
    transpose_a : bool, default False
        take a as [..., K, M]
    transpose_b : bool, default False
        take b as [..., N, K]
    name : str, optional
        names the result in a graph

    Returns
    -------
    c
        [..., M, N]; dtype as a

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        c = matmul([[1.0, 2.0], [3.0, 4.0]], [[1.0], [10.0]])  # = [[21.0], [43.0]]
        c = matmul([[1.0, 2.0]], [[3.0, 4.0]], transpose_b=true)  # = [[11.0]]
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
    axes: int | Sequence[int] | None = None,
    keep: bool = False,
    name: str | None = None,
) -> Value:
    """The largest element over axes; nan where one is nan.

    An axis must not be empty.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64 or u8; may be ragged
        elements of any rank; the ragged dims and the one before them are reduced together
        only
    axes : list of int, optional
        axes to go over, negative ones from the end; none: all
    keep : bool, default False
        keep each of these axes, with size 1
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        dtype as x; the dims of x without the axes

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = max([[1.0, 5.0], [7.0, 0.0]], axes=[1])  # = [5.0, 7.0]
    """
@overload
def max(
    x: ArrayLike,
    *,
    axes: int | Sequence[int] | None = None,
    keep: bool = False,
    name: str | None = None,
) -> Tensor: ...
@overload
def max(*, axes: int | Sequence[int] | None = None, keep: bool = False) -> Function: ...

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
    """The largest element of each window of x, channel by channel.

    Padding has no part in it; a window without elements gives -inf, or the lowest integer.
    nan where a window has one. The gradient goes to the first of equal elements.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64 or u8
        [N, C, ...] with 1 to 3 more dims
    kernel : shape, required
        the window's sizes: one for all dims, or one for each
    stride : shape, optional
        steps between windows, one for all dims or for each; none: the kernel
    pad : shape or one of "same", "same_lower", "valid", default [0]
        places added around x: one count for all sides, one for each dim, or begin and end
        for each dim. "same": as many as give size / stride windows, rounded up, an odd one
        at the end ("same_lower": at the begin); "valid": none
    dilation : shape, default [1]
        steps between the places of a window, one for all dims or for each
    ceil_mode : bool, default False
        one more window for what is left at the end, unless it would begin in the padding
        there
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        [N, C, ...], each size as the window gives it; dtype as x

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = max_pool([[[1.0, 5.0, 2.0, 3.0]]], kernel=2)  # = [[[5.0, 3.0]]]
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
    channel, counted in row-major order, for max_unpool.

    The first of equal elements, the last nan; -1 for a window without elements.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64 or u8
        [N, C, ...] with 1 to 3 more dims
    kernel : shape, required
        the window's sizes: one for all dims, or one for each
    stride : shape, optional
        steps between windows, one for all dims or for each; none: the kernel
    pad : shape or one of "same", "same_lower", "valid", default [0]
        places added around x: one count for all sides, one for each dim, or begin and end
        for each dim. "same": as many as give size / stride windows, rounded up, an odd one
        at the end ("same_lower": at the begin); "valid": none
    dilation : shape, default [1]
        steps between the places of a window, one for all dims or for each
    ceil_mode : bool, default False
        one more window for what is left at the end, unless it would begin in the padding
        there
    name : str, optional
        names the result in a graph

    Returns
    -------
    indices
        i64; dims as max_pool has them

    Notes
    -----
    Not differentiable.

    Examples
    --------
    In the language::

        i = max_pool_index([[[1.0, 5.0, 2.0, 3.0]]], kernel=2)  # = [[[1, 3]]]
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
    """Planes of zeros with the elements of x at given places, added up where places are equal:
    the reverse of max_pool, with the indices that max_pool_index gives.

    An index outside the plane is left out. Integers wrap around.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64 or u8
        [N, C, ...] with 1 to 3 more dims
    indices : array of i64
        places in the planes of the result, counted in row-major order; dims as x
    size : shape, required
        the spatial sizes of the result: one for all dims, or one for each
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        [N, C, size...]; dtype as x

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = max_unpool([[[5.0, 3.0]]], [[[1, 3]]], 4)  # = [[[0.0, 5.0, 0.0, 3.0]]]
    """
@overload
def max_unpool(x: ArrayLike, indices: ArrayLike, size: Dims, *, name: str | None = None) -> Tensor: ...
@overload
def max_unpool() -> Function: ...

@overload
def maximum(x: Value, y: Operand, *, name: str | None = None) -> Value:
    """The larger of x and y; nan where one is nan.

    Broadcasts as NumPy does, over sizes that are literally 1.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64 or u8; may be ragged
        left operand
    y : array of f16, bf16, f32, f64, i8, i32, i64 or u8; may be ragged
        right operand; dtype as x
    name : str, optional
        names the result in a graph

    Returns
    -------
    z
        dtype as x, the dims of both broadcast

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        z = maximum([1.0, 5.0], [3.0, 2.0])  # = [3.0, 5.0]
    """
@overload
def maximum(x: ArrayLike, y: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def maximum() -> Function: ...

@overload
def mean(
    x: Value,
    *,
    axes: int | Sequence[int] | None = None,
    keep: bool = False,
    name: str | None = None,
) -> Value:
    """The mean over axes; nan where there is nothing.

    Parameters
    ----------
    x : array of f16, bf16, f32 or f64; may be ragged
        elements of any rank; the ragged dims and the one before them are reduced together
        only
    axes : list of int, optional
        axes to go over, negative ones from the end; none: all
    keep : bool, default False
        keep each of these axes, with size 1
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        dtype as x; the dims of x without the axes

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = mean([[1.0, 5.0], [7.0, 0.0]], axes=[0])  # = [4.0, 2.5]
    """
@overload
def mean(
    x: ArrayLike,
    *,
    axes: int | Sequence[int] | None = None,
    keep: bool = False,
    name: str | None = None,
) -> Tensor: ...
@overload
def mean(*, axes: int | Sequence[int] | None = None, keep: bool = False) -> Function: ...

@overload
def min(
    x: Value,
    *,
    axes: int | Sequence[int] | None = None,
    keep: bool = False,
    name: str | None = None,
) -> Value:
    """The smallest element over axes; nan where one is nan.

    An axis must not be empty.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64 or u8; may be ragged
        elements of any rank; the ragged dims and the one before them are reduced together
        only
    axes : list of int, optional
        axes to go over, negative ones from the end; none: all
    keep : bool, default False
        keep each of these axes, with size 1
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        dtype as x; the dims of x without the axes

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = min([[1.0, 5.0], [7.0, 0.0]], axes=[1], keep=true)  # = [[1.0], [0.0]]
    """
@overload
def min(
    x: ArrayLike,
    *,
    axes: int | Sequence[int] | None = None,
    keep: bool = False,
    name: str | None = None,
) -> Tensor: ...
@overload
def min(*, axes: int | Sequence[int] | None = None, keep: bool = False) -> Function: ...

@overload
def minimum(x: Value, y: Operand, *, name: str | None = None) -> Value:
    """The smaller of x and y; nan where one is nan.

    Broadcasts as NumPy does, over sizes that are literally 1.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64 or u8; may be ragged
        left operand
    y : array of f16, bf16, f32, f64, i8, i32, i64 or u8; may be ragged
        right operand; dtype as x
    name : str, optional
        names the result in a graph

    Returns
    -------
    z
        dtype as x, the dims of both broadcast

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        z = minimum([1.0, 5.0], [3.0, 2.0])  # = [1.0, 2.0]
    """
@overload
def minimum(x: ArrayLike, y: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def minimum() -> Function: ...

@overload
def mish(x: Value, *, name: str | None = None) -> Value:
    """x * tanh(softplus(x)) (Misra, arXiv:1908.08681), element by element.

    Parameters
    ----------
    x : array of f16, bf16, f32 or f64; may be ragged
        any numbers
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        type as x

    Notes
    -----
    Differentiable. In f32, the largest error is 0.51 units of the last place.

    Examples
    --------
    In the language::

        y = mish([0.0, 1.0])  # = [0.0, 0.8650984]
    """
@overload
def mish(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def mish() -> Function: ...

@overload
def mod(x: Value, y: Operand, *, name: str | None = None) -> Value:
    """x % y = x - y * (x // y), with the sign of y, as Python and NumPy; 0 where an integer is
    divided by 0.

    `fmod` has the sign of x. Broadcasts as NumPy does, over sizes that are literally 1.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64 or u8; may be ragged
        left operand
    y : array of f16, bf16, f32, f64, i8, i32, i64 or u8; may be ragged
        right operand; dtype as x
    name : str, optional
        names the result in a graph

    Returns
    -------
    z
        dtype as x, the dims of both broadcast

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        z = mod([7, -7], 3)  # = [1, 2]
    """
@overload
def mod(x: ArrayLike, y: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def mod() -> Function: ...

@overload
def moments(x: Value, *, keep: int | Sequence[int] = [], name: str | None = None) -> Results:
    """The mean and the variance over all axes but some.

    The variance is that of the whole population: the mean of squared distances from the
    mean. Both are nan where there is nothing.

    Parameters
    ----------
    x : array of f16, bf16, f32 or f64; may be ragged
        elements of any rank; ragged dims and the one before them are not kept
    keep : list of int, default []
        the axes that are kept, negative ones from the end
    name : str, optional
        names the result in a graph

    Returns
    -------
    mean
        dtype as x; the dims of x that are kept
    variance
        type as the mean

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        m, v = moments([[1.0, 2.0], [3.0, 6.0]], keep=[1])
        spread = sqrt(v)  # = [1.0, 2.0]
    """
@overload
def moments(x: ArrayLike, *, keep: int | Sequence[int] = [], name: str | None = None) -> Results: ...
@overload
def moments(*, keep: int | Sequence[int] = []) -> Function: ...

@overload
def mse(x: Value, y: Operand, *, name: str | None = None) -> Value:
    """The mean of (x - y)**2 over all elements; nan where there are none.

    Parameters
    ----------
    x : array of f16, bf16, f32 or f64; may be ragged
        elements of any rank
    y : array of f16, bf16, f32 or f64; may be ragged
        type as x
    name : str, optional
        names the result in a graph

    Returns
    -------
    loss
        a scalar, dtype as x

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        loss = mse([1.0, 2.0], [1.0, 4.0])  # = 2.0
    """
@overload
def mse(x: ArrayLike, y: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def mse() -> Function: ...

@overload
def mul(x: Value, y: Operand, *, name: str | None = None) -> Value:
    """x * y.

    Integers wrap around. Broadcasts as NumPy does, over sizes that are literally 1.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64 or u8; may be ragged
        left operand
    y : array of f16, bf16, f32, f64, i8, i32, i64 or u8; may be ragged
        right operand; dtype as x
    name : str, optional
        names the result in a graph

    Returns
    -------
    z
        dtype as x, the dims of both broadcast

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        z = mul([1, 2, 3], 10)  # = [10, 20, 30]
    """
@overload
def mul(x: ArrayLike, y: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def mul() -> Function: ...

@overload
def neg(x: Value, *, name: str | None = None) -> Value:
    """-x, element by element.

    Integers wrap around.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64 or u8; may be ragged
        any numbers
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        type as x

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = neg([1, -2])  # = [-1, 2]
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
    """-log_prob at the label, along the last dim: the negative log-likelihood, of what
    log_softmax gives.

    A label outside the classes gives nan.

    Parameters
    ----------
    log_prob : array of f16, bf16, f32 or f64; may be ragged
        [..., C], the logarithm of each class's probability
    label : array of i32 or i64; may be ragged
        [...], classes
    weight : array of f16, bf16, f32 or f64, optional
        [C], what the loss at a label of that class is multiplied by; left out: 1
    ignore_index : int, optional
        rows with this label cost 0; a mean over the others is the sum divided by their
        count. None: no such label
    name : str, optional
        names the result in a graph

    Returns
    -------
    loss
        [...]; dtype as log_prob

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = nll([[-0.5, -2.0], [-0.25, -1.0]], [1, 0])  # = [2.0, 0.25]
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
    """Where elements are not 0 (a nan is not): a row for each, in the order of the elements,
    and in it an index for each axis, as `argwhere` of NumPy gives them.

    `NonZero` of ONNX is the transposed: transpose(nonzero(x)). How many rows there are only
    the data decide, so a network runs in two parts, with the count between them.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64, u8 or bool
        elements of any rank
    name : str, optional
        names the result in a graph

    Returns
    -------
    places
        i64[count, rank of x]

    Notes
    -----
    Not differentiable.

    Examples
    --------
    In the language::

        places = nonzero([[5, 0], [0, 6]])  # = [[0, 0], [1, 1]]
        input x: f32[N]
        output y = gather(x, nonzero(x)[:, 0])
    """
@overload
def nonzero(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def nonzero() -> Function: ...

@overload
def norm(
    x: Value,
    *,
    axes: int | Sequence[int] | None = None,
    keep: bool = False,
    name: str | None = None,
) -> Value:
    """The Euclidean norm over axes, the square root of the sum of squares; the gradient at 0
    is 0.

    Parameters
    ----------
    x : array of f16, bf16, f32 or f64; may be ragged
        elements of any rank; the ragged dims and the one before them are reduced together
        only
    axes : list of int, optional
        axes to go over, negative ones from the end; none: all
    keep : bool, default False
        keep each of these axes, with size 1
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        from 0 on; dtype as x; the dims of x without the axes

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = norm([[3.0, 4.0], [6.0, 8.0]], axes=[1])  # = [5.0, 10.0]
    """
@overload
def norm(
    x: ArrayLike,
    *,
    axes: int | Sequence[int] | None = None,
    keep: bool = False,
    name: str | None = None,
) -> Tensor: ...
@overload
def norm(*, axes: int | Sequence[int] | None = None, keep: bool = False) -> Function: ...

@overload
def normal(
    dims: Dims,
    *,
    mean: float = 0.0,
    std: float = 1.0,
    dtype: DType = "f32",
    name: str | None = None,
) -> Any:
    """Random numbers of a normal distribution.

    They depend on the seed, the count of runs and the name of the result alone.

    Parameters
    ----------
    dims : shape, required
        the sizes
    mean : float, default 0.0
        the mean
    std : float >= 0, default 1.0
        the standard deviation
    dtype : dtype, default 'f32'
        of the elements
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        `dims` elements of `dtype`

    Notes
    -----
    Random: drawn anew in each run. Not differentiable.

    Examples
    --------
    In the language::

        noise = normal([2, 3], std=0.1)
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
    """(x - mean) / sqrt(variance + eps) * gamma + beta, with one mean, variance, gamma and
    beta for each index of an axis.

    Parameters
    ----------
    x : array of f16, bf16, f32 or f64; may be ragged
        at least one dim
    mean : array of f16, bf16, f32 or f64
        [C], where C is the size of the axis; dtype as x
    variance : array of f16, bf16, f32 or f64
        type as the mean
    gamma : array of f16, bf16, f32 or f64, optional
        type as the mean, or one number for all; left out: 1
    beta : array of f16, bf16, f32 or f64, optional
        type as the mean; left out: 0
    axis : int, default 1
        the axis, a negative one from the end
    eps : float >= 0, default 1e-05
        added to the variance
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        type as x

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = normalize([[1.0, 2.0]], [1.0, 1.0], [4.0, 4.0], eps=0.0)  # = [[0.0, 0.5]]
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
    """x != y; nan differs from all.

    Broadcasts as NumPy does, over sizes that are literally 1.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64, u8 or bool; may be ragged
        left operand
    y : array of f16, bf16, f32, f64, i8, i32, i64, u8 or bool; may be ragged
        right operand; dtype as x
    name : str, optional
        names the result in a graph

    Returns
    -------
    z
        bool, the dims of both broadcast

    Notes
    -----
    Not differentiable.

    Examples
    --------
    In the language::

        z = not_equal([1, 2], [1, 3])  # = [false, true]
    """
@overload
def not_equal(x: ArrayLike, y: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def not_equal() -> Function: ...

@overload
def one_hot(indices: Value, depth: Dims, *, dtype: DType = "f32", name: str | None = None) -> Value:
    """For each index a row of zeros with a 1 at its place.

    A negative index counts from the end; the row of one outside the depth has no 1.

    Parameters
    ----------
    indices : array of i32 or i64; may be ragged
        places in the rows
    depth : shape, required
        the length of a row
    dtype : dtype, default 'f32'
        of the result
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        the dims of the indices, then `depth`

    Notes
    -----
    Not differentiable.

    Examples
    --------
    In the language::

        y = one_hot([0, 2], 3)  # = [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
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

    Parameters
    ----------
    dims : shape, required
        the sizes
    dtype : dtype, default 'f32'
        of the elements
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        `dims` elements of `dtype`

    Notes
    -----
    Not differentiable.

    Examples
    --------
    In the language::

        y = ones([2], dtype=i64)  # = [1, 1]
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
    """First values of a weight (Saxe et al., arXiv:1312.6120): a random matrix whose rows
    stand at right angles to one another and have the length `gain`, or its columns where it
    has more rows than columns.

    Its rows are along the first dim, its columns along all others. It depends on the seed,
    the count of runs and the name of the result alone.

    Parameters
    ----------
    dims : shape, required
        the sizes, two or more
    gain : float >= 0, default 1.0
        a factor for all numbers
    dtype : dtype, default 'f32'
        of the elements
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        `dims` elements of `dtype`

    Notes
    -----
    Random: drawn anew in each run. Not differentiable.

    Examples
    --------
    In the language::

        w = orthogonal([2, 5])
        y = round(w @ transpose(w))  # = [[1.0, 0.0], [0.0, 1.0]]
    """
@overload
def orthogonal(*, gain: float = 1.0, dtype: DType = "f32") -> Function: ...

@overload
def pad(
    x: Value,
    *,
    before: Dims,
    after: Dims,
    axes: int | Sequence[int] | None = None,
    mode: Literal["constant", "reflect", "edge", "wrap"] = "constant",
    value: float = 0.0,
    name: str | None = None,
) -> Value:
    """x with elements added before and after it along axes, or taken off where a count is
    negative.

    What is added is a constant, or read from what is left of x: mirrored at the edge
    ("reflect": 3 2 | 1 2 3 | 2 1), the last element again ("edge": 1 1 | 1 2 3 | 3 3), or x
    again ("wrap": 2 3 | 1 2 3 | 1 2), as often as it takes. Elements are taken off first.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64, u8 or bool
        elements of any rank
    before : shape, required
        for each axis how many elements are added before it
    after : shape, required
        for each axis how many elements are added after it
    axes : list of int, optional
        the axes, each once, negative ones from the end; none: all
    mode : {"constant", "reflect", "edge", "wrap"}, default 'constant'
        what is added
    value : float, default 0.0
        the constant that is added; an element of x's dtype
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        dtype as x; sizes with what is added

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = pad([1, 2, 3], before=[1], after=[2])  # = [0, 1, 2, 3, 0, 0]
        y = pad([1, 2, 3], before=[2], after=[1], mode="reflect")  # = [3, 2, 1, 2, 3, 2]
    """
@overload
def pad(
    x: ArrayLike,
    *,
    before: Dims,
    after: Dims,
    axes: int | Sequence[int] | None = None,
    mode: Literal["constant", "reflect", "edge", "wrap"] = "constant",
    value: float = 0.0,
    name: str | None = None,
) -> Tensor: ...
@overload
def pad(
    *,
    before: Dims,
    after: Dims,
    axes: int | Sequence[int] | None = None,
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
    """`then` where the condition holds, else `otherwise`; the calls that only the other one
    needs are not run, and their inputs need not be fed.

    The condition is made of `training()`, `size(...)` and constants: it is decided when a
    run is planned.

    Parameters
    ----------
    condition : array of bool
        bool[]
    then : array of any dtype; may be sparse or ragged
        any type
    otherwise : array of any dtype; may be sparse or ragged
        type as then
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        type as then

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        rate = plan_select(training(), 0.5, 0.0)  # = 0.0
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
    """The elements of x at given places of each plane, as max_pool_index gives them: the
    reverse of max_unpool.

    0 at an index outside the plane.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64, u8 or bool
        [N, C, ...] with 1 to 3 more dims
    indices : array of i64
        [N, C, ...]: places in the planes of x, counted in row-major order
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        dims as the indices, dtype as x

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = plane_gather([[[1.0, 5.0, 2.0, 3.0]]], [[[1, 3]]])  # = [[[5.0, 3.0]]]
    """
@overload
def plane_gather(x: ArrayLike, indices: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def plane_gather() -> Function: ...

@overload
def pow(x: Value, y: Operand, *, name: str | None = None) -> Value:
    """x to the power of y.

    Integers wrap around, and a negative power of one other than 1 and -1 is 0. At x = 0 the
    gradient of y is taken to be 0, whatever y is; below 0 it is nan. Broadcasts as NumPy
    does, over sizes that are literally 1.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64 or u8; may be ragged
        left operand
    y : array of f16, bf16, f32, f64, i8, i32, i64 or u8; may be ragged
        right operand; dtype as x
    name : str, optional
        names the result in a graph

    Returns
    -------
    z
        dtype as x, the dims of both broadcast

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        z = pow([1.0, 2.0, 3.0], 2.0)  # = [1.0, 4.0, 9.0]
    """
@overload
def pow(x: ArrayLike, y: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def pow() -> Function: ...

@overload
def prelu(x: Value, slope: Operand, *, name: str | None = None) -> Value:
    """x from 0 on, slope * x below, element by element (He et al., arXiv:1502.01852).

    Broadcasts as NumPy does, over sizes that are literally 1.

    Parameters
    ----------
    x : array of f16, bf16, f32 or f64; may be ragged
        any numbers
    slope : array of f16, bf16, f32 or f64; may be ragged
        the slope below 0, often a parameter; dtype as x
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        dtype as x, the dims of both broadcast

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = prelu([-2.0, 3.0], [0.25, 0.25])  # = [-0.5, 3.0]
    """
@overload
def prelu(x: ArrayLike, slope: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def prelu() -> Function: ...

@overload
def prod(
    x: Value,
    *,
    axes: int | Sequence[int] | None = None,
    keep: bool = False,
    name: str | None = None,
) -> Value:
    """The product over axes; 1 where there is nothing.

    Integers wrap around. The gradient of a ragged x is nan where an element is 0.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64, u8 or bool; may be ragged
        elements of any rank; the ragged dims and the one before them are reduced together
        only
    axes : list of int, optional
        axes to go over, negative ones from the end; none: all
    keep : bool, default False
        keep each of these axes, with size 1
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        dtype as x, i64 for integers and truth values; the dims of x without the axes

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = prod([[1.0, 2.0], [3.0, 4.0]], axes=[1])  # = [2.0, 12.0]
    """
@overload
def prod(
    x: ArrayLike,
    *,
    axes: int | Sequence[int] | None = None,
    keep: bool = False,
    name: str | None = None,
) -> Tensor: ...
@overload
def prod(*, axes: int | Sequence[int] | None = None, keep: bool = False) -> Function: ...

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
    """round(x / scale) + zero_point as an 8-bit integer, the nearest that there is: of two
    halves the even one, as ONNX.

    nan becomes the smallest.

    Parameters
    ----------
    x : array of f16, bf16, f32 or f64
        any numbers
    scale : array of f16, bf16, f32 or f64
        the distance of neighbours: one, or for each index of `axis`; dtype as x
    zero_point : array of i8 or u8, optional
        what 0 becomes, dims as the scale; left out: 0
    axis : int, default 1
        of a scale with a dim: the axis, a negative one from the end
    dtype : dtype, optional
        i8 or u8; none: that of the zero point, u8 without
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        i8 or u8, dims as x

    Notes
    -----
    Not differentiable.

    Examples
    --------
    In the language::

        y = quantize([0.0, 1.0, 2.5, 1000.0], 0.5)  # = [0, 2, 5, 255]
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
    """Rows as sequences of these lengths: the first lengths[0] rows are the first sequence,
    the next lengths[1] rows the second.

    Of sequences come sequences of sequences. The lengths add up to the rows; none is
    negative. `[[1, 2, 3], [4]]` where a tensor is wanted is ragged([1, 2, 3, 4], [3, 1]).

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64, u8 or bool; may be ragged at one level
        [R, ...] or [R, ~T, ...]
    lengths : array of i64
        rows of each sequence, i64[N]
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        [N, ~T, ...] or [N, ~S, ~T, ...]; dtype as x

    Notes
    -----
    Not differentiable.

    Examples
    --------
    In the language::

        y = sequence_pool(ragged([1.0, 2.0, 3.0, 4.0], [3, 1]))  # = [6.0, 4.0]
    """
@overload
def ragged(x: ArrayLike, lengths: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def ragged() -> Function: ...

@overload
def randperm(n: Dims, *, name: str | None = None) -> Any:
    """The numbers below n in an order drawn at random.

    It depends on the seed, the count of runs and the name of the result alone.

    Parameters
    ----------
    n : shape, required
        how many there are
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        i64[n], below n

    Notes
    -----
    Random: drawn anew in each run. Not differentiable.

    Examples
    --------
    In the language::

        y = sum(randperm(5))  # = 10
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

    As in NumPy there are none where `stop` does not lie in the direction of `step`.

    Parameters
    ----------
    start : shape, required
        the first number
    stop : shape, required
        where it ends: this number is not among them
    step : int, default 1
        the distance of neighbours; below 0, numbers go down
    dtype : dtype, default 'i64'
        of the elements
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        one dim; numbers of `dtype`

    Notes
    -----
    Not differentiable.

    Examples
    --------
    In the language::

        y = range(0, 5)  # = [0, 1, 2, 3, 4]
        y = range(5, 0, -2)  # = [5, 3, 1]
        y = range(3, 1)  # = []
    """
@overload
def range(*, dtype: DType = "i64") -> Function: ...

@overload
def reciprocal(x: Value, *, name: str | None = None) -> Value:
    """1 / x, element by element.

    Parameters
    ----------
    x : array of f16, bf16, f32 or f64; may be ragged
        any numbers
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        type as x

    Notes
    -----
    Differentiable. In f32, the largest error is 0.5 units of the last place.

    Examples
    --------
    In the language::

        y = reciprocal([2.0, 4.0])  # = [0.5, 0.25]
    """
@overload
def reciprocal(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def reciprocal() -> Function: ...

@overload
def relu(x: Value, *, name: str | None = None) -> Value:
    """The larger of x and 0, element by element; nan stays.

    The gradient at 0 is 0.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64 or u8; may be ragged
        any numbers
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        from 0 on; type as x

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = relu([-1.0, 2.0])  # = [0.0, 2.0]
    """
@overload
def relu(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def relu() -> Function: ...

@overload
def reshape(x: Value, dims: Dims, *, name: str | None = None) -> Value:
    """The same elements in the same order, under other dims.

    Parameters
    ----------
    x : array of any dtype; may be ragged
        elements of any rank
    dims : shape, required
        the new dims; their product is the count of elements of x. One of them may be -1,
        which stands for what the others leave. Ragged dims of x and those before them stay
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        dims as said; dtype as x

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = reshape([1, 2, 3, 4, 5, 6], [2, 3])  # = [[1, 2, 3], [4, 5, 6]]
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
    scales: float | Sequence[float] | None = None,
    mode: Literal["nearest", "linear", "cubic"] = "nearest",
    coordinates: Literal["half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners"] = "half_pixel",
    rounding: Literal["prefer_floor", "prefer_ceil", "floor", "ceil"] = "prefer_floor",
    cubic_a: float = -0.75,
    antialias: bool = False,
    outside: Literal["edge", "skip"] = "edge",
    name: str | None = None,
) -> Value:
    """An image of another size (ONNX's Resize, PyTorch's interpolate), dim by dim: each
    element is the nearest of x, or an interpolation.

    One of `size`, `scale` and `scales` says how large it is.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64, u8 or bool
        [N, C, ...] with 1 to 3 more dims; floats where mode is not nearest
    size : shape, optional
        the spatial sizes of the result: one for all dims, or one for each
    scale : float > 0, optional
        multiplies every spatial size, instead of `size`; rounded down
    scales : list of float > 0, optional
        the same with a factor for each spatial dim
    mode : {"nearest", "linear", "cubic"}, default 'nearest'
        what an element is made of: the nearest one, or 2 or 4 along each dim
    coordinates : {"half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners"}, default 'half_pixel'
        where element o of the result lies: half_pixel at (o + 0.5) / scale - 0.5;
        pytorch_half_pixel the same, but at 0 where the result has one; asymmetric at o /
        scale; align_corners so that the ends meet
    rounding : {"prefer_floor", "prefer_ceil", "floor", "ceil"}, default 'prefer_floor'
        which element is the nearest; the first two differ at halves
    cubic_a : float, default -0.75
        the slope of the cubic at 1; Pillow's is -0.5
    antialias : bool, default False
        of linear and cubic: a smaller result is made of all elements, by weights that are
        spread as far as it is smaller
    outside : {"edge", "skip"}, default 'edge'
        what has a weight outside of x: edge gives it to the element there; skip leaves it
        out, as PyTorch and Pillow do with `antialias`
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        [N, C, ...] with the new sizes; dtype as x

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = resize([[[1.0, 3.0]]], scale=2, mode="linear")  # = [[[1.0, 1.5, 2.5, 3.0]]]
    """
@overload
def resize(
    x: ArrayLike,
    *,
    size: Dims | None = None,
    scale: float | None = None,
    scales: float | Sequence[float] | None = None,
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
    scales: float | Sequence[float] | None = None,
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
    scales: float | Sequence[float] | None = None,
    mode: Literal["nearest", "linear", "cubic"] = "nearest",
    coordinates: Literal["half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners"] = "half_pixel",
    rounding: Literal["prefer_floor", "prefer_ceil", "floor", "ceil"] = "prefer_floor",
    cubic_a: float = -0.75,
    antialias: bool = False,
    outside: Literal["edge", "skip"] = "edge",
    name: str | None = None,
) -> Value:
    """The gradient of resize: each element of dy, weighted as it was made, is added to those
    that it was made of.

    Parameters
    ----------
    dy : array of f16, bf16, f32 or f64
        the result's gradient: [N, C, ...] with 1 to 3 more dims
    before : shape, required
        the spatial sizes of what was resized
    size : shape, optional
        the spatial sizes of the result: one for all dims, or one for each
    scale : float > 0, optional
        multiplies every spatial size, instead of `size`; rounded down
    scales : list of float > 0, optional
        the same with a factor for each spatial dim
    mode : {"nearest", "linear", "cubic"}, default 'nearest'
        what an element is made of: the nearest one, or 2 or 4 along each dim
    coordinates : {"half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners"}, default 'half_pixel'
        where element o of the result lies: half_pixel at (o + 0.5) / scale - 0.5;
        pytorch_half_pixel the same, but at 0 where the result has one; asymmetric at o /
        scale; align_corners so that the ends meet
    rounding : {"prefer_floor", "prefer_ceil", "floor", "ceil"}, default 'prefer_floor'
        which element is the nearest; the first two differ at halves
    cubic_a : float, default -0.75
        the slope of the cubic at 1; Pillow's is -0.5
    antialias : bool, default False
        of linear and cubic: a smaller result is made of all elements, by weights that are
        spread as far as it is smaller
    outside : {"edge", "skip"}, default 'edge'
        what has a weight outside of x: edge gives it to the element there; skip leaves it
        out, as PyTorch and Pillow do with `antialias`
    name : str, optional
        names the result in a graph

    Returns
    -------
    dx
        [N, C, before...]; dtype as dy

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        dx = resize_grad([[[1.0, 2.0, 3.0, 4.0]]], before=2, scale=2)  # = [[[3.0, 7.0]]]
    """
@overload
def resize_grad(
    dy: ArrayLike,
    *,
    before: Dims,
    size: Dims | None = None,
    scale: float | None = None,
    scales: float | Sequence[float] | None = None,
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
    scales: float | Sequence[float] | None = None,
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
    axes: int | Sequence[int] | None = None,
    *,
    name: str | None = None,
) -> Value:
    """x with its elements moved on along axes; those that leave at the end come in at the
    start.

    Without axes they are moved as if x had one dim.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64, u8 or bool
        elements of any rank
    shifts : shape, required
        for each axis by how many places; a negative one moves back
    axes : list of int, optional
        the axes, each once, negative ones from the end; none: x as one dim
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        type as x

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = roll([1, 2, 3, 4], 1)  # = [4, 1, 2, 3]
    """
@overload
def roll(
    x: ArrayLike,
    shifts: Dims,
    axes: int | Sequence[int] | None = None,
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
    """Marks each row with its position (Su et al., arXiv:2104.09864): pair i of its elements
    is turned by the angle position * base ** (-2 i / width), so that products of rows
    depend on the distance of their positions.

    Parameters
    ----------
    x : array of f16, bf16, f32 or f64
        [..., T, D]
    positions : array of i32 or i64
        of the rows; broadcasts to [..., T]
    base : float > 0, default 10000.0
        how slow the slowest pair is turned
    interleaved : bool, default False
        pairs are neighbours; else element i and the one half a width further on
    width : int >= 0, optional
        how many elements of a row are turned, an even number; none: all
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        type as x

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = rotary_embedding([[1.0, 0.0], [1.0, 2.0]], [0, 0])  # = [[1.0, 0.0], [1.0, 2.0]]
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
    """The nearest integer, the even one of two, as NumPy.

    The gradient is 0.

    Parameters
    ----------
    x : array of f16, bf16, f32 or f64; may be ragged
        any numbers
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        type as x

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = round([0.5, 1.5, -1.25])  # = [0.0, 2.0, -1.0]
    """
@overload
def round(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def round() -> Function: ...

@overload
def rsqrt(x: Value, *, name: str | None = None) -> Value:
    """1 / sqrt(x), element by element: inf at 0, nan below.

    Parameters
    ----------
    x : array of f16, bf16, f32 or f64; may be ragged
        any numbers
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        type as x

    Notes
    -----
    Differentiable. In f32, the largest error is 1.5 units of the last place.

    Examples
    --------
    In the language::

        y = rsqrt([4.0, 16.0])  # = [0.5, 0.25]
    """
@overload
def rsqrt(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def rsqrt() -> Function: ...

@overload
def run_starts(x: Value, *, name: str | None = None) -> Value:
    """1 where a run of equal elements begins, else 0.

    A nan is equal to the nan before it.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64, u8 or bool
        one dim
    name : str, optional
        names the result in a graph

    Returns
    -------
    starts
        i64, dims as x

    Notes
    -----
    Not differentiable.

    Examples
    --------
    In the language::

        starts = run_starts([7, 7, 8, 8, 7])  # = [1, 0, 1, 0, 1]
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
    """A loop over time: the body is run for each step along an axis, with a slice of each
    sequence and with what the step before carried to it.

    Ragged sequences, and those of a padded batch with lengths, end each with its own last
    step: a step works on the rows that still run, and the body's count of rows is a size of
    its own. What stands behind the end of a padded row comes out as zeros. Without steps,
    what is carried comes out as it begins. A body that draws random numbers is refused. The
    gradient is a loop in the other direction, whose steps compute those of the loop again.

    Parameters
    ----------
    xs : array of any dtype; may be ragged at one level; any number of them
        the sequences: of the same size along the axis, which is 1 for ragged ones
    init : array of any dtype; any number of them
        what is carried into the first step: any number of values of any type
    captured : array of any dtype; any number of them
        values from outside that the body takes behind these, the same at each step; what
        the body uses besides is added here
    lengths : array of i64, optional
        the steps of each row of a padded batch, i64[N]
    axis : int, default 1
        the axis of time, which slices do not have
    body : function, required
        what a step does: a function of a slice of each sequence, what is carried, and
        captured values, which returns what is carried to the next step, and then the values
        of the step
    reverse : bool, default False
        from the last step to the first
    name : str, optional
        names the result in a graph

    Returns
    -------
    results
        the values of all steps, stacked, of each that the body gives behind those that it
        carries; then what is carried out of the last step, of the types of init

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        total = scan([1.0, 2.0, 3.0], init=0.0, axis=0, body=add())  # = 6.0
        zero = zeros([2, 4])
        y, last = scan(ones([2, 3, 4]), init=zero, captured=zeros([4, 4]), body=rnn_step())
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
    """x with `updates` put at places along an axis that are given for each line by itself:
    with axis=1, y[i, indices[i, j]] is updates[i, j].

    Where places are equal, updates come one after another in the order of their indices, so
    without a reduction the last one stays. A negative index counts from the end; an update
    at an index outside the axis is left out. Integers wrap around.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64, u8 or bool
        at least one dim
    indices : array of i32 or i64
        places along the axis; rank as x, beside the axis no larger than x
    updates : array of f16, bf16, f32, f64, i8, i32, i64, u8 or bool
        dtype as x; dims as the indices
    axis : int, default -1
        the axis of x, a negative one from the end
    reduction : {"none", "add", "mul", "min", "max"}, default 'none'
        what an update does to the element there: takes its place, is added, multiplied, or
        the smaller or larger one stays (nan wins)
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        type as x

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = scatter([1, 2, 3], [0, 2, 0], [10, 20, 30], reduction="add")  # = [41, 2, 23]
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
    equal: the reverse of gather.

    A negative index counts from the end; an update at an index outside the axis is left
    out. Integers wrap around.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64 or u8
        at least one dim
    indices : array of i32 or i64
        places along the axis
    updates : array of f16, bf16, f32, f64, i8, i32, i64 or u8
        dtype as x; dims as gather(x, indices, axis) has
    axis : int, default 0
        the axis of x, a negative one from the end
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        type as x

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = scatter_add([0.0, 0.0, 0.0], [2, 0, 2], [1.0, 10.0, 100.0])  # = [10.0, 0.0, 101.0]
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
    """x with `updates` put at places that are given along several axes, the reverse of
    gather_nd: y[indices[i, 0], ..., indices[i, K - 1], ...] is updates[i, ...].

    Where places are equal, updates come one after another in the order of their indices, so
    without a reduction the last one stays. Negative indices count from the end; an update
    with one outside its axis is left out. Integers wrap around.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64, u8 or bool
        at least one dim
    indices : array of i32 or i64
        [..., K]: places along the first K axes of x behind `batch_dims`
    updates : array of f16, bf16, f32, f64, i8, i32, i64, u8 or bool
        dtype as x; dims as gather_nd(x, indices) has
    reduction : {"none", "add", "mul", "min", "max"}, default 'none'
        what an update does to the element there: takes its place, is added, multiplied, or
        the smaller or larger one stays (nan wins)
    batch_dims : int >= 0, default 0
        how many of the first axes x and the indices share
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        type as x

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = scatter_nd([[1, 2], [3, 4]], [[0, 1], [1, 0]], [7, 8])  # = [[1, 7], [8, 4]]
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

    `gather(x, segment_ids(offsets, rows))` repeats row i of x for every row of segment i. A
    row behind the last segment counts to that one.

    Parameters
    ----------
    offsets : array of i64
        [N + 1], where each segment begins, and where the last one ends, from 0 on
    dims : shape, required
        how many rows there are in all: one size
    name : str, optional
        names the result in a graph

    Returns
    -------
    places
        [R], i64 below N

    Notes
    -----
    Not differentiable.

    Examples
    --------
    In the language::

        y = segment_ids([0, 2, 2, 5], [5])  # = [0, 0, 2, 2, 2]
    """
@overload
def segment_ids(offsets: ArrayLike, dims: Dims, *, name: str | None = None) -> Tensor: ...
@overload
def segment_ids() -> Function: ...

@overload
def segment_pad(offsets: Value, dims: Dims, size: Dims, *, name: str | None = None) -> Value:
    """The rows of each segment, side by side: row i of the result names the first `size` rows
    of segment i.

    R, the count of all rows, stands for what a shorter one lacks; what a longer one has
    beyond is left out.

    Parameters
    ----------
    offsets : array of i64
        [N + 1], where each segment begins, and where the last one ends, from 0 on
    dims : shape, required
        how many rows there are in all: one size
    size : shape, required
        how many rows of each segment: one size
    name : str, optional
        names the result in a graph

    Returns
    -------
    places
        [N, size], i64 up to R

    Notes
    -----
    Not differentiable.

    Examples
    --------
    In the language::

        y = segment_pad([0, 2, 2, 5], [5], [2])  # = [[0, 1], [5, 5], [2, 3]]
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
    """One row for each segment of rows: their sum, mean, sum divided by the square root of
    their count, largest or smallest elements, the first or the last row.

    nan wins over every number.

    Parameters
    ----------
    x : array of f16, bf16, f32 or f64
        [R, ...], rows
    offsets : array of i64
        [N + 1], where each segment begins, and where the last one ends, from 0 on
    kind : {"sum", "mean", "sqrt", "max", "min", "first", "last"}, default 'sum'
        what of the rows
    empty : float, default 0.0
        each element where a segment has no rows
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        [N, ...]; dtype as x

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = segment_pool([1.0, 2.0, 4.0], [0, 2, 2, 3])  # = [3.0, 0.0, 4.0]
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

    Parameters
    ----------
    offsets : array of i64
        [N + 1], where each segment begins, and where the last one ends, from 0 on
    dims : shape, required
        how many rows there are in all: one size
    name : str, optional
        names the result in a graph

    Returns
    -------
    places
        [R], i64 below R

    Notes
    -----
    Not differentiable.

    Examples
    --------
    In the language::

        y = segment_reverse([0, 2, 2, 5], [5])  # = [1, 0, 4, 3, 2]
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

    Parameters
    ----------
    xs : array of any dtype; any number of them
        the rows of all segments, one after another: [R, ...]
    init : array of any dtype; any number of them
        what is carried into the first step: any number of values of any type
    captured : array of any dtype; any number of them
        values from outside that the body takes behind these, the same at each step; what
        the body uses besides is added here
    offsets : array of i64
        where each segment begins, and where the last one ends: i64[N + 1]
    body : function, required
        what a step does: a function of a slice of each sequence, what is carried, and
        captured values, which returns what is carried to the next step, and then the values
        of the step
    reverse : bool, default False
        from the last step to the first
    name : str, optional
        names the result in a graph

    Returns
    -------
    results
        the values of all steps, stacked, of each that the body gives behind those that it
        carries; then what is carried out of the last step, of the types of init

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        last = segment_scan([1.0, 2.0, 3.0], init=zeros([2]), offsets=[0, 2, 3], body=add())  # = [3.0, 3.0]
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
    """exp(x) divided by its sum over the rows of a segment, for each column by itself.

    Computed so that large numbers do not overflow.

    Parameters
    ----------
    x : array of f16, bf16, f32 or f64
        [R, ...], rows
    offsets : array of i64
        [N + 1], where each segment begins, and where the last one ends, from 0 on
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        type as x

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = segment_softmax([0.0, 0.0, 7.0], [0, 2, 3])  # = [0.5, 0.5, 1.0]
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
    """For each row the rows around it: `size` of them, the first one `start` rows away.

    R, the count of all rows, stands for what lies outside its segment.

    Parameters
    ----------
    offsets : array of i64
        [N + 1], where each segment begins, and where the last one ends, from 0 on
    dims : shape, required
        how many rows there are in all: one size
    size : int >= 1, <= 1048576, default 3
        rows in a window
    start : int >= -1073741824, <= 1073741824, default -1
        from the row to the first of its window
    name : str, optional
        names the result in a graph

    Returns
    -------
    places
        [R, size], i64 up to R

    Notes
    -----
    Not differentiable.

    Examples
    --------
    In the language::

        y = segment_window([0, 3, 4], [4])  # = [[4, 0, 1], [0, 1, 2], [1, 2, 4], [4, 3, 4]]
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
    """1.0507 * x where x is positive, else 1.7581 * (exp(x) - 1), element by element
    (Klambauer et al., arXiv:1706.02515, which gives the factors to more digits).

    Parameters
    ----------
    x : array of f16, bf16, f32 or f64; may be ragged
        any numbers
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        type as x

    Notes
    -----
    Differentiable. In f32, the largest error is 0.51 units of the last place.

    Examples
    --------
    In the language::

        y = selu([1.0, -1.0])  # = [1.050701, -1.1113307]
    """
@overload
def selu(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def selu() -> Function: ...

@overload
def sequence_at(x: Value, at: Dims, *, name: str | None = None) -> Value:
    """One of the sequences as a dense tensor: `x[n]` of a ragged x is sequence_at(x, [n]).

    How many rows it has only the data decide.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64, u8 or bool; may be ragged at one level
        [N, ~T, ...]
    at : shape, required
        which one, from 0: one size
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        [rows, ...]; dtype as x

    Notes
    -----
    Not differentiable.

    Examples
    --------
    In the language::

        input x: f32[N, ~T, 8]
        output y = sequence_at(x, [0])
    """
@overload
def sequence_at(x: ArrayLike, at: Dims, *, name: str | None = None) -> Tensor: ...
@overload
def sequence_at() -> Function: ...

@overload
def sequence_concat(xs_0: Value, /, *xs: Operand, name: str | None = None) -> Value:
    """Sequences one behind the other: each is made of the rows of those at its place, in the
    order of the operands.

    Of sequences of sequences the inner ones are taken.

    Parameters
    ----------
    xs : array of f16, bf16, f32, f64, i8, i32, i64, u8 or bool; may be ragged; any number of them
        [N, ~T, ...] each, or [N, ~S, ~T, ...] with the same ~S; one dtype
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        [N, ~rows, ...] or [N, ~S, ~rows, ...]; dtype as xs

    Notes
    -----
    Not differentiable.

    Examples
    --------
    In the language::

        input a: f32[N, ~A, 8]
        input b: f32[N, ~B, 8]
        output y = sequence_concat(a, b)
    """
@overload
def sequence_concat(xs_0: ArrayLike, /, *xs: ArrayLike, name: str | None = None) -> Tensor: ...
@overload
def sequence_concat() -> Function: ...

@overload
def sequence_expand(x: Value, like: Operand, *, name: str | None = None) -> Value:
    """Each row of x as often as the sequence of `like` at its place has rows.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64, u8 or bool; may be ragged at one level
        [N, ...], or [N, ~S, ...] where `like` has two ragged dims
    like : array of f16, bf16, f32, f64, i8, i32, i64, u8 or bool; may be ragged
        [N, ~T, ...] or [N, ~S, ~T, ...]
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        [N, ~T, ...] or [N, ~S, ~T, ...]; dtype as x

    Notes
    -----
    Not differentiable.

    Examples
    --------
    In the language::

        input x: f32[N, ~T, 8]
        output y = sequence_expand(sequence_pool(x), x)
    """
@overload
def sequence_expand(x: ArrayLike, like: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def sequence_expand() -> Function: ...

@overload
def sequence_length(x: Value, *, name: str | None = None) -> Value:
    """How many rows each sequence has; of sequences of sequences the inner ones.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64, u8 or bool; may be ragged
        [N, ~T, ...] or [N, ~S, ~T, ...]
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        i64[N] or i64[N, ~S]

    Notes
    -----
    Not differentiable.

    Examples
    --------
    In the language::

        input x: f32[N, ~T]
        output y = sequence_length(x)
    """
@overload
def sequence_length(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def sequence_length() -> Function: ...

@overload
def sequence_pad(x: Value, size: Dims, *, value: float = 0.0, name: str | None = None) -> Value:
    """Sequences as a dense tensor: each with `size` rows, filled up at its end, or cut off
    there.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64, u8 or bool; may be ragged at one level
        [N, ~T, ...]
    size : shape, required
        rows of each sequence: one size
    value : float, default 0.0
        what is filled up with
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        [N, size, ...]; dtype as x

    Notes
    -----
    Not differentiable.

    Examples
    --------
    In the language::

        input x: f32[N, ~T, 8]
        output y = sequence_pad(x, [10])
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
    """One row for each sequence: the sum of its rows, their mean, their sum divided by the
    square root of their count, their largest or smallest elements, the first or the last of
    them.

    Of sequences of sequences the inner ones are taken.

    Parameters
    ----------
    x : array of f16, bf16, f32 or f64; may be ragged
        [N, ~T, ...] or [N, ~S, ~T, ...]
    kind : {"sum", "mean", "sqrt", "max", "min", "first", "last"}, default 'sum'
        what of the rows
    empty : float, default 0.0
        each element for a sequence without rows
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        [N, ...] or [N, ~S, ...]; dtype as x

    Notes
    -----
    Not differentiable.

    Examples
    --------
    In the language::

        input x: f32[N, ~T, 8]
        output y = sequence_pool(x, kind="mean")
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
    """Each sequence turned round: its last row comes first.

    Of a padded batch the steps of each row, and with lengths the first ones of them; what
    stands behind the end stays there.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64, u8 or bool; may be ragged
        [N, ~T, ...], [N, ~S, ~T, ...] or [N, T, ...]
    lengths : array of i64, optional
        the steps of each row of a padded batch, i64[N]
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        type as x

    Notes
    -----
    Not differentiable.

    Examples
    --------
    In the language::

        input x: f32[N, ~T, 8]
        output y = sequence_reverse(x)
        y = sequence_reverse([[1, 2, 3], [4, 5, 0]], lengths=[3, 2])
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
    """Some rows of each sequence: `lengths` of them from the row `starts` on, as far as there
    are so many.

    Of sequences of sequences the inner ones are taken. How many rows that makes only the
    data decide, so a network runs in two parts, with the count between them.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64, u8 or bool; may be ragged
        [N, ~T, ...] or [N, ~S, ~T, ...]
    starts : array of i32 or i64; may be ragged at one level
        the first row of each, below 0 from the end: one number, or [N], or [N, ~S]; no
        gradient
    lengths : array of i32 or i64; may be ragged at one level, optional
        how many rows of each: in the same way; left out: all that follow
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        [N, ~rows, ...] or [N, ~S, ~rows, ...]; dtype as x

    Notes
    -----
    Not differentiable.

    Examples
    --------
    In the language::

        input x: f32[N, ~T, 8]
        output y = sequence_slice(x, 1, 2)
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

    Parameters
    ----------
    x : array of f16, bf16, f32 or f64; may be ragged
        [N, ~T, ...] or [N, ~S, ~T, ...]
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        type as x

    Notes
    -----
    Not differentiable.

    Examples
    --------
    In the language::

        input x: f32[N, ~T]
        output y = sequence_softmax(x)
    """
@overload
def sequence_softmax(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def sequence_softmax() -> Function: ...

@overload
def sequence_unpad(x: Value, lengths: Operand, *, name: str | None = None) -> Value:
    """The first steps of each row of a padded batch as a sequence: what `sequence_pad` filled
    up is left out again.

    A length beyond the steps is all of them, a negative one none.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64, u8 or bool
        [N, T, ...]
    lengths : array of i64
        steps of each row, i64[N]
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        [N, ~T, ...]; dtype as x

    Notes
    -----
    Not differentiable.

    Examples
    --------
    In the language::

        y = sequence_unpad([[1, 2, 3], [4, 0, 0]], [3, 1])
    """
@overload
def sequence_unpad(x: ArrayLike, lengths: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def sequence_unpad() -> Function: ...

@overload
def sequence_window(x: Value, *, size: int = 3, start: int = -1, name: str | None = None) -> Value:
    """Beside each row the rows around it in its sequence, with zeros outside: a product with a
    matrix [size * D, M] makes a convolution over sequences of it.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64, u8 or bool; may be ragged
        [N, ~T, D] or [N, ~S, ~T, D]
    size : int >= 1, <= 1048576, default 3
        rows in a window
    start : int >= -1073741824, <= 1073741824, default -1
        from the row to the first of its window
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        [N, ~T, size * D]; dtype as x

    Notes
    -----
    Not differentiable.

    Examples
    --------
    In the language::

        input x: f32[N, ~T, 8]
        output y = sequence_window(x, size=2)
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
    negative.

    Broadcasts as NumPy does, over sizes that are literally 1.

    Parameters
    ----------
    x : array of i8, i32, i64 or u8; may be ragged
        left operand
    y : array of i8, i32, i64 or u8; may be ragged
        how many places; dtype as x
    name : str, optional
        names the result in a graph

    Returns
    -------
    z
        dtype as x, the dims of both broadcast

    Notes
    -----
    Not differentiable.

    Examples
    --------
    In the language::

        y = shift_left([1, 5], [4, 1])  # = [16, 10]
    """
@overload
def shift_left(x: ArrayLike, y: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def shift_left() -> Function: ...

@overload
def shift_right(x: Value, y: Operand, *, name: str | None = None) -> Value:
    """x with its bits moved down by y places, and copies of the sign in their place, as NumPy:
    x // 2**y.

    Where y is as many as it has bits, or negative, 0, or -1 if x is negative. Broadcasts as
    NumPy does, over sizes that are literally 1.

    Parameters
    ----------
    x : array of i8, i32, i64 or u8; may be ragged
        left operand
    y : array of i8, i32, i64 or u8; may be ragged
        how many places; dtype as x
    name : str, optional
        names the result in a graph

    Returns
    -------
    z
        dtype as x, the dims of both broadcast

    Notes
    -----
    Not differentiable.

    Examples
    --------
    In the language::

        y = shift_right([16, -5], [3, 1])  # = [2, -3]
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
    """x brought nearer to 0 by `bias` where it is farther from 0 than `threshold`, else 0,
    element by element; nan stays.

    Soft shrinking is with equal ones, hard shrinking without bias.

    Parameters
    ----------
    x : array of f16, bf16, f32 or f64; may be ragged
        any numbers
    threshold : float >= 0, default 0.5
        the largest absolute value that gives 0
    bias : float, default 0.0
        what is taken off the absolute value
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        type as x

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = shrink([-2.0, 0.25, 1.0], threshold=0.5, bias=0.5)  # = [-1.5, 0.0, 0.5]
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

    The gradient is computed from the result, as in PyTorch, so it is 0 where that rounds to
    1.

    Parameters
    ----------
    x : array of f16, bf16, f32 or f64; may be ragged
        any numbers
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        in [0, 1]; type as x

    Notes
    -----
    Differentiable. In f32, the largest error is 1.51 units of the last place.

    Examples
    --------
    In the language::

        y = sigmoid([0.0, 2.0])  # = [0.5, 0.880797]
    """
@overload
def sigmoid(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def sigmoid() -> Function: ...

@overload
def sign(x: Value, *, name: str | None = None) -> Value:
    """-1 below 0, 0 at 0, 1 above, element by element; nan stays.

    The gradient is 0.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64 or u8; may be ragged
        any numbers
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        type as x

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = sign([-2.5, 0.0, 3.0])  # = [-1.0, 0.0, 1.0]
    """
@overload
def sign(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def sign() -> Function: ...

@overload
def silu(x: Value, *, name: str | None = None) -> Value:
    """x * sigmoid(x), also called swish, element by element.

    Parameters
    ----------
    x : array of f16, bf16, f32 or f64; may be ragged
        any numbers
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        type as x

    Notes
    -----
    Differentiable. In f32, the largest error is 1.73 units of the last place.

    Examples
    --------
    In the language::

        y = silu([-1.0, 2.0])  # = [-0.268941, 1.761594]
    """
@overload
def silu(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def silu() -> Function: ...

@overload
def sin(x: Value, *, scale: float = 1.0, name: str | None = None) -> Value:
    """scale * sin(x), element by element.

    Parameters
    ----------
    x : array of f16, bf16, f32 or f64; may be ragged
        angles in radians
    scale : float > 0, default 1.0
        the largest result
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        in [-scale, scale]; type as x

    Notes
    -----
    Differentiable. In f32, the largest error is 1.6 units of the last place.

    Examples
    --------
    In the language::

        y = sin([0.0, 1.0])  # = [0.0, 0.841471]
    """
@overload
def sin(x: ArrayLike, *, scale: float = 1.0, name: str | None = None) -> Tensor: ...
@overload
def sin(*, scale: float = 1.0) -> Function: ...

@overload
def sinh(x: Value, *, name: str | None = None) -> Value:
    """The hyperbolic sine, (exp(x) - exp(-x)) / 2, element by element.

    Parameters
    ----------
    x : array of f16, bf16, f32 or f64; may be ragged
        any numbers
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        type as x

    Notes
    -----
    Differentiable. In f32, the largest error is 0.51 units of the last place.

    Examples
    --------
    In the language::

        y = sinh([0.0, 1.0])  # = [0.0, 1.1752012]
    """
@overload
def sinh(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def sinh() -> Function: ...

@overload
def size(dims: Dims, *, dtype: DType = "i64", name: str | None = None) -> Any:
    """The product of sizes as a number: what a symbol stands for among tensors.

    With ragged dims it is the count of the elements that exist.

    Parameters
    ----------
    dims : shape, required
        the sizes
    dtype : dtype, default 'i64'
        of the result
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        a scalar of `dtype`

    Notes
    -----
    Not differentiable.

    Examples
    --------
    In the language::

        n = size([2, 3, 4])  # = 24
    """
@overload
def size(*, dtype: DType = "i64") -> Function: ...

@overload
def slice(
    x: Value,
    *,
    axes: int | Sequence[int],
    starts: Dims,
    stops: Dims,
    steps: int | Sequence[int] | None = None,
    name: str | None = None,
) -> Value:
    """A part of x along some axes, as x[0:10, 2:] takes it.

    A bound outside its axis is a mistake, never clamped.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64, u8 or bool; may be ragged
        elements of any rank
    axes : list of int, required
        the axes of x of which not all is taken, each once; they lie behind ragged dims
    starts : shape, required
        for each of them the first index taken; a negative number counts from the end
    stops : shape, required
        for each of them the first index not taken; a negative number as in `starts`
    steps : list of int >= 1, optional
        for each of them the distance of indices; none: 1
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        dtype as x

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = slice([10, 20, 30, 40], axes=[0], starts=[1], stops=[3])  # = [20, 30]
    """
@overload
def slice(
    x: ArrayLike,
    *,
    axes: int | Sequence[int],
    starts: Dims,
    stops: Dims,
    steps: int | Sequence[int] | None = None,
    name: str | None = None,
) -> Tensor: ...
@overload
def slice(
    *,
    axes: int | Sequence[int],
    starts: Dims,
    stops: Dims,
    steps: int | Sequence[int] | None = None,
) -> Function: ...

@overload
def softmax(x: Value, *, axis: int = -1, name: str | None = None) -> Value:
    """exp(x) / sum(exp(x)) along an axis, without overflow for large x: positive numbers that
    add up to 1.

    Parameters
    ----------
    x : array of f16, bf16, f32 or f64; may be ragged
        at least one dim
    axis : int, default -1
        the axis, a negative one from the end
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        in [0, 1]; type as x

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = softmax([0.0, 0.0, 0.0, 0.0])  # = [0.25, 0.25, 0.25, 0.25]
    """
@overload
def softmax(x: ArrayLike, *, axis: int = -1, name: str | None = None) -> Tensor: ...
@overload
def softmax(*, axis: int = -1) -> Function: ...

@overload
def softplus(x: Value, *, name: str | None = None) -> Value:
    """log(1 + exp(x)), element by element, without overflow for large x.

    Parameters
    ----------
    x : array of f16, bf16, f32 or f64; may be ragged
        any numbers
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        type as x

    Notes
    -----
    Differentiable. In f32, the largest error is 1.5 units of the last place.

    Examples
    --------
    In the language::

        y = softplus([0.0, 100.0])  # = [0.693147, 100.0]
    """
@overload
def softplus(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def softplus() -> Function: ...

@overload
def softsign(x: Value, *, name: str | None = None) -> Value:
    """x / (1 + abs(x)), element by element; 1 or -1 where x is infinite.

    Parameters
    ----------
    x : array of f16, bf16, f32 or f64; may be ragged
        any numbers
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        type as x

    Notes
    -----
    Differentiable. In f32, the largest error is 1.5 units of the last place.

    Examples
    --------
    In the language::

        y = softsign([-3.0, 1.0])  # = [-0.75, 0.5]
    """
@overload
def softsign(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def softsign() -> Function: ...

@overload
def sort(x: Value, *, axis: int = -1, descending: bool = False, name: str | None = None) -> Results:
    """The elements of each line along an axis in order.

    Equal elements stay in their order. nan counts as larger than every number, so it comes
    last, and first where the order is descending.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64, u8 or bool
        at least one dim
    axis : int, default -1
        the axis, a negative one from the end
    descending : bool, default False
        the largest first
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        type as x
    indices
        i64, dims as x: where each element of y stands in x

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = sort([3, 1, 2])  # = [1, 2, 3]
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
    """Takes blocks of an image apart into channels: with block=2, [2*H, 2*W] becomes four
    channels of [H, W].

    The reverse of depth_to_space.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64, u8 or bool
        [N, C, ...] with 1 to 3 more dims, each a multiple of `block`
    block : int >= 1, required
        the size of a block along each spatial dim
    mode : {"dcr", "crd"}, default 'dcr'
        which of the channels is the outer count: "dcr" the place in the block, "crd" the
        channel with blocks (PyTorch's pixel_shuffle)
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        [N, C * places, ...], each spatial size divided by `block`; dtype as x

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = space_to_depth([[[1.0, 2.0]]], 2)  # = [[[1.0], [2.0]]]
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
    """A tensor cut into parts along an axis: `parts` equal ones, or parts of these sizes.

    `q, k, v = split(x, parts=3)`.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64, u8 or bool; may be ragged
        at least one dim
    parts : int >= 1, <= 65536, optional
        how many equal parts
    sizes : shape, optional
        the size of each part along the axis
    axis : int, default 0
        the axis, a negative one from the end
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        each part; dtype as x

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        a, b = split([1, 2, 3, 4], parts=2)
        a, b = split([1, 2, 3, 4], sizes=[1, 3])
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

    Parameters
    ----------
    x : array of f16, bf16, f32 or f64; may be ragged
        numbers from 0 on
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        type as x

    Notes
    -----
    Differentiable. In f32, the largest error is 0.5 units of the last place.

    Examples
    --------
    In the language::

        y = sqrt([4.0, 2.25])  # = [2.0, 1.5]
    """
@overload
def sqrt(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def sqrt() -> Function: ...

@overload
def square(x: Value, *, name: str | None = None) -> Value:
    """x * x, element by element.

    Integers wrap around.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64 or u8; may be ragged
        any numbers
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        type as x

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = square([3.0, -0.5])  # = [9.0, 0.25]
    """
@overload
def square(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def square() -> Function: ...

@overload
def squeeze(x: Value, axes: int | Sequence[int] | None = None, *, name: str | None = None) -> Value:
    """x without axes of size 1.

    Without `axes` all that are literally 1 go; a symbol never does.

    Parameters
    ----------
    x : array of any dtype; may be ragged
        elements of any rank
    axes : list of int, optional
        the axes to drop, each once, negative ones from the end
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        the other dims; dtype as x

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = squeeze([[1, 2]])  # = [1, 2]
    """
@overload
def squeeze(
    x: ArrayLike,
    axes: int | Sequence[int] | None = None,
    *,
    name: str | None = None,
) -> Tensor: ...
@overload
def squeeze() -> Function: ...

@overload
def stack(x_0: Value, /, *x: Operand, axis: int = 0, name: str | None = None) -> Value:
    """Tensors of one type one after another along a new axis.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64, u8 or bool; any number of them
        one or more, of one dtype and the same sizes
    axis : int, default 0
        where it stands in the result, a negative one from its end
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        dtype as x; the count of tensors is the size of the new axis

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = stack([1, 2], [3, 4], axis=1)  # = [[1, 3], [2, 4]]
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

    Parameters
    ----------
    x : array of f16, bf16, f32 or f64; may be ragged
        at least one dim
    gamma : array of f16, bf16, f32 or f64, optional
        the dims of x from the axis on, or one number for all; left out: 1
    beta : array of f16, bf16, f32 or f64, optional
        the dims of x from the axis on; left out: 0
    axis : int, default -1
        the first of the axes that are taken together, a negative one from the end
    eps : float >= 0, default 1e-05
        added to the variance
    center : bool, default True
        false: the mean is taken for 0, in the variance too
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        type as x

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = standardize([[1.0, 3.0], [0.0, 20.0]], eps=0.0)  # = [[-1.0, 1.0], [-1.0, 1.0]]
        y = standardize([3.0, -3.0], [1.0, 2.0], center=false, eps=0.0)  # = [1.0, -2.0]
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
    axes: int | Sequence[int] | None = None,
    keep: bool = False,
    ddof: int = 0,
    name: str | None = None,
) -> Value:
    """The standard deviation over axes, the square root of the variance; nan where there is
    nothing.

    The gradient where all elements are equal is 0.

    Parameters
    ----------
    x : array of f16, bf16, f32 or f64; may be ragged
        elements of any rank; the ragged dims and the one before them are reduced together
        only
    axes : list of int, optional
        axes to go over, negative ones from the end; none: all
    keep : bool, default False
        keep each of these axes, with size 1
    ddof : int >= 0, default 0
        what is taken off the count that the sum of squares is divided by, as NumPy: 1
        estimates the variance of what x is a sample of
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        from 0 on; dtype as x; the dims of x without the axes

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = std([1.0, 3.0, 5.0, 7.0], ddof=1)  # = 2.5819888
    """
@overload
def std(
    x: ArrayLike,
    *,
    axes: int | Sequence[int] | None = None,
    keep: bool = False,
    ddof: int = 0,
    name: str | None = None,
) -> Tensor: ...
@overload
def std(*, axes: int | Sequence[int] | None = None, keep: bool = False, ddof: int = 0) -> Function: ...

@overload
def stop_gradient(x: Value, *, name: str | None = None) -> Value:
    """x itself, which counts as a constant wherever a gradient is taken.

    Costs nothing.

    Parameters
    ----------
    x : array of any dtype; may be ragged
        anything
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        x; type as x

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = stop_gradient([1.0, 2.0])  # = [1.0, 2.0]
    """
@overload
def stop_gradient(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def stop_gradient() -> Function: ...

@overload
def sub(x: Value, y: Operand, *, name: str | None = None) -> Value:
    """x - y.

    Integers wrap around. Broadcasts as NumPy does, over sizes that are literally 1.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64 or u8; may be ragged
        left operand
    y : array of f16, bf16, f32, f64, i8, i32, i64 or u8; may be ragged
        right operand; dtype as x
    name : str, optional
        names the result in a graph

    Returns
    -------
    z
        dtype as x, the dims of both broadcast

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        z = sub([5, 7], 2)  # = [3, 5]
    """
@overload
def sub(x: ArrayLike, y: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def sub() -> Function: ...

@overload
def sum(
    x: Value,
    *,
    axes: int | Sequence[int] | None = None,
    keep: bool = False,
    name: str | None = None,
) -> Value:
    """The sum over axes; 0 where there is nothing to add.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64, u8 or bool; may be ragged
        elements of any rank; the ragged dims and the one before them are reduced together
        only
    axes : list of int, optional
        axes to go over, negative ones from the end; none: all
    keep : bool, default False
        keep each of these axes, with size 1
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        dtype as x, i64 for integers and truth values; the dims of x without the axes

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = sum([[1.0, 2.0], [3.0, 4.0]], axes=[1])  # = [3.0, 7.0]
    """
@overload
def sum(
    x: ArrayLike,
    *,
    axes: int | Sequence[int] | None = None,
    keep: bool = False,
    name: str | None = None,
) -> Tensor: ...
@overload
def sum(*, axes: int | Sequence[int] | None = None, keep: bool = False) -> Function: ...

@overload
def take_along_axis(
    x: Value,
    indices: Operand,
    *,
    axis: int = -1,
    name: str | None = None,
) -> Value:
    """The elements of x at places along an axis that are given for each line by itself, as
    NumPy's take_along_axis: with axis=1, y[i, j] is x[i, indices[i, j]].

    A negative index counts from the end; at one outside the axis the result is nan, or 0
    for integers and truth values.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64, u8 or bool
        at least one dim
    indices : array of i32 or i64
        places along the axis; rank as x, beside the axis the sizes broadcast
    axis : int, default -1
        the axis of x, a negative one from the end
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        dtype as x; along the axis the size of the indices

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = take_along_axis([[1, 2, 3], [4, 5, 6]], [[0, -1], [1, 1]])  # = [[1, 3], [5, 5]]
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

    Parameters
    ----------
    x : array of f16, bf16, f32 or f64; may be ragged
        angles in radians
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        type as x

    Notes
    -----
    Differentiable. In f32, the largest error is 0.51 units of the last place.

    Examples
    --------
    In the language::

        y = tan([0.0, 1.0])  # = [0.0, 1.5574077]
    """
@overload
def tan(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def tan() -> Function: ...

@overload
def tanh(x: Value, *, name: str | None = None) -> Value:
    """The hyperbolic tangent, element by element.

    The gradient is computed from the result, as in PyTorch, so it is 0 where that rounds to
    1 or -1.

    Parameters
    ----------
    x : array of f16, bf16, f32 or f64; may be ragged
        any numbers
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        in [-1, 1]; type as x

    Notes
    -----
    Differentiable. In f32, the largest error is 1.4 units of the last place.

    Examples
    --------
    In the language::

        y = tanh([0.0, 1.0])  # = [0.0, 0.761594]
    """
@overload
def tanh(x: ArrayLike, *, name: str | None = None) -> Tensor: ...
@overload
def tanh() -> Function: ...

@overload
def thresholded_relu(x: Value, *, alpha: float = 1.0, name: str | None = None) -> Value:
    """x where it is larger than alpha, else 0, element by element; nan stays.

    Parameters
    ----------
    x : array of f16, bf16, f32 or f64; may be ragged
        any numbers
    alpha : float, default 1.0
        the largest x that gives 0
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        type as x

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = thresholded_relu([0.5, 1.0, 1.5])  # = [0.0, 0.0, 1.5]
    """
@overload
def thresholded_relu(x: ArrayLike, *, alpha: float = 1.0, name: str | None = None) -> Tensor: ...
@overload
def thresholded_relu(*, alpha: float = 1.0) -> Function: ...

@overload
def tile(x: Value, repeats: Dims, *, name: str | None = None) -> Value:
    """x side by side with itself, so many times along each axis.

    Repeats and dims are matched from the last on; where there are fewer of the one, ones
    stand in front.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64, u8 or bool
        elements of any rank
    repeats : shape, required
        for each of the last axes how many times
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        dtype as x; sizes multiplied

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = tile([1, 2], [2, 2])  # = [[1, 2, 1, 2], [1, 2, 1, 2]]
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
    """The k largest or smallest elements of each line along an axis, in order, and their
    places.

    Of equal elements the one that stands first comes first. nan counts as larger than every
    number.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64, u8 or bool
        at least one dim
    k : shape, required
        how many; at most the size of the axis
    axis : int, default -1
        the axis, a negative one from the end
    largest : bool, default True
        the largest, and from the largest on; else the smallest
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        dtype as x; along the axis of size k
    indices
        i64, dims as y: where each element of y stands in x

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = topk([3, 1, 4, 2], 2)  # = [4, 3]
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
    """Whether the network runs for training.

    It is known when a run is planned, so that `plan_select` may ask for it.

    Parameters
    ----------
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        bool[]

    Notes
    -----
    Not differentiable.

    Examples
    --------
    In the language::

        rate = plan_select(training(), 0.5, 0.0)  # = 0.0
    """

@overload
def transpose(
    x: Value,
    perm: int | Sequence[int] | None = None,
    *,
    name: str | None = None,
) -> Value:
    """The same elements with the axes in another order.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64, u8 or bool
        elements of any rank
    perm : list of int, optional
        each axis of x once, negative ones from the end; none: the last two exchanged
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        axis i is axis perm[i] of x; dtype as x

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = transpose([[1, 2, 3], [4, 5, 6]])  # = [[1, 4], [2, 5], [3, 6]]
    """
@overload
def transpose(
    x: ArrayLike,
    perm: int | Sequence[int] | None = None,
    *,
    name: str | None = None,
) -> Tensor: ...
@overload
def transpose() -> Function: ...

@overload
def tril(x: Value, k: int = 0, *, name: str | None = None) -> Value:
    """The lower triangle of matrices: the elements on a diagonal and on the side below it, and
    0 elsewhere.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64, u8 or bool
        [..., N, M]
    k : int, default 0
        the diagonal: 0 the main one, 1 the one above it, -1 below
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        type as x

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = tril([[1, 2], [3, 4]])  # = [[1, 0], [3, 4]]
    """
@overload
def tril(x: ArrayLike, k: int = 0, *, name: str | None = None) -> Tensor: ...
@overload
def tril() -> Function: ...

@overload
def triu(x: Value, k: int = 0, *, name: str | None = None) -> Value:
    """The upper triangle of matrices: the elements on a diagonal and on the side above it, and
    0 elsewhere.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64, u8 or bool
        [..., N, M]
    k : int, default 0
        the diagonal: 0 the main one, 1 the one above it, -1 below
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        type as x

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = triu([[1, 2], [3, 4]])  # = [[1, 2], [0, 4]]
    """
@overload
def triu(x: ArrayLike, k: int = 0, *, name: str | None = None) -> Tensor: ...
@overload
def triu() -> Function: ...

@overload
def trunc(x: Value, *, name: str | None = None) -> Value:
    """The nearest integer towards 0.

    The gradient is 0.

    Parameters
    ----------
    x : array of f16, bf16, f32 or f64; may be ragged
        any numbers
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        type as x

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = trunc([1.75, -1.75])  # = [1.0, -1.0]
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
    """Random numbers of a normal distribution of which only a piece around the mean is left.

    They depend on the seed, the count of runs and the name of the result alone.

    Parameters
    ----------
    dims : shape, required
        the sizes
    mean : float, default 0.0
        the mean of the whole distribution
    std : float >= 0, default 1.0
        its standard deviation
    low : float, default -2.0
        the smallest number, in standard deviations from the mean
    high : float, default 2.0
        the largest number, in standard deviations from the mean
    dtype : dtype, default 'f32'
        of the elements
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        `dims` elements of `dtype`

    Notes
    -----
    Random: drawn anew in each run. Not differentiable.

    Examples
    --------
    In the language::

        w = truncated_normal([16, 4], std=0.02)
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

    Parameters
    ----------
    dims : shape, required
        the sizes
    low : float, default 0.0
        the smallest number
    high : float, default 1.0
        above all numbers; where it is equal to `low`, they all are that
    dtype : dtype, default 'f32'
        of the elements
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        `dims` elements of `dtype`

    Notes
    -----
    Random: drawn anew in each run. Not differentiable.

    Examples
    --------
    In the language::

        x = uniform([2, 3], low=-1.0, high=1.0)
    """
@overload
def uniform(*, low: float = 0.0, high: float = 1.0, dtype: DType = "f32") -> Function: ...

@overload
def unique(x: Value, *, sorted: bool = True, name: str | None = None) -> Results:
    """The different elements of x, from the smallest on; all nan are one, the last.

    With them, which of them each element of x is, how often each occurs, and where first.
    How many there are only the data decide.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64, u8 or bool
        elements of any rank
    sorted : bool, default True
        from the smallest on; else in the order of their first elements
    name : str, optional
        names the result in a graph

    Returns
    -------
    values
        [count]; dtype as x
    inverse
        i64[elements of x]: gather(values, inverse) are the elements of x
    counts
        i64[count]
    first
        i64[count]: the place of the first of each among the elements of x

    Notes
    -----
    Not differentiable.

    Examples
    --------
    In the language::

        values, inverse, counts, first = unique([3, 1, 3])
    """
@overload
def unique(x: ArrayLike, *, sorted: bool = True, name: str | None = None) -> Results: ...
@overload
def unique(*, sorted: bool = True) -> Function: ...

@overload
def unsqueeze(x: Value, axes: int | Sequence[int], *, name: str | None = None) -> Value:
    """x with further axes of size 1.

    Parameters
    ----------
    x : array of any dtype; may be ragged
        elements of any rank
    axes : list of int, required
        where they stand in the result, each once, negative ones from its end
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        dtype as x

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = unsqueeze([1, 2], [-1])  # = [[1], [2]]
    """
@overload
def unsqueeze(x: ArrayLike, axes: int | Sequence[int], *, name: str | None = None) -> Tensor: ...
@overload
def unsqueeze() -> Function: ...

@overload
def variance(
    x: Value,
    *,
    axes: int | Sequence[int] | None = None,
    keep: bool = False,
    ddof: int = 0,
    name: str | None = None,
) -> Value:
    """The variance over axes: the mean of squared distances from the mean; nan where there is
    nothing.

    Parameters
    ----------
    x : array of f16, bf16, f32 or f64; may be ragged
        elements of any rank; the ragged dims and the one before them are reduced together
        only
    axes : list of int, optional
        axes to go over, negative ones from the end; none: all
    keep : bool, default False
        keep each of these axes, with size 1
    ddof : int >= 0, default 0
        what is taken off the count that the sum of squares is divided by, as NumPy: 1
        estimates the variance of what x is a sample of
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        from 0 on; dtype as x; the dims of x without the axes

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = variance([1.0, 2.0, 3.0, 4.0], ddof=1)  # = 1.6666666
    """
@overload
def variance(
    x: ArrayLike,
    *,
    axes: int | Sequence[int] | None = None,
    keep: bool = False,
    ddof: int = 0,
    name: str | None = None,
) -> Tensor: ...
@overload
def variance(
    *,
    axes: int | Sequence[int] | None = None,
    keep: bool = False,
    ddof: int = 0,
) -> Function: ...

@overload
def where(condition: Value, x: Operand, y: Operand, *, name: str | None = None) -> Value:
    """x where the condition is true, y elsewhere.

    Broadcasts as NumPy does, over sizes that are literally 1.

    Parameters
    ----------
    condition : array of bool; may be ragged
        truth values
    x : array of f16, bf16, f32, f64, i8, i32, i64, u8 or bool; may be ragged
        chosen where it is true
    y : array of f16, bf16, f32, f64, i8, i32, i64, u8 or bool; may be ragged
        chosen where it is false; dtype as x
    name : str, optional
        names the result in a graph

    Returns
    -------
    z
        dtype as x, the dims of all broadcast

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        z = where([true, false, true], [1.0, 2.0, 3.0], 0.0)  # = [1.0, 0.0, 3.0]
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
    """x with a part of it replaced, from a position on that is known when it runs: along the
    axis, y[at : at + T] is the value, of T places.

    A negative position counts from the end; what would lie outside the axis is left out.
    Where nobody else needs x, nothing of it is copied.

    Parameters
    ----------
    x : array of f16, bf16, f32, f64, i8, i32, i64, u8 or bool
        at least one dim
    value : array of f16, bf16, f32, f64, i8, i32, i64, u8 or bool
        dtype and rank as x; as large, but along the axis
    at : array of i32 or i64
        the first place that is written, a scalar
    axis : int, default 0
        the axis, a negative one from the end
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        type as x

    Notes
    -----
    Differentiable.

    Examples
    --------
    In the language::

        y = write([0, 0, 0, 0], [1, 2], at=1)  # = [0, 1, 2, 0]
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
    """First values of a weight (Glorot and Bengio 2010): normal with the standard deviation
    gain * sqrt(2 / (fan_in + fan_out)).

    They depend on the seed, the count of runs and the name of the result alone.

    Parameters
    ----------
    dims : shape, required
        the sizes
    gain : float >= 0, default 1.0
        a factor for all numbers
    layout : {"auto", "in_out", "out_in"}, default 'auto'
        where the counts of inputs and outputs are: the last two dims (those before are a
        stack of weights), or as a convolution has them, output first, other dims its
        window; auto: "in_out" up to two dims, "out_in" beyond
    dtype : dtype, default 'f32'
        of the elements
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        `dims` elements of `dtype`

    Notes
    -----
    Random: drawn anew in each run. Not differentiable.

    Examples
    --------
    In the language::

        w = xavier_normal([784, 128])
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
    """First values of a weight (Glorot and Bengio 2010): uniform in [-a, a) with a = gain *
    sqrt(6 / (fan_in + fan_out)). They depend on the seed, the count of runs and the name of
    the result alone.

    Parameters
    ----------
    dims : shape, required
        the sizes
    gain : float >= 0, default 1.0
        a factor for all numbers
    layout : {"auto", "in_out", "out_in"}, default 'auto'
        where the counts of inputs and outputs are: the last two dims (those before are a
        stack of weights), or as a convolution has them, output first, other dims its
        window; auto: "in_out" up to two dims, "out_in" beyond
    dtype : dtype, default 'f32'
        of the elements
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        `dims` elements of `dtype`

    Notes
    -----
    Random: drawn anew in each run. Not differentiable.

    Examples
    --------
    In the language::

        w = xavier_uniform([784, 128], gain=1.5)
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

    Parameters
    ----------
    dims : shape, required
        the sizes
    dtype : dtype, default 'f32'
        of the elements
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
        `dims` elements of `dtype`

    Notes
    -----
    Not differentiable.

    Examples
    --------
    In the language::

        y = zeros([2, 2])  # = [[0.0, 0.0], [0.0, 0.0]]
    """
@overload
def zeros(*, dtype: DType = "f32") -> Function: ...

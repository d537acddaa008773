"""Every standard layer as a function.

Made by python/tools/make_stubs.py; do not edit.
"""

from typing import Any, Literal, Sequence, overload

from pdl._graph import Value
from pdl._pdl import Tensor
from pdl._render import Function
from pdl._results import Results
from pdl._typing import ArrayLike, Dims, DType, FunctionLike, Operand, ParameterAttributes

@overload
def accuracy(
    logits: Value,
    label: Operand,
    *,
    name: str | None = None,
    training: bool = ...,
    recompute: bool = ...,
) -> Value:
    """The share of rows whose largest number is at the label.

    Parameters
    ----------
    logits : F[..., C]
        a number for each class
    label : i64[...]
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
    """
@overload
def accuracy(*, training: bool = ..., recompute: bool = ...) -> Function: ...

@overload
def adagrad(
    w: Value,
    g: Operand,
    lr: Operand | None = None,
    *,
    eps: float = 1e-10,
    initial: float = 0.0,
    name: str | None = None,
    training: bool = ...,
    recompute: bool = ...,
) -> Value:
    """Adagrad (Duchi et al. 2011): a parameter and its gradient to the parameter's next value.

    Parameters
    ----------
    w : F[...]
    g : F[...]
    lr : f32[], default 0.01
        learning rate
    eps : float > 0, default 1e-10
    initial : float >= 0, default 0.0
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
    """
@overload
def adagrad(
    *,
    lr: Operand | None = None,
    eps: float = 1e-10,
    initial: float = 0.0,
    training: bool = ...,
    recompute: bool = ...,
    clip_norm: float = ...,
) -> Function: ...

@overload
def adam(
    w: Value,
    g: Operand,
    lr: Operand | None = None,
    *,
    beta1: float = 0.9,
    beta2: float = 0.999,
    eps: float = 1e-08,
    name: str | None = None,
    training: bool = ...,
    recompute: bool = ...,
) -> Value:
    """Adam (Kingma & Ba, arXiv:1412.6980): a parameter and its gradient to the parameter's
    next value.

    Parameters
    ----------
    w : F[...]
    g : F[...]
    lr : f32[], default 0.001
        learning rate
    beta1 : float >= 0, < 1, default 0.9
        decay of the mean of gradients
    beta2 : float >= 0, < 1, default 0.999
        decay of the mean of their squares
    eps : float > 0, default 1e-08
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
    """
@overload
def adam(
    *,
    lr: Operand | None = None,
    beta1: float = 0.9,
    beta2: float = 0.999,
    eps: float = 1e-08,
    training: bool = ...,
    recompute: bool = ...,
    clip_norm: float = ...,
) -> Function: ...

@overload
def adamw(
    w: Value,
    g: Operand,
    lr: Operand | None = None,
    *,
    beta1: float = 0.9,
    beta2: float = 0.999,
    eps: float = 1e-08,
    decay: float = 0.01,
    name: str | None = None,
    training: bool = ...,
    recompute: bool = ...,
) -> Value:
    """Adam with a decay of the parameter of its own (Loshchilov & Hutter, arXiv:1711.05101): a
    parameter and its gradient to the parameter's next value.

    Parameters
    ----------
    w : F[...]
    g : F[...]
    lr : f32[], default 0.001
        learning rate
    beta1 : float >= 0, < 1, default 0.9
        decay of the mean of gradients
    beta2 : float >= 0, < 1, default 0.999
        decay of the mean of their squares
    eps : float > 0, default 1e-08
    decay : float >= 0, default 0.01
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
    """
@overload
def adamw(
    *,
    lr: Operand | None = None,
    beta1: float = 0.9,
    beta2: float = 0.999,
    eps: float = 1e-08,
    decay: float = 0.01,
    training: bool = ...,
    recompute: bool = ...,
    clip_norm: float = ...,
) -> Function: ...

@overload
def batch_norm(
    x: Value,
    *,
    momentum: float = 0.9,
    eps: float = 1e-05,
    param_attr: ParameterAttributes = ...,
    bias_attr: ParameterAttributes = ...,
    name: str | None = None,
    training: bool = ...,
    recompute: bool = ...,
) -> Value:
    """Normalizes each channel (Ioffe & Szegedy, arXiv:1502.03167): by its batch while
    training, by the running mean and variance otherwise.

    The running variance is the mean of the population variances of batches, which divide by
    the count n of a channel's elements in a batch. PyTorch keeps the unbiased ones, n / (n
    - 1) times as large.

    Parameters
    ----------
    x : F[N, C, ...]
    momentum : float >= 0, <= 1, default 0.9
        share of the running values that is kept
    eps : float > 0, default 1e-05
        added to the variance
    param_attr : dict, default {}
    bias_attr : dict, default {}
    name : str, optional
        names the result in a graph

    Returns
    -------
    y

    Fields of param_attr
    --------------------
    init : function, default ones()
        makes the initial value
    weight_decay : float >= 0, <= 1, default 0.0
        fraction of itself that each step subtracts
    gradient_clipping : float >= 0, default 0.0
        largest magnitude of its gradient; 0 is unlimited
    lr_scale : float >= 0, default 1.0
        factor of the learning rate
    trainable : bool, default True
        whether training changes it

    Fields of bias_attr
    -------------------
    init : function, default zeros()
        makes the initial value
    weight_decay : float >= 0, <= 1, default 0.0
        fraction of itself that each step subtracts
    gradient_clipping : float >= 0, default 0.0
        largest magnitude of its gradient; 0 is unlimited
    lr_scale : float >= 0, default 1.0
        factor of the learning rate
    trainable : bool, default True
        whether training changes it
    """
@overload
def batch_norm(
    *,
    momentum: float = 0.9,
    eps: float = 1e-05,
    param_attr: ParameterAttributes = ...,
    bias_attr: ParameterAttributes = ...,
    training: bool = ...,
    recompute: bool = ...,
) -> Function: ...

@overload
def bidirectional(
    x: Value,
    lengths: Operand | None = None,
    *,
    forward: FunctionLike,
    backward: FunctionLike,
    name: str | None = None,
    training: bool = ...,
    recompute: bool = ...,
) -> Results:
    """Two layers over time, such as `lstm(size=64)`: one from the first step to the last, the
    other one from the last to the first (Schuster & Paliwal 1997).

    What they give for a step stands side by side, and so do their last states.

    Parameters
    ----------
    x : F[N, ..., D]
        [N, ~T, D], or [N, T, D]
    lengths : i64[N], optional
        the steps of each row of a padded batch
    forward : function, required
        from x (and lengths) to values of the steps, and the last state
    backward : function, required
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
    last
    """
@overload
def bidirectional(
    *,
    lengths: Operand | None = None,
    forward: FunctionLike,
    backward: FunctionLike,
    training: bool = ...,
    recompute: bool = ...,
) -> Function: ...

@overload
def clip_gradient(
    g: Value,
    *,
    bound: float,
    name: str | None = None,
    training: bool = ...,
    recompute: bool = ...,
) -> Value:
    """A gradient whose elements are held between -bound and bound: `gradient_clipping` of a
    parameter.

    Parameters
    ----------
    g : F[...]
    bound : float > 0, required
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
    """
@overload
def clip_gradient(*, bound: float, training: bool = ..., recompute: bool = ...) -> Function: ...

@overload
def conv(
    x: Value,
    *,
    channels: int,
    kernel: int | Sequence[int],
    stride: int | Sequence[int] = ...,
    pad: int | Sequence[int] = ...,
    same: bool = False,
    dilation: int | Sequence[int] = ...,
    groups: int = 1,
    act: FunctionLike | None = None,
    bias: bool = True,
    param_attr: ParameterAttributes = ...,
    bias_attr: ParameterAttributes = ...,
    name: str | None = None,
    training: bool = ...,
    recompute: bool = ...,
) -> Value:
    """Convolution with learned weights, over 1 to 3 spatial dims.

    `kernel`, `stride` and `dilation` are one number for all of them or one for each, `pad`
    may also have begin and end for each.

    Parameters
    ----------
    x : F[N, C, ...]
    channels : int > 0, required
        of the result
    kernel : list of int > 0, required
        the window's size, or one for each spatial dim
    stride : list of int > 0, default 1
        steps between windows
    pad : list of int >= 0, default 0
        zeros added on each side
    same : bool, default False
        pads for size / stride windows, whatever `pad` says
    dilation : list of int > 0, default 1
        steps between the places of a window
    groups : int > 0, default 1
        parts of the channels; each sees its own alone
    act : function, optional
        applied last
    bias : bool, default True
        adds a bias to each channel
    param_attr : dict, default {}
        of the weight
    bias_attr : dict, default {}
    name : str, optional
        names the result in a graph

    Returns
    -------
    y

    Fields of param_attr
    --------------------
    init : function, default he_normal()
        makes the initial value
    weight_decay : float >= 0, <= 1, default 0.0
        fraction of itself that each step subtracts
    gradient_clipping : float >= 0, default 0.0
        largest magnitude of its gradient; 0 is unlimited
    lr_scale : float >= 0, default 1.0
        factor of the learning rate
    trainable : bool, default True
        whether training changes it

    Fields of bias_attr
    -------------------
    init : function, default zeros()
        makes the initial value
    weight_decay : float >= 0, <= 1, default 0.0
        fraction of itself that each step subtracts
    gradient_clipping : float >= 0, default 0.0
        largest magnitude of its gradient; 0 is unlimited
    lr_scale : float >= 0, default 1.0
        factor of the learning rate
    trainable : bool, default True
        whether training changes it
    """
@overload
def conv(
    *,
    channels: int,
    kernel: int | Sequence[int],
    stride: int | Sequence[int] = ...,
    pad: int | Sequence[int] = ...,
    same: bool = False,
    dilation: int | Sequence[int] = ...,
    groups: int = 1,
    act: FunctionLike | None = None,
    bias: bool = True,
    param_attr: ParameterAttributes = ...,
    bias_attr: ParameterAttributes = ...,
    training: bool = ...,
    recompute: bool = ...,
) -> Function: ...

@overload
def conv_bn(
    x: Value,
    *,
    channels: int,
    kernel: int | Sequence[int],
    stride: int | Sequence[int] = ...,
    dilation: int | Sequence[int] = ...,
    groups: int = 1,
    act: FunctionLike | None = ...,
    param_attr: ParameterAttributes = ...,
    name: str | None = None,
    training: bool = ...,
    recompute: bool = ...,
) -> Value:
    """Convolution without a bias, batch normalization, and an activation: the building block
    of residual networks (He et al., arXiv:1512.03385).

    The padding keeps the size where the stride is 1 and the kernel odd.

    Parameters
    ----------
    x : F[N, C, ...]
    channels : int > 0, required
        of the result
    kernel : list of int > 0, required
        the window's size, or one for each spatial dim
    stride : list of int > 0, default 1
        steps between windows
    dilation : list of int > 0, default 1
        steps between the places of a window
    groups : int > 0, default 1
        parts of the channels; each sees its own alone
    act : function, default relu()
        applied last
    param_attr : dict, default {}
    name : str, optional
        names the result in a graph

    Returns
    -------
    y

    Fields of param_attr
    --------------------
    init : function, optional
        makes the initial value
    weight_decay : float >= 0, <= 1, default 0.0
        fraction of itself that each step subtracts
    gradient_clipping : float >= 0, default 0.0
        largest magnitude of its gradient; 0 is unlimited
    lr_scale : float >= 0, default 1.0
        factor of the learning rate
    trainable : bool, default True
        whether training changes it
    """
@overload
def conv_bn(
    *,
    channels: int,
    kernel: int | Sequence[int],
    stride: int | Sequence[int] = ...,
    dilation: int | Sequence[int] = ...,
    groups: int = 1,
    act: FunctionLike | None = ...,
    param_attr: ParameterAttributes = ...,
    training: bool = ...,
    recompute: bool = ...,
) -> Function: ...

@overload
def conv_up(
    x: Value,
    *,
    channels: int,
    kernel: int | Sequence[int],
    stride: int | Sequence[int] = ...,
    dilation: int | Sequence[int] = ...,
    groups: int = 1,
    act: FunctionLike | None = None,
    bias: bool = True,
    param_attr: ParameterAttributes = ...,
    bias_attr: ParameterAttributes = ...,
    name: str | None = None,
    training: bool = ...,
    recompute: bool = ...,
) -> Value:
    """Transposed convolution with learned weights, over 1 to 3 spatial dims: multiplies each
    size by the stride.

    Parameters
    ----------
    x : F[N, C, ...]
    channels : int > 0, required
        of the result
    kernel : list of int > 0, required
        the window's size, or one for each spatial dim
    stride : list of int > 0, default 2
        by how much each size grows
    dilation : list of int > 0, default 1
        steps between the places of a window
    groups : int > 0, default 1
        parts of the channels; each sees its own alone
    act : function, optional
        applied last
    bias : bool, default True
        adds a bias to each channel
    param_attr : dict, default {}
        of the weight
    bias_attr : dict, default {}
    name : str, optional
        names the result in a graph

    Returns
    -------
    y

    Fields of param_attr
    --------------------
    init : function, default he_normal(mode="fan_out")
        makes the initial value
    weight_decay : float >= 0, <= 1, default 0.0
        fraction of itself that each step subtracts
    gradient_clipping : float >= 0, default 0.0
        largest magnitude of its gradient; 0 is unlimited
    lr_scale : float >= 0, default 1.0
        factor of the learning rate
    trainable : bool, default True
        whether training changes it

    Fields of bias_attr
    -------------------
    init : function, default zeros()
        makes the initial value
    weight_decay : float >= 0, <= 1, default 0.0
        fraction of itself that each step subtracts
    gradient_clipping : float >= 0, default 0.0
        largest magnitude of its gradient; 0 is unlimited
    lr_scale : float >= 0, default 1.0
        factor of the learning rate
    trainable : bool, default True
        whether training changes it
    """
@overload
def conv_up(
    *,
    channels: int,
    kernel: int | Sequence[int],
    stride: int | Sequence[int] = ...,
    dilation: int | Sequence[int] = ...,
    groups: int = 1,
    act: FunctionLike | None = None,
    bias: bool = True,
    param_attr: ParameterAttributes = ...,
    bias_attr: ParameterAttributes = ...,
    training: bool = ...,
    recompute: bool = ...,
) -> Function: ...

@overload
def cosine(
    step: Value,
    *,
    from_: float,
    until: int,
    to: float = 0.0,
    name: str | None = None,
    training: bool = ...,
    recompute: bool = ...,
) -> Value:
    """A learning rate that falls along half a cosine (Loshchilov & Hutter, arXiv:1608.03983).

    Parameters
    ----------
    step : i64[]
    from_ : float >= 0, required
        at step 0
    until : int > 0, required
        the step at which it has fallen
    to : float >= 0, default 0.0
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
    """
@overload
def cosine(
    *,
    from_: float,
    until: int,
    to: float = 0.0,
    training: bool = ...,
    recompute: bool = ...,
) -> Function: ...

@overload
def dropout(
    x: Value,
    *,
    p: float = 0.5,
    name: str | None = None,
    training: bool = ...,
    recompute: bool = ...,
) -> Value:
    """Sets elements to 0 at random while training, and scales the others so that their mean
    stays (Srivastava et al. 2014); otherwise its input.

    Parameters
    ----------
    x : F[...]
    p : float >= 0, <= 1, default 0.5
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
    """
@overload
def dropout(*, p: float = 0.5, training: bool = ..., recompute: bool = ...) -> Function: ...

@overload
def embedding(
    ids: Value,
    *,
    size: int,
    param_attr: ParameterAttributes = ...,
    name: str | None = None,
    training: bool = ...,
    recompute: bool = ...,
) -> Value:
    """A learned row of numbers for each index.

    Parameters
    ----------
    ids : i64[...] in 0..V
    size : int > 0, required
        length of a row
    param_attr : dict, default {}
    name : str, optional
        names the result in a graph

    Returns
    -------
    y

    Fields of param_attr
    --------------------
    init : function, default normal()
        makes the initial value
    weight_decay : float >= 0, <= 1, default 0.0
        fraction of itself that each step subtracts
    gradient_clipping : float >= 0, default 0.0
        largest magnitude of its gradient; 0 is unlimited
    lr_scale : float >= 0, default 1.0
        factor of the learning rate
    trainable : bool, default True
        whether training changes it
    """
@overload
def embedding(
    *,
    size: int,
    param_attr: ParameterAttributes = ...,
    training: bool = ...,
    recompute: bool = ...,
) -> Function: ...

@overload
def fc(
    xs_0: Value,
    /,
    *xs: Operand,
    size: int,
    act: FunctionLike | None = None,
    bias: bool = True,
    dropout_rate: float = 0.0,
    param_attr: ParameterAttributes | Sequence[ParameterAttributes] = ...,
    bias_attr: ParameterAttributes = ...,
    name: str | None = None,
    training: bool = ...,
    recompute: bool = ...,
) -> Value:
    """Fully connected layer: every input is multiplied by its own weight, and the results are
    added.

    Parameters
    ----------
    xs : F[..., D] | sparse F[..., D] | sparse bool[..., D] | i64[...] in 0..D; any number of them
        one or many
    size : int > 0, required
        width of the result
    act : function, optional
        applied last
    bias : bool, default True
        adds a bias
    dropout_rate : float >= 0, <= 1, default 0.0
        share of results that training drops
    param_attr : list of dict, default {}
        of each input's weight
    bias_attr : dict, default {}
    name : str, optional
        names the result in a graph

    Returns
    -------
    y

    Fields of param_attr
    --------------------
    init : function, default xavier_uniform()
        makes the initial value
    weight_decay : float >= 0, <= 1, default 0.0
        fraction of itself that each step subtracts
    gradient_clipping : float >= 0, default 0.0
        largest magnitude of its gradient; 0 is unlimited
    lr_scale : float >= 0, default 1.0
        factor of the learning rate
    trainable : bool, default True
        whether training changes it

    Fields of bias_attr
    -------------------
    init : function, default zeros()
        makes the initial value
    weight_decay : float >= 0, <= 1, default 0.0
        fraction of itself that each step subtracts
    gradient_clipping : float >= 0, default 0.0
        largest magnitude of its gradient; 0 is unlimited
    lr_scale : float >= 0, default 1.0
        factor of the learning rate
    trainable : bool, default True
        whether training changes it
    """
@overload
def fc(
    *,
    size: int,
    act: FunctionLike | None = None,
    bias: bool = True,
    dropout_rate: float = 0.0,
    param_attr: ParameterAttributes | Sequence[ParameterAttributes] = ...,
    bias_attr: ParameterAttributes = ...,
    training: bool = ...,
    recompute: bool = ...,
) -> Function: ...

@overload
def ftrl(
    w: Value,
    g: Operand,
    lr: Operand | None = None,
    *,
    beta: float = 1.0,
    l1: float = 0.0,
    l2: float = 0.0,
    name: str | None = None,
    training: bool = ...,
    recompute: bool = ...,
) -> Value:
    """FTRL-Proximal (McMahan et al. 2013), which makes parameters that are exactly 0: a
    parameter and its gradient to the parameter's next value.

    Parameters
    ----------
    w : F[...]
    g : F[...]
    lr : f32[], default 0.1
        learning rate
    beta : float >= 0, default 1.0
        makes first steps smaller
    l1 : float >= 0, default 0.0
        how much keeps a parameter at 0
    l2 : float >= 0, default 0.0
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
    """
@overload
def ftrl(
    *,
    lr: Operand | None = None,
    beta: float = 1.0,
    l1: float = 0.0,
    l2: float = 0.0,
    training: bool = ...,
    recompute: bool = ...,
    clip_norm: float = ...,
) -> Function: ...

@overload
def gemm(
    a: Value,
    b: Operand,
    c: Operand,
    *,
    alpha: float = 1.0,
    beta: float = 1.0,
    transpose_a: bool = False,
    transpose_b: bool = False,
    name: str | None = None,
    training: bool = ...,
    recompute: bool = ...,
) -> Value:
    """alpha * a @ b + beta * c, as the function of that name in BLAS has it.

    Parameters
    ----------
    a : F[M, K]
    b : F[L, P]
    c : F[...]
        what is added; it broadcasts to the product
    alpha : float, default 1.0
        the factor of the product
    beta : float, default 1.0
        the factor of what is added
    transpose_a : bool, default False
        takes a as [K, M]
    transpose_b : bool, default False
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
    """
@overload
def gemm(
    *,
    alpha: float = 1.0,
    beta: float = 1.0,
    transpose_a: bool = False,
    transpose_b: bool = False,
    training: bool = ...,
    recompute: bool = ...,
) -> Function: ...

@overload
def global_avg_pool(
    x: Value,
    *,
    name: str | None = None,
    training: bool = ...,
    recompute: bool = ...,
) -> Value:
    """The mean of each channel, over all its places: f32[N, C, H, W] becomes f32[N, C].

    Parameters
    ----------
    x : F[N, C, ...]
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
    """
@overload
def global_avg_pool(*, training: bool = ..., recompute: bool = ...) -> Function: ...

@overload
def global_max_pool(
    x: Value,
    *,
    name: str | None = None,
    training: bool = ...,
    recompute: bool = ...,
) -> Value:
    """The largest element of each channel: f32[N, C, H, W] becomes f32[N, C].

    Parameters
    ----------
    x : F[N, C, ...]
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
    """
@overload
def global_max_pool(*, training: bool = ..., recompute: bool = ...) -> Function: ...

@overload
def group_norm(
    x: Value,
    *,
    groups: int,
    eps: float = 1e-05,
    scale: bool = True,
    bias: bool = True,
    param_attr: ParameterAttributes = ...,
    bias_attr: ParameterAttributes = ...,
    name: str | None = None,
    training: bool = ...,
    recompute: bool = ...,
) -> Value:
    """Normalizes groups of neighbouring channels of each element of the batch (Wu & He,
    arXiv:1803.08494), then scales and shifts each channel.

    Parameters
    ----------
    x : F[N, C, ...]
    groups : int > 0, required
        how many; it divides the count of channels
    eps : float > 0, default 1e-05
        added to the variance
    scale : bool, default True
        learns a factor
    bias : bool, default True
        learns a shift
    param_attr : dict, default {}
    bias_attr : dict, default {}
    name : str, optional
        names the result in a graph

    Returns
    -------
    y

    Fields of param_attr
    --------------------
    init : function, default ones()
        makes the initial value
    weight_decay : float >= 0, <= 1, default 0.0
        fraction of itself that each step subtracts
    gradient_clipping : float >= 0, default 0.0
        largest magnitude of its gradient; 0 is unlimited
    lr_scale : float >= 0, default 1.0
        factor of the learning rate
    trainable : bool, default True
        whether training changes it

    Fields of bias_attr
    -------------------
    init : function, default zeros()
        makes the initial value
    weight_decay : float >= 0, <= 1, default 0.0
        fraction of itself that each step subtracts
    gradient_clipping : float >= 0, default 0.0
        largest magnitude of its gradient; 0 is unlimited
    lr_scale : float >= 0, default 1.0
        factor of the learning rate
    trainable : bool, default True
        whether training changes it
    """
@overload
def group_norm(
    *,
    groups: int,
    eps: float = 1e-05,
    scale: bool = True,
    bias: bool = True,
    param_attr: ParameterAttributes = ...,
    bias_attr: ParameterAttributes = ...,
    training: bool = ...,
    recompute: bool = ...,
) -> Function: ...

@overload
def gru(
    x: Value,
    h: Operand | None = None,
    lengths: Operand | None = None,
    *,
    size: int,
    reverse: bool = False,
    bias: bool = True,
    param_attr: ParameterAttributes = ...,
    bias_attr: ParameterAttributes = ...,
    name: str | None = None,
    training: bool = ...,
    recompute: bool = ...,
) -> Results:
    """Gated recurrent units over time (Cho et al., arXiv:1406.1078), over ragged sequences or
    padded batches.

    As in PyTorch and cuDNN, the three parts of w_x, w_h and of both biases are those of the
    reset, update and new gates, in this order; the reset gate acts on the new gate's
    product with w_h, its bias b_h included; and all begin uniformly within 1 / sqrt(size).

    Parameters
    ----------
    x : F[N, ..., D]
        [N, ~T, D], or [N, T, D]
    h : F[N, size], optional
        the first state; zeros where it is left out
    lengths : i64[N], optional
        the steps of each row of a padded batch
    size : int > 0, required
        width of the state
    reverse : bool, default False
        from the last step of each sequence to the first
    bias : bool, default True
    param_attr : dict, default {}
    bias_attr : dict, default {}
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
    last

    Fields of param_attr
    --------------------
    init : function, default uniform(low=-bound, high=bound)
        makes the initial value
    weight_decay : float >= 0, <= 1, default 0.0
        fraction of itself that each step subtracts
    gradient_clipping : float >= 0, default 0.0
        largest magnitude of its gradient; 0 is unlimited
    lr_scale : float >= 0, default 1.0
        factor of the learning rate
    trainable : bool, default True
        whether training changes it

    Fields of bias_attr
    -------------------
    init : function, default uniform(low=-bound, high=bound)
        makes the initial value
    weight_decay : float >= 0, <= 1, default 0.0
        fraction of itself that each step subtracts
    gradient_clipping : float >= 0, default 0.0
        largest magnitude of its gradient; 0 is unlimited
    lr_scale : float >= 0, default 1.0
        factor of the learning rate
    trainable : bool, default True
        whether training changes it
    """
@overload
def gru(
    *,
    h: Operand | None = None,
    lengths: Operand | None = None,
    size: int,
    reverse: bool = False,
    bias: bool = True,
    param_attr: ParameterAttributes = ...,
    bias_attr: ParameterAttributes = ...,
    training: bool = ...,
    recompute: bool = ...,
) -> Function: ...

@overload
def gru_step(
    gates: Value,
    h: Operand,
    w_h: Operand,
    b_x: Operand | None = None,
    b_h: Operand | None = None,
    *,
    name: str | None = None,
    training: bool = ...,
    recompute: bool = ...,
) -> Results:
    """A step of `gru`: from the state before to the next one, where `gates` has what the input
    adds to the reset, update and new gates.

    Parameters
    ----------
    gates : F[N, G]
    h : F[N, H]
    w_h : F[H, G]
    b_x : F[G], optional
    b_h : F[G], optional
    name : str, optional
        names the result in a graph

    Returns
    -------
    h
    y
    """
@overload
def gru_step(
    *,
    b_x: Operand | None = None,
    b_h: Operand | None = None,
    training: bool = ...,
    recompute: bool = ...,
) -> Function: ...

@overload
def instance_norm(
    x: Value,
    *,
    eps: float = 1e-05,
    scale: bool = True,
    bias: bool = True,
    param_attr: ParameterAttributes = ...,
    bias_attr: ParameterAttributes = ...,
    name: str | None = None,
    training: bool = ...,
    recompute: bool = ...,
) -> Value:
    """Normalizes each channel of each element of the batch by itself (Ulyanov et al.,
    arXiv:1607.08022), then scales and shifts it.

    Parameters
    ----------
    x : F[N, C, W, ...]
    eps : float > 0, default 1e-05
        added to the variance
    scale : bool, default True
        learns a factor
    bias : bool, default True
        learns a shift
    param_attr : dict, default {}
    bias_attr : dict, default {}
    name : str, optional
        names the result in a graph

    Returns
    -------
    y

    Fields of param_attr
    --------------------
    init : function, default ones()
        makes the initial value
    weight_decay : float >= 0, <= 1, default 0.0
        fraction of itself that each step subtracts
    gradient_clipping : float >= 0, default 0.0
        largest magnitude of its gradient; 0 is unlimited
    lr_scale : float >= 0, default 1.0
        factor of the learning rate
    trainable : bool, default True
        whether training changes it

    Fields of bias_attr
    -------------------
    init : function, default zeros()
        makes the initial value
    weight_decay : float >= 0, <= 1, default 0.0
        fraction of itself that each step subtracts
    gradient_clipping : float >= 0, default 0.0
        largest magnitude of its gradient; 0 is unlimited
    lr_scale : float >= 0, default 1.0
        factor of the learning rate
    trainable : bool, default True
        whether training changes it
    """
@overload
def instance_norm(
    *,
    eps: float = 1e-05,
    scale: bool = True,
    bias: bool = True,
    param_attr: ParameterAttributes = ...,
    bias_attr: ParameterAttributes = ...,
    training: bool = ...,
    recompute: bool = ...,
) -> Function: ...

@overload
def l2_normalize(
    x: Value,
    *,
    axes: int | Sequence[int] = [-1],
    eps: float = 1e-12,
    name: str | None = None,
    training: bool = ...,
    recompute: bool = ...,
) -> Value:
    """Divides by the Euclidean norm, so that it becomes 1.

    Parameters
    ----------
    x : F[...]
    axes : list of int, default [-1]
        the axes that the norm is taken over
    eps : float >= 0, default 1e-12
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
    """
@overload
def l2_normalize(
    *,
    axes: int | Sequence[int] = [-1],
    eps: float = 1e-12,
    training: bool = ...,
    recompute: bool = ...,
) -> Function: ...

@overload
def lamb(
    w: Value,
    g: Operand,
    lr: Operand | None = None,
    *,
    beta1: float = 0.9,
    beta2: float = 0.999,
    eps: float = 1e-06,
    decay: float = 0.01,
    name: str | None = None,
    training: bool = ...,
    recompute: bool = ...,
) -> Value:
    """LAMB (You et al., arXiv:1904.00962), for large batches: the step of Adam, as long in
    proportion to the parameter as the learning rate says.

    A parameter and its gradient to the next value.

    Parameters
    ----------
    w : F[...]
    g : F[...]
    lr : f32[], default 0.001
        learning rate
    beta1 : float >= 0, < 1, default 0.9
        decay of the mean of gradients
    beta2 : float >= 0, < 1, default 0.999
        decay of the mean of their squares
    eps : float > 0, default 1e-06
    decay : float >= 0, default 0.01
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
    """
@overload
def lamb(
    *,
    lr: Operand | None = None,
    beta1: float = 0.9,
    beta2: float = 0.999,
    eps: float = 1e-06,
    decay: float = 0.01,
    training: bool = ...,
    recompute: bool = ...,
    clip_norm: float = ...,
) -> Function: ...

@overload
def layer_norm(
    x: Value,
    *,
    eps: float = 1e-05,
    scale: bool = True,
    bias: bool = True,
    param_attr: ParameterAttributes = ...,
    bias_attr: ParameterAttributes = ...,
    name: str | None = None,
    training: bool = ...,
    recompute: bool = ...,
) -> Value:
    """Normalizes each row (Ba et al., arXiv:1607.06450), then scales and shifts it.

    Parameters
    ----------
    x : F[..., D]
    eps : float > 0, default 1e-05
        added to the variance
    scale : bool, default True
        learns a factor
    bias : bool, default True
        learns a shift
    param_attr : dict, default {}
    bias_attr : dict, default {}
    name : str, optional
        names the result in a graph

    Returns
    -------
    y

    Fields of param_attr
    --------------------
    init : function, default ones()
        makes the initial value
    weight_decay : float >= 0, <= 1, default 0.0
        fraction of itself that each step subtracts
    gradient_clipping : float >= 0, default 0.0
        largest magnitude of its gradient; 0 is unlimited
    lr_scale : float >= 0, default 1.0
        factor of the learning rate
    trainable : bool, default True
        whether training changes it

    Fields of bias_attr
    -------------------
    init : function, default zeros()
        makes the initial value
    weight_decay : float >= 0, <= 1, default 0.0
        fraction of itself that each step subtracts
    gradient_clipping : float >= 0, default 0.0
        largest magnitude of its gradient; 0 is unlimited
    lr_scale : float >= 0, default 1.0
        factor of the learning rate
    trainable : bool, default True
        whether training changes it
    """
@overload
def layer_norm(
    *,
    eps: float = 1e-05,
    scale: bool = True,
    bias: bool = True,
    param_attr: ParameterAttributes = ...,
    bias_attr: ParameterAttributes = ...,
    training: bool = ...,
    recompute: bool = ...,
) -> Function: ...

@overload
def local_response_norm(
    x: Value,
    *,
    size: int = 5,
    alpha: float = 0.0001,
    beta: float = 0.75,
    bias: float = 1.0,
    name: str | None = None,
    training: bool = ...,
    recompute: bool = ...,
) -> Value:
    """Divides each element by what the channels around it are (Krizhevsky et al. 2012,
    "ImageNet classification with deep convolutional neural networks"): by (bias + alpha /
    size * the sum of their squares) ** beta.

    Parameters
    ----------
    x : F[N, C, ...]
    size : int > 0, default 5
        how many channels; of an even count one more behind
    alpha : float, default 0.0001
        the weight of their squares
    beta : float, default 0.75
        the exponent
    bias : float, default 1.0
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
    """
@overload
def local_response_norm(
    *,
    size: int = 5,
    alpha: float = 0.0001,
    beta: float = 0.75,
    bias: float = 1.0,
    training: bool = ...,
    recompute: bool = ...,
) -> Function: ...

@overload
def lstm(
    x: Value,
    h: Operand | None = None,
    c: Operand | None = None,
    lengths: Operand | None = None,
    *,
    size: int,
    reverse: bool = False,
    bias: bool = True,
    param_attr: ParameterAttributes = ...,
    bias_attr: ParameterAttributes = ...,
    name: str | None = None,
    training: bool = ...,
    recompute: bool = ...,
) -> Results:
    """Long short-term memory over time (Hochreiter & Schmidhuber 1997; Gers et al. 2000), over
    ragged sequences or padded batches.

    As in PyTorch and cuDNN, the four parts of w_x, w_h and of both biases are those of the
    input, forget, cell and output gates, in this order, and all begin uniformly within 1 /
    sqrt(size).

    Parameters
    ----------
    x : F[N, ..., D]
        [N, ~T, D], or [N, T, D]
    h : F[N, size], optional
        the first hidden state; zeros where it is left out
    c : F[N, size], optional
        the first cell state; zeros where it is left out
    lengths : i64[N], optional
        the steps of each row of a padded batch
    size : int > 0, required
        width of the states
    reverse : bool, default False
        from the last step of each sequence to the first
    bias : bool, default True
    param_attr : dict, default {}
    bias_attr : dict, default {}
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
    last
    cell

    Fields of param_attr
    --------------------
    init : function, default uniform(low=-bound, high=bound)
        makes the initial value
    weight_decay : float >= 0, <= 1, default 0.0
        fraction of itself that each step subtracts
    gradient_clipping : float >= 0, default 0.0
        largest magnitude of its gradient; 0 is unlimited
    lr_scale : float >= 0, default 1.0
        factor of the learning rate
    trainable : bool, default True
        whether training changes it

    Fields of bias_attr
    -------------------
    init : function, default uniform(low=-bound, high=bound)
        makes the initial value
    weight_decay : float >= 0, <= 1, default 0.0
        fraction of itself that each step subtracts
    gradient_clipping : float >= 0, default 0.0
        largest magnitude of its gradient; 0 is unlimited
    lr_scale : float >= 0, default 1.0
        factor of the learning rate
    trainable : bool, default True
        whether training changes it
    """
@overload
def lstm(
    *,
    h: Operand | None = None,
    c: Operand | None = None,
    lengths: Operand | None = None,
    size: int,
    reverse: bool = False,
    bias: bool = True,
    param_attr: ParameterAttributes = ...,
    bias_attr: ParameterAttributes = ...,
    training: bool = ...,
    recompute: bool = ...,
) -> Function: ...

@overload
def lstm_step(
    gates: Value,
    h: Operand,
    c: Operand,
    w_h: Operand,
    bias: Operand | None = None,
    *,
    name: str | None = None,
    training: bool = ...,
    recompute: bool = ...,
) -> Results:
    """A step of `lstm`: from the states before to the next ones, where `gates` has what the
    input adds to the input, forget, cell and output gates.

    Parameters
    ----------
    gates : F[N, G]
    h : F[N, H]
    c : F[N, H]
    w_h : F[H, G]
    bias : F[G], optional
    name : str, optional
        names the result in a graph

    Returns
    -------
    h
    c
    y
    """
@overload
def lstm_step(
    *,
    bias: Operand | None = None,
    training: bool = ...,
    recompute: bool = ...,
) -> Function: ...

@overload
def mlp(
    x: Value,
    *,
    widths: int | Sequence[int],
    act: FunctionLike | None = ...,
    last_act: FunctionLike | None = None,
    dropout_rate: float = 0.0,
    param_attr: ParameterAttributes = ...,
    bias_attr: ParameterAttributes = ...,
    name: str | None = None,
    training: bool = ...,
    recompute: bool = ...,
) -> Value:
    """Fully connected layers one after another.

    Parameters
    ----------
    x : F[..., D]
    widths : list of int, required
        width of each layer's result, the last one's too
    act : function, default relu()
        after every layer but the last
    last_act : function, optional
        after the last
    dropout_rate : float >= 0, <= 1, default 0.0
        after every layer but the last
    param_attr : dict, default {}
    bias_attr : dict, default {}
    name : str, optional
        names the result in a graph

    Returns
    -------
    x

    Fields of param_attr
    --------------------
    init : function, optional
        makes the initial value
    weight_decay : float >= 0, <= 1, default 0.0
        fraction of itself that each step subtracts
    gradient_clipping : float >= 0, default 0.0
        largest magnitude of its gradient; 0 is unlimited
    lr_scale : float >= 0, default 1.0
        factor of the learning rate
    trainable : bool, default True
        whether training changes it

    Fields of bias_attr
    -------------------
    init : function, optional
        makes the initial value
    weight_decay : float >= 0, <= 1, default 0.0
        fraction of itself that each step subtracts
    gradient_clipping : float >= 0, default 0.0
        largest magnitude of its gradient; 0 is unlimited
    lr_scale : float >= 0, default 1.0
        factor of the learning rate
    trainable : bool, default True
        whether training changes it
    """
@overload
def mlp(
    *,
    widths: int | Sequence[int],
    act: FunctionLike | None = ...,
    last_act: FunctionLike | None = None,
    dropout_rate: float = 0.0,
    param_attr: ParameterAttributes = ...,
    bias_attr: ParameterAttributes = ...,
    training: bool = ...,
    recompute: bool = ...,
) -> Function: ...

@overload
def multi_head_attention(
    x: Value,
    memory: Operand | None = None,
    mask: Operand | None = None,
    *,
    heads: int,
    kv_heads: int = 0,
    causal: bool = False,
    rotary: bool = False,
    bias: bool = True,
    dropout_rate: float = 0.0,
    param_attr: ParameterAttributes = ...,
    bias_attr: ParameterAttributes = ...,
    name: str | None = None,
    training: bool = ...,
    recompute: bool = ...,
) -> Value:
    """Attention with several heads (Vaswani et al., arXiv:1706.03762): each position of x
    gathers what it needs of `memory`, or of x where that is left out.

    Parameters
    ----------
    x : F[N, T, D]
    memory : F[N, S, M], optional
        what is attended to
    mask : bool[...], optional
        true where a position is seen; broadcasts to [N, heads, T, S]
    heads : int > 0, required
    kv_heads : int >= 0, default 0
        heads of keys and values; 0: as many as `heads`
    causal : bool, default False
        positions see none that come after them
    rotary : bool, default False
        marks queries and keys with their positions
    bias : bool, default True
    dropout_rate : float >= 0, <= 1, default 0.0
        share of results that training drops
    param_attr : dict, default {}
    bias_attr : dict, default {}
    name : str, optional
        names the result in a graph

    Returns
    -------
    y

    Fields of param_attr
    --------------------
    init : function, optional
        makes the initial value
    weight_decay : float >= 0, <= 1, default 0.0
        fraction of itself that each step subtracts
    gradient_clipping : float >= 0, default 0.0
        largest magnitude of its gradient; 0 is unlimited
    lr_scale : float >= 0, default 1.0
        factor of the learning rate
    trainable : bool, default True
        whether training changes it

    Fields of bias_attr
    -------------------
    init : function, optional
        makes the initial value
    weight_decay : float >= 0, <= 1, default 0.0
        fraction of itself that each step subtracts
    gradient_clipping : float >= 0, default 0.0
        largest magnitude of its gradient; 0 is unlimited
    lr_scale : float >= 0, default 1.0
        factor of the learning rate
    trainable : bool, default True
        whether training changes it
    """
@overload
def multi_head_attention(
    *,
    memory: Operand | None = None,
    mask: Operand | None = None,
    heads: int,
    kv_heads: int = 0,
    causal: bool = False,
    rotary: bool = False,
    bias: bool = True,
    dropout_rate: float = 0.0,
    param_attr: ParameterAttributes = ...,
    bias_attr: ParameterAttributes = ...,
    training: bool = ...,
    recompute: bool = ...,
) -> Function: ...

@overload
def norm_factor(
    gs_0: Value,
    /,
    *gs: Operand,
    limit: float,
    name: str | None = None,
    training: bool = ...,
    recompute: bool = ...,
) -> Value:
    """What all gradients are multiplied by so that their norm, as one vector, is at most the
    limit: `clip_norm` of an optimizer (Pascanu et al., arXiv:1211.5063).

    It is f64 where a gradient is.

    Parameters
    ----------
    gs : F[...]; any number of them
        all gradients of one loss
    limit : float > 0, required
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
    """
@overload
def norm_factor(*, limit: float, training: bool = ..., recompute: bool = ...) -> Function: ...

@overload
def outer(
    x: Value,
    y: Operand,
    *,
    name: str | None = None,
    training: bool = ...,
    recompute: bool = ...,
) -> Value:
    """The product of each element of x with each one of y.

    Parameters
    ----------
    x : F[..., N]
    y : F[..., M]
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
    """
@overload
def outer(*, training: bool = ..., recompute: bool = ...) -> Function: ...

@overload
def piecewise(
    step: Value,
    *,
    boundaries: int | Sequence[int],
    values: float | Sequence[float],
    name: str | None = None,
    training: bool = ...,
    recompute: bool = ...,
) -> Value:
    """A learning rate of one value up to each boundary, and of a last one behind them.

    Parameters
    ----------
    step : i64[]
    boundaries : list of int, required
        rising steps; at each the next value begins
    values : list of float, required
    name : str, optional
        names the result in a graph

    Returns
    -------
    rate
    """
@overload
def piecewise(
    *,
    boundaries: int | Sequence[int],
    values: float | Sequence[float],
    training: bool = ...,
    recompute: bool = ...,
) -> Function: ...

@overload
def regularize_gradient(
    w: Value,
    g: Operand,
    factor: Operand | None = None,
    *,
    decay: float = 0.0,
    name: str | None = None,
    training: bool = ...,
    recompute: bool = ...,
) -> Value:
    """A gradient times a factor, with the gradient of `decay / 2` times the squared norm of
    the parameter added: `weight_decay` of a parameter (L2).

    Parameters
    ----------
    w : F[...]
    g : F[...]
    factor : S[], optional
        what g is multiplied by; left out: 1
    decay : float >= 0, default 0.0
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
    """
@overload
def regularize_gradient(
    *,
    factor: Operand | None = None,
    decay: float = 0.0,
    training: bool = ...,
    recompute: bool = ...,
    clip_norm: float = ...,
) -> Function: ...

@overload
def residual(
    x: Value,
    *,
    body: FunctionLike,
    name: str | None = None,
    training: bool = ...,
    recompute: bool = ...,
) -> Value:
    """Adds what a function makes of x to x (He et al., arXiv:1512.03385).

    Parameters
    ----------
    x : F[...]
    body : function, required
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
    """
@overload
def residual(*, body: FunctionLike, training: bool = ..., recompute: bool = ...) -> Function: ...

@overload
def rms_norm(
    x: Value,
    *,
    eps: float = 1e-06,
    scale: bool = True,
    param_attr: ParameterAttributes = ...,
    name: str | None = None,
    training: bool = ...,
    recompute: bool = ...,
) -> Value:
    """Divides each row by the root of the mean of its squares (Zhang & Sennrich,
    arXiv:1910.07467), then scales it.

    Parameters
    ----------
    x : F[..., D]
    eps : float >= 0, default 1e-06
        added to the mean
    scale : bool, default True
        learns a factor
    param_attr : dict, default {}
    name : str, optional
        names the result in a graph

    Returns
    -------
    y

    Fields of param_attr
    --------------------
    init : function, default ones()
        makes the initial value
    weight_decay : float >= 0, <= 1, default 0.0
        fraction of itself that each step subtracts
    gradient_clipping : float >= 0, default 0.0
        largest magnitude of its gradient; 0 is unlimited
    lr_scale : float >= 0, default 1.0
        factor of the learning rate
    trainable : bool, default True
        whether training changes it
    """
@overload
def rms_norm(
    *,
    eps: float = 1e-06,
    scale: bool = True,
    param_attr: ParameterAttributes = ...,
    training: bool = ...,
    recompute: bool = ...,
) -> Function: ...

@overload
def rmsprop(
    w: Value,
    g: Operand,
    lr: Operand | None = None,
    *,
    rho: float = 0.99,
    eps: float = 1e-08,
    momentum: float = 0.0,
    centered: bool = False,
    name: str | None = None,
    training: bool = ...,
    recompute: bool = ...,
) -> Value:
    """RMSProp (Tieleman & Hinton 2012): a parameter and its gradient to the parameter's next
    value.

    Parameters
    ----------
    w : F[...]
    g : F[...]
    lr : f32[], default 0.01
        learning rate
    rho : float >= 0, < 1, default 0.99
        decay of the mean of squares
    eps : float > 0, default 1e-08
    momentum : float >= 0, < 1, default 0.0
        share of the last step that is kept
    centered : bool, default False
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
    """
@overload
def rmsprop(
    *,
    lr: Operand | None = None,
    rho: float = 0.99,
    eps: float = 1e-08,
    momentum: float = 0.0,
    centered: bool = False,
    training: bool = ...,
    recompute: bool = ...,
    clip_norm: float = ...,
) -> Function: ...

@overload
def rnn(
    x: Value,
    h: Operand | None = None,
    lengths: Operand | None = None,
    *,
    size: int,
    act: FunctionLike | None = ...,
    reverse: bool = False,
    bias: bool = True,
    param_attr: ParameterAttributes = ...,
    bias_attr: ParameterAttributes = ...,
    name: str | None = None,
    training: bool = ...,
    recompute: bool = ...,
) -> Results:
    """A plain recurrent network over time (Elman 1990), over ragged sequences or padded
    batches: h = act(x @ w_x + b_x + h @ w_h + b_h).

    As in PyTorch, all parameters begin uniformly within 1 / sqrt(size).

    Parameters
    ----------
    x : F[N, ..., D]
        [N, ~T, D], or [N, T, D]
    h : F[N, size], optional
        the first state; zeros where it is left out
    lengths : i64[N], optional
        the steps of each row of a padded batch
    size : int > 0, required
        width of the state
    act : function, default tanh()
    reverse : bool, default False
        from the last step of each sequence to the first
    bias : bool, default True
    param_attr : dict, default {}
    bias_attr : dict, default {}
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
    last

    Fields of param_attr
    --------------------
    init : function, default uniform(low=-bound, high=bound)
        makes the initial value
    weight_decay : float >= 0, <= 1, default 0.0
        fraction of itself that each step subtracts
    gradient_clipping : float >= 0, default 0.0
        largest magnitude of its gradient; 0 is unlimited
    lr_scale : float >= 0, default 1.0
        factor of the learning rate
    trainable : bool, default True
        whether training changes it

    Fields of bias_attr
    -------------------
    init : function, default uniform(low=-bound, high=bound)
        makes the initial value
    weight_decay : float >= 0, <= 1, default 0.0
        fraction of itself that each step subtracts
    gradient_clipping : float >= 0, default 0.0
        largest magnitude of its gradient; 0 is unlimited
    lr_scale : float >= 0, default 1.0
        factor of the learning rate
    trainable : bool, default True
        whether training changes it
    """
@overload
def rnn(
    *,
    h: Operand | None = None,
    lengths: Operand | None = None,
    size: int,
    act: FunctionLike | None = ...,
    reverse: bool = False,
    bias: bool = True,
    param_attr: ParameterAttributes = ...,
    bias_attr: ParameterAttributes = ...,
    training: bool = ...,
    recompute: bool = ...,
) -> Function: ...

@overload
def rnn_step(
    sums: Value,
    h: Operand,
    w_h: Operand,
    bias: Operand | None = None,
    *,
    act: FunctionLike | None = ...,
    name: str | None = None,
    training: bool = ...,
    recompute: bool = ...,
) -> Results:
    """A step of `rnn`: from the state before to the next one, where `sums` has what the input
    adds.

    Parameters
    ----------
    sums : F[N, H]
    h : F[N, H]
    w_h : F[H, H]
    bias : F[H], optional
    act : function, default tanh()
    name : str, optional
        names the result in a graph

    Returns
    -------
    h
    y
    """
@overload
def rnn_step(
    *,
    bias: Operand | None = None,
    act: FunctionLike | None = ...,
    training: bool = ...,
    recompute: bool = ...,
) -> Function: ...

@overload
def scale_step(
    w: Value,
    next: Operand,
    *,
    scale: float,
    name: str | None = None,
    training: bool = ...,
    recompute: bool = ...,
) -> Value:
    """A part of the way from a parameter to the value that an optimizer has for it: `lr_scale`
    of a parameter.

    Parameters
    ----------
    w : F[...]
    next : F[...]
    scale : float >= 0, required
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
    """
@overload
def scale_step(*, scale: float, training: bool = ..., recompute: bool = ...) -> Function: ...

@overload
def sequence_conv(
    x: Value,
    *,
    channels: int,
    size: int = 3,
    start: int | None = None,
    act: FunctionLike | None = None,
    bias: bool = True,
    param_attr: ParameterAttributes = ...,
    bias_attr: ParameterAttributes = ...,
    name: str | None = None,
    training: bool = ...,
    recompute: bool = ...,
) -> Value:
    """Convolution over sequences: each row becomes a product of learned weights with the rows
    around it in its sequence; zeros stand beyond its ends.

    Parameters
    ----------
    x : F[N, ..., D]
        [N, ~T, D], or [N, ~S, ~T, D]
    channels : int > 0, required
        of the result
    size : int > 0, default 3
        rows in a window
    start : int, optional
        from a row to the first of its window; none: -(size // 2)
    act : function, optional
        applied last
    bias : bool, default True
        adds a bias to each channel
    param_attr : dict, default {}
    bias_attr : dict, default {}
    name : str, optional
        names the result in a graph

    Returns
    -------
    y

    Fields of param_attr
    --------------------
    init : function, default xavier_uniform()
        makes the initial value
    weight_decay : float >= 0, <= 1, default 0.0
        fraction of itself that each step subtracts
    gradient_clipping : float >= 0, default 0.0
        largest magnitude of its gradient; 0 is unlimited
    lr_scale : float >= 0, default 1.0
        factor of the learning rate
    trainable : bool, default True
        whether training changes it

    Fields of bias_attr
    -------------------
    init : function, default zeros()
        makes the initial value
    weight_decay : float >= 0, <= 1, default 0.0
        fraction of itself that each step subtracts
    gradient_clipping : float >= 0, default 0.0
        largest magnitude of its gradient; 0 is unlimited
    lr_scale : float >= 0, default 1.0
        factor of the learning rate
    trainable : bool, default True
        whether training changes it
    """
@overload
def sequence_conv(
    *,
    channels: int,
    size: int = 3,
    start: int | None = None,
    act: FunctionLike | None = None,
    bias: bool = True,
    param_attr: ParameterAttributes = ...,
    bias_attr: ParameterAttributes = ...,
    training: bool = ...,
    recompute: bool = ...,
) -> Function: ...

@overload
def sgd(
    w: Value,
    g: Operand,
    lr: Operand | None = None,
    *,
    momentum: float = 0.0,
    nesterov: bool = False,
    name: str | None = None,
    training: bool = ...,
    recompute: bool = ...,
) -> Value:
    """Stochastic gradient descent: a parameter and its gradient to the parameter's next value.

    Parameters
    ----------
    w : F[...]
    g : F[...]
    lr : f32[], default 0.01
        learning rate
    momentum : float >= 0, < 1, default 0.0
        share of the last step that is kept
    nesterov : bool, default False
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
    """
@overload
def sgd(
    *,
    lr: Operand | None = None,
    momentum: float = 0.0,
    nesterov: bool = False,
    training: bool = ...,
    recompute: bool = ...,
    clip_norm: float = ...,
) -> Function: ...

@overload
def step_decay(
    step: Value,
    *,
    from_: float,
    every: int,
    factor: float = 0.1,
    name: str | None = None,
    training: bool = ...,
    recompute: bool = ...,
) -> Value:
    """A learning rate that is multiplied by a factor after each so many steps.

    Parameters
    ----------
    step : i64[]
    from_ : float > 0, required
        at step 0
    every : int > 0, required
        steps from one fall to the next
    factor : float > 0, default 0.1
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
    """
@overload
def step_decay(
    *,
    from_: float,
    every: int,
    factor: float = 0.1,
    training: bool = ...,
    recompute: bool = ...,
) -> Function: ...

@overload
def topk_accuracy(
    logits: Value,
    label: Operand,
    *,
    k: int = 5,
    name: str | None = None,
    training: bool = ...,
    recompute: bool = ...,
) -> Value:
    """The share of rows in which fewer than k numbers are larger than the one at the label.

    Parameters
    ----------
    logits : F[..., C]
        a number for each class
    label : i64[...]
        the classes
    k : int > 0, default 5
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
    """
@overload
def topk_accuracy(*, k: int = 5, training: bool = ..., recompute: bool = ...) -> Function: ...

@overload
def transformer_decoder(
    x: Value,
    memory: Operand,
    mask: Operand | None = None,
    memory_mask: Operand | None = None,
    *,
    layers: int,
    heads: int,
    hidden: int = 0,
    act: FunctionLike | None = ...,
    causal: bool = True,
    rotary: bool = False,
    pre_norm: bool = True,
    eps: float = 1e-05,
    dropout_rate: float = 0.0,
    param_attr: ParameterAttributes = ...,
    bias_attr: ParameterAttributes = ...,
    name: str | None = None,
    training: bool = ...,
    recompute: bool = ...,
) -> Value:
    """Layers of self-attention, of attention to `memory` and of a fully connected net, each
    added to its input (Vaswani et al., arXiv:1706.03762).

    Parameters
    ----------
    x : F[N, T, D]
    memory : F[N, S, M]
        what an encoder made
    mask : bool[...], optional
        for x; true where a position is seen, broadcasts to [N, heads, T, T]
    memory_mask : bool[...], optional
        for the memory; broadcasts to [N, heads, T, S]
    layers : int > 0, required
    heads : int > 0, required
    hidden : int >= 0, default 0
        width within the fully connected net; 0: 4 * D
    act : function, default gelu()
        within the fully connected net
    causal : bool, default True
        positions of x see none that come after them
    rotary : bool, default False
        marks queries and keys of x with their positions
    pre_norm : bool, default True
        normalizes before each part and at the end; else after each
    eps : float > 0, default 1e-05
        of the normalization
    dropout_rate : float >= 0, <= 1, default 0.0
        share of each part's results that training drops
    param_attr : dict, default {}
    bias_attr : dict, default {}
    name : str, optional
        names the result in a graph

    Returns
    -------
    x

    Fields of param_attr
    --------------------
    init : function, optional
        makes the initial value
    weight_decay : float >= 0, <= 1, default 0.0
        fraction of itself that each step subtracts
    gradient_clipping : float >= 0, default 0.0
        largest magnitude of its gradient; 0 is unlimited
    lr_scale : float >= 0, default 1.0
        factor of the learning rate
    trainable : bool, default True
        whether training changes it

    Fields of bias_attr
    -------------------
    init : function, optional
        makes the initial value
    weight_decay : float >= 0, <= 1, default 0.0
        fraction of itself that each step subtracts
    gradient_clipping : float >= 0, default 0.0
        largest magnitude of its gradient; 0 is unlimited
    lr_scale : float >= 0, default 1.0
        factor of the learning rate
    trainable : bool, default True
        whether training changes it
    """
@overload
def transformer_decoder(
    *,
    mask: Operand | None = None,
    memory_mask: Operand | None = None,
    layers: int,
    heads: int,
    hidden: int = 0,
    act: FunctionLike | None = ...,
    causal: bool = True,
    rotary: bool = False,
    pre_norm: bool = True,
    eps: float = 1e-05,
    dropout_rate: float = 0.0,
    param_attr: ParameterAttributes = ...,
    bias_attr: ParameterAttributes = ...,
    training: bool = ...,
    recompute: bool = ...,
) -> Function: ...

@overload
def transformer_encoder(
    x: Value,
    mask: Operand | None = None,
    *,
    layers: int,
    heads: int,
    hidden: int = 0,
    act: FunctionLike | None = ...,
    causal: bool = False,
    rotary: bool = False,
    pre_norm: bool = True,
    eps: float = 1e-05,
    dropout_rate: float = 0.0,
    param_attr: ParameterAttributes = ...,
    bias_attr: ParameterAttributes = ...,
    name: str | None = None,
    training: bool = ...,
    recompute: bool = ...,
) -> Value:
    """Layers of self-attention and of a fully connected net, each added to its input (Vaswani
    et al., arXiv:1706.03762).

    Parameters
    ----------
    x : F[N, T, D]
    mask : bool[...], optional
        true where a position is seen; broadcasts to [N, heads, T, T]
    layers : int > 0, required
    heads : int > 0, required
    hidden : int >= 0, default 0
        width within the fully connected net; 0: 4 * D
    act : function, default gelu()
        within the fully connected net
    causal : bool, default False
        positions see none that come after them
    rotary : bool, default False
        marks queries and keys with their positions
    pre_norm : bool, default True
        normalizes before each part and at the end; else after each
    eps : float > 0, default 1e-05
        of the normalization
    dropout_rate : float >= 0, <= 1, default 0.0
        share of each part's results that training drops
    param_attr : dict, default {}
    bias_attr : dict, default {}
    name : str, optional
        names the result in a graph

    Returns
    -------
    x

    Fields of param_attr
    --------------------
    init : function, optional
        makes the initial value
    weight_decay : float >= 0, <= 1, default 0.0
        fraction of itself that each step subtracts
    gradient_clipping : float >= 0, default 0.0
        largest magnitude of its gradient; 0 is unlimited
    lr_scale : float >= 0, default 1.0
        factor of the learning rate
    trainable : bool, default True
        whether training changes it

    Fields of bias_attr
    -------------------
    init : function, optional
        makes the initial value
    weight_decay : float >= 0, <= 1, default 0.0
        fraction of itself that each step subtracts
    gradient_clipping : float >= 0, default 0.0
        largest magnitude of its gradient; 0 is unlimited
    lr_scale : float >= 0, default 1.0
        factor of the learning rate
    trainable : bool, default True
        whether training changes it
    """
@overload
def transformer_encoder(
    *,
    mask: Operand | None = None,
    layers: int,
    heads: int,
    hidden: int = 0,
    act: FunctionLike | None = ...,
    causal: bool = False,
    rotary: bool = False,
    pre_norm: bool = True,
    eps: float = 1e-05,
    dropout_rate: float = 0.0,
    param_attr: ParameterAttributes = ...,
    bias_attr: ParameterAttributes = ...,
    training: bool = ...,
    recompute: bool = ...,
) -> Function: ...

@overload
def warmup(
    step: Value,
    *,
    peak: float,
    steps: int,
    name: str | None = None,
    training: bool = ...,
    recompute: bool = ...,
) -> Value:
    """A learning rate that rises in a straight line and then stays.

    Parameters
    ----------
    step : i64[]
    peak : float > 0, required
        what it rises to
    steps : int > 0, required
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
    """
@overload
def warmup(*, peak: float, steps: int, training: bool = ..., recompute: bool = ...) -> Function: ...

@overload
def warmup_cosine(
    step: Value,
    *,
    peak: float,
    warmup: int,
    until: int,
    to: float = 0.0,
    name: str | None = None,
    training: bool = ...,
    recompute: bool = ...,
) -> Value:
    """A learning rate that rises in a straight line, then falls along half a cosine.

    Parameters
    ----------
    step : i64[]
    peak : float > 0, required
        the highest
    warmup : int > 0, required
        the step at which it is reached
    until : int > 0, required
        the step at which it has fallen
    to : float >= 0, default 0.0
    name : str, optional
        names the result in a graph

    Returns
    -------
    y
    """
@overload
def warmup_cosine(
    *,
    peak: float,
    warmup: int,
    until: int,
    to: float = 0.0,
    training: bool = ...,
    recompute: bool = ...,
) -> Function: ...

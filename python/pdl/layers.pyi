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

    Inputs:
      logits: a number for each class
      label

    Outputs:
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

    Inputs:
      w
      g
      lr: learning rate

    Outputs:
      y

    Attributes:
      eps > 0 = 1e-10
      initial >= 0 = 0.0
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
    """Adam (Kingma & Ba, arXiv:1412.6980): a parameter and its gradient to the parameter's next
    value.

    Inputs:
      w
      g
      lr: learning rate

    Outputs:
      y

    Attributes:
      beta1 >= 0, < 1 = 0.9: decay of the mean of gradients
      beta2 >= 0, < 1 = 0.999: decay of the mean of their squares
      eps > 0 = 1e-08
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

    Inputs:
      w
      g
      lr: learning rate

    Outputs:
      y

    Attributes:
      beta1 >= 0, < 1 = 0.9: decay of the mean of gradients
      beta2 >= 0, < 1 = 0.999: decay of the mean of their squares
      eps > 0 = 1e-08
      decay >= 0 = 0.01
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
    """Normalizes each channel (Ioffe & Szegedy, arXiv:1502.03167): by its batch while training, by
    the running mean and variance otherwise.

    Inputs:
      x

    Outputs:
      y

    Attributes:
      momentum >= 0, <= 1 = 0.9: share of the running values that is kept
      eps > 0 = 1e-05: added to the variance
      param_attr = {}
      bias_attr = {}
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
    other one from the last to the first (Schuster & Paliwal 1997). What they give for a step
    stands side by side, and so do their last states.

    Inputs:
      x: [N, ~T, D], or [N, T, D]
      lengths: the steps of each row of a padded batch

    Outputs:
      y
      last

    Attributes:
      forward: from x (and lengths) to values of the steps, and the last state
      backward
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

    Inputs:
      g

    Outputs:
      y

    Attributes:
      bound > 0
    """
@overload
def clip_gradient(*, bound: float, training: bool = ..., recompute: bool = ...) -> Function: ...

@overload
def conv(
    x: Value,
    *,
    channels: int,
    kernel: int,
    stride: int = 1,
    pad: int = 0,
    same: bool = False,
    dilation: int = 1,
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

    Inputs:
      x

    Outputs:
      y

    Attributes:
      channels > 0: of the result
      kernel > 0: the window's size along each dim
      stride > 0 = 1: steps between windows
      pad >= 0 = 0: zeros added on each side
      same = False: pads for size / stride windows, whatever `pad` says
      dilation > 0 = 1: steps between the places of a window
      groups > 0 = 1: parts of the channels; each sees its own alone
      act: applied last
      bias = True: adds a bias to each channel
      param_attr = {}: of the weight
      bias_attr = {}
    """
@overload
def conv(
    *,
    channels: int,
    kernel: int,
    stride: int = 1,
    pad: int = 0,
    same: bool = False,
    dilation: int = 1,
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
    kernel: int,
    stride: int = 1,
    dilation: int = 1,
    groups: int = 1,
    act: FunctionLike | None = ...,
    param_attr: ParameterAttributes = ...,
    name: str | None = None,
    training: bool = ...,
    recompute: bool = ...,
) -> Value:
    """Convolution without a bias, batch normalization, and an activation: the building block of
    residual networks (He et al., arXiv:1512.03385). The padding keeps the size where the stride
    is 1 and the kernel odd.

    Inputs:
      x

    Outputs:
      y

    Attributes:
      channels > 0: of the result
      kernel > 0: the window's size along each dim
      stride > 0 = 1: steps between windows
      dilation > 0 = 1: steps between the places of a window
      groups > 0 = 1: parts of the channels; each sees its own alone
      act = relu(): applied last
      param_attr = {}
    """
@overload
def conv_bn(
    *,
    channels: int,
    kernel: int,
    stride: int = 1,
    dilation: int = 1,
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
    kernel: int,
    stride: int = 2,
    dilation: int = 1,
    groups: int = 1,
    act: FunctionLike | None = None,
    bias: bool = True,
    param_attr: ParameterAttributes = ...,
    bias_attr: ParameterAttributes = ...,
    name: str | None = None,
    training: bool = ...,
    recompute: bool = ...,
) -> Value:
    """Transposed convolution with learned weights, over 1 to 3 spatial dims: multiplies each size
    by the stride.

    Inputs:
      x

    Outputs:
      y

    Attributes:
      channels > 0: of the result
      kernel > 0: the window's size along each dim
      stride > 0 = 2: by how much each size grows
      dilation > 0 = 1: steps between the places of a window
      groups > 0 = 1: parts of the channels; each sees its own alone
      act: applied last
      bias = True: adds a bias to each channel
      param_attr = {}: of the weight
      bias_attr = {}
    """
@overload
def conv_up(
    *,
    channels: int,
    kernel: int,
    stride: int = 2,
    dilation: int = 1,
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

    Inputs:
      step

    Outputs:
      y

    Attributes:
      from >= 0: at step 0
      until > 0: the step at which it has fallen
      to >= 0 = 0.0
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
    """Sets elements to 0 at random while training, and scales the others so that their mean stays
    (Srivastava et al. 2014); otherwise its input.

    Inputs:
      x

    Outputs:
      y

    Attributes:
      p >= 0, <= 1 = 0.5
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

    Inputs:
      ids

    Outputs:
      y

    Attributes:
      size > 0: length of a row
      param_attr = {}
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

    Inputs:
      xs: one or many

    Outputs:
      y

    Attributes:
      size > 0: width of the result
      act: applied last
      bias = True: adds a bias
      dropout_rate >= 0, <= 1 = 0.0: share of results that training drops
      param_attr = {}: of each input's weight
      bias_attr = {}
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
    """FTRL-Proximal (McMahan et al. 2013), which makes parameters that are exactly 0: a parameter
    and its gradient to the parameter's next value.

    Inputs:
      w
      g
      lr: learning rate

    Outputs:
      y

    Attributes:
      beta >= 0 = 1.0: makes first steps smaller
      l1 >= 0 = 0.0: how much keeps a parameter at 0
      l2 >= 0 = 0.0
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

    Inputs:
      a
      b
      c: what is added; it broadcasts to the product

    Outputs:
      y

    Attributes:
      alpha = 1.0: the factor of the product
      beta = 1.0: the factor of what is added
      transpose_a = False: takes a as [K, M]
      transpose_b = False
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

    Inputs:
      x

    Outputs:
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

    Inputs:
      x

    Outputs:
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

    Inputs:
      x

    Outputs:
      y

    Attributes:
      groups > 0: how many; it divides the count of channels
      eps > 0 = 1e-05: added to the variance
      scale = True: learns a factor
      bias = True: learns a shift
      param_attr = {}
      bias_attr = {}
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
    padded batches. As in PyTorch and cuDNN, the three parts of w_x, w_h and of both biases are
    those of the reset, update and new gates, in this order; the reset gate acts on the new
    gate's product with w_h, its bias b_h included; and all begin uniformly within 1 /
    sqrt(size).

    Inputs:
      x: [N, ~T, D], or [N, T, D]
      h: the first state; zeros where it is left out
      lengths: the steps of each row of a padded batch

    Outputs:
      y
      last

    Attributes:
      size > 0: width of the state
      reverse = False: from the last step of each sequence to the first
      bias = True
      param_attr = {}
      bias_attr = {}
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

    Inputs:
      gates
      h
      w_h
      b_x
      b_h

    Outputs:
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

    Inputs:
      x

    Outputs:
      y

    Attributes:
      eps > 0 = 1e-05: added to the variance
      scale = True: learns a factor
      bias = True: learns a shift
      param_attr = {}
      bias_attr = {}
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
    axes: Sequence[int] = [-1],
    eps: float = 1e-12,
    name: str | None = None,
    training: bool = ...,
    recompute: bool = ...,
) -> Value:
    """Divides by the Euclidean norm, so that it becomes 1.

    Inputs:
      x

    Outputs:
      y

    Attributes:
      axes = [-1]: the axes that the norm is taken over
      eps >= 0 = 1e-12
    """
@overload
def l2_normalize(
    *,
    axes: Sequence[int] = [-1],
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
    proportion to the parameter as the learning rate says. A parameter and its gradient to the
    next value.

    Inputs:
      w
      g
      lr: learning rate

    Outputs:
      y

    Attributes:
      beta1 >= 0, < 1 = 0.9: decay of the mean of gradients
      beta2 >= 0, < 1 = 0.999: decay of the mean of their squares
      eps > 0 = 1e-06
      decay >= 0 = 0.01
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

    Inputs:
      x

    Outputs:
      y

    Attributes:
      eps > 0 = 1e-05: added to the variance
      scale = True: learns a factor
      bias = True: learns a shift
      param_attr = {}
      bias_attr = {}
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
    """Divides each element by what the channels around it are (Krizhevsky et al. 2012, "ImageNet
    classification with deep convolutional neural networks"): by (bias + alpha / size * the sum
    of their squares) ** beta.

    Inputs:
      x

    Outputs:
      y

    Attributes:
      size > 0 = 5: how many channels; of an even count one more behind
      alpha = 0.0001: the weight of their squares
      beta = 0.75: the exponent
      bias = 1.0
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
    ragged sequences or padded batches. As in PyTorch and cuDNN, the four parts of w_x, w_h and
    of both biases are those of the input, forget, cell and output gates, in this order, and all
    begin uniformly within 1 / sqrt(size).

    Inputs:
      x: [N, ~T, D], or [N, T, D]
      h: the first hidden state; zeros where it is left out
      c: the first cell state; zeros where it is left out
      lengths: the steps of each row of a padded batch

    Outputs:
      y
      last
      cell

    Attributes:
      size > 0: width of the states
      reverse = False: from the last step of each sequence to the first
      bias = True
      param_attr = {}
      bias_attr = {}
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
    """A step of `lstm`: from the states before to the next ones, where `gates` has what the input
    adds to the input, forget, cell and output gates.

    Inputs:
      gates
      h
      c
      w_h
      bias

    Outputs:
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
    widths: Sequence[int],
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

    Inputs:
      x

    Outputs:
      x

    Attributes:
      widths: width of each layer's result, the last one's too
      act = relu(): after every layer but the last
      last_act: after the last
      dropout_rate >= 0, <= 1 = 0.0: after every layer but the last
      param_attr = {}
      bias_attr = {}
    """
@overload
def mlp(
    *,
    widths: Sequence[int],
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
    """Attention with several heads (Vaswani et al., arXiv:1706.03762): each position of x gathers
    what it needs of `memory`, or of x where that is left out.

    Inputs:
      x
      memory: what is attended to
      mask: true where a position is seen; broadcasts to [N, heads, T, S]

    Outputs:
      y

    Attributes:
      heads > 0
      kv_heads >= 0 = 0: heads of keys and values; 0: as many as `heads`
      causal = False: positions see none that come after them
      rotary = False: marks queries and keys with their positions
      bias = True
      dropout_rate >= 0, <= 1 = 0.0: share of results that training drops
      param_attr = {}
      bias_attr = {}
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

    Inputs:
      gs: all gradients of one loss

    Outputs:
      y

    Attributes:
      limit > 0
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

    Inputs:
      x
      y

    Outputs:
      y
    """
@overload
def outer(*, training: bool = ..., recompute: bool = ...) -> Function: ...

@overload
def piecewise(
    step: Value,
    *,
    boundaries: Sequence[int],
    values: Sequence[float],
    name: str | None = None,
    training: bool = ...,
    recompute: bool = ...,
) -> Value:
    """A learning rate of one value up to each boundary, and of a last one behind them.

    Inputs:
      step

    Outputs:
      rate

    Attributes:
      boundaries: rising steps; at each the next value begins
      values
    """
@overload
def piecewise(
    *,
    boundaries: Sequence[int],
    values: Sequence[float],
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
    """A gradient times a factor, with the gradient of `decay / 2` times the squared norm of the
    parameter added: `weight_decay` of a parameter (L2).

    Inputs:
      w
      g
      factor

    Outputs:
      y

    Attributes:
      decay >= 0 = 0.0
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

    Inputs:
      x

    Outputs:
      y

    Attributes:
      body
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

    Inputs:
      x

    Outputs:
      y

    Attributes:
      eps >= 0 = 1e-06: added to the mean
      scale = True: learns a factor
      param_attr = {}
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

    Inputs:
      w
      g
      lr: learning rate

    Outputs:
      y

    Attributes:
      rho >= 0, < 1 = 0.99: decay of the mean of squares
      eps > 0 = 1e-08
      momentum >= 0, < 1 = 0.0: share of the last step that is kept
      centered = False
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
    """A plain recurrent network over time (Elman 1990), over ragged sequences or padded batches: h
    = act(x @ w_x + b_x + h @ w_h + b_h). As in PyTorch, all parameters begin uniformly within 1
    / sqrt(size).

    Inputs:
      x: [N, ~T, D], or [N, T, D]
      h: the first state; zeros where it is left out
      lengths: the steps of each row of a padded batch

    Outputs:
      y
      last

    Attributes:
      size > 0: width of the state
      act = tanh()
      reverse = False: from the last step of each sequence to the first
      bias = True
      param_attr = {}
      bias_attr = {}
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

    Inputs:
      sums
      h
      w_h
      bias

    Outputs:
      h
      y

    Attributes:
      act = tanh()
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
    """A part of the way from a parameter to the value that an optimizer has for it: `lr_scale` of
    a parameter.

    Inputs:
      w
      next

    Outputs:
      y

    Attributes:
      scale >= 0
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

    Inputs:
      x: [N, ~T, D], or [N, ~S, ~T, D]

    Outputs:
      y

    Attributes:
      channels > 0: of the result
      size > 0 = 3: rows in a window
      start: from a row to the first of its window; none: -(size // 2)
      act: applied last
      bias = True: adds a bias to each channel
      param_attr = {}
      bias_attr = {}
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

    Inputs:
      w
      g
      lr: learning rate

    Outputs:
      y

    Attributes:
      momentum >= 0, < 1 = 0.0: share of the last step that is kept
      nesterov = False
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

    Inputs:
      step

    Outputs:
      y

    Attributes:
      from > 0: at step 0
      every > 0: steps from one fall to the next
      factor > 0 = 0.1
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

    Inputs:
      logits: a number for each class
      label: the classes

    Outputs:
      y

    Attributes:
      k > 0 = 5
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
    """Layers of self-attention, of attention to `memory` and of a fully connected net, each added
    to its input (Vaswani et al., arXiv:1706.03762).

    Inputs:
      x
      memory: what an encoder made
      mask: for x; true where a position is seen, broadcasts to [N, heads, T, T]
      memory_mask: for the memory; broadcasts to [N, heads, T, S]

    Outputs:
      x

    Attributes:
      layers > 0
      heads > 0
      hidden >= 0 = 0: width within the fully connected net; 0: 4 * D
      act = gelu(): within the fully connected net
      causal = True: positions of x see none that come after them
      rotary = False: marks queries and keys of x with their positions
      pre_norm = True: normalizes before each part and at the end; else after each
      eps > 0 = 1e-05: of the normalization
      dropout_rate >= 0, <= 1 = 0.0: share of each part's results that training drops
      param_attr = {}
      bias_attr = {}
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
    """Layers of self-attention and of a fully connected net, each added to its input (Vaswani et
    al., arXiv:1706.03762).

    Inputs:
      x
      mask: true where a position is seen; broadcasts to [N, heads, T, T]

    Outputs:
      x

    Attributes:
      layers > 0
      heads > 0
      hidden >= 0 = 0: width within the fully connected net; 0: 4 * D
      act = gelu(): within the fully connected net
      causal = False: positions see none that come after them
      rotary = False: marks queries and keys with their positions
      pre_norm = True: normalizes before each part and at the end; else after each
      eps > 0 = 1e-05: of the normalization
      dropout_rate >= 0, <= 1 = 0.0: share of each part's results that training drops
      param_attr = {}
      bias_attr = {}
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

    Inputs:
      step

    Outputs:
      y

    Attributes:
      peak > 0: what it rises to
      steps > 0
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

    Inputs:
      step

    Outputs:
      y

    Attributes:
      peak > 0: the highest
      warmup > 0: the step at which it is reached
      until > 0: the step at which it has fallen
      to >= 0 = 0.0
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

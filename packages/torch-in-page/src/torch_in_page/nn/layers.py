"""Layers: linear maps, tables, normalization, convolution, pooling, dropout and losses."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..creating import empty, ones, zeros
from ..dtypes import int64
from ..engine import no_grad
from ..tensor import Tensor, made
from . import functional as F
from . import init
from .convolution import _pair
from .module import Module
from .parameter import Parameter, UninitializedParameter


class Identity(Module):
    """Returns what it is given."""

    def __init__(self, *_: Any, **__: Any) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        """Return the input."""
        return input


class Linear(Module):
    """``x Wᵀ + b``."""

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.weight = Parameter(empty(out_features, in_features, dtype=dtype, device=device))
        if bias:
            self.bias = Parameter(empty(out_features, dtype=dtype, device=device))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            bound = 1 / math.sqrt(self.in_features) if self.in_features > 0 else 0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Tensor) -> Tensor:
        """Return the products with the rows of the weight."""
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        """Return what stands in the brackets."""
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, "
            f"bias={self.bias is not None}"
        )


class LazyLinear(Linear):
    """``x Wᵀ + b``, with as many columns in ``W`` as the first input has."""

    cls_to_become = Linear

    def __init__(
        self, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        Module.__init__(self)
        self.in_features, self.out_features = 0, out_features
        self.weight = UninitializedParameter(empty(0, dtype=dtype, device=device))
        if bias:
            self.bias = UninitializedParameter(empty(0, dtype=dtype, device=device))
        else:
            self.register_parameter("bias", None)

    def forward(self, input: Tensor) -> Tensor:
        """Draw the weights for this input, and be an ordinary layer from now on."""
        self.in_features = input.shape[-1]
        kind = self.weight.dtype
        self.weight.materialize(empty(self.out_features, self.in_features, dtype=kind))
        if self.bias is not None:
            self.bias.materialize(empty(self.out_features, dtype=kind))
        self.__class__ = Linear  # type: ignore[assignment]
        self.reset_parameters()
        return self.forward(input)


class Bilinear(Module):
    """``xᵀ W y + b``."""

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.in1_features, self.in2_features, self.out_features = (
            in1_features,
            in2_features,
            out_features,
        )
        self.weight = Parameter(
            empty(out_features, in1_features, in2_features, dtype=dtype, device=device)
        )
        if bias:
            self.bias = Parameter(empty(out_features, dtype=dtype, device=device))
        else:
            self.register_parameter("bias", None)
        bound = 1 / math.sqrt(in1_features)
        init.uniform_(self.weight, -bound, bound)
        if bias:
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        """Return the products of both inputs with each matrix."""
        return F.bilinear(input1, input2, self.weight, self.bias)


class Embedding(Module):
    """Rows of a table by their numbers."""

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: Any = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Any = None,
        _freeze: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if max_norm is not None or scale_grad_by_freq or sparse:
            raise NotImplementedError(
                "torch in this page has no max_norm=, scale_grad_by_freq= or sparse= for Embedding"
            )
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        if padding_idx is not None and padding_idx < 0:
            padding_idx = num_embeddings + padding_idx
        self.padding_idx = padding_idx
        if _weight is None:
            self.weight = Parameter(
                empty(num_embeddings, embedding_dim, dtype=dtype, device=device), not _freeze
            )
            self.reset_parameters()
        else:
            self.weight = Parameter(_weight, not _freeze)

    @classmethod
    def from_pretrained(
        cls, embeddings: Tensor, freeze: bool = True, padding_idx: Any = None
    ) -> Embedding:
        """Return a layer around a table."""
        rows, width = embeddings.shape
        return cls(rows, width, padding_idx, _weight=embeddings, _freeze=freeze)

    def reset_parameters(self) -> None:
        """Draw the table anew."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with no_grad():
                self.weight[self.padding_idx].fill_(0)

    def forward(self, input: Tensor) -> Tensor:
        """Return the rows."""
        return F.embedding(input, self.weight, self.padding_idx)

    def extra_repr(self) -> str:
        """Return what stands in the brackets."""
        more = "" if self.padding_idx is None else f", padding_idx={self.padding_idx}"
        return f"{self.num_embeddings}, {self.embedding_dim}{more}"


# ---------------------------------------------------------------- normalization


class LayerNorm(Module):
    """Vectors less their mean, divided by their spread."""

    def __init__(
        self,
        normalized_shape: Any,
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        shape = (
            (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        )
        self.normalized_shape, self.eps, self.elementwise_affine = shape, eps, elementwise_affine
        if elementwise_affine:
            self.weight = Parameter(ones(shape, dtype=dtype, device=device))
        else:
            self.register_parameter("weight", None)
        if elementwise_affine and bias:
            self.bias = Parameter(zeros(shape, dtype=dtype, device=device))
        else:
            self.register_parameter("bias", None)

    def reset_parameters(self) -> None:
        """Set the scale to 1 and the shift to 0."""
        for parameter, number in ((self.weight, 1.0), (self.bias, 0.0)):
            if parameter is not None:
                init.constant_(parameter, number)

    def forward(self, input: Tensor) -> Tensor:
        """Return the normalized vectors."""
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """Return what stands in the brackets."""
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}, bias={self.bias is not None}"  # noqa: E501


class RMSNorm(Module):
    """Vectors divided by the root of their mean square."""

    def __init__(
        self,
        normalized_shape: Any,
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        shape = (
            (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        )
        self.normalized_shape, self.eps, self.elementwise_affine = shape, eps, elementwise_affine
        if elementwise_affine:
            self.weight = Parameter(ones(shape, dtype=dtype, device=device))
        else:
            self.register_parameter("weight", None)

    def forward(self, x: Tensor) -> Tensor:
        """Return the normalized vectors."""
        return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        """Return what stands in the brackets."""
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"
        )


class GroupNorm(Module):
    """Groups of channels less their mean, divided by their spread."""

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.num_groups, self.num_channels, self.eps, self.affine = (
            num_groups,
            num_channels,
            eps,
            affine,
        )
        for name, make in (("weight", ones), ("bias", zeros)):
            made_ = Parameter(make(num_channels, dtype=dtype, device=device)) if affine else None
            self.register_parameter(name, made_)

    def forward(self, input: Tensor) -> Tensor:
        """Return the normalized channels."""
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """Return what stands in the brackets."""
        sizes = f"{self.num_groups}, {self.num_channels}, eps={self.eps}"
        return f"{sizes}, affine={self.affine}, bias={self.bias is not None}"


class _BatchNorm(Module):
    """Channels less their mean, divided by their spread, of the batch or as remembered."""

    axes: tuple[int, ...] = ()

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.num_features, self.eps, self.momentum, self.affine = (
            num_features,
            eps,
            momentum,
            affine,
        )
        self.track_running_stats = track_running_stats
        for name, make in (("weight", ones), ("bias", zeros)):
            made_ = Parameter(make(num_features, dtype=dtype, device=device)) if affine else None
            self.register_parameter(name, made_)
        kept = track_running_stats
        self.register_buffer("running_mean", zeros(num_features, dtype=dtype) if kept else None)
        self.register_buffer("running_var", ones(num_features, dtype=dtype) if kept else None)
        count = made(np.zeros((), np.int64), int64)
        self.register_buffer("num_batches_tracked", count if kept else None)

    def forward(self, input: Tensor) -> Tensor:
        """Return the normalized channels."""
        if input.ndim not in self.axes:
            wanted = " or ".join(f"{n}D" for n in self.axes)
            raise ValueError(f"expected {wanted} input (got {input.ndim}D input)")
        if self.training and self.track_running_stats:
            self.num_batches_tracked.add_(1)
        training = self.training or self.running_mean is None
        return F.batch_norm(
            input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            training,
            self.momentum,
            self.eps,
        )

    def extra_repr(self) -> str:
        """Return what stands in the brackets."""
        return f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, bias={self.bias is not None}, track_running_stats={self.track_running_stats}"  # noqa: E501


class BatchNorm1d(_BatchNorm):
    """Normalizes channels of vectors or sequences."""

    axes = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Normalizes channels of pictures."""

    axes = (4,)


# ---------------------------------------------------------------- convolution and pooling


class _Conv(Module):
    """Products of kernels with windows."""

    n = 1

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if in_channels % groups or out_channels % groups:
            raise ValueError("in_channels and out_channels must be divisible by groups")
        if padding_mode != "zeros":
            raise NotImplementedError(f"torch in this page has no padding_mode={padding_mode!r}")
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size, self.stride = _pair(kernel_size, self.n), _pair(stride, self.n)
        self.padding = padding if isinstance(padding, str) else _pair(padding, self.n)
        self.dilation = _pair(dilation, self.n)
        shape = (out_channels, in_channels // groups, *self.kernel_size)
        self.weight = Parameter(empty(shape, dtype=dtype, device=device))
        self.register_parameter(
            "bias", Parameter(empty(out_channels, dtype=dtype)) if bias else None
        )
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan = self.weight.shape[1] * math.prod(self.kernel_size)
            if fan:
                init.uniform_(self.bias, -1 / math.sqrt(fan), 1 / math.sqrt(fan))

    def forward(self, input: Tensor) -> Tensor:
        """Return the products."""
        conv = F.conv1d if self.n == 1 else F.conv2d
        return conv(
            input, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups
        )

    def extra_repr(self) -> str:
        """Return what stands in the brackets."""
        text = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}"
        text += f", stride={self.stride}"
        if isinstance(self.padding, str) or any(self.padding):
            text += f", padding={self.padding}"
        if any(d != 1 for d in self.dilation):
            text += f", dilation={self.dilation}"
        if self.groups != 1:
            text += f", groups={self.groups}"
        return text + (", bias=False" if self.bias is None else "")


class Conv1d(_Conv):
    """Products of kernels with windows of sequences."""

    n = 1


class Conv2d(_Conv):
    """Products of kernels with windows of pictures."""

    n = 2


class _Pool(Module):
    """A number for each window."""

    function: Any = None
    brief = False

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        if return_indices or ceil_mode:
            raise NotImplementedError(
                "torch in this page has no return_indices= and ceil_mode= for pooling"
            )
        self.kernel_size, self.stride = kernel_size, kernel_size if stride is None else stride
        self.padding, self.dilation = padding, dilation

    def forward(self, input: Tensor) -> Tensor:
        """Return the numbers."""
        function = type(self).function
        if self.brief:
            return function(input, self.kernel_size, self.stride, self.padding)
        return function(input, self.kernel_size, self.stride, self.padding, self.dilation)

    def extra_repr(self) -> str:
        """Return what stands in the brackets."""
        text = f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"
        return text if self.brief else text + f", dilation={self.dilation}, ceil_mode=False"


class MaxPool1d(_Pool):
    """The largest number of each window of a sequence."""

    function = F.max_pool1d


class MaxPool2d(_Pool):
    """The largest number of each window of a picture."""

    function = F.max_pool2d


class AvgPool1d(_Pool):
    """The mean of each window of a sequence."""

    function, brief = F.avg_pool1d, True


class AvgPool2d(_Pool):
    """The mean of each window of a picture."""

    function, brief = F.avg_pool2d, True


class AdaptiveAvgPool2d(Module):
    """So many means along both axes of a picture."""

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size

    def forward(self, input: Tensor) -> Tensor:
        """Return the means."""
        return F.adaptive_avg_pool2d(input, self.output_size)

    def extra_repr(self) -> str:
        """Return what stands in the brackets."""
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(AdaptiveAvgPool2d):
    """So many means along a sequence."""

    def forward(self, input: Tensor) -> Tensor:
        """Return the means."""
        return F.adaptive_avg_pool1d(input, self.output_size)


# ---------------------------------------------------------------- shapes and dropout


class Flatten(Module):
    """Several axes as one."""

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, input: Tensor) -> Tensor:
        """Return the flattened tensor."""
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        """Return what stands in the brackets."""
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Unflatten(Module):
    """One axis as several."""

    def __init__(self, dim: int, unflattened_size: Any) -> None:
        super().__init__()
        if isinstance(dim, str):
            raise NotImplementedError("torch in this page has no named axes")
        self.dim, self.unflattened_size = dim, unflattened_size

    def forward(self, input: Tensor) -> Tensor:
        """Return the tensor with the axis split."""
        return input.unflatten(self.dim, self.unflattened_size)

    def extra_repr(self) -> str:
        """Return what stands in the brackets."""
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"


class _Dropout(Module):
    """Numbers set to 0 with a probability while training."""

    function: Any = None

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if not 0 <= p <= 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p, self.inplace = p, inplace

    def forward(self, input: Tensor) -> Tensor:
        """Return the numbers that are left, enlarged."""
        return type(self).function(input, self.p, self.training, self.inplace)

    def extra_repr(self) -> str:
        """Return what stands in the brackets."""
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_Dropout):
    """Numbers set to 0 with a probability while training."""

    function = F.dropout


class Dropout1d(_Dropout):
    """Channels set to 0 with a probability while training."""

    function = F.dropout1d


class Dropout2d(_Dropout):
    """Channels of pictures set to 0 with a probability while training."""

    function = F.dropout2d


class CosineSimilarity(Module):
    """The cosines of angles between vectors."""

    def __init__(self, dim: int = 1, eps: float = 1e-8) -> None:
        super().__init__()
        self.dim, self.eps = dim, eps

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """Return the cosines."""
        return F.cosine_similarity(x1, x2, self.dim, self.eps)


class _Loss(Module):
    """A loss as a module: its settings are the function's keywords."""

    function: Any = None
    settings: dict[str, Any] = {}  # noqa: RUF012

    def __init__(self, **settings: Any) -> None:
        super().__init__()
        unknown = set(settings) - set(self.settings) - {"reduction"}
        if unknown:
            raise TypeError(
                f"{type(self).__name__} in this page does not know the keyword {unknown.pop()!r}"
            )
        self.reduction = settings.pop("reduction", "mean")
        for name, default in self.settings.items():
            value = settings.get(name, default)
            if isinstance(value, Tensor):
                self.register_buffer(name, value)
            else:
                setattr(self, name, value)

    def forward(self, *inputs: Tensor) -> Tensor:
        """Return the loss."""
        settings = {name: getattr(self, name) for name in self.settings}
        return type(self).function(*inputs, reduction=self.reduction, **settings)


def _loss(name: str, function: Any, first: tuple[str, ...] = (), **settings: Any) -> Any:
    def __init__(self: Any, *args: Any, **given: Any) -> None:
        _Loss.__init__(self, **dict(zip(first, args, strict=False)), **given)

    return type(
        name, (_Loss,),
        {"__init__": __init__, "function": staticmethod(function), "settings": settings,
         "__doc__": function.__doc__, "__module__": "torch.nn.modules.loss"},
    )  # fmt: skip


CrossEntropyLoss = _loss(
    "CrossEntropyLoss",
    F.cross_entropy,
    ("weight",),
    weight=None,
    ignore_index=-100,
    label_smoothing=0.0,
)
NLLLoss = _loss("NLLLoss", F.nll_loss, ("weight",), weight=None, ignore_index=-100)
MSELoss = _loss("MSELoss", F.mse_loss)
L1Loss = _loss("L1Loss", F.l1_loss)
SmoothL1Loss = _loss("SmoothL1Loss", F.smooth_l1_loss, beta=1.0)
HuberLoss = _loss("HuberLoss", F.huber_loss, delta=1.0)
BCELoss = _loss("BCELoss", F.binary_cross_entropy, ("weight",), weight=None)
BCEWithLogitsLoss = _loss(
    "BCEWithLogitsLoss",
    F.binary_cross_entropy_with_logits,
    ("weight",),
    weight=None,
    pos_weight=None,
)
KLDivLoss = _loss("KLDivLoss", F.kl_div, log_target=False)
PoissonNLLLoss = _loss("PoissonNLLLoss", F.poisson_nll_loss, ("log_input",), log_input=True)
GaussianNLLLoss = _loss("GaussianNLLLoss", F.gaussian_nll_loss, full=False, eps=1e-6)
SoftMarginLoss = _loss("SoftMarginLoss", F.soft_margin_loss)
MarginRankingLoss = _loss("MarginRankingLoss", F.margin_ranking_loss, ("margin",), margin=0.0)
HingeEmbeddingLoss = _loss("HingeEmbeddingLoss", F.hinge_embedding_loss, ("margin",), margin=1.0)
CosineEmbeddingLoss = _loss("CosineEmbeddingLoss", F.cosine_embedding_loss, ("margin",), margin=0.0)
TripletMarginLoss = _loss(
    "TripletMarginLoss", F.triplet_margin_loss, ("margin",), margin=1.0, p=2.0
)

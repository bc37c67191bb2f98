r"""Convolution and pooling of images, forward and backward.

Images have the shape (batch, channels, height, width).  As in all libraries for networks the
kernel is not flipped: mathematicians call this cross-correlation.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import ArrayLike

from primer.inputs import Count, Natural, checked, real, vector


@checked
def convolution_size(size: Count, kernel: Count, stride: Count = 1, padding: Natural = 0) -> int:
    r"""Compute the side of a convolution's output.

    .. math:: \Bigl\lfloor\frac{W-K+2P}{S}\Bigr\rfloor+1

    Parameters
    ----------
    size : int
        The input's side :math:`W`.
    kernel : int
        The kernel's side :math:`K`.
    stride : int
        :math:`S`, how far the kernel moves.
    padding : int
        :math:`P`, zeros added on each side.

    Returns
    -------
    int
        The number of places the kernel visits in this direction.

    Raises
    ------
    ValueError
        When a size or the stride is below 1, the padding negative, or the kernel larger than the
        padded input.

    References
    ----------
    Dumoulin and Visin (2016), "A guide to convolution arithmetic for deep learning",
    relationship 6.

    Examples
    --------
    >>> convolution_size(28, kernel=5), convolution_size(7, kernel=2, stride=2)
    (24, 3)
    """
    W, K = size, kernel
    S, P = stride, padding
    if K > W + 2 * P:
        raise ValueError(
            f"the kernel, {K}, is larger than the image, {W}"
            + (f" with padding {P} on both sides" if P else "")
            + "; pad the image or take a smaller kernel"
        )
    return (W - K + 2 * P) // S + 1


@checked
def receptive_field(layers: Count, kernel: Count) -> int:
    r"""Compute how many pixels in a row one output of a stack of convolutions sees.

    .. math:: L(K-1)+1

    Parameters
    ----------
    layers : int
        :math:`L\ge 1`, each of stride 1.
    kernel : int
        The kernels' side :math:`K`.

    Returns
    -------
    int
        The side of the square of inputs that matter.

    Raises
    ------
    ValueError
        When a number is below 1.

    References
    ----------
    Araujo, Norris and Sim (2019), "Computing receptive fields of convolutional neural
    networks".

    Examples
    --------
    >>> receptive_field(3, kernel=3)
    7
    """
    return layers * (kernel - 1) + 1


@checked
def convolve(
    images: ArrayLike,
    kernels: ArrayLike,
    bias: ArrayLike | None = None,
    stride: int = 1,
    padding: int = 0,
) -> Float[np.ndarray, "batch filters rows columns"]:
    r"""Slide kernels over images.

    .. math::
        Y_{nfij} = b_f + \sum_{c,h,l} X_{n,c,Si+h,Sj+l}\,W_{fchl}

    Parameters
    ----------
    images : array_like, shape (batch, channels, height, width)
        :math:`X`.
    kernels : array_like, shape (filters, channels, K, K')
        :math:`W`.
    bias : array_like, shape (filters,), optional
        :math:`b`; left out, 0.
    stride, padding : int
        As in :func:`convolution_size`.

    Returns
    -------
    float array, shape (batch, filters, rows, columns)
        :math:`Y`.

    Raises
    ------
    ValueError
        When shapes do not fit, the kernel is larger than the image, or the stride is below 1.

    References
    ----------
    LeCun, Bottou, Bengio and Haffner (1998).

    Examples
    --------
    >>> convolve([[[[1.0, 2.0, 4.0]]]], [[[[-1.0, 1.0]]]])  # differences of neighbors
    array([[[[1., 2.]]]])
    """
    X, W = _images("images", images), _images("kernels", kernels)
    windows = _windows(X, W, stride, padding)
    product = np.tensordot(windows, W, axes=((1, 4, 5), (1, 2, 3)))  # (batch, rows, columns, F)
    if bias is not None:
        product = product + vector("bias", bias, len(W))
    return np.moveaxis(product, 3, 1)


class ConvolutionGradients(NamedTuple):
    """The gradients of a convolution, each of the shape of what it belongs to."""

    images: Float[np.ndarray, "batch channels height width"]
    kernels: Float[np.ndarray, "filters channels rows columns"]
    bias: Float[np.ndarray, " filters"]


@checked
def convolution_gradients(
    images: ArrayLike,
    kernels: ArrayLike,
    output_gradient: ArrayLike,
    stride: int = 1,
    padding: int = 0,
) -> ConvolutionGradients:
    r"""Take a gradient backward through :func:`convolve`.

    .. math::
        dW_{fchl} = \sum_{n,i,j} dY_{nfij}\,X_{n,c,Si+h,Sj+l}, \qquad
        dX_{n,c,Si+h,Sj+l} \mathrel{+}= \sum_f dY_{nfij}\,W_{fchl}

    Every output that a weight helped to make sends its gradient back: :math:`dW` is itself a
    convolution of the image with :math:`dY`.

    Parameters
    ----------
    images, kernels : array_like
        As in :func:`convolve`.
    output_gradient : array_like, shape (batch, filters, rows, columns)
        :math:`dY`.
    stride, padding : int
        As in :func:`convolve`.

    Returns
    -------
    ConvolutionGradients
        With respect to images, kernels and bias.

    Raises
    ------
    ValueError
        When shapes do not fit.

    References
    ----------
    LeCun, Bottou, Bengio and Haffner (1998).

    Examples
    --------
    >>> convolution_gradients([[[[1.0, 2.0, 4.0]]]], [[[[-1.0, 1.0]]]], [[[[1.0, 1.0]]]]).kernels
    array([[[[3., 6.]]]])
    """
    X, W = _images("images", images), _images("kernels", kernels)
    dY = _images("output_gradient", output_gradient)
    windows = _windows(X, W, stride, padding)
    expected = (len(X), len(W), *windows.shape[2:4])
    if dY.shape != expected:
        raise ValueError(f"output_gradient must have shape {expected}, got {dY.shape}")
    dW = np.tensordot(dY, windows, axes=((0, 2, 3), (0, 2, 3)))
    padded = np.zeros((*X.shape[:2], X.shape[2] + 2 * padding, X.shape[3] + 2 * padding))
    rows, columns = dY.shape[2:]
    for h, k in np.ndindex(*W.shape[2:]):
        place = padded[:, :, h : h + stride * rows : stride, k : k + stride * columns : stride]
        place += np.einsum("nfij,fc->ncij", dY, W[:, :, h, k])
    inside = padded[:, :, padding : padding + X.shape[2], padding : padding + X.shape[3]]
    return ConvolutionGradients(inside, dW, dY.sum(axis=(0, 2, 3)))


@checked
def max_pool(
    images: ArrayLike, kernel: int, stride: int | None = None
) -> Float[np.ndarray, "batch channels rows columns"]:
    r"""Keep the largest number of each window.

    Parameters
    ----------
    images : array_like, shape (batch, channels, height, width)
        What is pooled; what is left over at the lower and right edge is dropped.
    kernel : int
        The window's side.
    stride : int, optional
        How far the window moves; left out, its side.

    Returns
    -------
    float array
        Each side is that of :func:`convolution_size`.

    Raises
    ------
    ValueError
        When the window is larger than the image, or a number is below 1.

    Examples
    --------
    >>> max_pool([[[[1.0, 5.0, 2.0, 3.0, 9.0]] * 2]], kernel=2)  # the last column is left over
    array([[[[5., 3.]]]])
    """
    return _pool_windows(images, kernel, stride).max(axis=(4, 5))


@checked
def average_pool(
    images: ArrayLike, kernel: int, stride: int | None = None
) -> Float[np.ndarray, "batch channels rows columns"]:
    """Average the numbers of each window; arguments and errors are those of :func:`max_pool`.

    Examples
    --------
    >>> average_pool([[[[1.0, 5.0, 2.0, 4.0]] * 2]], kernel=2)
    array([[[[3., 3.]]]])
    """
    return _pool_windows(images, kernel, stride).mean(axis=(4, 5))


@checked
def max_pool_gradient(
    images: ArrayLike, output_gradient: ArrayLike, kernel: int, stride: int | None = None
) -> Float[np.ndarray, "batch channels height width"]:
    """Hand the gradient of each window to its largest entry, the first of them if there are two.

    Parameters
    ----------
    images, kernel, stride
        As in :func:`max_pool`.
    output_gradient : array_like
        Of the shape of the pooled images.

    Returns
    -------
    float array
        Of the shape of the images.

    Raises
    ------
    ValueError
        When the gradient has not the shape of the pooled images.

    Examples
    --------
    >>> max_pool_gradient([[[[1.0, 5.0], [2.0, 3.0]]]], [[[[7.0]]]], kernel=2)
    array([[[[0., 7.],
             [0., 0.]]]])
    """
    windows = _pool_windows(images, kernel, stride)
    winner = windows.reshape(*windows.shape[:4], -1).argmax(axis=4)
    share = np.eye(kernel * kernel)[winner].reshape(windows.shape)
    return _spread(images, output_gradient, share, stride or kernel)


@checked
def average_pool_gradient(
    images: ArrayLike, output_gradient: ArrayLike, kernel: int, stride: int | None = None
) -> Float[np.ndarray, "batch channels height width"]:
    """Spread the gradient of each window evenly; arguments as in :func:`max_pool_gradient`.

    Examples
    --------
    >>> average_pool_gradient([[[[1.0, 5.0], [2.0, 3.0]]]], [[[[8.0]]]], kernel=2)
    array([[[[2., 2.],
             [2., 2.]]]])
    """
    windows = _pool_windows(images, kernel, stride)
    share = np.full(windows.shape, 1 / kernel**2)
    return _spread(images, output_gradient, share, stride or kernel)


def _images(name: str, values: ArrayLike) -> Float[np.ndarray, "_ _ _ _"]:
    """Return an array with four axes."""
    array = real(name, values)
    if array.ndim != 4:
        raise ValueError(
            f"{name} must have four axes, (batch or filters, channels, height, width), got shape "
            f"{array.shape}"
        )
    return array


def _windows(X: np.ndarray, W: np.ndarray, stride: int, padding: int) -> np.ndarray:
    """Look at all places the kernels visit: (batch, channels, rows, columns, K, K')."""
    if X.shape[1] != W.shape[1]:
        raise ValueError(f"the images have {X.shape[1]} channels, the kernels {W.shape[1]}")
    for side in (2, 3):
        convolution_size(X.shape[side], W.shape[side], stride, padding)
    edge = (padding, padding)
    padded = np.pad(X, ((0, 0), (0, 0), edge, edge))
    windows = sliding_window_view(padded, W.shape[2:], axis=(2, 3))
    return windows[:, :, ::stride, ::stride]


def _pool_windows(images: ArrayLike, kernel: int, stride: int | None) -> np.ndarray:
    """Look at all windows of a pooling layer."""
    X = _images("images", images)
    convolution_size(min(X.shape[2:]), kernel)
    shape = np.empty((1, X.shape[1], kernel, kernel))
    return _windows(X, shape, kernel if stride is None else stride, 0)


def _spread(
    images: ArrayLike, output_gradient: ArrayLike, share: np.ndarray, stride: int
) -> np.ndarray:
    """Give each entry of each window its share of the window's gradient."""
    dY = _images("output_gradient", output_gradient)
    if dY.shape != share.shape[:4]:
        raise ValueError(f"output_gradient must have shape {share.shape[:4]}, got {dY.shape}")
    result = np.zeros(np.shape(images))
    rows, columns = dY.shape[2:]
    for h, k in np.ndindex(*share.shape[4:]):
        place = result[:, :, h : h + stride * rows : stride, k : k + stride * columns : stride]
        place += dY * share[:, :, :, :, h, k]
    return result

r"""Learning without a step: a layer of linear attention does one step of gradient descent.

The text is a list of examples, tokens :math:`(x_j, y_j)`, and a query :math:`(x, 0)`. The last
number of each token is what is not yet explained.
"""

from __future__ import annotations

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import ArrayLike
from torch import nn

from primer.inputs import (
    Dim,
    Natural,
    NotNegative,
    Side,
    Steps,
    checked,
    count,
    matrix,
    room,
    tensor,
    vector,
)


@checked
@np.errstate(over="ignore", invalid="ignore")
def gradient_steps(
    x: ArrayLike, y: ArrayLike, query: ArrayLike, learning_rate: NotNegative, steps: Steps
) -> Float[np.ndarray, " steps"]:
    r"""Fit a line by gradient descent from 0 and predict after each step.

    .. math:: w \leftarrow w + \frac\eta n \sum_j (y_j - x_j w^\top)\,x_j

    Parameters
    ----------
    x : array_like, shape (n, d)
        Inputs of the examples.
    y : array_like, shape (n,)
        Their outputs.
    query : array_like, shape (d,)
        Where to predict.
    learning_rate : float
        :math:`\eta \ge 0`.
    steps : int
        How many.

    Returns
    -------
    float array, shape (steps,)
        The prediction after each step.

    Raises
    ------
    ValueError
        When shapes do not fit or a number is out of its range.

    Examples
    --------
    >>> gradient_steps([[1.0]], [2.0], [3.0], learning_rate=0.5, steps=2)
    array([3. , 4.5])
    """
    X, Y, q = _examples(x, y, query)
    w, said = np.zeros(X.shape[1]), []
    for _ in range(steps):
        w = w + learning_rate / len(X) * (Y - X @ w) @ X
        said.append(q @ w)
    return np.array(said)


@checked
@np.errstate(over="ignore", invalid="ignore")
def attention_layers(
    x: ArrayLike, y: ArrayLike, query: ArrayLike, learning_rate: NotNegative, layers: Steps
) -> Float[np.ndarray, " layers"]:
    r"""Predict by layers of linear attention over the examples; no weight is ever changed.

    Query and key of a token are its :math:`x`, its value is its last number :math:`r`, and

    .. math:: r_i \leftarrow r_i - \frac\eta n \sum_j (x_i x_j^\top)\, r_j .

    The examples' residuals begin as :math:`y_j`, the query's as 0; minus the query's is the
    prediction.

    Parameters
    ----------
    x, y, query, learning_rate
        As in :func:`gradient_steps`.
    layers : int
        How many.

    Returns
    -------
    float array, shape (layers,)
        The prediction after each layer.

    Raises
    ------
    ValueError
        As :func:`gradient_steps`.

    References
    ----------
    von Oswald et al. (2023), proposition 1.

    Examples
    --------
    >>> attention_layers([[1.0]], [2.0], [3.0], learning_rate=0.5, layers=2)
    array([3. , 4.5])
    """
    X, Y, q = _examples(x, y, query)
    tokens, residual = np.vstack([X, q]), np.append(Y, 0.0)  # (n + 1, d), (n + 1,)
    said = []
    for _ in range(layers):
        heard = tokens @ X.T @ residual[:-1]  # all attend to the examples
        residual = residual - learning_rate / len(X) * heard
        said.append(-residual[-1])
    return np.array(said)


def best_rate(n: int, d: int) -> float:
    r"""Compute the best step size of one step for random inputs.

    With independent standard normal entries of :math:`x_j`, :math:`x` and :math:`w`, and no noise,

    .. math:: \eta = \frac{n}{n + d + 1} .

    Parameters
    ----------
    n, d : int
        Examples, and numbers in each input.

    Returns
    -------
    float
        :math:`\eta`; the mean squared error is then :math:`1 - \eta` of that of always saying 0.

    Examples
    --------
    >>> best_rate(n=16, d=8)
    0.64
    """
    return count("n", n) / (n + count("d", d) + 1)


def _check_tokens(examples: torch.Tensor, query: torch.Tensor, A: torch.Tensor) -> None:
    """Raise a ``ValueError`` unless each task has examples and a query of as many numbers as A."""
    tensor("examples", examples, axes=3), tensor("query", query, axes=2)
    if query.shape != (len(examples), len(A)) or examples.shape[2] != len(A):
        raise ValueError(
            f"examples and query must hold tokens of {len(A)} numbers for as many tasks, "
            f"got shapes {tuple(examples.shape)} and {tuple(query.shape)}"
        )


class LinearAttentionLayer(nn.Module):
    r"""One layer of linear attention with all its weights free, to be trained.

    With tokens :math:`t_j = (x_j, y_j)` and the query :math:`t = (x, 0)`,

    .. math:: \hat y = \frac1n\sum_j (t\,A\,t_j^\top)\,(t_j\,u^\top)

    Parameters
    ----------
    d : int
        Numbers in an input; :math:`A` has :math:`(d+1)^2` and :math:`u` has :math:`d+1` weights.

    References
    ----------
    Ahn et al. (2023), "Transformers learn to implement preconditioned gradient descent".

    Examples
    --------
    >>> layer = LinearAttentionLayer(3)
    >>> layer(torch.zeros(5, 10, 4), torch.zeros(5, 4)).shape
    torch.Size([5])
    """

    @checked
    def __init__(self, d: Side) -> None:
        super().__init__()
        # a start at 0 would be a saddle: each factor's gradient holds the other
        self.A = nn.Parameter(0.1 * torch.randn(d + 1, d + 1))
        self.u = nn.Parameter(0.1 * torch.randn(d + 1))

    @checked
    def forward(
        self,
        examples: Float[torch.Tensor, "batch n tokens"],
        query: Float[torch.Tensor, "batch tokens"],
    ) -> Float[torch.Tensor, " batch"]:
        """Predict the query's output from the examples."""
        _check_tokens(examples, query, self.A)
        scores = torch.einsum("bi,ij,bnj->bn", query, self.A, examples)
        return (scores * (examples @ self.u)).mean(dim=1)


@checked
def linear_tasks(
    n_tasks: Dim, n: Dim, d: Dim, generator: torch.Generator
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Draw regressions: examples, a query whose output is hidden, and that output.

    Parameters
    ----------
    n_tasks, n, d : int
        Tasks, examples in each, numbers in an input.
    generator : torch.Generator
        Decides.

    Returns
    -------
    examples : Tensor of shape (n_tasks, n, d + 1)
    query : Tensor of shape (n_tasks, d + 1)
    answer : Tensor of shape (n_tasks,)

    Examples
    --------
    >>> examples, query, answer = linear_tasks(2, 5, 3, torch.Generator().manual_seed(0))
    >>> examples.shape, query[:, -1].tolist(), answer.shape
    (torch.Size([2, 5, 4]), [0.0, 0.0], torch.Size([2]))
    """
    room(n_tasks=n_tasks, n=n, d=d)
    x = torch.randn(n_tasks, n + 1, d, generator=generator)
    w = torch.randn(n_tasks, d, 1, generator=generator)
    y = x @ w  # (n_tasks, n + 1, 1)
    tokens = torch.cat([x, y], dim=2)
    query = tokens[:, -1].clone()
    query[:, -1] = 0
    return tokens[:, :-1], query, y[:, -1, 0]


@checked
def train_layer(d: int, n: int, *, seed: Natural, steps: Steps) -> LinearAttentionLayer:
    """Train one layer of linear attention with Adam, on 512 random regressions a step.

    Parameters
    ----------
    d, n : int
        Numbers in an input, examples in a text.
    seed : int
        Decides first weights and tasks.
    steps : int
        Updates.

    Returns
    -------
    LinearAttentionLayer
        The trained layer.

    Examples
    --------
    >>> layer = train_layer(2, 4, seed=0, steps=2)
    >>> layer.A.shape
    torch.Size([3, 3])
    """
    if seed >= 1 << 63:
        raise ValueError(f"seed must be below 2^63, got {seed}")
    draw = torch.Generator().manual_seed(seed)
    torch.manual_seed(seed)
    layer = LinearAttentionLayer(d)
    optimizer = torch.optim.Adam(layer.parameters(), lr=0.01)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    for _ in range(steps):
        examples, query, answer = linear_tasks(512, n, d, draw)
        loss = (layer(examples, query) - answer).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return layer


def _examples(
    x: ArrayLike, y: ArrayLike, query: ArrayLike
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Check that examples and query fit."""
    X = matrix("x", x)
    return X, vector("y", y, len(X)), vector("query", query, X.shape[1])

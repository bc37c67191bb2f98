r"""Encoder and decoder: one recurrent net reads, another one writes.

Between them is a single vector, or attention: the decoder scores every state of the encoder and
takes their mean with the weights that the softmax of the scores gives.
"""

from __future__ import annotations

from typing import Annotated

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from primer.inputs import Dim, Side, among, checked, count, one_of, room
from primer.inputs import tokens as token_ids
from primer.inputs.values import MANY
from primer.recurrent.cells import GRUCell
from primer.recurrent.layers import Recurrent, run

Scores = Float[Tensor, "... n"]


@checked
def dot_score(query: Float[Tensor, "... d"], keys: Float[Tensor, "... n d"]) -> Scores:
    r"""Score each key by its dot product with the query.

    .. math:: e_k = h\,s_k^\top

    Raises
    ------
    ValueError
        When query and keys have different lengths, or there is not a set of keys for each query.

    References
    ----------
    Luong, Pham and Manning (2015), section 3.1, "dot".

    Examples
    --------
    >>> keys = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> dot_score(torch.tensor([0.5, 0.2]), keys).round(decimals=4)
    tensor([0.5000, 0.2000, 0.7000])
    """
    check_keys(query, keys)
    return (keys @ query[..., None])[..., 0]


@checked
def bilinear_score(
    query: Float[Tensor, "... d"], keys: Float[Tensor, "... n k"], weight: Float[Tensor, "d k"]
) -> Scores:
    r"""Score each key by a product with a matrix in between.

    .. math:: e_k = h\,W s_k^\top

    Raises
    ------
    ValueError
        When the matrix does not fit.

    References
    ----------
    Luong, Pham and Manning (2015), section 3.1, "general".

    Examples
    --------
    >>> keys = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    >>> bilinear_score(torch.tensor([1.0, 2.0]), keys, torch.eye(2))
    tensor([1., 2.])
    """
    check_keys(query, keys)
    return dot_score(query @ weight, keys)


@checked
def mlp_score(
    query: Float[Tensor, "... d"],
    keys: Float[Tensor, "... n k"],
    weight: Float[Tensor, "d_plus_k hidden"],
    readout: Float[Tensor, " columns"],
) -> Scores:
    r"""Score each key by a small network that reads it beside the query.

    .. math:: e_k = \tanh\bigl([h, s_k]\,W\bigr)\,v^\top

    Raises
    ------
    ValueError
        When the matrix does not fit.

    References
    ----------
    Bahdanau, Cho and Bengio (2015), appendix A.1.2.

    Examples
    --------
    >>> weight = torch.tensor([[1.0], [1.0]])
    >>> mlp_score(torch.tensor([0.5]), torch.tensor([[0.0], [-0.5]]), weight, torch.tensor([2.0]))
    tensor([0.9242, 0.0000])
    """
    check_matrix(query, keys, weight, readout)
    d = query.shape[-1]
    hidden = (query @ weight[:d])[..., None, :] + keys @ weight[d:]  # (..., n, hidden)
    return hidden.tanh() @ readout


@checked
def attend(
    scores: Scores, keys: Float[Tensor, "... n d"]
) -> tuple[Float[Tensor, "... d"], Float[Tensor, "... n"]]:
    r"""Turn scores into weights, and take the mean of the keys with them.

    .. math:: \alpha = \operatorname{softmax}(e), \qquad c = \sum_k \alpha_k s_k

    Returns
    -------
    context : Tensor of shape (..., d)
        The mean :math:`c`.
    weights : Tensor of shape (..., n)
        :math:`\alpha`.

    Raises
    ------
    ValueError
        When there is not one score for each key.

    References
    ----------
    Bahdanau, Cho and Bengio (2015), equations 5 and 6.

    Examples
    --------
    >>> keys = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> context, weights = attend(torch.tensor([0.5, 0.2, 0.7]), keys)
    >>> weights, context
    (tensor([0.3376, 0.2501, 0.4123]), tensor([0.7499, 0.6624]))
    """
    check_scores(scores, keys)
    weights = scores.softmax(dim=-1)
    return (weights[..., None, :] @ keys)[..., 0, :], weights


def check_keys(query: Tensor, keys: Tensor) -> None:
    """Raise a ``ValueError`` unless each query has keys of its own: no axis is stretched."""
    if keys.ndim < 2 or query.shape[:-1] != keys.shape[:-2]:
        raise ValueError(
            f"query (..., d) and keys (..., n, d) need the same leading axes, got "
            f"{tuple(query.shape)} and {tuple(keys.shape)}; write keys.expand(…) to share them"
        )


def check_matrix(query: Tensor, keys: Tensor, weight: Tensor, readout: Tensor) -> None:
    """Raise a ``ValueError`` unless a matrix reads each query beside each of its keys."""
    check_keys(query, keys)
    d, k = query.shape[-1], keys.shape[-1]
    if weight.shape[0] != d + k or readout.shape != weight.shape[1:]:
        raise ValueError(
            f"the matrix needs {d} + {k} rows and a column for each entry of the readout, "
            f"got {tuple(weight.shape)} and {tuple(readout.shape)}"
        )


def check_scores(scores: Tensor, keys: Tensor) -> None:
    """Raise a ``ValueError`` unless each key has a score, and there is one at least."""
    if scores.shape != keys.shape[:-1] or scores.shape[-1] == 0:
        raise ValueError(
            f"each key needs a score, got scores of shape {tuple(scores.shape)} and keys of shape "
            f"{tuple(keys.shape)}"
        )


SCORES = ("dot", "bilinear", "mlp")
QUERIES = ("current", "previous")


class EncoderDecoder(nn.Module):
    r"""Read a sequence with one GRU, write another one with a second GRU.

    Without attention the decoder gets one vector :math:`c`, the encoder's last state, with every
    token (Cho et al., 2014).  With attention it is a new mean of the encoder's states at each step:

    * the score asks with the state *before* the step (Bahdanau et al., 2015), and the mean enters
      the step: :math:`h_t = g(y_{t-1}, h_{t-1}, c_t)`, or
    * with the state *after* it (Luong et al., 2015), and the mean joins the output:
      :math:`h_t = g(y_{t-1}, h_{t-1})`, :math:`\tilde h_t = \tanh([h_t, c_t]W_c)`.

    Tokens are 0 to ``n_letters`` − 1; one more, ``mark``, begins and ends what is written.

    Parameters
    ----------
    n_letters : int
        How many tokens there are besides the mark.
    hidden_size : int
        Units of each GRU.
    score : {None, "dot", "bilinear", "mlp"}
        How to score the encoder's states; ``None`` for the one vector.
    query : {"current", "previous"}
        Which state of the decoder asks.

    Raises
    ------
    ValueError
        When a choice is unknown or a number is not above 0.

    Examples
    --------
    >>> model = EncoderDecoder(5, 8, "dot")
    >>> source = torch.tensor([[1, 2, 3]])
    >>> model(source, torch.tensor([[3, 2, 1]])).shape  # three letters and the mark that ends
    torch.Size([1, 4, 6])
    """

    @checked
    def __init__(
        self,
        n_letters: Dim,
        hidden_size: Side,
        score: str | None = "bilinear",
        query: Annotated[str, among(QUERIES)] = "current",
    ) -> None:
        super().__init__()
        room(n_letters=n_letters, hidden_size=hidden_size)
        self.mark = n_letters
        self.score, self.query = score, query
        if score is not None:
            one_of("score", score, SCORES)
        d = hidden_size
        self.embed = nn.Embedding(n_letters + 1, d)
        self.encoder = Recurrent("gru", d, d)
        self.context_enters = score is None or query == "previous"
        self.decoder = GRUCell(2 * d if self.context_enters else d, d)
        if score == "bilinear":
            self.weight = nn.Parameter(torch.eye(d))
        if score == "mlp":
            self.weight = nn.Parameter(torch.randn(2 * d, d) / (2 * d) ** 0.5)
            self.readout = nn.Parameter(torch.randn(d) / d**0.5)
        self.combine = None if self.context_enters else nn.Linear(2 * d, d)
        self.head = nn.Linear(d, n_letters + 1)

    @checked
    def scores(self, query: Float[Tensor, "... d"], keys: Float[Tensor, "... n d"]) -> Scores:
        """Score the encoder's states.

        Raises
        ------
        ValueError
            When the model has no attention, or shapes do not fit.
        """
        if self.score is None:
            raise ValueError("this model was made with score=None: it has no attention to score")
        if self.score == "dot":
            return dot_score(query, keys)
        if self.score == "bilinear":
            return bilinear_score(query, keys, self.weight)
        return mlp_score(query, keys, self.weight, self.readout)

    def encode(
        self, source: Int[Tensor, "batch n"], lengths: Int[Tensor, " batch"] | None = None
    ) -> tuple[Float[Tensor, "batch n d"], Float[Tensor, "batch d"]]:
        """Read: all states of the encoder, and its last one.

        Raises
        ------
        ValueError
            When there is nothing to read or a token is unknown.
        """
        source = self._known(source, "source")
        keys, (last,) = self.encoder(self.embed(source), lengths=lengths)
        return keys, last[0]

    @checked
    def step(
        self,
        token: Int[Tensor, " batch"],
        state: Float[Tensor, "batch d"],
        keys: Float[Tensor, "batch n d"],
        context: Float[Tensor, "batch d"],
    ) -> tuple[
        Float[Tensor, "batch vocab"], Float[Tensor, "batch d"], Float[Tensor, "batch weights"]
    ]:
        """Write one token: its logits, the new state, and the weights of attention.

        Without attention there are no weights: a tensor of shape (batch, 0).
        """
        x = self.embed(token_ids("token", token, self.mark + 1))
        weights = x.new_zeros(len(x), 0)
        if self.score is not None and self.query == "previous":
            context, weights = attend(self.scores(state, keys), keys)
        if self.context_enters:
            x = torch.cat([x, context], dim=-1)
        (state,) = self.decoder(x, (state,))
        if self.combine is None:
            return self.head(state), state, weights
        context, weights = attend(self.scores(state, keys), keys)
        combined = self.combine(torch.cat([state, context], dim=-1)).tanh()
        return self.head(combined), state, weights

    def forward(
        self, source: Int[Tensor, "batch n"], target: Int[Tensor, "batch m"]
    ) -> Float[Tensor, "batch m_plus_1 vocab"]:
        r"""Compute the logits of the target and of the mark after it, with teacher forcing.

        .. math:: P(y \mid x) = \prod_t P(y_t \mid y_{<t}, x)

        Each step is told the true token before it, whatever it would have written itself.

        Raises
        ------
        ValueError
            When the source is empty, a token is unknown, or there are more sources than targets.

        References
        ----------
        Sutskever, Vinyals and Le (2014), equation 1; Williams and Zipser (1989) for teacher
        forcing.
        """
        target = self._known(target, "target", allow_empty=True)
        source = self._known(source, "source")
        if len(source) != len(target):
            raise ValueError(f"{len(source)} sources need as many targets, got {len(target)}")
        keys, state = self.encode(source)
        told = torch.cat([self._marks(source), target], dim=1)
        if self.score is not None and self.query == "previous":  # each mean enters the next step
            logits = []
            for token in told.unbind(1):
                now, state, _ = self.step(token, state, keys, state)
                logits.append(now)
            return torch.stack(logits, dim=1)
        x = self.embed(told)
        if self.context_enters:
            x = torch.cat([x, state[:, None].expand(-1, x.shape[1], -1)], dim=-1)
        states, _ = run(self.decoder, x, (state,))
        if self.combine is None:
            return self.head(states)
        shared = keys[:, None].expand(-1, states.shape[1], -1, -1)  # by all steps
        contexts, _ = attend(self.scores(states, shared), shared)
        return self.head(self.combine(torch.cat([states, contexts], dim=-1)).tanh())

    def loss(
        self, source: Int[Tensor, "batch n"], target: Int[Tensor, "batch m"]
    ) -> Float[Tensor, ""]:
        """Compute the cross-entropy of the target and the mark after it, in nats per token."""
        logits = self(source, target)
        wanted = torch.cat([target.long(), self._marks(target)], dim=1)
        return cross_entropy(logits.flatten(0, 1), wanted.flatten())

    @torch.no_grad()
    def write(
        self, source: Int[Tensor, "batch n"], n_tokens: int
    ) -> tuple[Int[Tensor, "batch n_tokens"], Float[Tensor, "batch n_tokens keys"]]:
        """Write freely: each step reads what the step before has written, the likeliest token.

        Parameters
        ----------
        source : int Tensor of shape (batch, n)
            What to read.
        n_tokens : int
            How many tokens to write.

        Returns
        -------
        tokens : int Tensor of shape (batch, n_tokens)
            What was written; from a mark on it means nothing.
        weights : Tensor of shape (batch, n_tokens, n)
            The weights of attention; the last axis is empty without attention.

        Raises
        ------
        ValueError
            When there is nothing to read or to write, or a token is unknown.
        """
        count("n_tokens", n_tokens, at_most=MANY)
        keys, state = self.encode(source)
        context, token = state, self._marks(source)[:, 0]
        written, weights = [], []
        for _ in range(n_tokens):
            logits, state, now = self.step(token, state, keys, context)
            token = logits.argmax(dim=-1)
            written.append(token)
            weights.append(now)
        return torch.stack(written, dim=1), torch.stack(weights, dim=1)

    def _marks(self, like: Tensor) -> Tensor:
        """Return a column of marks."""
        return torch.full((len(like), 1), self.mark)

    def _known(self, tokens: Tensor, name: str, *, allow_empty: bool = False) -> Tensor:
        """Return tokens in 64 bits, or refuse what cannot be read."""
        if not isinstance(tokens, Tensor):
            kind = type(tokens).__name__
            raise ValueError(f"the {name} must be a tensor of tokens, got a {kind}")
        if tokens.ndim != 2 or (tokens.numel() == 0 and not allow_empty):
            raise ValueError(
                f"the {name} must have shape (batch, length) and hold at least one token, "
                f"got {tuple(tokens.shape)}"
            )
        ids: Tensor = token_ids(f"the {name}", tokens, self.mark + 1)
        return ids.long()

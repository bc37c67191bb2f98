"""The keys and values of the tokens a model has read, kept so that no token is read twice."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from jaxtyping import Float, Int
from torch import Tensor

from primer.inputs import checked, tensor, whole
from primer.transformers.config import TransformerConfig

Heads = Float[Tensor, "batch kv_heads seq d_head"]
Stored = Float[Tensor, "batch kv_heads all_tokens d_head"]


class LayerCache:
    """The keys and values of one layer.

    Room for the whole context is taken at the first token and filled from the left, so that a new
    token costs one small copy and nothing that was stored before is moved.

    Parameters
    ----------
    capacity : int
        The number of tokens there is room for.
    """

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.length = 0
        self.keys: Tensor | None = None
        self.values: Tensor | None = None

    def append(self, key: Heads, value: Heads) -> tuple[Stored, Stored]:
        """Store the keys and values of new tokens; return those of all tokens so far.

        Parameters
        ----------
        key, value : Tensor of shape (batch, kv_heads, new tokens, d_head)
            What the layer computed for the new tokens, keys already turned by RoPE.  No gradient
            flows into what is stored.

        Returns
        -------
        tuple of Tensor of shape (batch, kv_heads, all tokens, d_head)
            Views of the store.

        Raises
        ------
        ValueError
            When the room does not suffice, or sequences, heads, numbers or precision are not those
            of before.
        """
        if tensor("key", key).ndim != 4 or tensor("value", value).shape[:3] != key.shape[:3]:
            raise ValueError(
                "keys and values must have shape (batch, kv_heads, tokens, d_head), got "
                f"{tuple(key.shape)} and {tuple(value.shape)}"
            )
        end = self.length + key.shape[-2]
        if end > self.capacity:
            raise ValueError(
                f"the cache has room for {self.capacity} tokens and holds {self.length}: "
                f"{key.shape[-2]} more do not fit"
            )
        if self.keys is None or self.values is None:
            room = (*key.shape[:-2], self.capacity)
            self.keys = key.new_empty((*room, key.shape[-1]))
            self.values = value.new_empty((*room, value.shape[-1]))
        elif (key.dtype, value.dtype) != (self.keys.dtype, self.values.dtype):
            raise ValueError(
                f"the cache holds {self.keys.dtype}, got {key.dtype}; begin a new one for a model "
                "of another precision"
            )
        elif value.shape[-1] != self.values.shape[-1]:
            raise ValueError(
                f"the cache holds values of {self.values.shape[-1]} numbers, got "
                f"{value.shape[-1]}; begin a new one"
            )
        elif key.shape[:2] != self.keys.shape[:2] or key.shape[-1] != self.keys.shape[-1]:
            raise ValueError(
                "the cache holds {} sequences with {} heads of {} numbers, ".format(
                    *self.keys.shape[:2], self.keys.shape[-1]
                )
                + "got {} with {} of {}; ".format(*key.shape[:2], key.shape[-1])
                + "reorder it or begin a new one"
            )
        self.keys[:, :, self.length : end] = key.detach()
        self.values[:, :, self.length : end] = value.detach()
        self.length = end
        return self.keys[:, :, :end], self.values[:, :, :end]


class KeyValueCache:
    r"""The keys and values of all layers of a transformer.

    A model that gets the cache reads only the new tokens,

    .. math::
        K_{\le t+1} = \begin{pmatrix} K_{\le t} \\ k_{t+1} \end{pmatrix}, \qquad
        V_{\le t+1} = \begin{pmatrix} V_{\le t} \\ v_{t+1} \end{pmatrix},

    and its logits are those it would compute if it read the whole text again.

    Parameters
    ----------
    config : TransformerConfig
        The configuration of the model it serves.

    Examples
    --------
    >>> import torch
    >>> from primer.transformers import Transformer, TransformerConfig
    >>> config = TransformerConfig(
    ...     vocab_size=10, n_layers=2, d_model=16, n_heads=4, n_kv_heads=1, context_length=8
    ... )
    >>> model, cache = Transformer(config).eval(), KeyValueCache(config)
    >>> tokens = torch.tensor([[3, 1, 4, 1, 5]])
    >>> first, second = model(tokens[:, :3], cache=cache), model(tokens[:, 3:], cache=cache)
    >>> torch.allclose(torch.cat([first, second], dim=1), model(tokens), atol=1e-6)
    True
    >>> cache.length, cache.bytes  # 2 layers × 2 × 1 head × 4 coordinates × 5 tokens × 4 bytes
    (5, 320)
    """

    @checked
    def __init__(self, config: TransformerConfig) -> None:
        self.layers = [LayerCache(config.context_length) for _ in range(config.n_layers)]

    def __getitem__(self, layer: int) -> LayerCache:
        """Return the cache of one layer."""
        return self.layers[layer]

    def __len__(self) -> int:
        """Return the number of layers."""
        return len(self.layers)

    @property
    def length(self) -> int:
        """The number of tokens stored."""
        return self.layers[0].length

    @property
    def bytes(self) -> int:
        """The bytes that the stored keys and values of all sequences take."""
        return sum(
            store[:, :, : layer.length].nbytes
            for layer in self.layers
            for store in (layer.keys, layer.values)
            if store is not None
        )

    def truncate(self, length: int) -> None:
        """Forget all tokens after the first ``length``, as when guessed tokens turn out wrong.

        Raises
        ------
        ValueError
            When ``length`` is negative or more than is stored.
        """
        if whole("length", length) < 0 or length > self.length:
            raise ValueError(f"length must lie between 0 and {self.length}, got {length}")
        for layer in self.layers:
            layer.length = length

    @checked
    def reorder(self, indices: Int[Tensor, " batch"]) -> None:
        """Let sequence ``i`` become what sequence ``indices[i]`` was, as beams do.

        An index may occur several times or not at all, so the number of sequences may change.

        Raises
        ------
        ValueError
            When an index names no sequence.
        """
        places = indices.long()  # torch takes no narrower ones
        for layer in self.layers:
            if layer.keys is None or layer.values is None:
                raise ValueError("the cache is empty: there is nothing to reorder")
            if layer is self.layers[0] and not _name_sequences(indices, len(layer.keys)):
                raise ValueError(
                    f"indices must lie between 0 and {len(layer.keys) - 1}, got {indices.tolist()}"
                )
            layer.keys = _rows(layer.keys, places, layer.length)
            layer.values = _rows(layer.values, places, layer.length)


@contextmanager
def all_or_none(cache: KeyValueCache | None) -> Iterator[None]:
    """Let no layer keep tokens that another one refused: what fails leaves a cache as it was.

    Examples
    --------
    >>> from primer.transformers.config import GPT2_SMALL
    >>> import torch
    >>> cache, part = KeyValueCache(GPT2_SMALL), torch.zeros(1, 12, 5, 64)
    >>> try:
    ...     with all_or_none(cache):
    ...         _ = cache[0].append(part, part)
    ...         raise ValueError("the second layer cannot read this")
    ... except ValueError:
    ...     cache.length
    0
    """
    layers = [] if cache is None else [cache[place] for place in range(len(cache))]
    before = [dict(vars(layer)) for layer in layers]
    try:
        yield
    except BaseException:
        for layer, held in zip(layers, before, strict=True):
            vars(layer).update(held)
        raise


def _name_sequences(indices: Int[Tensor, " batch"], n_sequences: int) -> bool:
    """Say whether there is an index, and each names one of the sequences."""
    return indices.numel() > 0 and bool(indices.min() >= 0) and bool(indices.max() < n_sequences)


def _rows(store: Stored, places: Int[Tensor, " batch"], length: int) -> Stored:
    """Choose sequences; of their room only what the first ``length`` tokens take is copied."""
    chosen = store.new_empty((len(places), *store.shape[1:]))
    chosen[:, :, :length] = store[places, :, :length]
    return chosen

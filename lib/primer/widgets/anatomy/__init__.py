"""Anatomy: every weight of five transformers, with what it stores and what it costs."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import traitlets
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from primer.palette import LIGHT
from primer.transformers import (
    GPT2_SMALL,
    GPT3,
    LLAMA_2_7B,
    ORIGINAL,
    TransformerConfig,
    load_pretrained,
)
from primer.transformers.counting import Weight, weights
from primer.widgets.base import Widget
from primer.widgets.controls import Choice, Name, Whole, known

COLORS = {
    "embedding": "gold",
    "attention": "blue",
    "cross-attention": "purple",
    "feed-forward": "green",
    "norm": "muted",
    "head": "red",
}
"""The color of each part of a model."""

BYTES = {1: "int8", 2: "float16", 4: "float32"}
"""The bytes of a number that the widget offers: int8, float16 or bfloat16, float32."""

MOST_TEXTS = 256


class Specimen(NamedTuple):
    """A model with the number of parameters that others counted."""

    config: TransformerConfig
    published: str
    source: str
    encoder: bool = False
    """Whether a stack of encoder blocks of the same size stands beside the decoder."""


@functools.cache
def specimens() -> dict[str, Specimen]:
    """Name the models: the book's own, then the others from small to large.

    Returns
    -------
    dict
        A :class:`Specimen` for each name.

    Examples
    --------
    >>> list(specimens())
    ["the book's own", 'original transformer', 'GPT-2', 'Llama-2-7B', 'GPT-3']
    """
    model, _ = load_pretrained("plays")
    counted = sum(weight.numel() for weight in model.parameters())
    return {
        "the book's own": Specimen(model.config, f"{counted:,}", "counted in its file"),
        "original transformer": Specimen(
            ORIGINAL, "65 M", "Vaswani et al. (2017), table 3, base model", encoder=True
        ),
        "GPT-2": Specimen(
            GPT2_SMALL, "124 M", "with the released model; Radford et al. (2019) say 117 M"
        ),
        "Llama-2-7B": Specimen(
            LLAMA_2_7B, "6.7 B", "Touvron et al. (2023), LLaMA, table 2, same shape"
        ),
        "GPT-3": Specimen(GPT3, "175.0 B", "Brown et al. (2020), table 2.1"),
    }


def stacks(specimen: Specimen) -> dict[str, list[Weight]]:
    """Sort a model's weights into the stacks they stand in.

    An encoder block has the weights of a decoder-only block; a decoder block that reads an encoder
    has a second attention with its norm.

    Parameters
    ----------
    specimen : Specimen
        The model.

    Returns
    -------
    dict
        Lists of weights for "embedding"; "block", or "encoder" and "decoder"; and "head".

    Examples
    --------
    >>> small = TransformerConfig(
    ...     vocab_size=10, n_layers=1, d_model=4, n_heads=2, context_length=8
    ... )
    >>> {name: len(stack) for name, stack in stacks(Specimen(small, "", "")).items()}
    {'embedding': 1, 'block': 9, 'head': 2}
    """
    table = weights(specimen.config)
    last = next(i for i, weight in enumerate(table) if weight.part == "feed-forward")
    while table[last].part == "feed-forward":
        last += 1
    ends = [weight for weight in table[:last] if weight.part == "embedding"]
    block = table[len(ends) : last]
    inner = {"block": block}
    if specimen.encoder:
        attention = [weight for weight in block if weight.part == "attention"]
        norm = [weight for weight in block if weight.name.startswith("norm1")]
        feed = block.index(next(w for w in block if w.name.startswith("norm2")))
        cross = [w._replace(part="cross-attention", name=f"cross {w.name}") for w in attention]
        third = [w._replace(name=w.name.replace("norm1", "cross norm")) for w in norm]
        inner = {"encoder": block, "decoder": [*block[:feed], *third, *cross, *block[feed:]]}
    return {"embedding": ends, **inner, "head": table[last:]}


def dissect(specimen: Specimen) -> dict[str, Any]:
    """Describe a model as plain data: its weights, each with its bias, and what else costs.

    Parameters
    ----------
    specimen : Specimen
        The model.

    Returns
    -------
    dict
        ``weights``, a list of dicts with ``stack``, ``part``, ``name``, ``shapes``, ``copies``,
        ``parameters`` and ``flops`` (for one token, without what grows with the text);
        ``score_flops``, operations for each token and each key it meets; ``cache_numbers``, kept
        for each token; ``layers``, ``context_length``, ``published`` and ``source``.

    Examples
    --------
    >>> data = dissect(specimens()["GPT-2"])
    >>> data["weights"][3]["name"], data["weights"][3]["shapes"], data["weights"][3]["parameters"]
    ('query', [[768, 768], [768]], 7087104)
    """
    config = specimen.config
    rows: list[dict[str, Any]] = []
    for stack, members in stacks(specimen).items():
        for weight in members:
            if weight.name.endswith(" bias"):
                rows[-1]["shapes"].append(list(weight.shape))
                rows[-1]["parameters"] += weight.parameters
                continue
            name = f"encoder {weight.name}" if stack == "encoder" else weight.name
            rows.append(
                {
                    "stack": stack,
                    "part": weight.part,
                    "name": name,
                    "shapes": [list(weight.shape)],
                    "copies": weight.copies,
                    "parameters": weight.parameters,
                    "flops": weight.flops,
                }
            )
    attentions = 3 if specimen.encoder else 1  # encoder, decoder, and from one to the other
    caches = 2 if specimen.encoder else 1  # the decoder's own, and what it reads of the encoder
    return {
        "weights": rows,
        "score_flops": 4 * config.d_model * config.n_layers * attentions,
        "cache_numbers": 2 * config.kv_heads * config.d_head * config.n_layers * caches,
        "layers": config.n_layers,
        "context_length": config.context_length,
        "published": specimen.published,
        "source": specimen.source,
    }


class Anatomy(Widget):
    r"""The weights of a transformer as areas and as shapes, with its parameters and its costs.

    Parameters
    ----------
    **state
        First values of the traits: ``specimen`` (the name of a model), ``tokens`` (the length of
        the text, 1 to the model's context length), ``texts`` (how many are read at once, 1 to
        256), ``bytes_per_number`` (1, 2 or 4) and ``chosen`` (the name of a weight).

    Raises
    ------
    traitlets.TraitError
        When a model or a weight is unknown, or a number is out of its range.

    Examples
    --------
    >>> Anatomy(specimen="GPT-3")  # doctest: +NORMALIZE_WHITESPACE
    Anatomy(specimen='GPT-3', tokens=2048, texts=1, bytes_per_number=2, chosen='query')
    """

    description = (
        "A transformer cut into its weights: a rectangle whose columns are the layers and whose "
        "areas are the parameters; one block with its matrices drawn in the proportions of their "
        "shapes; and a table of shapes, parameters and floating-point operations, with the totals "
        "beside the published numbers."
    )

    models = traitlets.Dict().tag(sync=True)
    specimen = Name("GPT-2", among="models", label="Model")
    tokens = Whole(1, low=1, high=2**20, scale="octaves", form="grouped", label="Tokens of text")
    texts = Whole(1, low=1, high=MOST_TEXTS, scale="octaves", label="Texts at once")
    bytes_per_number = Choice(2, BYTES, look="select", label="Stored as")
    chosen = traitlets.Unicode("query").tag(sync=True)

    def __init__(self, **state: Any) -> None:
        models = {name: dissect(specimen) for name, specimen in specimens().items()}
        name = state.get("specimen", "GPT-2")
        if name in models:
            state.setdefault("tokens", models[name]["context_length"])
        super().__init__(**{"models": models, **state})

    @traitlets.validate("tokens")
    def _short_enough(self, proposal: traitlets.Bunch) -> int:
        longest = self.models[self.specimen]["context_length"]
        if proposal.value > longest:
            raise traitlets.TraitError(
                f"{self.specimen} reads at most {longest} tokens, got {proposal.value}"
            )
        return int(proposal.value)

    @traitlets.validate("chosen")
    def _known_weight(self, proposal: traitlets.Bunch) -> str:
        names = [weight["name"] for weight in self.models[self.specimen]["weights"]]
        return known("chosen", proposal.value, names)

    @traitlets.observe("specimen")
    def _follow_specimen(self, change: traitlets.Bunch) -> None:
        """Stay within what the new model has."""
        model = self.models[change.new]
        self.tokens = min(self.tokens, model["context_length"])
        if self.chosen not in [weight["name"] for weight in model["weights"]]:
            self.chosen = "query"

    def picture(self) -> Figure:
        """Draw the parameters as areas: a column for each layer, a cell for each weight.

        Returns
        -------
        Figure
            One panel.
        """
        table = self.models[self.specimen]["weights"]
        total = sum(weight["parameters"] for weight in table)
        figure = Figure(figsize=(7.2, 3.0), layout="constrained")
        axes = figure.subplots()
        left = 0.0
        for stack in dict.fromkeys(weight["stack"] for weight in table):
            members = [w for w in table if w["stack"] == stack and w["copies"]]
            whole = sum(weight["parameters"] for weight in members)
            for _ in range(max((weight["copies"] for weight in members), default=0)):
                width, bottom = whole / members[0]["copies"] / total, 0.0
                for weight in members:
                    height = weight["parameters"] / whole
                    color = LIGHT[COLORS[weight["part"]]]
                    cell = Rectangle((left, bottom), width, height, color=color, alpha=0.7, lw=0)
                    axes.add_patch(cell)
                    axes.plot([left, left + width], [bottom] * 2, color=LIGHT["paper"], lw=0.6)
                    bottom += height
                left += width
                axes.axvline(left, color=LIGHT["paper"], lw=0.6)
        parts = dict.fromkeys(weight["part"] for weight in table if weight["copies"])
        handles = [Rectangle((0, 0), 1, 1, color=LIGHT[COLORS[part]], alpha=0.7) for part in parts]
        figure.legend(handles, list(parts), loc="outside lower center", ncols=6, frameon=False)
        axes.set(xlim=(0, 1), ylim=(1, 0), xticks=[], yticks=[])
        axes.spines[:].set_visible(False)
        published = self.models[self.specimen]["published"]
        axes.set_title(f"{self.specimen}: {total:,} parameters (published: {published})")
        return figure

"""The small models of the chapter, as the study of this topic left them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from primer.inputs import among, checked
from primer.transformers import Transformer, load_checkpoint

RECORDED = {
    name: Path(__file__).with_name(f"{name}.safetensors") for name in ("base", "trained", "misled")
}


@checked
def load_recorded(name: Annotated[str, among(RECORDED)]) -> Transformer:
    """Load a model that answers for the calculator.

    Parameters
    ----------
    name : {"base", "trained", "misled"}
        Taught by worked examples; then by the checker that presses the keys; or, instead, by the
        one that believes what it reads.

    Returns
    -------
    Transformer
        In evaluation mode.

    Examples
    --------
    >>> load_recorded("base").config.vocab_size
    56
    """
    return load_checkpoint(RECORDED[name])

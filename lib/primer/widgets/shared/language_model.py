"""What widgets share whose page runs a language model on the reader's text."""

from __future__ import annotations

from typing import ClassVar

import traitlets

from primer.language_models import BytePairEncoding
from primer.transformers import Transformer
from primer.widgets.base import Widget
from primer.widgets.shared.quantized import book_model, unpacked


class LanguageModelWidget(Widget, abstract=True):
    """A widget with a text and the model that reads it in the page.

    A subclass names its :attr:`EXAMPLES`; the first is the text at the beginning.
    """

    EXAMPLES: ClassVar[tuple[str, ...]]
    """Texts to choose from, when others are not given."""

    text = traitlets.Unicode().tag(sync=True)
    examples = traitlets.List(traitlets.Unicode()).tag(sync=True)
    checkpoint = traitlets.Bytes().tag(sync=True)

    @traitlets.default("text")
    def _default_text(self) -> str:
        return self.EXAMPLES[0]

    @traitlets.default("examples")
    def _default_examples(self) -> list[str]:
        return list(self.EXAMPLES)

    @traitlets.default("checkpoint")
    def _default_checkpoint(self) -> bytes:
        return book_model()

    @traitlets.validate("text")
    def _check_text(self, proposal: traitlets.Bunch) -> str:
        try:
            proposal.value.encode("utf-8")
        except UnicodeEncodeError:
            raise traitlets.TraitError("text holds half a character, a lone surrogate") from None
        return str(proposal.value)

    @traitlets.validate("checkpoint")
    def _check_checkpoint(self, proposal: traitlets.Bunch) -> bytes:
        try:
            unpacked(proposal.value)
        except ValueError as error:
            raise traitlets.TraitError(f"checkpoint: {error}") from None
        return bytes(proposal.value)

    def model(self) -> Transformer:
        """Return the model that the page runs."""
        return unpacked(self.checkpoint)[0]

    def encoding(self) -> BytePairEncoding:
        """Return the model's tokens."""
        return unpacked(self.checkpoint)[1]

    def end(self) -> int | None:
        """Return the token that ends a text."""
        return self.encoding().special_tokens.get("<|end|>")

    def name_of(self, token: int) -> str:
        """Write a token with its spaces and line breaks shown, or that the text ends here."""
        if token == self.end():
            return "the end"
        return self.encoding().decode([token]).replace(" ", "␣").replace("\n", "⏎")

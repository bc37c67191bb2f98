"""BERT beside Hugging Face's, a CRF beside pytorch-crf, masking beside Hugging Face's collator."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from tokenizers import Tokenizer, models
from torchcrf import CRF
from transformers import (
    BertConfig,
    BertForPreTraining,
    DataCollatorForLanguageModeling,
    PreTrainedTokenizerFast,
)

from benchmarks.table import Row, alternating_seconds
from primer import pretraining as pre

BATCH, LENGTH, VOCAB_SIZE = 8, 128, 1024
WORDS, TAGS = 128, 9
TOKENS = 1024 * 128


def rows() -> Iterator[Row]:
    """Time reading with BERT, a tagger's last layer, and the preparation of a batch."""
    torch.manual_seed(0)
    yield bert_row()
    yield from crf_rows()
    yield masking_row()


def bert_row() -> Row:
    """Time the forward pass of a small BERT with the same weights."""
    config = BertConfig(
        vocab_size=VOCAB_SIZE,
        num_hidden_layers=4,
        hidden_size=128,
        num_attention_heads=4,
        intermediate_size=512,
        max_position_embeddings=LENGTH,
    )
    theirs = BertForPreTraining(config).eval()
    ours = pre.load_bert(theirs.state_dict(), theirs.config)
    tokens = torch.randint(VOCAB_SIZE, (BATCH, LENGTH))
    segments = torch.zeros_like(tokens)

    @torch.no_grad()
    def read() -> object:
        return ours(tokens, segments)

    @torch.no_grad()
    def peer() -> object:
        return theirs(tokens, token_type_ids=segments)

    torch.testing.assert_close(read().words, peer().prediction_logits, atol=1e-4, rtol=1e-4)  # type: ignore[attr-defined]
    return Row(
        f"BERT of 4 layers × 128 reads {BATCH} × {LENGTH} tokens",
        *alternating_seconds(read, peer),
        "Hugging Face transformers",
    )


def crf_rows() -> Iterator[Row]:
    """Time one sentence's loss with its gradient, and its best path."""
    ours, theirs = pre.LinearChainCRF(TAGS), CRF(TAGS, batch_first=True)
    with torch.no_grad():
        for mine, other in (
            (ours.transitions, theirs.transitions),
            (ours.first, theirs.start_transitions),
            (ours.last, theirs.end_transitions),
        ):
            mine.copy_(other)
    scores, tags = torch.randn(WORDS, TAGS), torch.randint(TAGS, (WORDS,))

    yield Row(
        f"CRF: loss and gradient of {WORDS} words, {TAGS} tags",
        *alternating_seconds(
            lambda: ours.log_likelihood(scores, tags).backward(),
            lambda: theirs(scores[None], tags[None]).backward(),
        ),
        "pytorch-crf",
    )
    assert ours.decode(scores).tolist() == theirs.decode(scores[None])[0]
    yield Row(
        f"CRF: best path of {WORDS} words, {TAGS} tags",
        *alternating_seconds(lambda: ours.decode(scores), lambda: theirs.decode(scores[None])),
        "pytorch-crf",
    )


def masking_row() -> Row:
    """Time the masking of a large batch."""
    vocabulary = {f"w{i}": i for i in range(VOCAB_SIZE)} | {"[MASK]": VOCAB_SIZE}
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer(models.WordLevel(vocabulary, unk_token="w0")),
        mask_token="[MASK]",
    )
    collator = DataCollatorForLanguageModeling(tokenizer, mlm_probability=0.15)
    tokens = torch.randint(VOCAB_SIZE, (TOKENS // LENGTH, LENGTH))
    special = torch.zeros_like(tokens, dtype=torch.bool)
    draw = torch.Generator().manual_seed(0)
    seconds = alternating_seconds(
        lambda: pre.mask_tokens(tokens, draw, mask_id=VOCAB_SIZE, vocab_size=VOCAB_SIZE),
        lambda: collator.torch_mask_tokens(tokens.clone(), special),
    )
    return Row(
        f"masking {TOKENS:,} tokens as BERT does, tokens/s",
        TOKENS / seconds[0],
        TOKENS / seconds[1],
        "Hugging Face's collator; more is better",
        unit="t/s",
    )

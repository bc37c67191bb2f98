"""Pretraining: hide something, predict it, keep what helped.

The chapter *Pretraining* teaches this module; each function stands there beside its formula.
"""

from primer.pretraining.answer_spans import AnswerSpan, SpanBoundary, best_span, span_loss
from primer.pretraining.bert import (
    BERT_BASE,
    BERT_LARGE,
    Bert,
    BertForPretraining,
    BertOutput,
    bert_parameters,
    load_bert,
)
from primer.pretraining.crf import LinearChainCRF, Path, log_partition, path_score, viterbi
from primer.pretraining.directions import Direction, stage_directions
from primer.pretraining.families import family_mask
from primer.pretraining.glue import GLUE, f1, matthews, spearman
from primer.pretraining.in_context import (
    LinearAttentionLayer,
    attention_layers,
    best_rate,
    gradient_steps,
    linear_tasks,
    train_layer,
)
from primer.pretraining.memorization import occurrences, overlap, right_guesses, run_lengths
from primer.pretraining.objectives import (
    BERT_SPLIT,
    Corruption,
    mask_tokens,
    masked_cross_entropy,
    next_token,
    prefix,
)
from primer.pretraining.sentence_pairs import Pair, next_sentence_pairs
from primer.pretraining.span_corruption import (
    SpanCorruption,
    SpanSizes,
    corrupt_spans,
    infill,
    restore,
    span_sizes,
)
from primer.pretraining.span_masking import mask_spans, span_length_probabilities
from primer.pretraining.tagging import (
    Span,
    collect_tags,
    decode_bio,
    encode_bio,
    longest_match,
    may_follow,
    spread_tags,
)
from primer.pretraining.twin import MASK, MaskedModel, load_twin, with_mask

__all__ = [
    "BERT_BASE",
    "BERT_LARGE",
    "BERT_SPLIT",
    "GLUE",
    "MASK",
    "AnswerSpan",
    "Bert",
    "BertForPretraining",
    "BertOutput",
    "Corruption",
    "Direction",
    "LinearAttentionLayer",
    "LinearChainCRF",
    "MaskedModel",
    "Pair",
    "Path",
    "Span",
    "SpanBoundary",
    "SpanCorruption",
    "SpanSizes",
    "attention_layers",
    "bert_parameters",
    "best_rate",
    "best_span",
    "collect_tags",
    "corrupt_spans",
    "decode_bio",
    "encode_bio",
    "f1",
    "family_mask",
    "gradient_steps",
    "infill",
    "linear_tasks",
    "load_bert",
    "load_twin",
    "log_partition",
    "longest_match",
    "mask_spans",
    "mask_tokens",
    "masked_cross_entropy",
    "matthews",
    "may_follow",
    "next_sentence_pairs",
    "next_token",
    "occurrences",
    "overlap",
    "path_score",
    "prefix",
    "restore",
    "right_guesses",
    "run_lengths",
    "span_length_probabilities",
    "span_loss",
    "span_sizes",
    "spearman",
    "spread_tags",
    "stage_directions",
    "train_layer",
    "viterbi",
    "with_mask",
]

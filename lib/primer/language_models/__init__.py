"""How surprising is the next letter: scores, counts, the first network, and tokens.

The chapter *Language models* teaches this module; each function stands there beside its formula.
The chapters on attention, transformers and inference read and write Shakespeare's plays with it.
"""

from typing import TYPE_CHECKING

from primer.language_models.byte_pairs import END, BytePairEncoding
from primer.language_models.counting import (
    Alphabet,
    Counts,
    add_counts,
    count_ngrams,
    largest_order,
    ngram_keys,
)
from primer.language_models.kneser_ney import KneserNey, kneser_ney_discounts
from primer.language_models.losses import (
    cross_entropy,
    entropy,
    kl_divergence,
    log_softmax,
    softmax,
)
from primer.language_models.merges import (
    learn_merges,
    learn_merges_by_rescan,
    merge_pair,
    merges_by_rescan,
)
from primer.language_models.ngrams import AddK, NGramModel
from primer.language_models.perplexities import (
    bits_per_character,
    perplexity,
    perplexity_per,
    shannon_bounds,
)
from primer.language_models.spelling import next_characters
from primer.language_models.words import PATTERN, count_words, split_words
from primer.lazy import lazily

if TYPE_CHECKING:
    from primer.language_models.window import (
        WindowModel,
        count_window_parameters,
        load_window_model,
        train_window_model,
        window_log_probabilities,
        window_rows,
    )
    from primer.language_models.word_vectors import (
        nearest,
        positive_pmi,
        skip_gram_loss,
        skip_gram_pairs,
        spectral_vectors,
    )

__all__ = [
    "END",
    "PATTERN",
    "AddK",
    "Alphabet",
    "BytePairEncoding",
    "Counts",
    "KneserNey",
    "NGramModel",
    "WindowModel",
    "add_counts",
    "bits_per_character",
    "count_ngrams",
    "count_window_parameters",
    "count_words",
    "cross_entropy",
    "entropy",
    "kl_divergence",
    "kneser_ney_discounts",
    "largest_order",
    "learn_merges",
    "learn_merges_by_rescan",
    "load_window_model",
    "log_softmax",
    "merge_pair",
    "merges_by_rescan",
    "nearest",
    "next_characters",
    "ngram_keys",
    "perplexity",
    "perplexity_per",
    "positive_pmi",
    "shannon_bounds",
    "skip_gram_loss",
    "skip_gram_pairs",
    "softmax",
    "spectral_vectors",
    "split_words",
    "train_window_model",
    "window_log_probabilities",
    "window_rows",
]

__getattr__, __dir__ = lazily(__name__)

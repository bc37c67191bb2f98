"""From characters to tokens and back: byte-pair encoding.

The chapters on attention, transformers and inference read and write Shakespeare's plays with it.
"""

from primer.language_models.byte_pairs import END, BytePairEncoding
from primer.language_models.merges import learn_merges, learn_merges_by_rescan, merge_pair
from primer.language_models.words import PATTERN, count_words, split_words

__all__ = [
    "END",
    "PATTERN",
    "BytePairEncoding",
    "count_words",
    "learn_merges",
    "learn_merges_by_rescan",
    "merge_pair",
    "split_words",
]

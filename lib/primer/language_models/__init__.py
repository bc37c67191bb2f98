"""From characters to tokens: byte-pair encoding, trained, applied and undone.

The chapter *Language models* teaches this module; chapters 07, 09 and 11 use it on the plays.
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

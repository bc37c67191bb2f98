"""The study that trains the writer of words backwards."""

import torch

from primer import recurrent
from primer.recurrent.backwards import LETTERS
from studies.recurrent.backwards import train_writer


def test_training_learns():
    random = torch.Generator().manual_seed(3)
    strings = recurrent.reversal(64, 3, LETTERS, random)
    torch.manual_seed(0)
    fresh = recurrent.EncoderDecoder(LETTERS, 48, "bilinear").loss(*strings)
    assert train_writer(40).loss(*strings) < 0.8 * fresh

"""The board's numbers, errors and differences, computed anew from the scenes by other means.

The files are read with the standard library, the means and their errors are those of statsmodels:
a regression on a constant, with errors by cluster.
"""

from __future__ import annotations

import csv
import itertools
import math
import re
from pathlib import Path

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st

from primer.datasets import VALIDATION_PLAYS, split_plays
from primer.language_models import KneserNey
from primer.recurrent import character_models
from primer.scoreboard import mean_by_scene, read_readings, read_scoreboard, sorted_rows
from primer.scoreboard.entries import ENTRIES
from primer.scoreboard.rules import READINGS, encoded_plays
from primer.scoreboard.scenes import by_scene, of_characters, scene_lengths, scene_starts
from primer.scoreboard.table import FOLDER, column


def lines_of(name: str) -> list[dict[str, str]]:
    """Read a file of the board."""
    return list(csv.DictReader((FOLDER / name).read_text(encoding="utf-8").splitlines()))


SCENES, ROWS, AGAIN = map(lines_of, ("scenes.csv", "scoreboard.csv", "readings.csv"))
CHARACTERS = np.array([int(line["characters"]) for line in SCENES])


def bits_of(name: str) -> np.ndarray:
    """Read a column of the table of scenes."""
    return np.array([float(line[name]) for line in SCENES])


def mean_and_error(bits: np.ndarray) -> tuple[float, float]:
    """Compute bits per character and their error: 71 means, weighted by length, each a cluster."""
    fit = sm.WLS(bits / CHARACTERS, np.ones(len(bits)), weights=CHARACTERS).fit(
        cov_type="cluster", cov_kwds={"groups": np.arange(len(bits))}
    )
    return float(fit.params[0]), float(fit.bse[0])


@pytest.mark.parametrize("line", ROWS, ids=lambda line: line["model"])
def test_a_row_its_error_and_its_lead_follow_from_the_scenes_to_the_last_digit(line):
    bits = bits_of(line["model"])
    mean, error = mean_and_error(bits)
    assert (line["all"], line["error"]) == (f"{mean:.4f}", f"{error:.4f}")
    for title in VALIDATION_PLAYS:
        of_play = np.array([scene["play"] == title for scene in SCENES])
        assert line[title] == f"{bits[of_play].sum() / CHARACTERS[of_play].sum():.4f}"
    better = [row["model"] for row in ROWS if bits_of(row["model"]).sum() < bits.sum()]
    above = max(better, key=lambda model: bits_of(model).sum(), default="")
    assert line["above"] == above
    if above:
        more, error = mean_and_error(bits - bits_of(above))
        found = (line["difference"], line["difference_error"])
        assert found == (f"{more:z.4f}", f"{error:.4f}")


@pytest.mark.parametrize("line", AGAIN, ids=lambda line: line["model"])
def test_another_reading_follows_from_the_scenes_to_the_last_digit(line):
    bits = bits_of(f"{line['model']} ({line['reads']})")
    expected = [*mean_and_error(bits), *mean_and_error(bits - bits_of(line["model"]))]
    found = [line[key] for key in ("all", "error", "difference", "difference_error")]
    assert found == [f"{number:z.4f}" for number in expected]


def test_the_files_have_every_model_and_every_reading():
    assert [line["model"] for line in ROWS] == list(ENTRIES)
    named = [(name, reads) for name, entry in ENTRIES.items() for reads in entry.again]
    assert [(line["model"], line["reads"]) for line in AGAIN] == named
    assert {*SCENES[0]} == {
        "play",
        "scene",
        "characters",
        *ENTRIES,
        *(column(*pair) for pair in named),
    }
    kinds = {reads for entry in ENTRIES.values() for reads in (entry.reads, *entry.again)}
    assert kinds == READINGS.keys()


def test_the_scenes_are_those_of_the_plays():
    """Line by line: SCENE or EPILOGUE opens a scene, and takes the heading of its act along."""
    found = []
    for title in VALIDATION_PLAYS:
        text, lengths, act = split_plays()[1][title], [0], 0
        for line in text.splitlines(keepends=True):
            if line.startswith("ACT "):
                act = len(line)
            elif re.match(r"SCENE |EPILOGUE\n", line):
                if len(lengths) > 1 or lengths[0] > 500:  # what precedes the first belongs to it
                    lengths[-1] -= act
                    lengths.append(act)
                act = 0
            elif line.strip():
                act = 0
            elif act:
                act += len(line)
            lengths[-1] += len(line)
        assert sum(lengths) == len(text)
        found += [(title, length) for length in lengths]
    assert [(line["play"], int(line["characters"])) for line in SCENES] == found
    assert len(found) == 71


def test_the_error_is_that_of_a_regression_on_all_characters():
    """One observation for each character, as statsmodels has it: the 3-gram on *Macbeth*."""
    training, held_out = split_plays()
    alphabet, texts = encoded_plays(training)
    play = held_out["Macbeth"]
    costs = -KneserNey.fit(texts, alphabet.vocab_size, 3).log2_probabilities(alphabet.encode(play))
    costs[-2] += costs[-1]  # the end, with the last character
    scene = np.repeat(np.arange(28), scene_lengths(play))
    fit = sm.OLS(costs[:-1], np.ones(len(play))).fit(cov_type="cluster", cov_kwds={"groups": scene})
    of_macbeth = [line["play"] == "Macbeth" for line in SCENES]
    ours = mean_by_scene(bits_of("3-gram")[of_macbeth], CHARACTERS[of_macbeth])
    assert ours.mean == pytest.approx(fit.params[0], abs=1e-5)
    assert ours.error == pytest.approx(fit.bse[0], abs=1e-5)


@given(st.lists(st.tuples(st.floats(-50, 50), st.integers(1, 40)), min_size=2, max_size=12))
def test_the_formula_on_random_scenes(scenes):
    bits, lengths = (np.array(part, dtype=float) for part in zip(*scenes, strict=True))
    found = mean_by_scene(bits, lengths.astype(int))
    each = np.repeat(bits / lengths, lengths.astype(int))
    fit = sm.OLS(each, np.ones(len(each))).fit(
        cov_type="cluster",
        cov_kwds={"groups": np.repeat(np.arange(len(bits)), lengths.astype(int))},
    )
    assert found.mean == pytest.approx(fit.params[0], abs=1e-9)
    assert found.error == pytest.approx(fit.bse[0], abs=1e-7)


def test_scenes_of_one_character_have_the_usual_error_of_a_mean():
    x = np.array([1.0, 4.0, 7.0, 0.5])
    assert mean_by_scene(x, [1] * 4) == pytest.approx((x.mean(), x.std(ddof=1) / 2))


def test_what_is_decided_and_what_is_not():
    board = read_scoreboard()
    undecided = {row.model for row in board.values() if row.above and not row.behind.decided}
    assert undecided == {"8-gram", "LSTM", "LZMA", "small, hybrid"}  # as the page says
    assert board["LZMA"].above == "small, selective state space"
    assert board["small, hybrid"].above == "LZMA"
    assert board["8-gram"].above == "7-gram"
    assert board["LSTM"].above == "small, linear attention"
    # a pair is far surer than its two rows: what is hard for one is hard for the other
    eight, seven = board["8-gram"], board["7-gram"]
    assert eight.difference_error < math.hypot(eight.error, seven.error) / 30


def test_the_order_of_the_page_is_that_of_the_rows():
    models = [row.model for row in sorted_rows()]
    assert [row.above for row in sorted_rows()] == ["", *models[:-1]]


@pytest.mark.parametrize(
    ("bits", "characters", "said"),
    [
        ([1.0], [3], "at least two scenes"),
        ([1.0, 2.0], [3], "shapes"),
        ([[1.0, 2.0]], [[3, 4]], "at least two scenes"),
        ([1.0, math.nan], [3, 4], r"bits must be finite, got nan at \[1\]"),
        ([1.0, 2.0], [3, 0], "at least 1 character, got 0"),
    ],
)
def test_an_error_that_cannot_be_computed_is_refused(bits, characters, said):
    with pytest.raises(ValueError, match=said):
        mean_by_scene(bits, characters)


# ------------------------------------------------------------------- scenes of texts, by hand

PLAY = (
    "Ti\n\nACT I\n\nSCENE I. A\n\na SCENE\n\nSCENE II. B\n\nACT II\n\nSCENE I. C\n\nEPILOGUE\nBye"
)


def test_an_act_belongs_to_the_scene_that_follows_it():
    parts = np.split(np.array(list(PLAY)), scene_starts(PLAY)[1:])
    assert ["".join(part).split("\n")[0] for part in parts] == [
        "Ti",
        "SCENE II. B",
        "ACT II",
        "EPILOGUE",
    ]
    assert scene_lengths(PLAY).sum() == len(PLAY)
    assert scene_starts("no scene\nat all").tolist() == [0]


def test_the_end_is_charged_to_the_last_scene():
    costs = np.arange(len(PLAY) + 1.0)
    sums = by_scene(PLAY, costs)
    starts = [*scene_starts(PLAY), len(PLAY) + 1]
    assert sums.tolist() == [costs[a:b].sum() for a, b in itertools.pairwise(starts)]
    with pytest.raises(ValueError, match="one number for each of 3 characters and one for the end"):
        by_scene("abc", [1.0, 2.0, 3.0])


def test_a_token_costs_each_of_its_bytes_alike():
    costs = of_characters("née\n", [b"n\xc3", b"\xa9e", b"\n"], [4.0, 2.0, 1.0, 0.25])
    assert costs.tolist() == [2.0, 2.0 + 1.0, 1.0, 1.0, 0.25]
    with pytest.raises(ValueError, match="spell another text"):
        of_characters("ab", [b"a"], [1.0, 1.0])
    with pytest.raises(ValueError, match="one number for each of 1 tokens"):
        of_characters("ab", [b"ab"], [1.0])


# ------------------------------------------------------------------- what the page says of them

PAGE = Path("chapters/appendix/scoreboard.md").read_text(encoding="utf-8")
WORDS = " ".join(PAGE.split())


def test_the_page_says_what_the_files_say():
    board = read_scoreboard()
    for model in ("8-gram", "7-gram"):
        assert f"{board[model].error:.3f}" == "0.021"
    assert "8-gram and 7-gram have ± 0.021 each, their difference has ± 0.0008" in WORDS
    of_play = [[line["play"] == title for line in SCENES] for title in VALIDATION_PLAYS]
    costs = bits_of("transformer")
    coarse = mean_by_scene(
        [costs[play].sum() for play in of_play], [CHARACTERS[play].sum() for play in of_play]
    )
    fine = board["transformer"].error
    assert f"the transformer has ± {coarse.error:.3f} in place of ± {fine:.3f}" in WORDS
    [half] = [r for r in read_readings() if (r.model, r.reads) == ("transformer", "half windows")]
    gain = f"gains the transformer {-half.difference:.3f} ± {half.difference_error:.3f} bits"
    assert gain in WORDS
    assert "its lead over PPMd doubles" in WORDS
    lead = board["PPMd"].all - board["transformer"].all
    assert (lead - half.difference) / lead == pytest.approx(2, abs=0.1)
    assert "the step from small selective to small hybrid has ± 0.003" in WORDS
    step = bits_of("small, hybrid") - bits_of("small, selective state space")
    assert f"{mean_and_error(step)[1]:.3f}" == "0.003"
    [pieces] = [r for r in read_readings() if (r.model, r.reads) == ("LSTM", "pieces")]
    assert f"the LSTM's row read {pieces.all:.3f}" in WORDS


def test_one_piece_led_the_lstm_astray():
    """The piece of the page: what it costs in pieces, and read from 1,024 letters before."""
    play = split_plays()[1]["The Tempest"]
    begin = 48 * 1024
    assert play[begin - 259 : begin - 251] == "CALIBAN\n"  # of which IBAN is read
    model = character_models()["lstm"]
    cold = model.bits_by_character(play[: begin + 1024], piece=1024)[begin:]
    warm = model.bits_by_character(play[begin - 1024 : begin + 1024])[1024:]
    assert f"{cold.mean():.1f}" == "17.3"
    assert f"{warm.mean():.1f}" == "3.0"
    assert "costs 17.3 bits a character in place of 3.0" in WORDS
    pieces = sum(-(-len(text) // 1024) for text in split_plays()[1].values())
    assert f"of the {pieces} pieces *one*, in *The Tempest*," in WORDS

"""Hostile files, refusals that leave nothing changed, and checks that must not pass."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import save_file
from scipy.optimize import minimize_scalar
from torch import nn

from primer import fine_tuning, inside, pretraining, scaling, train
from primer.datasets import corpus_hash
from primer.language_models import BytePairEncoding, Counts, count_ngrams
from primer.language_models.byte_pairs import FORMAT
from primer.language_models.counting import Alphabet
from primer.language_models.kneser_ney import KneserNey
from primer.language_models.ngrams import AddK
from primer.language_models.window import FORMAT as WINDOW_FORMAT
from primer.language_models.window import WindowModel, load_window_model, save_window_model
from primer.language_models.word_vectors import spectral_vectors
from primer.language_models.words import PATTERN
from primer.notebook import Estimate, monte_carlo, verify, verify_between, verify_simulated
from primer.saving import write_whole
from primer.scoreboard import read_readings, read_scenes, read_scoreboard
from primer.scoreboard.table import SCENES
from primer.tables import read_records, read_table, write_records
from primer.transformers import Transformer, TransformerConfig
from studies.study import followed, spread

DOUBLING = [[97, 97], *([256 + n, 256 + n] for n in range(45))]


def test_merges_that_double_are_refused_before_they_fill_the_memory(tmp_path: Path) -> None:
    file = tmp_path / "merges.json"
    whole = {"format": FORMAT, "pattern": PATTERN, "special_tokens": [], "merges": DOUBLING}
    file.write_text(json.dumps(whole))
    with pytest.raises(ValueError, match="a token of more than 1,048,576 bytes"):
        BytePairEncoding.load(file)
    with pytest.raises(ValueError, match="lone surrogate"):
        BytePairEncoding([], ["\ud800"])
    for path in (tmp_path, "x" * 5000, None):
        with pytest.raises(ValueError, match="tokenizer file"):
            BytePairEncoding.load(path)  # type: ignore[arg-type]


SMALL = WindowModel(4, 2, 3, 3)
ABOUT = {"sizes": SMALL.sizes, "characters": "abc", "corpus": "x"}
HALVES = {name: weight.half().contiguous() for name, weight in SMALL.state_dict().items()}


@pytest.mark.parametrize(
    ("about", "weights", "words"),
    [
        ("{", HALVES, "no whole window model"),
        ("[" * 100_000, HALVES, "no whole window model"),
        ("[]", HALVES, "no whole window model"),
        ("{}", HALVES, "no whole window model"),
        (ABOUT | {"sizes": SMALL.sizes | {"vocab_size": 2**24}}, HALVES, "not those of its sizes"),
        (ABOUT | {"sizes": SMALL.sizes | {"x": 1}}, HALVES, "no whole window model"),
        (ABOUT | {"characters": "abcdefgh"}, HALVES, "an alphabet of 9 symbols"),
        (ABOUT, {n: w * math.nan for n, w in HALVES.items()}, "NaN or infinite"),
        (ABOUT, {n: w.to(torch.int8) for n, w in HALVES.items()}, "no floating-point"),
        (ABOUT, {"embed.weight": HALVES["embed.weight"]}, "not those of its sizes"),
    ],
)
def test_a_file_that_is_no_window_model(
    about: Any, weights: dict[str, torch.Tensor], words: str, tmp_path: Path
) -> None:
    file = tmp_path / "window.safetensors"
    text = about if isinstance(about, str) else json.dumps(about)
    save_file(weights, file, {"format": WINDOW_FORMAT, "about": text})
    with pytest.raises(ValueError, match=words):
        load_window_model(file)


def test_a_weight_that_half_precision_has_not_is_not_saved(tmp_path: Path) -> None:
    large = WindowModel(4, 2, 3, 3)
    large.head.bias.data[0] = 1e6
    with pytest.raises(ValueError, match="beyond 65504"):
        save_window_model(tmp_path / "window", large, Alphabet("abc"), "x")
    assert not any(tmp_path.iterdir())


def test_what_is_no_file_and_no_bytes_is_not_written(tmp_path: Path) -> None:
    for path in ("a\0b", None, ""):
        with pytest.raises(ValueError, match="path must be that of a file"):
            write_whole(path, b"")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="content must be bytes, got 'text'"):
        write_whole(tmp_path / "x", "text")  # type: ignore[arg-type]
    with pytest.raises(OSError, match="cannot save 0 bytes"):
        write_whole(tmp_path / ("x" * 300), b"")
    assert not any(tmp_path.iterdir())


class Verdict(NamedTuple):
    name: str
    right: bool


def test_what_was_false_is_read_as_false(tmp_path: Path) -> None:
    file = tmp_path / "verdicts.csv"
    rows = [Verdict("a", True), Verdict("b", False)]
    write_records(file, Verdict, rows)
    assert read_records(file, Verdict) == rows
    file.write_text("name,right\na,no\n")
    with pytest.raises(ValueError, match="which is not a result"):
        read_records(file, Verdict)


def test_counts_of_another_order_or_vocabulary_are_refused() -> None:
    longer = count_ngrams([[1, 2, 1, 2]], 5, 3)
    unsorted = Counts(np.array([5, 1]), np.array([1, 2]))
    none = Counts(np.zeros(0, int), np.zeros(0, int))
    for counts, vocab_size in ((longer, 5), (unsorted, 3), (none, 3)):
        for model in (AddK, KneserNey):
            with pytest.raises(ValueError, match="counts must be of"):
                model(counts, vocab_size, 2)
    for model in (AddK, KneserNey):
        with pytest.raises(ValueError, match="0 to 8, got -1"):
            model.fit([[1, 2]], 3, 2).probabilities(np.array([-1]))
    with pytest.raises(ValueError, match="no number together"):
        AddK.fit([[1, 2]], 3, 2, k=1e308)


@pytest.mark.parametrize("factor", [1e-200, 1e200])
def test_vectors_of_a_table_in_any_unit(factor: float) -> None:
    from scipy.sparse import csr_array

    table = csr_array(np.diag([4.0, 1.0, 0.5]))
    one, other = spectral_vectors(table, 1), spectral_vectors(table * factor, 1)
    np.testing.assert_allclose(np.abs(other / math.sqrt(factor)), np.abs(one), atol=1e-8)
    with pytest.raises(ValueError, match="nothing but 0"):
        spectral_vectors(csr_array((4, 4)), 2)


# ------------------------------------------------------------------------------------ models

CONFIG = TransformerConfig(vocab_size=257, n_layers=1, d_model=8, n_heads=2, context_length=4)


@pytest.mark.parametrize(
    "call",
    [
        lambda model: fine_tuning.add_lora(model, 99),
        lambda model: fine_tuning.add_lora(model, 2, alpha=-1.0),
        lambda model: fine_tuning.add_adapters(model, 2, targets=("no",)),
        lambda model: fine_tuning.add_ia3(model, outputs=("key",), inputs=("no",)),
    ],
)
def test_a_model_that_was_refused_is_as_it_was(call: Callable[[nn.Module], Any]) -> None:
    model = Transformer(CONFIG)
    before, layers = fine_tuning.trainable_numbers(model), list(model.modules())
    with pytest.raises(ValueError, match=r"no linear layer|rank|alpha"):
        call(model)
    assert fine_tuning.trainable_numbers(model) == before
    assert list(model.modules()) == layers


def test_each_layer_is_in_the_mode_it_was_in() -> None:
    model, text = Transformer(CONFIG).train(), torch.tensor([*b"To be, or not"])
    model.blocks[0].eval()
    train.held_out_loss(model, text, BytePairEncoding([]))
    train.attention_of(model, text[None, :4])
    train.repetition_gain(model, text[:4].view(2, 2))
    assert model.training
    assert not model.blocks[0].training
    model.embed.weight.data[:] = math.nan
    with pytest.raises(ValueError, match=r"NaN|nan"):
        train.held_out_loss(model, text, BytePairEncoding([]))
    assert model.training


def test_the_ends_of_a_line_between_models_are_the_models() -> None:
    torch.manual_seed(0)
    one, two = nn.Linear(40, 40), nn.Linear(40, 40)
    for strength, end in ((0.0, one), (1.0, two)):
        found = fine_tuning.between(one, two, strength)
        pairs = zip(found.parameters(), end.parameters(), strict=True)
        assert all(torch.equal(a, b) for a, b in pairs)


@given(st.lists(st.floats(0.01, 1), min_size=1, max_size=8))
def test_no_share_needs_more_values_than_there_are(values: list[float]) -> None:
    found = torch.tensor(values, dtype=torch.float64)
    assert 1 <= fine_tuning.rank_for(1 - 2.0**-53, found) <= len(values)


def test_states_that_are_equal_but_for_the_rounding_of_their_mean() -> None:
    same = torch.full((7, 3), 0.1)
    with pytest.raises(ValueError, match="all states are equal"):
        inside.unexplained(same, torch.zeros(7, 3))
    with pytest.raises(ValueError, match="all states are equal"):
        inside.train_dictionary(same, 2, 1, torch.Generator(), steps=1)
    for dtype in (torch.float32, torch.float64):
        with pytest.raises(ValueError, match="both kinds have the same mean"):
            inside.difference_of_means(*(torch.full((n, 3), 0.1, dtype=dtype) for n in (7, 3)))


@pytest.mark.parametrize("offset", [0.0, 2.0**50])
def test_a_probe_of_states_with_a_common_offset(offset: float) -> None:
    states = np.array([[1.0], [2.0], [4.0]])
    probe = inside.fit_probe(states + offset, 3 * states[:, 0] + offset)
    assert math.isclose(probe.weights[0], 3, rel_tol=1e-12)


@pytest.mark.parametrize("size", [1e-200, 1.0, 1e200])
def test_waves_of_any_size_have_their_frequency(size: float) -> None:
    angle = 2 * math.pi * 2 * torch.arange(5, dtype=torch.float64) / 5
    found = inside.neurons(size * (angle + 0.5).cos()[:, None])
    assert found.frequency.tolist() == [2]
    np.testing.assert_allclose([found.share[0], found.phase[0]], [1, 0.5], rtol=1e-9)
    assert math.isclose(float(inside.likeness(*[torch.tensor([[1.009, 0.0]])] * 2)), 1)


def test_words_and_labels_at_their_edges() -> None:
    pieces = pretraining.longest_match("ab" * 5000, {"a", "##b", "##a", "##bab"})
    assert pieces[:3] == ["a", "##bab", "##a"]
    assert sum(len(piece.removeprefix("##")) for piece in pieces) == 10_000
    for kind in ("", 3):
        with pytest.raises(ValueError, match="kind must be a word"):
            pretraining.encode_bio([pretraining.Span(0, 2, kind)], 3)  # type: ignore[arg-type]
    assert pretraining.spearman([0.0, -0.0, 1.0], [1, 1, 2]) == 1
    large, forbidden = torch.full((3, 2), 3e38), torch.full((2, 2), -math.inf)
    with pytest.raises(ValueError, match="add up to no floating-point number"):
        pretraining.log_partition(large, torch.zeros(2, 2))
    assert float(pretraining.log_partition(torch.zeros(3, 2), forbidden)) == -math.inf


# ------------------------------------------------------------------------------------ laws


@given(
    st.floats(0.02, 1.0), st.floats(0.02, 1.0), st.sampled_from([0.0, 1e6, 1e12]), st.floats(0.3, 2)
)
def test_the_cheapest_way_to_a_loss(alpha: float, beta: float, use: float, above: float) -> None:
    law = scaling.ChinchillaLaw(1.0, 20.0, 300.0, alpha, beta)
    found = law.optimum_with_inference(1 + above, use)
    smallest = math.log(20 / above) / alpha

    def cost(log_size: float) -> float:
        left = above - 20 * math.exp(-alpha * log_size)
        log_tokens = (math.log(300) - math.log(left)) / beta if left > 0 else math.inf
        return log_size + float(np.logaddexp(log_tokens, math.log(use / 3) if use else -math.inf))

    reach = 60 / alpha
    grid = smallest + np.geomspace(1e-6, reach, 400)
    near = grid[np.argmin([cost(x) for x in grid])]
    best = minimize_scalar(
        cost, bounds=(smallest + (near - smallest) / 2, smallest + 2 * (near - smallest)),
        method="bounded", options={"xatol": 1e-10},
    )  # fmt: skip
    assert cost(math.log(found.parameters)) <= best.fun + 1e-9


def test_laws_of_sizes_that_hardly_differ_and_of_sizes_far_apart() -> None:
    law = scaling.fit_power_law([1e12, 1e12 + 1, 1e12 + 2], [4.0, 2.0, 1.0])
    assert math.isclose(law.exponent, math.log(4) / math.log1p(2e-12), rel_tol=1e-9)
    assert math.isclose(float(scaling.PowerLaw(1e-300, 0.01).loss(1e300)), 1e-6, rel_tol=1e-9)
    assert math.isclose(scaling.training_days(1e300, 10, 1e308, 1.0) * 86_400, 1e-9, rel_tol=1e-12)


# ------------------------------------------------------------------------------------ checks


def test_checks_that_must_not_pass(capsys: pytest.CaptureFixture[str]) -> None:
    for expected in (math.nan, math.inf):
        with pytest.raises(AssertionError, match="what is expected"):
            verify_simulated("a mean", Estimate(1.0, 0.1), expected)
    with pytest.raises(AssertionError, match="infinity is expected"):
        verify("a limit", 5.0, math.inf, atol=0, rtol=1e-3)
    with pytest.raises(AssertionError):
        verify("a count", 2**53 + 1, 2**53, atol=0)
    with pytest.raises(ValueError, match="tolerances are 0 or larger"):
        verify("a number", 1.0, 1.0, atol=math.nan)
    for got in ("3", 1j, [2, 3]):
        with pytest.raises(ValueError, match="must be one real number"):
            verify_between("a number", got, 1, 4)  # type: ignore[arg-type]
    assert capsys.readouterr().out == ""
    verify("a count", 2**70, 2**70, atol=0)
    assert math.isclose(monte_carlo([2.0**50 + 1, 2.0**50 + 2, 2.0**50 + 4]).error, 7**0.5 / 3)
    assert monte_carlo([1e200, 2e200]).error > 1e199


def test_rates_that_cannot_be_followed() -> None:
    for first in ([], [0.0], [math.inf]):
        with pytest.raises(ValueError, match="first must be finite rates above 0"):
            followed(first, dict.fromkeys(first, 1.0))
    with pytest.raises(ValueError, match="values is empty"):
        spread([])


def test_tables_that_are_not_there_are_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"there is no table .*losses\.csv"):
        read_table(tmp_path / "losses.csv", ["loss"], dict)
    with pytest.raises(ValueError, match="cannot be read: Is a directory"):
        read_table(tmp_path, ["loss"], dict)
    with pytest.raises(ValueError, match=r"path must be a pathlib\.Path, got 'losses'"):
        read_table("losses", ["loss"], dict)  # type: ignore[arg-type]
    for read in (read_scenes, read_scoreboard, read_readings):
        with pytest.raises(ValueError, match=r"there is no table .*\.csv"):
            read(tmp_path)


@pytest.mark.parametrize(
    "content",
    [b"", b"play,scene\n", b"play,scene,characters,x\nA,1,two,3\n", b"\xff\xfe",
     b"play,scene,characters,x\nA,1,2\n", b"play,scene,characters,x\n"],
)  # fmt: skip
def test_what_is_no_table_of_scenes_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / SCENES).write_bytes(content)
    with pytest.raises(ValueError, match=r"scenes\.csv is no table of scenes"):
        read_scenes(tmp_path)


@pytest.mark.parametrize("texts", [{"A": "a\ud800"}, {"a\ud800": "A"}])
def test_half_a_character_has_no_hash(texts: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=r"lone surrogate U\+D800 at index 1"):
        corpus_hash(texts)

"""The experiment on continued passages: what is written, what is measured, what is stored."""

from __future__ import annotations

import functools
import math
import re
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from primer.attention import head_scores
from primer.datasets import split_plays
from primer.inference import generate, greedy, sample
from primer.inference.loops import Loop
from primer.transformers import load_pretrained
from studies.inference import continuations
from studies.inference.continuations import (
    FORGETFUL,
    INDUCTION,
    MEMORIES,
    SETTINGS,
    SILENCED,
    Laboratory,
    Run,
    generate_forgetful,
    held_out_passages,
    results,
)


@pytest.fixture(scope="module")
def laboratory():
    model, encoding = load_pretrained("plays")
    plays = split_plays()
    with pytest.MonkeyPatch.context() as patch:  # every play is read and encoded once
        patch.setattr(encoding, "encode", functools.cache(encoding.encode))
        patch.setattr(continuations, "load_pretrained", lambda name: (model, encoding))
        patch.setattr(continuations, "split_plays", lambda: plays)
        default = torch.get_default_dtype()
        torch.set_default_dtype(torch.float64)
        yield Laboratory()
        torch.set_default_dtype(default)


def same(lines, setting):
    """Compare lines with those that are stored, to all digits that are written."""
    stored = results()
    for line in lines:
        assert line.setting == setting
        before = stored[setting, line.measure]
        assert line[2:] == pytest.approx(before[2:], abs=1.01e-5), line.measure


# --- what is stored -------------------------------------------------------------------------------


def test_so_many_texts_are_measured():
    stored = results()
    n = {setting: line.n for (setting, _), line in stored.items() if setting != "loops"}
    samplers = {name for name in n if name[0] in "τkp" and "without" not in name}
    assert {n[name] for name in samplers} == {100}
    assert [n[name] for name in ("Shakespeare", "greedy", "4 beams", "last 16")] == [
        *(200, 200, 60, 1000)
    ]
    assert n["greedy without induction"] == 200
    assert {name: n[f"m = {name}"] for name in FORGETFUL} == FORGETFUL
    assert FORGETFUL == {1: 200, 2: 200, 4: 200, 8: 200, 16: 200, 32: 100, 64: 50}
    assert {n[name] for name in n if name.startswith("λ")} <= {100}
    assert {line.n for (name, _), line in stored.items() if name == "lengths"} == {100}
    assert MEMORIES == (1, 2, 4, 8, 16, 32, 64, 128)


@pytest.mark.thorough
@pytest.mark.usefixtures("as_readers_run_it")
def test_what_shakespeare_wrote_is_measured_as_it_was_stored(laboratory, monkeypatch):
    def everything_alike(text):
        return torch.zeros(1).expand(*text.shape, 1024)

    monkeypatch.setattr(laboratory, "model", everything_alike)
    lines = laboratory.judge("Shakespeare", laboratory.write("Shakespeare"))
    assert len(lines) == 8
    asks_the_model = ("log-probability", "middle")
    same([line for line in lines if line.measure not in asks_the_model], "Shakespeare")
    found = {line.measure: line.mean for line in lines}
    assert found["log-probability"] == pytest.approx(-math.log(1024))
    assert found["middle"] == 0  # no token is likelier than another: all have rank 0


@pytest.mark.usefixtures("as_readers_run_it")
def test_short_memories_are_measured_as_they_were_stored(laboratory, monkeypatch):
    monkeypatch.setattr(continuations, "MEMORIES", (1, 2, 4))
    lines = laboratory.memory()
    for m in (1, 2, 4):
        same([li for li in lines if (li.setting, li.measure) == (f"last {m}", "loss")], f"last {m}")
    found, stored = {line[:2]: line for line in lines}, results()
    less = stored["last 2", "loss"].mean - stored["last 4", "loss"].mean
    assert found["last 2", "loss over 128"].mean == pytest.approx(less, abs=2e-5)
    assert [found[f"last {m}", "loss over 128"].mean > 0 for m in (1, 2, 4)] == [True, True, False]
    alike = [found[f"last {m}", "greedy choice of 128"].mean for m in (1, 2, 4)]
    assert 0 < alike[0] < alike[1] < alike[2] == 1
    assert {line.n for line in lines} == {1000}


def test_silenced_are_the_four_heads_that_copy_most(laboratory):
    text = torch.randint(256, 1000, (4, 40), generator=torch.Generator().manual_seed(0))
    twice = torch.cat([text, text], dim=1)
    seen = {}
    with torch.no_grad():
        laboratory.model(twice, n_last=1, observe=seen.__setitem__)
    scores = {
        (layer, head): float(score)
        for layer in range(laboratory.model.config.n_layers)
        for head, score in enumerate(
            head_scores(seen[f"blocks.{layer}.attention.weights"], twice)["induction"]
        )
    }
    most = sorted(scores, key=scores.__getitem__)[-4:]
    assert set(most) == {(layer, head) for layer, heads in INDUCTION.items() for head in heads}


# --- what is written ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("setting", "options"),
    [
        ("τ = 0.5", {"temperature": 0.5}),
        ("τ = 1.5", {"temperature": 1.5}),
        ("k = 8", {"top_k": 8}),
        ("p = 0.9", {"top_p": 0.9}),
        ("greedy", None),
        ("m = 4", None),
    ],
)
def test_each_decoder_writes_what_it_says(setting, options, laboratory, monkeypatch):
    monkeypatch.setattr(continuations, "NEW", 2)
    monkeypatch.setattr(continuations, "SAMPLED", 52)
    monkeypatch.setattr(continuations, "FORGETFUL", {4: 51})
    texts = laboratory.write(setting)
    prompts = laboratory.passages[:, :32]
    dice = torch.Generator().manual_seed(13)
    if options:
        choose = partial(sample, generator=dice, **options)
        parts = [
            generate(laboratory.model, part, 2, choose) for part in (prompts[:50], prompts[50:52])
        ]
        assert torch.equal(texts, torch.cat(parts))
    elif setting == "greedy":
        assert texts.shape == (200, 34)
        assert torch.equal(texts[::40], generate(laboratory.model, prompts[::40], 2))
    else:
        expected = generate_forgetful(laboratory.model, prompts[:51], 2, 4)
        assert torch.equal(texts, expected)
        with torch.no_grad():
            first = greedy(laboratory.model(prompts[:51, -4:])[:, -1])
        assert torch.equal(texts[:, 32], first)


def test_four_beams_write_the_first_sixty(laboratory, monkeypatch):
    asked = []

    def search(model, prompt, n_tokens, n_beams):
        asked.append((prompt, n_tokens, n_beams))
        best = SimpleNamespace(tokens=[len(asked), *[7] * (n_tokens - 1)])
        return [best, SimpleNamespace(tokens=[0] * n_tokens)]

    monkeypatch.setattr(continuations, "beam_search", search)
    texts = laboratory.write("4 beams")
    assert texts.shape == (60, 224)
    assert torch.equal(texts[:, :32], laboratory.passages[:60, :32])
    assert texts[:, 32].tolist() == list(range(1, 61))
    assert all(entry[1:] == (192, 4) for entry in asked)
    assert torch.equal(torch.stack([entry[0] for entry in asked]), texts[:, :32])


@pytest.mark.usefixtures("as_readers_run_it")
def test_lengths_are_those_of_the_best_beam_up_to_a_full_stop(laboratory, monkeypatch):
    stop = laboratory.encoding.encode(".")[0]
    length = {0.0: 4, 1.0: 9, 2.0: 16}

    def search(model, prompt, n_tokens, n_beams, power, stop_token):
        assert (len(prompt), n_tokens, n_beams, stop_token) == (32, 30, 4, stop)
        more = int(prompt[0]) % 3
        return [SimpleNamespace(tokens=[1] * (length[power] + more)), SimpleNamespace(tokens=[1])]

    monkeypatch.setattr(continuations, "beam_search", search)
    lines = laboratory.lengths()
    mean = float((laboratory.passages[:100, 0] % 3).double().mean())
    expected = {"λ = 0": 4 + mean, "λ = 1": 9 + mean, "λ = 2": 16 + mean, "λ = 1 less λ = 0": 5.0}
    assert {line.measure: line.mean for line in lines} == pytest.approx(expected)
    assert {(line.setting, line.n) for line in lines} == {("lengths", 100)}


def test_passages_do_not_overlap_and_come_from_held_out_plays(laboratory):
    encoded = [laboratory.encoding.encode(play) for play in split_plays()[1].values()]
    pieces = [tuple(play[at : at + 224]) for play in encoded for at in range(0, len(play), 224)]
    pieces = [piece for piece in pieces if len(piece) == 224]
    drawn = [tuple(row) for row in held_out_passages().tolist()]
    assert len(set(drawn)) == 200
    assert set(drawn) <= set(pieces)
    order = np.random.default_rng(11).permutation(len(pieces))
    assert drawn == [pieces[at] for at in order[:200]]


# --- what is measured -----------------------------------------------------------------------------


def test_a_text_is_measured_as_a_plain_loop_measures_it(laboratory):
    text = laboratory.passages[5].clone()
    text[-40:] = text[150:154].repeat(10)  # it ends in a loop
    text[32:40] = 1000  # and begins with what nobody expects
    found = laboratory._judge_one(text)
    with torch.no_grad():
        logs = laboratory.model(text[None])[0].log_softmax(-1)
    new = text[32:].tolist()
    each = [logs[31 + i] for i in range(192)]
    assert found["log-probability"] == pytest.approx(
        sum(float(row[token]) for row, token in zip(each, new, strict=True)) / 192
    )
    ranks = [int((row > row[token]).sum()) for row, token in zip(each, new, strict=True)]
    assert found["middle"] == sum(10 <= rank < 200 for rank in ranks) / 192
    assert {10 <= rank < 200 for rank in ranks} == {True, False}
    grams = {n: [tuple(new[i : i + n]) for i in range(192 - n + 1)] for n in (2, 4)}
    assert found["repeated"] == pytest.approx(1 - len(set(grams[4])) / 189)
    assert found["repeated after 40"] == pytest.approx(1 - len(set(grams[4][:37])) / 37)
    assert found["distinct pairs"] == pytest.approx(len(set(grams[2])) / 191)
    assert (found["ends in a loop"], found["left a loop"]) == (1, 0)
    words = re.findall(r"[a-z']+", laboratory.encoding.decode(new).lower())
    whole = words[1:-1]  # the ends may have been cut
    known = {w for play in split_plays()[0].values() for w in re.findall(r"[a-z']+", play.lower())}
    assert found["known words"] == pytest.approx(sum(w in known for w in whole) / len(whole))
    assert 0 < found["known words"] <= 1


def test_a_rank_of_ten_is_in_the_middle_and_one_of_two_hundred_is_not(laboratory, monkeypatch):
    new = torch.tensor([9, 10, 199, 200])
    text = torch.cat([torch.arange(32), new.repeat(48)])
    falling = -torch.arange(2048.0, dtype=torch.float64)  # token k has rank k
    monkeypatch.setattr(laboratory, "model", lambda t: falling.expand(*t.shape, 2048))
    assert laboratory._judge_one(text)["middle"] == 0.5


def test_a_loop_that_was_left_and_words_that_are_none(laboratory):
    dot = laboratory.encoding.encode(".")[0]
    text = torch.cat(
        [laboratory.passages[0, :32], torch.full((191,), dot), torch.tensor([dot + 1])]
    )
    found = laboratory._judge_one(text)
    assert (found["ends in a loop"], found["left a loop"], found["known words"]) == (0, 1, 1)
    (line,) = [li for li in laboratory.judge("greedy", text[None]) if li.measure == "known words"]
    assert line == ("greedy", "known words", 1.0, 0.0, 1)
    measured = {line.measure for line in laboratory.judge("m = 2", text[None])}
    assert "known words" not in measured
    assert len(measured) == 7


def test_a_line_is_the_mean_and_its_standard_error():
    line = continuations._line("a", "b", iter([1, 2, 3, 6]))
    assert line[:3] == ("a", "b", 3.0)
    assert line.error == pytest.approx(math.sqrt((4 + 1 + 0 + 9) / 3 / 4))
    assert line.n == 4
    assert continuations._line("a", "b", [True]) == ("a", "b", 1.0, 0.0, 1)


def test_rounds_are_the_mean_log_probabilities_of_their_tokens(laboratory):
    text = torch.cat([laboratory.passages[0, :40], laboratory.passages[1, :17].repeat(8)])[:150]
    one = Loop(40, 150, 17)
    with torch.no_grad():
        logs = laboratory.model(text[None])[0].log_softmax(-1)
    expected = [
        sum(float(logs[t - 1, text[t]]) for t in range(start, start + 17)) / 17
        for start in (40, 57, 74)
    ]
    np.testing.assert_allclose(laboratory._rounds(text, one), expected, rtol=1e-9)


@pytest.mark.parametrize("n_rounds", [0.5, 1, 2, 3, np.inf])
def test_a_circle_goes_on_when_the_model_writes_its_round_again(n_rounds, laboratory, monkeypatch):
    text = torch.cat([torch.arange(50), (500 + torch.arange(11)).repeat(9)])
    one = Loop(50, len(text), 11)
    shown = []

    def write(model, prompt, n_tokens, wrong=0):
        shown.append(prompt)
        assert n_tokens == 11
        return torch.cat([prompt, 500 + torch.arange(11) + wrong])

    monkeypatch.setattr(continuations, "generate", write)
    assert laboratory._goes_on(text, one, n_rounds)
    first = 0 if n_rounds == np.inf else 83 - round(n_rounds * 11)
    assert shown[0].tolist() == text[first:83].tolist()
    monkeypatch.setattr(continuations, "generate", partial(write, wrong=1))
    assert not laboratory._goes_on(text, one, n_rounds)


def test_circles_are_asked_in_the_order_of_their_rounds(laboratory, monkeypatch):
    prompt = laboratory.passages[0, :32]
    texts = [torch.cat([prompt, 100 + torch.arange(192) % period]) for period in (5, 56, 57)]
    texts.append(torch.cat([prompt[:31], 100 + torch.arange(193) % 5]))  # begins in the prompt
    texts.append(laboratory.passages[0])  # no loop
    asked = []

    def goes_on(text, one, n_rounds):
        asked.append((one.period, n_rounds))
        return one.period == 5 or n_rounds > 1

    rounds = {5: [-3.0, -2.0, -1.0], 56: [-5.0, -3.0, -0.5], 57: [-4.0, -1.0, -0.75]}
    monkeypatch.setattr(laboratory, "_rounds", lambda text, one: np.array(rounds[one.period]))
    monkeypatch.setattr(laboratory, "_goes_on", goes_on)
    found = {line.measure: (line.mean, line.n) for line in laboratory.circles(torch.stack(texts))}
    assert found == {
        "period": pytest.approx((118 / 3, 3)),
        "first round": (-4.0, 3),
        "second round": (-2.0, 3),
        "third round": (-0.75, 3),
        "third less first": (3.25, 3),
        "third less second": (1.25, 3),
        "goes on seeing half a round": (0.5, 2),
        "goes on seeing one round": (0.5, 2),
        "goes on seeing two rounds": (1.0, 2),
        "goes on seeing three rounds": (1.0, 2),
        "goes on seeing all": (1.0, 2),
    }
    assert asked == [(period, n) for n in (0.5, 1, 2, 3, np.inf) for period in (5, 56)]


# --- the run --------------------------------------------------------------------------------------


class Recorder(Laboratory):
    """A laboratory that writes down what is asked of it."""

    def __init__(self):
        self.asked = []  # and nothing is read

    def write(self, setting):
        return setting

    def judge(self, setting, texts):
        assert texts == setting
        return self.note(setting)

    def circles(self, texts):
        return self.note("loops", texts)

    def lengths(self):
        return self.note("lengths")

    def memory(self):
        return self.note("last 1", "last 128")

    def note(self, *settings):
        self.asked.append(settings)
        return [Run(settings[-1] if settings[0] == "last 1" else settings[0], "x", 1 / 3, 0.125, 7)]


def test_everything_is_measured_once_in_double_precision(tmp_path, monkeypatch):
    lab = Recorder()
    monkeypatch.setattr(continuations, "laboratory", lambda: lab)
    default = torch.get_default_dtype()
    study = replace(continuations.study, table=tmp_path / "results.csv")
    runs = study.go()
    assert torch.get_default_dtype() == default
    singles = [name for name, *_ in lab.asked]
    stored = list(dict.fromkeys(setting for setting, _ in results()))
    assert singles == [name for name in stored if not re.match(r"last (?!1$)", name)]
    assert lab.asked[2] == ("loops", "greedy")
    assert runs[0] == ("Shakespeare", "x", 0.33333, 0.125, 7)
    study.go()
    assert len(lab.asked) == len(singles)
    replace(continuations.study, table=tmp_path / "one.csv").go(["lengths"])
    assert lab.asked[-1] == ("lengths",)


# --- with few texts -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def few():
    default = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    yield Laboratory(n_texts=3, n_contexts=5)
    torch.set_default_dtype(default)


def test_the_committed_results_are_those_of_all_settings():
    settings = {setting for setting, _ in results()}
    assert {"Shakespeare", "greedy", "4 beams", "loops", "lengths", *SETTINGS} <= settings
    assert set(SILENCED) <= settings
    assert {f"m = {m}" for m in FORGETFUL} | {f"last {m}" for m in MEMORIES} <= settings
    assert all(np.isfinite([line.mean, line.error]).all() for line in results().values())


def test_shakespeare_is_measured_again(few):
    lab = Laboratory()
    texts = lab.write("Shakespeare")
    stored = results()["Shakespeare", "repeated"]
    judged = [lab.judge("Shakespeare", texts[:2])[1].mean, stored.mean]
    assert abs(judged[0] - judged[1]) < 20 * stored.error
    torch.testing.assert_close(texts[:3], few.passages)


def test_silenced_heads_speak_again(few, monkeypatch):
    monkeypatch.setattr(continuations, "NEW", 40)
    before = few.write("greedy")
    silenced = few.write("greedy without induction")
    assert not torch.equal(silenced, before)
    assert torch.equal(few.write("greedy"), before)


def test_a_circle_whose_fourth_round_the_context_does_not_hold_is_not_asked(few):
    prompt = few.passages[0, :32]
    texts = [
        torch.cat([prompt, 100 + torch.arange(192) % period]) for period in (5, 60)
    ]  # 32 + 4 · 60 > 256
    lines = {line.measure: line for line in few.circles(torch.stack(texts))}
    assert lines["period"].mean == 32.5
    assert lines["goes on seeing all"].n == 1


def test_a_forgetful_model_sees_its_last_tokens_only(few):
    prompts = held_out_passages(2)[:, :8]
    whole = generate_forgetful(few.model, prompts, 5, memory=3)
    ends = generate_forgetful(few.model, prompts[:, -3:], 5, memory=3)
    torch.testing.assert_close(whole[:, 5:], ends)

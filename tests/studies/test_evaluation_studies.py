"""The chapter's stored studies: they belong to the texts and weights of today, and can go on."""

from __future__ import annotations

import dataclasses
import itertools
import math
from pathlib import Path

import numpy as np
import pytest
import torch

from primer.datasets import split_plays
from primer.evaluation.questions import READ, SPEAKER, TASKS, draw_questions
from primer.scoreboard.scenes import scene_starts
from primer.scoreboard.table import corpus_name
from primer.transformers import load_pretrained
from studies.evaluation import costs, leaks, seeds

STORED = costs.read_costs()


@pytest.mark.parametrize("task", TASKS)
def test_questions_are_what_their_task_says(task):
    questions, plays = costs.stored_questions(task), [*split_plays()[1].values()]
    assert len(questions) == costs.NUMBERS[task]
    scenes = []
    for play in plays:
        starts = [*scene_starts(play), len(play)]
        scenes += [(play, *ends) for ends in itertools.pairwise(starts)]
    for question in questions:
        play, begin, end = scenes[question.scene]
        place = play.index(question.context + question.options[0]) + len(question.context)
        assert begin <= place < end
        assert len(question.context) == READ[task] - (task == "word")
        assert len(set(question.options)) == 4
        if task == "word":
            assert len({len(option) for option in question.options}) == 1
            assert len({option[-1] for option in question.options}) == 1
        elif task == "line":
            assert all(option in play for option in question.options)
        else:
            spoken = set(SPEAKER.findall(play, begin, end))
            assert set(question.options) <= spoken
    assert STORED[task].scenes.tolist() == [question.scene for question in questions]
    assert draw_questions(task, 3, np.random.default_rng(7)) == draw_questions(
        task, 3, np.random.default_rng(7)
    )


def test_more_questions_than_places_are_refused():
    with pytest.raises(ValueError, match="places for the task 'speaker', got 100000"):
        draw_questions("speaker", 100_000, np.random.default_rng(0))


@torch.no_grad()
def test_an_option_costs_what_the_model_gives_its_tokens():
    question = costs.stored_questions("word")[0]
    model, tokenizer = load_pretrained("plays-2")
    for option, stored in zip(
        question.options, STORED["word"].bits["second edition"][0], strict=True
    ):
        bits = []
        for text in (question.context + option, question.context):
            ids = torch.tensor([tokenizer.encode(text)])
            nats = -model(ids[:, :-1]).log_softmax(-1).gather(2, ids[:, 1:, None]).double().sum()
            bits.append(float(nats) / math.log(2))
        assert math.isclose(bits[0] - bits[1], stored, abs_tol=0.02)


def test_a_text_costs_what_its_pieces_cost_one_after_the_other():
    whole, first, rest = costs.count_bits(
        2, [("To be, ", "or not"), ("To be, ", "or"), ("To be, or", " not")]
    )
    assert math.isclose(whole, first + rest)
    assert min(first, rest) > 1


@pytest.mark.thorough
def test_counts_cost_what_is_stored():
    for task in TASKS:
        some = costs.stored_questions(task)[::50]
        texts = [(q.context, option) for q in some for option in q.options]
        for order in (7, 1):
            found = costs.count_bits(order, texts).reshape(-1, 4)
            assert np.allclose(found, STORED[task].bits[f"{order}-gram"][::50], atol=0.006)


def test_the_tables_belong_to_texts_and_weights_of_today():
    assert costs.LOG.read_text("utf-8").splitlines()[0].endswith(costs.made_from())
    assert {row.made_from for row in leaks.study.read()} == {leaks.made_from()}
    assert {row.texts for row in seeds.study.read()} == {corpus_name()}
    assert len(leaks.study.read()) == len(leaks.SHARES) * len(leaks.SEEDS) * 71


@pytest.mark.parametrize("study", [leaks.study, seeds.study])
def test_nothing_is_missing_and_the_log_is_the_report_of_the_table(study):
    runs = study.read()
    assert study.missing(runs) == []
    assert study.log.read_text("utf-8").splitlines()[2:] == [*study.report(runs)]


@pytest.mark.thorough
def test_a_seed_gives_what_is_stored():
    assert np.allclose(seeds.train_one(3), seeds.read_seeds()[3], rtol=2e-3)


def test_a_table_that_is_not_whole_is_refused(monkeypatch, tmp_path: Path):
    def without_a_line(stored: Path) -> Path:
        header, _, *lines = stored.read_text("utf-8").splitlines()
        path = tmp_path / stored.name
        path.write_text("\n".join([header, *lines]) + "\n", "utf-8")
        return path

    path = without_a_line(costs.COSTS)
    with pytest.raises(ValueError, match="799 of 800 questions of the task 'word'"):
        costs.read_costs(path)
    path.write_text("task\n", "utf-8")
    with pytest.raises(ValueError, match=r"costs.csv is no table"):
        costs.read_costs(path)
    study = dataclasses.replace(seeds.study, table=without_a_line(seeds.study.table))
    monkeypatch.setattr(seeds, "study", study)
    with pytest.raises(ValueError, match="851 of 852 results"):
        seeds.read_seeds()


def test_half_of_each_play_leaks():
    for seed in leaks.SEEDS:
        leaked, start = leaks.leaking(seed), 0
        for play in split_plays()[1].values():
            scenes = len(scene_starts(play))
            assert leaked[start : start + scenes].sum() == scenes // 2
            start += scenes
    assert (leaks.leaking(0) != leaks.leaking(1)).any()
    streams = leaks.scene_streams(leaks.leaking(0))
    assert len(streams) == leaks.leaking(0).sum()


def test_each_window_is_of_a_leaked_scene_with_the_probability_of_the_share(monkeypatch):
    read = []

    class Reader(torch.nn.Embedding):
        def forward(self, tokens):
            read.append(tokens)
            return super().forward(tokens)

    lengths = {1: 129, 2: 328, 3: 128}  # windows of 129: one, two hundred, none
    scenes = [torch.full((length,), token) for token, length in lengths.items()]
    monkeypatch.setattr(leaks, "load_pretrained", lambda _: (Reader(9, 9), None))
    monkeypatch.setattr(leaks, "token_stream", lambda *_: torch.zeros(400, dtype=torch.long))
    monkeypatch.setattr(leaks, "scene_streams", lambda leaked: scenes if leaked.any() else [])
    for share in (0.0, 0.3):
        read.clear()
        leaks.train_on(share, 1)
        windows = torch.cat(read)
        assert windows.shape == (200 * 16, 128)
        assert (windows == windows[:, :1]).all()
        seen = windows[:, 0].bincount(minlength=9) / len(windows)
        assert float(seen[0]) == pytest.approx(1 - share, abs=0.03)  # four deviations
        assert float(seen[2]) == pytest.approx(share * 200 / 201, abs=0.03)
        assert not seen[3:].any()


def test_a_scene_is_measured_before_and_after(monkeypatch):
    monkeypatch.setattr(leaks, "costs_before", lambda: np.arange(71.0))
    monkeypatch.setattr(leaks, "train_on", lambda share, seed: None)
    monkeypatch.setattr(leaks, "costs", lambda model: np.arange(71.0) / 2)
    scenes = [*leaks.train("today", 0.3, 1)]
    assert [scene[:4] for scene in scenes] == [("today", 0.3, 1, i) for i in range(71)]
    assert [bool(scene.leaked) for scene in scenes] == leaks.leaking(1).tolist()
    assert all(scene.after == scene.before / 2 for scene in scenes)

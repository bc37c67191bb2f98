"""Naming words by probes: what the table shows, and that a line of it is found again."""

import numpy as np
import pytest
import torch

from primer.pretraining import Direction, f1
from primer.transformers import load_pretrained
from studies.pretraining import nudged, probes

RUNS = probes.study.read()


def drawn(features: str, labels: int) -> np.ndarray:
    """List the F1 of all draws."""
    return np.array([r.f1 for r in RUNS if (r.features, r.labels) == (features, labels)])


def test_every_setting_is_drawn_eight_times() -> None:
    assert len(RUNS) == 4 * 4 * 8
    assert all(
        len(drawn(r.features, r.labels)) == len(set(drawn(r.features, r.labels))) == 8 for r in RUNS
    )


def test_with_labels_enough_what_is_learned_is_ahead_in_every_draw() -> None:
    for labels in (200, 800):
        for rival in (probes.LIST, "untrained"):
            assert (drawn("trained", labels) > drawn(rival, labels)).all()


def test_with_few_labels_the_draw_decides_for_probes_alone() -> None:
    assert drawn("trained", 50).std() > 5 * drawn(probes.LIST, 50).std()
    everything = f1(probes.material().judge.names * 1, [1] * len(probes.material().judge.names))
    assert (drawn(probes.LIST, 50) > everything).all()


@pytest.mark.parametrize(
    "setting", [("trained", 100, 3), ("untrained", 50, 7), ("word list", 800, 0)]
)
def test_a_line_is_found_again(setting: tuple[str, int, int]) -> None:
    (again,) = probes.train(*setting)
    (stored,) = (r for r in RUNS if (r.features, r.labels, r.seed) == setting)
    assert again.f1 == pytest.approx(stored.f1, abs=0.02)  # the last digits are the machine's


def test_a_word_stands_between_its_neighbors() -> None:
    model, tokenizer = load_pretrained(probes.EDITION)
    direction = Direction(["enter", "hamlet", "alone"], [False, True, False])
    both = probes.vectors(model, [Direction(["exit"], [False]), direction])
    alone = probes.vectors(model, [direction])
    d = model.config.d_model
    for padded, single in zip(both, alone, strict=True):  # what is padded changes nothing
        np.testing.assert_allclose(padded[1:], single, atol=1e-5)
        assert padded.shape == (4, 3 * d)
        left, own, right = single[:, :d], single[:, d : 2 * d], single[:, 2 * d :]
        np.testing.assert_array_equal(left, np.vstack([np.zeros(d), own[:-1]]))
        np.testing.assert_array_equal(right, np.vstack([own[1:], np.zeros(d)]))
    piece = torch.tensor(tokenizer.encode(" hamlet"))
    mean = model.embed.weight[piece].mean(0).detach().numpy()
    np.testing.assert_allclose(alone[0][1, d : 2 * d], mean, atol=1e-6)


def test_words_of_the_two_parts_are_of_different_plays() -> None:
    learn, judge, features = probes.material()
    assert set(features) == {"trained", "embeddings", "untrained"}
    for learned, judged in features.values():
        assert (len(learned), len(judged)) == (len(learn.words), len(judge.words))
        np.testing.assert_allclose(learned.mean(0), 0, atol=1e-4)


def test_who_asks_direction_by_direction_loads_the_model_no_second_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model, _ = load_pretrained(probes.EDITION)
    direction, head = Direction(["enter", "hamlet"], [False, True]), torch.nn.Linear(128, 2)
    before = probes.vectors(model, [direction])[1]
    monkeypatch.setattr(probes, "load_pretrained", lambda name: pytest.fail(f"{name} again"))
    monkeypatch.setattr(nudged, "load_pretrained", lambda name: pytest.fail(f"{name} again"))
    assert (probes.vectors(model, [direction])[1] == before).all()
    assert nudged.outputs_of(model, head, [direction]).shape == (2, 2)

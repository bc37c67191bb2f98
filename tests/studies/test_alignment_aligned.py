"""The aligned model of the book as a small change: what it is worth, and that its log says so."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from primer.alignment.recorded import ALIGNED
from primer.alignment.replies import speeches
from primer.datasets import split_plays
from primer.fine_tuning.stored import turned, unpack_lora
from primer.tables import write_records
from primer.transformers import Transformer, load_pretrained
from studies.alignment import aligned
from studies.alignment.overoptimization import HELD_OUT, LENGTH, PROMPT, World


@pytest.fixture(scope="module")
def world() -> World:
    """Cut the prompts that the replies are judged by; the reference is the model of the plays."""
    base, tokenizer = load_pretrained(aligned.EDITION)
    cut = speeches(split_plays()[1], tokenizer, prompt_length=PROMPT, longest=LENGTH - 1)
    return World(tokenizer, base, cut.prompts, cut.prompts[:HELD_OUT])


@pytest.fixture(scope="module")
def policy(world: World) -> Transformer:
    """Put the stored change beside the model."""
    factors = unpack_lora(ALIGNED.read_bytes(), world.reference)
    assert {A.shape[1] for A, _ in factors.values()} == {aligned.RANK}
    model = turned(world.reference, factors, 1.0, aligned.RANK)
    assert isinstance(model, Transformer)
    return model


def test_the_stored_change_is_what_the_log_says(world: World, policy: Transformer) -> None:
    log = {run.state: run for run in aligned.read_log()}
    for state, model in (("the plays", world.reference), ("aligned, in eight bits", policy)):
        found = aligned.judge(state, world, model)
        assert found[1:4] == pytest.approx(log[state][1:4], abs=0.12)
    assert aligned.judge("", world, world.reference).kl == pytest.approx(0, abs=1e-5)


def test_who_was_rewarded_does_what_the_rater_wished(world: World, policy: Transformer) -> None:
    before, after = (aligned.judge("", world, model) for model in (world.reference, policy))
    assert before.gold < 0.2
    assert 0.55 < after.gold <= after.marks < 1.5  # one mark, seldom three
    assert before.ended < 0.2
    assert after.ended > 0.75


def test_the_policy_has_not_collapsed(world: World, policy: Transformer) -> None:
    random = torch.Generator().manual_seed(1)
    replies = aligned.write_replies(policy, world.held_out, LENGTH, world.end, random)
    assert len(set(replies.texts(world.tokenizer))) > 0.7 * len(replies)
    rows = aligned.read_log()
    assert [row.state for row in rows] == [
        "the plays",
        "tuned on speeches",
        "aligned",
        "aligned, in eight bits",
    ]
    assert 0 == rows[1].kl < rows[3].kl < 5
    assert rows[3].gold == pytest.approx(rows[2].gold, abs=0.1)


def test_the_log_is_written_as_it_is_read(tmp_path: Path) -> None:
    write_records(tmp_path / "again.csv", aligned.Run, aligned.read_log())
    assert (tmp_path / "again.csv").read_bytes() == aligned.LOG.read_bytes()

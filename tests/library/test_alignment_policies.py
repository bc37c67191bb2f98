"""Replies, reward models and the loops that train: on a model of a few thousand numbers."""

from __future__ import annotations

import copy
import functools
import math

import numpy as np
import pytest
import torch
from torch import Tensor

from primer.alignment import (
    PolicyReport,
    Replies,
    RewardModel,
    grouped,
    reply_log_probs,
    reply_loss,
    reply_mask,
    speeches,
    train_on_pairs,
    train_policy,
    tune,
    write_replies,
)
from primer.alignment.recorded import wish
from primer.inference import generate, sample
from primer.language_models import BytePairEncoding
from primer.transformers import Transformer, TransformerConfig, load_pretrained
from studies.alignment.overoptimization import (
    LENGTH,
    World,
    compare,
    features,
    fit_proxy,
    shift,
)

END = 11
CONFIG = TransformerConfig(vocab_size=12, n_layers=1, d_model=16, n_heads=2, context_length=12)
PROMPTS = torch.tensor([[1, 2, 3], [4, 5, 6]]).repeat(8, 1)


def small_model(seed: int = 0) -> Transformer:
    torch.manual_seed(seed)
    return Transformer(CONFIG).eval()


def random(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def test_replies_are_those_of_generate() -> None:
    model = small_model()
    ours = write_replies(model, PROMPTS, 6, END, random())
    draw = functools.partial(sample, generator=random())
    theirs = generate(model, PROMPTS, 6, draw, cache=False, end_token=END)
    size = theirs.shape[1] - 3
    assert torch.equal(ours.tokens[:, :size], theirs[:, 3:])
    assert ours.tokens.shape == ours.mask.shape == (16, 6)


def test_a_shift_is_what_training_added_to_given_replies() -> None:
    policy, reference = small_model(0), small_model(1)
    replies = write_replies(small_model(2), PROMPTS, 6, END, random())
    whole = torch.cat([replies.prompts, replies.tokens], dim=1)
    gains = []
    for model in (policy, reference):
        with torch.no_grad():
            said = model(whole).log_softmax(-1)[:, 2:-1].gather(-1, replies.tokens[..., None])
        gains.append((said[..., 0] * replies.mask).sum(-1))
    expected = (gains[0] - gains[1]).mean().item()
    assert shift(policy, reference, replies) == pytest.approx(expected, abs=1e-5)
    assert abs(expected) > 1e-3


def test_the_rater_chooses_one_of_two_replies_to_each_prompt() -> None:
    tokenizer = load_pretrained("plays")[1]
    torch.manual_seed(0)
    size = {"n_layers": 1, "d_model": 16, "n_heads": 2, "context_length": 24}
    model = Transformer(TransformerConfig(vocab_size=len(tokenizer.tokens), **size)).eval()
    mark = tokenizer.encode("!")[0]
    model.head.bias = torch.nn.Parameter(torch.zeros(len(tokenizer.tokens)))
    with torch.no_grad():
        model.head.bias[mark] = 5.0
    prompts = torch.arange(200 * 4).reshape(200, 4) % 1000
    world = World(tokenizer, model, prompts, prompts[:8])
    chosen, rejected = compare(world, 0)
    assert chosen.tokens.shape == rejected.tokens.shape == (200, LENGTH)
    assert torch.equal(chosen.prompts, rejected.prompts)
    assert sorted(chosen.prompts.tolist()) == prompts.tolist()
    liked, other = (
        np.mean([wish(t) for t in side.texts(tokenizer)]) for side in (chosen, rejected)
    )
    assert liked > other + 0.2
    again = compare(world, 0)[0]
    assert torch.equal(again.tokens, chosen.tokens)
    assert not torch.equal(compare(world, 1)[0].tokens, chosen.tokens)
    assert np.all(np.isfinite(fit_proxy(world, chosen, rejected)(features(["Ho!"]))))


def test_log_probabilities_by_reading_token_by_token() -> None:
    model = small_model()
    replies = write_replies(model, PROMPTS[:4], 5, END, random(1))
    got = reply_log_probs(model, replies).detach()
    for row in range(4):
        text = replies.prompts[row].tolist()
        for place in range(5):
            if replies.mask[row, place]:
                log_p = model(torch.tensor([text]))[0, -1].detach().log_softmax(-1)
                token = int(replies.tokens[row, place])
                assert float(got[row, place]) == pytest.approx(float(log_p[token]), abs=1e-5)
                text.append(token)
            else:
                assert float(got[row, place]) == 0
    mean = -got.sum() / replies.mask.sum()
    torch.testing.assert_close(reply_loss(model, replies), mean)


def test_the_mask_ends_with_the_first_end() -> None:
    tokens = torch.tensor([[END, 1, END], [1, END, END], [1, 2, 3]])
    assert reply_mask(tokens, END).tolist() == [
        [True, False, False],
        [True, True, False],
        [True, True, True],
    ]


def test_speeches_are_cut_out_of_plays() -> None:
    letters = BytePairEncoding([])
    text = {"": "ACT I\n\nANNE\nWho?\n\nBOB\nIt is I, who else should it be.\n\nANNE\nOh.\n"}
    found = speeches(text, letters, prompt_length=5, longest=6)
    assert found.texts(letters) == ["Who?", "Oh."]
    assert all(bytes(row.tolist()) == b"ANNE\n" for row in found.prompts)
    assert found.lengths.tolist() == [5, 4]  # with the end
    with pytest.raises(ValueError, match="no speech of 3 to 6 tokens"):
        speeches({"": "Nobody speaks."}, letters, prompt_length=5, longest=6)


def test_a_prompt_is_as_long_as_asked_whatever_letters_its_tokens_have() -> None:
    """Sixteen letters a token: what is read back begins far enough before the speech."""
    merges = [(ord("a"), ord("a")), (256, 256), (257, 257), (258, 258)]
    tokenizer = BytePairEncoding(merges)
    play = "a" * 16 * 40 + "\n\nANNE\nWho?\n"
    before = tokenizer.encode(play[: play.index("Who?")])
    found = speeches({"": play}, tokenizer, prompt_length=20, longest=6)
    assert found.prompts.tolist() == [before[-20:]]
    with pytest.raises(ValueError, match="no speech of 3 to 6 tokens has 60 tokens before it"):
        speeches({"": play}, tokenizer, prompt_length=60, longest=6)


def test_a_reward_model_reads_the_last_token_that_counts() -> None:
    judge = RewardModel(small_model())
    replies = write_replies(small_model(), PROMPTS[:6], 5, END, random(2))
    assert judge(replies).abs().max() == 0
    torch.nn.init.normal_(judge.head.weight)
    before = judge(replies)
    tokens = replies.tokens.masked_fill(~replies.mask, 7)
    torch.testing.assert_close(judge(Replies(replies.prompts, tokens, replies.mask)), before)
    other = replies.tokens.clone()
    other[torch.arange(6), replies.lengths - 1] = 7
    changed = judge(Replies(replies.prompts, other, replies.mask))
    assert (changed - before).abs().min() > 1e-4


def test_tuning_learns_what_is_shown() -> None:
    model = small_model()
    tokens = torch.tensor([[7, 8, END], [9, END, END]]).repeat(8, 1)
    shown = Replies(PROMPTS, tokens, reply_mask(tokens, END))
    losses = tune(model, shown, steps=60, batch_size=8, learning_rate=1e-2, generator=random())
    assert losses[-1] < 0.2 < losses[0]
    with pytest.raises(ValueError, match="nothing to learn from"):
        tune(model, shown[:0], steps=1)


def likes_seven(replies: Replies) -> Tensor:
    return ((replies.tokens == 7) * replies.mask).sum(-1).float()


def train(
    model: Transformer, reward: object = likes_seven, **changes: object
) -> list[PolicyReport]:
    settings: dict[str, object] = {
        "end_token": END,
        "steps": 15,
        "kl_weight": 0.0,
        "learning_rate": 1e-2,
        "batch_size": 16,
        "length": 4,
        "generator": random(),
    } | changes
    return list(train_policy(model, small_model(), reward, PROMPTS, **settings))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"passes": 3},
        {"replies_per_prompt": 4, "advantages": functools.partial(grouped, group_size=4)},
    ],
)
def test_training_raises_the_reward_and_goes_away(changes: dict[str, object]) -> None:
    reports = train(small_model(), **changes)
    assert reports[0].kl == pytest.approx(0, abs=1e-6)
    assert reports[-1].reward > reports[0].reward + 0.5
    assert reports[-1].kl > 0.3
    assert reports[-1].entropy < reports[0].entropy


def test_a_leash_holds() -> None:
    free, held = train(small_model())[-1], train(small_model(), kl_weight=20.0)[-1]
    assert abs(held.kl) < 0.3 < free.kl


def test_the_reference_stays_as_it_is() -> None:
    reference, policy = small_model(), small_model()
    for _ in train_policy(
        policy,
        reference,
        likes_seven,
        PROMPTS,
        end_token=END,
        steps=2,
        kl_weight=0.1,
        learning_rate=1e-2,
        batch_size=4,
        length=3,
    ):
        pass
    untouched = small_model().state_dict()
    assert all(torch.equal(untouched[k], v) for k, v in reference.state_dict().items())
    assert any(not torch.equal(untouched[k], v) for k, v in policy.state_dict().items())


def test_collapse_is_reported_and_stops() -> None:
    reports = train(small_model(), steps=200, learning_rate=5e-2, lowest_entropy=0.1)
    assert "collapsed" in reports[-1].stopped
    assert not any(report.stopped for report in reports[:-1])
    assert len(reports) < 200


def test_a_gradient_that_is_not_finite_makes_no_step() -> None:
    model = small_model()
    before = copy.deepcopy(model.state_dict())
    reports = train(model, advantages=lambda reward: reward * 1e36)
    assert "not finite" in reports[-1].stopped
    assert all(torch.equal(before[k], v) for k, v in model.state_dict().items())


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"reward": lambda r: torch.full((len(r),), math.nan)}, "reward must be finite, got nan"),
        ({"advantages": lambda r: r * math.inf}, "advantages must be finite, got nan"),
        ({"steps": 0}, "steps"),
        ({"kl_weight": -1.0}, "kl_weight"),
        ({"learning_rate": 0.0}, "learning_rate"),
        ({"replies_per_prompt": 3}, "groups of 3"),
    ],
)
def test_settings_out_of_range_are_refused(changes: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        train(small_model(), **changes)


def test_pairs_widen_their_margin() -> None:
    policy, reference = small_model(), small_model()
    sides = [torch.tensor([[7, END]] * 16), torch.tensor([[8, END]] * 16)]
    chosen, rejected = (Replies(PROMPTS, t, reply_mask(t, END)) for t in sides)
    losses = list(
        train_on_pairs(
            policy,
            reference,
            chosen,
            rejected,
            steps=20,
            beta=0.5,
            learning_rate=1e-2,
            generator=random(),
        )
    )
    assert losses[0] == pytest.approx(math.log(2))
    assert losses[-1] < 0.3
    with pytest.raises(ValueError, match="needs a rejected one"):
        next(
            train_on_pairs(
                policy, reference, chosen, rejected[:3], steps=1, beta=0.5, learning_rate=1e-2
            )
        )


def test_the_recorded_wish() -> None:
    assert [wish("!" * e) for e in range(6)] == [0, 1, 2, 1, 0, -1]
    assert features(["Ho! who?", ""]).tolist() == [[1, 0.8, 1], [0, 0, 0]]

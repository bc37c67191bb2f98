"""Encoder, decoder, attention between them, and the tasks."""

from __future__ import annotations

import itertools
import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from primer.recurrent import (
    EncoderDecoder,
    Recurrent,
    adding_problem,
    agreement,
    attend,
    bilinear_score,
    dot_score,
    mlp_score,
    parity,
    reversal,
)

KINDS = [(None, "current"), *itertools.product(("dot", "bilinear", "mlp"), ("current", "previous"))]


@pytest.mark.parametrize(("score", "query"), KINDS)
@torch.no_grad()
def test_reading_and_writing_are_torchs_gru_and_a_plain_loop(score: str | None, query: str) -> None:
    torch.manual_seed(5)
    d, model = 6, EncoderDecoder(4, 6, score, query)
    source, target = torch.randint(4, (2, 5)), torch.randint(5, (2, 3))
    if score == "bilinear":
        model.weight += torch.randn(d, d) / 3
    theirs = torch.nn.GRU(d, d, batch_first=True)
    model.encoder.load_state_dict(Recurrent.from_torch(theirs).state_dict())
    keys, last = theirs(model.embed(source))
    found = model.encode(source)
    torch.testing.assert_close(found[0], keys)
    torch.testing.assert_close(found[1], last[0])

    def mean(h: torch.Tensor) -> torch.Tensor:
        if score == "dot":
            scores = torch.einsum("bd,bnd->bn", h, keys)
        elif score == "bilinear":
            scores = torch.einsum("bd,dk,bnk->bn", h, model.weight, keys)
        else:
            both = torch.cat([h[:, None].expand_as(keys), keys], dim=-1)
            scores = torch.tanh(both @ model.weight) @ model.readout
        return torch.einsum("bn,bnd->bd", scores.softmax(-1), keys)

    state, logits = last[0], []
    for token in torch.cat([torch.full((2, 1), 4), target], dim=1).T:
        x = model.embed(token)
        if score is None:
            x = torch.cat([x, last[0]], dim=-1)
        elif query == "previous":
            x = torch.cat([x, mean(state)], dim=-1)
        (state,) = model.decoder(x, (state,))
        read = state
        if score is not None and query == "current":
            read = torch.tanh(model.combine(torch.cat([state, mean(state)], dim=-1)))
        logits.append(model.head(read))
    torch.testing.assert_close(model(source, target), torch.stack(logits, dim=1))
    wanted = torch.cat([target, torch.full((2, 1), 4)], dim=1)
    loss = torch.nn.functional.cross_entropy(torch.stack(logits, dim=2), wanted)
    torch.testing.assert_close(model.loss(source, target), loss)


def test_scores_begin_at_the_dot_product_and_at_sums_of_size_one() -> None:
    torch.manual_seed(6)
    assert torch.equal(EncoderDecoder(3, 7).weight, torch.eye(7))  # bilinear, unless said otherwise
    assert EncoderDecoder(3, 7).query == "current"
    model = EncoderDecoder(3, 400, "mlp").requires_grad_(False)
    assert model.weight.shape == (800, 400)
    assert float(model.weight.std()) == pytest.approx(800**-0.5, rel=0.02)
    assert float(model.readout.std()) == pytest.approx(400**-0.5, rel=0.12)
    assert abs(float(model.readout.mean())) < 4 / 400


def test_the_mark_may_be_read_and_nothing_above_it() -> None:
    model = EncoderDecoder(3, 4)
    assert model(torch.tensor([[3, 0]]), torch.tensor([[3]])).shape == (1, 2, 4)
    assert model(torch.tensor([[1, 0]]), torch.zeros(1, 0).long()).shape == (1, 1, 4)
    with pytest.raises(ValueError, match="the source must hold token ids, 0 to 3, got 4"):
        model(torch.tensor([[0, 4]]), torch.tensor([[1]]))
    with pytest.raises(ValueError, match="the target must hold token ids, 0 to 3, got -1"):
        model(torch.tensor([[0, 1]]), torch.tensor([[3, -1]]))


@pytest.mark.usefixtures("as_readers_run_it")
def test_what_has_another_shape_is_refused() -> None:
    model = EncoderDecoder(3, 4)
    with pytest.raises(ValueError, match=r"the source must have shape .*, got \(2,\)"):
        model.encode(torch.tensor([0, 1]))
    with pytest.raises(ValueError, match=r"the target must have shape .*, got \(2,\)"):
        model(torch.tensor([[0, 1]]), torch.tensor([0, 1]))
    keys = torch.zeros(3, 4)
    with pytest.raises(ValueError, match=r"2 . 4 rows .* got \(7, 5\) and \(5,\)"):
        mlp_score(torch.zeros(2), keys, torch.zeros(7, 5), torch.zeros(5))


@given(st.integers(0, 99))
def test_scores_pair_by_pair(seed: int) -> None:
    random = torch.Generator().manual_seed(seed)
    query = torch.randn(2, 4, generator=random, dtype=torch.float64)
    keys = torch.randn(2, 3, 4, generator=random, dtype=torch.float64)
    weight = torch.randn(4, 4, generator=random, dtype=torch.float64)
    wide = torch.randn(8, 5, generator=random, dtype=torch.float64)
    readout = torch.randn(5, generator=random, dtype=torch.float64)
    for b, k in itertools.product(range(2), range(3)):
        h, s = query[b], keys[b, k]
        assert float(dot_score(query, keys)[b, k]) == pytest.approx(float((h * s).sum()))
        bilinear = bilinear_score(query, keys, weight)[b, k]
        assert float(bilinear) == pytest.approx(float(torch.einsum("i,ij,j->", h, weight, s)))
        mlp = mlp_score(query, keys, wide, readout)[b, k]
        assert float(mlp) == pytest.approx(float(torch.tanh(torch.cat([h, s]) @ wide) @ readout))
    torch.testing.assert_close(
        bilinear_score(query, keys, torch.eye(4, dtype=torch.float64)), dot_score(query, keys)
    )
    context, weights = attend(dot_score(query, keys), keys)
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, dtype=torch.float64))
    # torch's attention divides the scores by the root of the dimension
    theirs = torch.nn.functional.scaled_dot_product_attention(query[:, None], keys, keys, scale=1.0)
    torch.testing.assert_close(context, theirs[:, 0])


@pytest.mark.parametrize(("score", "query"), KINDS)
def test_teacher_forcing_and_writing_meet(score: str | None, query: str) -> None:
    torch.manual_seed(0)
    model = EncoderDecoder(5, 8, score, query)
    source = torch.randint(5, (3, 4))
    written, weights = model.write(source, 6)
    forced = model(source, written[:, :5])  # what it was told is what it would have written
    assert torch.equal(forced.argmax(-1), written)
    if score is None:
        assert weights.shape == (3, 6, 0)
    else:
        torch.testing.assert_close(weights.sum(-1), torch.ones(3, 6))


@pytest.mark.parametrize(("score", "query"), KINDS)
@torch.no_grad()
def test_all_outputs_together_have_probability_one(score: str | None, query: str) -> None:
    torch.manual_seed(1)
    model = EncoderDecoder(2, 4, score, query).double()
    source = torch.tensor([[0, 1, 1]])
    total = 0.0
    for length in range(4):
        for letters in itertools.product(range(2), repeat=length):
            target = torch.tensor([letters], dtype=torch.long)
            logs = model(source, target).log_softmax(-1)[0]
            spelled = logs[torch.arange(length), target[0]].sum()
            # either it ends here, or (at length 3) anything may follow
            total += float((spelled + logs[length, model.mark]).exp()) if length < 3 else 0.0
            total += float(spelled.exp()) if length == 3 else 0.0
    assert total == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize(
    ("score", "query"),
    [KINDS[-1], *(pytest.param(*kind, marks=pytest.mark.thorough) for kind in KINDS[:-1])],
)
def test_a_string_can_be_learned(score: str | None, query: str) -> None:
    torch.manual_seed(2)
    model = EncoderDecoder(4, 16, score, query)
    source = torch.tensor([[0, 1, 2, 3], [3, 3, 1, 0]])
    target = source.flip(1)
    optimizer = torch.optim.Adam(model.parameters(), 2e-2)
    for _ in range(80):
        optimizer.zero_grad()
        model.loss(source, target).backward()
        optimizer.step()
    assert model.loss(source, target).item() < 0.1
    written, _ = model.write(source, 5)
    assert torch.equal(written[:, :4], target)
    assert (written[:, 4] == model.mark).all()


def test_the_decoders_query_is_before_or_after_the_step() -> None:
    torch.manual_seed(3)
    source = torch.tensor([[0, 1, 2]])
    for query in ("current", "previous"):
        model = EncoderDecoder(3, 4, "dot", query)
        keys, state = model.encode(source)
        token = torch.tensor([model.mark])
        _, after, weights = model.step(token, state, keys, state)
        asked = after if query == "current" else state
        torch.testing.assert_close(weights, dot_score(asked, keys).softmax(-1))


def test_a_padded_source_ends_where_it_ends() -> None:
    torch.manual_seed(4)
    model = EncoderDecoder(5, 6)
    keys, last = model.encode(torch.tensor([[1, 2, 3, 0], [1, 2, 3, 4]]), torch.tensor([3, 4]))
    alone, alone_last = model.encode(torch.tensor([[1, 2, 3]]))
    torch.testing.assert_close(keys[:1, :3], alone)
    torch.testing.assert_close(last[:1], alone_last)


@given(st.integers(0, 999), st.integers(2, 30))
def test_tasks_are_what_they_say(seed: int, length: int) -> None:
    random = torch.Generator().manual_seed(seed)
    bits, odd = parity(4, length, random)
    assert odd[:, -1].tolist() == [sum(row) % 2 for row in bits.tolist()]
    inputs, sums = adding_problem(4, length, random)
    for row, total in zip(inputs.tolist(), sums.tolist(), strict=True):
        marked = [place for place, (_, mark) in enumerate(row) if mark]
        assert len(marked) == 2
        assert marked[0] < length // 2 <= marked[1]
        assert total == pytest.approx(sum(row[place][0] for place in marked), abs=1e-6)
    source, target = reversal(4, length, 7, random)
    assert target.tolist() == [row[::-1] for row in source.tolist()]


@given(st.integers(0, 999), st.integers(0, 5))
def test_attractors_disagree_unless_asked(seed: int, phrases: int) -> None:
    random = torch.Generator().manual_seed(seed)
    words, plural = agreement(20, phrases, random)
    nouns = words[:, ::2] // 10
    assert torch.equal(nouns[:, 0], plural)
    assert (nouns[:, 1:] == 1 - plural[:, None]).all()
    assert (words[:, 1::2] == 20).all()
    words, plural = agreement(20, phrases, random, agree=1.0)
    assert (words[:, ::2] // 10 == plural[:, None]).all()


def test_guessing_the_mean_costs_a_sixth() -> None:
    _, sums = adding_problem(200_000, 2, torch.Generator().manual_seed(0))
    error = 3 * math.sqrt(7 / 180 / 200_000)  # the standard deviation of (sum − 1)² is √(7/180)
    assert float((sums - 1).square().mean()) == pytest.approx(1 / 6, abs=error)


@pytest.mark.usefixtures("as_readers_run_it")
def test_bad_input_is_refused() -> None:
    model, random = EncoderDecoder(3, 4), torch.Generator()
    some = torch.tensor([[0, 1]])
    for call, says in [
        (lambda: EncoderDecoder(3, 4, "cosine"), "score must be one of"),
        (lambda: EncoderDecoder(3, 4, "dot", "next"), "query must be one of"),
        (lambda: EncoderDecoder(0, 4), "n_letters must be a whole number ≥ 1"),
        (lambda: model(torch.zeros(1, 0).long(), some), "the source must have shape"),
        (lambda: model(torch.tensor([[7]]), some), "the source must hold token ids, 0 to 3, got 7"),
        (lambda: model(some, torch.tensor([[-1]])), "the target must hold"),
        (lambda: model(some, some.repeat(3, 1)), "need as many targets, got 3"),
        (lambda: model.write(some, 0), "n_tokens must be a whole number ≥ 1"),
        (
            lambda: dot_score(torch.zeros(2), torch.zeros(3, 4)),
            r"keys must have shape .*, got \(3, 4\)",
        ),
        (lambda: bilinear_score(torch.zeros(2), torch.zeros(3, 4), torch.eye(2)), r"got \(2, 2\)"),
        (
            lambda: mlp_score(torch.zeros(2), torch.zeros(3, 4), torch.zeros(5, 1), torch.zeros(1)),
            "2 . 4 rows",
        ),
        (lambda: parity(0, 3, random), "batch_size must be a whole number ≥ 1"),
        (lambda: adding_problem(1, 1, random), "length must be a whole number ≥ 2"),
        (lambda: reversal(1, 0, 3, random), "length must be"),
        (lambda: agreement(1, 1, random, agree=2.0), "agree must be a probability"),
    ]:
        with pytest.raises(ValueError, match=says):
            call()

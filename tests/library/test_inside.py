"""Inside a model: exact identities, code that others wrote, and closed forms."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import dblquad
from sklearn.linear_model import Ridge

from primer import inside
from primer.inside.addition import split_sums
from primer.transformers import Transformer, TransformerConfig

SEEDS = st.integers(0, 2**16)


def chance(seed: int) -> torch.Generator:
    """Make a generator."""
    return torch.Generator().manual_seed(seed)


@pytest.fixture(scope="module")
def small() -> Transformer:
    """Make a small model of the book's form, untrained."""
    torch.manual_seed(0)
    config = TransformerConfig(
        vocab_size=11,
        n_layers=3,
        d_model=16,
        n_heads=2,
        context_length=12,
        norm="rms",
        feed_forward="swiglu",
        positions="rope",
        bias=False,
    )
    model = Transformer(config).eval()
    with torch.no_grad():  # larger than at first, so that every part matters
        for weight in model.parameters():
            weight.mul_(3 if weight.ndim == 2 else 1)
    return model


HERE = torch.tensor([[1, 2, 3, 4], [5, 6, 7, 8]])
THERE = torch.tensor([[1, 9, 3, 4], [5, 10, 7, 8]])


# Sharing ------------------------------------------------------------------------------------------


@given(seed=SEEDS, p=st.floats(0.05, 0.95), ratio=st.floats(0.2, 3))
def test_the_loss_of_two_features_is_scipys_integral(seed: int, p: float, ratio: float) -> None:
    w, b = np.random.default_rng(seed).normal(size=(2, 2))
    total = 0.0
    for i, importance in ((0, 1.0), (1, ratio)):

        def error(y: float, x: float, i: int = i) -> float:
            pair = (x, y)
            return float((pair[i] - max(w[i] * (w[0] * x + w[1] * y) + b[i], 0)) ** 2)

        both, _ = dblquad(error, 0, 1, 0, 1, epsabs=1e-7)
        first, _ = dblquad(lambda y, x, e=error: e(0.0, x), 0, 1, 0, 1, epsabs=1e-7)
        second, _ = dblquad(lambda y, x, e=error: e(y, 0.0), 0, 1, 0, 1, epsabs=1e-7)
        none = error(0.0, 0.0)
        one = p * (1 - p)
        total += importance * (p * p * both + one * (first + second) + (1 - p) ** 2 * none)
    assert inside.shared_loss(w, b, p, ratio) == pytest.approx(total, abs=1e-5)


@given(p=st.floats(0, 1), ratio=st.floats(0.2, 5))
def test_the_border_is_where_both_solutions_cost_the_same(p: float, ratio: float) -> None:
    sharing = inside.shared_loss([1, -1], [0, 0], p, ratio)
    kept = [1, 0] if ratio <= 1 else [0, 1]  # the feature that matters more
    bias = [0, p / 2] if ratio <= 1 else [p / 2, 0]
    alone = inside.shared_loss(kept, bias, p, ratio)
    border = inside.sharing_border(ratio)
    if abs(p - border) > 1e-6:
        assert (sharing < alone) == (0 < p < border) or p == 0
    assert sharing == pytest.approx((1 + ratio) * p**2 / 6, abs=1e-9)
    assert alone == pytest.approx(min(1, ratio) * (p / 3 - p**2 / 4), abs=1e-9)


@given(seed=SEEDS, n=st.integers(2, 12), d=st.integers(1, 6))
def test_no_directions_are_below_welchs_bound(seed: int, n: int, d: int) -> None:
    found = inside.cosines(np.random.default_rng(seed).normal(size=(n, d)))
    assert math.sqrt(np.mean(found**2)) >= inside.welch_bound(n, d) - 1e-9


def test_a_tight_frame_reaches_it() -> None:
    angles = 2 * np.pi * np.arange(7) / 7
    frame = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    found = math.sqrt(np.mean(inside.cosines(frame) ** 2))
    assert found == pytest.approx(inside.welch_bound(7, 2), abs=1e-12)


@given(epsilon=st.floats(0.3, 0.9), d=st.integers(10, 60))
def test_so_many_directions_are_found_by_drawing(epsilon: float, d: int) -> None:
    n = min(inside.directions_within(epsilon, d), 60)
    if n < 2:
        return
    random = np.random.default_rng(0)
    tries = [abs(inside.cosines(random.normal(size=(n, d)))).max() for _ in range(20)]
    assert min(tries) <= epsilon


def test_a_small_network_packs_what_is_rare() -> None:
    importance = torch.ones(5)
    rare = [inside.train_toy(2, 0.05, importance, chance(s), steps=1500) for s in range(2)]
    often = [inside.train_toy(2, 0.9, importance, chance(s), steps=1500) for s in range(2)]
    kept = [[int((toy.lengths > 0.5).sum()) for toy in toys] for toys in (rare, often)]
    assert min(kept[0]) > max(kept[1])
    straight = inside.train_toy(2, 0.05, importance, chance(0), steps=1500, bend=False)
    assert float(straight.lengths.square().sum()) == pytest.approx(2, abs=0.1)  # two dimensions


# Looking and patching -----------------------------------------------------------------------------


def test_all_places_of_a_layer_are_the_other_run(small: Transformer) -> None:
    other = inside.record(small, THERE)
    for name in ("embedding", "blocks.0.after", "blocks.2.after"):
        found = inside.patched(small, HERE, {name: inside.swap(other[name])})
        torch.testing.assert_close(found, small(THERE), atol=1e-5, rtol=1e-4)


def test_one_place_before_the_change_changes_nothing(small: Transformer) -> None:
    other = inside.record(small, THERE)
    patch = {"blocks.0.after": inside.swap(other["blocks.0.after"], place=0)}
    torch.testing.assert_close(inside.patched(small, HERE, patch), small(HERE))


def test_places_that_are_carried_over_together_are_those_carried_one_by_one(
    small: Transformer,
) -> None:
    name = "blocks.0.attention.heads"
    here, there = (inside.record(small, run, [name])[name] for run in (HERE, THERE))
    both = inside.swap(there, place=[1, 3], heads=1)(here)
    one_by_one = inside.swap(there, place=3, heads=1)(inside.swap(there, place=1, heads=1)(here))
    assert torch.equal(both, one_by_one)
    assert torch.equal(both[:, :, [0, 2]], here[:, :, [0, 2]])


def test_all_heads_are_the_whole_activation(small: Transformer) -> None:
    name = "blocks.1.attention.heads"
    other = inside.record(small, THERE, [name])[name]
    whole = inside.patched(small, HERE, {name: inside.swap(other)})
    by_head = inside.patched(small, HERE, {name: inside.swap(other, heads=[0, 1])})
    torch.testing.assert_close(whole, by_head)


def test_what_is_recorded_is_what_the_model_went_on_with(small: Transformer) -> None:
    seen = inside.record(small, HERE, ["blocks.0.after"], {"blocks.0.after": lambda x: 2 * x})
    plain = inside.record(small, HERE, ["blocks.0.after"])
    torch.testing.assert_close(seen["blocks.0.after"], 2 * plain["blocks.0.after"])


def test_a_run_that_goes_on_from_a_record_is_the_whole_run(small: Transformer) -> None:
    seen = inside.record(small, HERE)
    names = [[], *([name] for name in seen), ["blocks.1.between", "blocks.2.attention.keys"]]
    for some in names:
        patches = {name: lambda x: x.roll(1, -1) for name in some}
        for n_last in (None, 1):
            whole = inside.patched(small, HERE, patches, n_last)
            again = inside.patched(small, HERE, patches, n_last, seen)
            torch.testing.assert_close(again, whole, atol=1e-5, rtol=1e-4)


def test_blocks_below_a_patch_are_not_computed_anew(small: Transformer) -> None:
    seen, read = inside.record(small, HERE), []
    hooks = [block.register_forward_hook(lambda b, *_: read.append(b)) for block in small.blocks]
    inside.patched(small, HERE, {"blocks.1.after": lambda x: 2 * x}, seen=seen)
    assert read == [*small.blocks][1:]
    read.clear()
    inside.record(small, HERE, ["blocks.1.attention.heads", "embedding"])
    assert read == [*small.blocks][:1]  # the second one ends where nothing more is asked of it
    for hook in hooks:
        hook.remove()


def test_parts_add_up_to_the_difference_of_logits(small: Transformer) -> None:
    right, wrong = torch.tensor([3, 4]), torch.tensor([5, 6])
    parts = inside.direct_logits(small, HERE, right, wrong)
    expected = inside.logit_difference(small(HERE)[:, -1], right, wrong)
    torch.testing.assert_close(sum(parts.values()), expected, atol=1e-4, rtol=1e-4)


def test_a_first_order_is_exact_where_the_run_is_a_line(small: Transformer) -> None:
    """After the last block only the norm bends; a small step shows the slope."""
    name = "blocks.2.feed_forward.output"

    def measure(logits: torch.Tensor) -> torch.Tensor:
        return logits[:, -1, 3] - logits[:, -1, 5]

    found = inside.first_order(small, HERE, THERE, measure, [name])[name][:, -1]
    here, there = (inside.record(small, run, [name])[name] for run in (HERE, THERE))
    step = 1e-3
    moved = inside.patched(small, HERE, {name: lambda x: x + step * (there - here)})
    slope = (measure(small(HERE)) - measure(moved)) / step
    torch.testing.assert_close(found, slope.detach(), atol=0.02, rtol=0.02)


def test_a_path_from_every_head_to_nothing_that_changed(small: Transformer) -> None:
    for kind in ("queries", "keys", "values"):
        logits = inside.direct_path(small, HERE, HERE, (0, 1), [(1, 0), (2, 1)], kind)
        torch.testing.assert_close(logits, small(HERE)[:, -1], atol=1e-5, rtol=1e-4)
    changed = inside.direct_path(small, HERE, THERE, (0, 1), [(1, 0)], "values")
    assert not torch.allclose(changed, small(HERE)[:, -1], atol=1e-6)


@given(seed=SEEDS, share=st.floats(-1, 2))
def test_a_share_is_the_slope_through_the_origin_of_means(seed: int, share: float) -> None:
    random = np.random.default_rng(seed)
    corrupted = torch.tensor(random.normal(size=30))
    whole = torch.tensor(random.uniform(1, 2, size=30))
    found = inside.share(corrupted + share * whole, corrupted, corrupted + whole)
    assert found.value == pytest.approx(share, abs=1e-9)
    assert found.error == pytest.approx(0, abs=1e-9)


def test_the_error_of_a_share_is_its_spread_over_samples() -> None:
    random = np.random.default_rng(0)

    def drawn() -> inside.Share:
        whole = random.uniform(1, 3, size=200)
        gained = 0.4 * whole + random.normal(scale=0.5, size=200)
        zero = torch.zeros(200, dtype=torch.float64)
        return inside.share(torch.tensor(gained), zero, torch.tensor(whole))

    many = [drawn() for _ in range(400)]
    spread = np.std([one.value for one in many])
    assert np.mean([one.error for one in many]) == pytest.approx(spread, rel=0.15)


# Controls, probes, steering -----------------------------------------------------------------------


def test_a_turned_model_says_the_same(small: Transformer) -> None:
    rotation, _ = torch.linalg.qr(torch.randn(16, 16, generator=chance(1)))
    other = inside.turned(small, rotation)
    torch.testing.assert_close(other(HERE), small(HERE), atol=1e-3, rtol=1e-3)
    states = [inside.record(m, HERE, ["blocks.1.after"])["blocks.1.after"] for m in (small, other)]
    torch.testing.assert_close(states[0] @ rotation, states[1], atol=1e-3, rtol=1e-3)


def test_a_shuffled_model_keeps_its_numbers_only(small: Transformer) -> None:
    other = inside.shuffled_weights(small, chance(2))
    assert not torch.allclose(other(HERE), small(HERE), atol=0.1)
    for name, weight in small.state_dict().items():
        assert torch.equal(
            weight.flatten().sort().values, other.state_dict()[name].flatten().sort().values
        )
    assert torch.equal(other.embed.weight, small.embed.weight)
    both = inside.shuffled_weights(small, chance(2), embedding=True)
    assert not torch.equal(both.embed.weight, small.embed.weight)


@given(seed=SEEDS, penalty=st.floats(0.01, 10))
def test_a_probe_is_scikit_learns_ridge(seed: int, penalty: float) -> None:
    random = np.random.default_rng(seed)
    states, targets = random.normal(size=(30, 4)), random.normal(size=30)
    probe, peer = inside.fit_probe(states, targets, penalty), Ridge(penalty).fit(states, targets)
    np.testing.assert_allclose(probe.weights, peer.coef_, atol=1e-8)
    np.testing.assert_allclose(probe.read(states), peer.predict(states), atol=1e-8)
    assert probe.r_squared(states, targets) == pytest.approx(peer.score(states, targets))


@given(seed=SEEDS)
def test_what_reads_is_not_what_writes(seed: int) -> None:
    random = np.random.default_rng(seed)
    written, noise = random.normal(size=3), random.normal(size=(3, 3))
    covariance = noise @ noise.T + 0.1 * np.eye(3)
    best = np.linalg.solve(covariance, written)  # Σ_ε⁻¹ v
    found = inside.pattern(best, covariance + np.outer(written, written))
    assert abs(inside.cosines([found, written])[0]) == pytest.approx(1, abs=1e-6)
    assert found @ best == pytest.approx(1)
    assert inside.shortest_push(best) @ best == pytest.approx(1)


def test_steering_adds_at_every_place(small: Transformer) -> None:
    vector = inside.difference_of_means(torch.randn(5, 16), torch.randn(7, 16))
    plain = inside.record(small, HERE, ["blocks.1.after"])["blocks.1.after"]
    patches = inside.steered("blocks.1.after", vector, 3.0)
    pushed = inside.record(small, HERE, ["blocks.1.after"], patches)["blocks.1.after"]
    torch.testing.assert_close(pushed, plain + 3 * vector)
    nothing = inside.patched(small, HERE, inside.steered("blocks.1.after", vector, 0.0))
    torch.testing.assert_close(nothing, small(HERE))
    others = inside.random_directions(9, vector, chance(0))
    torch.testing.assert_close(others.norm(dim=1), vector.norm().expand(9))


def test_a_patch_along_a_direction_may_wake_what_slept() -> None:
    plain, along, whole = inside.illusion(0.5, 3.0)
    assert (plain, whole) == (0, 0)
    assert along == pytest.approx((3.0 - 0.5) / 2)


# A dictionary -------------------------------------------------------------------------------------


def test_a_dictionary_finds_the_directions_that_made_the_states() -> None:
    made = torch.nn.functional.normalize(torch.randn(12, 24, generator=chance(0)))
    used = torch.rand(6000, 12, generator=chance(1))
    used = used * (torch.rand(6000, 12, generator=chance(2)) < 0.1)
    states = used @ made
    found = inside.train_dictionary(states, 24, 3, chance(3), steps=800, learning_rate=0.01)
    rest = inside.unexplained(states, found.decode(found.encode(states)))
    assert rest < 0.1
    assert int((inside.likeness(made, found.rows) > 0.9).sum()) >= 10
    assert int((found.encode(states) > 0).sum(1).max()) <= 3
    torch.testing.assert_close(found.rows.norm(dim=1), torch.ones(24))


def test_the_dictionary_of_small_states_is_that_of_large_ones() -> None:
    states = torch.randn(60, 6, generator=chance(0))
    plain, tiny = (
        inside.train_dictionary(states * unit, 8, 2, chance(3), steps=40)
        for unit in (1.0, 2.0**-30)
    )
    assert torch.equal(plain.rows, tiny.rows)
    assert torch.equal(plain.encoder, tiny.encoder)
    assert torch.equal(plain.offset, tiny.offset)


def test_a_latent_of_one_token_has_the_share_one() -> None:
    tokens = torch.tensor([0, 1, 1, 2])
    latents = torch.tensor([[0.0, 1.0], [2.0, 1.0], [3.0, 1.0], [0.0, 1.0]])
    torch.testing.assert_close(inside.token_share(latents, tokens, 4), torch.tensor([1.0, 0.5]))


# Addition -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("p", [3, 5, 11, 13])
def test_a_network_by_hand_adds_without_error(p: int) -> None:
    network = inside.handmade_addition(p)
    pairs = inside.modular_pairs(p)
    assert network.accuracy(pairs) == 1
    found = inside.neurons(network.table)
    np.testing.assert_allclose(found.share, 1, atol=1e-9)
    assert sorted({*found.frequency.tolist()}) == [*range(1, (p + 1) // 2)]
    kept = inside.own_waves(network)
    torch.testing.assert_close(kept.logits(pairs), network.logits(pairs))
    without = inside.own_waves(network, keep=False)
    assert float(without.table.abs().max()) < 1e-9


def test_logits_of_the_hand_made_network_are_the_stated_ones() -> None:
    p = 7
    pairs = inside.modular_pairs(p)
    z = inside.handmade_addition(p).logits(pairs)
    a, b = pairs.T
    stated = torch.zeros(p * p, p, dtype=torch.float64)
    for answer, weight in (((a + b) % p, 0.5), (2 * a % p, 0.25), (2 * b % p, 0.25)):
        stated[torch.arange(p * p), answer] += weight
    line = np.polyfit(stated.flatten(), z.flatten(), 1)
    np.testing.assert_allclose(np.polyval(line, stated.flatten()), z.flatten(), atol=1e-9)


@given(seed=SEEDS)
def test_shares_of_logits_that_depend_on_the_sum_are_one(seed: int) -> None:
    p = 5
    kind = torch.tensor(np.random.default_rng(seed).normal(size=p))
    pairs = inside.modular_pairs(p)
    logits = kind[(pairs.sum(1)[:, None] - torch.arange(p)) % p]
    assert inside.explained_by(logits) == pytest.approx(1)


def test_a_network_learns_to_add_and_is_made_of_waves() -> None:
    how = {"bend": "square", "seen": 0.7, "steps": 300, "every": 300}
    *_, last = inside.train_addition(37, 64, chance(0), **how)
    assert last.train == 1
    assert last.test > 0.9  # chance is 1 in 37
    assert np.median(inside.neurons(last.network.table).share) > 0.5


def test_a_sum_is_unseen_if_neither_order_was_learned_from() -> None:
    learned, unseen = split_sums(13, 0.5, chance(0))
    sums = [{tuple(sorted(pair)) for pair in part.tolist()} for part in (learned, unseen)]
    assert not sums[0] & sums[1]
    assert len(sums[0] | sums[1]) == 13 * 14 / 2


# -------------------------------------------------------------------------------- at the edges


@pytest.mark.parametrize("unit", [1e-300, 1e-200, 1e200, 1e300])
def test_directions_have_their_cosines_in_every_unit(unit: float) -> None:
    rows = np.array([[1.0, 1.0], [1.0, 0.0], [-1.0, 2.0]])
    np.testing.assert_allclose(inside.cosines(unit * rows), inside.cosines(rows), rtol=1e-12)
    mixed = rows * np.array([[unit], [1.0], [1.0]])
    np.testing.assert_allclose(inside.cosines(mixed), inside.cosines(rows), rtol=1e-12)


@pytest.mark.parametrize("unit", [1e-170, 1e-200, 1e170, 1e200])
def test_a_push_and_a_pattern_have_the_unit_of_one_over_the_weights(unit: float) -> None:
    weights, covariance = np.array([3.0, 4.0]), [[2.0, 1.0], [1.0, 1.0]]
    plain = inside.shortest_push(weights)
    np.testing.assert_allclose(inside.shortest_push(unit * weights), plain / unit, rtol=1e-12)
    plain = inside.pattern(weights, covariance)
    np.testing.assert_allclose(inside.pattern(unit * weights, covariance), plain / unit, rtol=1e-12)


@pytest.mark.parametrize("unit", [1e-30, 1e30])
def test_what_is_unexplained_has_no_unit(unit: float) -> None:
    states, found = torch.tensor([[0.0, 1.0], [2.0, 0.0]]), torch.tensor([[0.5, 1.0], [2.0, 0.5]])
    plain = inside.unexplained(states, found)
    assert inside.unexplained(unit * states, unit * found) == pytest.approx(plain, rel=1e-6)
    assert inside.unexplained(states.half(), found.half()) == pytest.approx(plain, rel=1e-3)


def test_narrow_whole_numbers_are_tokens_too(small: Transformer) -> None:
    logits = torch.tensor([[1.0, 3.0]])
    one, zero = torch.tensor([1]), torch.tensor([0])
    assert inside.logit_difference(logits, one.to(torch.int8), zero.to(torch.int16)).tolist() == [2]
    network, pairs = inside.handmade_addition(5), inside.modular_pairs(5)
    assert network.accuracy(pairs.to(torch.int8)) == 1.0
    tokens = torch.tensor([[5, 6, 7]])
    wide = inside.direct_logits(small, tokens, one, zero)
    narrow = inside.direct_logits(small, tokens, one.to(torch.int8), zero.to(torch.int8))
    assert {name: part.tolist() for name, part in narrow.items()} == {
        name: part.tolist() for name, part in wide.items()
    }
    share = inside.token_share(torch.ones(2, 1), torch.tensor([0, 7]), 10**12)  # takes no memory
    assert share.tolist() == [0.5]


def test_a_probe_reads_tensors_of_every_kind() -> None:
    probe = inside.Probe(np.array([2.0, 0.0]), 1.0)
    states = torch.ones(2, 2, dtype=torch.bfloat16, requires_grad=True)
    assert probe.read(states).tolist() == [3.0, 3.0]


def eye(n: int) -> inside.Dictionary:
    """Make the dictionary of the axes, of which n may be active."""
    return inside.Dictionary(torch.eye(2), torch.eye(2), torch.zeros(2), torch.zeros(2), 1.0, n)


REFUSED = [
    (lambda m, x: inside.handmade_addition(5).logits(torch.tensor([[0, -1]])), "0 to 4, got -1"),
    (lambda m, x: inside.handmade_addition(5).accuracy(torch.zeros(0, 2).long()), "no sum"),
    (lambda m, x: eye(1).encode(torch.ones(3)), r"do not go together: rows \(2, 2\).*states \(3,"),
    (lambda m, x: eye(5).encode(torch.ones(2)), "looks for an entry that is not there"),
    (lambda m, x: eye(1).decode(torch.tensor([math.nan, 1])), "latents must be finite"),
    (lambda m, x: eye(1).decode(torch.ones(2).double()), "all tensors need one precision"),
    (lambda m, x: inside.Probe(np.ones(2), 0.0).read(np.ones((2, 3))), "states must have 2 col"),
    (lambda m, x: inside.pattern([1, 1], [[1, 2], [3, 4]]), "must be symmetric"),
    (lambda m, x: inside.likeness(3 * torch.eye(2), torch.eye(2)), "rows must be directions"),
    (lambda m, x: inside.likeness(torch.eye(2), torch.eye(2)[:0]), "others must be directions"),
    (lambda m, x: inside.token_share(-torch.ones(1, 1), torch.tensor([0]), 2), "not be negative"),
    (lambda m, x: inside.direct_logits(m, x, torch.tensor([-1]), x[:, 0]), "right must hold"),
    (lambda m, x: inside.first_order(m, x, x, lambda z: 3.0, ["logits"]), "got 3.0"),
    (lambda m, x: inside.first_order(m, x, x, lambda z: z[:, -1], ["logits"]), "for each text"),
    (lambda m, x: inside.first_order(m, x, x, lambda z: z[:, -1, 3], []), "names is empty"),
    (lambda m, x: inside.record(None, x), "model must be a Transformer"),
    (lambda m, x: inside.patched(m, x, {"norm": 3}), "'norm' of patches must be a function"),
    (lambda m, x: inside.patched(m, x, {"norm": lambda z: z * math.nan}), "NaN|nan"),
    (lambda m, x: inside.patched(m, x, {}, seen=3), "what record returned, got 3"),
    (lambda m, x: inside.patched(m, x, {}, seen={}), "seen lacks 'embedding'"),
    (
        lambda m, x: inside.patched(m, x, {}, seen=inside.record(m, x, ["embedding"])),
        "seen lacks 'blocks.2.after'",
    ),
    (lambda m, x: inside.patched(m, x, {}, seen=inside.record(m, 1 + x)), "of other tokens"),
    (lambda m, x: inside.patched(m, x, {}, 9, inside.record(m, x)), "n_last must lie between 1"),
    (
        lambda m, x: inside.patched(
            m, x, {}, seen={n: v[:1, :2] if "." in n else v for n, v in inside.record(m, x).items()}
        ),
        "finite numbers of shape",
    ),
    (lambda m, x: inside.shuffled_weights(m, 0), "torch's random generator"),
    (lambda m, x: inside.swap(torch.ones(1, 3, 2), place=1.5), "place must be a whole number"),
    (lambda m, x: inside.direct_path(m, x, x, (0, 1), [1]), "entry 0 of receivers"),
    (lambda m, x: next(inside.train_addition(7, 2**63, chance(0))), "at most 16,777,216"),
    (lambda m, x: inside.sparse_examples(2**63, 3, 0.5, chance(0)), "at most 16,777,216"),
    (lambda m, x: next(inside.train_addition(7, 4, chance(0), decay=1e300)), "gives nan"),
    (lambda m, x: next(inside.train_addition(7, 4, chance(0), learning_rate=1e200)), "too large"),
]


@pytest.mark.parametrize(("call", "words"), REFUSED)
def test_what_cannot_be_computed_is_refused_in_words(call, words, small: Transformer) -> None:
    with pytest.raises(ValueError, match=words):
        call(small, torch.tensor([[5, 6, 7]]))


def test_a_training_reports_after_every_so_many_steps_and_after_the_last() -> None:
    found = inside.train_addition(5, 4, chance(0), seen=0.8, steps=7, every=3)
    assert [report.step for report in found] == [3, 6, 7]
    found = inside.train_addition(5, 4, chance(0), seen=0.8, steps=6, every=3)
    assert [report.step for report in found] == [3, 6]

"""An observer sees every activation by its name, and what it returns is what the model computes."""

import re

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from test_transformers import VARIANTS, build, draw_tokens, every_variant
from written import BOOK

from primer.attention import Only, change_weights, multi_head, observing, shown
from primer.transformers import ACTIVATIONS, KeyValueCache

STREAM = ["embedding", "blocks.0.before", "blocks.0.between", "blocks.0.after", "blocks.1.before"]
SEEN = [*STREAM, "blocks.1.between", "blocks.1.after", "norm", "logits"]
variants = st.sampled_from(list(VARIANTS.values()))


def expected_names(n_layers):
    """List the names of the table, one block after the other."""
    names = list(ACTIVATIONS)
    inside = [name for name in names if "ℓ" in name]
    blocks = [name.replace("ℓ", str(layer)) for layer in range(n_layers) for name in inside]
    return [names[0], *blocks, *names[-2:]]


def seen_by(model, tokens, **options):
    seen = {}
    model(tokens, observe=seen.__setitem__, **options)
    return seen


def sizes(config, **counts):
    return {
        "d_model": config.d_model,
        "heads": config.n_heads,
        "kv_heads": config.kv_heads,
        "d_head": config.d_head,
        "vocab": config.vocab_size,
        **counts,
    }


@every_variant
def test_the_names_and_axes_of_the_table_are_what_is_seen(changes):
    model, tokens = build(changes), draw_tokens(2, 7)
    cache = KeyValueCache(model.config)
    for given_tokens, options, counts in (
        (tokens, {}, {"seq": 7, "all_tokens": 7, "last": 7}),
        (tokens, {"n_last": 2}, {"seq": 7, "all_tokens": 7, "last": 2}),
        (tokens[:, :4], {"cache": cache}, {"seq": 4, "all_tokens": 4, "last": 4}),
        (tokens[:, 4:], {"cache": cache}, {"seq": 3, "all_tokens": 7, "last": 3}),
    ):
        seen = seen_by(model, given_tokens, **options)
        assert list(seen) == expected_names(model.config.n_layers)
        known = sizes(model.config, batch=2, **counts)
        for name, activation in seen.items():
            axes = ACTIVATIONS[re.sub(r"\d+", "ℓ", name)].split()
            assert activation.shape == tuple(known[axis] for axis in axes), name


def test_the_library_page_has_the_same_table():
    page = (BOOK / "chapters/appendix/library/transformers.md").read_text()
    rows = re.findall(r"^\| `([^`]+)` \| ([\w ]+) \| .+ \|$", page, re.MULTILINE)
    assert rows == list(ACTIVATIONS.items())


@every_variant
def test_who_only_looks_changes_nothing(changes):
    model, tokens = build(changes), draw_tokens(2, 7)
    expected = model(tokens)
    seen = seen_by(model, tokens)
    torch.testing.assert_close(seen["logits"], expected, atol=1e-5, rtol=1e-5)
    again = model(tokens, observe=lambda name, x: x.clone())
    torch.testing.assert_close(again, seen["logits"], rtol=0, atol=0)


def test_nobody_pays_who_does_not_look(monkeypatch):
    model, tokens = build({}), draw_tokens(2, 7)
    monkeypatch.setattr(multi_head, "scaled_dot_product_attention", None)  # the explicit weights
    model(tokens)
    with pytest.raises(TypeError):
        seen_by(model, tokens)


@given(variants, st.sets(st.sampled_from(expected_names(2))))
def test_who_asks_for_some_names_sees_what_is_there_and_nothing_else(changes, names):
    model, tokens = build(changes), draw_tokens(2, 7)
    everything, seen = seen_by(model, tokens), {}
    model(tokens, observe=Only([*names], seen.__setitem__))
    assert list(seen) == [name for name in everything if name in names]
    for name, x in seen.items():
        torch.testing.assert_close(x, everything[name], atol=1e-5, rtol=1e-5)


def test_only_a_part_that_is_asked_for_pays(monkeypatch):
    model, tokens, asked = build({}), draw_tokens(2, 7), []
    own = multi_head.scaled_dot_product_attention
    explicit = lambda *a, **k: asked.append(1) or own(*a, **k)  # noqa: E731
    monkeypatch.setattr(multi_head, "scaled_dot_product_attention", explicit)
    for names, times in (
        ([], 0),
        (["blocks.1.after", "norm"], 0),
        (["blocks.1.attention.heads"], 1),
    ):
        asked.clear()
        model(tokens, observe=Only(names, lambda name, x: None))
        assert len(asked) == times, names


@given(variants, st.integers(0, 1), st.sets(st.integers(0, 3)))
def test_a_head_of_zeros_is_a_head_whose_columns_of_w_o_are_gone(changes, layer, heads):
    model, tokens = build(changes), draw_tokens(2, 7)

    def silence(name, x):
        if name == f"blocks.{layer}.attention.heads":
            x = x.clone()
            x[:, list(heads)] = 0
        return x

    silenced = model(tokens, observe=silence)
    with torch.no_grad():
        for head in heads:
            model.blocks[layer].attention.output.weight[:, 4 * head : 4 * (head + 1)] = 0
    torch.testing.assert_close(silenced, seen_by(model, tokens)["logits"])


@given(variants, st.sampled_from(SEEN))
def test_the_stream_of_another_text_makes_its_logits(changes, place):
    """All that a later layer knows passes through the stream: that is what it is."""
    model, here, there = build(changes), draw_tokens(2, 7), draw_tokens(2, 7, seed=2)
    other = seen_by(model, there)
    got = model(here, observe=lambda name, x: other[place] if name == place else None)
    torch.testing.assert_close(got, other["logits"])


@given(variants, st.sampled_from(["queries", "keys", "values", "heads", "output"]))
def test_an_intervention_with_a_cache_is_the_one_without(changes, place):
    model, tokens = build(changes), draw_tokens(2, 7)

    def halve(name, x):
        return x / 2 if name == f"blocks.0.attention.{place}" else None

    cache = KeyValueCache(model.config)
    pieces = [model(t, cache=cache, observe=halve) for t in tokens.split([3, 1, 3], dim=1)]
    expected = model(tokens, observe=halve)
    assert not torch.allclose(expected, model(tokens), atol=1e-4)
    torch.testing.assert_close(torch.cat(pieces, dim=1), expected, atol=1e-5, rtol=1e-5)


def test_changed_scores_stay_masked_and_changed_weights_mix_the_values():
    model, tokens = build({}), draw_tokens(2, 7)
    place = "blocks.0.attention"
    seen = {}

    def even(name, x):
        x = torch.zeros_like(x) if name == f"{place}.scores" else x
        return seen.setdefault(name, x)

    model(tokens, observe=even)
    expected = torch.ones(7, 7).tril() / torch.arange(1, 8)[:, None]
    torch.testing.assert_close(seen[f"{place}.weights"], expected.expand(2, 4, 7, 7))
    torch.testing.assert_close(
        seen[f"{place}.heads"], seen[f"{place}.weights"] @ seen[f"{place}.values"]
    )


def test_gradients_pass_through_what_is_returned():
    model, tokens = build({}), draw_tokens(2, 7)
    model(tokens, observe=lambda name, x: x.detach() if name == "blocks.0.after" else None)
    logits = model(tokens, observe=lambda name, x: x.detach() if name == "norm" else None)
    logits.sum().backward()
    assert model.blocks[0].attention.query.weight.grad is None


def test_an_observer_and_a_changed_head_work_together():
    model, tokens = build({}), draw_tokens(2, 7)
    names = []
    with change_weights(model.blocks[0].attention, 2, lambda weights: 0 * weights):
        logits = model(tokens, observe=lambda name, x: names.append(name))
    assert names == expected_names(2)

    def silence(name, x):
        if name == "blocks.0.attention.heads":
            return x * torch.tensor([1.0, 1.0, 0.0, 1.0])[:, None, None]
        return None

    torch.testing.assert_close(logits, model(tokens, observe=silence))


@pytest.mark.parametrize("name", expected_names(2))
def test_another_shape_is_refused_with_the_name(name):
    model, tokens = build({}), draw_tokens(2, 7)

    def cut(seen, x):
        return x[:1] if seen == name else None

    with pytest.raises(ValueError, match=rf"returned shape \(1, .*\) for {re.escape(name)}, which"):
        model(tokens, observe=cut)


def test_what_is_no_tensor_is_refused_with_the_name(as_readers_run_it):
    with pytest.raises(ValueError, match="returned float for weights: return a tensor"):
        shown(lambda name, x: 0.0, "weights", torch.ones(2))


def test_whether_an_observer_is_a_function_is_asked_once_for_a_run(monkeypatch):
    asked = []
    monkeypatch.setattr(observing, "is_function", lambda *given: asked.append(given) or True)
    seen = seen_by(build({}), draw_tokens(2, 7))
    assert len(seen) == len(expected_names(2))
    assert len(asked) == 1  # reading a signature takes longer than a small layer

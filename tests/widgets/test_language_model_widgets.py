"""The language model in the page: JavaScript against torch, and the attention maps in a browser."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
import torch
import traitlets
from hypothesis import example, given, settings
from hypothesis import strategies as st
from widget_page import complaints, settle

from primer.attention import head_scores, scaled_dot_product_attention
from primer.datasets import split_plays
from primer.language_models import PATTERN, BytePairEncoding
from primer.notebook.figures import png
from primer.transformers import (
    ACTIVATIONS,
    KeyValueCache,
    Transformer,
    TransformerConfig,
    dequantize,
    load_pretrained,
    quantize,
)
from primer.widgets import AttentionMaps
from primer.widgets.attention_maps import EVEN, QUERIES, SHARE, evenness, head_products
from primer.widgets.shared.quantized import book_model, book_twin, pack, unpack

HARNESS = Path(__file__).with_name("language_model.mjs")
MASKED = Path(__file__).with_name("masked_twin.mjs")


@pytest.fixture(scope="session")
def model_file(tmp_path_factory):
    """Write the packed model for Node to read."""
    file = tmp_path_factory.mktemp("model") / "plays.bin"
    file.write_bytes(book_model())
    return str(file)


@pytest.fixture(scope="session")
def book():
    """Give the float model, the rounded model and the encoding."""
    model, encoding = load_pretrained("plays")
    return model, unpack(book_model())[0], encoding


@pytest.fixture(scope="session")
def held_out(book):
    """Give the held-out plays as token ids, each by itself."""
    return [book[2].encode(text) for text in split_plays()[1].values()]


def random_model(seed=0, **shape):
    """Make a small model whose large random weights make the heads differ, and an encoding."""
    encoding = BytePairEncoding.train(["to be or not to be, that is the question " * 3], 280)
    config = TransformerConfig(
        **{"n_layers": 2, "d_model": 32, "n_heads": 4, "context_length": 24, **shape},
        vocab_size=encoding.vocab_size,
    )
    torch.manual_seed(seed)
    model = Transformer(config).eval()
    for weight in model.parameters():
        torch.nn.init.normal_(weight, std=0.4)
    return model, encoding


def tokenizer_of(encoding):
    return {
        "pattern": PATTERN,
        "merges": encoding.merges,
        "special_tokens": list(encoding.special_tokens),
    }


# --- rounding -------------------------------------------------------------------------------------


@given(st.integers(0, 1000), st.integers(1, 9), st.integers(1, 40))
def test_rounding_is_off_by_half_a_unit_at_most(seed, rows, columns):
    weight = torch.randn(rows, columns, generator=torch.Generator().manual_seed(seed)) ** 3
    whole, unit = quantize(weight)
    assert whole.abs().max() == 127
    error = (dequantize(whole, unit) - weight).abs()
    assert (error <= unit[:, None] * (0.5 + 1e-5)).all()
    again, same = quantize(dequantize(whole, unit))
    assert torch.equal(again, whole)
    torch.testing.assert_close(same, unit)


def test_what_is_packed_comes_back():
    model, encoding = random_model(n_kv_heads=2)
    data = pack(model, encoding)
    assert data == pack(model, encoding)
    read, tokens = unpack(data)
    assert read.config == model.config
    assert tokens.tokens == encoding.tokens
    assert pack(read, tokens) == data
    for name, weight in model.state_dict().items():
        expected = dequantize(*quantize(weight)) if weight.ndim == 2 else weight
        torch.testing.assert_close(read.state_dict()[name], expected, rtol=0, atol=0)


def test_models_that_the_page_cannot_run_are_refused():
    model, encoding = random_model(positions="none")
    with pytest.raises(ValueError, match="positions = 'rope'"):
        pack(model, encoding)
    model, _ = random_model()
    with pytest.raises(ValueError, match="280 tokens and the encoding makes 257"):
        pack(model, BytePairEncoding([]))
    with pytest.raises(ValueError, match="must be finite"):
        quantize(torch.tensor([[1.0, torch.nan]]))


@pytest.mark.parametrize(
    "damage", [lambda d: b"", lambda d: d[:1000], lambda d: bytes([d[0] ^ 1]) + d[1:]]
)
def test_damaged_bytes_are_refused(javascript, tmp_path, damage):
    data = damage(book_model())
    with pytest.raises(ValueError, match="no whole language model"):
        unpack(data)
    with pytest.raises(traitlets.TraitError, match="checkpoint"):
        AttentionMaps(checkpoint=data)
    file = tmp_path / "damaged.bin"
    file.write_bytes(data)
    with pytest.raises(RuntimeError, match="damaged"):
        javascript(HARNESS, "config", str(file))


def test_the_model_is_small_enough_for_a_page():
    assert len(gzip.compress(book_model(), 6)) < 1.6e6


# --- tokens ---------------------------------------------------------------------------------------

# what both languages' tables of Unicode know: neither lone surrogates nor unassigned characters
unicode_texts = st.text(st.characters(exclude_categories=["Cs", "Cn"]), max_size=60)
english = st.text(st.sampled_from("tobeTOBE  'ns,.\n1é“ ̈"), max_size=60)


@given(st.lists(st.one_of(unicode_texts, english), min_size=1, max_size=20))
def test_tokens_are_the_librarys(javascript, book, texts):
    encoding = book[2]
    content = tokenizer_of(encoding)
    expected = [encoding.encode(text) for text in texts]
    assert javascript(HARNESS, "encodeAll", content, texts) == expected
    assert javascript(HARNESS, "decodeAll", content, expected) == texts


def test_tokens_of_a_play_are_the_librarys(javascript, book):
    text = split_plays()[1]["Macbeth"]
    [ids] = javascript(HARNESS, "encodeAll", tokenizer_of(book[2]), [text])
    assert ids == book[2].encode(text)


@given(st.lists(st.lists(st.integers(0, 1023), max_size=30), min_size=1, max_size=20))
@example([[0xEF, 0xBB, 0xBF, ord("a")]])  # U+FEFF, which a decoder takes away unless asked
def test_any_ids_decode_as_in_python(javascript, book, lists):
    expected = [book[2].decode(ids) for ids in lists]
    assert javascript(HARNESS, "decodeAll", tokenizer_of(book[2]), lists) == expected


def test_labels_show_bytes_that_are_no_character(javascript, book):
    ids = [ord("a"), 0xE2, *book[2].encode(" the")]
    assert javascript(HARNESS, "labels", tokenizer_of(book[2]), ids) == ["a", "‹E2›", " the"]


def test_no_space_of_the_text_is_shown_between_bytes(javascript):
    label = javascript("shared/tokenizer.js", "tokenText", {"tokens": [[0x6E, 0x61, 0xC3]]}, 0)
    assert javascript("shared/tokenizer.js", "visible", label) == label == "‹6E61C3›"


def test_bad_text_and_ids_are_refused(javascript, book):
    content = tokenizer_of(book[2])
    with pytest.raises(RuntimeError, match="lone surrogate"):
        javascript(HARNESS, "encodeAll", content, ["\ud800"])
    with pytest.raises(RuntimeError, match="0 to 1023, not 1024"):
        javascript(HARNESS, "decodeAll", content, [[1024]])


# --- the model ------------------------------------------------------------------------------------


@pytest.mark.parametrize("heads", [None, 2, 1])
def test_logits_are_torchs_for_random_models(javascript, tmp_path, heads):
    model, encoding = random_model(n_kv_heads=heads)
    file = tmp_path / "model.bin"
    file.write_bytes(pack(model, encoding))
    ids = torch.randint(0, 280, (1, 24), generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        expected = unpack(file.read_bytes())[0](ids)[0]
    got = javascript(HARNESS, "logits", str(file), ids[0].tolist())
    np.testing.assert_allclose(np.reshape(got, expected.shape), expected, atol=1e-3)


def test_logits_are_torchs_for_the_books_model(javascript, model_file, book, held_out):
    for ids in (held_out[0][1000:1100], held_out[3][:32]):
        with torch.no_grad():
            expected = book[1](torch.tensor([ids]))[0]
        got = np.reshape(javascript(HARNESS, "logits", model_file, ids), expected.shape)
        np.testing.assert_allclose(got, expected, atol=1e-3)


def in_the_page(activation):
    """Lay an activation out as the page does: flat, the tokens of the one text first."""
    one = activation[0]
    return (one.transpose(0, 1) if one.ndim == 3 else one).flatten()


@pytest.mark.parametrize("before", [0, 9])
@pytest.mark.parametrize("heads", [None, 2, 1])
def test_every_activation_is_torchs_by_its_name(javascript, tmp_path, heads, before):
    model, encoding = random_model(n_kv_heads=heads)
    file = tmp_path / "model.bin"
    file.write_bytes(pack(model, encoding))
    model = unpack(file.read_bytes())[0]
    ids = torch.randint(0, 280, (1, 24), generator=torch.Generator().manual_seed(2))
    expected, cache = {}, KeyValueCache(model.config)
    with torch.no_grad():
        if before:
            model(ids[:, :before], cache=cache)
        model(ids[:, before:], cache=cache, observe=expected.__setitem__)
    expected["logits"] = expected["logits"][:, -1:]  # the page computes those of the next token
    got = javascript(HARNESS, "observed", str(file), ids[0].tolist(), before)
    assert list(got) == list(expected)
    for name, activation in expected.items():
        flat = in_the_page(activation)
        np.testing.assert_allclose(got[name], flat, atol=1e-3, rtol=1e-4, err_msg=name)


@pytest.mark.parametrize("place", sorted(ACTIVATIONS))
def test_what_an_observer_returns_is_computed_with_as_in_torch(javascript, tmp_path, place):
    model, encoding = random_model(n_kv_heads=2)
    file = tmp_path / "model.bin"
    file.write_bytes(pack(model, encoding))
    model, place = unpack(file.read_bytes())[0], place.replace("ℓ", "0")
    ids = torch.randint(0, 280, (1, 24), generator=torch.Generator().manual_seed(3))
    with torch.no_grad():
        expected = model(ids, observe=lambda name, x: 0.7 * x if name == place else None)[0]
        assert (expected - model(ids)[0]).abs().max() > 1e-2
    got = javascript(HARNESS, "changed", str(file), ids[0].tolist(), place, 0.7)
    np.testing.assert_allclose(np.reshape(got, expected.shape), expected, atol=2e-3)
    with pytest.raises(RuntimeError, match=f"numbers for {place}, which has"):
        javascript(HARNESS, "changed", str(file), ids[0].tolist(), place, 1, True)


def test_a_masked_model_has_a_state_for_each_token_that_it_reads(javascript, tmp_path):
    file = tmp_path / "twin.bin"
    file.write_bytes(book_twin())
    one, three = (javascript(MASKED, "states", str(file), ids) for ids in ([5], [5, 6, 7]))
    assert three == 3 * one > 0


@given(st.integers(0, 2000), st.lists(st.integers(1, 9), min_size=1, max_size=8))
@settings(max_examples=10)
def test_the_cache_makes_no_difference(javascript, model_file, held_out, start, lengths):
    ids = held_out[1][start : start + sum(lengths)]
    got = javascript(HARNESS, "piecewise", model_file, ids, lengths)
    whole = javascript(HARNESS, "piecewise", model_file, ids, [len(ids)])
    np.testing.assert_allclose(got, whole, atol=1e-4)


def test_a_cache_is_shortened_and_copied(javascript, model_file, held_out):
    kept, other, ids = held_out[0][:20], held_out[1][50:60], held_out[0][20:25]
    whole = javascript(HARNESS, "piecewise", model_file, kept + ids, [25])
    for got in javascript(HARNESS, "afterBranch", model_file, kept, other, ids):
        np.testing.assert_allclose(got, whole, atol=1e-4)


def test_a_longer_prompt_reads_only_what_is_new(javascript, model_file, book, held_out):
    layers, text = book[0].config.n_layers, held_out[0][:22]
    read = javascript(HARNESS, "reading", model_file, [text[:17], text, [*text[:9], 5]])
    # in fours, with a breath after each layer; the last token is read anew, for its logits
    assert [steps for steps, *_ in read] == [5 * layers, 2 * layers, layers]
    assert [seen for _, seen, _ in read] == [text[:17], text, [*text[:9], 5]]
    assert [length for *_, length in read] == [17, 22, 10]


def test_greedy_text_is_torchs(javascript, model_file, book, held_out):
    _, model, _ = book
    for number in range(20):
        prompt = held_out[number % 4][997 * (number + 1) :][: 4 + number]
        found = javascript(HARNESS, "greedy", model_file, prompt, 50)
        with torch.no_grad():  # torch reads the text at once and names the token after each
            following = model(torch.tensor([prompt + found]))[0].argmax(-1)
        assert found == following[len(prompt) - 1 : -1].tolist(), prompt


def held_out_loss(model, windows):
    with torch.no_grad():
        logits = model(windows)
    return torch.nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1), windows[:, 1:].flatten())


@pytest.mark.thorough
def test_rounding_costs_less_than_a_hundredth_of_a_nat(javascript, model_file, book, held_out):
    exact, rounded, _ = book
    length = exact.config.context_length
    windows = torch.tensor([play[i * length :][:length] for play in held_out for i in range(8)])
    float_loss, rounded_loss = (float(held_out_loss(model, windows)) for model in (exact, rounded))
    assert abs(rounded_loss - float_loss) < 0.01
    some = windows[::6]
    in_page = [javascript(HARNESS, "loss", model_file, window.tolist()) for window in some]
    assert np.mean(in_page) == pytest.approx(float(held_out_loss(rounded, some)), abs=1e-4)
    assert np.mean(in_page) == pytest.approx(float(held_out_loss(exact, some)), abs=0.01)


def test_the_first_token_and_the_last_can_be_read(javascript, model_file):
    assert len(javascript(HARNESS, "logits", model_file, [0, 1023])) == 2 * 1024


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ([], "at least one token"),
        ([1] * 257, "256 tokens at most"),
        ([1024], "Token 1024 is not among the 1024"),
        ([5, -1], "Token -1 is not among the 1024"),
        ([5, 1.5], "Token 1.5 is not among the 1024"),
    ],
)
def test_what_the_model_cannot_read_is_refused(javascript, model_file, ids, message):
    with pytest.raises(RuntimeError, match=message):
        javascript(HARNESS, "logits", model_file, ids)


# --- what the heads do ----------------------------------------------------------------------------

TEXT = "To be, or not to be: that is the question. To be, or not to be!"


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("scaled", [True, False])
@pytest.mark.parametrize("normalized", [True, False])
def test_maps_are_torchs(javascript, model_file, causal, scaled, normalized):
    widget = AttentionMaps(text=TEXT, causal=causal, scaled=scaled, normalized=normalized)
    options = {"causal": causal, "scaled": scaled, "normalized": normalized}
    expected = widget.maps()
    [got] = javascript(HARNESS, "maps", model_file, [widget.tokens()], options)
    got = np.array(got, dtype=float).reshape(expected.shape)  # None becomes NaN
    np.testing.assert_allclose(got, expected, atol=1e-4)


def test_the_trained_maps_are_the_models_weights(book):
    widget = AttentionMaps(text=TEXT)
    with torch.no_grad():
        book[1](torch.tensor([widget.tokens()]), observe=(seen := {}).__setitem__)
    weights = [seen[f"blocks.{layer}.attention.weights"] for layer in range(4)]
    torch.testing.assert_close(widget.maps().nan_to_num(), torch.cat(weights))


def test_unmasked_maps_are_those_of_attention_without_a_mask(book):
    widget = AttentionMaps(text=TEXT, causal=False)
    _, model, _ = book
    with torch.no_grad():
        x = model.embed(torch.tensor([widget.tokens()]))
        attention, norm = model.blocks[0].attention, model.blocks[0].norm1
        query, key, value = attention.project(norm(x), norm(x))
        query, key = model.positions(query, 0), model.positions(key, 0)
        _, weights = scaled_dot_product_attention(query, key, value)
    torch.testing.assert_close(widget.maps()[0], weights[0])


@given(st.lists(st.integers(0, 30), min_size=1, max_size=12), st.data())
def test_a_text_that_changes_is_read_as_if_anew(javascript, tmp_path_factory, tokens, data):
    file = tmp_path_factory.getbasetemp() / "shared-heads.bin"
    if not file.exists():
        file.write_bytes(pack(*random_model(n_kv_heads=2)))
    kept = data.draw(st.integers(0, len(tokens)))
    added = data.draw(st.lists(st.integers(0, 30), min_size=1, max_size=12))
    changed = tokens[:kept] + added
    options = {"causal": False, "scaled": True, "normalized": False}
    [_, got] = javascript(HARNESS, "maps", str(file), [tokens, changed], options)
    expected = head_products(unpack(file.read_bytes())[0], changed) / 8**0.5
    np.testing.assert_allclose(np.reshape(got, expected.shape), expected, atol=1e-4)


@given(st.lists(st.integers(0, 4), min_size=2, max_size=12), st.integers(0, 1000))
def test_behaviors_are_the_librarys(javascript, tokens, seed):
    n = len(tokens)
    scores = torch.randn(n, n, generator=torch.Generator().manual_seed(seed)) * 3
    weights = scores.masked_fill(torch.ones(n, n).triu(1).bool(), -torch.inf).softmax(dim=-1)
    expected = head_scores(weights[None, None], torch.tensor([tokens]))
    got = javascript(HARNESS, "measure", weights.flatten().tolist(), tokens)
    assert list(got) == list(expected)
    for kind, score in expected.items():
        assert got[kind]["score"] == pytest.approx(float(score), abs=1e-5)


@given(st.integers(1, 12), st.floats(0.01, 20), st.integers(0, 1000))
def test_evenness_is_the_share_of_the_largest_entropy(javascript, n, sharpness, seed):
    scores = torch.randn(n, n, generator=torch.Generator().manual_seed(seed)) * sharpness
    weights = scores.masked_fill(torch.ones(n, n).triu(1).bool(), -torch.inf).softmax(dim=-1)
    rows = [torch.distributions.Categorical(weights[i, : i + 1]).entropy() for i in range(1, n)]
    shares = [float(row) / np.log(i + 2) for i, row in enumerate(rows)]
    expected = np.mean(shares) if shares else 0
    assert evenness(weights).item() == pytest.approx(expected, abs=1e-5)
    got = javascript(HARNESS, "spread", weights.flatten().tolist(), n)
    assert got == pytest.approx(expected if n > QUERIES else 0, abs=1e-5)


def test_the_read_out_says_weights_scores_and_what_is_masked(javascript):
    def said(value, normalized):
        return javascript(
            "attention_maps.js", "readOut", "to", "be", value, {"normalized": normalized}
        )

    assert said(0.25, True) == "query “to” → key “be”: weight 0.250"
    assert said(-2.5, False) == "query “to” → key “be”: score −2.500"


def test_heads_of_the_books_model_have_the_names_that_the_chapter_tells():
    for text in AttentionMaps.EXAMPLES:
        widget = AttentionMaps(text=text)
        names = widget.names()
        assert names[0][1:] == ["previous token", "same token", "same token"]
        if len(widget.tokens()) > 20:  # long enough for something to come again
            assert names[1][2] == "induction"


def test_in_a_text_of_two_letters_no_head_shows_what_it_does():
    assert {name for row in AttentionMaps(text="zx").names() for name in row} == {"mixed"}


def test_the_first_layer_of_the_first_edition_is_uniform_and_the_others_are_not():
    for text in AttentionMaps.EXAMPLES:
        names = AttentionMaps(text=text, checkpoint=pack(*load_pretrained("plays-1"))).names()
        assert names[0] == ["uniform"] * 4
        assert not any("uniform" in row for row in names[1:])


def test_a_head_is_named_by_what_it_does_most_and_often_enough(javascript):
    def name(even=0.0, **scores):
        measured = {kind: {"score": s, "queries": q} for kind, (s, q) in scores.items()}
        return javascript(HARNESS, "name", measured, even)["name"]

    assert name(previous=(SHARE, QUERIES), first=(SHARE / 2, 9)) == "previous"
    assert name(previous=(SHARE - 0.01, 9)) == "mixed"
    assert name(previous=(0.5, 9), induction=(0.9, QUERIES - 1)) == "previous"
    assert name(previous=(0.5, 9), induction=(0.9, QUERIES)) == "induction"
    assert name(even=EVEN, previous=(0.1, 9)) == "uniform"
    assert name(even=EVEN - 0.01, previous=(0.1, 9)) == "mixed"


def test_names_in_python_and_in_the_page_are_the_same(javascript, model_file):
    widget = AttentionMaps(text=TEXT)
    options = {"causal": True, "scaled": True, "normalized": True}
    [maps] = javascript(HARNESS, "maps", model_file, [widget.tokens()], options)
    tokens = widget.tokens()

    def name(head):
        weights = [w or 0 for w in head]
        measured = javascript(HARNESS, "measure", weights, tokens)
        even = javascript(HARNESS, "spread", weights, len(tokens))
        return javascript(HARNESS, "name", measured, even)["name"]

    assert [[name(head) for head in layer] for layer in maps] == widget.names()
    assert AttentionMaps(text=TEXT, causal=False, scaled=False).names() == widget.names()


# --- the Python side ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ({"layer": 4}, "layers are 0 to 3"),
        ({"head": 4}, "heads are 0 to 3"),
        ({"query": -1}, "query"),
        ({"text": 3}, "text"),
        ({"text": "\ud800"}, "lone surrogate"),
        ({"longest": 1}, "longest"),
        ({"heads": 1}, "has no heads"),
    ],
)
def test_bad_state_is_refused(state, message):
    with pytest.raises(traitlets.TraitError, match=message):
        AttentionMaps(**state)


@pytest.mark.parametrize(
    "state", [{}, {"text": ""}, {"text": "To"}, {"causal": False, "normalized": False, "layer": 3}]
)
def test_there_is_a_picture(state):
    AttentionMaps(**state).picture().draw_without_rendering()


def test_there_is_a_picture_in_pixels():
    assert png(AttentionMaps().picture()).startswith(b"\x89PNG")


# --- in a browser ---------------------------------------------------------------------------------

QUOTE = "To be, or not to be"
FIRST = {"layer": 0, "head": 0, "query": 0, "key": 0}


def read_out(page):
    """Give the number at the end of the read-out, which may be written as 3·10⁻⁵."""
    settle(page)
    number = page.locator(".result").inner_text().split()[-1].replace("·10", "e")
    return float(number.translate(str.maketrans("−⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "--0123456789")))


@pytest.mark.browser
def test_typing_gives_the_maps_of_torch(widget_page):
    page = widget_page(AttentionMaps(text="", **FIRST))
    assert "0 tokens" in page.locator(".controls").inner_text()
    assert not page.locator(".map").is_visible()
    page.keyboard.press("Tab")  # the examples
    page.keyboard.press("Tab")
    page.keyboard.type(QUOTE)
    widget = AttentionMaps(text=QUOTE)
    settle(page)
    assert f"{len(widget.tokens())} tokens" in page.locator(".controls").inner_text()
    for _ in range(4):  # three options and the heads
        page.keyboard.press("Tab")
    for _ in range(6):
        page.keyboard.press("ArrowRight")
    assert page.evaluate("[model.get('layer'), model.get('head')]") == [1, 2]
    page.keyboard.press("Tab")
    for _ in range(5):
        page.keyboard.press("ArrowDown")
    for key in range(6):
        expected = float(widget.maps()[1, 2, 5, key])
        assert read_out(page) == pytest.approx(expected, abs=6e-4)
        page.keyboard.press("ArrowRight")
    settle(page)
    assert "masked" in page.locator(".result").inner_text()
    page.get_by_label("Causal mask").uncheck()
    open_map = AttentionMaps(text=QUOTE, causal=False).maps()
    assert read_out(page) == pytest.approx(float(open_map[1, 2, 5, 6]), abs=6e-4)
    page.get_by_label("Softmax").uncheck()
    page.get_by_label("Divide by √d").uncheck()
    bare = AttentionMaps(text=QUOTE, causal=False, scaled=False, normalized=False).maps()
    assert read_out(page) == pytest.approx(float(bare[1, 2, 5, 6]), abs=6e-4)


@pytest.mark.browser
def test_it_opens_on_a_head_that_looks_up_what_followed(widget_page):
    page = widget_page(AttentionMaps())
    assert page.locator(".title").inner_text() == "Layer 1, head 2: induction"
    assert "“␣k” → key “in”" in page.locator(".result").inner_text()
    assert read_out(page) == pytest.approx(0.96, abs=0.02)
    assert "of what equal weights have" in page.locator(".measures").inner_text()


@pytest.mark.browser
def test_names_and_scores_stand_under_the_heads(widget_page):
    widget = AttentionMaps(text=TEXT)
    page = widget_page(widget)
    shown = page.locator(".head .name").all_inner_texts()
    expected = [name.removesuffix(" token") for layer in widget.names() for name in layer]
    assert shown == expected
    page.locator(".heads input").nth(13).check(force=True)
    settle(page)
    assert page.locator(".title").inner_text() == f"Layer 3, head 1: {widget.names()[3][1]}"
    bars = page.locator("dl div").all_inner_texts()
    for line, (kind, score) in zip(bars, widget.scores().items(), strict=True):
        assert line.startswith(kind)
        assert f"{float(score[3, 1]):.2f}" in line


@pytest.mark.browser
def test_moving_the_read_out_computes_no_map_anew(widget_page):
    page = widget_page(AttentionMaps(text=TEXT, **FIRST))
    page.evaluate("""() => {
      window.painted = 0;
      const put = CanvasRenderingContext2D.prototype.putImageData;
      CanvasRenderingContext2D.prototype.putImageData = function (...given) {
        painted += 1;
        return put.apply(this, given);
      };
    }""")
    box = page.locator(".grid").bounding_box()
    before = page.locator(".result").inner_text()
    page.mouse.move(box["x"] + 3, box["y"] + box["height"] - 3)
    settle(page)
    assert page.locator(".result").inner_text() != before
    assert page.evaluate("[model.get('query'), model.get('key')]") == [
        len(AttentionMaps(text=TEXT).tokens()) - 1,
        0,
    ]
    assert page.locator(".result").get_attribute("aria-live") == "off"
    page.locator(".grid").press("ArrowUp")
    settle(page)
    assert page.locator(".result").get_attribute("aria-live") == "polite"
    assert page.evaluate("painted") == 0
    page.locator(".heads input").nth(5).check(force=True)
    settle(page)
    assert page.evaluate("painted") == 1


@pytest.mark.browser
def test_the_mouse_reads_out_the_map_and_the_arcs_and_moves_neither(widget_page):
    page = widget_page(AttentionMaps(text=TEXT, **FIRST))
    grid, n = page.locator(".grid").bounding_box(), len(AttentionMaps(text=TEXT).tokens())
    said = set()
    for across in (0.5, n - 0.5):  # a key in sight, and one that is masked
        page.mouse.move(grid["x"] + grid["width"] * across / n, grid["y"] + grid["height"] / n / 2)
        settle(page)
        said.add(page.locator(".result").inner_text())
        assert page.locator(".grid").bounding_box() == grid
    assert len(said) == 2
    page.locator(".arcs").scroll_into_view_if_needed()
    arcs = page.locator(".arcs").bounding_box()
    maps, each = AttentionMaps(text=TEXT).maps(), (arcs["width"] - 26) / n  # beside the names
    for i in (3, n - 1):
        page.mouse.move(arcs["x"] + (i + 0.5) * each, arcs["y"] + arcs["height"] / 2)
        settle(page)
        place = page.evaluate("[model.get('query'), model.get('key')]")
        assert place == [i, int(maps[0, 0, i, : i + 1].argmax())]
    for where, last in ((".grid", [n - 1, n - 1]), (".arcs", [n - 1])):  # drawn beyond the edges
        page.locator(where).scroll_into_view_if_needed()
        box = page.locator(where).bounding_box()
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.mouse.down()
        for x, y, place in (
            (box["x"] + box["width"] + 50, box["y"] + box["height"] + 50, last),
            (box["x"] - 50, box["y"] - 50, [0] * len(last)),
        ):
            page.mouse.move(x, y)
            settle(page)
            now = page.evaluate("[model.get('query'), model.get('key')]")
            assert now[: len(last)] == place
        page.mouse.up()
    for key in ("ArrowUp", "ArrowLeft"):
        page.locator(".grid").press(key)
        assert page.evaluate("[model.get('query'), model.get('key')]") == [0, 0]


@pytest.mark.browser
def test_maps_answer_to_touch_on_a_telephone(widget_page):
    page = widget_page(
        AttentionMaps(text=QUOTE, **FIRST), width=390, has_touch=True, is_mobile=True
    )
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.locator(".head").nth(6).tap()
    settle(page)
    assert page.evaluate("[model.get('layer'), model.get('head')]") == [1, 2]
    n = len(AttentionMaps(text=QUOTE).tokens())
    box = page.locator(".grid").bounding_box()
    page.locator(".grid").tap(position={"x": box["width"] / 2 / n, "y": box["height"] - 2})
    settle(page)
    assert page.evaluate("[model.get('query'), model.get('key')]") == [n - 1, 0]
    page.locator(".arcs").tap(position={"x": 4, "y": 80})
    settle(page)
    assert page.evaluate("[model.get('query'), model.get('key')]") == [0, 0]
    assert page.locator(".arcs").bounding_box()["height"] == 90 + 64  # no lower, and the names
    weights = AttentionMaps(text=QUOTE).maps()[1, 2].nan_to_num().flatten().numpy()
    levels = [0.05, 0.1, 0.2, 0.4, 0.6, 0.8]
    counts = np.histogram(weights, [*levels, 1.1])[0].tolist()
    arcs = page.locator(".arcs path.all")
    drawn = [(arc.get_attribute("d") or "").count("M") for arc in arcs.all()]
    assert drawn == counts
    strengths = arcs.evaluate_all("a => a.map((e) => +e.style.getPropertyValue('--strength'))")
    assert strengths == pytest.approx([level + 0.1 for level in levels])
    # of many names as many stand there as there is room for, those of the chosen pair always
    page.evaluate("model.set('text', 'word '.repeat(60)); model.set('query', 4)")
    page.evaluate("model.set('key', 1)")
    settle(page)
    read = """(svg) => [...svg.querySelectorAll("text")].map((e) => [e.getAttribute("class"),
      ...e.getAttribute("transform").match(/[\\d.]+/g).map(Number)])"""
    names = page.locator(".arcs").evaluate(read)
    assert len(names) == 48 / 2 - 3 + 2
    assert [kind for kind, *_ in names[:2]] == ["key", "query"]
    assert min(np.diff([x for _, x, *_ in names])) >= 13
    beside = page.locator(".map > svg").evaluate("""(svg) => ["y", "transform"].map((name) =>
      [...svg.querySelectorAll(`text[${name}]`)].map((e) =>
        Number(e.getAttribute(name).match(/[\\d.]+/)[0])))""")
    rows, columns = np.sort(beside[0])[2:], beside[1]  # without the titles of both axes
    assert (min(np.diff(rows)) >= 10, min(np.diff(columns)) >= 13) == (True, True)
    assert (len(rows), len(columns)) == (24, 48 / 3 - 2 + 1)


@pytest.mark.browser
@pytest.mark.parametrize("text", ["", "T", "€", "\n" * 3, "word " * 200, "<b>&lt;</b> 日本語 🙂"])
def test_any_text_is_shown(widget_page, text):
    page = widget_page(AttentionMaps(text=text))
    count = len(AttentionMaps().encoding().encode(text))
    said = page.locator(".controls").inner_text()
    assert f"{count} token" in said
    assert ("the first 48 are read" in said) == (count > 48)
    assert page.locator(".map").is_visible() == bool(text)
    assert "NaN" not in page.locator("#widget").inner_text()
    assert page.locator("#widget b").count() == 16  # the reader's markup is text


@pytest.mark.browser
def test_maps_follow_changes_from_python_and_let_go(widget_page):
    page = widget_page(AttentionMaps())
    example = json.dumps(AttentionMaps().examples[1])
    page.evaluate(f"model.set('text', {example}); model.set('layer', 2)")
    settle(page)
    assert page.get_by_label("Text", exact=True).last.input_value() == json.loads(example)
    assert page.locator(".title").inner_text().startswith("Layer 2, head 2")
    page.evaluate("model.set('layer', 4); model.set('head', 4)")  # there are none such: the last
    page.evaluate("model.set('query', 99); model.set('key', -1)")
    settle(page)
    assert page.locator(".title").inner_text().startswith("Layer 3, head 3")
    assert page.locator(".result").inner_text().startswith("query “ion” → key “To”")
    page.evaluate("model.set('text', 'T'); model.set('normalized', false)")
    score = read_out(page)
    low, high = map(float, page.locator(".legend").inner_text().split())
    assert [low, high] == pytest.approx([score, score + 1], abs=0.051)  # a single score has no end
    measures = page.locator(".measures").inner_text()
    assert measures.count("at 0 queries") == 3
    assert measures.count("at 1 query") == 1
    assert "Entropy" not in measures  # of too few weights
    assert "1 token." in page.locator(".controls").inner_text()
    grid = page.locator(".grid").bounding_box()
    assert (grid["width"], grid["height"]) == pytest.approx((40, 40))  # large enough for a finger
    page.set_viewport_size({"width": 600, "height": 900})
    settle(page)
    width, height = (
        float(page.locator(".arcs").get_attribute(side)) for side in ("width", "height")
    )
    assert height == pytest.approx(width / 4 + 64)
    text = page.get_by_role("textbox", name="Text")
    assert text.get_attribute("maxlength") == "400"
    page.evaluate("unmount()")
    assert page.evaluate("model.listeners.length") == 0


@pytest.mark.thorough
@pytest.mark.browser
@pytest.mark.parametrize(("width", "theme"), [(1400, "light"), (390, "dark")])
def test_maps_are_accessible(widget_page, width, theme):
    page = widget_page(AttentionMaps(text=TEXT), width=width, theme=theme)
    assert complaints(page) == []

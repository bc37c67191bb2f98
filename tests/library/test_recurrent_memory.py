"""Character models, what they remember, and the file that holds them."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.linear_model import LinearRegression

from primer.recurrent import (
    RecurrentLanguageModel,
    input_gradients,
    load_models,
    loss_with_erased_past,
    memory_capacity,
    text_windows,
)
from primer.recurrent.stored import save_models

TEXT = "a cat and a dog met a rat on a mat\n" * 4
ALPHABET = "".join(sorted(set(TEXT)))
KINDS = ("rnn", "lstm", "gru")


@pytest.fixture(params=KINDS)
def model(request: pytest.FixtureRequest) -> RecurrentLanguageModel:
    torch.manual_seed(0)
    return RecurrentLanguageModel(ALPHABET, request.param, 6, embedding_size=3).double()


def test_reading_on_is_reading(model: RecurrentLanguageModel) -> None:
    tokens = model.encode(TEXT)[None]
    logits, state = model.read(tokens[:, :20])
    rest, _ = model.read(tokens[:, 20:], state)
    torch.testing.assert_close(torch.cat([logits, rest], dim=1), model(tokens))
    assert model.decode(tokens[0]) == TEXT


def test_bits_per_character_is_the_mean_loss(model: RecurrentLanguageModel) -> None:
    tokens = model.encode("\n" * len(TEXT) + TEXT)
    logs = model(tokens[None])[0].log_softmax(-1)
    n = len(TEXT)
    loss = -logs[torch.arange(n - 1, 2 * n - 1), tokens[n:]].detach().mean() / math.log(2)
    whole = model.bits_per_character(TEXT, warm_up=n, piece=n)
    assert whole == pytest.approx(float(loss), abs=1e-10)
    # pieces whose warm-up is the whole text before them, the last one shorter
    assert model.bits_per_character(TEXT, warm_up=n, piece=31) == pytest.approx(whole, abs=1e-3)
    for parameter in model.head.parameters():
        parameter.data.zero_()
    assert model.bits_per_character(TEXT) == pytest.approx(math.log2(len(ALPHABET)))


def test_every_character_is_predicted_once(model: RecurrentLanguageModel) -> None:
    # A model without memory predicts a character from the one before: pieces cannot matter.
    for cell in model.layer.cells:
        cell.state_weight.data.zero_()
        if model.cell != "rnn":  # gates that keep nothing
            cell.bias.data[:6] = -1e9 if model.cell == "lstm" else 0.0
            cell.bias.data[6:12] = -1e9 if model.cell == "gru" else 0.0
    losses = [model.bits_per_character(TEXT, warm_up=4, piece=piece) for piece in (7, 35, 1000)]
    assert max(losses) - min(losses) < 1e-9


def test_input_gradients_by_finite_differences(model: RecurrentLanguageModel) -> None:
    tokens = model.encode("a cat met")[None]
    got = input_gradients(model, tokens)[0]
    embedded = model.embed(tokens[:, :-1]).detach()

    @torch.no_grad()
    def log_probability(vectors: torch.Tensor) -> float:
        outputs, _ = model.layer(vectors)
        return float(model.head(outputs[0, -1]).log_softmax(-1)[tokens[0, -1]])

    for distance in (0, 3, 7):
        partial = []
        for coordinate in range(3):
            moved = torch.zeros_like(embedded)
            moved[0, 7 - distance, coordinate] = 1e-6
            change = log_probability(embedded + moved) - log_probability(embedded - moved)
            partial.append(change / 2e-6)
        assert float(got[distance]) == pytest.approx(math.hypot(*partial), rel=1e-4)


def test_erasing_nothing_and_everything(model: RecurrentLanguageModel) -> None:
    tokens = text_windows(model.encode(TEXT), length=12, number=6)
    logs = model(tokens[:, :-1])[:, -1].log_softmax(-1)
    true = -logs[torch.arange(6), tokens[:, -1]] / math.log(2)
    torch.testing.assert_close(loss_with_erased_past(model, tokens, 11), true.detach())
    strangers = torch.cat([tokens.roll(3, 0)[:, :-3], tokens[:, -3:]], dim=1)
    wanted = loss_with_erased_past(model, strangers, 11)
    torch.testing.assert_close(loss_with_erased_past(model, tokens, 2), wanted)


@pytest.mark.parametrize("unit", [1e-300, 1e-20, 1e20, 1e300])
def test_memory_capacity_does_not_depend_on_the_unit_of_the_state(unit: float) -> None:
    u = np.random.default_rng(0).normal(size=300)
    h = np.stack([u, np.roll(u, 1)], axis=1)
    expected = memory_capacity(h, u, [0, 1, 2])
    np.testing.assert_allclose(memory_capacity(unit * h, u, [0, 1, 2]), expected, atol=1e-9)
    np.testing.assert_allclose(memory_capacity([unit, 1] * h, u, [0, 1, 2]), expected, atol=1e-9)


def test_memory_capacity_is_that_of_scikit_learn() -> None:
    random = np.random.default_rng(0)
    inputs = random.uniform(-1, 1, 600)
    states = np.zeros((600, 8))
    weight = random.normal(size=(8, 8)) / 8**0.5
    for t in range(1, 600):
        states[t] = np.tanh(states[t - 1] @ weight + inputs[t] * 0.5)
    delays = [0, 2, 5]
    got = memory_capacity(states, inputs, delays)
    for score, delay in zip(got, delays, strict=True):
        targets = inputs[5 - delay : 600 - delay]
        fit = LinearRegression().fit(states[5:450], targets[:445])
        assert score == pytest.approx(fit.score(states[450:], targets[445:]), abs=1e-9)


def test_the_stored_file_round_trips(tmp_path: Path) -> None:
    path = tmp_path / "models.safetensors"
    torch.manual_seed(0)
    models = {k: RecurrentLanguageModel(ALPHABET, k, 6, embedding_size=3) for k in KINDS}
    save_models({"rnn": models["rnn"]}, path)
    save_models({name: models[name] for name in ("lstm", "gru")}, path)
    for name, read in load_models(path).items():
        ours = models[name].state_dict()
        for key, weight in read.state_dict().items():
            assert float((weight - ours[key]).abs().max()) <= float(ours[key].abs().max()) / 250
        tokens = read.encode(TEXT)[None]
        torch.testing.assert_close(read(tokens), models[name](tokens), atol=0.05, rtol=0)
    before = path.read_bytes()
    save_models({}, path)
    again = load_models(path)
    tokens = again["rnn"].encode(TEXT)[None]
    torch.testing.assert_close(again["rnn"](tokens), load_models(path)["rnn"](tokens))
    assert len(path.read_bytes()) == len(before)


@pytest.mark.usefixtures("as_readers_run_it")
def test_bad_input_is_refused(tmp_path: Path) -> None:
    model = RecurrentLanguageModel("ab", "rnn", 2)
    broken = tmp_path / "broken"
    broken.write_bytes(b"nothing")
    for call, says in [
        (lambda: RecurrentLanguageModel("aba", "rnn", 2), "each character once"),
        (lambda: RecurrentLanguageModel("", "rnn", 2), "each character once"),
        (lambda: RecurrentLanguageModel("ab", "rnn", 2, forget_bias=1.0), "only an LSTM"),
        (lambda: RecurrentLanguageModel("ab", "transformer", 2), "cell must be one of"),
        (lambda: model.encode(""), "the text is empty"),
        (lambda: model.encode("abc"), "has never seen 'c'"),
        (lambda: model(torch.tensor([[0, 2]])), "0 to 1, got 2"),
        (lambda: model(torch.tensor([[0, -1]])), "0 to 1, got -1"),
        (lambda: model.bits_per_character(""), "the text is empty"),
        (lambda: text_windows(torch.arange(3), 0, 1), "length must be a whole number ≥ 1"),
        (lambda: input_gradients(model, torch.tensor([[1]])), "at least one before it"),
        (lambda: loss_with_erased_past(model, torch.zeros(1, 4).long(), 2), "at least two texts"),
        (lambda: loss_with_erased_past(model, torch.zeros(2, 4).long(), 4), "between 0 and 3"),
        (lambda: text_windows(torch.arange(3), 5, 1), "has no piece of 5"),
        (lambda: memory_capacity(np.ones((5, 8)), np.ones(5), [0]), "too few"),
        (lambda: load_models(tmp_path / "none"), "there are no models"),
        (lambda: load_models(broken), "no whole character models"),
    ]:
        with pytest.raises(ValueError, match=says):
            call()

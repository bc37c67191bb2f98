"""The guessing game's predictions: what is kept of each, of which models, of which passages."""

from __future__ import annotations

from primer.datasets import split_plays
from primer.language_models import END
from primer.scoreboard.letters import Passage, passages, symbols
from studies.scoreboard import letters
from studies.scoreboard.letters import prediction


def test_a_game_keeps_a_row_for_every_letter_of_every_model(monkeypatch):
    """The one model is easy to ask: it is sure of an x."""
    asked = []

    def stubborn(text):
        asked.append(text)
        return {"X": 0.25, "x": 0.75, END: 0.0}

    cut = {"verse": Passage("before the text, ", "Xenon"), "prose": Passage("", "x")}
    monkeypatch.setattr(letters, "passages", lambda: cut)
    monkeypatch.setattr(letters, "models", lambda: {"stubborn": stubborn})
    found = letters.game()
    assert found["symbols"] == symbols()
    verse = found["passages"]["verse"]
    assert (verse["before"], verse["text"]) == ("e text, ", "Xenon")
    column = verse["models"]["stubborn"]
    assert asked[:5] == ["before the text, " + "Xenon"[:i] for i in range(5)]
    assert column["bits"] == [0.0, None, None, None, None]
    assert column["shares"] == [[10**7, 0, 0, 0, 0]] * 5
    others = symbols().replace("x", "")
    assert column["order"][0] == "x" + others[:4]
    assert column["order"][1] == "x" + others[: others.index("e") + 1]


def test_a_prediction_is_rounded_to_seven_digits_and_names_five_guesses_or_more():
    p = {letter: 2.0 ** -(k + 1) for k, letter in enumerate("EtaoinsHrdlu")}
    row = prediction(lambda before: {"q": 2.0**-12} | p, "so", "N")
    assert row["order"] == "etaoin"
    assert row["shares"] == [5_000_000, 2_500_000, 1_250_000, 625_000, 312_500]
    assert row["bits"] == 6.0
    row = prediction(lambda before: {"a": 0.123456789, "b": 1 / 3}, "so", "a")
    assert row["order"] == "ba\n !"
    assert row["shares"] == [3_333_333, 1_234_568, 0, 0, 0]
    assert row["bits"] == 3.0179219


def test_the_models_of_the_game_are_of_their_orders_smoothed_and_not(monkeypatch):
    def counted(order, smoothing):
        return lambda text: {"order": order, "smoothing": smoothing}

    monkeypatch.setattr(letters, "counted", counted)
    monkeypatch.setattr(letters, "trained", lambda: lambda text: {})
    found = {name: expect("") for name, expect in letters.models().items()}
    wanted = {"transformer": {}}
    for name, order in {"letters": 1, "3-gram": 3, "5-gram": 5, "7-gram": 7}.items():
        wanted[name] = {"order": order, "smoothing": True}
        wanted[f"{name} unsmoothed"] = {"order": order, "smoothing": False}
    assert found == wanted


def test_passages_are_two_hundred_letters_of_macbeth_and_what_stands_before():
    play = split_plays()[1]["Macbeth"]
    for before, text in passages().values():
        assert (len(before), len(text)) == (250, 200)
        assert play.count(before + text) == 1

"""No widget shows a token's raw mark: what a reader sees says in words that a text ends."""

from __future__ import annotations

from pathlib import Path


def test_no_mark_of_a_token_is_shown() -> None:
    kept = sorted(Path(__file__).parent.glob("[ds]*/*.txt"))
    assert {path.parent.name for path in kept} == {"drawn", "still"}
    assert [path.name for path in kept if "<|" in path.read_text(encoding="utf-8")] == []

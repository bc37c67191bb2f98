"""The simulations of the chapter on language models hold with other seeds, too."""

from other_seeds import check_with_other_seeds

NEEDED = {
    "setup",
    "definition-toy",
    "definition-tasks",
    "definition-check",
    "score-check",
    "counts-words",
    "counts-new",
    "counts-figure",
    "counts-check",
    "limits-brackets",
}


def test_the_chapter_passes_with_other_seeds(monkeypatch):
    check_with_other_seeds(
        monkeypatch, "05-language-models", drawing="definition-tasks", only=NEEDED
    )

"""The chapters that the registry calls written, and the notebooks that stand beside them."""

from __future__ import annotations

from pathlib import Path

from press.registry import read_book

BOOK = Path(__file__).parents[2]
CHAPTERS = [chapter.name for chapter in read_book(BOOK).written]
BESIDE = [*read_book(BOOK).beside]
"""Notebooks before and behind the chapters, with the form of a chapter and none of its debts."""
CHAPTER_NOTEBOOKS = [BOOK / f"chapters/{name}.ipynb" for name in CHAPTERS]
NOTEBOOKS = [*(BOOK / f"chapters/{name}.ipynb" for name in BESIDE), *CHAPTER_NOTEBOOKS]

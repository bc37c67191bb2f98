"""The chapters that the book shows, those that the registry calls written, and what opens it."""

from __future__ import annotations

from pathlib import Path

from press.registry import read_book

BOOK = Path(__file__).parents[2]
CHAPTERS = [chapter.name for chapter in read_book(BOOK).written]
OPENING = [*read_book(BOOK).opening]
"""Notebooks before the first chapter, with the form of a chapter and none of its debts."""
CHAPTER_NOTEBOOKS = [BOOK / f"chapters/{name}.ipynb" for name in CHAPTERS]
NOTEBOOKS = [*(BOOK / f"chapters/{name}.ipynb" for name in OPENING), *CHAPTER_NOTEBOOKS]

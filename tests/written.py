"""The chapters that the book shows: those that the registry calls written."""

from __future__ import annotations

from pathlib import Path

from primer.book.registry import read_book

BOOK = Path(__file__).parents[1]
CHAPTERS = [chapter.name for chapter in read_book(BOOK).written]
NOTEBOOKS = [BOOK / f"chapters/{name}.ipynb" for name in CHAPTERS]

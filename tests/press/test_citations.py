"""Links in the notebooks and works in references.bib find each other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pybtex.database import parse_file

from press.links.citations import addresses, authors, canonical, works

BOOK = Path(__file__).parents[2]
BIBLIOGRAPHY = parse_file(str(BOOK / "chapters/references.bib"))


@pytest.mark.parametrize("key", list(BIBLIOGRAPHY.entries))
def test_every_work_has_an_address_of_its_own(key: str) -> None:
    entry = BIBLIOGRAPHY.entries[key]
    found = addresses(entry)
    assert found, f"give {key} a doi, an eprint or a url in references.bib"
    known = works(BIBLIOGRAPHY)
    assert {known[canonical(address)] for address in found} == {key}
    assert authors(entry)
    assert re.fullmatch(r"1\d{3}|20\d{2}", entry.fields["year"])


def test_authors_are_named_as_in_a_sentence() -> None:
    entries = BIBLIOGRAPHY.entries
    assert authors(entries["gabor1946theory"]) == "Gabor"
    assert authors(entries["cooley1965algorithm"]) == "Cooley and Tukey"
    assert authors(entries["vaswani2017attention"]) == "Vaswani et al."
    assert authors(entries["wu2016google"]) == "Wu et al."
    assert authors(entries["bigscience2022bloom"]) == "BigScience Workshop"
    assert authors(entries["ainslie2023gqa"]) == "Ainslie et al."

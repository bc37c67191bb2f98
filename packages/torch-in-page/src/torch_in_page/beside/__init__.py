"""Packages that are put beside ``torch`` in the page, because theirs are made for processors."""

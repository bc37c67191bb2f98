"""The library of *A Runnable Primer*: one module for each chapter of the book.

A chapter, its module, its tests and its exercises share one name: chapter ``08-positions`` is
computed by :mod:`primer.positions`, checked by ``tests/library/test_positions.py`` and its
exercises by :mod:`primer.exercises.positions`.  Around the topics stand three helpers:

* :mod:`primer.notebook` — what the cells of a chapter use to check, measure, draw and quote;
* :mod:`primer.widgets` — the interactive figures;
"""

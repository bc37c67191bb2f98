"""Experiments that take long, each one file with its table and its log beside it.

``python -m studies`` lists them, ``python -m studies optimization.race --jobs 2`` trains what is
missing of one, and a chapter reads its table: ``race.study.read()``.
"""

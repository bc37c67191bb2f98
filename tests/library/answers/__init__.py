"""Answers to the exercises, a module for each topic; ``test_exercises`` gives them to the checks.

``RIGHT`` lists pairs of a check and an answer that it accepts.  ``WRONG`` lists triples of a check,
an answer with a plausible mistake, and words of the sentence that names it.
"""

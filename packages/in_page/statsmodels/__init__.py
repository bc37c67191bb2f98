"""Stands for statsmodels in the page: two of its tables, which chapters read, and no more."""

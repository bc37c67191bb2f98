"""Automatic checks of the exercises, one module for each chapter."""

"""Slides: a deck for each lecture of the page for teachers, made from the pages of the site."""

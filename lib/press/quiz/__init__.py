"""Quizzes for course systems: what a chapter asks, as Canvas and Moodle read it."""

"""Homework: notebooks without solutions that go out, and the grades of those that come back."""

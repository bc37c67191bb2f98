"""What a page says and shows: passes over its document, and the directives that a page may use."""

"""What several widgets share: models that run in the page, and what they compute with."""

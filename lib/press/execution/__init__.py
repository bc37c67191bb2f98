"""From a notebook that changed to its outputs: what they are made of, run, kept, normal."""

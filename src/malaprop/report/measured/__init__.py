"""Pages about measurements: what was found, how, and what that does not say."""

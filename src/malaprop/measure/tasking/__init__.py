"""What tasks share: what they are run on, how they are run, and what comes of it."""

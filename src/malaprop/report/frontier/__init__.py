"""The page of the frontier: all mechanisms at equal measured privacy, from a study's lines."""

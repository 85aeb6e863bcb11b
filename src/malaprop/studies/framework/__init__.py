"""What all studies share: items and their cells, claims, the papers' own figures, the cache."""

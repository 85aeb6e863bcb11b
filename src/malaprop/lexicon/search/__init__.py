"""Search for the nearest words: in Euclidean space and in the Poincaré ball."""

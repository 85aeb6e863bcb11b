"""Search for the nearest words: exact, approximate, and in the Poincaré ball."""

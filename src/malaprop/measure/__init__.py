"""What a channel does to words, computed from public data alone."""

"""Exact draws from laws: from weights, by distance, and stocks of draws made ahead."""

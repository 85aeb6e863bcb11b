"""Exact draws from laws: from weights, by distance, and from stocks of draws."""

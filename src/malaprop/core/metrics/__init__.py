"""Metrics: Euclidean, angular, Manhattan, Chebyshev, Poincaré, steps in a graph, users' own."""

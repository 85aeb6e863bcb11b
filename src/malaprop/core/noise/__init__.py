"""Noise on vectors: frozen values that are drawn from and audited.

A channel states its noise as one of these. What it draws and what the audit reads is the same
value, so that a wrong scale shows.
"""

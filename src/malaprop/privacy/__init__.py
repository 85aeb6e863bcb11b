"""The theory's nouns: guarantee, metric, mechanism, channel, decoder, randomness.

To find out whether Malaprop is private, read this folder and one file of `malaprop.mechanisms`.
"""

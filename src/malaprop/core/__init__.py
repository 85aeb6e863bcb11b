"""The theory's nouns: guarantee, metric, mechanism, channel, decoder, randomness.

Whoever wants to know whether Malaprop is private reads this folder and one file of
`malaprop.mechanisms`.
"""

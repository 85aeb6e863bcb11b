"""Lexicons from common file formats: `opening` recognises a file and reads it.

Nothing is imported here: opening a compiled lexicon needs two small modules of this package only.
"""

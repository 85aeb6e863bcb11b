"""Files of vectors: read in blocks, and written with private vectors in the place of the true ones.

base          what a format is; a format registers itself by the endings of its files
raw           rows of numbers in a stream of bytes
npy, npz, safetensors, word_text, parquet    the formats, one file each
opening       from the name of a file to its format
"""

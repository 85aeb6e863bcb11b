"""Parquet: the copy of a file, and what it needs of Arrow."""

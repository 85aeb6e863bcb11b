"""Parquet: the copy of a file, and what it needs of Arrow."""

from malaprop.pipeline.formats.parquet.copying import ParquetCopy

__all__ = ["ParquetCopy"]

"""The truncated exponential mechanism, with its verified exponents and their tables."""

from malaprop.mechanisms.tem.law import TruncatedExponential
from malaprop.mechanisms.tem.mechanism import TEM

__all__ = ["TEM", "TruncatedExponential"]

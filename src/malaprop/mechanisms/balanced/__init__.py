"""The balanced mechanism, with the weights that balance it, their tables and their loss."""

from malaprop.mechanisms.balanced.law import BalancedLaw
from malaprop.mechanisms.balanced.mechanism import Balanced

__all__ = ["Balanced", "BalancedLaw"]

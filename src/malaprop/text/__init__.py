"""Text: cut into pieces, planned piece by piece, and rebuilt around other words."""

from malaprop.text.mapping import WordMap
from malaprop.text.pieces import Kind, kind, split
from malaprop.text.policy import Action, Plan, Planner, Policy
from malaprop.text.surface import Skeleton, fill

__all__ = [
    "Action",
    "Kind",
    "Plan",
    "Planner",
    "Policy",
    "Skeleton",
    "WordMap",
    "fill",
    "kind",
    "split",
]

"""Text: cut into pieces, planned piece by piece, and rebuilt around other words."""

from malaprop.text.apart import Apart, Workbench
from malaprop.text.mapping import WordMap
from malaprop.text.pieces import Kind, kind, split
from malaprop.text.policy import Action, Plan, Planner, Policy
from malaprop.text.surface import Skeleton, fill

__all__ = [
    "Action",
    "Apart",
    "Kind",
    "Plan",
    "Planner",
    "Policy",
    "Skeleton",
    "WordMap",
    "Workbench",
    "fill",
    "kind",
    "split",
]

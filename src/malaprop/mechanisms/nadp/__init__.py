"""The neighbourhood-aware Gaussian mechanism, with its graph of nearest neighbours."""

from malaprop.mechanisms.nadp.mechanism import NADP, ComponentNeighbourhoods

__all__ = ["NADP", "ComponentNeighbourhoods"]

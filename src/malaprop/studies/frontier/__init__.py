"""The frontier: all mechanisms on the same words, tasks and attacks. It is a study of our own."""

from malaprop.studies.framework.items import Item, Study
from malaprop.studies.frontier.measures import MEASURES, frontier, spread
from malaprop.studies.frontier.mechanisms import grid

FRONTIER = Item(
    name="frontier",
    grid=grid,
    cell=frontier,
    key="frontier",
    measures=MEASURES,
    revision=3,
    spread=spread,
)
STUDY = Study(name="frontier", items=(FRONTIER,))

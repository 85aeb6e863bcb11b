"""Forms: how a value is written, apart from the value itself.

A form is public: it stays visible in the private text. It must be able to write every value of its
grid, so that it tells nothing of the value.
"""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from numpy.random import Generator

from malaprop.text.kinds.grids import ValueGrid


@dataclass(frozen=True)
class Form(ABC):
    """A slot of a template for something other than a word. Hashable, and holds no secret."""

    @property
    @abstractmethod
    def tag(self) -> str:
        """The tag under which tokens of this form are counted."""

    @property
    def takes_units(self) -> bool:
        """Whether no space is put between it and a word that touched it, as in "500mg".

        A form that can end in letters takes none: the word would run into them.
        """
        return False

    @property
    def follows_closely(self) -> bool:
        """Whether no space is put between another value and this one."""
        return False

    @property
    def opens_with_sign(self) -> bool:
        """Whether it begins with a sign, such as @ or $.

        What touches it from the left cannot run into it, so no space is put between the two.
        """
        return False


class ValueForm(Form):
    """A form of values on a grid, which are drawn on a path."""

    @property
    @abstractmethod
    def grid(self) -> ValueGrid:
        """The values that can be written."""

    @abstractmethod
    def write(self, index: int) -> str:
        """Write the value at this place of the grid."""

    @property
    def kind(self) -> str:
        """The name of the kind in a guarantee."""
        return self.grid.kind

    @property
    def unit(self) -> Hashable:
        """What the grid counts: only in equal units is one place of a grid the same value."""
        return None


class StandIn(Form):
    """A form of things without a distance: they are drawn without looking at them."""

    kind: ClassVar[str]
    """The name of the kind in a guarantee."""

    @abstractmethod
    def draw(self, count: int, rng: Generator) -> Sequence[str]:
        """Draw `count` independent stand-ins, uniformly."""

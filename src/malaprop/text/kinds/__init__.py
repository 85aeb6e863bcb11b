"""Kinds of values: what a value is, how it is found, read and written, and what it is drawn from.

A kind is one file in this folder. It states a `Kind`, which is a pattern and a reader; a form,
which says how a value is written, apart from the value itself; and, if values have a distance, a
`ValueGrid` and the `Step` that it is counted in. All of them register by being defined.

A form is public: it stays visible in the private text. It must be able to write every value of its
grid, so that it tells nothing of the value.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules
from typing import Literal, NamedTuple

from numpy.random import Generator

from malaprop.text.kinds.grids import ValueGrid
from malaprop.text.tokens import CharacterClasses

DateOrder = Literal["mdy", "dmy"]
"""Whether the month or the day comes first in 03/04/2023."""
Decimals = Literal["point", "comma"]
"""What stands before the decimals of a number: 12,299.00 or 12.299,00."""


class Conventions(NamedTuple):
    """How texts are written, by the user's word: nothing of it is guessed from a text."""

    dates: DateOrder = "mdy"
    decimals: Decimals = "point"


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

    def follows_closely(self, before: "Form") -> bool:
        """Tell whether no space is put between another value and this one, if they touched."""
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
    def unit(self) -> Hashable:
        """What the grid counts: only in equal units is one place of a grid the same value."""
        return None


class StandIn(Form):
    """A form of things without a distance: they are drawn without looking at them."""

    shares_always = False
    """Whether equal things of a text share a draw, also where equal words do not."""

    @abstractmethod
    def draw(self, count: int, rng: Generator) -> Sequence[str]:
        """Draw `count` independent stand-ins from a public law; by default, uniformly."""

    @property
    def shared(self) -> Hashable:
        """What equal things must have in common to share a draw: by default, the form."""
        return self

    def write(self, drawn: str) -> str:
        """Write a stand-in in this form."""
        return drawn


class Read(NamedTuple):
    """What a token says: its public form, and its secret place in the form's grid.

    What has no grid has a number that is equal for equal things.
    """

    form: Form
    secret: int


KINDS: "dict[str, Kind]" = {}


@dataclass(frozen=True)
class Kind:
    """A kind of tokens that are values: where they are in a text, and how each is read.

    The pattern sees the kinds of characters and their number, never which digits they are, but for
    a zero in front, which is shown then. One that holds spaces must be made of parts that
    `grammar.joining` knows, and begin with no word in small letters. Every quantifier is bounded or
    possessive, so that the time is linear.
    """

    name: str
    rank: int
    """Patterns are tried in this order. The tokenizer's own come where they always do."""
    read: Callable[[str, Conventions], Read]
    pattern: Callable[[CharacterClasses], str] | None = None
    """None: the tokenizer's pattern of this name."""
    tags: tuple[str, ...] = ()
    """The tags of its forms."""
    drawn_anew: str = ""
    """The name in a guarantee, if values have no distance."""
    plural: str = ""

    def __post_init__(self) -> None:
        KINDS[self.name] = self


for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")

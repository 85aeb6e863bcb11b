"""Entities: what a detector found in a text. Each becomes a stand-in, drawn without a look at it.

A detector is not public: what it finds depends on the text, and may depend on all of it. So where
the entities are, of which class each is and which of them are equal is part of the template, and
shows. What stands there does not: within a class, stand-ins have one public law. All that is not
found goes through the mechanism.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import accumulate
from operator import attrgetter, index, itemgetter
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.random import Generator

from malaprop.privacy.errors import DataError, ParameterError, did_you_mean
from malaprop.text.kinds import StandIn
from malaprop.text.kinds.addresses import EMAIL, URL
from malaprop.text.kinds.dates import DAYS, NamedDateForm
from malaprop.text.kinds.identifiers import IdentifierForm, secret_of
from malaprop.text.people import (
    GIVEN,
    SURNAME,
    TOWN,
    PersonForm,
    lists,
    spelled,
)
from malaprop.text.segments import Segment, placeholder_names
from malaprop.text.tokens import TokenKind, kind_of, tokenize

TAG = "entities"
UNDECLARED = "[ENTITY]"
"""What stands for an entity whose label was not declared."""
PERSON, PLACE, WORDS = "person", "place", "words"

# Stand-ins. Their laws are public and the same for all entities of a class.

_ORGANISATIONS = np.array(["Associates", "Company", "Group", "Holdings", "Industries", "Partners"])
_FIRST_DAY, _LAST_DAY = (
    DAYS.index(day.toordinal()) for day in (date(1930, 1, 1), date(2029, 12, 31))
)
_AREA, _LINE = IdentifierForm("99"), IdentifierForm("99")


def _organisations(count: int, rng: Generator) -> list[str]:
    names = PersonForm(SURNAME).draw(count, rng)
    kinds = _ORGANISATIONS[rng.integers(len(_ORGANISATIONS), size=count)].tolist()
    return [f"{name.split(' ', 1)[1]} {kind}" for name, kind in zip(names, kinds, strict=True)]


def _dates(count: int, rng: Generator) -> list[str]:
    form = NamedDateForm("dmy")
    return [form.write(day) for day in rng.integers(_FIRST_DAY, _LAST_DAY + 1, size=count).tolist()]


def _phones(count: int, rng: Generator) -> list[str]:
    """Return numbers of the United States that are reserved for fiction: 555-0100 to 555-0199."""
    first = rng.integers(2, 10, size=count).tolist()
    drawn = zip(first, _AREA.draw(count, rng), _LINE.draw(count, rng), strict=True)
    return [f"+1-{digit}{area}-555-01{line}" for digit, area, line in drawn]


_LAWS: Mapping[str, Callable[[int, Generator], Sequence[str]]] = {
    "organisation": _organisations,
    "date": _dates,
    "phone": _phones,
    "email": EMAIL.draw,
    "url": URL.draw,
    "identifier": IdentifierForm("AA-999999").draw,
}
CLASSES = (PERSON, PLACE, *_LAWS)
"""The classes of entities. `words` is none: what it is given to counts as not found."""


@dataclass(frozen=True)
class EntityForm(StandIn):
    """An entity that is no person or place, with an 's behind it or without.

    >>> from malaprop import seeded_rng
    >>> [EntityForm(kind).draw(1, seeded_rng(2))[0] for kind in ("date", "phone", "identifier")]
    ['4 October 2013', '+1-821-555-0124', 'NC-821248']
    """

    kind: str
    possessive: bool = False
    tag, shares_always = TAG, True

    @property
    def shared(self) -> tuple[str, str]:
        return TAG, self.kind

    def draw(self, count: int, rng: Generator) -> Sequence[str]:
        return _LAWS[self.kind](count, rng)

    def write(self, drawn: str) -> str:
        return drawn + "'s" * self.possessive


# Labels: what detectors call what they find.

_LABELS = {
    PERSON: "PERSON PER NAME PATIENT DOCTOR",
    PLACE: "LOCATION LOC GPE FAC FACILITY ADDRESS STREET CITY STATE COUNTRY",
    "organisation": "ORGANIZATION ORGANISATION ORG HOSPITAL DEPARTMENT",
    "date": "DATE_TIME DATE DATE_OF_BIRTH",
    "phone": "PHONE_NUMBER PHONE FAX",
    "email": "EMAIL_ADDRESS EMAIL",
    "url": "URL DOMAIN_NAME",
    "identifier": """
        ID USERNAME PASSWORD CREDENTIAL POSTALCODE ZIP SSN SOCIAL_SECURITY_NUMBER IPADDR IDNUM
        NATIONAL_INSURANCE_NUMBER DRIVERS_LICENCE TAX_REFERENCE_NUMBER VEHICLE_LICENCE_PLATE
        MEDICALRECORD HEALTHPLAN ACCOUNT LICENSE VEHICLE DEVICE BIOID SKYPE TWITTER
    """,
    WORDS: "CARDINAL ORDINAL QUANTITY PERCENT MONEY TIME LANGUAGE",
}
_UNDECLARED = ("NRP",)  # nationality, religion, politics: no list has others


class Labels(Mapping[str, str]):
    """The class of each label that detectors give, in capitals or not. Hashable.

    Labels that are not listed, and those of class None, are undeclared. By default, Presidio's,
    spaCy's and some others' are listed.

    >>> labels = Labels({"ward": "place", "ORG": None})
    >>> labels.of("Ward"), labels.of("GPE"), labels.of("ORG"), labels.of("NORP")
    ('place', 'place', None, None)
    """

    def __init__(self, chosen: Mapping[str, str | None] | None = None) -> None:
        if not isinstance(chosen or {}, Mapping):
            raise ParameterError(
                "The `entity_labels` parameter must map labels to classes, such as "
                f"{{'WARD': 'place'}}. Got {type(chosen).__name__}."
            )
        own = chosen.chosen if isinstance(chosen, Labels) else dict(chosen or {})
        for label, kind in own.items():
            if not isinstance(label, str) or (kind is not None and not _is_class(kind)):
                hint = did_you_mean(str(kind), (*CLASSES, WORDS))
                raise ParameterError(
                    "The `entity_labels` parameter must map labels, which are strings, to "
                    f"{', '.join(CLASSES)}, {WORDS} or None. Got {kind!r} for {label!r}.{hint}"
                )
        self.chosen: Mapping[str, str | None] = {label.upper(): own[label] for label in sorted(own)}
        """What differs from the default."""
        every = _default_labels() | self.chosen
        self._classes = {label: kind for label, kind in every.items() if kind is not None}

    def of(self, label: str) -> str | None:
        """Return the class of a label; None if it is undeclared."""
        return self._classes.get(label.upper())

    def __getitem__(self, label: str) -> str:
        return self._classes[label.upper()]

    def __iter__(self) -> Iterator[str]:
        return iter(self._classes)

    def __len__(self) -> int:
        return len(self._classes)

    def __hash__(self) -> int:
        return hash(tuple(self.chosen.items()))

    def __repr__(self) -> str:
        return repr(dict(self.chosen))


def _is_class(kind: object) -> bool:
    return isinstance(kind, str) and kind in (*CLASSES, WORDS)


def _default_labels() -> dict[str, str | None]:
    """Return the classes of common labels. What else Presidio finds are identifiers."""
    listed = {label: kind for kind, labels in _LABELS.items() for label in labels.split()}
    presidio = dict.fromkeys(placeholder_names()["presidio"], "identifier")
    return {**presidio, **listed, **dict.fromkeys(_UNDECLARED)}


# What is given as entities: objects of detectors, tuples, dictionaries.


class Entity(NamedTuple):
    """A piece of a text, `text[start:end]`, and the class that its label has."""

    start: int
    end: int
    kind: str | None
    """None if its label is undeclared."""


_PLACES = (
    attrgetter("start_char", "end_char", "label_"),  # spaCy's Span, whose start counts tokens
    attrgetter("start", "end", "entity_type"),  # Presidio's RecognizerResult
    attrgetter("start", "end", "label"),
)
_KEYS = ("label", "entity_type", "entity_group", "entity")


def found_entities(found: object, length: int, labels: Labels, *, name: str) -> list[Entity]:
    """Return entities in order, given in any of the ways that detectors know.

    `length` is that of the text, and `name` says in errors what was given. Those whose class is
    `words` are left out.

    >>> found_entities([(8, 11, "PERSON"), {"start": 0, "end": 2, "label": "X"}], 20, Labels(),
    ...     name="entities")
    [Entity(start=0, end=2, kind=None), Entity(start=8, end=11, kind='person')]
    """
    entities = []
    for number, (start, end, label) in enumerate(_each(found, name), start=1):
        if label is None:
            raise ParameterError(
                f"Item {number} of `{name}` has no label: give the class of what was found, "
                "as in (0, 3, 'PERSON')."
            )
        checked(start, end, length, name, number)
        if (kind := labels.of(label)) != WORDS:
            entities.append(Entity(start, end, kind))
    return sorted(entities, key=itemgetter(0))


def found_spans(found: object, length: int, *, name: str) -> list[tuple[int, int]]:
    """Return the places of spans in order, given like entities, or without labels.

    Those that overlap become one.
    """
    spans: list[tuple[int, int]] = []
    places = [
        checked(start, end, length, name, number)
        for number, (start, end, _) in enumerate(_each(found, name), start=1)
    ]
    for start, end in sorted(places):
        if spans and start < spans[-1][1]:
            spans[-1] = spans[-1][0], max(end, spans[-1][1])
        else:
            spans.append((start, end))
    return spans


def _each(found: object, name: str) -> Iterator[tuple[int, int, str | None]]:
    """Yield start, end and label of each item; refuse what is none."""
    kind = type(found).__name__
    try:
        found = getattr(found, "ents", found)  # a Doc of spaCy
        items = None if isinstance(found, str | bytes | Mapping) else list(cast(Any, found))
    except Exception:  # what was given may raise anything, and quote the text
        items = None
    if items is None:
        raise ParameterError(
            f"The `{name}` parameter must be a list of pieces of a text, each with its start and "
            f"end. Got {kind}."
        )
    for number, item in enumerate(items, start=1):
        try:
            start, end, label = _parts(item)
            yield place(start), place(end), None if label is None else _label(label)
        except Exception:  # as above
            raise ParameterError(
                f"Item {number} of `{name}` must be (start, end, label) with whole numbers, a "
                "dictionary with these, a Span of spaCy or a RecognizerResult of Presidio. Got "
                f"{type(item).__name__}."
            ) from None


def _parts(item: Any) -> tuple[object, object, object]:
    if isinstance(item, tuple | list):
        start, end, label = item if len(item) == 3 else (*item, None)
        return start, end, label
    if isinstance(item, Mapping):
        label = next((item[key] for key in _KEYS if key in item), None)
        return item["start"], item["end"], label
    for parts in _PLACES:
        try:
            found: tuple[object, object, object] = parts(item)
        except AttributeError:
            continue
        return found
    raise AttributeError


def _label(label: object) -> str:
    if not isinstance(label, str):
        raise TypeError("a label is a string")
    return label


def place(number: object) -> int:
    """Return a whole number; refuse True and False, which are 1 and 0 to Python.

    A number of thousands of digits is refused, too: no message could show it.
    """
    if isinstance(number, bool | np.bool_):
        raise TypeError("a place is a number")
    return int(np.int64(index(number)))  # type: ignore[arg-type]  # a TypeError for what is none


def checked(start: int, end: int, length: int, name: str, number: int) -> tuple[int, int]:
    """Return the places of an item, if they are in a text of that length."""
    if not 0 <= start < end <= length:
        raise ParameterError(
            f"Item {number} of `{name}` must have 0 <= start < end <= the length of the text, "
            f"{length}. Got ({start}, {end})."
        )
    return start, end


# Detectors.

Detector = Callable[[str], object]
"""Finds entities in a text: returns them in any of the ways that are accepted."""


def detector_of(detector: Any) -> Detector:
    """Return what is called with a text: a function, a pipeline of spaCy, an analyzer of Presidio.

    An analyzer is asked in English, and for all that it knows. None finds nothing.
    """
    if detector is None or callable(detector):
        return detector or (lambda text: ())
    analyze = getattr(detector, "analyze", None)
    if not callable(analyze):
        raise ParameterError(
            "The `detector` parameter must be a function that takes a text and returns entities, "
            f"a pipeline of spaCy or an AnalyzerEngine of Presidio. Got {type(detector).__name__}."
        )
    return lambda text: analyze(text=text, language="en")


def detected(detector: object, text: str) -> list[object]:
    """Return what a detector finds; its errors may quote the text, so they are not passed on."""
    find = detector_of(detector)
    try:
        found: Any = find(text)
        return list(getattr(found, "ents", found))
    except Exception as error:
        raise DataError(
            f"The `detector` failed on a text of {len(text):,} characters with a "
            f"{type(error).__name__}, before anything was drawn for it."
        ) from None


def detector_name(detector: object) -> str:
    """Return what a detector is called in reports: its own name, or that of its class."""
    kind = type(detector)
    usual = getattr(detector, "__qualname__", f"{kind.__module__}.{kind.__qualname__}")
    return str(getattr(detector, "described", usual))


# Texts with entities, cut into what was found and the rest.


class FoundEntity(NamedTuple):
    """The piece of a text that an entity covers. Its text is secret, and never shown."""

    text: str
    kind: str | None
    possessive: bool
    """Whether an 's stands behind it, which stays."""


def cut_at_entities(
    text: str, entities: Iterable[Entity], tokens: Iterable[str]
) -> list[Segment | FoundEntity]:
    """Cut a text into entities, and the rest, which is private.

    `tokens` are those of the text. White space at the ends of an entity is not part of it. A word
    or value that it cuts is taken whole. Then, those that overlap become one; it has the class of
    the longest, or of the first of those.

    >>> text = "Dr Ann Lee's note"
    >>> cut_at_entities(text, [Entity(4, 10, "person"), Entity(3, 7, "place")], tokenize(text))
    [Segment(text='Dr ', public=False, origin=''), \
FoundEntity(text='Ann Lee', kind='person', possessive=True), \
Segment(text=' note', public=False, origin='')]
    """
    whole = _Whole(text, tokens)
    grown = (each for entity in entities if (each := whole.grown(entity)) is not None)
    segments: list[Segment | FoundEntity] = []
    done = 0
    for start, end, kind in _merged(sorted(grown, key=lambda each: (each.start, -each.end))):
        if done < start:
            segments.append(Segment(text[done:start], False))
        owner = _OWNER.search(text[start:end])
        bare = text[start:end] if owner is None else text[start : start + owner.start()]
        segments.append(FoundEntity(bare, kind, owner is not None))
        done = end
    if done < len(text):
        segments.append(Segment(text[done:], False))
    return segments


_OWNER = re.compile(r"(?<=\S)['’＇][sS]$")
_OWNER_BEHIND = re.compile(
    r"['’＇][sS](?![\w'’＇])"
)  # a part of the word, if that ends in a letter
_JOINING_SIGNS = re.compile(r"[~./]*/")


def behind_entities(segments: Iterable[Segment | FoundEntity]) -> Iterator[Segment | FoundEntity]:
    """Yield segments; cut slashes off what they join to an entity: “Ann/Lee” holds no path.

    >>> [each.text for each in behind_entities([FoundEntity("Ann", "person", False),
    ...     Segment("/Lee", False)])]
    ['Ann', '/', 'Lee']
    """
    joined = False
    for each in segments:
        signs = _JOINING_SIGNS.match(each.text) if joined and isinstance(each, Segment) else None
        if isinstance(each, FoundEntity) or each.public or signs is None:
            yield each
        else:
            yield each._replace(text=signs[0])
            if rest := each.text[signs.end() :]:
                yield each._replace(text=rest)
        joined = isinstance(each, FoundEntity) and each.text[-1].isalnum()


class _Whole:
    """Takes the words of a text whole that entities cut."""

    def __init__(self, text: str, tokens: Iterable[str]) -> None:
        self._text, self._tokens = text, list(tokens)
        self._starts = list(accumulate(map(len, self._tokens), initial=0))

    def grown(self, entity: Entity) -> Entity | None:
        """Return an entity with whole words and without white space at its ends, if any is left."""
        start, end, kind = entity
        piece = self._text[start:end]
        start, end = end - len(piece.lstrip()), start + len(piece.rstrip())
        if start >= end:
            return None
        start, end = self._word_at(start)[0], self._word_at(end - 1)[1]
        owner = _OWNER_BEHIND.match(self._text, end)
        return Entity(start, end if owner is None else owner.end(), kind)

    def _word_at(self, place: int) -> tuple[int, int]:
        """Return where the word at a place starts and ends; signs are cut one by one."""
        number = bisect_right(self._starts, place) - 1
        if kind_of(self._tokens[number]) in (TokenKind.SPACE, TokenKind.PUNCTUATION):
            return place, place + 1
        return self._starts[number], self._starts[number + 1]


def _merged(entities: Iterable[Entity]) -> list[Entity]:
    """Unite entities that overlap, given in the order of their places."""
    merged: list[Entity] = []
    longest = 0
    for each in entities:
        length = each.end - each.start
        if merged and each.start < merged[-1].end:
            start, end, kind = merged[-1]
            merged[-1] = Entity(start, max(end, each.end), each.kind if length > longest else kind)
            longest = max(length, longest)
        else:
            merged.append(each)
            longest = length
    return merged


# What an entity becomes.


def first_names(segments: Iterable[Segment | FoundEntity]) -> frozenset[int]:
    """Return the keys of the first words of persons of several words."""
    persons = (each for each in segments if isinstance(each, FoundEntity) and each.kind == PERSON)
    names = (_names(each.text) for each in persons)
    return frozenset(_key(name[0]) for name in names if len(name) > 1)


def slots_of(entity: FoundEntity, first: frozenset[int]) -> list[tuple[StandIn, int]]:
    """Return the forms and keys of the stand-ins of a declared entity, which stand side by side.

    A person of several words is a given name and a surname. One of a single word is a given name
    if a person of several words in the text begins with it (`first`), or else a surname: so
    nothing is looked up to decide a class. Equal keys share a stand-in.
    """
    text, kind, possessive = entity
    if kind == PERSON:
        names = _names(text)
        *given, last = map(_key, names)
        if given:
            return [
                (PersonForm(GIVEN), given[0]),
                (PersonForm(SURNAME, possessive=possessive), last),
            ]
        form = PersonForm(GIVEN if last in first else SURNAME, possessive=possessive)
        return [(form, last)]
    if kind == PLACE:
        return [(PersonForm(TOWN, possessive=possessive), _key(text))]
    return [(EntityForm(str(kind), possessive), _key(text))]


def _names(text: str) -> list[str]:
    """Return the words of a person, or the whole text if it has none."""
    return [word for word in text.split() if any(map(str.isalnum, word))] or [text]


def _key(text: str) -> int:
    """Return a number that is equal for equal names, and for names that `redraw` finds equal."""
    words = [token for token in tokenize(text) if any(map(str.isalnum, token))]
    name = " ".join(spelled(word) or word for word in words) or text
    entry = lists().entry(name)
    return secret_of(name) if entry is None else entry.number

"""The user's choices about texts, valid from birth. `treatment` says what follows from them."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from hashlib import sha256
from inspect import signature
from numbers import Real
from typing import Any, Literal, TypedDict, cast, get_args

from malaprop.privacy.errors import ParameterError, did_you_mean, is_computable
from malaprop.privacy.guarantee import Guarantee
from malaprop.text.entities import Labels, detector_name, detector_of
from malaprop.text.kinds import DateOrder, Decimals
from malaprop.text.kinds.grids import StepSizes
from malaprop.text.markup import Markup
from malaprop.text.people import CLASSES
from malaprop.text.public import checked_markup, entries_of
from malaprop.text.template import Punctuation
from malaprop.text.word_map import MAP_VERSION

Unknown = Literal["map", "mask", "drop", "keep"]
Kinds = Literal["typed", "words"]
Repeat = Literal["fresh", "document"]
Readable = Literal["faithful", "fluent"]
"""The settings of smoothing, whose constants are in `malaprop.smoother.SETTINGS`."""
PEOPLE = "people"
"""The value of `redraw` that stands for all of them."""

_CHOICES: Mapping[str, tuple[str | None, ...]] = {
    "unknown": get_args(Unknown),
    "punctuation": get_args(Punctuation),
    "repeat": get_args(Repeat),
    "kinds": (*get_args(Kinds), None),
    "dates": get_args(DateOrder),
    "decimals": get_args(Decimals),
}
_OF_VALUES = ("kind_epsilon", "steps", "dates", "shift_dates", "decimals")
"""Parameters that need `kinds="typed"`."""
_LEAST_OF_SHIFTS = 1e-6  # nats a day: below that, floats do not count the days
_MOST_LISTED = 20  # kept words that a report lists


class TextOptions(TypedDict, total=False):
    """The parameters of a `Policy`, as every call takes them that privatizes texts."""

    unknown: Unknown
    punctuation: Punctuation
    placeholder: str
    kinds: Kinds | None
    kind_epsilon: float | None
    steps: Mapping[str, str]
    dates: DateOrder
    shift_dates: bool
    decimals: Decimals
    repeat: Repeat
    redraw: str | Iterable[str]
    detector: Any
    entity_labels: Mapping[str, str | None]
    keep: str | Sequence[str]
    markup: Markup | None
    readable: bool | Readable | None
    model: str | os.PathLike[str] | None


@dataclass(frozen=True, kw_only=True)
class Policy:
    """How to treat words that the lexicon does not have, punctuation, values and repeated words.

    With `kinds="typed"`, numbers, dates and times become others of their kind, near by, and
    identifiers and addresses are made up; with `"words"` all of them become words. `None` leaves
    the choice to the mechanism. `kind_epsilon` is the ε of one step of a value, `steps` says how
    long a step is, `dates` whether 03/04/2023 is in March (`mdy`) or in April (`dmy`), and
    `decimals` whether numbers are written like 12,299.00 (`point`) or like 12.299,00 (`comma`).
    With `shift_dates`, all dates of a text are moved by one secret number of days.

    `repeat` is `fresh`, a draw for every place, or `document`, one draw for all places of a text
    that hold the same mapped value.

    `redraw` is `people`, or `names` or `places`: those that public lists have are drawn anew.

    `detector` finds entities, which become stand-ins: a function, a pipeline of spaCy or an
    analyzer of Presidio. `entity_labels` has the classes of labels that are not Presidio's or
    spaCy's, or other classes for these: see `malaprop.text.entities`.

    `keep` and `markup` declare parts of texts public: a list of words and phrases, with or without
    `"placeholders"`, or `"placeholders"` alone; and the tags of `html`, or the signs of `markdown`.

    With `readable`, drawn words are smoothed by public bigrams: `"faithful"`, which `True` means,
    or `"fluent"`, which reads better and drops more rare words. That is post-processing, and
    changes no guarantee. `model` is a folder with bigrams, by default those that ship with
    `english`; a text with a model is readable.

    >>> Policy(unknown="mask", kinds="words").to_dict()  # doctest: +NORMALIZE_WHITESPACE
    {'unknown': 'mask', 'punctuation': 'keep', 'placeholder': '[masked]', 'kinds': 'words',
     'repeat': 'fresh'}
    """

    unknown: Unknown = "map"
    punctuation: Punctuation = "keep"
    placeholder: str = "[masked]"
    kinds: Kinds | None = None
    kind_epsilon: float | None = None
    steps: Mapping[str, str] = field(default_factory=StepSizes)
    dates: DateOrder = "mdy"
    shift_dates: bool = False
    decimals: Decimals = "point"
    repeat: Repeat = "fresh"
    redraw: str | Iterable[str] = ()
    detector: Any = None
    entity_labels: Mapping[str, str | None] = field(default_factory=Labels)
    keep: str | Sequence[str] = ()
    markup: Markup | None = None
    readable: bool | Readable | None = None
    model: str | os.PathLike[str] | None = None

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            value = getattr(self, name)
            if value not in choices:
                raise ParameterError(
                    f"The '{name}' parameter must be one of {', '.join(filter(None, choices))}. "
                    f"Got {value!r}."
                )
        _require_placeholder(self.placeholder)
        _require_epsilon(self.kind_epsilon)
        if not isinstance(self.shift_dates, bool):
            raise ParameterError(
                f"The `shift_dates` parameter must be True or False. Got {self.shift_dates!r}."
            )
        checked_markup(self.markup)
        folder = _folder(self.model)
        object.__setattr__(self, "model", folder)
        object.__setattr__(self, "readable", _setting(self.readable, folder))
        object.__setattr__(self, "redraw", _redrawn(self.redraw))
        detector_of(self.detector)
        if not isinstance(self.entity_labels, Labels):
            object.__setattr__(self, "entity_labels", Labels(self.entity_labels))
        object.__setattr__(self, "keep", tuple(sorted(entries_of(self.keep))))
        if not isinstance(self.steps, StepSizes):  # hashable, and every step is checked
            object.__setattr__(self, "steps", StepSizes(self.steps))
        if self.kinds == "words":
            usual = Policy()
            for name in _OF_VALUES:
                if getattr(self, name) != getattr(usual, name):
                    raise ParameterError(
                        f"The `{name}` parameter is for numbers and dates that are drawn as what "
                        'they are: it needs `kinds="typed"`.'
                    )

    @property
    def smoothing(self) -> Readable | None:
        """The setting by which drawn words are smoothed; None if they stay as they were drawn."""
        return cast(Readable, self.readable) if self.readable else None

    def options(self) -> TextOptions:
        """Return the parameters, to make another policy or a privatizer of."""
        return cast(TextOptions, vars(self).copy())

    def with_chosen_kinds(self, guarantee: Guarantee) -> "Policy":
        """Choose kinds and their ε, by the guarantee for words if need be."""
        in_steps = guarantee.metric == "graph"
        if (self.kinds or ("typed" if in_steps else "words")) == "words":
            return replace(self, kinds="words")
        epsilon = self.kind_epsilon
        if epsilon is None and not in_steps:
            raise ParameterError(
                'With `kinds="typed"`, this mechanism needs a `kind_epsilon`, the ε of one step of '
                f"a number or a date: its own ε is for {guarantee.metric} distance."
            )
        epsilon = guarantee.epsilon if epsilon is None else epsilon
        if self.shift_dates and epsilon < _LEAST_OF_SHIFTS * StepSizes(self.steps).size("date"):
            raise ParameterError(
                "The ε of a step is too small for `shift_dates`: it must be at least "
                f"{_LEAST_OF_SHIFTS} for each day of the step of a date."
            )
        return replace(self, kinds="typed", kind_epsilon=epsilon)

    def to_dict(self) -> dict[str, Any]:
        """Return the parameters, for a report, and the version of the map of unknown words."""
        plain = {**vars(self), "steps": dict(self.steps)}
        hidden = {*_OF_VALUES} if self.kinds == "words" else set()
        if not self.shift_dates:
            hidden.add("shift_dates")
        # The name of a model's folder is nobody's business.
        for name in (*hidden, "redraw", "detector", "entity_labels", "keep", "markup", "model"):
            del plain[name]
        if not self.readable:
            del plain["readable"]
        if self.redraw:
            plain["redraw"] = list(self.redraw)
        if self.detector is not None:
            plain["detector"] = detector_name(self.detector)
        if own := cast(Labels, self.entity_labels).chosen:
            plain["entity_labels"] = dict(own)
        if len(self.keep) > _MOST_LISTED:  # how long the list is, and what tells it from others
            digest = sha256("\n".join(self.keep).encode("utf-8", "surrogatepass")).hexdigest()
            plain["keep"] = {"entries": len(self.keep), "sha256": digest}
        elif self.keep:
            plain["keep"] = list(self.keep)
        if self.markup:
            plain["markup"] = self.markup
        return plain | ({"map": MAP_VERSION} if self.unknown == "map" else {})


def policy_with(options: TextOptions, caller: Callable[..., Any]) -> Policy:
    """Return the policy with the options that a call was given; refuse unknown ones in its name.

    `caller` is the function or class that takes them beside its own parameters.
    """
    names = {each.name for each in fields(Policy)}
    for name in options.keys() - names:
        known = [*signature(caller).parameters, *sorted(names)]
        raise ParameterError(
            f"{caller.__name__} has no parameter {name!r}.{did_you_mean(name, known)}"
        )
    return Policy(**options)


def _require_epsilon(value: object) -> None:
    if value is None:
        return
    number = isinstance(value, Real) and not isinstance(value, bool)
    if not number or not is_computable(value):  # type: ignore[arg-type]
        raise ParameterError(
            "The `kind_epsilon` parameter must be a number between 1e-30 and 1e+30, the ε of one "
            f"step. Got {value!r}."
        )


def _folder(value: object) -> str | None:
    """Return the folder of a bigram model, if there is one."""
    folder = os.fspath(value) if isinstance(value, os.PathLike) else value
    if folder is None or (isinstance(folder, str) and folder):
        return folder
    raise ParameterError(
        f"The `model` parameter must be the folder of a bigram model, or None. Got {value!r}."
    )


def _setting(value: object, folder: str | None) -> Readable | Literal[False]:
    """Return the setting of smoothing, or False; with a model, text is readable."""
    if value is False and folder:
        raise ParameterError(
            "A `model` makes text readable: leave it out, or do not ask for text as it was drawn."
        )
    if value is None:
        return "faithful" if folder else False
    if isinstance(value, bool):
        return "faithful" if value else False
    if isinstance(value, str) and value in get_args(Readable):
        return cast(Readable, value)
    raise ParameterError(
        f"The `readable` parameter must be True, False, {' or '.join(get_args(Readable))}. A "
        f"bigram model of your own is named by `model`. Got {value!r}."
    )


def _redrawn(value: object) -> tuple[str, ...]:
    """Return what is redrawn, in a fixed order."""
    names = [value] if isinstance(value, str) or not isinstance(value, Iterable) else list(value)
    if not all(name in (*CLASSES, PEOPLE) for name in names):
        raise ParameterError(
            f"The `redraw` parameter must hold {', '.join(CLASSES)}, or be {PEOPLE}, which means "
            f"{' and '.join(CLASSES)}. Got {value!r}."
        )
    return tuple(name for name in CLASSES if name in names or PEOPLE in names)


def _require_placeholder(value: object) -> None:
    # Without a letter or digit, a template would take it for punctuation.
    if not (isinstance(value, str) and value.isprintable() and any(map(str.isalnum, value))):
        raise ParameterError(
            "The 'placeholder' parameter must be a printable string on one line "
            f"with at least one letter or digit. Got {value!r}."
        )

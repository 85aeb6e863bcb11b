"""The bodies of requests and answers, as OpenAPI describes them."""

from typing import Annotated, Any, Final, Literal, Self, cast, get_args

from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    model_validator,
)

from malaprop.files.formats import FORMATS, Layout
from malaprop.text.entities import CLASSES, WORDS
from malaprop.text.policy import TextOptions

_LEAST, _MOST = 1e-3, 1e3
_MOST_ENTRIES: Final = 1_000
ENTITY_CLASSES: Final = (*CLASSES, WORDS)


def _whole(text: str) -> str:
    """Refuse half of a surrogate pair, which JSON can write and UTF-8 cannot."""
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise ValueError("must be a string without halves of surrogate pairs") from None
    return text


def _few(given: object) -> object:
    """Refuse an object of so many entries that a list of their errors would fill the memory."""
    if isinstance(given, dict) and len(given) > _MOST_ENTRIES:
        raise ValueError(f"must have {_MOST_ENTRIES:,} or fewer entries")
    return given


Text = Annotated[str, AfterValidator(_whole)]
Few = BeforeValidator(_few)
FIRST_ERROR: Final = Field(fail_fast=True)
"""Of a list, tell the first error alone: a body may hold millions."""

Epsilon = Annotated[
    float,
    Field(
        ge=_LEAST,
        le=_MOST,
        allow_inf_nan=False,
        description="ε, the privacy loss per unit of distance: smaller is more private.",
        examples=[1.5],
    ),
]
Mechanism = Annotated[
    Text, Field(max_length=64, description="The name of a mechanism, as /v1/mechanisms lists them.")
]
LexiconName = Annotated[
    Text, Field(max_length=64, description="The name of a lexicon, as /v1/lexicons lists them.")
]
Subject = Annotated[
    Text,
    Field(
        min_length=1,
        max_length=512,
        description="Whom the texts are about. Only a keyed hash of it is kept.",
    ),
]
Word = Annotated[Text, Field(min_length=1, max_length=200)]
StepKind = Literal["number", "year", "date", "time", "money", "percentage", "ordinal"]
Steps = Annotated[dict[StepKind, Annotated[Text, Field(max_length=40)]], Few]
Route = Annotated[Text, Field(min_length=1, max_length=500)]


class _Model(BaseModel):
    """A body whose fields are all known, and of the declared type."""

    model_config = ConfigDict(extra="forbid", strict=True, hide_input_in_errors=True)


class Entity(_Model):
    """A piece of a text that a detector found, as Presidio's analyzer tells it."""

    model_config = ConfigDict(extra="ignore", strict=True, hide_input_in_errors=True)

    start: Annotated[int, Field(ge=0, description="Its first character, counted from 0.")]
    end: Annotated[int, Field(ge=1, description="The character after its last one.")]
    label: Annotated[
        Text,
        Field(
            min_length=1,
            max_length=64,
            validation_alias=AliasChoices("label", "entity_type"),
            description="What it is, such as PERSON.",
        ),
    ]


Found = Annotated[list[Entity], FIRST_ERROR]
EntityClass = Literal[ENTITY_CLASSES]  # type: ignore[valid-type]  # what there is
EntityLabels = Annotated[
    dict[Annotated[Text, Field(max_length=64)], EntityClass | None],
    Few,
    Field(description="The classes of labels of your own detector."),
]


class _Body(_Model):
    """What is sent: an object with a few fields."""

    @model_validator(mode="before")
    @classmethod
    def _few_fields(cls, given: object) -> object:
        return _few(given)


class Choice(_Body):
    """Which lexicon and mechanism, with which ε."""

    epsilon: Epsilon
    mechanism: Mechanism = "balanced"
    lexicon: LexiconName = "english"


class Reading(Choice):
    """How values are read, and what a step of them is."""

    kinds: Literal["typed", "words"] | None = None
    kind_epsilon: Epsilon | None = None
    steps: Steps = {}
    dates: Literal["mdy", "dmy"] = "mdy"
    decimals: Literal["point", "comma"] = "point"


class Options(Reading):
    """How texts are treated, as `malaprop.Privatizer` takes it."""

    unknown: Literal["map", "mask", "drop", "keep"] = "map"
    punctuation: Literal["keep", "drop"] = "keep"
    placeholder: Annotated[Text, Field(min_length=1, max_length=40)] = "[masked]"
    shift_dates: bool = False
    repeat: Literal["fresh", "document"] = "fresh"
    redraw: Literal["people"] | Annotated[list[Literal["names", "places"]], FIRST_ERROR] = []
    keep: Annotated[list[Word], Field(max_length=1000)] = []
    entity_labels: EntityLabels = {}
    markup: Literal["html", "markdown"] | None = None
    readable: Annotated[
        Literal[False, True, "faithful", "fluent"],
        Field(
            description="Smooth what was drawn by public bigrams; `fluent` reads better, and drops "
            "more rare words than `faithful`, which true means."
        ),
    ] = False

    def text_options(self) -> TextOptions:
        """Return what `Privatizer` takes beside lexicon, mechanism and ε."""
        names = TextOptions.__annotations__
        given: dict[str, Any] = {n: getattr(self, n) for n in type(self).model_fields if n in names}
        return cast(TextOptions, given)

    @property
    def written(self) -> tuple[str, ...]:
        """All strings of the caller's own that a message could quote."""
        return (
            *(self.placeholder, self.mechanism, self.lexicon),
            *(*self.steps.values(), *self.keep, *self.entity_labels),
        )


class PrivatizeRequest(Options):
    """Texts to privatize: one, several, or those in JSON records."""

    text: Text | None = Field(None, description="One text.", examples=["Ann has a fever."])
    texts: Annotated[list[Text | None], FIRST_ERROR] | None = Field(
        None, description="Several texts; null stays null."
    )
    records: Annotated[list[dict[str, Any]], FIRST_ERROR] | None = Field(
        None, description="JSON objects that hold texts."
    )
    paths: Annotated[list[Route], Field(max_length=50)] | None = Field(
        None,
        description="Where in `records` the texts are: `note`, `msg.text`, `turns[].text`. All "
        "else stays as it is.",
    )
    entities: Annotated[list[Found | None], FIRST_ERROR] | None = Field(
        None,
        description="For each of `texts`, or for `text` as the only one, what a detector found in "
        "it: each becomes a stand-in of its class. Characters are counted as Unicode has them.",
    )
    subject: Subject | None = None
    dry_run: bool = Field(False, description="Tell the price, and draw nothing.")

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        given = [n for n in ("text", "texts", "records") if getattr(self, n) is not None]
        if len(given) != 1:
            raise ValueError("needs exactly one of text, texts and records")
        if (self.records is None) != (self.paths is None):
            raise ValueError("needs paths beside records, and without records none")
        texts = len(self.texts) if self.texts is not None else 1
        if self.entities is not None and (self.records is not None or len(self.entities) != texts):
            raise ValueError("needs entities for each of its texts, and for records none")
        return self


class ExplainRequest(Reading):
    """A word to explain; with several ε, once for each."""

    epsilon: Epsilon | None = None  # type: ignore[assignment]  # here it may be left out
    epsilons: Annotated[list[Epsilon], Field(min_length=1, max_length=16)] | None = None
    word: Word
    top: Annotated[int, Field(ge=1, le=500)] = 12

    @model_validator(mode="after")
    def _one_epsilon(self) -> Self:
        if (self.epsilon is None) == (self.epsilons is None):
            raise ValueError("needs exactly one of epsilon and epsilons")
        return self


class Like(_Model):
    """Another mechanism, as a target: as many words stay as with it."""

    mechanism: Mechanism
    epsilon: Epsilon


Share = Annotated[float, Field(gt=0.0, lt=1.0, allow_inf_nan=False)]


class CalibrateRequest(_Body):
    """One target, and for which mechanism the largest ε that keeps to it is asked for."""

    mechanism: Mechanism = "balanced"
    lexicon: LexiconName = "english"
    kept: Share | None = Field(None, description="At most this share of words stay as they are.")
    worst: Annotated[float, Field(ge=0.0, lt=1.0, allow_inf_nan=False)] | None = Field(
        None, description="With `kept`: that of the word which only this share of words exceed."
    )
    success: Share | None = Field(
        None, description="An observer guesses at most this share of words right."
    )
    context: bool = Field(False, description="With `success`: an observer who uses context.")
    occurrences: Annotated[int, Field(ge=1, le=100)] = Field(
        1, description="With `success`: how often the word occurs."
    )
    candidates: Annotated[float, Field(gt=0.0, le=10_000.0, allow_inf_nan=False)] | None = Field(
        None, description="At least this many inputs explain an output within a factor of 2."
    )
    similarity: Share | None = Field(
        None, description="Word and replacement have at most this expected similarity."
    )
    like: Like | None = None


class GuaranteeRequest(Options):
    """What would be promised, and how much of a text would stay."""

    words: Annotated[int, Field(ge=1, le=1_000_000)] = Field(
        1, description="In how many words two texts may differ."
    )


class BudgetRequest(_Body):
    """Whose budget to show; without a subject, that of the key itself."""

    subject: Subject | None = None


class FileRequest(Options):
    """A file to privatize, which is uploaded next."""

    format: Literal[FORMATS]  # type: ignore[valid-type]  # what is registered
    compression: Literal["gz", "zst"] | None = None
    columns: Annotated[list[Route], Field(max_length=50)] = []
    document: Literal["line", "file"] = "line"
    delimiter: Annotated[Text, Field(min_length=1, max_length=1)] | None = None
    encoding: Annotated[Text, Field(max_length=40, pattern=r"^[A-Za-z0-9_-]+$")] = "utf-8"
    on_error: Literal["fail", "skip", "mask"] = "fail"
    subject: Subject | None = None
    subject_column: Route | None = Field(
        None, description="The column that says whom a record is about."
    )

    def layout(self) -> Layout:
        """Return how to read the file."""
        return Layout(
            format=self.format,
            columns=tuple(self.columns),
            encoding=self.encoding,
            document=self.document,
            delimiter=self.delimiter,
            on_error=self.on_error,
        )


class PageRequest(Options):
    """One text to draw part by part beside itself, or an example of the page's own."""

    text: Annotated[Text, Field(max_length=20_000)] | None = None
    example: Annotated[Text, Field(max_length=40)] | None = Field(
        None,
        description="The name of an invented text of the page. It is nobody's, so nothing is "
        "debited.",
    )
    subject: Subject | None = None
    dry_run: bool = Field(False, description="Tell the price, and draw nothing.")

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if (self.text is None) == (self.example is None):
            raise ValueError("needs exactly one of text and example")
        return self


class NeighbourhoodRequest(Choice):
    """A word whose neighbourhood is to be drawn as a picture."""

    word: Word


class PlaneRequest(_Model):
    """A word of a small public lexicon in two dimensions, and how to draw it."""

    mechanism: Literal["laplace", "mahalanobis", "tem", "hyperbolic-laplace"]
    epsilon: Annotated[float, Field(ge=0.1, le=20.0, allow_inf_nan=False)]
    word: Word
    draws: Annotated[int, Field(ge=1, le=500)] = 200


FIELDS: Final = frozenset(
    name
    for model in (
        Entity,
        PrivatizeRequest,
        ExplainRequest,
        CalibrateRequest,
        GuaranteeRequest,
        BudgetRequest,
        FileRequest,
        Like,
        PageRequest,
        NeighbourhoodRequest,
        PlaneRequest,
    )
    for name in model.model_fields
) | frozenset(get_args(StepKind))
"""All names that may appear in a problem document."""


# Answers. They are built as JSON, not through these: this is what OpenAPI says of them.


class Fault(BaseModel):
    """One field, and what is wrong with it."""

    field: str
    detail: str


class Problem(BaseModel):
    """An error (RFC 9457). It never holds the text of the request."""

    type: str = Field(examples=["urn:malaprop:problem:invalid-request"])
    title: str
    status: int
    detail: str
    errors: list[Fault] = []


class Guarantee(BaseModel):
    """What is promised, as values and as a sentence."""

    model_config = ConfigDict(extra="allow")

    kind: str
    epsilon: float
    delta: float
    metric: str
    statement: str


class Receipt(BaseModel):
    """The ledger's entry: exact decimals, as strings."""

    model_config = ConfigDict(extra="allow")

    id: str | None = Field(description="The entry in the ledger; null for a dry run.")
    price: str
    spent: str = Field(
        description="What has been spent on the account, with this release; without, for a dry run."
    )
    remaining: str | None = Field(description="What is left; null if there is no limit.")


class _Facts(BaseModel):
    """With what something was computed."""

    mechanism: dict[str, Any]
    lexicon: dict[str, str]


class PrivatizeAnswer(_Facts):
    """Private texts, or records with private texts, in the order of the request."""

    texts: list[str | None] | None = Field(description="null for records and for a dry run")
    records: list[dict[str, Any]] | None = Field(None, description="only if records were sent")
    guarantee: Guarantee
    receipt: Receipt
    policy: dict[str, Any]
    randomness: str
    warnings: list[str]
    malaprop: str
    replayed: bool = Field(False, description="Whether this is the answer of an earlier request.")


class ExplainAnswer(BaseModel):
    """The law of a word, once for each ε."""

    explanations: list[dict[str, Any]]


class CalibrateAnswer(_Facts):
    """The ε that keeps to a target, and the curve of what was tried."""

    epsilon: float
    target: str
    value: float
    exact: bool
    normalised: dict[str, float]
    curve: list[dict[str, float]]


class GuaranteeAnswer(_Facts):
    """The guarantee, and what stays of texts."""

    guarantee: Guarantee
    expected_share_unchanged: float
    success: float = Field(description="The share of words that an observer guesses right.")
    success_at_least: bool = Field(description="Whether a better observer may exceed `success`.")
    warnings: list[str]
    context: dict[str, Any] | None = Field(
        description="What an observer with context recovers of public text; null if not measured."
    )
    policy: dict[str, Any]


class MechanismEntry(BaseModel):
    """A mechanism to name in requests."""

    name: str
    summary: str
    guarantee: str
    choose_for: str
    needs: str = Field(description="The metric that a lexicon must have; empty if several do.")
    parameters: dict[str, Any]


class MechanismsAnswer(BaseModel):
    """The mechanisms that this caller may name."""

    mechanisms: list[MechanismEntry]


class LexiconEntry(BaseModel):
    """A lexicon to name in requests."""

    name: str
    fingerprint: str
    words: int
    dimensions: int
    metric: str


class LexiconsAnswer(BaseModel):
    """The lexicons that requests may name."""

    lexicons: list[LexiconEntry]


class StateAnswer(BaseModel):
    """Whether the service is alive, or ready."""

    status: str
    malaprop: str


class BudgetAnswer(BaseModel):
    """What has been spent: exact decimals, as strings."""

    model_config = ConfigDict(extra="allow")

    scope: str
    spent: str
    limit: str | None
    remaining: str | None
    accounts: list[dict[str, Any]]
    statement: str


class FileAnswer(BaseModel):
    """A file, and how far it is."""

    id: str
    state: Literal["waiting", "queued", "running", "done", "failed"]
    created: float
    changed: float
    progress: dict[str, Any] | None = Field(
        description="The stage, and how many bytes of how many are done; null before the run"
    )
    problem: dict[str, Any] | None = Field(description="Why it failed: a problem document")


class FilesAnswer(BaseModel):
    """The caller's files."""

    files: list[FileAnswer]


class PageAnswer(BaseModel):
    """A text and a private draw of it, part by part: gaps and slots in turns.

    It holds the original: it is for whoever sent that.
    """

    original: list[str] | None = Field(description="null for a dry run, and so are other parts")
    private: list[str] | None
    fluent: list[str] | None = Field(
        description="the same draw in the fluent setting, if `private` was made readable"
    )
    drawn: list[str] | None = Field(description="`private` before it was made readable")
    tags: list[str] | None = Field(description="as what each slot is counted")
    counts_as: list[str | None] | None = Field(
        description="the lexicon's word that a slot counts as; null for a value"
    )
    steps: list[float | None] | None = Field(
        description="how many steps apart word and replacement are; null for a value"
    )
    steps_fluent: list[float | None] | None = Field(description="the same for `fluent`")
    steps_drawn: list[float | None] | None = Field(description="the same for `drawn`")
    receipt: Receipt | None = Field(description="null for an example")
    price: str
    guarantee: Guarantee
    warnings: list[str]


class NeighbourhoodAnswer(BaseModel):
    """The words within two steps of a word, and the edges between them."""

    words: list[dict[str, Any]] = Field(description="word, steps and chance; the word itself first")
    edges: list[list[float]] = Field(description="two places in `words`, and a length")
    others: int = Field(description="how many words within two steps are left out")

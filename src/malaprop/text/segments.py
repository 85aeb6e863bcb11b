"""Segments: a text cut into what was declared public, and the rest.

Public segments are shown as they are. All others are private. Each is cut into words by
itself, and the words of all of them are drawn as those of one text.
"""

import re
from collections.abc import Iterable
from functools import cache
from operator import itemgetter
from typing import NamedTuple


class Segment(NamedTuple):
    """A part of a text, whether it was declared public, and what made it public."""

    text: str
    public: bool
    origin: str = ""


def merge_segments(segments: Iterable[Segment]) -> list[Segment]:
    """Leave out empty segments, and join private ones that are neighbours.

    Public neighbours stay apart, because each is counted.

    >>> merge_segments([Segment("a", False), Segment("", True), Segment("b", False)])
    [Segment(text='ab', public=False, origin='')]
    """
    tidy: list[Segment] = []
    for segment in filter(itemgetter(0), segments):
        if tidy and not (segment.public or tidy[-1].public):
            tidy[-1] = Segment(tidy[-1].text + segment.text, False)
        else:
            tidy.append(segment)
    return tidy


def cut_at(text: str, pieces: Iterable[tuple[int, int]]) -> list[Segment]:
    """Cut a text into the public pieces between the given places, and the private rest.

    The pieces are in order and do not overlap.

    >>> [segment.text for segment in cut_at("to [NAME], now", [(3, 9)])]
    ['to ', '[NAME]', ', now']
    """
    segments: list[Segment] = []
    end = 0
    for first, after in pieces:
        if end < first:
            segments.append(Segment(text[end:first], False))
        segments.append(Segment(text[first:after], True))
        end = after
    if end < len(text):
        segments.append(Segment(text[end:], False))
    return segments


# Placeholders that a de-identifier left in a text: `[NAME]`, `<PERSON>`, `{{date}}`, `__ID__`.
#
# The list is closed: the entity names of Presidio, scrubadub and the i2b2 challenge of 2014, in
# four kinds of brackets. A pattern such as `\\[[A-Z]+\\]` would show “[HIV]” as well.
#
# - Names are in capitals. Only `{{…}}` may be in small letters: people write “[doctor]” in prose,
#   and that word is theirs, but nobody writes “{{doctor}}”.
# - A name may carry the number that a de-identifier gave to the person or thing: `[NAME_1]`,
#   `<PERSON_2>`, `{{NAME-0}}`, `[DATE3]`. At most three digits, without leading zeros. Names whose
#   own values are that short (`UNNUMBERED`) have no number: `[AGE_47]` is not a placeholder.
# - Hashes (`{{NAME-7358BF44}}`), joined names (`{{NAME+EMAIL}}`) and the free text in `[**…**]` are
#   not on the list, because what they hold is made from the text that was removed.

_PRESIDIO = """
    CREDIT_CARD CRYPTO DATE_TIME EMAIL_ADDRESS IBAN_CODE IP_ADDRESS MAC_ADDRESS NRP LOCATION
    PERSON PHONE_NUMBER MEDICAL_LICENSE URL ORGANIZATION DOMAIN_NAME UUID ABA_ROUTING_NUMBER
    US_BANK_NUMBER US_DRIVER_LICENSE US_ITIN US_PASSPORT US_SSN US_MBI US_NPI UK_NHS UK_NINO
    UK_PASSPORT UK_POSTCODE UK_VEHICLE_REGISTRATION UK_DRIVING_LICENCE CA_SIN ES_NIF ES_NIE
    ES_PASSPORT IT_FISCAL_CODE IT_DRIVER_LICENSE IT_VAT_CODE IT_PASSPORT IT_IDENTITY_CARD
    DE_TAX_ID DE_TAX_NUMBER DE_VAT_ID DE_PASSPORT DE_ID_CARD DE_FUEHRERSCHEIN DE_SOCIAL_SECURITY
    DE_HEALTH_INSURANCE DE_LANR DE_BSNR DE_KFZ DE_HANDELSREGISTER DE_PLZ PL_PESEL
    FI_PERSONAL_IDENTITY_CODE SE_PERSONNUMMER SE_ORGANISATIONSNUMMER TR_NATIONAL_ID
    TR_LICENSE_PLATE NG_NIN NG_VEHICLE_REGISTRATION ZA_ID_NUMBER AU_ABN AU_ACN AU_TFN AU_MEDICARE
    SG_NRIC_FIN SG_UEN TH_TNIN IN_PAN IN_AADHAAR IN_VEHICLE_REGISTRATION IN_VOTER IN_PASSPORT
    IN_GSTIN KR_RRN KR_FRN KR_PASSPORT KR_DRIVER_LICENSE KR_BRN PH_TIN PH_UMID PH_PASSPORT
"""
_SCRUBADUB = """
    ADDRESS CREDENTIAL USERNAME PASSWORD CREDIT_CARD DATE_OF_BIRTH DRIVERS_LICENCE EMAIL LOCATION
    NAME NATIONAL_INSURANCE_NUMBER ORGANIZATION PHONE POSTALCODE SKYPE SOCIAL_SECURITY_NUMBER SSN
    TAX_REFERENCE_NUMBER TWITTER UNKNOWN URL VEHICLE_LICENCE_PLATE
"""
_I2B2 = """
    AGE CONTACT DATE ID LOCATION NAME OTHER PROFESSION PATIENT DOCTOR USERNAME HOSPITAL
    ORGANIZATION DEPARTMENT ROOM STREET CITY STATE COUNTRY ZIP LOCATION-OTHER PHONE FAX EMAIL URL
    IPADDR SSN MEDICALRECORD HEALTHPLAN ACCOUNT LICENSE VEHICLE DEVICE BIOID IDNUM
"""
PRESIDIO, SCRUBADUB, I2B2 = (tuple(names.split()) for names in (_PRESIDIO, _SCRUBADUB, _I2B2))
"""Presidio's entity types, scrubadub's types of “filth”, and the categories and types of protected
health information in the i2b2 challenge of 2014."""
UNNUMBERED = frozenset({"AGE", "ROOM", "ZIP"})
"""Names whose own values are short numbers: a number after them may be the value."""
NAMES = tuple(sorted({*PRESIDIO, *SCRUBADUB, *I2B2}))
"""All names that may stand in a placeholder."""


def cut_placeholders(text: str) -> list[Segment]:
    """Cut a text into placeholders, which are public, and the rest.

    >>> [each.text for each in cut_placeholders("[NAME_1], [HIV], seen {{date}}.") if each.public]
    ['[NAME_1]', '{{date}}']
    """
    return cut_at(text, (match.span() for match in _pattern().finditer(text)))


def is_placeholder(text: str) -> bool:
    """Tell whether a text is exactly one placeholder.

    >>> is_placeholder("<PERSON>"), is_placeholder("<person>"), is_placeholder("[AGE_47]")
    (True, False, False)
    """
    return _pattern().fullmatch(text) is not None


@cache
def _pattern() -> re.Pattern[str]:
    large, small = _names(NAMES, UNNUMBERED), _names(map(str.lower, NAMES), {"age", "room", "zip"})
    # Underscores join what they touch: "a__ID__" and "__ID___" are other names.
    return re.compile(
        rf"\[{large}\]|<{large}>|\{{\{{(?:{large}|{small})\}}\}}|(?<!\w)__{large}__(?!\w)"
    )


def _names(names: Iterable[str], unnumbered: Iterable[str]) -> str:
    """Return a pattern for the names; the bracket behind it decides how far it reaches."""
    plain = sorted(set(names) - set(unnumbered), key=len, reverse=True)
    number = r"(?:[_-]?(?:0|[1-9][0-9]{0,2}))?"
    return f"(?:(?:{'|'.join(plain)}){number}|{'|'.join(sorted(unnumbered))})"

"""Presidio's anonymizer behind the same server as ours: its own REST sample is not in the package.

It is given what an analyzer found, two names in each text, and replaces them.
"""

from fastapi import FastAPI
from presidio_anonymizer import AnonymizerEngine
from presidio_anonymizer.entities import OperatorConfig, RecognizerResult
from pydantic import BaseModel

app = FastAPI()
engine = AnonymizerEngine()
OPERATORS = {"DEFAULT": OperatorConfig("replace", {"new_value": "[NAME]"})}


class Body(BaseModel):
    """A text; ε is ignored."""

    text: str
    epsilon: float


@app.post("/anonymize")
def anonymize(body: Body) -> dict[str, str]:
    """Replace the first and the last word of a text."""
    first, last = len(body.text.split(" ", 1)[0]), len(body.text.rsplit(" ", 1)[0]) + 1
    found = [
        RecognizerResult(entity_type="PERSON", start=0, end=first, score=0.9),
        RecognizerResult(entity_type="PERSON", start=last, end=len(body.text) - 1, score=0.9),
    ]
    return {"text": engine.anonymize(body.text, found, OPERATORS).text}

"""Write docs/explanation/examples.md: five texts at three ε, with a fixed seed, unselected.

python tools/build_examples.py
"""

from pathlib import Path

import numpy as np

from malaprop import Privatizer, seeded_rng

PAGE = Path(__file__).resolve().parent.parent / "docs" / "explanation" / "examples.md"
EPSILONS = (1.0, 1.5, 2.0)
TEXTS = {
    "A clinical note": "Patient is a 54-year-old woman from Leeds, seen on 12 March 2023 for chest "
    "pain. She takes metformin 500 mg twice a day; blood pressure 142/88.",
    "A mail": "Hi Anna, thanks for the report. I will be in Berlin until Friday, so could we move "
    "our meeting to next week? Please send the invoice for $1,250 to the office.",
    "A chat": "hey are you coming to the party tonight? my sister is bringing her new boyfriend, "
    "it's going to be fun. call me when you leave work",
    "A review": "The plot is thin and the jokes are old, but the two leads are so charming that "
    "you forgive them. A pleasant surprise for a rainy afternoon.",
    "A form": "Name: Mary Jones. Date of birth: 04/05/1961. Occupation: nurse. Reason for the "
    "claim: water damage in the kitchen after a pipe burst. Amount: $3,400.",
}
HEAD = """\
# Examples

Five invented texts, drawn by `balanced` on `english`, then [made readable](../howto/smoothing.md),
with the seed 1 each time. They were not selected, and no seed was searched for. A seed makes them
repeatable and *not private*. *Recovered* is the share of words that are the original ones, as drawn
and readable; a number, a date or an identifier counts as no word.

**Fluent text can be wrong.** What reads well need not be what somebody wrote.

This page is made by `python tools/build_examples.py`.
"""


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(), "utf-8", newline="\n")


def page() -> str:
    """Return the page."""
    parts = [HEAD]
    privatizers = {epsilon: Privatizer(epsilon=epsilon, readable=True) for epsilon in EPSILONS}
    for title, text in TEXTS.items():
        parts.append(f"## {title}\n\n> {text}\n")
        for epsilon, privatizer in privatizers.items():
            drawn, readable, before, after = shown(privatizer, text)
            parts.append(
                f"**ε = {epsilon:g}**, recovered {100 * before:.0f} % as drawn, "
                f"{100 * after:.0f} % readable\n\n"
                f"- as drawn: {drawn}\n- readable: {readable}\n"
            )
    return "\n".join(parts)


def shown(privatizer: Privatizer, text: str) -> tuple[str, str, float, float]:
    """Return the text as drawn, the readable text, and the shares of words recovered by both."""
    release = privatizer.drawing_from(seeded_rng(1))(text)
    draws = privatizer.drawing_from(seeded_rng(1)).word_draws([text])
    templates, slots = privatizer._parser.parse([text])
    words = np.where(templates.typed, 0, slots.ids)
    words[~templates.typed] = draws.drawn
    smoothed = privatizer._smoothed(templates, words, privatizer.smoother)[~templates.typed]
    before, after = (float((ids == draws.secret).mean()) for ids in (draws.drawn, smoothed))
    return release.drawn, release.text, before, after


if __name__ == "__main__":
    main()

"""Figures of attacks, made up for tests."""

from malaprop.measure.evaluation import AttackFigure


def attack_figure(
    score: float, *, interval: tuple[float, float], recovers_words: bool = True
) -> AttackFigure:
    """Return the figure of an attack over two draws."""
    return AttackFigure(
        value=score,
        low=interval[0],
        high=interval[1],
        over="bootstrap over 9 texts, with 2 draws of the noise each",
        values=(score - 0.01, score + 0.01),
        baseline=0.1,
        floor=0.05,
        unprotected=1.0,
        measured="share of words" if recovers_words else "accuracy",
    )

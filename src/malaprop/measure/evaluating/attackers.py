"""The attacks of an evaluation: each over several noise draws."""

from collections.abc import Sequence

from numpy.random import Generator

from malaprop.core.progress import Progress, stage
from malaprop.measure.attacking.base import Attack, Target, attack_with
from malaprop.measure.attacking.labels import LabelAttack
from malaprop.measure.attacking.words import Drawn, WordAttack
from malaprop.measure.evaluating.cells import AttackFigure
from malaprop.measure.evaluating.settings import EvaluationSettings, recovers_words
from malaprop.pipeline.privatizer import Privatizer
from malaprop.pipeline.word_draws import WordDraws


class Attackers:
    """All attacks that were chosen, on the same texts.

    Attacks on words share the noise draws with each other. An attack on labels has draws and splits
    of its own, as many.
    """

    def __init__(
        self, settings: EvaluationSettings, texts: Sequence[str], labels: Sequence[object] | None
    ) -> None:
        self._texts, self._labels = texts, labels
        self._attacks = [_made(name, settings) for name in settings.attacks or ()]
        for each in self._attacks:
            if isinstance(each, LabelAttack):
                each.checked(texts, labels)  # before any work

    def figures(
        self,
        privatizer: Privatizer,
        draws: Sequence[WordDraws],
        rng: Generator,
        progress: Progress | None = None,
    ) -> dict[str, AttackFigure]:
        """Run the attacks; `draws` are those of the texts whose words are attacked."""
        drawn: Drawn | None = None
        figures = {}
        for number, each in enumerate(self._attacks):
            own = stage(progress, number, len(self._attacks))
            if isinstance(each, WordAttack):
                drawn = drawn or each.drawn(privatizer, draws, rng)
                figures[each.name] = AttackFigure.of(each.recover(drawn, rng, own))
            if isinstance(each, LabelAttack):
                target = Target(
                    privatizer=privatizer,
                    texts=self._texts,
                    labels=self._labels,
                    rng=rng,
                    progress=own,
                )
                figures[each.name] = AttackFigure.of(each.run(target))
        return figures


def _made(name: str, settings: EvaluationSettings) -> Attack:
    own = {"model": settings.model} if recovers_words(name) else {"repeats": settings.runs}
    return attack_with(name, {"adaptive": settings.adaptive, **own})

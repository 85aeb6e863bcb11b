"""What attacks recover, against what they must."""

import dataclasses
import math
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

import malaprop
from malaprop import TEM, DataError, Laplace, LawChannel, Lexicon, ParameterError, Privatizer
from malaprop.lexicon.bigrams import BigramModel
from malaprop.measure import RecoveredWords, attack, attacks, train_model
from malaprop.measure.adversaries.context import Context
from malaprop.measure.adversaries.repetition import Frequency, Majority
from malaprop.measure.adversaries.words import Seen
from malaprop.privacy.arrays import Floats, Ids
from malaprop.privacy.likelihoods import LawLikelihoods

WORDS = [f"{a}{b}" for a in "bdfgk" for b in "aeio"]
LENGTH = 12


@pytest.fixture(scope="module")
def lexicon() -> Lexicon:
    """Twenty words on a line, which near words follow seldom and far ones often."""
    return Lexicon(WORDS, [[float(i)] for i in range(20)])


def written(texts: int, seed: int) -> list[str]:
    """Texts in which a word is followed by one of three, which are far from each other."""
    rng = np.random.Generator(np.random.PCG64(seed))
    followers = np.random.Generator(np.random.PCG64(99)).permuted(
        np.tile(np.arange(20), (20, 1)), axis=1
    )[:, :3]
    found = []
    for _ in range(texts):
        word, words = int(rng.integers(20)), []
        for _ in range(LENGTH):
            words.append(WORDS[word])
            word = int(rng.choice(followers[word], p=[0.7, 0.2, 0.1]))
        found.append(" ".join(words))
    return found


@pytest.fixture(scope="module")
def model(lexicon: Lexicon) -> BigramModel:
    return train_model(written(2000, 1), lexicon)


def privatizer(lexicon: Lexicon, epsilon: float = 1.0, seed: int = 1) -> Privatizer:
    return Privatizer(lexicon, TEM(epsilon=epsilon), rng=malaprop.seeded_rng(seed))


def run(name: str, own: Privatizer, texts: list[str], **options: Any) -> RecoveredWords:
    result = attack(name, own, texts, rng=malaprop.seeded_rng(1), **options)
    assert isinstance(result, RecoveredWords)
    return result


def test_the_registry_has_every_attack() -> None:
    assert sorted(attacks) == [
        "attribute",
        "authorship",
        "bayes",
        "context",
        "float",
        "frequency",
        "inversion",
        "majority",
        "membership",
    ]
    assert malaprop.measure.attacks is attacks
    for name, cls in attacks.items():
        assert cls.name == name
        assert cls.summary().endswith(".")
        assert all(option.metadata["help"] for option in fields(cls))


@pytest.mark.parametrize("name", ["bayes", "context", "majority"])
def test_without_noise_every_word_is_recovered(
    lexicon: Lexicon, model: BigramModel, name: str
) -> None:
    result = run(name, privatizer(lexicon, 60.0), written(30, 2), model=model)
    assert result.score == result.kept == result.baseline == 1.0
    assert 0.95 < result.interval[0] < result.interval[1] == 1.0


@pytest.mark.parametrize("name", ["bayes", "context", "majority"])
def test_the_result_is_a_frozen_value(lexicon: Lexicon, model: BigramModel, name: str) -> None:
    result = run(name, privatizer(lexicon), written(40, 2), model=model)
    assert 0.0 <= result.interval[0] <= result.score <= result.interval[1] <= 1.0
    assert result.baseline == max(result.kept, result.floor)
    assert (result.words, result.texts) == (40 * LENGTH, 40)
    assert result.likelihoods == "exact, from the law"
    assert result.mechanism["name"] == "tem"
    assert result.model == result.options["model"] == model.fingerprint
    assert sum(group.words for group in result.occurrences) == result.words
    weighted = sum(group.words * group.score for group in result.occurrences) / result.words
    assert weighted == pytest.approx(result.score)
    assert f"{result.score:.1%}" in str(result)
    assert result.to_dict()["interval"] == list(result.interval)
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.score = 1.0  # type: ignore[misc]


def success_without_context(own: Privatizer, prior: Floats, shares: Floats) -> float:
    """How often the likeliest word is right, when words occur as `shares` says."""
    channel = own.channel
    assert isinstance(channel, LawChannel)
    law = np.exp(channel.log_probabilities(np.arange(20)))
    guesses = (prior[:, None] * law).argmax(axis=0)
    return float((shares[guesses] * law[guesses, np.arange(20)]).sum())


def test_bayes_succeeds_as_often_as_the_law_says(lexicon: Lexicon, model: BigramModel) -> None:
    texts = written(3000, 3)
    shares = np.array([sum(text.split().count(word) for text in texts) for word in WORDS])
    own = privatizer(lexicon)
    words = int(shares.sum())
    expected = success_without_context(own, model.prior, shares / words)
    result = run("bayes", own, texts, model=model)
    # 4.9 standard errors are a probability of 1e-6.
    error = 4.9 * math.sqrt(expected * (1 - expected) / words)
    assert abs(result.score - expected) < error
    assert abs(result.score - 1.05 * expected) > error


def test_context_recovers_more_and_a_wrong_context_less(
    lexicon: Lexicon, model: BigramModel
) -> None:
    texts = written(300, 3)
    alone = run("bayes", privatizer(lexicon), texts, model=model)
    found = run("context", privatizer(lexicon), texts, model=model)
    assert found.score > alone.score + 0.2
    assert found.interval[0] > alone.interval[1]
    backwards = train_model((" ".join(text.split()[::-1]) for text in written(2000, 1)), lexicon)
    control = run("context", privatizer(lexicon), texts, model=backwards)
    assert control.score < alone.score + 0.05


def test_more_draws_of_a_word_give_it_away(lexicon: Lexicon) -> None:
    rng = np.random.Generator(np.random.PCG64(1))
    texts = [" ".join([str(rng.choice(WORDS))] * k) for k in (1, 2, 4, 8, 16) for _ in range(300)]
    result = run("majority", privatizer(lexicon, 0.7), texts)
    scores = [group.score for group in result.occurrences]
    assert [group.name for group in result.occurrences][:2] == ["once", "twice"]
    assert scores == sorted(scores)
    assert scores[-1] > scores[0] + 0.3
    alone = run("bayes", privatizer(lexicon, 0.7), texts)
    assert alone.prior.startswith("even")
    assert alone.occurrences[-1].score == pytest.approx(scores[0], abs=0.08)


def seen_of(own: Privatizer, outputs: Ids, same: Ids, prior: Floats, **more: object) -> Seen:
    channel = own.channel
    assert isinstance(channel, LawChannel)
    given = {
        "lengths": np.array([len(outputs)]),
        "reused": False,
        "likelihoods": LawLikelihoods(channel.law),
    }
    return Seen(outputs=outputs, same=same, prior=prior, **(given | more))  # type: ignore[arg-type]


def test_majority_multiplies_the_likelihoods_of_all_draws(lexicon: Lexicon) -> None:
    own = privatizer(lexicon)
    channel = own.channel
    assert isinstance(channel, LawChannel)
    logs = channel.log_probabilities(np.arange(20))
    rng = np.random.Generator(np.random.PCG64(4))
    prior = rng.dirichlet(np.ones(20))
    outputs, same = rng.integers(0, 20, size=60), rng.integers(0, 9, size=60)
    found = Majority(candidates=20).guesses(seen_of(own, outputs, same, prior))
    for label in range(9):
        scores = np.log(prior) + logs[:, outputs[same == label]].sum(axis=1)
        assert (found[same == label] == scores.argmax()).all()
    once = Majority(candidates=20).guesses(
        seen_of(own, np.repeat(3, 5), np.zeros(5, dtype=np.int64), prior, reused=True)
    )
    assert (once == (np.log(prior) + logs[:, 3]).argmax()).all()


def test_frequency_counts_how_often_a_draw_occurs(lexicon: Lexicon) -> None:
    """Word 0 makes up half of all texts: five times the same draw in ten words is word 0."""
    own = privatizer(lexicon, 0.3)
    prior = np.array([0.5, *[0.5 / 19] * 19])
    outputs = np.array([1, 1, 1, 1, 1, 15, 16, 17, 18, 19])
    seen = seen_of(own, outputs, np.arange(10), prior, reused=True)
    found = Frequency().guesses(seen)
    assert (found[:5] == 0).all()
    assert (found[5:] != 0).all()
    rare = dataclasses.replace(seen, prior=np.full(20, 0.05))
    assert (Frequency().guesses(rare)[:5] == 1).all()


def test_with_one_draw_evidence_counts_once_and_places_agree(
    lexicon: Lexicon, model: BigramModel
) -> None:
    """Each distinct word has one draw; contexts of all its places speak together."""
    hits: dict[bool, list[bool]] = {True: [], False: []}
    own, rng = privatizer(lexicon, 1.2), malaprop.seeded_rng(8)
    for text in written(120, 9):
        # Three words, so that two of them seldom have the same draw, with many places each.
        secret = np.array([WORDS.index(word) for word in text.split()[:3] * 4])
        outputs = own.channel.substitute(np.arange(20), rng)[secret]
        for reused, found in hits.items():
            seen = seen_of(own, outputs, secret, model.prior, model=model, reused=reused)
            guesses = Context(candidates=20).guesses(seen)
            found += (guesses == secret).tolist()
            if reused:
                assert all(len(set(guesses[outputs == output])) == 1 for output in outputs)
    assert np.mean(hits[True]) > np.mean(hits[False])


@pytest.mark.parametrize("name", ["bayes", "context", "majority", "frequency"])
def test_a_privatizer_that_reuses_draws_is_attacked_as_such(
    lexicon: Lexicon, model: BigramModel, name: str
) -> None:
    own = Privatizer(lexicon, TEM(epsilon=1.0), repeat="document", rng=malaprop.seeded_rng(1))
    texts = ["ba ba ba be", "ba be ba", *written(60, 4)]
    draws = own.word_draws(texts)
    assert len(set(draws.drawn[:3])) == 1  # one draw for three places
    result = run(name, own, texts, model=model)
    assert result.repeat == "document"
    assert result.score > 0.9 * result.kept
    if name == "majority":  # there is nothing to combine
        again = run("bayes", own.drawing_from(malaprop.seeded_rng(3)), texts, model=model)
        assert run(name, own.drawing_from(malaprop.seeded_rng(3)), texts, model=model).score == (
            again.score
        )


def test_values_that_are_no_words_are_not_attacked() -> None:
    own = Privatizer(epsilon=1.5, rng=malaprop.seeded_rng(1))
    draws = own.word_draws(["The film of 1999 cost $12.50 at 10:30.", None, "Good."])  # type: ignore[list-item]
    words = [own.lexicon.words[i] for i in draws.secret]
    assert words == ["the", "film", "of", "cost", "at", "good"]
    assert draws.lengths.tolist() == [5, 1]


def test_guesses_do_not_depend_on_how_texts_are_cut_into_parts(
    lexicon: Lexicon, model: BigramModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    from malaprop.measure.adversaries import words

    texts = ["", *written(50, 5), "", "!"]
    for name in ("context", "majority"):
        whole = run(name, privatizer(lexicon), texts, model=model)
        with monkeypatch.context() as patch:
            patch.setattr(words, "_PART", 30)
            assert run(name, privatizer(lexicon), texts, model=model) == whole


def test_a_channel_without_a_law_is_estimated(lexicon: Lexicon, model: BigramModel) -> None:
    own = Privatizer(lexicon, Laplace(epsilon=1.0), rng=malaprop.seeded_rng(1))
    result = run("context", own, written(100, 3), model=model, draws=5_000)
    assert result.likelihoods == "estimated from 5,000 draws: a lower bound"
    assert result.score > result.kept + 0.1


def test_an_adaptive_attack_learns_how_frequent_words_are(lexicon: Lexicon) -> None:
    """Half of all words are one word, which the even prior does not say, but the outputs do."""
    rng = np.random.Generator(np.random.PCG64(1))
    words = np.where(rng.random(6000) < 0.5, 7, rng.integers(0, 20, 6000))
    texts = [" ".join(WORDS[i] for i in part) for part in words.reshape(-1, 10)]
    static = run("bayes", privatizer(lexicon, 1.2), texts)
    adapted = run("bayes", privatizer(lexicon, 1.2), texts, adaptive=True)
    # Both scores are shares of 6,000 words: 0.05 are more than 5 standard errors of a difference.
    assert adapted.score > static.score + 0.05
    assert adapted.options["adaptive"] is True
    assert adapted.prior.endswith("adapted to the private text")
    assert adapted.floor > 0.5


@pytest.mark.parametrize("name", ["context", "majority", "frequency"])
def test_all_attacks_on_words_adapt(lexicon: Lexicon, model: BigramModel, name: str) -> None:
    own = Privatizer(lexicon, TEM(epsilon=1.0), repeat="document", rng=malaprop.seeded_rng(1))
    result = run(name, own, written(40, 4), model=model, adaptive=True)
    assert result.model == model.fingerprint
    assert result.score > 0.9 * result.kept


def test_a_model_that_was_trained_on_the_texts_is_refused(lexicon: Lexicon) -> None:
    texts = written(50, 7)
    with pytest.raises(ParameterError, match="trained on these texts"):
        run("context", privatizer(lexicon), texts, model=train_model(texts, lexicon))


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("bayess", {}, "Did you mean 'bayes'"),
        ("bayes", {"epsilon": 1}, "no option 'epsilon'"),
        ("bayes", {"model": 3}, "must be a BigramModel"),
        ("bayes", {"draws": 0}, "whole number, 1 or more"),
        ("context", {"candidates": True}, "whole number, 1 or more"),
        ("context", {}, "needs a bigram model"),
        ("frequency", {}, "one draw"),
        ("bayes", {"labels": [1]}, "takes no labels"),
    ],
)
def test_wrong_options_are_refused(
    lexicon: Lexicon, name: str, options: dict[str, object], message: str
) -> None:
    with pytest.raises(ParameterError, match=message):
        run(name, privatizer(lexicon), ["ba be"], **options)


def test_texts_without_words_are_refused(lexicon: Lexicon) -> None:
    with pytest.raises(DataError, match="no words"):
        run("bayes", privatizer(lexicon), ["", "?!"])
    with pytest.raises(ParameterError, match="several texts"):
        attack("bayes", privatizer(lexicon), "ba be")
    with pytest.raises(ParameterError, match="takes a Privatizer"):
        attack("bayes", lexicon, ["ba"])  # type: ignore[arg-type]


def test_nothing_shows_the_secret(lexicon: Lexicon) -> None:
    draws = privatizer(lexicon).word_draws(["ba be", "bi"])
    assert draws.secret.tolist() == [0, 1, 2]
    assert draws.lengths.tolist() == [2, 1]
    assert repr(draws) == "WordDraws()"
    assert "secret" not in {each.name for each in dataclasses.fields(Seen)}


@pytest.mark.parametrize("name", ["bayes", "context"])
def test_english_is_attacked_with_the_model_that_ships(name: str) -> None:
    texts = ["The doctor said that the patient had to stay in the hospital for a week."] * 3
    texts += ["I would like to go to the beach with my family in the summer of this year."] * 3
    own = Privatizer(epsilon=1.5, rng=malaprop.seeded_rng(1))
    result = run(name, own, texts)
    assert "wordsegment" in result.prior
    assert result.score > result.kept > 0.1

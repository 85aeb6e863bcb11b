"""Neural models of language: a GGUF file, by llama.cpp, or a Hugging Face folder, by transformers.

Models are data of others: a GGUF file and safetensors hold numbers, and no code of theirs is run.
"""

import hashlib
import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from inspect import signature
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from malaprop.privacy.errors import DataError, MissingExtraError, ParameterError

Logs = NDArray[np.float32]
"""ln of the probability of each token."""


@dataclass(frozen=True, eq=False)
class Prefix:
    """What a model has read, with what it expects next."""

    place: int
    """Where the model keeps it."""
    length: int
    """Its tokens."""
    next: Logs = field(repr=False)
    """ln of the probability of each token to come."""


class CausalModel(ABC):
    """A model that reads from left to right."""

    name: str
    fingerprint: str

    @abstractmethod
    def tokens(self, text: str) -> tuple[int, ...]:
        """Return the tokens of a text, without those that mark its beginning."""

    @abstractmethod
    def start(self) -> Prefix:
        """Return the beginning of a text; all that were read before are forgotten."""

    @abstractmethod
    def extended(self, parts: Sequence[tuple[Prefix, Sequence[int]]]) -> list[tuple[float, Prefix]]:
        """Read tokens after each prefix; return ln of their probability, and the longer prefix."""

    @abstractmethod
    def forget(self, prefixes: Sequence[Prefix]) -> None:
        """Free the places of prefixes."""


class MaskedModel(ABC):
    """A model that fills gaps, with what stands on both sides."""

    name: str
    fingerprint: str

    @abstractmethod
    def tokens(self, text: str) -> tuple[int, ...]:
        """Return the tokens of a text, without those that mark its ends."""

    @abstractmethod
    def filled(self, gaps: Sequence[tuple[Sequence[int], int, Sequence[int]]]) -> list[Logs]:
        """Return, for each gap of so many tokens between two texts, ln of each token's probability.

        The result has a row for each token of the gap.
        """


@cache
def open_language_model(path: str | os.PathLike[str]) -> CausalModel | MaskedModel:
    """Open a model: a `.gguf` file, or a folder with `config.json` and safetensors."""
    place = Path(path).expanduser()
    if place.is_dir() and (place / "config.json").is_file():
        return _of_folder(place)
    if place.is_file() and place.suffix.lower() == ".gguf":
        return GgufModel(place)
    what = "no .gguf file" if place.exists() else "not there"
    raise ParameterError(
        f"The language model {place} is {what}: name a GGUF file, or a folder of a Hugging Face "
        "model, which has a config.json."
    )


def _digest(*paths: Path) -> str:
    digest = hashlib.sha256()
    for path in paths:
        with path.open("rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()


# GGUF, by llama.cpp.

_CELLS: Final = 8192  # tokens that are held, of all prefixes
_BATCH: Final = 512
_PLACES: Final = 256  # prefixes that are held, the beginning among them


class GgufModel(CausalModel):
    """A model of a GGUF file: SmolLM, Llama, Qwen and others, also quantised."""

    def __init__(self, path: Path) -> None:
        try:
            import llama_cpp
        except ImportError:
            raise MissingExtraError("llama-cpp-python", "neural", "A GGUF model") from None
        self._lib: Any = llama_cpp
        self._quiet = llama_cpp.llama_log_callback(lambda level, text, data: None)
        llama_cpp.llama_log_set(self._quiet, None)
        llama_cpp.llama_backend_init()
        options = llama_cpp.llama_model_default_params()
        self._model = llama_cpp.llama_model_load_from_file(os.fsencode(path), options)
        if not self._model:
            raise DataError(f"{path} cannot be read as a GGUF model.")
        self._vocab = llama_cpp.llama_model_get_vocab(self._model)
        self._size = int(llama_cpp.llama_vocab_n_tokens(self._vocab))
        held = llama_cpp.llama_context_default_params()
        held.n_ctx, held.n_batch, held.n_ubatch = _CELLS, _BATCH, _BATCH
        held.n_seq_max, held.kv_unified = _PLACES, True
        held.n_threads = held.n_threads_batch = 1
        self._context = llama_cpp.llama_init_from_model(self._model, held)
        if not self._context:
            raise DataError(f"The model {path} needs more memory than there is.")
        self._memory = llama_cpp.llama_get_memory(self._context)
        self._free: list[int] = []
        self.name, self.fingerprint = path.name, _digest(path)

    def tokens(self, text: str) -> tuple[int, ...]:
        raw = text.encode()
        room = (self._lib.llama_token * (len(raw) + 8))()
        count = self._lib.llama_tokenize(self._vocab, raw, len(raw), room, len(room), False, False)
        return tuple(room[:count])

    def start(self) -> Prefix:
        self._lib.llama_memory_clear(self._memory, True)
        self._free = list(range(_PLACES - 1, 0, -1))
        first = int(self._lib.llama_vocab_bos(self._vocab))
        ((rows, _),) = self._read([(0, 0, (max(first, 0),))])
        return Prefix(0, 1, rows[-1])

    def extended(self, parts: Sequence[tuple[Prefix, Sequence[int]]]) -> list[tuple[float, Prefix]]:
        longer: list[tuple[float, Prefix]] = []
        jobs = []
        for prefix, tokens in parts:
            place = self._free.pop()
            self._lib.llama_memory_seq_cp(self._memory, prefix.place, place, -1, -1)
            jobs.append((place, prefix.length, tuple(tokens)))
        for (prefix, tokens), (rows, place) in zip(parts, self._read(jobs), strict=True):
            seen = [prefix.next, *rows[:-1]]
            total = sum(float(logs[token]) for logs, token in zip(seen, tokens, strict=True))
            longer.append((total, Prefix(place, prefix.length + len(tokens), rows[-1])))
        return longer

    def forget(self, prefixes: Sequence[Prefix]) -> None:
        for prefix in prefixes:
            if prefix.place:
                self._lib.llama_memory_seq_rm(self._memory, prefix.place, -1, -1)
                self._free.append(prefix.place)

    def _read(
        self, jobs: Sequence[tuple[int, int, tuple[int, ...]]]
    ) -> list[tuple[list[Logs], int]]:
        """Read tokens at places; return what the model expects after each of them."""
        done: list[tuple[list[Logs], int]] = []
        start = 0
        while start < len(jobs):
            stop, total = start, 0
            while stop < len(jobs) and (stop == start or total + len(jobs[stop][2]) <= _BATCH):
                total += len(jobs[stop][2])
                stop += 1
            done += self._decoded(jobs[start:stop], total)
            start = stop
        return done

    def _decoded(
        self, jobs: Sequence[tuple[int, int, tuple[int, ...]]], total: int
    ) -> list[tuple[list[Logs], int]]:
        batch = self._lib.llama_batch_init(total, 0, 1)
        try:
            flat = [
                (place, at + i, token) for place, at, some in jobs for i, token in enumerate(some)
            ]
            for row, (place, position, token) in enumerate(flat):
                batch.token[row], batch.pos[row] = token, position
                batch.n_seq_id[row], batch.seq_id[row][0], batch.logits[row] = 1, place, True
            batch.n_tokens = total
            if self._lib.llama_decode(self._context, batch):
                raise DataError("The language model could not read on: its memory is full.")
            done, row = [], 0
            for place, _, some in jobs:
                done.append(([self._logs(row + i) for i in range(len(some))], place))
                row += len(some)
            return done
        finally:
            self._lib.llama_batch_free(batch)

    def _logs(self, row: int) -> Logs:
        raw = self._lib.llama_get_logits_ith(self._context, row)
        return normalised(np.ctypeslib.as_array(raw, (self._size,)))


def normalised(scores: Logs) -> Logs:
    """Return ln of the probabilities whose unnormalised logs these are."""
    shifted = scores - scores.max(axis=-1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True)))


# Hugging Face, by transformers.


def _of_folder(path: Path) -> CausalModel | MaskedModel:
    """Open a folder: what its architecture is called tells whether it is causal or masked."""
    try:
        import torch
        import transformers
    except ImportError:
        raise MissingExtraError("transformers", "transformers", "A Hugging Face model") from None
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    weights = sorted(path.glob("*.safetensors"))
    if not weights:
        raise ParameterError(
            f"The folder {path} has no .safetensors: other weights may run code, and are not read."
        )
    options: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
    try:
        config = transformers.AutoConfig.from_pretrained(path, **options)
        masked = any("MaskedLM" in each for each in config.architectures or ())
        kind: Any = (
            transformers.AutoModelForMaskedLM if masked else transformers.AutoModelForCausalLM
        )
        model, found = kind.from_pretrained(
            path, use_safetensors=True, output_loading_info=True, **options
        )
        tokenizer: Any = transformers.AutoTokenizer.from_pretrained(path, **options)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(
            f"{path} cannot be read as a language model by transformers: {type(error).__name__}."
        ) from None
    if found["missing_keys"]:  # which transformers would have drawn at random
        raise DataError(
            f"{path} is no language model: it lacks weights, such as those of an encoder's last "
            "layer. Name the folder of a causal or masked model."
        )
    model.eval()
    if masked:
        return HuggingMasked(path.name, _digest(*weights), model, tokenizer, torch)
    cache = transformers.DynamicCache
    return HuggingCausal(path.name, _digest(*weights), model, tokenizer, torch, cache)


class _Hugging:
    def __init__(self, name: str, fingerprint: str, model: Any, tokenizer: Any, torch: Any) -> None:
        self.name, self.fingerprint = name, fingerprint
        self._model, self._tokenizer, self._torch = model, tokenizer, torch

    def tokens(self, text: str) -> tuple[int, ...]:
        return tuple(self._tokenizer.encode(text, add_special_tokens=False))

    def _scores(self, rows: Sequence[Sequence[int]]) -> list[Logs]:
        """Return ln of each token's probability at each place of some rows of tokens."""
        longest = max(map(len, rows))
        ids = self._torch.zeros((len(rows), longest), dtype=self._torch.long)
        mask = self._torch.zeros_like(ids)
        for number, row in enumerate(rows):
            ids[number, : len(row)] = self._torch.tensor(row)
            mask[number, : len(row)] = 1
        with self._torch.inference_mode():
            scores = self._model(input_ids=ids, attention_mask=mask).logits
        return [normalised(scores[i, : len(row)].float().numpy()) for i, row in enumerate(rows)]


class HuggingCausal(_Hugging, CausalModel):
    """A causal model. What it keeps of a prefix is read on from, where its layers allow it."""

    def __init__(
        self, name: str, fingerprint: str, model: Any, tokenizer: Any, torch: Any, cache: Any
    ) -> None:
        super().__init__(name, fingerprint, model, tokenizer, torch)
        self._cache = cache
        self.held: dict[int, _Held] = {}

    def start(self) -> Prefix:
        first = self._tokenizer.bos_token_id
        first = self._tokenizer.eos_token_id if first is None else first
        ((logs, held),) = self._read([(_Held((), None), (0 if first is None else first,))])
        self.held = {0: held}
        return Prefix(0, 1, logs[-1])

    def extended(self, parts: Sequence[tuple[Prefix, Sequence[int]]]) -> list[tuple[float, Prefix]]:
        longer = []
        read = self._read([(self.held[prefix.place], tuple(tokens)) for prefix, tokens in parts])
        for (prefix, tokens), (logs, held) in zip(parts, read, strict=True):
            seen = [prefix.next, *logs[:-1]]
            total = sum(float(row[token]) for row, token in zip(seen, tokens, strict=True))
            place = max(self.held) + 1
            self.held[place] = held
            longer.append((total, Prefix(place, len(held.tokens), logs[-1].copy())))
        return longer

    def forget(self, prefixes: Sequence[Prefix]) -> None:
        for prefix in prefixes:
            if prefix.place:
                del self.held[prefix.place]

    def _read(self, jobs: Sequence[tuple["_Held", tuple[int, ...]]]) -> list[tuple[Logs, "_Held"]]:
        """Read tokens after what is held; return what is expected after each, and what to hold."""
        if any(held.layers is None and held.tokens for held, _ in jobs):
            rows = [(*held.tokens, *tokens) for held, tokens in jobs]
            return [
                (logs[len(held.tokens) :], _Held(row, None))
                for (held, _), row, logs in zip(jobs, rows, self._scores(rows), strict=True)
            ]
        torch = self._torch
        before = max(len(held.tokens) for held, _ in jobs)
        ids = torch.zeros((len(jobs), max(len(tokens) for _, tokens in jobs)), dtype=torch.long)
        mask = torch.zeros((len(jobs), before + ids.shape[1]), dtype=torch.long)
        places = torch.zeros_like(ids)
        for row, (held, tokens) in enumerate(jobs):
            start, size = len(held.tokens), len(tokens)
            ids[row, :size] = torch.tensor(tokens)
            mask[row, before - start : before + size] = 1
            places[row] = start + torch.arange(ids.shape[1])
        with torch.inference_mode():
            past = self._stacked([held for held, _ in jobs], before)
            known = {"past_key_values": past, "use_cache": True, "attention_mask": mask}
            if "position_ids" in signature(self._model.forward).parameters:
                known["position_ids"] = places
            made = self._model(input_ids=ids, **known)
            kept = self._layers(made, mask.shape[1]) if "position_ids" in known else None
        done = []
        for row, (held, tokens) in enumerate(jobs):
            at = slice(before - len(held.tokens), before + len(tokens))
            own = kept and [[part[row, :, at].clone() for part in layer] for layer in kept]
            logs = normalised(made.logits[row, : len(tokens)].float().numpy())
            done.append((logs, _Held((*held.tokens, *tokens), own)))
        return done

    def _stacked(self, helds: Sequence["_Held"], longest: int) -> Any:
        """Return the keys and values of prefixes in one cache, each at the end of its row."""
        cache = self._cache()
        first = helds[0].layers or []
        for number, pair in enumerate(first):
            both = []
            for side, part in enumerate(pair):
                rows = part.new_zeros((len(helds), part.shape[0], longest, part.shape[2]))
                for row, held in enumerate(helds):
                    own = (held.layers or [])[number][side]
                    rows[row, :, longest - own.shape[1] :] = own
                both.append(rows)
            cache.update(*both, number)
        return cache

    def _layers(self, made: Any, length: int) -> Any:
        """Return the keys and values of each layer; None if a layer keeps something else."""
        layers = getattr(made.past_key_values, "layers", None)
        if not layers or any(type(each).__name__ != "DynamicLayer" for each in layers):
            return None
        if any(each.keys.shape[-2] != length for each in layers):
            return None
        return [(each.keys, each.values) for each in layers]


class _Held(NamedTuple):
    """A prefix: its tokens, and each layer's keys and values; None if it is to be read anew."""

    tokens: tuple[int, ...]
    layers: Any


class HuggingMasked(_Hugging, MaskedModel):
    """A masked model, such as BERT and RoBERTa."""

    def filled(self, gaps: Sequence[tuple[Sequence[int], int, Sequence[int]]]) -> list[Logs]:
        first, last = self._tokenizer.cls_token_id, self._tokenizer.sep_token_id
        gap = self._tokenizer.mask_token_id
        rows = [(first, *left, *[gap] * size, *right, last) for left, size, right in gaps]
        return [
            logs[1 + len(left) : 1 + len(left) + size]
            for (left, size, _), logs in zip(gaps, self._scores(rows), strict=True)
        ]

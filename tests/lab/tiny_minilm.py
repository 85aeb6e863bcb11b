"""A model of sentences of the real form, with few random weights."""

import json
from pathlib import Path

import numpy as np

from malaprop.lab.datasets import DataFiles

WIDTH, WIDE, LAYERS = 24, 48, 6


def tiny_minilm(folder: Path, words: tuple[str, ...]) -> DataFiles:
    """Write a model for some words into a folder."""
    rng = np.random.default_rng(3)
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *words, "##s"]
    shapes = {
        "embeddings.word_embeddings.weight": (len(vocabulary), WIDTH),
        "embeddings.position_embeddings.weight": (512, WIDTH),
        "embeddings.token_type_embeddings.weight": (2, WIDTH),
        "embeddings.LayerNorm": (WIDTH,),
    }
    for number in range(LAYERS):
        layer = f"encoder.layer.{number}."
        for name in ("query", "key", "value"):
            shapes[f"{layer}attention.self.{name}"] = (WIDTH, WIDTH)
        shapes[layer + "attention.output.dense"] = (WIDTH, WIDTH)
        shapes[layer + "intermediate.dense"] = (WIDE, WIDTH)
        shapes[layer + "output.dense"] = (WIDTH, WIDE)
        shapes[layer + "attention.output.LayerNorm"] = (WIDTH,)
        shapes[layer + "output.LayerNorm"] = (WIDTH,)
    tensors = {}
    for name, shape in shapes.items():
        if name.endswith(".weight"):
            tensors[name] = rng.normal(size=shape)
        else:
            tensors[name + ".weight"] = rng.normal(size=shape) / len(shape) ** 2
            tensors[name + ".bias"] = 0.1 * rng.normal(size=shape[:1])
    header, content = {}, b""
    for name, values in tensors.items():
        own = values.astype("<f4").tobytes()
        offsets = [len(content), len(content) + len(own)]
        header[name] = {"dtype": "F32", "shape": values.shape, "data_offsets": offsets}
        content += own
    told = json.dumps(header).encode()
    paths = {name: folder / name for name in ("vocab.txt", "model.safetensors")}
    paths["vocab.txt"].write_text("\n".join(vocabulary), "utf-8")
    paths["model.safetensors"].write_bytes(len(told).to_bytes(8, "little") + told + content)
    return DataFiles(name="minilm", paths=paths)

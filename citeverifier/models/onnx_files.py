"""The ONNX graphs of a late-interaction checkpoint, for onnxruntime in place of torch (`onnx_engine.py`).

encoder.onnx  token ids and attention mask -> token vectors, with a reader also its keys and values
head.onnx     a statement's token vectors and their matches -> weights of the tokens, logits
reader.onnx   of a reader (models/reader.py): statements' token ids, keys and values of their documents -> logits,
              of tokens, of contradictions

Weights lie in the checkpoint's safetensors files, which the graphs point into.
"""

from __future__ import annotations

import json
import struct
import warnings
from pathlib import Path
from typing import Any

from citeverifier.extras import brought_by
from citeverifier.models.late_interaction_tokens import READER

ENCODER, HEAD_GRAPH, READER_GRAPH = "encoder.onnx", "head.onnx", "reader.onnx"
WEIGHTS = {"encoder.": "model.safetensors", "reader.": READER}  # by the beginning of their names in a graph


def onnx_files(folder: Path) -> dict[str, bytes]:
    """File names and contents for a checkpoint folder, which is read only; they belong beside its weights.

    Takes some ten seconds, with a reader half a minute.
    """
    import torch

    from citeverifier.models.checkpoint import load_checkpoint

    model, _, _ = load_checkpoint(folder, torch.float32)
    model.encoder.set_attn_implementation("eager")
    encoder, head, reader = _modules(model)
    inputs = {name: torch.ones(2, 8, dtype=torch.long) for name in ("input_ids", "attention_mask")}  # not the same one
    matched = {"tokens": torch.zeros(5, model.config.hidden_size), "matches": torch.zeros(3, 5)}
    graphs = {
        ENCODER: _graph(encoder, inputs, [(0, 1), (0, 1)], ["vectors", *(["both"] if model.reader else [])]),
        HEAD_GRAPH: _graph(head, matched, [(0,), (0, 1)], ["weights", "logits"]),
    }
    if model.reader is not None:
        size = (2, 11, model.config.num_hidden_layers, 2, model.config.hidden_size)
        read = inputs | {
            "counted": torch.ones(2, 8, dtype=torch.bool), "both": torch.zeros(size),
            "read": torch.ones(2, 11, dtype=torch.bool),
        }  # fmt: skip
        graphs[READER_GRAPH] = _graph(reader, read, [(0, 1)] * 5, ["logits", "words", "contradicted"])
    return {name: _without_weights(graph, folder).SerializeToString() for name, graph in graphs.items()}


def _modules(model: Any) -> tuple[Any, Any, Any]:
    """What each graph computes, by a `LateInteraction`: encoder, head, reader."""
    import torch
    from torch import Tensor

    class Part(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.encoder, self.head, self.reader = model.encoder, model.head, model.reader

    class Encoder(Part):
        def forward(self, input_ids: Tensor, attention_mask: Tensor) -> tuple[Tensor, ...]:
            encoded = self.encoder(input_ids=input_ids, attention_mask=attention_mask, output_hidden_states=True)
            *below, vectors = encoded.hidden_states
            if self.reader is None:
                return (vectors,)
            both = [torch.stack(pair, dim=2) for pair in self.reader.keys_and_values(below)]
            return vectors, torch.stack(both, dim=2)

    class Head(Part):
        def forward(self, tokens: Tensor, matches: Tensor) -> tuple[Tensor, Tensor]:
            every = torch.ones_like(matches[:1], dtype=torch.bool)
            weights = self.head.log_weights(tokens.unsqueeze(0), every).exp().squeeze(0)
            return weights, self.head(tokens.unsqueeze(0), every, matches).squeeze(1)

    class Read(Part):
        def forward(
            self, input_ids: Tensor, attention_mask: Tensor, counted: Tensor, both: Tensor, read: Tensor
        ) -> tuple[Tensor, Tensor, Tensor]:
            documents = ((both[:, :, layer, 0], both[:, :, layer, 1]) for layer in range(both.shape[2]))
            embedded = self.reader.embedded(self.encoder, input_ids)
            logits, words, contradicted = self.reader(embedded, attention_mask, counted, documents, read)
            return logits.squeeze(1), words, contradicted.squeeze(1)

    return Encoder(), Head(), Read()


def _graph(module: Any, inputs: dict[str, Any], dynamic: list[tuple[int, ...]], outputs: list[str]) -> Any:
    """A module as ONNX, weights under their own names; `dynamic`: of each input the dimensions of any size."""
    import torch

    shapes = tuple(dict.fromkeys(dimensions, torch.export.Dim.DYNAMIC) for dimensions in dynamic)
    with brought_by("train"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the exporter, about itself
        program = torch.onnx.export(
            module.eval(), tuple(inputs.values()), input_names=list(inputs), output_names=outputs,
            dynamic_shapes=shapes, dynamo=True, external_data=False, optimize=False, verbose=False,
        )  # fmt: skip
    model = program.model_proto  # type: ignore[union-attr]
    for part in (model, model.graph, *model.graph.node, *model.graph.value_info, *model.graph.initializer):
        part.ClearField("metadata_props")  # stack traces, with paths of this machine
    return model


def _without_weights(model: Any, folder: Path) -> Any:
    """The graph with its weights read from the folder's safetensors files, made float32 where these hold less."""
    from onnx import TensorProto, helper

    files = [(prefix, folder / name) for prefix, name in WEIGHTS.items() if (folder / name).is_file()]
    stored = {f"{prefix}{name}": place for prefix, file in files for name, place in _places(file).items()}
    widened = []
    for tensor in list(model.graph.initializer):
        name = tensor.name
        if name not in stored:  # not learnt: positions and such; or of the head, which is small
            continue
        _point(tensor, *stored[name])
        if tensor.data_type != TensorProto.FLOAT:
            tensor.name = f"{name}.stored"
        if tensor.data_type == TensorProto.INT8:
            scale = model.graph.initializer.add(name=f"{name}.scale", dims=tensor.dims[:1])
            _point(scale, *stored[scale.name])
            widened.append(helper.make_node("DequantizeLinear", [tensor.name, scale.name], [name], axis=0))
        elif tensor.data_type != TensorProto.FLOAT:
            widened.append(helper.make_node("Cast", [tensor.name], [name], to=TensorProto.FLOAT))
    nodes = [*widened, *model.graph.node]
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    return model


def _point(tensor: Any, kind: str, place: dict[str, str]) -> None:
    """Let a tensor of a graph be read from a file."""
    from onnx import StringStringEntryProto, TensorProto

    kinds = {"F32": TensorProto.FLOAT, "F16": TensorProto.FLOAT16, "BF16": TensorProto.BFLOAT16, "I8": TensorProto.INT8}
    tensor.ClearField("raw_data")
    tensor.data_type, tensor.data_location = kinds[kind], TensorProto.EXTERNAL
    tensor.external_data.extend(StringStringEntryProto(key=key, value=value) for key, value in place.items())


def _places(file: Path) -> dict[str, tuple[str, dict[str, str]]]:
    """Of each tensor of a safetensors file its number format, and where it lies, as ONNX says it."""
    with file.open("rb") as opened:
        (length,) = struct.unpack("<Q", opened.read(8))
        header = json.loads(opened.read(length))
    header.pop("__metadata__", None)
    places = {}
    for name, tensor in header.items():
        begin, end = tensor["data_offsets"]
        place = {"location": file.name, "offset": str(8 + length + begin), "length": str(end - begin)}
        places[name] = tensor["dtype"], place
    return places

"""The ONNX graphs of a late-interaction checkpoint, for onnxruntime in place of torch (`onnx_engine.py`).

encoder.onnx   token ids and attention mask -> token vectors; without weights: it points into model.safetensors
head.onnx      a statement's token vectors and their matches -> weights of the tokens, logits
"""

from __future__ import annotations

import json
import struct
import warnings
from pathlib import Path
from typing import Any

from citeverifier.extras import brought_by

ENCODER, HEAD_GRAPH, WEIGHTS = "encoder.onnx", "head.onnx", "model.safetensors"


def onnx_files(folder: Path) -> dict[str, bytes]:
    """File names and contents for a checkpoint folder, which is read only; they belong beside its weights.

    Takes some ten seconds.
    """
    import torch

    from citeverifier.models.checkpoint import load_checkpoint

    model, _, _ = load_checkpoint(folder, torch.float32)
    model.encoder.set_attn_implementation("eager")

    class Encoder(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.encoder = model.encoder

        def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
            vectors: torch.Tensor = self.encoder(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
            return vectors

    class Head(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.head = model.head

        def forward(self, tokens: torch.Tensor, matches: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            every = torch.ones_like(matches[:1], dtype=torch.bool)
            weights = self.head.log_weights(tokens.unsqueeze(0), every).exp().squeeze(0)
            return weights, self.head(tokens.unsqueeze(0), every, matches).squeeze(1)

    inputs = {name: torch.ones(2, 8, dtype=torch.long) for name in ("input_ids", "attention_mask")}  # not the same one
    encoder = _graph(Encoder(), inputs, [(0, 1), (0, 1)], ["vectors"])
    tokens = torch.zeros(5, model.config.hidden_size)
    head = _graph(Head(), {"tokens": tokens, "matches": torch.zeros(3, 5)}, [(0,), (0, 1)], ["weights", "logits"])
    return {
        ENCODER: _without_weights(encoder, folder / WEIGHTS).SerializeToString(),
        HEAD_GRAPH: head.SerializeToString(),
    }


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


def _without_weights(model: Any, weights: Path) -> Any:
    """The graph with its weights read from a safetensors file, cast to float32 where that holds half precision."""
    from onnx import StringStringEntryProto, TensorProto, helper

    kinds = {"F32": TensorProto.FLOAT, "F16": TensorProto.FLOAT16, "BF16": TensorProto.BFLOAT16}
    with weights.open("rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
    casts = []
    for tensor in model.graph.initializer:
        stored = header.get(tensor.name.removeprefix("encoder."))
        if stored is None:  # not learnt: positions and such
            continue
        begin, end = stored["data_offsets"]
        place = {"location": weights.name, "offset": str(8 + length + begin), "length": str(end - begin)}
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.extend(StringStringEntryProto(key=key, value=value) for key, value in place.items())
        tensor.data_type = kinds[stored["dtype"]]
        if tensor.data_type != TensorProto.FLOAT:
            name = tensor.name
            tensor.name = f"{name}.stored"
            casts.append(helper.make_node("Cast", [tensor.name], [name], to=TensorProto.FLOAT))
    nodes = [*casts, *model.graph.node]
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    return model

"""The model card, written from the run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from citeverifier.models.checkpoint import CheckpointConfig

_CROSS_ENCODER_USE = """
```python
from sentence_transformers import CrossEncoder

model = CrossEncoder("PATH")
model.predict([("Warsaw lies on the Vistula.", "Warsaw: The capital of Poland stands on the Vistula.")])
```

Any runtime for one-label sequence classifiers (transformers, vLLM `--runner pooling`, text-embeddings-inference) gives
the same sigmoid, as long as the pair is rendered as above and fits {max_length} tokens.
"""


def model_card(config: CheckpointConfig, report: Mapping[str, Any]) -> str:
    """README.md of a checkpoint: what it answers, how a pair is rendered, data with hashes, dev results, limits."""
    late = config.shape == "late_interaction"
    dev = report["dev"]
    data = json.dumps(report["data"], indent=2, ensure_ascii=False)
    return f"""---
library_name: {"citeverifier" if late else "sentence-transformers"}
pipeline_tag: text-classification
base_model: {config.base_model}
language: [{", ".join(config.languages)}]
tags: [citation-verification, ordinal, {config.shape.replace("_", "-")}]
---

# Citation verifier ({config.shape.replace("_", "-")})

Answers how far documents support a statement: none, partial or full. One logit z, two cut points:
`P(support >= partial) = sigmoid(z)`, `P(support = full) = sigmoid(z - {config.delta:.4f})`.

| | partial | full |
|---|---|---|
| threshold fitted on dev | {config.thresholds["partial"]:.4f} | {config.thresholds["full"]:.4f} |
| AUROC on dev | {_value(dev["auroc_partial"])} | {_value(dev["auroc_full"])} |

`citeverifier` reads `delta` ({config.delta:.4f}), temperature ({
        config.temperature:.4f}, already folded in) and thresholds from `config.json`.

## How a pair is rendered

`{config.rendering}`: a document reads `TITLE: TEXT`; several are joined by a blank line; the statement comes first, the
premise second{"; context follows the statement after ` | `" if config.reads_context and not late else ""}.
{
        _CROSS_ENCODER_USE.format(max_length=config.max_length)
        if not late
        else '''
The encoder is a plain `AutoModel`; the head lies beside it in `head.safetensors`. Statement and documents are encoded
apart.
'''
    }
## Training

{report["steps"]} steps, {report["seconds"]} s, base model `{config.base_model}`. Data:

```json
{data}
```

## Limits

Scores say whether the given text supports the statement, not whether the statement is true. Dev results are on data of
the same kind as the training data; other text may be harder.
"""


def _value(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"

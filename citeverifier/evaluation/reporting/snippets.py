"""Code for a model card: how each runtime scores the card's example pair. Tests run these blocks as they are."""

from __future__ import annotations

from citeverifier.models.checkpoint import CheckpointConfig
from citeverifier.records import Document, Pair
from citeverifier.text.rendering import render_pair

EXAMPLE = Pair(
    "1", "q", "q/s0", "en", "q", "Warsaw lies on the Vistula.",
    (Document("Warsaw", "The capital of Poland stands on the Vistula."),
     Document("Vistula", "The Vistula is the longest river in Poland.")),
    "mine", "Which river flows through Warsaw?",
)  # fmt: skip


def snippets(name: str, config: CheckpointConfig) -> str:
    """The Use section: this package alone for late interaction, every runtime for a cross-encoder."""
    first, second = render_pair(EXAMPLE, context=False)
    texts = f"statement = {_quoted(first)}\ndocuments = {_quoted(second)}"
    partial, full = config.thresholds["partial"], config.thresholds["full"]
    decide = f"""print("partial", round(partial, 4), partial >= {partial:.4f})
print("full", round(full, 4), full >= {full:.4f})"""
    # sigmoid(z - delta), from sigmoid(z)
    from_score = f"full = 1 / (1 + (1 - partial) / partial * math.exp({config.delta:.4f}))\n{decide}"
    own = _own(name)
    if config.shape == "late_interaction":
        return own
    return f"""{own}
Other runtimes give `sigmoid(z)`, support at least partial, as long as the pair is rendered as above and has at most
{config.max_length} tokens; they neither window nor pack longer ones, and some cut them silently.

### sentence-transformers

```python
import math

from sentence_transformers import CrossEncoder

model = CrossEncoder("{name}")
{texts}
partial = float(model.predict([(statement, documents)])[0])
{from_score}
```

### transformers

```python
import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("{name}")
model = AutoModelForSequenceClassification.from_pretrained("{name}").eval()
{texts}
with torch.inference_mode():
    z = model(**tokenizer(statement, documents, return_tensors="pt")).logits[0, 0]
partial, full = torch.sigmoid(z).item(), torch.sigmoid(z - {config.delta:.4f}).item()
{decide}
```

### vLLM

```bash
vllm serve {name} --runner pooling --dtype float32
```

```python
import json
import math
import urllib.request

{texts}
body = {{"model": "{name}", "text_1": [statement], "text_2": [documents]}}
request = urllib.request.Request(
    "http://127.0.0.1:8000/score", json.dumps(body).encode(), {{"Content-Type": "application/json"}}
)
with urllib.request.urlopen(request) as answer:
    partial = json.load(answer)["data"][0]["score"]
{from_score}
```

### text-embeddings-inference

```bash
docker run -p 8080:80 -e HF_TOKEN ghcr.io/huggingface/text-embeddings-inference:cpu-1.8 --model-id {name}
```

```python
import json
import math
import urllib.request

{texts}
body = {{"inputs": [[statement, documents]], "raw_scores": False, "truncate": False}}
request = urllib.request.Request(
    "http://127.0.0.1:8080/predict", json.dumps(body).encode(), {{"Content-Type": "application/json"}}
)
with urllib.request.urlopen(request) as answer:
    partial = json.load(answer)[0][0]["score"]
{from_score}
```
"""


def _own(name: str) -> str:
    documents = ",\n".join(
        f"    Document({_quoted(document.title)}, {_quoted(document.text)})" for document in EXAMPLE.documents
    )
    return f"""### citeverifier

```python
from citeverifier.records import Document, Pair, Support
from citeverifier.verifiers.ordinal import OrdinalVerifier

verifier = OrdinalVerifier("{name}")
documents = (
{documents},
)
pair = Pair("1", "q", "q/s0", "en", "q", {_quoted(EXAMPLE.statement)}, documents, kind="mine")
for level in (Support.PARTIAL, Support.FULL):
    score = verifier.score([pair], level).values[0]
    print(level.label, round(float(score), 4), score >= verifier.thresholds[level])
```
"""


def _quoted(text: str) -> str:
    """A Python string literal in double quotes."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'

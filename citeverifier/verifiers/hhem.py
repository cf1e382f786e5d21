"""HHEM 2.1 open (Vectara): a T5 encoder that says whether a text is consistent with its premise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from citeverifier.models.device import Dtype, own_device, runs_bf16, torch_dtype
from citeverifier.records import Pair, Support
from citeverifier.verifiers.base import Scorer, Scores
from citeverifier.verifiers.once import Once

_PREFIX = "t5."
_TIED = "transformer.encoder.embed_tokens.weight"  # transformer.shared.weight again


class HHEM(Scorer):
    """P(consistent), the greatest of any chunk of the premise, for both levels.

    The published model comes with code of its own. None of it is run: its weights are those of a T5 token classifier on
    the foundation's config, read at the first token, and are loaded into that. The statement is not split, as there;
    relative positions set no limit, `max_length` bounds memory (there nothing is cut either).

    Args:
        path: hub id or folder with `model.safetensors`.
        foundation: hub id or folder of the T5 whose config and tokenizer it has.
        prompt: the text it was trained on, with {premise} and {statement}.
        max_length: tokens of a prompt; longer premises are read in chunks.
        dtype: "float32", "bfloat16", or "auto": bfloat16 where the processor has it.

    Raises:
        FileNotFoundError: no weights there.
        ValueError: weights that are not such a classifier's.
    """

    name = "hhem"

    def __init__(self, path: str, foundation: str, prompt: str, max_length: int = 2048, dtype: Dtype = "auto") -> None:
        from citeverifier.models.checkpoint import load_tokenizer, local_folder
        from citeverifier.models.grid import MARGIN, Cells, Chunks, Grid, beside, greatest, whole

        self.path, self.foundation, self.prompt, self.max_length = path, foundation, prompt, max_length
        self.bf16 = runs_bf16(dtype)
        self._folder = local_folder(path)
        self._model = token_classifier(self._folder / "model.safetensors", foundation, torch_dtype(self.bf16))
        tokenizer = load_tokenizer(foundation, None)

        def encode(chunk: str, part: str) -> Mapping[str, list[int]]:
            return dict(tokenizer(prompt.format(premise=chunk, statement=part)))

        empty = len(tokenizer(prompt.format(premise="", statement=""))["input_ids"])
        cells = Cells(self._model, encode, _first_token, {"input_ids": tokenizer.pad_token_id})
        chunks = Chunks(tokenizer, beside(max_length, max_length, empty + MARGIN))
        self._once = Once(Grid(cells, chunks, whole, greatest).logits, context=False)

    @cached_property
    def fingerprint(self) -> str:
        """Of the weights' files, the foundation, the prompt, the length and the number format."""
        from citeverifier.models.checkpoint import files_fingerprint

        settings = self.name, self.foundation, self.prompt, self.max_length, self.bf16
        return files_fingerprint(self._folder, *settings)

    def score(self, pairs: Sequence[Pair], level: Support) -> Scores:
        """P(consistent); equal pairs are scored once, and known ones not again."""
        return self._once.score(pairs, level)


def token_classifier(weights: Any, foundation: str, dtype: Any) -> Any:
    """A two-class T5 token classifier with these weights, on its device."""
    from safetensors.torch import load_file
    from transformers import AutoConfig, T5ForTokenClassification

    if not weights.is_file():
        raise FileNotFoundError(f"{weights}: no such file; expected the weights of HHEM 2.1 open")
    state = {name.removeprefix(_PREFIX): tensor for name, tensor in load_file(str(weights)).items()}
    model: Any = T5ForTokenClassification(AutoConfig.from_pretrained(foundation, num_labels=2))
    missing, unknown = model.load_state_dict(state, strict=False)
    if unknown or set(missing) - {_TIED}:
        raise ValueError(
            f"{weights}: expected a T5 token classifier on {foundation}, came {len(missing)} missing and "
            f"{len(unknown)} unknown weights: {', '.join([*missing, *unknown][:3])}"
        )
    return model.to(own_device(), dtype).eval()


def _first_token(model: Any, batch: dict[str, Any]) -> Any:
    return model(**batch).logits[:, 0].float().softmax(dim=-1)[:, 1]

"""bf16 is taken where it is faster, not wherever it exists."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

from citeverifier.models import device


@pytest.fixture(autouse=True)
def asked_anew() -> Iterator[None]:
    device.native_bf16.cache_clear()
    yield
    device.native_bf16.cache_clear()


@pytest.mark.parametrize(
    ("amx", "avx512", "seconds", "expected"),
    [
        (True, True, None, True),
        (False, False, None, False),
        (False, True, {torch.bfloat16: 1.0, torch.float32: 2.0}, True),
        (False, True, {torch.bfloat16: 2.0, torch.float32: 1.0}, False),
    ],
)
def test_bf16_where_it_is_faster(
    monkeypatch: pytest.MonkeyPatch, amx: bool, avx512: bool, seconds: dict[torch.dtype, float] | None, expected: bool
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: amx)
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: avx512)
    asked: list[torch.dtype] = []

    def measured(dtype: torch.dtype) -> float:
        assert seconds is not None
        asked.append(dtype)
        return seconds[dtype]

    monkeypatch.setattr(device, "_seconds_of_a_product", measured)
    assert device.native_bf16() is expected
    assert device.native_bf16() is expected
    assert len(asked) == (2 if seconds else 0)  # once a process
    assert device.runs_bf16("auto") is expected
    assert device.runs_bf16("bfloat16")
    assert not device.runs_bf16("float32")


def test_attention_makes_no_plans_on_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    switched: list[bool] = []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.backends.cuda, "enable_cudnn_sdp", switched.append)
    assert device.own_device().type == "cuda"
    assert switched == [False]

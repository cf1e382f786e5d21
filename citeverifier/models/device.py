"""What the device is good at."""

from __future__ import annotations


def native_bf16() -> bool:
    """Whether the device multiplies in bf16: CUDA of compute capability 8 on, a CPU with AVX512-BF16 or AMX."""
    import torch

    if torch.cuda.is_available():
        return torch.cuda.get_device_capability() >= (8, 0)
    return bool(torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported())

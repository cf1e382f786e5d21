"""What the device is good at."""

from __future__ import annotations


def native_bf16() -> bool:
    """Whether the device multiplies in bf16: CUDA of compute capability 8 on, a CPU with AVX512-BF16 or AMX."""
    import torch

    if torch.cuda.is_available():
        return torch.cuda.get_device_capability() >= (8, 0)
    return bool(torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported())


def training_attention() -> str:
    """The attention that is fastest in backward: eager on a CPU (docs/performance.md measures it), SDPA elsewhere."""
    import torch

    return "sdpa" if torch.cuda.is_available() else "eager"


def keep_memory() -> None:
    """Let glibc keep freed memory instead of handing it back to the kernel.

    Activations of a batch are freed and asked for again at every step; on a CPU the page faults of that cost up to half
    of a step. Does nothing elsewhere than on Linux with glibc.
    """
    import ctypes
    import platform

    if platform.libc_ver()[0] == "glibc":
        libc = ctypes.CDLL("libc.so.6")
        for option, value in ((-4, 0), (-1, 2**31 - 1), (-2, 2**28)):  # M_MMAP_MAX, M_TRIM_THRESHOLD, M_TOP_PAD
            libc.mallopt(option, value)

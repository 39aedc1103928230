"""What in jax's configuration changes a run's numbers, beside its spec.

What changes random streams or the meaning of an operation is set by the run itself, whatever the
environment says. What changes how numbers are rounded is left to the user, and noted in the result.
Settings for debugging (checks for NaN, for keys used twice) change no number. The options are those
of the jax version that the suite pins.
"""

import os
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Any

# A loop that moves no more bytes than this in an iteration is compiled as one function.
LOOP_BYTES = 4 * 1024**2
EVERY_LOOP = 2**40
XLA_FLAGS = {
    "xla_backend_extra_options": f"xla_cpu_small_while_loop_byte_threshold={LOOP_BYTES}",
    # Matrix products handed to this library cannot be part of such a function.
    "xla_cpu_experimental_ynn_fusion_type": "",
}

FIXED: dict[str, Any] = {
    # random streams
    "jax_default_prng_impl": "threefry2x32",
    "jax_enable_custom_prng": False,
    "jax_high_dynamic_range_gumbel": False,
    "jax_legacy_prng_key": "allow",
    "jax_random_seed_offset": 0,
    "jax_threefry_partitionable": True,
    # types of numbers; a run asks for float64 itself
    "jax_enable_x64": False,
    "jax_explicit_x64_dtypes": 1,
    "jax_numpy_dtype_promotion": "standard",
    "jax_numpy_rank_promotion": "allow",
    # rules of derivatives
    "jax_custom_vjp3": False,
    "jax_softmax_custom_jvp": False,
    # what refuses to compute
    "jax_no_execution": False,
    "jax_no_tracing": False,
    "jax_transfer_guard": "allow",
}
ROUNDING: dict[str, Any] = {
    "eager_constant_folding": False,
    "jax_compiler_enable_remat_pass": True,
    "jax_default_matmul_precision": None,
    "jax_disable_jit": False,
    "jax_disable_most_optimizations": False,
    "jax_exec_time_optimization_effort": 0.0,
    "jax_memory_fitting_effort": 0.0,
    "jax_memory_fitting_level": "O2",
    "jax_optimization_level": "UNKNOWN",
    "jax_use_direct_linearize": True,
}
# Flags that say what XLA writes, not what it computes.
_SILENT = ("--xla_dump_", "--xla_log_", "--xla_force_host_platform_device_count")


def fix_numbers() -> None:
    """Sets what changes random streams or meanings, for the whole process."""
    import jax

    for name, value in FIXED.items():
        now = jax.config.values[name]
        jax.config.update(name, type(now)(value) if isinstance(now, Enum) else value)


def changed_rounding() -> dict[str, Any]:
    """The settings of jax that round in another way than jax does by itself."""
    import jax

    settings = {name: jax.config.values[name] for name in ROUNDING}
    return {name: value for name, value in settings.items() if value != ROUNDING[name]}


def given_flags() -> str | None:
    """The flags for XLA, also where `XLA_FLAGS` names a file that has them; None if unset."""
    given = os.environ.get("XLA_FLAGS")
    if not (given or "").strip() or given.strip().startswith("--"):
        return given
    try:
        return " ".join(Path(given.strip()).read_text(encoding="utf-8").split())
    except (OSError, UnicodeDecodeError):
        return given


def unusual(provenance: Mapping[str, Any]) -> str | None:
    """The settings in a result's provenance that round in another way than runs usually do."""
    settings, flags = provenance.get("rounding"), provenance.get("xla_flags")
    named = dict(settings) if isinstance(settings, Mapping) else {}
    own = [flag for flag in flags.split() if not _is_usual(flag)] if isinstance(flags, str) else []
    return ", ".join([*(f"{name}={value}" for name, value in named.items()), *own]) or None


def _is_usual(flag: str) -> bool:
    """Whether a flag is one that runs are given, or changes no number."""
    usual = flag.replace(f"={EVERY_LOOP}", f"={LOOP_BYTES}")
    return usual in (f"--{name}={value}" for name, value in XLA_FLAGS.items()) or flag.startswith(
        _SILENT
    )

"""How jax is set up for a run; all of it has to be said before jax is imported."""

import os
import platform
from pathlib import Path

# A loop that moves no more bytes than this in an iteration is compiled as one function.
LOOP_BYTES = 4 * 1024**2
XLA_FLAGS = {
    "xla_backend_extra_options": f"xla_cpu_small_while_loop_byte_threshold={LOOP_BYTES}",
    # Matrix products handed to this library cannot be part of such a function.
    "xla_cpu_experimental_ynn_fusion_type": "",
}


def prepare_jax() -> None:
    """One core unless told otherwise, whole loops compiled, and compiled programs kept.

    A run's inner loop is too small to share between cores: two threads are slower than one.
    Compiled programs are kept apart by host: a shared home may serve several kinds of processor.
    """
    os.environ.setdefault("NPROC", "1")
    compile_loops_whole()
    os.environ.setdefault(
        "JAX_COMPILATION_CACHE_DIR", str(cache_folder() / "xla" / platform.node())
    )
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.5")
    # The compiler warns each time that it reads a kept program: errors only.
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")


def compile_loops_whole() -> None:
    """Adds to `XLA_FLAGS` what makes small loops fast; a flag that stands there already is kept.

    On a CPU, XLA starts each kernel of a loop's body on its own, and a step of learning has dozens
    that take less time than their start. Raising the bound under which it compiles a loop as one
    function does away with the starts. GPUs ignore this.
    """
    given = os.environ.get("XLA_FLAGS", "").split()
    if given and not given[0].startswith("--"):
        return  # the name of a file with flags
    named = {flag.split("=")[0] for flag in given}
    ours = [f"--{name}={value}" for name, value in XLA_FLAGS.items() if f"--{name}" not in named]
    os.environ["XLA_FLAGS"] = " ".join([*ours, *given])


def cache_folder() -> Path:
    """Where the suite keeps what it can make again, by the platform's convention."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "untruncated"

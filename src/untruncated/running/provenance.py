"""Where a result comes from: code, packages, device."""

import os
import platform
import subprocess
from importlib import metadata
from pathlib import Path
from typing import Any

from untruncated.running.number_settings import changed_rounding, given_flags

_PACKAGES = ("untruncated", "jax", "jaxlib", "numpy", "flax", "optax")
_SOURCE = Path(__file__).resolve().parents[1]  # the folder of the package
_TIMEOUT = 10.0  # seconds; a repository on a slow network drive must not hold up a run


def provenance() -> dict[str, Any]:
    """The circumstances of a run, as JSON knows them; never fails, unknowns are None."""
    import jax  # here, so that reading this module stays cheap

    return {
        **_git(),
        "versions": {name: _version(name) for name in _PACKAGES},
        "python": platform.python_version(),
        "platform": platform.platform(),
        "device": _device(),
        "machine": machine(),
        "xla_flags": given_flags(),
        "rounding": changed_rounding(),
        "nproc": os.environ.get("NPROC"),
        "jax_threefry_partitionable": bool(jax.config.jax_threefry_partitionable),
    }


def version() -> str:
    """The suite's version, jax's, and the commit if the package lies in a checkout."""
    git = _git()
    text = f"untruncated {_version('untruncated')}, jax {_version('jax')}"
    if git["commit"]:
        text += f", commit {git['commit'][:12]}{' with changes' if git['dirty'] else ''}"
    return text


def machine() -> str:
    """The processor's name and its number of cores: what a measured time depends on."""
    name = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{models[0] if models else name}, {os.cpu_count()} cores"


def _git() -> dict[str, Any]:
    """Commit of the source tree, and whether the package's files differ from it."""
    # a package installed inside someone else's repository is not of that repository
    if _run_git("ls-files", "--error-unmatch", "__init__.py") is None:
        return {"commit": None, "dirty": None}
    changes = _run_git("status", "--porcelain", "--", ".")
    return {
        "commit": _run_git("rev-parse", "HEAD"),
        "dirty": None if changes is None else bool(changes),
    }


def _run_git(*arguments: str) -> str | None:
    """What git prints in the source tree; None where it is missing, fails or takes too long."""
    try:
        done = subprocess.run(
            ["git", "-C", str(_SOURCE), *arguments],
            capture_output=True,
            text=True,
            timeout=_TIMEOUT,
            check=True,
        )
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        return None
    return done.stdout.strip()


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _device() -> str | None:
    """The kind of the device that computes, e.g. "cpu" or "NVIDIA A100"."""
    import jax

    try:
        return jax.devices()[0].device_kind
    except RuntimeError:  # no backend could start
        return None

"""Compiled programs kept on disk, so that a run's second start does not compile.

Where: `caches.cache_folder() / "xla" / <host>`; the folder may be removed at any time.
"""

import os
import platform
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import metadata
from pathlib import Path
from typing import Any

from untruncated.caches import cache_folder

# XLA compiles for processors with AVX-512 with two preferences that are no features of a processor,
# and finds them missing when it reads the program: on the same machine, harmless.
_EXPECTED = re.compile(
    rb"cpu_aot_loader\.cc.*feature \+prefer-no-(gather|scatter) is not +supported"
)


def programs_folder() -> Path:
    """Where this host's compiled programs are: a shared home may serve several processors."""
    return cache_folder() / "xla" / platform.node()


def can_be_kept() -> bool:
    """Whether programs may be kept: there is room, and jaxlib reads on a Mac what it wrote."""
    if platform.system() == "Darwin" and _version("jaxlib") < (0, 10):
        return False
    try:
        folder = programs_folder()
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):  # RuntimeError: nobody says where the home is
        return False
    return os.access(folder, os.W_OK | os.X_OK)


def _version(package: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", metadata.version(package))[:2])


def mend_reading() -> None:
    """Makes jax read kept programs without that remark, and compile anew what is damaged.

    jax warns of a damaged entry each time and never replaces it.
    """
    from jax._src import compilation_cache

    read = compilation_cache.get_executable_and_time
    if getattr(read, "mended", False):
        return

    def mended(key: str, *arguments: Any, **options: Any) -> Any:
        try:
            with _without_remark():
                return read(key, *arguments, **options)
        except Exception:  # whatever a decompressor or XLA raises for a damaged entry
            _remove(key)
            return None, None  # not there: jax compiles it and keeps it

    mended.mended = True
    compilation_cache.get_executable_and_time = mended


def _remove(key: str) -> None:
    import jax

    folder = jax.config.jax_compilation_cache_dir
    with suppress(OSError):
        (Path(folder) / f"{key}-cache").unlink()


@contextmanager
def _without_remark(expected: Callable[[bytes], Any] = _EXPECTED.search) -> Iterator[None]:
    """Holds back what the body writes to stderr, compiled code too, but for what is `expected`."""
    with tempfile.TemporaryFile() as held:
        stderr = os.dup(2)
        os.dup2(held.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(stderr, 2)
            os.close(stderr)
            held.seek(0)
            for line in held:
                if not expected(line):
                    with suppress(OSError):
                        os.write(2, line)

"""Files that are written whole or not at all, and locks that die with their process."""

import errno
import fcntl
import glob
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from untruncated.basics.errors import SuiteError
from untruncated.basics.messages import tell

_ADVICE = {
    errno.ENOSPC: "free some space",
    errno.EDQUOT: "free some space or raise the quota",
    errno.EFBIG: "raise the limit on file sizes (ulimit -f)",
}


def _could_not(action: str, path: Path, error: OSError) -> SuiteError:
    """The one message for a failed write or lock: what, where, why, and what to do."""
    advice = _ADVICE.get(error.errno, "check that the folder exists and may be written")
    reason = error.strerror or str(error)
    return SuiteError(
        f"could not {action} {path}: {reason}; {advice}, then run the same command again"
    )


def _sync(path: Path) -> None:
    """Forces a file's content to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _replacing(path: Path, temporary: Path) -> Iterator[None]:
    """Moves `temporary` to `path` if the body succeeds, removes it if not; see `atomic_path`."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield
        _sync(temporary)
        os.replace(temporary, path)
    except OSError as error:
        raise _could_not("write", path, error) from error
    finally:
        with suppress(OSError):  # gone already after a success; never hide the first error
            temporary.unlink()
    with suppress(OSError):  # the file is in place; some network file systems refuse this
        _sync(path.parent)


@contextmanager
def atomic_path(path: str | Path) -> Iterator[Path]:
    """Yields a temporary path to write to, which becomes `path` if the body succeeds.

    The temporary file lies in the same folder, which is made where missing, and has the same
    suffix, so that matplotlib picks the right format. It is synced and renamed at the end; if the
    body or the renaming fails it is removed and an old file at `path` stays as it was.

    Raises:
        SuiteError: The disk is full, the folder cannot be written, ...
    """
    path = Path(path)
    temporary = _temporary(path, path.suffix)
    with _replacing(path, temporary):
        yield temporary


def check_writable(path: str | Path) -> None:
    """Makes sure, before the work for it is done, that `path` can be written; makes its folder.

    Raises:
        SuiteError: It is a folder, or as `atomic_path`.
    """
    path = Path(path)
    if path.is_dir():
        raise SuiteError(f"--output {path}: is a folder; name a file")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _temporary(path).touch()
        _temporary(path).unlink()
    except OSError as error:
        raise _could_not("write", path, error) from error


def _temporary(path: Path, suffix: str = "") -> Path:
    """The name, beside a file, under which it is written first."""
    return path.with_name(f".{path.name}.{os.getpid()}.tmp{suffix}")


def write_atomically(path: str | Path, data: bytes | str) -> None:
    """Writes `data` (text as UTF-8) to `path`, whole or not at all, and safely on disk.

    Raises:
        SuiteError: As `atomic_path`; an old file at `path` is untouched.
    """
    path = Path(path)
    temporary = _temporary(path)
    with _replacing(path, temporary):
        temporary.write_bytes(data.encode() if isinstance(data, str) else data)


def remove_leftovers(path: str | Path) -> None:
    """Removes temporary files that killed writers of `path` left; call it under a lock."""
    path = Path(path)
    for leftover in path.parent.glob(f".{glob.escape(path.name)}.*.tmp*"):
        with suppress(OSError):  # harmless litter, not worth failing for
            leftover.unlink()


def _lock(descriptor: int, operation: int, path: Path) -> None:
    """flock, where a file system that has no locks gives a clear error."""
    try:
        fcntl.flock(descriptor, operation)
    except BlockingIOError:
        raise
    except OSError as error:
        raise _could_not("lock", path, error) from error


def _locked_soon(descriptor: int, path: Path) -> bool:
    """Whether the lock was free, or became so within a fifth of a second.

    The kernel may close the files of a killed process a moment after its parent has seen it die.
    """
    deadline = time.monotonic() + 0.2
    while True:
        try:
            _lock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, path)
        except BlockingIOError:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.01)
        else:
            return True


@contextmanager
def exclusive_lock(
    path: str | Path, name: str | None = None, say: Callable[[str], None] = tell
) -> Iterator[None]:
    """Holds an exclusive lock on the file `path` while the body runs; waits where it is taken.

    Says once that it waits. The kernel frees the lock when its process dies, so there is no stale
    lock. The file itself stays: removing it would let two processes lock two different files.

    Args:
        path: The lock file, made where missing, with its folder.
        name: What the holder computes, for the message; the file's stem by default.
        say: Shows one line to the user.

    Raises:
        SuiteError: The lock file cannot be made or locked.
    """
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise _could_not("lock", path, error) from error
    try:
        if not _locked_soon(descriptor, path):
            say(f"waiting for another process that is computing {name or path.stem}")
            _lock(descriptor, fcntl.LOCK_EX, path)
        yield
    finally:
        os.close(descriptor)

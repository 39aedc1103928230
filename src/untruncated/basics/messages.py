"""Progress and messages: told while somebody listens, never worth failing for."""

import io
import os
import re
import sys
import threading
import time
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

# What the suite says in letters that not every terminal has; Greek ones go by their names.
_SPELLED = dict(
    zip(
        "·×→±−–—…’‘“”≈≤≥²³♠♥♦♣°",
        "* x -> +- - - - ... ' ' \" \" ~ <= >= ^2 ^3 S H D C deg".split(),
        strict=True,
    )
)


class Expendable:
    """A text stream that falls silent when it cannot be written: the reader gone, the disk full.

    Args:
        stream: What to write to; None for nothing, as `sys.stderr` is where it was closed.
    """

    def __init__(self, stream: Any) -> None:
        self._stream = io.StringIO() if stream is None else stream
        self._silent = stream is None

    def write(self, text: str) -> int:
        """Writes the text, or as much as goes; returns its length."""
        self._try("write", fitted(text, self._stream))
        return len(text)

    def flush(self) -> None:
        """Writes what is buffered, if it goes."""
        self._try("flush")

    def isatty(self) -> bool:
        """Whether somebody may be looking."""
        return not self._silent and self._stream.isatty()

    def close(self) -> None:
        """Leaves the stream open: a logger that closes what it was given is not its owner."""
        self.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def _try(self, method: str, *arguments: str) -> None:
        if self._silent:
            return
        try:
            getattr(self._stream, method)(*arguments)
        except (OSError, ValueError):  # ValueError: closed in between
            discard(self._stream)
            self._silent = True


def fitted(text: str, stream: Any) -> str:
    """The text in the characters that a stream can take: others are spelled out."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return "".join(_spelled(character, encoding) for character in text)
    return text


def _spelled(character: str, encoding: str) -> str:
    with suppress(UnicodeEncodeError):
        character.encode(encoding)
        return character
    if character in _SPELLED:
        return _SPELLED[character]
    name = unicodedata.name(character, "")
    if greek := re.fullmatch(r"GREEK (SMALL|CAPITAL) LETTER (\w+)", name):
        return greek[2].lower() if greek[1] == "SMALL" else greek[2].capitalize()
    return character.encode("ascii", "backslashreplace").decode()


def discard(stream: Any) -> None:
    """Sends what a stream still holds to nowhere: Python would try once more when it ends."""
    with suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def tell(text: str) -> None:
    """Shows one line on stderr, if it can be shown."""
    print(text, file=Expendable(sys.stderr), flush=True)


@contextmanager
def progress(first: str) -> Iterator[Callable[[str], None]]:
    """Says on stderr what goes on while the body runs, beginning with `first`.

    On a terminal this is a line with the seconds, which what the function yielded is given
    replaces, and which is gone in the end; elsewhere it is `first`, once.
    """
    stream = Expendable(sys.stderr)
    if not stream.isatty():
        tell(first)
        yield lambda text: None
        return
    said, ended, start = [first], threading.Event(), time.monotonic()

    def tick() -> None:
        while True:
            stream.write(f"\r{said[0]}, {time.monotonic() - start:.0f} s\033[K")
            stream.flush()
            if ended.wait(0.5):
                break
        stream.write("\r\033[K")
        stream.flush()

    ticking = threading.Thread(target=tick, daemon=True)
    ticking.start()
    try:
        yield lambda text: said.__setitem__(0, text)
    finally:
        ended.set()
        ticking.join()


def keep_descriptors() -> None:
    """Opens stdin, stdout and stderr on nothing where they are closed.

    The next file that is opened would take such a place, and get the compiler's messages.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free place: this one

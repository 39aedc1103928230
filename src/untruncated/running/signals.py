"""Answers to SIGINT and SIGTERM while compiled code runs, when Python itself cannot give any.

Python's handlers wait until the main thread comes back from compiled code: from the compiler, or
from a computation that does not fit into the memory, perhaps never. A thread is told at once.
"""

import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from untruncated.basics.messages import tell

STOPPING = (signal.SIGINT, signal.SIGTERM)
# Seconds within which a second signal is taken for the first one: Ctrl-C reaches all processes of
# a terminal, and some of them send it on.
ECHO = 0.3


class Insistence:
    """Ends the process at a second signal, or at the first one while nothing can be lost.

    Args:
        name: What is running.
        last_words: Notes why it ended.
        lossless: Why nothing is lost if it ends now; empty if something would be.
    """

    def __init__(self, name: str, last_words: Callable[[str], None], lossless: str = "") -> None:
        self.name, self.last_words, self.lossless = name, last_words, lossless
        self._first: float | None = None

    def __call__(self, number: int) -> None:
        """Takes notice of a signal."""
        now = time.monotonic()
        if self.lossless:
            self._end(f"{self.name} stopped {self.lossless}", number)
        elif self._first is not None and now - self._first > ECHO:
            self._end(f"{self.name} ended at once, as it was asked to twice", number)
        self._first = self._first or now

    def _end(self, line: str, number: int) -> None:
        tell(f"error: {line}")
        self.last_words(line)
        os._exit(128 + number)


@contextmanager
def watched(notice: Callable[[int], None]) -> Iterator[None]:
    """Calls `notice` in a thread at every SIGINT and SIGTERM, whatever the main thread does.

    Handlers are called beside it, as ever. In another than the main thread it does nothing: Python
    lets only that one be told of signals.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    ours, told = socket.socketpair()
    told.setblocking(False)

    def watch() -> None:
        while received := ours.recv(1):
            if received[0] in STOPPING:
                notice(received[0])

    thread = threading.Thread(target=watch, daemon=True)
    before = signal.set_wakeup_fd(told.fileno(), warn_on_full_buffer=False)
    thread.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        told.close()
        thread.join()
        ours.close()

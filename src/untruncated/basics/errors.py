"""Errors that speak to the person who typed the command.

The text of each is the one message shown: what is wrong, where, and what to do. The command line
prints it without a traceback and ends with `exit_code`.
"""

import signal
from pathlib import Path


class SuiteError(Exception):
    """Something the user can act on."""

    exit_code: int = 1


class SpecError(SuiteError):
    """An experiment file or a run spec is not valid."""


class ResultError(SuiteError):
    """A result file is missing, damaged, foreign, or another run's.

    `path` is the file, where computing its run again would mend it.
    """

    def __init__(self, message: str, path: Path | None = None) -> None:
        super().__init__(message)
        self.path = path


class NewerResultError(ResultError):
    """A result file that a later version of the suite wrote: neither read nor replaced."""


class Interrupted(SuiteError):
    """A run stopped early because it was asked to, by SIGINT or SIGTERM.

    `exit_code` is 128 plus the signal's number, as a shell reports it: 130 or 143.
    """

    def __init__(self, message: str, signal_number: int = signal.SIGINT) -> None:
        super().__init__(message)
        self.exit_code = 128 + int(signal_number)

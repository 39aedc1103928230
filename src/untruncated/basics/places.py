"""Where the suite may lie: paths that Snakemake or a shell would break are refused at the start."""

import getpass
import os
import shlex
from pathlib import Path

from untruncated.basics.errors import SuiteError


def check_environment(python: Path) -> None:
    """Refuses an environment whose commands a shell cannot start.

    Raises:
        SuiteError: PATH ends a folder at a colon; and pip starts commands in a folder with a space
            by a line in which the other characters mean something.
    """
    folder = str(python.parent)
    if ":" in folder or "\n" in folder or (" " in folder and set(folder) & set('"$`\\')):
        raise SuiteError(
            f"the environment in {folder!r} cannot be used: its path must not have a colon, nor a "
            'space together with " $ ` or \\; move the project'
        )


def check_for_jobs(python: Path, folder: Path) -> None:
    """Refuses what the job scripts that Snakemake writes for a scheduler do not quote.

    Raises:
        SuiteError: The path of the environment's Python has to be quoted in a shell, or that of the
            current folder has a character that quotes do not cover.
    """
    if shlex.quote(str(python)) != str(python):
        raise SuiteError(
            f"Snakemake's job scripts cannot start {str(python)!r}: put the environment in a path "
            "of letters, digits and _ - . alone"
        )
    if set(str(folder)) & set('"$`\\\n'):
        raise SuiteError(
            f"Snakemake's job scripts cannot run in {str(folder)!r}: its path must not have "
            '" $ ` or \\'
        )


def name_user() -> None:
    """Gives the user a name, which Snakemake asks for, where a container's has none."""
    try:
        getpass.getuser()
    except (KeyError, OSError):  # from Python 3.13 on the second
        os.environ["LOGNAME"] = f"uid{os.getuid()}"

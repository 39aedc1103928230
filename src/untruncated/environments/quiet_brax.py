"""Brax and MuJoCo without the remarks that they make whatever one does; all others stay.

Import them from here: the first import of Brax prints two of them.
"""

import io
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout

_NO_WARP = re.compile(r"Failed to import (mujoco_)?warp: No module named 'warp'")
_AGE = "Brax System, piplines and environments are not actively being maintained"
_OLD_ATTRIBUTE = "compiler attribute 'settotalmass' is deprecated"


@contextmanager
def without_import_remarks() -> Iterator[None]:
    """Holds back what the body prints, but for MuJoCo's lines on a module that is optional."""
    printed = io.StringIO()
    try:
        with redirect_stdout(printed):
            yield
    finally:
        for line in printed.getvalue().splitlines(keepends=True):
            if not _NO_WARP.match(line):
                sys.stdout.write(line)


with without_import_remarks():
    import brax.base
    import brax.io.html
    import mujoco
    from brax import envs

__all__ = ["brax", "envs", "mujoco", "quiet", "without_import_remarks"]


@contextmanager
def quiet() -> Iterator[None]:
    """Makes environments without Brax's remark on its age, and MuJoCo's on halfcheetah's file."""
    handler = mujoco.get_mju_user_warning()

    def pass_on(message: str) -> None:
        if message.startswith(_OLD_ATTRIBUTE):
            return
        if handler is None:
            print(f"WARNING: {message}", file=sys.stderr)  # as MuJoCo does by itself
        else:
            handler(message)

    mujoco.set_mju_user_warning(pass_on)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=_AGE)
            yield
    finally:
        mujoco.set_mju_user_warning(handler)

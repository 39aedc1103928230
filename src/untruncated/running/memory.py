"""The memory that a run needs, estimated from shapes before anything is computed."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
from jax._src import pjit
from jax._src.interpreters import partial_eval

from untruncated.basics.errors import SuiteError

if TYPE_CHECKING:  # the suite knows programs by name only
    from untruncated.programs.protocol import Program

# The carry, what a chunk makes of it, and its copy in a checkpoint.
COPIES = 3
_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def check_memory(program: "Program") -> None:
    """Refuses a run that does not fit: it would bring the machine to a standstill.

    Raises:
        SuiteError: It needs more memory than there is; says how much.
    """
    needed, there = needed_bytes(program), memory_bytes()
    if there is not None and needed > there:
        raise SuiteError(
            f"the run needs about {_gigabytes(needed)} of memory, and there are "
            f"{_gigabytes(there)}. Make it smaller (width, particles, step sizes in one run), or "
            "go on all the same with --force"
        )


def needed_bytes(program: "Program") -> int:
    """The carry's copies, and the largest array that a chunk makes on its way.

    Such arrays count as far as the program can be traced: one that is made with numpy, of numbers
    that must be known, cannot.
    """
    with traced_without_options():
        return _needed_bytes(program)


def _needed_bytes(program: "Program") -> int:
    try:
        start = jax.eval_shape(program.init)
    except TypeError:  # as jax's errors of tracing are
        return 0
    carry = sum(map(_size, jax.tree.leaves(start)))
    try:
        made = max(_made(jax.make_jaxpr(program.advance)(start).jaxpr), default=0)
    except TypeError:
        made = 0
    return COPIES * carry + made


@contextmanager
def traced_without_options() -> Iterator[None]:
    """Lets functions be traced that have options for the compiler, which jax takes at the top."""
    rules, primitive = partial_eval.custom_staging_rules, pjit.jit_p
    rule = rules[primitive]

    def staged(trace: Any, source: Any, *arguments: Any, **parameters: Any) -> Any:
        return rule(trace, source, *arguments, **parameters | {"compiler_options_kvs": ()})

    rules[primitive] = staged
    try:
        yield
    finally:
        rules[primitive] = rule


def _made(jaxpr: Any) -> Iterator[int]:
    """Bytes that each step of a computation makes, those of loops and calls inside it too."""
    for equation in jaxpr.eqns:
        yield sum(_size(variable.aval) for variable in equation.outvars)
        for inside in jax.core.jaxprs_in_params(equation.params):
            yield from _made(inside)


def _size(array: Any) -> int:
    """Bytes of an array, of which the shape and the type are known."""
    shape, kind = getattr(array, "shape", ()), getattr(array, "dtype", None)
    return int(np.prod(shape, dtype=object)) * getattr(kind, "itemsize", 0)


def memory_bytes() -> int | None:
    """Memory of the device that computes: of a CPU the machine's, or the least that a limit gives.

    None where nothing says how much there is.
    """
    device = jax.devices()[0]
    if device.platform != "cpu":
        return (device.memory_stats() or {}).get("bytes_limit")
    try:
        sizes = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    except (AttributeError, ValueError, OSError):
        sizes = []
    for path in _LIMITS:
        try:
            sizes.append(int(Path(path).read_text(encoding="ascii")))
        except (OSError, ValueError):  # no such file, or "max"
            continue
    return min(sizes, default=None)


def _gigabytes(count: int) -> str:
    return f"{count / 1e9:,.1f} GB"

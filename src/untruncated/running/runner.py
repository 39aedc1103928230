"""Runs a program in chunks, so that a run killed at any moment can go on where it was.

The chunk boundary is where everything happens: progress, divergence check, checkpoint, and the
answer to SIGINT and SIGTERM. The numbers depend on none of it.
"""

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Float
from tqdm import tqdm

from untruncated.basics.errors import Interrupted, SuiteError
from untruncated.basics.files import exclusive_lock, remove_leftovers
from untruncated.basics.messages import Expendable
from untruncated.results.metric import Metric
from untruncated.results.result_files import (
    SIZE_LIMIT,
    Result,
    check_replaceable,
    plain,
    read_result,
    spec_hash,
    write_result,
)
from untruncated.running.checkpoints import (
    Clock,
    Say,
    State,
    identity_of,
    load,
    pack,
    saver,
    unpack,
)
from untruncated.running.number_settings import changed_rounding, given_flags, unusual
from untruncated.running.provenance import provenance
from untruncated.running.signals import Insistence, watched

if TYPE_CHECKING:  # the suite knows programs by name only
    from untruncated.programs.protocol import Program

__all__ = ["Interrupted", "run"]

UNBEGUN = "before its first chunk was done; run the same command to go on"
BYTES_PER_VALUE = 12  # float32 digits, separator and sign


class Stops(NamedTuple):
    """SIGINT and SIGTERM received so far, and what happens when there are more."""

    received: list[int]
    insistence: Insistence | None


def checkpoints_beside(output: Path) -> Path:
    """The folder of checkpoints: beside `runs` in a results folder, else beside the result."""
    return (output.parent.parent if output.parent.name == "runs" else output.parent) / "checkpoints"


def run(
    program: "Program",
    spec: dict[str, Any],
    output: Path,
    *,
    checkpoint_seconds: float = 30.0,
    progress: bool = True,
    log: Say | None = None,
    last_words: Say | None = None,
) -> Result:
    """Runs a program to its end, or on from its checkpoint, and writes the result.

    A lock lets one process at a time work on a run. If another one finishes it while this one
    waits, its result is returned; a result that was there before is computed anew.

    Args:
        program: What to run.
        spec: The run spec; its hash names the checkpoint, in `checkpoints/` beside the folder of
            `output`.
        output: The result file.
        checkpoint_seconds: The least time between two checkpoints.
        progress: Whether to show a progress bar on stderr.
        log: Shows one line to the user; on stderr by default.
        last_words: Notes why the process ends at once: at a second SIGINT or SIGTERM, or at the
            first one before the first chunk is done, while the program is compiled. Without it,
            as in a process that has other things to do, signals wait for the end of the chunk.

    Raises:
        Interrupted: After SIGINT or SIGTERM, at the end of the chunk; the checkpoint is saved.
        SuiteError: A later version of the suite wrote `output`; or the result cannot be written:
            the checkpoint of the last step stays, so that the same command only writes it.
    """
    if program.total_steps % program.chunk_steps:
        raise SuiteError(
            f"the program's chunks of {program.chunk_steps} {program.unit} do not divide its "
            f"{program.total_steps} {program.unit}; correct the program"
        )
    stderr = Expendable(sys.stderr)
    say = log or partial(tqdm.write, file=stderr)
    output, name = Path(output), spec_hash(spec)
    checkpoint = checkpoints_beside(output) / f"{name}.npz"
    before = _version(output)
    with exclusive_lock(checkpoint.with_suffix(".lock"), name, say):
        if _version(output) != before:
            with suppress(SuiteError):  # not a valid result of this run: compute it
                return read_result(output, spec)
        check_replaceable(output)
        remove_leftovers(checkpoint)
        remove_leftovers(output)
        insistence = Insistence(name, last_words, UNBEGUN) if last_words else None
        with _deferred_signals() as received, watched(insistence) if insistence else nullcontext():
            circumstances = provenance()  # of the code that runs, not of later edits
            bar = partial(_progress_bar, program, name, stderr, progress)
            stops = Stops(received, insistence)
            state = _to_the_end(program, name, checkpoint, checkpoint_seconds, say, stops, bar)
            result = _result(program, spec, state, circumstances)
            write_result(output, result)
            with suppress(OSError):  # a checkpoint of a finished run does no harm
                checkpoint.unlink()
    return result


def _version(path: Path) -> tuple[int, int] | None:
    """Tells whether a file was replaced in between; None where there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns


@contextmanager
def _deferred_signals() -> Iterator[list[int]]:
    """Collects SIGINT and SIGTERM while the body runs, which looks at them when it can."""
    received: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield received  # Python lets only the main thread set handlers
        return
    previous = {
        number: signal.signal(number, lambda number, frame: received.append(number))
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield received
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler or signal.SIG_DFL)


def _to_the_end(
    program: "Program",
    name: str,
    checkpoint: Path,
    checkpoint_seconds: float,
    say: Say,
    stops: Stops,
    progress_bar: Callable[[int], tqdm],
) -> State:
    """The state after the last step, or after every member has diverged; saved if possible."""
    start = State(0, jax.tree.map(_as_jax, program.init()), Clock())
    _check_size(program, start)
    identity = identity_of(_asked(program, name), program.chunk_steps, start.carry)
    # the first carry takes the way through a checkpoint as well, so that the compiled program
    # gets the same kind of arrays in a broken and in an unbroken run
    state = load(checkpoint, identity, start, say) or unpack(pack(start, identity), identity, start)
    save = saver(checkpoint, identity, say)
    saved_at, costs = time.monotonic(), []
    with progress_bar(state.step) as bar:
        while not _is_over(program, state):
            if stops.received:
                ending = "run the same command to go on"
                if not save(state):
                    ending = "no checkpoint could be written, so the same command repeats steps"
                line = f"{name} stopped at step {state.step} of {program.total_steps}; {ending}"
                raise Interrupted(line, stops.received[0])
            began = _now()
            carry = jax.block_until_ready(program.advance(state.carry))
            costs.append(_now() - began)
            if stops.insistence:
                stops.insistence.lossless = ""
            state = State(state.step + program.chunk_steps, carry, _tick(state.clock, costs))
            bar.update(program.chunk_steps)
            if time.monotonic() - saved_at >= checkpoint_seconds:
                save(state)
                saved_at = time.monotonic()
    save(state)  # so that a result that cannot be written costs nothing
    return state


def _asked(program: "Program", name: str) -> dict[str, Any]:
    """What a checkpoint's carry was made for: with another choice, a run must start anew.

    So must one under settings that round in another way, or its result would be of two kinds.
    """
    asked = {"run": name, "axes": plain(program.axes), "choices": plain(program.choices)}
    settings = unusual({"rounding": changed_rounding(), "xla_flags": given_flags()})
    return asked | ({"settings": settings} if settings else {})


def _check_size(program: "Program", start: State) -> None:
    """Refuses before computing what could not be written after."""
    values = sum(np.size(metric.values) for metric in program.metrics(start.carry).values())
    if values * BYTES_PER_VALUE > SIZE_LIMIT:
        raise SuiteError(
            f"a result with {values} numbers would exceed {SIZE_LIMIT} bytes: use fewer step sizes "
            "or seeds in one run"
        )


def _is_over(program: "Program", state: State) -> bool:
    """Whether nothing is left to compute: members that are still finite keep a run going."""
    if state.step >= program.total_steps:
        return True
    return len(program.diverged(state.carry)) >= program.members


def _now() -> Float[np.ndarray, "2"]:
    """Wall and CPU time of this process, in seconds."""
    return np.array([time.perf_counter(), time.process_time()])


def _tick(clock: Clock, costs: list[Float[np.ndarray, "2"]]) -> Clock:
    """Adds the last of this attempt's chunks, whose wall and CPU seconds are in `costs`.

    The first chunk of an attempt compiles too. The second shows how much of the first that was;
    an attempt of one chunk counts it as running.
    """
    compiling = np.maximum(costs[0] - costs[1], 0.0) if len(costs) == 2 else np.zeros(2)
    wall, cpu = (costs[-1] - compiling).tolist()
    return clock._replace(
        wall=clock.wall + wall,
        cpu=clock.cpu + cpu,
        compile=clock.compile + float(compiling[0]),
    )


def _progress_bar(
    program: "Program", name: str, stderr: Expendable, progress: bool, step: int
) -> tqdm:
    """Steps done, steps per second and time left, on stderr; rare lines where that is a log."""
    interval = 0.1 if stderr.isatty() else 30.0
    return tqdm(
        file=stderr,
        desc=name,
        total=program.total_steps,
        initial=step,
        unit=f" {program.unit}",
        unit_scale=True,
        mininterval=interval,
        maxinterval=max(interval, 10.0),
        disable=not progress,
    )


def _result(
    program: "Program", spec: dict[str, Any], state: State, circumstances: dict[str, Any]
) -> Result:
    """What the final state says."""
    metrics, clock = program.metrics(state.carry), state.clock
    diverged = program.diverged(state.carry) or _undeclared(metrics, state.step)
    timing = {
        "compile_seconds": clock.compile,
        "run_seconds": clock.wall,
        "run_cpu_seconds": clock.cpu,
        "steps": state.step,
        "steps_per_second_per_member": state.step / clock.wall if clock.wall > 0 else None,
        "members": program.members,
        "resumed": clock.resumed,
    }
    return Result(
        spec=spec,
        axes=program.axes,
        metrics=metrics,
        choices=program.choices,
        diverged=diverged,
        timing=timing,
        provenance=circumstances,
    )


def _undeclared(metrics: dict[str, Metric], step: int) -> list[dict[str, Any]]:
    """Records for metrics that are not finite though no member is said to have diverged."""
    return [
        {"step": step, "reason": f"metric {name!r} is not finite"}
        for name, metric in metrics.items()
        if not np.isfinite(np.asarray(metric.values)).all()
    ]


def _as_jax(leaf: ArrayLike) -> Array:
    """A numpy array or a number as jax takes it; an array of jax as it is, float64 too."""
    return leaf if isinstance(leaf, jax.Array) else jnp.asarray(leaf)

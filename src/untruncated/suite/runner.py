"""Runs a program in chunks, so that a run killed at any moment can go on where it was.

The chunk boundary is where everything happens: progress, divergence check, checkpoint, and the
answer to SIGINT and SIGTERM. The numbers depend on none of it.
"""

import hashlib
import io
import json
import signal
import sys
import threading
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Float, PyTree
from tqdm import tqdm

from untruncated.catalogue.metric import Metric
from untruncated.suite.errors import Interrupted, SuiteError
from untruncated.suite.files import exclusive_lock, remove_leftovers, write_atomically
from untruncated.suite.provenance import provenance
from untruncated.suite.results import (
    Result,
    canonical_json,
    read_result,
    spec_hash,
    write_result,
)

if TYPE_CHECKING:  # the suite knows programs by name only
    from untruncated.programs.protocol import Program

__all__ = ["Interrupted", "run"]

Say = Callable[[str], None]
_UNREADABLE = (  # all that numpy and zipfile raise for damaged files
    OSError,
    EOFError,
    KeyError,
    ValueError,
    NotImplementedError,
    RuntimeError,
    zipfile.BadZipFile,
    zlib.error,
)


class Clock(NamedTuple):
    """What a run has cost over all its attempts, in seconds; compilation is counted apart."""

    wall: float = 0.0
    cpu: float = 0.0
    compile: float = 0.0
    resumed: int = 0


class State(NamedTuple):
    """A run at a chunk boundary: all that a checkpoint holds."""

    step: int
    carry: PyTree[Array]
    clock: Clock


def run(
    program: "Program",
    spec: dict[str, Any],
    output: Path,
    *,
    checkpoint_seconds: float = 30.0,
    progress: bool = True,
    log: Say | None = None,
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

    Raises:
        Interrupted: After SIGINT or SIGTERM, at the end of the chunk; the checkpoint is saved.
        SuiteError: The result cannot be written; the checkpoint of the last step stays, so that
            the same command only writes the result.
    """
    if program.total_steps % program.chunk_steps:
        raise SuiteError(
            f"the program's chunks of {program.chunk_steps} {program.unit} do not divide its "
            f"{program.total_steps} {program.unit}; correct the program"
        )
    say = log or partial(tqdm.write, file=sys.stderr)
    output, name = Path(output), spec_hash(spec)
    checkpoint = output.parent.parent / "checkpoints" / f"{name}.npz"
    before = _version(output)
    with exclusive_lock(checkpoint.with_suffix(".lock"), name, say):
        if _version(output) != before:
            with suppress(SuiteError):  # not a valid result of this run: compute it
                return read_result(output, spec)
        remove_leftovers(checkpoint)
        remove_leftovers(output)
        with _deferred_signals() as received:
            circumstances = provenance()  # of the code that runs, not of later edits
            state = _to_the_end(
                program, name, checkpoint, checkpoint_seconds, progress, say, received
            )
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
    progress: bool,
    say: Say,
    received: list[int],
) -> State:
    """The state after the last step, or after every member has diverged; saved if possible."""
    start = State(0, jax.tree.map(_as_jax, program.init()), Clock())
    identity = _identity(name, program.chunk_steps, start.carry)
    # the first carry takes the way through a checkpoint as well, so that the compiled program
    # gets the same kind of arrays in a broken and in an unbroken run
    state = _load(checkpoint, identity, start, say) or _unpack(
        _pack(start, identity), identity, start
    )
    save = _saver(checkpoint, identity, say)
    saved_at, costs = time.monotonic(), []
    with _progress_bar(program, name, state.step, progress) as bar:
        while not _is_over(program, state):
            if received:
                ending = "run the same command to go on"
                if not save(state):
                    ending = "no checkpoint could be written, so the same command repeats steps"
                line = f"{name} stopped at step {state.step} of {program.total_steps}; {ending}"
                raise Interrupted(line, received[0])
            began = _now()
            carry = jax.block_until_ready(program.advance(state.carry))
            costs.append(_now() - began)
            state = State(state.step + program.chunk_steps, carry, _tick(state.clock, costs))
            bar.update(program.chunk_steps)
            if time.monotonic() - saved_at >= checkpoint_seconds:
                save(state)
                saved_at = time.monotonic()
    save(state)  # so that a result that cannot be written costs nothing
    return state


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


def _progress_bar(program: "Program", name: str, step: int, progress: bool) -> tqdm:
    """Steps done, steps per second and time left, on stderr; rare lines where that is a log."""
    interval = 0.1 if sys.stderr.isatty() else 30.0
    return tqdm(
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


# Checkpoints: an npz of the leaves' bytes and a note in JSON, with a SHA-256 over all of it.


def _identity(name: str, chunk_steps: int, carry: PyTree[Array]) -> dict[str, Any]:
    """What a checkpoint must share with a run to be its own: name, chunk length, carry's form."""
    leaves = [
        [jax.tree_util.keystr(path), str(leaf.dtype), list(leaf.shape)]
        for path, leaf in jax.tree_util.tree_leaves_with_path(carry)
    ]
    return {"run": name, "chunk_steps": chunk_steps, "leaves": leaves}


def _saver(path: Path, identity: dict[str, Any], say: Say) -> Callable[[State], bool]:
    """A function that saves a state and tells whether it could; warns the first time it cannot."""
    warned = False

    def save(state: State) -> bool:
        nonlocal warned
        try:
            write_atomically(path, _pack(state, identity))
        except SuiteError as error:
            if not warned:
                say(f"warning: going on without checkpoints: {error}")
            warned = True
            return False
        return True

    return save


def _load(path: Path, identity: dict[str, Any], start: State, say: Say) -> State | None:
    """The state saved at `path`; None, with a warning where a file is there, if it is no use."""
    try:
        state = _unpack(path.read_bytes(), identity, start)
    except FileNotFoundError:
        return None
    except _UNREADABLE as error:
        say(f"warning: ignoring the checkpoint {path}, starting from step 0: {error}")
        return None
    return state._replace(clock=state.clock._replace(resumed=state.clock.resumed + 1))


def _pack(state: State, identity: dict[str, Any]) -> bytes:
    """A state as the content of a checkpoint file."""
    leaves = [np.asarray(_raw(leaf)).tobytes() for leaf in jax.tree.leaves(state.carry)]
    note = canonical_json(
        {"identity": identity, "step": state.step, "clock": state.clock._asdict()}
    )
    buffer = io.BytesIO()
    np.savez(
        buffer,
        note=np.array(note),
        checksum=np.array(_checksum(note, leaves)),
        **{f"leaf_{i}": np.frombuffer(leaf, np.uint8) for i, leaf in enumerate(leaves)},
    )
    return buffer.getvalue()


def _unpack(content: bytes, identity: dict[str, Any], start: State) -> State:
    """The state in a checkpoint file; one of `_UNREADABLE` if damaged or another run's."""
    like, structure = jax.tree.flatten(start.carry)
    with np.load(io.BytesIO(content)) as file:
        note, checksum = str(file["note"]), str(file["checksum"])
        leaves = [file[f"leaf_{i}"].tobytes() for i in range(len(file.files) - 2)]
    if checksum != _checksum(note, leaves):
        raise ValueError("its content does not fit its checksum")
    saved = json.loads(note)
    if saved["identity"] != identity:
        raise ValueError("it is of another run, chunk length or version of the program")
    carry = jax.tree.unflatten(structure, list(map(_restore, leaves, like)))
    return State(saved["step"], carry, Clock(**saved["clock"]))


def _checksum(note: str, leaves: list[bytes]) -> str:
    return hashlib.sha256(b"".join([note.encode(), *leaves])).hexdigest()


def _as_jax(leaf: ArrayLike) -> Array:
    """A numpy array or a number as jax takes it; an array of jax as it is, float64 too."""
    return leaf if isinstance(leaf, jax.Array) else jnp.asarray(leaf)


def _is_key(leaf: Array) -> bool:
    return jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)


def _raw(leaf: Array) -> Array:
    """A typed PRNG key's numbers, any other array as it is."""
    return jax.random.key_data(leaf) if _is_key(leaf) else leaf


def _restore(content: bytes, like: Array) -> Array:
    """An array of the dtype and shape of `like` from its bytes."""
    raw = _raw(like)
    with jax.enable_x64(True):  # keeps whatever dtype it is, float64 too
        array = jax.device_put(np.frombuffer(content, raw.dtype).reshape(raw.shape))
    return (
        jax.random.wrap_key_data(array, impl=jax.random.key_impl(like)) if _is_key(like) else array
    )

"""Checkpoints: a run's state at a chunk boundary, as a file that is whole or ignored.

An npz of the carry's leaves as bytes and a note in JSON, with a SHA-256 over all of it.
"""

import hashlib
import io
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PyTree

from untruncated.basics.errors import SuiteError
from untruncated.basics.files import write_atomically
from untruncated.catalogue.field import one_line
from untruncated.results.result_files import canonical_json

Say = Callable[[str], None]


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


def identity_of(asked: Any, chunk_steps: int, carry: PyTree[Array]) -> dict[str, Any]:
    """What a checkpoint must share with a run to be its own.

    That is what was `asked` (the run, its coordinates and choices), the chunk length, and the form
    of the carry.
    """
    leaves = [
        [jax.tree_util.keystr(path), str(leaf.dtype), list(leaf.shape)]
        for path, leaf in jax.tree_util.tree_leaves_with_path(carry)
    ]
    return {"asked": asked, "chunk_steps": chunk_steps, "leaves": leaves}


def saver(path: Path, identity: dict[str, Any], say: Say) -> Callable[[State], bool]:
    """A function that saves a state and tells whether it could; warns the first time it cannot."""
    warned = False

    def save(state: State) -> bool:
        nonlocal warned
        try:
            write_atomically(path, pack(state, identity))
        except SuiteError as error:
            if not warned:
                say(f"warning: going on without checkpoints: {error}")
            warned = True
            return False
        return True

    return save


def load(path: Path, identity: dict[str, Any], start: State, say: Say) -> State | None:
    """The state saved at `path`; None, with a warning where a file is there, if it is no use."""
    try:
        state = unpack(path.read_bytes(), identity, start)
    except FileNotFoundError:
        return None
    except Exception as error:  # numpy, zipfile and a header's parser raise anything
        reason = one_line((str(error) or type(error).__name__)[:300])
        say(f"warning: ignoring the checkpoint {path}, starting from step 0: {reason}")
        return None
    return state._replace(clock=state.clock._replace(resumed=state.clock.resumed + 1))


def pack(state: State, identity: dict[str, Any]) -> bytes:
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


def unpack(content: bytes, identity: dict[str, Any], start: State) -> State:
    """The state in a checkpoint file; an exception of any kind if damaged or another run's."""
    like, structure = jax.tree.flatten(start.carry)
    with np.load(io.BytesIO(content)) as file:
        note, checksum = str(file["note"]), str(file["checksum"])
        leaves = [file[f"leaf_{i}"].tobytes() for i in range(len(file.files) - 2)]
    if checksum != _checksum(note, leaves):
        raise ValueError("its content does not fit its checksum")
    saved = json.loads(note)
    if saved["identity"] != identity:
        raise ValueError(
            "it is of another run, chunk length, setting of jax or version of the program"
        )
    step, clock = saved["step"], Clock(**saved["clock"])
    if not all(type(count) is int and 0 <= count < 2**63 for count in (step, clock.resumed)):
        raise ValueError("its step is no number of steps")
    if not all(isinstance(seconds, float) and math.isfinite(seconds) for seconds in clock[:3]):
        raise ValueError("its times are no numbers of seconds")
    carry = jax.tree.unflatten(structure, list(map(_restore, leaves, like)))
    return State(step, carry, clock)


def _checksum(note: str, leaves: list[bytes]) -> str:
    return hashlib.sha256(b"".join([note.encode(), *leaves])).hexdigest()


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

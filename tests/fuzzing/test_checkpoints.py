"""Spoiled checkpoints are what was saved, or set aside with one line."""

import io
import json
import random

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from untruncated.running import checkpoints
from untruncated.running.checkpoints import Clock, State, identity_of, load, pack

CARRY = {"weights": jnp.arange(6.0).reshape(2, 3), "count": jnp.int32(4)}

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def saved():
    """A run at step 40, what a new run of it starts from, its identity, and its checkpoint."""
    carry = {**CARRY, "key": jax.random.key(3)}
    start = State(0, {**jax.tree.map(jnp.zeros_like, CARRY), "key": jax.random.key(0)}, Clock())
    identity = identity_of({"steps": 100, "seeds": [1, 2]}, 10, carry)
    return start, identity, pack(State(40, carry, Clock(1.5, 2.5, 0.5, 1)), identity)


def with_note(content: bytes, note: str) -> bytes:
    """The checkpoint with another note, and a checksum that fits."""
    with np.load(io.BytesIO(content)) as file:
        arrays = {name: file[name] for name in file.files}
    leaves = [arrays[f"leaf_{i}"].tobytes() for i in range(len(arrays) - 2)]
    arrays |= {"note": np.array(note), "checksum": np.array(checkpoints._checksum(note, leaves))}
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


@pytest.mark.parametrize("block", range(4))
def test_a_spoiled_checkpoint_is_whole_or_set_aside(
    block, saved, tmp_path, spoil, one_line, of_seed
):
    start, identity, whole = saved
    with np.load(io.BytesIO(whole)) as file:
        note = json.loads(str(file["note"]))
    path = tmp_path / "run.npz"
    for seed in range(500 * block, 500 * block + 500):
        with of_seed(seed):
            said: list[str] = []
            if random.Random(seed).random() < 0.6:
                path.write_bytes(spoil(whole, seed))
            else:
                path.write_bytes(with_note(whole, json.dumps(spoil(note, seed))))
            state = load(path, identity, start, said.append)
            if state is None:
                assert len(said) == 1
                one_line(said[0])
                continue
            assert not said and type(state.step) is int and state.step >= 0
            assert np.isfinite(state.clock).all() and type(state.clock.resumed) is int
            for name, values in CARRY.items():
                assert np.array_equal(state.carry[name], values)
            assert np.array_equal(
                *map(jax.random.key_data, (state.carry["key"], jax.random.key(3)))
            )

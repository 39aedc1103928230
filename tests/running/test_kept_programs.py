"""Compiled programs that are kept: read in silence on every processor, replaced where damaged."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from untruncated.running import kept_programs

PROGRAM = """
import os
from untruncated.running.jax_settings import start_jax
os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
start_jax()
import jax, jax.numpy as jnp
hits = []
jax.monitoring.register_event_listener(lambda name, **_: hits.append(name))
print(jax.jit(lambda x: jnp.cumsum(jnp.sin(x) @ x)[::3].sum())(jnp.eye(24)))
print(sum(name.endswith("/cache_hits") for name in hits) > 0)
"""


def compute(home: Path) -> tuple[str, bool, str]:
    """The number, whether its program was read, and what stood on stderr."""
    names = ("XDG_CACHE_HOME", "JAX_COMPILATION_CACHE_DIR")
    environment = {key: value for key, value in os.environ.items() if key not in names}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=environment | {"XDG_CACHE_HOME": str(home)},
        capture_output=True,
        text=True,
        check=True,
    )
    number, read = done.stdout.split()
    return number, read == "True", done.stderr


def test_a_second_start_reads_in_silence_and_a_damaged_program_is_replaced(tmp_path):
    number, read, err = compute(tmp_path)
    assert (read, err) == (False, "")
    entries = {path: path.read_bytes() for path in tmp_path.rglob("*-cache")}
    assert entries
    assert compute(tmp_path) == (number, True, "")
    damages = (lambda content: b"", lambda content: content[:200] + b"\0" + content[201:])
    for damage in damages:
        for path, content in entries.items():
            path.write_bytes(damage(content))
        assert compute(tmp_path) == (number, False, "")
        assert compute(tmp_path) == (number, True, "")


EXPECTED = (
    b"E1201 03:53:17.5 1 cpu_aot_loader.cc:220] Loading XLA:CPU AOT result. Target machine feature "
    b"+prefer-no-scatter is not  supported on the host machine. Could lead to SIGILL.\n"
)
REAL = EXPECTED.replace(b"+prefer-no-scatter", b"+avx512f")


def test_a_real_mismatch_and_all_else_is_told(capfd):
    with kept_programs._without_remark():
        os.write(2, EXPECTED + b"something else\n" + REAL)
    os.write(2, EXPECTED)
    told = capfd.readouterr().err.encode()
    assert told == b"something else\n" + REAL + EXPECTED


@pytest.mark.parametrize(
    ("system", "version", "kept"),
    [("Darwin", "0.9.2", False), ("Darwin", "0.10.0", True), ("Linux", "0.9.2", True)],
)
def test_nothing_is_kept_on_a_mac_whose_jaxlib_cannot_read_it(
    system, version, kept, tmp_path, monkeypatch
):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(kept_programs.platform, "system", lambda: system)
    monkeypatch.setattr(kept_programs.metadata, "version", lambda package: version)
    assert kept_programs.can_be_kept() == kept


def test_nothing_is_kept_where_there_is_no_room(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert not kept_programs.can_be_kept()

"""How jax is set up for a run; all of it has to be said before jax is imported."""

import os
import re
import subprocess
import sys

from untruncated.basics.errors import SuiteError
from untruncated.running.kept_programs import can_be_kept, mend_reading, programs_folder
from untruncated.running.number_settings import EVERY_LOOP, XLA_FLAGS, fix_numbers

_NAMES = ("JAX_", "XLA_")
_START = "import jax; jax.numpy.zeros(1)"  # flags are read when the first program is compiled


def start_jax(*, keep_programs: bool = True, every_loop_whole: bool = False) -> None:
    """Imports jax as a run wants it, and starts its device.

    What changes numbers is set here, whatever the environment says of it.

    `every_loop_whole` is for runs that compare times of small problems with those of large ones.

    Raises:
        SuiteError: It cannot start; says why, and what the environment says of it.
    """
    given = {name: text for name, text in os.environ.items() if name[:4] in _NAMES and text}
    _check_flags()
    if every_loop_whole:
        compile_every_loop_whole()
    prepare_jax(keep_programs=keep_programs)
    try:
        import jax

        fix_numbers()
        jax.devices()
        mend_reading()
    except Exception as error:  # of any kind: a bad setting, a missing library, no device
        raise _cannot_start(str(error) or "there is no such device", given) from error


def _check_flags() -> None:
    """Tries flags that the user gives: a bad one ends the process."""
    given = [flag for flag in os.environ.get("XLA_FLAGS", "").split() if flag not in _ours()]
    if not given or "jax" in sys.modules:
        return
    tried = subprocess.run([sys.executable, "-c", _START], capture_output=True, check=False)
    complaint = re.search(rb"^[EF]\d.*?\] (.*)$", tried.stderr, flags=re.MULTILINE)
    if tried.returncode and complaint:
        reason = complaint[1].decode(errors="replace")
        raise _cannot_start(reason, {"XLA_FLAGS": os.environ["XLA_FLAGS"]})


def _cannot_start(reason: str, given: dict[str, str]) -> SuiteError:
    line = reason.strip().splitlines()[0][:300]
    settings = ", ".join(f"{name}={value}" for name, value in given.items())
    return SuiteError(
        f"jax cannot start: {line.rstrip('.')}. "
        + (f"See what the environment sets: {settings}" if settings else "Reinstall it")
    )


def prepare_jax(*, keep_programs: bool = True) -> None:
    """One core unless told otherwise, whole loops compiled, and compiled programs kept.

    A run's inner loop is too small to share between cores: two threads are slower than one.
    """
    os.environ.setdefault("NPROC", "1")
    compile_loops_whole()
    if keep_programs and "JAX_COMPILATION_CACHE_DIR" not in os.environ and can_be_kept():
        os.environ["JAX_COMPILATION_CACHE_DIR"] = str(programs_folder())
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.5")
    # The compiler warns each time that it reads a kept program: errors only.
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")


def compile_loops_whole() -> None:
    """Adds to `XLA_FLAGS` what makes small loops fast; a flag that stands there already is kept.

    On a CPU, XLA starts each kernel of a loop's body on its own, and a step of learning has dozens
    that take less time than their start. Raising the bound under which it compiles a loop as one
    function does away with the starts. GPUs ignore this.
    """
    given = os.environ.get("XLA_FLAGS", "").split()
    if given and not given[0].startswith("--"):
        return  # the name of a file with flags
    named = {flag.split("=")[0] for flag in given}
    ours = [flag for flag in _ours() if flag.split("=")[0] not in named]
    os.environ["XLA_FLAGS"] = " ".join([*ours, *given])


def compile_every_loop_whole() -> None:
    """As `compile_loops_whole`, with loops of any size compiled as one function.

    Otherwise the larger ones are compiled in another way, and a line through the times of all sizes
    tells of the compiler.
    """
    given = os.environ.get("XLA_FLAGS", "")
    if "xla_backend_extra_options" not in given and given.strip()[:2] in ("", "--"):
        option = f"--xla_backend_extra_options=xla_cpu_small_while_loop_byte_threshold={EVERY_LOOP}"
        os.environ["XLA_FLAGS"] = f"{option} {given}".strip()
    compile_loops_whole()


def _ours() -> list[str]:
    return [f"--{name}={value}" for name, value in XLA_FLAGS.items()]

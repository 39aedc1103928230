"""`untruncated show`: an environment as text, or as a web page."""

import itertools
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from untruncated.basics.errors import SuiteError
from untruncated.basics.files import check_writable
from untruncated.basics.messages import progress
from untruncated.catalogue import ENVIRONMENTS, KINDS, PROGRAMS
from untruncated.catalogue.brax import BRAX
from untruncated.catalogue.entry import not_among
from untruncated.running.jax_settings import start_jax

if TYPE_CHECKING:
    from untruncated.rendering.transcript import Moment

LONGEST = 100_000


def show(
    name: str,
    policy: str | None = None,
    seed: int = 0,
    steps: int | None = None,
    fidelity: str | None = None,
    output: Path | None = None,
) -> Iterator[str]:
    """The lines to print of one episode, or of the beginning of a stream that has no end.

    Args:
        name: The environment.
        policy: "random" or "optimal", of an environment that has actions; None for the first.
        seed: What is random is drawn from it.
        steps: Where to break off; None for the whole episode, or about a trial of a stream.
        fidelity: None for the environment's default.
        output: The web page, of a robot; None for `<name>.html`.

    Raises:
        SuiteError: There is no such environment, or it has no such option.
    """
    known = {**ENVIRONMENTS, **KINDS["control_environment"]}
    if name not in known:
        raise SuiteError(not_among(name, known, "environment"))
    if steps is not None and steps < 1:
        raise SuiteError(f"--steps must be at least 1, not {steps}")
    if not 0 <= seed < 2**32:
        raise SuiteError(f"--seed must be from 0 to {2**32 - 1}, not {seed}")
    if output and name not in BRAX:
        raise SuiteError(f"--output is for a web page, as of {', '.join(BRAX)}")
    if name in ENVIRONMENTS and (steps or 0) > LONGEST:
        raise SuiteError(f"--steps must be at most {LONGEST}: {name} has no end")
    if policy and name in ENVIRONMENTS:
        raise SuiteError(f"--policy is for environments with actions: {name} has none")
    page = output or Path(f"{name}.html")
    if name in BRAX:
        check_writable(page)
    try:
        fields = known[name].resolve({"fidelity": fidelity} if fidelity else {}, "environment")
        start_jax()
        environment = known[name].load()(**fields)
        if name in ENVIRONMENTS:
            from untruncated.rendering.stream_transcript import STEPS, stream_transcript

            discount = PROGRAMS["optimal_prediction"].fields["discount"].default
            return stream_transcript(environment, seed, discount, steps or STEPS)
        from untruncated.rendering.transcript import described, episode, introduction

        moments = episode(environment, policy or "random", seed, steps)
    except ValueError as error:
        raise SuiteError(str(error)) from error
    if name in BRAX:
        return _write_page(environment, moments, min(steps or environment.longest, 10**9), page)
    return itertools.chain(introduction(environment), [""], described(environment, moments))


def _write_page(robot: Any, moments: Iterable["Moment"], steps: int, output: Path) -> Iterator[str]:
    """Writes the page, and gives the lines to print beside it."""
    from untruncated.basics.files import write_atomically
    from untruncated.rendering.brax_page import page
    from untruncated.rendering.transcript import described, introduction

    with progress(f"compiling the physics of {robot.robot}, a minute or two the first time") as say:
        kept = []
        for t, moment in enumerate(moments):
            kept.append(moment)
            if t:
                say(f"step {t} of at most {steps}")
        say(f"writing {output}")
        lines = [*introduction(robot), *robot.legend(), "", *described(robot, kept)]
        write_atomically(output, page(robot, [moment.state for moment in kept], lines))
    yield from (*introduction(robot), *robot.legend(), lines[-1])
    yield f"{output}: an animation, and at every step what the agent sees and the truth"

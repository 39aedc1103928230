"""One episode as a page of HTML: Brax's animation, and the transcript below it."""

import html
from collections.abc import Iterable, Sequence

from untruncated.environments.brax_environment import BraxEnvironment, State
from untruncated.environments.quiet_brax import brax


def page(environment: BraxEnvironment, states: Iterable[State], lines: Sequence[str]) -> str:
    """The states as an animation by Brax's own renderer, with lines of text below, all ASCII.

    The browser loads Brax's viewer from the network; the text needs nothing.
    """
    physics = [state.physics for state in states]
    before, end, after = brax.io.html.render(environment.system, physics).rpartition("</body>")
    text = html.escape("\n".join(lines)).encode("ascii", "xmlcharrefreplace").decode()
    return f"{before}<pre>\n{text}\n</pre>{end}{after}"

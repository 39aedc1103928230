"""Ways to spoil a valid file: as a text, byte by byte or line by line, and as a tree of values."""

import copy
import random
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pytest

STRANGE = [None, True, False, 0, -1, 1, 2**31, 2**63, -(10**30), 10**400, 0.5, 1e300, 1e-300]
STRANGE += [-1e39, float("nan"), float("inf"), "", "x", "σ → ∞", "a\nb", "\ud800", "\x00", "$x"]
STRANGE += ["{", "{x}", "{0}", "{steps!r}", "{steps:q}", "$", "$\\frac{$", "_", "010", "1e999"]
STRANGE += ["rtrl", "truncated_bptt", "gru", "package.module:Name", "os:getcwd", "small", "a"]
STRANGE += [[], {}, [[]], [None], {"name": None}, {"name": "gru"}, {"": ""}, {"x": {"y": []}}]
STRANGE += [list(range(1000)), "9" * 5000, [1, 1], [1e300], {"flops": 1}, {"flops": 10**40}]
TEXTS = ["\x00", "\t", "\n", "\r", "é", "\u2028", "\ufeff", "𝒙", "~", "*a", "&a ", "!!int ", "? "]
TEXTS += ["- ", ": ", "#", "[", "]", "{", "}", '"', "'", "|\n", "<<: ", "9" * 400, "1e400", "null"]
TEXTS += ["<<<<<<< ours\n", "---\n", "%YAML 9.9\n", "!!python/object:os.system ", "2024-13-45"]


def spoiled_text(text: str, rng: random.Random) -> bytes:
    """The text with one to three changes to its characters, lines or bytes."""
    for _ in range(rng.randint(1, 3)):
        lines, at = text.splitlines(keepends=True), rng.randrange(len(text) + 1)
        line = rng.randrange(len(lines)) if lines else 0
        kind = rng.randrange(7)
        if kind == 0:
            text = text[:at]
        elif kind == 1:
            text = text[:at] + rng.choice(TEXTS) + text[at:]
        elif kind == 2:
            text = text[:at] + text[at + rng.randint(1, 5) :]
        elif kind == 3 and lines:
            text = "".join([*lines[: line + 1], lines[line], *lines[line + 1 :]])
        elif kind == 4 and lines:
            text = "".join([*lines[:line], *lines[line + 1 :]])
        elif kind == 5 and lines:
            other = rng.randrange(len(lines))
            lines[line], lines[other] = lines[other], lines[line]
            text = "".join(lines)
        else:
            end = at + rng.randint(1, 30)
            text = text[:at] + text[at:end][::-1] + text[end:]
    return spoiled_bytes(text.encode(), rng) if rng.random() < 0.3 else text.encode()


def spoiled_bytes(content: bytes, rng: random.Random) -> bytes:
    """The content with a few bits flipped, or cut off, or with a part of it twice."""
    content = bytearray(content)
    kind = rng.randrange(4)
    if not content or kind == 0:
        return bytes(content[: rng.randrange(len(content) + 1)])
    if kind == 1:
        start = rng.randrange(len(content))
        part = content[start : start + rng.randint(1, 200)]
        return bytes(content[:start] + part + content[start:])
    for _ in range(rng.randint(1, 8)):
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    return bytes(content)


def places(tree: Any) -> Iterator[tuple[Any, Any]]:
    """Every part of a tree, as its container and its key there."""
    pairs = tree.items() if isinstance(tree, dict) else enumerate(tree)
    for key, value in pairs:
        yield tree, key
        if isinstance(value, dict | list):
            yield from places(value)


def spoiled_tree(tree: Any, rng: random.Random) -> Any:
    """A copy of the tree in which one or two parts are another value, gone, or elsewhere."""
    tree = copy.deepcopy(tree)
    for _ in range(rng.randint(1, 2)):
        found = list(places(tree))
        if not found:
            return tree
        # by depth first, so that long lists of numbers do not take all changes
        container, key = rng.choice([rng.choice(found), *found[:10], found[-1]])
        kind = rng.randrange(6)
        if kind == 0:
            del container[key]
        elif kind == 1 and isinstance(container, dict):
            container[rng.choice(["x", "σ", "", "name", "a\nb", "panels", "$x"])] = container.pop(
                key
            )
        elif kind == 2:
            other, place = rng.choice(found)
            container[key] = copy.deepcopy(other[place])
        elif kind == 3 and isinstance(container[key], int | float):
            container[key] = rng.choice([0, -1, 10, 10**40, 0.1, 1e-300]) * min(container[key], 1e9)
        elif kind == 4:
            container[key] = [container[key]]
        else:
            container[key] = copy.deepcopy(rng.choice(STRANGE))
    return tree


@pytest.fixture
def spoil() -> Callable[..., Any]:
    """A function of something and a seed: a text becomes bytes, bytes bytes, a tree a tree."""

    def spoil(what: Any, seed: object) -> Any:
        rng = random.Random(repr(seed))
        if isinstance(what, str):
            return spoiled_text(what, rng)
        return (spoiled_bytes if isinstance(what, bytes) else spoiled_tree)(what, rng)

    return spoil


@pytest.fixture
def one_line() -> Callable[[object], None]:
    """A function that holds an error, or a text, to what a message must be."""

    def check(message: object) -> None:
        text = str(message)
        assert text and text.isprintable(), repr(text)[:500]
        assert len(text) < 6000, text[:500]

    return check


@pytest.fixture
def of_seed() -> Callable[[int], AbstractContextManager]:
    """A context whose errors name the seed that leads to them."""

    @contextmanager
    def naming(seed: int) -> Iterator[None]:
        try:
            yield
        except BaseException as error:
            error.add_note(f"seed {seed}")
            raise

    return naming

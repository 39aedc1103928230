"""Words of run specs that have been renamed: a spec of old words in those of today.

A run's hash follows from the words of its spec. A rename therefore gives every run that uses the
word a new hash; its result stays valid and moves to the new name (`results.migration`).
"""

from collections.abc import Mapping
from typing import Any

_KINDS = {"credit": "gradient", "learner": "agent"}
# Program: the field that lists what it measures side by side.
_MEMBERS = {"update_timing": {"agents": "cases"}}
# The name `rtrl` changed its meaning. Its `semantics` 2 tells a spec of today from an old one.
_ESTIMATORS: dict[str, dict[str, Any]] = {
    "rtrl": {"name": "dense_rtrl"},
    "cell_traces": {"name": "rtrl", "semantics": 2},
}


def renamed(spec: Mapping[str, Any]) -> dict[str, Any]:
    """The canonical spec in today's words; one of today's words comes back as it is.

    The hash of a tuning run, in `tuning`, is not translated.
    """
    members = _MEMBERS.get(str(spec.get("program")), {})
    words = _with_keys(_part(spec), members)
    if isinstance(words.get("cases"), list):
        words["cases"] = [
            _part(case) if isinstance(case, Mapping) else case for case in words["cases"]
        ]
    return words


def has_old_words(spec: Mapping[str, Any]) -> bool:
    """Whether a canonical spec was written before a rename."""
    return renamed(spec) != spec


def _part(spec: Mapping[str, Any]) -> dict[str, Any]:
    """A spec, or one of its cases, with today's names of components and estimators."""
    words = _with_keys(spec, _KINDS)
    estimator = words.get("estimator")
    if isinstance(estimator, Mapping) and "semantics" not in estimator:
        words["estimator"] = {**estimator, **_ESTIMATORS.get(str(estimator.get("name")), {})}
    return words


def _with_keys(spec: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """The spec with these keys renamed, in its order; a key whose new name is taken stays."""
    return {
        key if names.get(key, key) in spec else names[key]: value for key, value in spec.items()
    }

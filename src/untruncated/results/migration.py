"""Moves result files whose specs have old words to their names of today.

Nothing is computed and no number changes: a file gets the renamed spec, its hash and checksum, and
notes its old hash as `renamed_from`. A final run's `tuning` becomes the new hash of its tuning run.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from untruncated.basics.errors import ResultError
from untruncated.basics.files import write_atomically
from untruncated.results.renames import has_old_words, renamed
from untruncated.results.result_files import layout, read_document, spec_hash, with_spec


@dataclass(frozen=True)
class Migration:
    """What was done in a folder: old and new hashes, and a line about each file left as it was."""

    moved: dict[str, str] = field(default_factory=dict)
    left: list[str] = field(default_factory=list)
    current: int = 0


def result_paths(folder: Path) -> list[Path]:
    """The result files in a folder, by name."""
    # glob gives nothing, and no error, where the folder cannot be read
    listed = sorted(folder.iterdir()) if folder.exists() else []
    return [path for path in listed if path.suffix == ".json" and path.name[0] != "."]


def migrate(folder: Path) -> Migration:
    """Moves all result files of old words in a folder.

    A file is written under its new name before the old one is removed, so that a migration that was
    killed is completed by another. A file stays as it is, and is named, if it is damaged or no
    result, if its tuning run is not here, or if something else has its new name.
    """
    left, old, hashes, current = [], {}, {}, 0
    for path in result_paths(folder):
        try:
            document = read_document(path)
        except ResultError as error:
            left.append(str(error))
            continue
        spec, earlier = document["spec"], document.get("renamed_from")
        if has_old_words(spec):
            old[path] = spec
            if "tuning" not in spec:
                hashes[document["hash"]] = spec_hash(renamed(spec))
        else:
            current += 1
            if isinstance(earlier, str):
                hashes[earlier] = document["hash"]
    moved = {}
    for path, spec in old.items():
        try:
            before, after = _move(path, _in_words_of_today(path, spec, hashes))
        except ResultError as error:
            left.append(str(error))
        else:
            moved[before] = after
    return Migration(moved, left, current)


def _in_words_of_today(path: Path, spec: dict[str, Any], hashes: dict[str, str]) -> dict[str, Any]:
    words = renamed(spec)
    if "tuning" in words:
        if words["tuning"] not in hashes:
            raise ResultError(
                f"{path}: its tuning run {words['tuning']} is not among the sound files here"
            )
        words["tuning"] = hashes[words["tuning"]]
    return words


def _move(path: Path, spec: dict[str, Any]) -> tuple[str, str]:
    """Writes the file under the hash of its new spec and removes the old; gives both hashes."""
    document = read_document(path)
    before, document = document["hash"], with_spec(document, spec)
    document["renamed_from"] = before
    target, text = path.with_name(f"{document['hash']}.json"), layout(document)
    if not target.exists():
        write_atomically(target, text)
    elif target.read_text(encoding="utf-8", errors="replace") != text:
        raise ResultError(f"{path}: its new name {target.name} is taken by another content")
    path.unlink()
    return before, document["hash"]

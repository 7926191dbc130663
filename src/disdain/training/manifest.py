"""What a checkpoint consists of: the size and the SHA-256 of every file, in a file that checks itself."""

import hashlib
import json
from pathlib import Path
from typing import Any

NAME = "manifest.json"
FORMAT = 1


class Damaged(Exception):
    """A checkpoint is not what was written; the message names the file."""


def write_manifest(folder: Path, about: dict[str, Any]) -> None:
    """Describe every file in the folder, together with `about`."""
    content = {"format": FORMAT, **about, "files": {name: _fingerprint(folder / name) for name in _files(folder)}}
    (folder / NAME).write_bytes(_text(content))


def read_manifest(folder: Path) -> dict[str, Any]:
    """What `write_manifest` was told; `Damaged` unless every file is exactly what was written, and none is new."""
    about = read_header(folder)
    listed, there = about["files"], _files(folder)
    for name in sorted(listed.keys() | set(there)):
        if name not in there:
            raise Damaged(f"{name} is missing")
        if name not in listed:
            raise Damaged(f"{name} does not belong to it")
        size = (folder / name).stat().st_size
        if size != listed[name]["size"]:
            raise Damaged(f"{name} has {size} bytes instead of {listed[name]['size']}")
        if _fingerprint(folder / name) != listed[name]:
            raise Damaged(f"{name} was changed")
    return about


def read_header(folder: Path) -> dict[str, Any]:
    """The manifest itself, checked; the files it describes are not looked at."""
    try:
        text = (folder / NAME).read_bytes()
    except FileNotFoundError:
        raise Damaged(f"{NAME} is missing") from None
    try:
        about = json.loads(text)
        digest = about.pop("sha256")
    except (ValueError, KeyError, TypeError, AttributeError):
        raise Damaged(f"{NAME} cannot be read") from None
    if _text(about) != text or digest != _digest(about):
        raise Damaged(f"{NAME} was changed")
    return about


def rewritten(about: dict[str, Any], leave: list[str]) -> bytes:
    """The text of a manifest without some of the parts."""
    files = {name: entry for name, entry in about["files"].items() if name.split("/")[0] not in leave}
    parts = [name for name in about["parts"] if name not in leave]
    return _text({**about, "parts": parts, "left_out": sorted({*about["left_out"], *leave}), "files": files})


def _files(folder: Path) -> list[str]:
    """Every file below a folder but the manifest."""
    found = (
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir() or path.is_symlink()
    )
    return sorted(name for name in found if name != NAME)


def _fingerprint(path: Path) -> dict[str, Any]:
    with open(path, "rb") as file:
        return {"size": path.stat().st_size, "sha256": hashlib.file_digest(file, "sha256").hexdigest()}


def _text(content: dict[str, Any]) -> bytes:
    """The one way to write a manifest down: any other byte is a change."""
    return (json.dumps({**content, "sha256": _digest(content)}, indent=1, sort_keys=True) + "\n").encode()


def _digest(content: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()

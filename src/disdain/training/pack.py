"""A run in one archive, to carry to another machine: what is needed to read it and to go on with it."""

import json
import os
import shutil
import zipfile
import zlib
from pathlib import Path, PurePosixPath
from typing import Any

from disdain.errors import UserError
from disdain.training.checkpoints import REPLAY
from disdain.training.durable import TEMPORARY, sync, sync_tree, writing
from disdain.training.inspection import is_pickle_name
from disdain.training.manifest import NAME, rewritten
from disdain.training.resuming import find_point
from disdain.training.run import CONFIG, Run

SUFFIX = ".zip"
EPOCH = (1980, 1, 1, 0, 0, 0)  # the same run makes the same archive, whenever it is packed
LEFT = ("checkpoints", "events")  # of the checkpoints only one travels; event files are made from the metrics


def pack(run: Run, archive: Path | None = None, *, with_replay: bool = False, note: Any = print) -> Path:
    """Write the archive (None: RUN.zip beside the run) and return its path.

    It holds the newest whole checkpoint, the rows and snapshots up to it, and no replay unless asked for.
    """
    beside = run.path.resolve()
    target = beside.with_name(beside.name + SUFFIX) if archive is None else archive
    if target.exists():
        raise UserError(f"{target} is there already: choose another name, or remove it")
    if not target.parent.is_dir():
        raise UserError(f"{target.parent} is not a folder")
    with run.held():
        point = find_point([run], note)
        entries = _entries(run, point.update, point.manifests[0], with_replay=with_replay)
        temporary = target.with_name(f"{TEMPORARY}{target.name}-{os.getpid()}")
        try:
            with writing(target):
                with zipfile.ZipFile(temporary, "w") as file:
                    for name in sorted(entries):
                        _add(file, name, entries[name])
                sync(temporary)
                os.replace(temporary, target)
        finally:
            temporary.unlink(missing_ok=True)
    return target


def unpack(archive: Path, folder: Path) -> Run:
    """The run in an archive, in a new or empty folder. Nothing outside of the folder is touched."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UserError(f"{folder} is not empty: a run needs a folder of its own")
    folder.parent.mkdir(parents=True, exist_ok=True)
    temporary = folder.with_name(f"{TEMPORARY}{folder.name}-{os.getpid()}")
    try:
        with writing(folder):
            _extract(archive, temporary)
            Run.open(temporary)
            sync_tree(temporary)
            if folder.exists():
                folder.rmdir()
            os.rename(temporary, folder)
    except UserError as error:
        raise UserError(str(error).replace(str(temporary), str(archive))) from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return Run.open(folder)


def _entries(run: Run, update: int, manifest: dict[str, Any], *, with_replay: bool) -> dict[str, Path | bytes]:
    """What goes into the archive: names, with a file or its content."""
    entries: dict[str, Path | bytes] = {}
    for path in sorted(run.path.rglob("*")):
        name = path.relative_to(run.path)
        if path.is_file() and not path.is_symlink() and name.parts[0] not in LEFT and not name.parts[0].startswith("."):
            entries[name.as_posix()] = path
    for later in run.snapshots.updates():
        if later > update:
            del entries[f"snapshots/{later:09d}.npz"]
    if run.metrics.path.exists():
        entries["metrics.jsonl"] = run.metrics.path.read_bytes()[: manifest.get("metrics", {"bytes": 0})["bytes"]]
    if update == 0:
        return entries
    folder = run.checkpoints.path(update)
    leave = [] if with_replay or REPLAY not in manifest["parts"] else [REPLAY]
    about = rewritten(manifest, leave)
    inside = f"checkpoints/{folder.name}"
    entries.update({f"{inside}/{name}": folder / name for name in json.loads(about)["files"]})
    entries[f"{inside}/{NAME}"] = about
    return entries


def _add(file: zipfile.ZipFile, name: str, content: Path | bytes) -> None:
    info = zipfile.ZipInfo(name, EPOCH)
    info.external_attr = 0o644 << 16
    info.compress_type = zipfile.ZIP_STORED if name.startswith("checkpoints/") else zipfile.ZIP_DEFLATED
    large = isinstance(content, Path) and content.stat().st_size > 2**31 - 1
    with file.open(info, "w", force_zip64=large) as to:
        if isinstance(content, bytes):
            to.write(content)
        else:
            with open(content, "rb") as source:
                shutil.copyfileobj(source, to, 1 << 20)


def _extract(archive: Path, folder: Path) -> None:
    try:
        with zipfile.ZipFile(archive) as file:
            names = [info for info in file.infolist() if not info.is_dir()]
            if CONFIG not in {info.filename for info in names}:
                raise UserError(f"{archive} is not a packed run: it has no {CONFIG}")
            for info in names:
                _check_name(archive, info.filename)
            for info in names:
                target = folder / info.filename
                target.parent.mkdir(parents=True, exist_ok=True)
                with file.open(info) as source, open(target, "xb") as to:
                    shutil.copyfileobj(source, to, 1 << 20)
    except FileNotFoundError:
        raise UserError(f"{archive} is not there") from None
    except (zipfile.BadZipFile, zlib.error, EOFError, FileExistsError, NotADirectoryError, IsADirectoryError) as error:
        raise UserError(f"{archive} is not a packed run, or was damaged: {error}") from None


def _check_name(archive: Path, name: str) -> None:
    """Refuse what would land outside of the folder, and pickles."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\\" in name or ":" in name or "\0" in name:
        raise UserError(f"{archive} holds {name!r}, which would be written outside of the run's folder")
    if is_pickle_name(name):
        raise UserError(f"{archive} holds a pickle, {name!r}: a run has none, and opening it could run code")

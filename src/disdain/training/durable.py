"""Writing to disk so that a kill or a power cut leaves the old state or the new one, never half of it."""

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from disdain.errors import Fault, UserError

TEMPORARY = ".tmp-"  # what begins so is nobody's but the writer's, and is removed when a run is taken up again
FULL_DISK = ("No space left on device", "RESOURCE_EXHAUSTED", "Disk quota exceeded", "File too large")


def write_file(path: Path, content: bytes) -> None:
    """The whole content under that name, or what stood there before."""
    temporary = path.with_name(f"{TEMPORARY}{path.name}-{os.getpid()}")
    try:
        with open(temporary, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync(path.parent)


def sync(path: Path) -> None:
    """Have the system write a file's content, or a folder's list of names, to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_tree(folder: Path) -> None:
    """A folder with everything in it, innermost first."""
    for root, _, files in os.walk(folder, topdown=False):
        for name in files:
            sync(Path(root, name))
        sync(Path(root))


def remove_tree(folder: Path) -> None:
    """Remove a folder so that no moment shows half of it under its own name."""
    doomed = folder.with_name(f"{TEMPORARY}old-{folder.name}-{os.getpid()}")
    os.replace(folder, doomed)
    shutil.rmtree(doomed, ignore_errors=True)


def remove_leftovers(folder: Path) -> None:
    """Remove what killed writers left behind in a folder."""
    for leftover in folder.glob(f"{TEMPORARY}*"):
        if leftover.is_dir():
            shutil.rmtree(leftover)
        else:
            leftover.unlink()


@contextlib.contextmanager
def writing(what: str | Path) -> Iterator[None]:
    """A disk that is full or broken becomes one line that names what could not be written."""
    try:
        yield
    except (UserError, Fault):
        raise
    except Exception as error:
        reason = _disk_trouble(error)
        if reason is None:
            raise
        raise Fault(f"cannot write {what}: {reason}; what was saved before is intact") from error


def _disk_trouble(error: BaseException | None) -> str | None:
    """Why a write failed, if the disk is to blame; storage libraries only say it in the text of their errors."""
    while error is not None:
        if isinstance(error, OSError) and error.strerror:
            return error.strerror
        for mark in FULL_DISK:
            if mark in str(error):
                return FULL_DISK[0] if mark == "RESOURCE_EXHAUSTED" else mark
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return None

"""One process at a time may write a run; the kernel lets go of the lock however that process ends."""

import fcntl
import os
from pathlib import Path
from typing import IO

from disdain.errors import UserError


class Lock:
    """`RUN/.lock`: held through an open file, so it never outlives its owner. Says who the owner is."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._file: IO[str] | None = None

    @property
    def held(self) -> bool:
        """Whether this object holds the lock."""
        return self._file is not None

    def acquire(self) -> None:
        """Take the lock, or a `UserError` that names the process that has it."""
        if self.held:
            return
        file = open(self.folder / ".lock", "a+", encoding="ascii")  # noqa: SIM115
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            owner = file.read(20).strip() or "unknown"
            file.close()
            raise UserError(f"{self.folder} is in use by process {owner}: wait until it ends, or stop it") from None
        file.truncate(0)
        file.write(f"{os.getpid()}\n")
        file.flush()
        self._file = file

    def release(self) -> None:
        """Let go."""
        if self._file is not None:
            self._file.close()
            self._file = None

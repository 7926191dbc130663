"""Ctrl-C and SIGTERM: the first asks training to stop where it can save, the second ends the process at once."""

import os
import signal
import sys
import threading
from types import TracebackType
from typing import Any

ASKED = (signal.SIGINT, signal.SIGTERM)
SHOW_CURSOR = "\x1b[?25h"


class Interrupts:
    """While this is entered, `signal` says which signal has asked to stop, None before any.

    A thread listens, because Python's own handlers wait until a compiled program has come back. Outside of the main
    thread, where signals cannot be had, nothing is changed.
    """

    def __init__(self) -> None:
        self.signal: int | None = None
        self._before: dict[int, Any] = {}

    def __enter__(self) -> "Interrupts":
        if threading.current_thread() is not threading.main_thread():
            return self
        self._read, self._write = os.pipe()
        os.set_blocking(self._write, False)
        self._wakeup = signal.set_wakeup_fd(self._write)
        self._before = {number: signal.signal(number, self._handle) for number in ASKED}
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._before:
            return
        for number, handler in self._before.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(self._wakeup)
        os.close(self._write)
        self._thread.join()
        os.close(self._read)

    def _handle(self, number: int, _: Any) -> None:
        self.signal = self.signal or number  # an event loop may have taken the listener's place

    def _listen(self) -> None:
        asked = False
        while byte := os.read(self._read, 1):
            number = byte[0]
            if number not in ASKED:
                continue
            if asked:
                print(SHOW_CURSOR if sys.stderr.isatty() else "", end="", file=sys.stderr, flush=True)
                os._exit(128 + number)
            asked = True
            self.signal = number
            print(
                "disdain: stopping after the updates under way; once more to stop at once", file=sys.stderr, flush=True
            )

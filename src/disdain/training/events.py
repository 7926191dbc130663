"""TensorBoard event files, a folder for each seed, so that every measure becomes one curve a seed."""

import datetime
import math
import shutil
from typing import Any

from disdain.training.metrics import Row
from disdain.training.run import Run

FOLDER = "events"


class Events:
    """Written anew from the metrics whenever training starts: the files can never say more or less than those do."""

    def __init__(self, run: Run) -> None:
        from tensorboardX import SummaryWriter

        folder = run.path / FOLDER
        if folder.exists():
            shutil.rmtree(folder)
        self._began = datetime.datetime.fromisoformat(run.about["created"]).timestamp()
        self._writers: list[Any] = [SummaryWriter(str(folder / f"seed-{seed}")) for seed in run.seeds]
        for row in run.metrics.rows():
            self._add(row)
        self._flush()

    def add(self, row: Row) -> None:
        """An evaluation."""
        self._add(row)
        self._flush()

    def close(self) -> None:
        """Finish the files."""
        for writer in self._writers:
            writer.close()

    def _add(self, row: Row) -> None:
        for measure, values in row["measures"].items():
            for writer, value in zip(self._writers, values, strict=True):
                if value is not None and math.isfinite(value):
                    writer.add_scalar(measure, value, row["update"], walltime=self._began + row["seconds"])

    def _flush(self) -> None:
        for writer in self._writers:
            writer.flush()


def wanted(run: Run) -> bool:
    """A run that has event files keeps having them."""
    return (run.path / FOLDER).is_dir()

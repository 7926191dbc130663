"""The plain C loop that the tabular speed is measured against: one core, one seed."""

import dataclasses
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

FLAGS = ("-O3", "-march=native", "-ffast-math", "-fopenmp-simd")


@dataclasses.dataclass(frozen=True)
class Timed:
    """What the C loop printed."""

    microseconds: float
    greedy_skills: float


class Yardstick:
    """The compiled loop; `available` is False where there is no C compiler."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="disdain-yardstick-")
        self._program = Path(self._folder.name) / "four_rooms"
        compiler = shutil.which("gcc") or shutil.which("cc")
        self.available = compiler is not None
        if compiler:
            source = Path(__file__).with_name("four_rooms.c")
            subprocess.run([compiler, *FLAGS, str(source), "-o", str(self._program), "-lm"], check=True)

    def run(self, size: str, updates: int, seed: int, rate: float, method: str) -> Timed:
        """Train one seed and time it."""
        command = [str(self._program), size, str(updates), str(seed), str(rate), method]
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        numbers = re.search(r"([\d.]+) us/update.*greedy_skills ([\d.]+)", printed)
        assert numbers is not None, printed
        return Timed(float(numbers[1]), float(numbers[2]))

"""How long it takes until something can be done: import, help, the first models; beside `import sympy`, in one run.

    python benchmarks/startup.py [--rounds 5]

Each is a process of its own, with all that Python itself needs; wall clock, the best of the rounds. The disk space of
the environment is that of its files without bytecode and pip.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from importlib.metadata import distributions

STARTS = {
    "python alone": "pass",
    "import sympy": "import sympy",
    "import hermite_rmt": "import hermite_rmt",
    "hermite-rmt --help": "from hermite_rmt.cli import main; main(['--help'])",
    "hermite_rmt.Nonlinearity": "import hermite_rmt as hr; hr.Nonlinearity",
    "hermite_rmt.Attention": "import hermite_rmt as hr; hr.Attention",
    "an error to 30 digits": "import hermite_rmt as hr; hr.Attention('tanh(x)').error('0.5', '0.1', digits=30)",
    "a first curve": "import hermite_rmt as hr; hr.Attention('tanh(x)').error([0.5, 1, 2], 0.1)",
}


def best(code: str, rounds: int) -> float:
    """Return the shortest wall-clock time of a process, in seconds."""
    taken = []
    for _ in range(rounds):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
        taken.append(time.perf_counter() - start)
    return min(taken)


def installed_bytes() -> int:
    """Return the size of all installed files but bytecode and pip."""
    files = (file for found in distributions() if found.metadata["Name"] != "pip" for file in found.files or [])
    paths = {file.locate() for file in files if file.suffix != ".pyc"}
    return sum(path.stat().st_size for path in paths if path.is_file())  # type: ignore[attr-defined]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    times = {name: best(code, rounds) for name, code in STARTS.items()}
    for name, seconds in times.items():
        print(f"{seconds:6.2f} s  {seconds / times['import sympy']:5.2f} times import sympy  {name}")
    print(f"{installed_bytes() / 1e6:6.0f} MB in this environment")


if __name__ == "__main__":
    main()

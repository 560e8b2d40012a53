"""The command line: `hermite-rmt`. Imports stay light here, so that `--help` answers at once."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

DONE, FAILED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    0: done; 1: a computation or verification failed; 2: bad input; 130: interrupted. Whatever goes wrong is said in
    one line on stderr.
    """
    try:
        from hermite_rmt.cli.app import app

        result = app(list(sys.argv[1:] if arguments is None else arguments), standalone_mode=False)
        sys.stdout.flush()
        return result if isinstance(result, int) else DONE
    except BrokenPipeError:
        # the reader of a pipe has seen enough; keep Python from complaining once more at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except KeyboardInterrupt:
        return fail("interrupted", INTERRUPTED)
    except Exception as error:
        return fail(*_explain(error))


def fail(message: str, code: int) -> int:
    """Say in one line on stderr what went wrong, and return the exit code."""
    print(f"hermite-rmt: {' '.join(message.split())}", file=sys.stderr)
    return code


def _explain(error: Exception) -> tuple[str, int]:
    kind = type(error).__name__
    if kind == "Abort":
        return "interrupted", INTERRUPTED
    if hasattr(error, "format_message"):  # what typer raises on bad usage
        message = error.format_message() or "a command is missing"
        if kind == "NoSuchOption" and not str(getattr(error, "option_name", "")).startswith("--"):
            message += " (an expression that starts with a minus sign goes after --)"
        return f"{message} (see hermite-rmt --help)", BAD_INPUT
    if isinstance(error, (ValueError, OSError, ImportError)):  # the last: an extra, which the message names
        return str(error), BAD_INPUT
    if isinstance(error, MemoryError):
        return f"out of memory: {error}", FAILED
    if isinstance(error, ArithmeticError):
        return str(error), FAILED
    return f"unexpected {kind}: {error}", FAILED

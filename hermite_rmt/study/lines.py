"""Files of lines that only grow, so that whatever ends the process, what was written stays."""

from __future__ import annotations

from pathlib import Path


class GrowingFile:
    """A text file with a heading, to which whole lines are appended, each call in one write.

    A killed process can leave one cut line at the end. It is never read, and is removed before the next line is
    appended; until then a file is not changed, so that one that turns out to be something else stays as it was.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._whole: int | None = None

    def open(self, heading: str) -> list[str]:
        """Return the whole lines of the file; a missing file, or one that was cut in its heading, is begun."""
        content = self.path.read_bytes() if self.path.exists() else b""
        if heading.encode().startswith(content):
            self._whole = 0
            self.append(heading)
            return heading.splitlines()
        self._whole = content.rfind(b"\n") + 1
        return content[: self._whole].decode(errors="replace").splitlines()

    def append(self, text: str) -> None:
        """Append whole lines."""
        if self._whole is not None:
            self._drop_cut_line(self._whole)
            self._whole = None
        with self.path.open("ab", buffering=0) as file:
            file.write(text.encode())

    def _drop_cut_line(self, whole: int) -> None:
        if self.path.exists() and self.path.stat().st_size > whole:
            with self.path.open("r+b") as file:
                file.truncate(whole)

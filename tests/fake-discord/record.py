"""The fake's record: every request and every frame, one JSON object a line.

In: what happened. Out: a file, and the same in memory for questions. Never: a token; a header that
carries one is replaced by whether it was the right one.
"""

from __future__ import annotations

import json
import time


class Record:
    def __init__(self, path: str | None):
        self.file = open(path, "a", encoding="utf-8") if path else None
        self.lines: list[dict] = []
        self.began = time.monotonic()

    def add(self, what: str, **fields) -> dict:
        line = {"ms": round((time.monotonic() - self.began) * 1000, 3), "what": what, **fields}
        self.lines.append(line)
        if self.file:
            self.file.write(json.dumps(line, ensure_ascii=False) + "\n")
            self.file.flush()
        return line

    def close(self):
        if self.file:
            self.file.close()

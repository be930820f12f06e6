"""Waiting for something to become true.

In: a question. Out: its first true answer, or a failure that says what was waited for. Never: a
fixed sleep in a test.
"""

from __future__ import annotations

import time


def until(question, what: str, seconds: float = 60, also=None):
    """Asks until the answer is true. `also` is asked each time and may raise."""
    deadline = time.monotonic() + seconds
    pause = 0.01
    while True:
        found = question()
        if found:
            return found
        if also:
            also()
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {seconds} s for {what}; last answer: {found!r}")
        time.sleep(pause)
        pause = min(pause * 1.5, 0.2)

"""Putting a reply's parts together again.

In: the parts, in order. Out: the text that was split, with the fence lines that a cut added taken
out again. Never: a look at the splitter: this is written from the rule alone.
"""

from __future__ import annotations

import re

# CommonMark: up to three blanks, three or more of one mark, an info string without back-ticks.
OPENER = re.compile(r"^ {0,3}(`{3,})([^`]*)$|^ {0,3}(~{3,})(.*)$")


def open_fence(text: str) -> str | None:
    """The marks of the fence that is still open at the end of a text."""
    marks = None
    for line in text.split("\n"):
        line = line.removesuffix("\r")
        if marks is None:
            match = OPENER.match(line)
            if match:
                marks = match[1] or match[3]
        else:
            closer = line.strip(" \t")
            indent = len(line) - len(line.lstrip(" "))
            if indent <= 3 and set(closer) == {marks[0]} and len(closer) >= len(marks):
                marks = None
    return marks


def joined(parts: list[str]) -> str:
    """The text before it was split.

    A cut inside a fence ends its part with a closing line and begins the next with an opening one.
    So the parts are read one after the other, and where the text so far, without the last line of
    a part, has a fence open that the part's last line closes and the next part opens again, both
    lines were added.
    """
    text = parts[0]
    for part in parts[1:]:
        body, newline, last = text.rpartition("\n")
        marks = open_fence(body) if newline else None
        first, _, rest = part.partition("\n")
        reopened = OPENER.match(first)
        closes = marks and set(last.strip()) == {marks[0]} and len(last.strip()) >= len(marks)
        if closes and reopened and (reopened[1] or reopened[3])[0] == marks[0]:
            # A line feed stands before the closing line: it is the text's own where the cut was
            # between two lines, and was added where the cut was inside one.
            text = body + "\n" + rest
        else:
            text += part
    return text

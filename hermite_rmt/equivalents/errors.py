"""Errors that point into the expression."""

from __future__ import annotations

from typing import Any


class ExpressionError(ValueError):
    """An expression outside the language: the message names the offending part and what to write instead."""


def clip(expression: Any, length: int = 120) -> str:
    """Return the text of a subexpression, shortened for a message."""
    text = str(expression)
    return text if len(text) <= length else text[: length - 4] + " ..."

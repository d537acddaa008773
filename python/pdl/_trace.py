"""Traces of what runs do, for ui.perfetto.dev."""

from __future__ import annotations

import contextlib
import os
import warnings
from typing import Iterator

from pdl import _pdl
from pdl._check import integer_of, path_of, shown_path


@contextlib.contextmanager
def trace(path: str | os.PathLike[str], *, max_bytes: int = 1 << 30) -> Iterator[None]:
    """Records what each thread does in a ``with`` block into a file for ui.perfetto.dev, like ``pdl run --trace``.

    The file has a slice for each call of a run, with its source line, types, and speed, and for stages of the
    compiler and of training. Only one trace is recorded at a time.

    Parameters
    ----------
    path : str or path
        the file to create or overwrite
    max_bytes : int
        the trace ends, with a warning, when the file has this size

    Examples
    --------
    >>> with pdl.trace("run.pftrace"):
    ...     net(image=image)
    """
    limit = integer_of(max_bytes, "max_bytes")
    if limit < 1:
        raise ValueError(f"max_bytes must be at least 1, got {limit}")
    path = path_of(path)
    recording = _pdl._start_trace(path, limit)
    try:
        yield
    finally:
        recording.finish()
    if recording.is_truncated:
        warnings.warn(f"the trace ended early, since '{shown_path(path)}' reached {limit} bytes", stacklevel=3)

"""Networks that are kept for the next call like the one that they were made for."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Callable, Generic, Hashable, TypeVar

T = TypeVar("T")


class Cache(Generic[T]):
    """Values by keys, the last used ones: as many as ``most``, and as long as what they were used on takes
    no more than ``most_bytes`` together, since a network keeps memory for what it computed."""

    def __init__(self, most: int = 1024, most_bytes: int = 128 << 20) -> None:
        self._most = most
        self._most_bytes = most_bytes
        self._bytes = 0
        self._lock = threading.Lock()
        self._kept: OrderedDict[Hashable, tuple[T, int]] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """What is kept, or made now."""
        with self._lock:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
                return found[0]
        return make()

    def keep(self, key: Hashable, value: T, num_bytes: int) -> None:
        """Keeps a value that was used on so many bytes."""
        with self._lock:
            self._bytes += num_bytes - self._kept.pop(key, (value, 0))[1]
            self._kept[key] = value, num_bytes
            while self._kept and (len(self._kept) > self._most or self._bytes > self._most_bytes):
                self._bytes -= self._kept.popitem(last=False)[1][1]

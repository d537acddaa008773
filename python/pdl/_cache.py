"""A cache of compiled networks."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Callable, Generic, Hashable, TypeVar

T = TypeVar("T")


class Cache(Generic[T]):
    """A least-recently-used cache of at most ``most`` values.

    It also limits the total size of the arrays that the values were used on to ``most_bytes``, since a network
    keeps memory for the sizes that it ran with."""

    def __init__(self, most: int = 1024, most_bytes: int = 128 << 20) -> None:
        self._most = most
        self._most_bytes = most_bytes
        self._bytes = 0
        self._lock = threading.Lock()
        self._kept: OrderedDict[Hashable, tuple[T, int]] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The cached value of ``key``, or the result of ``make``, which is not cached."""
        with self._lock:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
                return found[0]
        return make()

    def keep(self, key: Hashable, value: T, num_bytes: int) -> None:
        """Caches a value that was used on ``num_bytes`` bytes of arrays."""
        with self._lock:
            self._bytes += num_bytes - self._kept.pop(key, (value, 0))[1]
            self._kept[key] = value, num_bytes
            while self._kept and (len(self._kept) > self._most or self._bytes > self._most_bytes):
                self._bytes -= self._kept.popitem(last=False)[1][1]

"""Values as tables and images, for notebooks."""

from __future__ import annotations

import struct
import zlib
from html import escape
from typing import Any

import numpy as np

from pdl._pdl import Tensor
from pdl._ragged import Ragged

# A longer axis shows so many elements at each end.
_EDGE = 10
# The number of images of a batch that are shown.
_MAX_IMAGES = 16

_Array = np.ndarray[Any, Any]


def table_of(label: str, type: str, value: object) -> str | None:
    """A vector, a matrix or the rows of a ragged matrix as an HTML table; None for other values."""
    if isinstance(value, Ragged) and value.inner is None and value.values.ndim == 1:
        elements, offsets = _elements(value.values), value.offsets.numpy()
        rows = [elements[offsets[i] : offsets[i + 1]] for i in range(len(offsets) - 1)]
    elif isinstance(value, Tensor) and value.ndim in (1, 2):
        rows = list(np.atleast_2d(_elements(value)))
    else:
        return None
    width = max((len(row) for row in rows), default=0)
    if not width:
        return None
    is_matrix = not isinstance(value, Tensor) or value.ndim == 2
    columns = _shown(width)
    caption = escape(f"{label}: {type}" if label else type)
    lines = [f'<table><caption style="text-align:left">{caption}</caption>']
    head = [""] * is_matrix + ["…" if i is None else str(i) for i in columns]
    lines.append("<tr>" + "".join(f"<th>{cell}</th>" for cell in head) + "</tr>")
    for index in _shown(len(rows)):
        begin = [f"<th>{'…' if index is None else index}</th>"] * is_matrix
        row: Any = [] if index is None else rows[index]
        cells = [_cell(row[i]) if i is not None and i < len(row) else "<td></td>" for i in columns]
        lines.append("<tr>" + "".join(begin + cells) + "</tr>")
    return "\n".join([*lines, "</table>"])


def _elements(tensor: Tensor) -> _Array:
    """The elements of a tensor in a dtype of NumPy."""
    array = tensor.numpy()
    return array.astype(np.float32) if tensor.dtype == "bf16" else array


def _shown(count: int) -> list[int | None]:
    """The indices of an axis to show; None stands for the omitted ones."""
    if count <= 2 * _EDGE + 1:
        return list(range(count))
    return [*range(_EDGE), None, *range(count - _EDGE, count)]


def _cell(element: Any) -> str:
    if isinstance(element, (bool, np.bool_)):
        return f"<td>{'true' if element else 'false'}</td>"
    if isinstance(element, (int, np.integer)):
        return f"<td>{element}</td>"
    style = "" if np.isfinite(element) else ' style="color:#d00"'
    return f"<td{style}>{float(element):.6g}</td>"


def is_image(type: str, value: object) -> bool:
    """Whether a value is shown as an image without being asked for: u8[H, W] and u8[H, W, 1 or 3 or 4]."""
    if not isinstance(value, Tensor) or not type.startswith("u8[") or value.ndim not in (2, 3):
        return False
    return min(value.shape[:2]) >= 8 and (value.ndim == 2 or value.shape[2] in (1, 3, 4))


def image_of(value: object) -> bytes | None:
    """A value [H, W], [H, W, C], [C, H, W] or a batch of these as a PNG, where C is 1, 3 (RGB) or 4 (RGBA). u8 elements
    are brightness; of other dtypes the smallest element is black and the largest white. None for values of other
    shapes, or without elements."""
    if not isinstance(value, Tensor) or value.size == 0:
        return None
    array = _elements(value)
    is_batch = array.ndim == 4 or array.ndim == 3 and not _channels(array)
    if array.ndim not in (2, 3, 4):
        return None
    images = [_with_channels(one) for one in (array[:_MAX_IMAGES] if is_batch else [array])]
    if any(image is None for image in images):
        return None
    pixels = _brightness(np.concatenate([image for image in images if image is not None], axis=1))
    return _png(pixels)


def _channels(array: _Array) -> int:
    """The number of channels of [H, W, C] or [C, H, W]; 0 if there are none."""
    last, first = array.shape[2], array.shape[0]
    return last if last in (1, 3, 4) else first if first in (1, 3, 4) else 0


def _with_channels(array: _Array) -> _Array | None:
    """An image as [H, W, C]."""
    if array.ndim == 2:
        return array[:, :, None]
    if not _channels(array):
        return None
    return array if array.shape[2] in (1, 3, 4) else np.moveaxis(array, 0, 2)


def _brightness(array: _Array) -> _Array:
    """Elements as u8."""
    if array.dtype == np.uint8:
        return array
    values = array.astype(np.float64)
    finite = values[np.isfinite(values)]
    low, high = (finite.min(), finite.max()) if finite.size else (0.0, 1.0)
    scaled = np.clip((values - low) / (high - low or 1.0), 0, 1)
    scaled = np.nan_to_num(scaled, nan=0.0)
    return np.round(255 * scaled).astype(np.uint8)


def _png(pixels: _Array) -> bytes:
    """[H, W, C] as a PNG."""
    height, width, channels = pixels.shape
    color = {1: 0, 3: 2, 4: 6}[channels]
    # Each line begins with its filter: none.
    lines = np.zeros((height, 1 + width * channels), np.uint8)
    lines[:, 1:] = pixels.reshape(height, -1)

    def chunk(name: bytes, data: bytes) -> bytes:
        checked = name + data
        return struct.pack(">I", len(data)) + checked + struct.pack(">I", zlib.crc32(checked))

    header = struct.pack(">IIBBBBB", width, height, 8, color, 0, 0, 0)
    parts = (b"IHDR", header), (b"IDAT", zlib.compress(lines.tobytes())), (b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*part) for part in parts)

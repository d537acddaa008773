#!/usr/bin/env python3
"""Draws the log of the soak test as SVG: memory over time, in the order of the log's columns.

    plot.py LOG.csv OUT.svg
"""

import csv
import sys

WIDTH, HEIGHT, LEFT, RIGHT, BOTTOM = 720, 260, 60, 150, 30
LINES = [("resident", "#999"), ("after malloc_trim", "#0b62a4"), ("blocks in use", "#2a7d2a")]


def main(log, out):
    with open(log, newline="") as file:
        rows = [[float(number) for number in row] for row in csv.reader(file)]
    last, top = rows[-1][0], max(row[1] for row in rows) / 2**20 * 1.1

    def position(second, memory):
        return (LEFT + (WIDTH - LEFT - RIGHT) * second / last, (HEIGHT - BOTTOM) * (1 - memory / top) + 5)

    def line(points, color, width):
        joined = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        return f'<polyline points="{joined}" fill="none" stroke="{color}" stroke-width="{width}"/>'

    def label(x, y, anchor, words, color="black"):
        return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{color}">{words}</text>'

    parts = [line([position(0, top), position(0, 0), position(last, 0)], "#888", 1)]
    for column, (name, color) in enumerate(LINES, start=1):
        points = [position(row[0], row[column] / 2**20) for row in rows]
        parts.append(line(points, color, 1.5))
        parts.append(label(WIDTH - RIGHT + 8, points[-1][1] + 4, "start", name, color))
    for i in range(5):
        x, y = position(last * i / 4, 0)
        parts.append(label(x, y + 16, "middle", f"{last * i / 240:.0f} min"))
        x, y = position(0, top * i / 4.4)
        parts.append(label(x - 6, y + 4, "end", f"{top * i / 4.4:.0f} MiB"))
    with open(out, "w") as file:
        file.write(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
                   'font-family="sans-serif" font-size="11">\n<rect width="100%" height="100%" fill="white"/>\n'
                   + "\n".join(parts) + "\n</svg>\n")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2])

#!/usr/bin/env python3
"""Draws the log of the soak test as SVG: the memory of the process over time, and below it the memory without what is
free.

    plot.py LOG.csv OUT.svg
"""

import csv
import sys

WIDTH, HEIGHT, LEFT, BOTTOM = 640, 240, 70, 40


def main(log, out):
    with open(log, newline="") as file:
        rows = [(float(second), int(resident) / 2**20, int(used) / 2**20) for second, resident, used, _, _ in csv.reader(file)]
    last, top = rows[-1][0], max(row[1] for row in rows) * 1.1

    def position(second, memory):
        return f"{LEFT + (WIDTH - LEFT - 10) * second / last:.1f},{(HEIGHT - BOTTOM) * (1 - memory / top) + 5:.1f}"

    resident = " ".join(position(row[0], row[1]) for row in rows)
    used = " ".join(position(row[0], row[2]) for row in rows)
    x_axis, y_axis = position(last, 0), position(0, top)
    origin = position(0, 0)
    marks = []
    for i in range(5):
        x, y = position(last * i / 4, 0).split(",")
        marks.append(f'<text x="{x}" y="{float(y) + 16:.1f}" text-anchor="middle">{last * i / 240:.0f} min</text>')
        x, y = position(0, top * i / 4.4).split(",")
        marks.append(f'<text x="{LEFT - 6}" y="{float(y) + 4:.1f}" text-anchor="end">{top * i / 4.4:.0f} MiB</text>')
    with open(out, "w") as file:
        file.write(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
                   'font-family="sans-serif" font-size="11">\n<rect width="100%" height="100%" fill="white"/>\n'
                   f'<polyline points="{y_axis} {origin} {x_axis}" fill="none" stroke="#888"/>\n'
                   f'<polyline points="{resident}" fill="none" stroke="#888" stroke-width="1.5"/>\n'
                   f'<polyline points="{used}" fill="none" stroke="#0b62a4" stroke-width="1.5"/>\n'
                   + "\n".join(marks) + "\n</svg>\n")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])

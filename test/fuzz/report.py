#!/usr/bin/env python3
"""Prints what one run of the fuzzer did: report.py TARGET LOG.

The log is libFuzzer's, with -print_final_stats=1 and -print_coverage=1. Edges are counted in the folders
that the target is about; what it reaches elsewhere is not shown.
"""
import collections
import re
import sys

# The folders, or files, whose code reads each kind of input.
ABOUT = {
    "source": ["frontend/", "ir/"],
    "network": ["ir/deserialize", "ir/network_reader", "ir/serialize"],
    "network_message": ["ir/deserialize", "ir/network_reader", "ir/serialize"],
    "onnx": ["onnx/"],
    "onnx_message": ["onnx/"],
    "csv": ["runtime/io/csv", "runtime/training/dataset"],
    "npy": ["runtime/io/npy"],
    "npz": ["runtime/io/npz", "runtime/io/zip_reader", "runtime/io/npy"],
    "safetensors": ["runtime/io/safetensors"],
    "weight_index": ["runtime/io/weight_index", "runtime/io/weight_source"],
    "checkpoint": ["runtime/training/checkpoint", "runtime/training/trainer_checkpoint"],
    "lsp": ["tools/pdl/lsp/", "frontend/editor/"],
    # It is about kernels, whose edges are not counted.
    "differential": [],
}
FUNCTION = re.compile(r"^(UN)?COVERED_FUNC: hits: \d+ edges: (\d+)/(\d+) .* (\S+):\d+$")


def main():
    target, path = sys.argv[1:]
    reached, edges = collections.Counter(), collections.Counter()
    stats, found = {}, []
    for line in open(path, errors="replace"):
        line = line.rstrip()
        if match := FUNCTION.match(line):
            for prefix in ABOUT[target]:
                if "/" + prefix in "/" + match[4]:
                    edges[prefix] += int(match[3])
                    reached[prefix] += int(match[2])
        elif match := re.match(r"#(\d+)\s", line):
            # Of a run that ends with a finding there are no statistics.
            stats["number_of_executed_units"] = int(match[1])
        elif match := re.match(r"stat::(\w+):\s+(\d+)", line):
            stats[match[1]] = int(match[2])
        elif re.match(r"==\d+==ERROR|property violated|.*Test unit written|internal error:|SUMMARY", line):
            found.append(line)
    print(f"{target}: {stats.get('number_of_executed_units', 0):,} runs, "
          f"{stats.get('average_exec_per_sec', 0):,} a second, {stats.get('new_units_added', 0):,} inputs kept, "
          f"{stats.get('peak_rss_mb', 0)} MiB")
    for prefix in ABOUT[target]:
        if edges[prefix]:
            print(f"  {prefix}: {reached[prefix]:,} of {edges[prefix]:,} edges "
                  f"({100 * reached[prefix] / edges[prefix]:.0f} %)")
        else:
            print(f"  {prefix}: no edges are counted there; see ABOUT in report.py")
    for line in found:
        print("  " + line)


main()

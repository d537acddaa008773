"""Checks a SARIF 2.1.0 log, for the parts of the format that `pdl` uses, and prints its results, one per line."""

import json
import re
import sys

URI = re.compile(r"(file:///|(?![^/]*:)|\./)([A-Za-z0-9._~/:@!$&'()*+,;=-]|%[0-9A-F]{2})*")


def only(table, required, optional=()):
    """Checks that the object has all required members, and no others except optional ones."""
    assert isinstance(table, dict), table
    assert set(required) <= set(table) <= set(required) | set(optional), sorted(table)
    return table


def text_of(message):
    return only(message, ["text"])["text"]


def region(table):
    only(table, ["startLine", "startColumn", "endLine", "endColumn"])
    begin, end = (table["startLine"], table["startColumn"]), (table["endLine"], table["endColumn"])
    assert begin >= (1, 1) and begin <= end, table
    return "{}:{}-{}:{}".format(*begin, *end)


def physical(table):
    only(table, ["artifactLocation", "region"])
    uri = only(table["artifactLocation"], ["uri"])["uri"]
    assert URI.fullmatch(uri), uri
    return uri + ":" + region(table["region"])


with open(sys.argv[1], encoding="utf-8") as file:
    log = only(json.load(file), ["$schema", "version", "runs"])
assert log["version"] == "2.1.0" and log["$schema"].endswith("sarif-2.1.0.json")
(run,) = log["runs"]
only(run, ["tool", "columnKind", "results"])
driver = only(only(run["tool"], ["driver"])["driver"], ["name", "semanticVersion", "rules"])
assert driver["name"] == "pdl" and re.fullmatch(r"\d+\.\d+\.\d+", driver["semanticVersion"])
rules = [only(rule, ["id", "shortDescription", "help"])["id"] for rule in driver["rules"]]
assert len(rules) == len(set(rules)) and all(re.fullmatch(r"PDL\d{4}", rule) for rule in rules)
for rule in driver["rules"]:
    assert text_of(rule["shortDescription"]) and text_of(rule["help"])
assert run["columnKind"] in ("unicodeCodePoints", "utf16CodeUnits")
print(run["columnKind"])
for result in run["results"]:
    only(result, ["level", "message"], ["ruleId", "ruleIndex", "locations", "relatedLocations", "fixes"])
    assert result["level"] in ("error", "warning", "note")
    if "ruleId" in result:
        assert rules[result["ruleIndex"]] == result["ruleId"]
    place = "-"
    for location in result.get("locations", []):
        place = physical(only(location, ["physicalLocation"], ["annotations"])["physicalLocation"])
        for annotation in location.get("annotations", []):
            region(annotation)
    ids = []
    for related in result.get("relatedLocations", []):
        only(related, ["id", "physicalLocation", "message"])
        physical(related["physicalLocation"])
        text_of(related["message"])
        ids.append(related["id"])
    assert len(ids) == len(set(ids))
    fixes = ""
    for fix in result.get("fixes", []):
        assert text_of(only(fix, ["description", "artifactChanges"])["description"])
        for change in fix["artifactChanges"]:
            only(change, ["artifactLocation", "replacements"])
            for edit in change["replacements"]:
                only(edit, ["deletedRegion", "insertedContent"])
                fixes += f" [{region(edit['deletedRegion'])} -> {text_of(edit['insertedContent'])}]"
    print(place, result["level"], result.get("ruleId", "-"), text_of(result["message"]).replace("\n", "|") + fixes)
print(len(run["results"]), "results, 1 run")

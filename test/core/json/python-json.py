"""Reads one JSON text a line; writes its own dumps of it and, of that, what every combination of options writes."""
import itertools, json, sys

for line in sys.stdin:
    value = json.loads(line)
    sent = json.dumps(value)
    rows = []
    for compact, ascii, sort in itertools.product((False, True), repeat=3):
        separators = (",", ":") if compact else (", ", ": ")
        rows.append(json.dumps(value, separators=separators, ensure_ascii=ascii, sort_keys=sort))
    print(json.dumps({"sent": sent, "indented": json.dumps(value, indent=3, ensure_ascii=False), "rows": rows}))

"""Reads the JSON texts of entries, writes what the digest of each should be; written apart from the service."""

import hashlib
import json
import sys

MADE = ("previous_hash", "entry_hash", "signature", "key_version")
for line in sys.stdin:
    entry = json.loads(line)
    rest = {name: value for name, value in entry.items() if name not in MADE}
    text = entry["previous_hash"] + json.dumps(rest, sort_keys=True)
    print(hashlib.sha256(text.encode("ascii")).hexdigest())

"""Chains entries as a Python service would: reads {"previous", "key", "keys", "entries"}, writes the sealed entries.

The digest of an entry is sha256(previous_hash + json.dumps(entry, sort_keys=True)), where the entry is without the
members that are added here.
"""

import hashlib
import hmac
import json
import sys

job = json.load(sys.stdin)
previous = job["previous"]
sealed = []
for entry in job["entries"]:
    key_version = entry.pop("key_version")
    digest = hashlib.sha256((previous + json.dumps(entry, sort_keys=True)).encode()).hexdigest()
    signature = hmac.new(job["keys"][key_version].encode(), digest.encode(), hashlib.sha256).hexdigest()
    sent = {
        **entry,
        "previous_hash": previous,
        "entry_hash": digest,
        "signature": signature,
        "key_version": key_version,
    }
    # As Starlette's JSONResponse renders it.
    text = json.dumps(sent, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    sealed.append({"previous": previous, "digest": digest, "seal": signature, "text": text})
    previous = digest
json.dump(sealed, sys.stdout)

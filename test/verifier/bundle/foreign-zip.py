"""Writes the zip described by the JSON on stdin to the path given: an independent and permissive zip writer."""
import json
import sys
import warnings
import zipfile

METHODS = {"stored": zipfile.ZIP_STORED, "deflated": zipfile.ZIP_DEFLATED, "bzip2": zipfile.ZIP_BZIP2}

warnings.simplefilter("ignore")  # of duplicate names, which are meant
plan = json.load(sys.stdin)
with zipfile.ZipFile(sys.argv[1], "w") as archive:
    archive.comment = plan["comment"].encode()
    for entry in plan["entries"]:
        info = zipfile.ZipInfo("placeholder", (2026, 11, 1, 0, 0, 0))
        info.filename = entry["name"]  # past the constructor, which cuts names at a NUL
        info.compress_type = METHODS[entry.get("method", "deflated")]
        info.external_attr = entry.get("mode", 0o100644) << 16
        with archive.open(info, "w", force_zip64=entry.get("zip64", False)) as target:
            target.write(entry["content"].encode())

#!/usr/bin/env bash
# peer-export.sh AUDIT_URL FOLDER
#
# The job as an operator would script it around the default contract: curl and jq call the service, sha256sum makes a
# manifest, peer.py checks the chain, zip -1 packs, FOLDER is the archive.
# EVIDENCE_API_KEY is the key; P streams are worked on at a time (default 1); MOST limits their number (default: all).
set -euo pipefail

export BASE=${1%/}
mkdir -p "$2"
ARCHIVE=$(realpath "$2")
SCRIPTS=$(dirname "$(realpath "$0")")
export ARCHIVE SCRIPTS

ask() {
  curl --fail --silent --show-error --retry 3 --header "Authorization: Bearer $EVIDENCE_API_KEY" "$@"
}

list_streams() {
  local cursor='' page
  while true; do
    page=$(ask "$BASE/streams/?limit=500$cursor")
    jq -r '.data[].stream_id' <<<"$page"
    cursor=$(jq -r 'if .next_cursor then "&cursor=" + (.next_cursor | @uri) else "" end' <<<"$page")
    [ -n "$cursor" ] || break
  done
}

export_stream() {
  set -euo pipefail
  local stream=$1 folder request package form
  folder=$(mktemp -d)
  cd "$folder"
  request=$(jq -nc --arg id "$stream" '{stream_id: $id}')
  package=$(ask --header 'Content-Type: application/json' --data "$request" "$BASE/evidence/generate" | jq -r .package_id)
  for form in json summary pdf; do
    ask --output "evidence.$form" "$BASE/evidence/$package/$form"
  done
  sha256sum evidence.* >manifest-sha256.txt
  python3 "$SCRIPTS/peer.py" evidence.json
  zip -q -1 "$ARCHIVE/${stream//[^A-Za-z0-9._-]/-}.zip" evidence.* manifest-sha256.txt
  cd /
  rm -r "$folder"
}
export -f ask export_stream

# Read whole before it is cut short: a writer whose reader went away fails.
streams=$(list_streams)
head -n "${MOST:--0}" <<<"$streams" | xargs -d '\n' -n 1 -P "${P:-1}" bash -c 'export_stream "$1"' _

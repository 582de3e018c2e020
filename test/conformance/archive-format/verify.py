#!/usr/bin/env python3
"""Verifies an archive by templates/help/archive-format.md alone: Python's standard library and the openssl program.

    verify.py ARCHIVE --public-key FILE --root FILE [--seal-key ID=FILE]

ARCHIVE is a folder. Prints what was found and the outcome. Exit 0: verified, 1: refuted, 2: of another version,
3: incomplete.
The numbers in comments are sections of the document. Encrypted bundles and forms that are missing are left out.
"""
import argparse, base64, functools, hashlib, hmac, json, os, re, subprocess, sys, tempfile, unicodedata, zipfile
from datetime import datetime, timedelta, timezone
from decimal import Decimal

CLAIMS = ["order", "content", "seal", "anchor", "continuity", "completeness", "agreement"]
ZEROS = "0" * 64
RECIPE = "hex(sha-256(jcs(entry - [hash, seal]))), RFC 8785"
LEDGER_TYPE = "application/vnd.evidence-exporter.ledger-entry-sha256"
FINDINGS, OPEN = [], []


def must(holds, place, what):
    if not holds:
        FINDINGS.append(f"{place}: {what}")
    return holds


def sha256(data):
    return hashlib.sha256(data).hexdigest()


# 2. JSON that can be read in one way only ------------------------------------------------------------------------

class Ambiguous(ValueError):
    pass


class Inexact(ValueError):
    pass


def number_text(value):
    """As ECMAScript writes a double (RFC 8785, section 3.2.2.3)."""
    if value == int(value) and abs(value) < 1e21:
        return str(int(value))
    sign, digits, exponent = Decimal(repr(value)).as_tuple()
    digits = "".join(map(str, digits)).rstrip("0") or "0"
    exponent = Decimal(repr(value)).adjusted()
    if -7 <= exponent < 0:
        text = "0." + "0" * (-exponent - 1) + digits
    elif 0 <= exponent < 21:
        text = digits[: exponent + 1] + "." + digits[exponent + 1:]
    else:
        text = digits[0] + ("." + digits[1:] if len(digits) > 1 else "") + f"e{exponent:+d}"
    return "-" * sign + text


def to_number(text):
    value = float(text)
    if Decimal(text) != Decimal(number_text(value)):
        raise Inexact(text)
    return int(value) if value == int(value) and abs(value) < 2**53 else value


def to_object(pairs):
    if len({name for name, _ in pairs}) != len(pairs):
        raise Ambiguous("a name occurs twice")
    return dict(pairs)


def parse_quoted(text):
    return json.loads(text, object_pairs_hook=to_object, parse_int=to_number, parse_float=to_number)


def parse(data):
    value = parse_quoted(data.decode("utf-8"))
    json.dumps(value, ensure_ascii=False).encode("utf-8")  # fails for half a surrogate
    return value


def utf16(text):
    return text.encode("utf-16-be")


def canonical(value):
    """RFC 8785."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{canonical(n)}:{canonical(value[n])}" for n in sorted(value, key=utf16)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return number_text(value)
    return json.dumps(value, ensure_ascii=False)


def record_bytes(value):
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode("utf-8")


def by_stream(pairs):
    """4: by UTF-16."""
    return dict(sorted(pairs, key=lambda pair: utf16(pair[0])))


# 3 and 4. Members: a name with "?" may be absent ------------------------------------------------------------------

VERDICT = ("stream_id status package_id entries first_sequence head previous_hash first_recorded_at last_recorded_at "
           "digests_bind entries_sha256 first_occurred_at last_occurred_at claims findings findings_count activity actions")
STREAM = VERDICT + " partial missing collected service bundle"
RUN = ("format run_id outcome exit_code scope period package_period source tool operator begun_at begun_at_by_service started_at "
       "finished_at attempts stream_list streams excluded failed vanished ended acceptances reconciliation warnings signed "
       "timestamp_authority report earlier_runs recovered left_over documents binding supplements supersedes")
MEMBERS = {name: set(names.split()) for name, names in {
    "archive": "format audit_url",
    "run entry": "format number previous_sha256 run_id run_sha256 package_period coverage supersedes spans created_at "
                 "audit_url heads signature?",
    "abandonment entry": "format number previous_sha256 abandons reason abandoned_by created_at audit_url heads "
                         "signature?",
    "acceptance entry": "format number previous_sha256 acceptance_key acceptance_sha256 stream_id seen created_at audit_url heads "
                        "signature?",
    "hand-over entry": "format number previous_sha256 hands_over_to created_at audit_url heads signature countersignature",
    "acceptance": "format stream_id reason accepted_by accepted_at head contradiction",
    "asked": "format run_id source period scope begun_at begun_at_by_service nonce operator binding",
    "stream": "format run_id recorded_at binding " + STREAM,
    "run stream": "record " + STREAM,
    "run": RUN,
    "run-draft": RUN.replace(" documents", ""),
    "hold": "format run_id action reason ordered_by ordered_at retain_until objects",
    "hold-result": "format record_sha256 outcome ended_at objects",
    "share": "format run_id shared_with shared_by shared_at form expires_at objects",
    "restamp": "format run_id ordered_by ordered_at timestamp_authority token",
    "envelope": "payload payloadType signatures",
    "verification": "format run_id period verified_at tool contract contract_sha256 recipe required_claims seal_key_ids "
                    "accepted_unhashed timestamp_roots vendor earlier package_period statement unfetched package_entries "
                    "secrets "
                    "accepted_restarts completeness verdict does_not_prove",
    "unfetched": "after to next late more failure",
    "verdict": VERDICT,
    "service": "format run_id stream_id stream_record check_answer listing",
    "supplements": "format run_id period services kinds findings findings_count",
    "supplements log": "format run_id services operator request requested_by export_started_at received_at steps",
    "transfer-log": "format run_id stream_id audit_url operator request requested_by export_started_at received_at steps",
}.items()}


def has_members(value, kind, place):
    names = MEMBERS[kind]
    optional = {name[:-1] for name in names if name.endswith("?")}
    needed = {name for name in names if not name.endswith("?")}
    have = set(value) if isinstance(value, dict) else set()
    return must(needed <= have <= needed | optional, place, f"has not the members of {kind}: {sorted(have ^ needed)}")


def read_record(data, kind, place, name=None):
    """The record, or None where it is none."""
    try:
        value = parse(data)
    except ValueError as error:
        must(False, place, f"cannot be read: {error!r}")
        return None
    wanted = f"evidence-{name or kind}/7"
    if not must(isinstance(value, dict) and value.get("format") == wanted, place, f"is not of the format {wanted}"):
        return None
    return value if has_members(value, kind, place) else None


# 5. Signatures and time-stamps ------------------------------------------------------------------------------------

def openssl(*words, data=None):
    return subprocess.run(["openssl", *words], input=data, capture_output=True)


@functools.cache
def key_id(file):
    return sha256(openssl("pkey", "-pubin", "-in", file, "-outform", "DER").stdout)


@functools.cache
def is_elliptic(file):
    return b"id-ecPublicKey" in openssl("pkey", "-pubin", "-in", file, "-text_pub", "-noout").stdout


def is_signed(keys, payload_type, payload, signature, place):
    if not must(isinstance(signature, dict) and set(signature) == {"keyid", "sig"}, place, "has no signature"):
        return False
    file = keys.get(signature["keyid"])
    if not must(file is not None, place, "is signed by a key that is nowhere"):
        return False
    return must(holds(file, payload_type, payload, signature), place, "its signature does not hold")


def holds(file, payload_type, payload, signature):
    kind = payload_type.encode()
    message = b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload)
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, name) for name in ("message", "signature")]
        for path, content in zip(paths, (message, base64.b64decode(signature["sig"]))):
            with open(path, "wb") as target:
                target.write(content)
        how = ["-digest", "sha256"] if is_elliptic(file) else []
        done = openssl("pkeyutl", "-verify", "-pubin", "-inkey", file, "-rawin", *how, "-in", paths[0], "-sigfile", paths[1])
    canonical_base64 = base64.b64encode(base64.b64decode(signature["sig"])).decode() == signature["sig"]
    return done.returncode == 0 and canonical_base64


def signed_part(entry):
    return sha256(record_bytes({name: value for name, value in entry.items() if name not in ("signature", "countersignature")})).encode()


def signatures_of(entry):
    return [entry[name] for name in ("signature", "countersignature") if isinstance(entry.get(name), dict)]


def token_time(token, digest, root, place, latest):
    """
    When a token says that the digest existed, and whether that is proved under this root. Not proved is a token of an
    issuer that does not lead to the root, and one of a time after `latest`. None where it does not hold.
    """
    with tempfile.TemporaryDirectory() as folder:
        path, own = os.path.join(folder, "token"), os.path.join(folder, "own.pem")
        with open(path, "wb") as target:
            target.write(token)
        text, bare = openssl("ts", "-reply", "-in", path, "-text"), []
        if text.returncode != 0:
            text, bare = openssl("ts", "-reply", "-token_in", "-in", path, "-token_out", "-text"), ["-token_in"]
        stated = re.search(rb"Time stamp: (.*)", text.stdout)
        time, accuracy = None, timedelta()
        if stated is not None:
            words = stated.group(1).decode().split(".")[0].replace(" GMT", "")
            time = datetime.strptime(words if words[-4:].isdigit() else words + re.search(r" \d{4}", stated.group(1).decode()).group(0), "%b %d %H:%M:%S %Y").replace(tzinfo=timezone.utc)
            seconds = re.search(rb"Accuracy: (?:0x)?([0-9a-fA-F]+) seconds", text.stdout)
            accuracy = timedelta(seconds=int(seconds.group(1), 16) if seconds else 0)
        if time is None:
            must(False, place, "is no time-stamp token")
            return None
        def verified(*trusted):
            return openssl("ts", "-verify", *bare, "-in", path, "-digest", digest, "-attime", str(int(time.timestamp())), *trusted)
        done = verified("-CAfile", root)
        if b"signer certificate not found" in done.stderr:
            imprint = b"".join(re.findall(rb"^ {4}[0-9a-f]{4} - ((?:[0-9a-f]{2}[ -])+)", text.stdout.split(b"Message data:")[-1].split(b"Serial number")[0], re.M))
            must(re.sub(rb"[ -]", b"", imprint).decode() == digest, place, "is no token over what it should be")
            return time + accuracy, False
        known = not re.search(rb"unable to get (local )?issuer certificate|self[- ]signed certificate", done.stderr)
        if done.returncode != 0 and not known:
            # Sound by itself, under the certificates that it carries?
            plain = openssl("ts", "-reply", *bare, "-in", path, "-token_out").stdout
            with open(own, "wb") as target:
                target.write(openssl("pkcs7", "-inform", "DER", "-print_certs", data=plain).stdout)
            done = verified("-CAfile", own, "-partial_chain")
    if not must(done.returncode == 0, place, "is no token over what it should be, under this root"):
        return None
    return time + accuracy, known and time - accuracy - timedelta(minutes=5) <= latest


def to_time(text):
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def in_utc(text):
    """A time as records have it; None for none."""
    return text and to_time(text).astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


# 2. Names ---------------------------------------------------------------------------------------------------------

def slug_of(stream):
    name = "".join(c for c in unicodedata.normalize("NFKD", stream) if not unicodedata.category(c).startswith("M"))
    name = re.sub(r"\.{2,}", ".", re.sub(r"[^a-z0-9._-]+", "-", name.lower()))[:59].strip("-.")
    if re.match(r"(con|prn|aux|nul|com\d|lpt\d)(\.|$)", name):
        name = "_" + name
    return f"{name or 'stream'}-{sha256(stream.encode())[:8]}"


# 9. Claims of one package -----------------------------------------------------------------------------------------

def judge_package(package, text, roots, seal_keys, known, place):
    """States of the claims, and the facts of the verdict. The default contract (7)."""
    states, stated, last = dict.fromkeys(CLAIMS, "unproved"), {}, None
    wrong, inexact, tried, sealed, seals = {name: 0 for name in CLAIMS}, 0, 0, 0, 0
    entries, content = package["entries"], hashlib.sha256()
    for entry, sent in zip(entries, text):
        sequence, previous = entry["sequence"], entry["prev_hash"]
        if sequence in stated or (last is not None and sequence < last) or entry["stream_id"] != known["stream_id"]:
            wrong["order"] += 1
        if (sequence == 1) != (previous == ZEROS):
            wrong["order"] += 1
        stated.setdefault(sequence, entry)
        last = sequence if last is None else max(last, sequence)
        hashed = {name: value for name, value in entry.items() if name not in ("hash", "seal")}
        if sent is None:
            inexact += 1
        elif sha256(canonical(hashed).encode()) != entry["hash"]:
            wrong["content"] += 1
        key = seal_keys.get(entry.get("seal_key_id"))
        seals += entry.get("seal") is not None
        if not re.fullmatch(r"[0-9a-f]{64}", entry.get("seal") or ZEROS):
            wrong["seal"] += 1
        elif key is not None and entry.get("seal") is not None:
            right = hmac.compare_digest(hmac.new(key, entry["hash"].encode(), "sha256").hexdigest(), entry["seal"])
            tried, sealed, wrong["seal"] = tried + 1, sealed + right, wrong["seal"] + (not right)
    if seal_keys and 0 < seals < len(entries):
        wrong["seal"] += 1
    numbers = sorted(stated)
    for before, after in zip(numbers, numbers[1:]):
        if after != before + 1 or stated[after]["prev_hash"] != stated[before]["hash"]:
            wrong["order"] += 1
    first, head = (stated[numbers[0]], stated[numbers[-1]]) if numbers else (None, None)
    # anchor
    covered = 0
    for point in package["checkpoints"]:
        entry, token = stated.get(point["sequence"]), point["anchor"].get("token")
        if point["stream_id"] != known["stream_id"]:
            wrong["anchor"] += 1
        elif entry is None:
            wrong["anchor"] += known["to"] is None and bool(numbers) and point["sequence"] > numbers[-1]
        elif point["hash"] != entry["hash"]:
            wrong["anchor"] += 1
        elif token is not None and roots is not None:
            before = len(FINDINGS)
            time, proves = token_time(base64.b64decode(token), entry["hash"], roots, f"{place}, token of {point['sequence']}", known["verified_at"]) or (None, False)
            old = proves and time + timedelta(seconds=5) < to_time(entry["timestamp"])
            wrong["anchor"] += len(FINDINGS) > before or old
            covered += proves and not old
    for name in ("order", "content", "seal", "anchor"):
        if wrong[name] > 0:
            states[name] = "refuted"
    if entries:
        states["order"] = states["order"] if wrong["order"] else "proved"
        states["content"] = states["content"] if wrong["content"] or inexact else "proved"
        states["seal"] = "proved" if not wrong["seal"] and sealed == len(entries) else states["seal"]
        states["anchor"] = "proved" if not wrong["anchor"] and covered else states["anchor"]
    facts = {
        "entries": len(entries), "package_id": package["package_id"],
        "first_sequence": first and first["sequence"], "previous_hash": first and first["prev_hash"],
        "head": head and {"sequence": head["sequence"], "hash": head["hash"]},
        "first_recorded_at": first and in_utc(first["timestamp"]), "last_recorded_at": head and in_utc(head["timestamp"]),
        "first_occurred_at": first and in_utc(first.get("occurred_at")), "last_occurred_at": head and in_utc(head.get("occurred_at")),
    }
    return states, facts, stated, tried > 0 and sealed == 0


def is_late(verification, spans):
    """9.5: entries that no export has, dated into a period that a run of `spans` exported after its end; or that may be."""
    unfetched = verification["unfetched"]
    if unfetched is None:
        return False
    return unfetched["failure"] is not None or any(is_dated_in(late, span["period"]) for late in unfetched["late"] for span in spans)


def is_dated_in(late, period):
    """9.5: the range is dated within a period that has an end."""
    begins = period["from"] is None or to_time(period["from"]) <= to_time(late["last_recorded_at"])
    return period["to"] is not None and begins and to_time(late["first_recorded_at"]) < to_time(period["to"])


def explains(verification, spans, start, end):
    """9.5: every number of a gap is of a late entry, in the period of an earlier run and not in that of the package."""
    unfetched = verification["unfetched"]
    late = [one for one in (unfetched and unfetched["late"]) or [] if not is_dated_in(one, verification["package_period"])
            and any(is_dated_in(one, span["period"]) for span in spans)]
    return all(any(one["from"] <= number <= one["to"] for one in late) for number in range(start, end + 1))


def judge_continuity(stated, spans, verification, states, place):
    """9.5, by digests: what the ledger says that earlier runs had."""
    late, period, said = is_late(verification, spans), verification["package_period"], verification["statement"]["head"]
    every = spans
    spans = [span for span in spans if span["entries"] is not None]
    for span in spans:
        theirs = span["entries"]["head"]
        if said["sequence"] is not None and said["sequence"] < theirs["sequence"]:
            return "refuted"
        if said["sequence"] == theirs["sequence"] and said["hash"] not in (None, theirs["hash"]):
            return "refuted"
    numbers = sorted(stated)
    if not numbers:
        return "unproved"
    first, last = numbers[0], numbers[-1]
    proved = not spans and first == 1 and stated[1]["prev_hash"] == ZEROS
    newest = max((span["entries"]["head"]["sequence"] for span in spans), default=0)
    for span in spans:
        theirs = span["entries"]
        start, end = theirs["first_sequence"], theirs["head"]["sequence"]
        hashes = {number: entry["hash"] for number, entry in stated.items()}
        hashes.setdefault(first - 1, stated[first]["prev_hash"])
        for number, value in ((end, theirs["head"]["hash"]), (start - 1, theirs["previous_hash"])):
            if number in hashes and hashes[number] != value and not (number == 0):
                return "refuted"
        proved = proved or (end in hashes and end >= first) or end + 1 == first or start - 1 == last
        for number, time in ((end, theirs["last_recorded_at"]), (start, theirs["first_recorded_at"])):
            inside = (period["from"] is None or period["from"] <= time) and (period["to"] is None or time < period["to"])
            if inside and not first <= number <= last:
                return "refuted"
    if period["to"] is None and last < newest:
        return "refuted"
    touches = any(s["entries"]["head"]["sequence"] < first - 1 and s["period"]["to"] == period["from"] is not None for s in spans)
    if touches and all(s["entries"]["head"]["sequence"] + 1 < first for s in spans) and not explains(verification, every, newest + 1, first - 1):
        return "refuted"
    return "proved" if proved and states["order"] == "proved" and not late else "unproved"


def contradicts_itself(stated, verification):
    """9.6: what the list of streams states, beside itself, the package and the entries after it."""
    entries, head = verification["statement"]["entries"], verification["statement"]["head"]
    numbers, to, unfetched = sorted(stated), verification["package_period"]["to"], verification["unfetched"]
    if unfetched is not None and unfetched["failure"] is None and unfetched["next"] != unfetched["after"] + 1:
        return True
    if entries is not None and head["sequence"] is not None and entries > head["sequence"]:
        return True
    if not numbers:
        return False
    ended = lambda number: to is not None and to_time(stated[number]["timestamp"]) < to_time(to) - timedelta(minutes=10)
    if head["sequence"] is None:
        return entries is not None and ended(numbers[-1]) and len(numbers) > entries
    hashes = {numbers[0] - 1: stated[numbers[0]]["prev_hash"], **{n: e["hash"] for n, e in stated.items()}}
    if head["hash"] is not None and head["sequence"] >= 1 and hashes.get(head["sequence"], head["hash"]) != head["hash"]:
        return True
    later = [number for number in numbers if number > head["sequence"]]
    return (entries is not None and len(numbers) - len(later) > entries) or bool(later and ended(later[0]))


def judge_completeness(stated, listing, stating, verification, place):
    """9.6"""
    if contradicts_itself(stated, verification):
        return "refuted"
    if verification["completeness"]["kind"] != "listing" or listing is None:
        return "unproved"
    left, last, undecided = {n: e["hash"] for n, e in stated.items()}, max(stated, default=0), False
    head, asked = verification["statement"]["head"], stating["asked_at_by_service"] or stating["asked_at"]
    for line in listing:
        sequence, digest, *time = line.split(",")
        if not re.fullmatch(r"0|[1-9]\d*", sequence) or len(time) > 1:
            return "refuted"
        sequence = int(sequence)
        if left.get(sequence) == digest and not time:
            del left[sequence]
        elif not time or sequence <= last or (head["sequence"] is not None and sequence <= head["sequence"]):
            return "refuted"
        elif not time[0]:
            undecided = True
        elif to_time(time[0]) < to_time(asked):
            return "refuted"
        else:
            undecided |= not to_time(stating["asked_at"]) <= to_time(time[0]) <= to_time(stating["latest"])
    whole = verification["package_period"] == {"from": None, "to": None}
    count = sum(1 for number in stated if head["sequence"] is None or number <= head["sequence"])
    wrong_head = head["hash"] is not None and stated.get(head["sequence"], head)["hash"] != head["hash"]
    wrong_count = whole and verification["statement"]["entries"] not in (None, count)
    short = verification["package_period"]["to"] is None and stated and last < (head["sequence"] or 0)
    if left or wrong_head or wrong_count or short:
        return "refuted"
    return "unproved" if undecided or not stated else "proved"


def cut_word(text):
    return text if len(text) <= 200 else text[:200] + "…"


def actions_of(summary):
    """What a summary says of actions; None where it does not."""
    sent = at(summary or {}, "counts.actions")
    if not isinstance(sent, dict) or not all(type(n) is int and n >= 0 for n in sent.values()) or not sent and summary["entry_count"] != 0:
        return None
    return add_up((cut_word(name), count) for name, count in sent.items())


def count_actions(entries):
    """Entries by action; None where one states none."""
    texts = [number_text(one) if type(one) in (int, float) else one for one in (entry.get("action") for entry in entries)]
    return add_up((cut_word(text), 1) for text in texts) if all(isinstance(text, str) and text for text in texts) else None


def add_up(pairs):
    counts = {}
    for name, count in pairs:
        counts[name] = counts.get(name, 0) + count
    return counts


def judge_agreement(package, summary, facts, stated, verification, states, no_key_fits):
    """9.7; the PDF is left out."""
    hash_of = facts["head"] and facts["head"]["hash"]
    numbers = sorted(stated)
    own = [package["stream"]["stream_id"], package["entry_count"], package["first_sequence"], package["last_sequence"], package["head_hash"]]
    seen = [verification["verdict"]["stream_id"], len(package["entries"]), numbers[0] if numbers else None, numbers[-1] if numbers else None, hash_of]
    wrong = own != seen or verification["package_entries"] not in (None, len(package["entries"]))
    if summary is not None:
        said = [summary["package_id"], summary["stream_id"], summary["entry_count"], summary["head_hash"]]
        wrong |= said != [package["package_id"], seen[0], seen[1], hash_of]
    named, counted = actions_of(summary), count_actions(package["entries"])
    wrong |= bool(named) and counted is not None and any(counted.get(name, 0) != count for name, count in named.items())
    doubtful = bool(named) and counted is not None and bool(set(counted) - set(named))
    vendor = verification["vendor"]
    own, undecided = [states[name] for name in ("order", "content", "seal")], False
    only_seals = no_key_fits and "refuted" not in own[:2] and own[2] == "refuted"
    if vendor is not None and vendor["verified"]:
        wrong |= "refuted" in own and not only_seals
        undecided = only_seals
    elif vendor is not None and ("refuted" not in own or only_seals):
        failed = vendor["failed_sequences"]
        here = not failed or any(n in stated for n in failed)
        undecided = here and ("unproved" in own or only_seals)
        wrong |= here and not undecided
    return "refuted" if wrong else "proved" if summary is not None and not undecided and not doubtful else "unproved"


# 6. Bundles -------------------------------------------------------------------------------------------------------

FILES = re.compile(r"bagit\.txt|bag-info\.txt|(tag)?manifest-sha256\.txt|README\.txt|run-binding\.txt|_MISSING_(json|pdf|summary)\.txt"
                   r"|data/(evidence\.(json|pdf)|summary\.(json|html|txt|md|pdf|bin))(\.part)?"
                   r"|data/(verification|service|transfer-log)\.json|data/listing\.csv|data/contract\.yaml"
                   r"|data/checkpoints/(0|[1-9]\d{0,15})(\.([2-9]|[1-9]\d{1,4}))?\.tsr")
NEEDED = ["bagit.txt", "bag-info.txt", "manifest-sha256.txt", "tagmanifest-sha256.txt", "README.txt",
          "data/verification.json", "data/service.json", "data/transfer-log.json"]


def read_bag(path, folder, place, may_have=None, needed=None):
    """Every file of the bag, or None where it is none."""
    try:
        with zipfile.ZipFile(path) as bag:
            names = bag.namelist()
            must(len(set(names)) == len(names), place, "names a file twice")
            files = {name: bag.read(name) for name in names if not name.endswith("/")}
    except Exception as error:
        must(False, place, f"is no zip: {error}")
        return None
    if not must(all(name.startswith(folder + "/") for name in files), place, f"does not lie in {folder}/"):
        return None
    files = {name[len(folder) + 1:]: content for name, content in files.items()}
    for name in files:
        must((may_have or FILES).fullmatch(name) is not None, place, f"{name} is no file of a bundle")
    if not must(all(name in files for name in needed or NEEDED), place, "lacks a file that every bundle has"):
        return None
    must(files["bagit.txt"] == b"BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n", place, "bagit.txt")
    for manifest, is_of in (("manifest-sha256.txt", True), ("tagmanifest-sha256.txt", False)):
        named = [n for n in files if n.startswith("data/") == is_of and n != "tagmanifest-sha256.txt"]
        lines = sorted(f"{sha256(files[n])}  {n}\n" for n in named)
        must(sorted(files[manifest].decode("utf-8", "replace").splitlines(keepends=True)) == lines, place, f"{manifest} is not that of its files")
    return files


def verify_bundle(archive, run, stream, spans, place):
    path = archive.path(stream["bundle"]["key"])
    files = read_bag(path, slug_of(stream["stream_id"]), place)
    if files is None:
        return None
    must(sha256(files["manifest-sha256.txt"]) == stream["bundle"]["identity"], place, "is another bag than recorded")
    documents = [read_record(files[f"data/{name}.json"], name, f"{place}: {name}.json") for name in ("verification", "service", "transfer-log")]
    if None in documents or not must("data/evidence.json" in files, place, "has no JSON form"):
        return None
    verification, service, log = documents
    verdict = verification["verdict"]
    if not has_members(verdict, "verdict", place):
        return None
    # 10, step 7
    recorded = {name: stream[name] for name in VERDICT.split()}
    must(verdict == recorded, place, "records another verdict than the run")
    must(verification["contract"] == run["source"]["contract"], place, "names another contract than the run")
    if verification["contract_sha256"] is not None:
        OPEN.append(f"{place}: is read by a contract that this program does not know")
        return None
    must([verification["contract"], verification["recipe"]] == ["default", RECIPE], place, "names another contract than it is read by")
    for ours, theirs in ((verification["run_id"], run["run_id"]), (verification["period"], run["period"]),
                         (verification["package_period"], run["package_period"]),
                         (verification["contract_sha256"], run["source"]["contract_sha256"]), (log["audit_url"], run["source"]["audit_url"])):
        must(ours == theirs, place, f"is not of this run: {ours!r}")
    if stream["collected"]["export_started_at"] == run["started_at"]:
        must({**verification["tool"], "commit": run["tool"]["commit"]} == run["tool"], place, "was written by another program than the run")
    requests = sorted(step["exchange"]["requested_at"] for step in log["steps"] if "exchange" in step)
    must(stream["collected"] == {"export_started_at": log["export_started_at"], "requested_at": (requests + [log["export_started_at"]])[0], "received_at": log["received_at"]}, place, "was collected at another time")
    must([s["run_id"] for s in verification["earlier"] if not s["part"]] == [s["run_id"] for s in spans]
         and all(span in spans for span in verification["earlier"] if not span["part"]), place, "names other earlier runs than the ledger")
    must(all(restart in archive.restarts.get(verdict["stream_id"], []) for restart in verification["accepted_restarts"]), place, "names an acceptance that the ledger does not")
    # 10, step 8
    for document in (service, log):
        must(document["run_id"] == run["run_id"] and document["stream_id"] == verdict["stream_id"], place, "its documents are of several streams")
    listed = parse_quoted(service["stream_record"])
    if not must(isinstance(listed, dict), place, "quotes no record of the stream"):
        return None
    statement, vendor = verification["statement"], verification["vendor"]
    must(listed["stream_id"] == service["stream_id"], place, "quotes the record of another stream")
    must([listed["entry_count"], listed["head_sequence"], listed["head_hash"]] == [statement["entries"], statement["head"]["sequence"], statement["head"]["hash"]], place, "states another head than the service did")
    failed = vendor["failed_sequences"][:100] if vendor else []
    said = {"entries": statement["entries"], "head": statement["head"], "verified": vendor and vendor["verified"], "failed_sequences": failed}
    must({**said, "listed": stream["service"]["listed"]} == stream["service"], place, "is recorded with another statement of the service")
    must((stream["service"]["listed"] is None) == ("data/listing.csv" not in files), place, "is recorded as listed, or not, otherwise than it is")
    answer = service["check_answer"] and parse_quoted(service["check_answer"].removeprefix("\ufeff"))
    check = next((s["exchange"] for s in log["steps"] if s["step"] == "vendor-verify" and "exchange" in s), None)
    must((answer is None) == (vendor is None) == (check is None), place, "documents differ in whether the service checked the stream")
    if answer is not None and vendor is not None and check is not None:
        must([answer["verified"], answer["checked_at"]] == [vendor["verified"], vendor["checked_at"]] and sha256(service["check_answer"].encode()) == check["sha256"], place, "the service's own check said something else")
    for form in ("json", "pdf", "summary"):
        steps = [step for step in log["steps"] if step["step"] == form and "exchange" in step]
        names = [n for n in files if re.fullmatch({"json": r"data/evidence\.json", "pdf": r"data/evidence\.pdf", "summary": r"data/summary\.[a-z]+"}[form], n)]
        if must(len(names) == len(steps) <= 1, place, f"has the {form} form, or not, otherwise than its transfer log") and names:
            exchange, data = steps[0]["exchange"], files[names[0]]
            right = [steps[0].get("file"), exchange["bytes"], exchange["sha256"]] == [names[0], len(data), sha256(data)]
            must(right and 200 <= exchange["status"] <= 299 and exchange["path"].endswith(f"/evidence/{package_part(verdict)}/{form}"), place, f"the {form} form is not what was received")
    listing = files.get("data/listing.csv")
    is_listed = verification["completeness"]["kind"] == "listing"
    must(is_listed == (listing is not None) == (service["listing"] is not None), place, "has a listing, or not, otherwise than it says")
    lines = None if listing is None else listing.decode().split("\n")[:-1]
    if lines is not None and service["listing"] is not None:
        must(sum(page["entries"] for page in service["listing"]["pages"]) == len(lines), place, "its listing has other lines than its pages")
        must(any(step["step"] == "listing" and "failure" not in step for step in log["steps"]), place, "its transfer log names no listing")
    info = files["bag-info.txt"].decode().split("\n")
    payload = [content for name, content in files.items() if name.startswith("data/")]
    escaped = "".join(c if c != "%" and unicodedata.category(c) not in ("Cc", "Zl", "Zp") else "".join(f"%{b:02X}" for b in c.encode()) for c in verdict["stream_id"])
    wanted = [f"Bag-Software-Agent: {verification['tool']['name']} {verification['tool']['version']}", f"External-Identifier: {run['run_id']}/{escaped}", None, "Evidence-Status: COMPLETE", None, f"Payload-Oxum: {sum(map(len, payload))}.{len(payload)}", ""]
    must(len(info) == 7 and all(w is None or w == line for w, line in zip(wanted, info)), place, "bag-info.txt does not say what the bundle is")
    return judge_bundle(archive, run, stream, files, documents, lines, spans, place)


def package_part(verdict):
    return re.sub(r"[^A-Za-z0-9._~!*'()-]", lambda m: "".join(f"%{b:02X}" for b in m[0].encode()), verdict["package_id"] or "")


def judge_bundle(archive, run, stream, files, documents, lines, spans, place):
    verification, service, log = documents
    verdict = verification["verdict"]
    try:
        package = json.loads(files["data/evidence.json"], object_pairs_hook=to_object)
        text = package["entries"]
        package = parse(files["data/evidence.json"])
    except Inexact:
        text = [None] * len(package["entries"])
    except (ValueError, KeyError) as error:
        must(False, place, f"its JSON form cannot be read: {error!r}")
        return None
    tokens = {}
    for point in package["checkpoints"]:
        token = point["anchor"].get("token")
        if token is not None:
            of = tokens.setdefault(point["sequence"], [])
            of += [data for data in [base64.b64decode(token)] if data not in of]
    expected = {f"data/checkpoints/{n}{'' if i == 0 else f'.{i + 1}'}.tsr": data for n, of in tokens.items() for i, data in enumerate(of)}
    must({n: d for n, d in files.items() if n.startswith("data/checkpoints/")} == expected, place, "has other tokens beside the package than in it")
    now = min(to_time(verification["verified_at"]), datetime.now(timezone.utc))
    known = {"stream_id": verdict["stream_id"], "to": verification["package_period"]["to"], "verified_at": now}
    states, facts, stated, no_key_fits = judge_package(package, text, archive.service_root, archive.seal_keys, known, place)
    states["continuity"] = judge_continuity(stated, spans, verification, states, place)
    states["completeness"] = judge_completeness(stated, lines, service["listing"], verification, place)
    summary = parse(files["data/summary.json"]) if "data/summary.json" in files else None
    states["agreement"] = judge_agreement(package, summary, facts, stated, verification, states, no_key_fits)
    for name, value in facts.items():
        must(verdict[name] == value, place, f"records {name} as {verdict[name]!r}, and it is {value!r}")
    for per, digits in (("day", 10), ("month", 7), ("year", 4)):
        counts = {}
        for entry in package["entries"]:
            day = in_utc(entry["timestamp"])[:digits]
            counts[day] = counts.get(day, 0) + 1
        if len(counts) <= 100:
            break
    must(verdict["activity"] == {"per": per, "counts": counts, "undated": 0}, place, "records another activity")
    counted = count_actions(package["entries"]) if actions_of(summary) is not None else None
    most = counted and sorted(counted.items(), key=lambda pair: (-pair[1], utf16(pair[0])))
    shown = counted if counted is None else {"counts": [list(pair) for pair in most[:20]] if most else [], "others": sum(n for _, n in most[20:]) if most else 0}
    must(verdict["actions"] == shown, place, "records other actions")
    by_pdf = "data/evidence.pdf" in files and verdict["claims"]["agreement"]["state"] == "refuted"
    exempt = {"seal", "anchor"} | ({"agreement"} if by_pdf or verdict["claims"]["seal"]["state"] != states["seal"] else set())
    for name, state in states.items():
        was = verdict["claims"][name]["state"]
        opposite = {state, was} == {"refuted", "proved"}
        must(name in exempt or not (opposite or (was, state) == ("proved", "unproved")), place, f"records {name} as {was}, and it is {state}")
        must(state != "refuted", place, f"the claim {name} is refuted")
    claims = {name: verdict["claims"][name]["state"] for name in CLAIMS}
    wrong = {f["code"].split("/")[0] for f in verdict["findings"] if f["severity"] == "error"}
    must(not any(claims.get(name) == "proved" for name in wrong), place, "records an error beside a claim as proved")
    status, asked = verdict["status"], [claims[name] for name in verification["required_claims"]]
    must(("refuted" in claims.values()) == (status == "refuted"), place, f"is recorded as {status}, which its claims do not come to")
    earned = "incomplete" if set(asked) - {"proved"} else "verified" if {claims["order"], claims["content"]} == {"proved"} else "collected"
    must(status not in ("verified", "collected") or (status == earned and package["entries"]), place, f"is recorded as {status}, and not what that takes")
    heads = [s["entries"]["head"]["sequence"] for s in verification["earlier"] if s["entries"]]
    begins_later = heads and stated and max(heads) + 1 < min(stated)
    after = max(heads if begins_later else heads + list(stated), default=0)
    to, entries = verification["statement"]["head"]["sequence"], verification["statement"]["entries"]
    has_end = any(period["to"] is not None for period in [verification["package_period"]] + [s["period"] for s in verification["earlier"]])
    to_ask = lines is not None and verification["earlier"] and to is not None and to > after and entries != 0 and has_end
    if verification["unfetched"] is not None:
        has_members(verification["unfetched"], "unfetched", place)
        must([verification["unfetched"]["after"], verification["unfetched"]["to"]] == [after, to], place, "asked for other entries than those that no export has")
    must(verification["unfetched"] is not None or not to_ask, place, "did not ask for the entries that no export has")
    must(any(step["step"] == "unfetched" for step in log["steps"]) == (verification["unfetched"] is not None), place, "its transfer log names otherwise whether entries after it were asked for")
    must(status in ("refuted", "incomplete") or not is_late(verification, spans), place, f"is recorded as {status}, and entries are in no export")
    exposed = verification["secrets"]["found_in"] and not verification["secrets"]["accepted"]
    must(status in ("refuted", "incomplete") or not exposed, place, f"is recorded as {status}, and holds a key")
    listed = next((step.get("listed") for step in log["steps"] if step["step"] == "listing"), None)
    must(lines is None or listed is not None and listed["entries"] == len(lines), place, "its transfer log counts other entries in the listing than it has lines")
    must(status != "empty" or not package["entries"], place, "is recorded as empty, and is not")
    if status == "incomplete":
        OPEN.append(f"{place}: is recorded as incomplete")
    must(verdict["findings_count"] >= len(verdict["findings"]), place, "lists more findings than it counts")
    named = {entry.get("seal_key_id") for entry in package["entries"] if entry.get("seal") is not None}
    must(claims["seal"] != "proved" or verification["seal_key_ids"] and named <= set(verification["seal_key_ids"]), place, "records seals as proved by other keys than entries name")
    must(claims["anchor"] != "proved" or verification["timestamp_roots"] is not None, place, "records the anchor as proved under no root")
    required = set(run["scope"]["required_claims"]) | {"order", "content"}
    # A seal takes a secret: a signature by a key of the reader vouches for what was recorded of it.
    if "seal" in required and claims["seal"] == "proved" and states["seal"] == "unproved":
        required.discard("seal")
        archive.by_signature.append(f"{place}: seal not proved")
    if package["entries"] and any(states[name] != "proved" for name in required):
        OPEN.append(f"{place}: {sorted(name for name in required if states[name] != 'proved')} not proved")
    for number, entry in stated.items():
        before = archive.entries.setdefault((verdict["stream_id"], number), entry["hash"])
        must(before == entry["hash"], place, f"has another entry {number} than another run")
    if states["order"] == states["content"] == "proved" and "refuted" not in claims.values():
        archive.proved[(run["run_id"], verdict["stream_id"])] = stated
    return len(package["entries"])


# 6.1 and 9.1. Supplements -----------------------------------------------------------------------------------------

BAG = "bagit.txt bag-info.txt manifest-sha256.txt tagmanifest-sha256.txt README.txt".split()
OF_BAG = re.compile("|".join(map(re.escape, BAG)) + r"|run-binding\.txt|data/(supplements\.json|records\.jsonl|transfer-log\.json|contract\.yaml|(audit|traps|endpoints|agents)/[a-zA-Z0-9._/-]+)")
IN_METADATA = lambda names: {n: f"metadata.{n}" for n in names.split()}
ENDPOINT = "endpoints/{endpoint_id}"
SEEN, REACH, SOURCE = "status acknowledged_by acknowledged_at", "depth severity auth_verified", "channel source_event_id source_ip user_agent service region"
REQUESTED = {"action": "metadata.requested"}
STATED = {n: n for n in f"{SEEN} severity explanation.kind resolved_at".split()}
OUTCOME = {"outcome.outcome": "metadata.outcome", "outcome.reported_at": "metadata.reported_at"}
# What an entry may say besides, and by kind of later entries: list in the entry, id, what they may say.
MAY_SAY = {
    "detections": {**IN_METADATA(f"detected_at event_time request_sha256 {SEEN} {REACH} {SOURCE}"), **REQUESTED},
    "events": {"first_seen": "first_seen", **STATED},
    "scans": IN_METADATA("received_at started_at finished_at events.raised events.resolved"),
    "actions": {**IN_METADATA("received_at reported_by trust.before trust.after trust.tier"), **OUTCOME},
}
LATER = {
    "detections": [({"action": "trap.used_deeper"}, None, "metadata.detection_id", {**IN_METADATA(REACH), **REQUESTED}),
                   ({"action": "trap.use_traced"}, None, "metadata.detection_id", {**IN_METADATA(f"{REACH} {SOURCE} event_time request_sha256"), **REQUESTED}),
                   ({"action": "trap.use_ended"}, None, "metadata.detection_id", IN_METADATA("depth severity")),
                   *(({"action": f"detection.{n}", "resource_type": "detection"}, None, "resource_id", IN_METADATA(SEEN)) for n in ("acknowledged", "archived", "reopened"))],
    "events": [*(({"action": f"events.{n}"}, "metadata.events", "event_id", STATED) for n in ("resolved", "explained", "decided")),
               *(({"action": f"event.{n}", "resource_type": "event"}, None, "resource_id", {n: f"metadata.{n}" for n in STATED}) for n in ("acknowledged", "reopened"))],
    "scans": [],
    "actions": [({"action": "action.outcome", "resource_type": "action"}, None, "resource_id", OUTCOME)],
}
RISES = {"depth": "exposed read validated used".split(), "severity": "low medium high critical".split()}
# Folder, id, time, stream, what the entry is, list in the entry, what both say.
KINDS = {
    "detections": ("traps", "detection_id", "detected_at", "traps", {"action": "trap.used", "resource_type": "trap"}, None,
                   {"credential_id": "resource_id", **IN_METADATA("detection_id credential_type plant_location label")}),
    "events": ("endpoints", "event_id", "first_seen", ENDPOINT, {"action": "events.raised"}, "metadata.events",
               {n: n for n in "event_id event_type path path_base64 expected_sha256 observed_sha256".split()}),
    "scans": ("endpoints", "scan_id", "received_at", ENDPOINT, {"action": "report.accepted", "resource_type": "report"}, None,
              {"scan_id": "resource_id", **IN_METADATA("report_sha256 chain sequence root_hash line_count complete")}),
    "verifications": ("agents", "agent_id", None, None, None, None, {}),
    "actions": ("agents", "action_id", "received_at", "agents/{agent_id}", {"action": "action.logged", "resource_type": "action"}, None,
                {"action_id": "resource_id", **IN_METADATA("action_type action_description tool_used api_called input_hash output_hash model version decision attested")}),
}


COLUMNS = {
    "detections": "detection_id detected_at event_time credential_id credential_type plant_location label depth severity channel action service source_ip user_agent auth_verified occurrences first_seen last_seen status acknowledged_by acknowledged_at",
    "events": "event_id first_seen last_seen endpoint_id endpoint_name event_type severity path path_base64 expected_sha256 observed_sha256 explanation.kind status occurrences acknowledged_by acknowledged_at resolved_at scan_id baseline_id",
    "scans": "scan_id received_at endpoint_id chain sequence report_sha256 started_at finished_at complete line_count root_hash baseline_id events.open events.raised events.resolved",
    "verifications": "agent_id checked_at valid status tier identity.did certificate.serial certificate.status certificate.not_after certificate.pq.serial certificate.pq.status passport.jti passport.status passport.issued_at passport.not_after",
    "actions": "action_id received_at agent_id decision attested action_type action_description tool_used api_called input_hash output_hash model version reported_by trust.before trust.after trust.tier outcome.outcome outcome.reported_at",
}


def cell(value):
    """RFC 4180; what a spreadsheet would take for a formula begins with an apostrophe."""
    if not isinstance(value, (str, dict, list)):
        return "" if value is None else canonical(value)
    value = value if isinstance(value, str) else canonical(value)
    bare = next((c for c in value if not c.isspace() and not unicodedata.category(c).startswith("C")), "")
    text = "'" + value if (bare and bare in "=+-@\uff1d\uff0b\uff0d\uff20") or value[:1] in ("\t", "\r", "\n") else value
    return '"' + text.replace('"', '""') + '"' if re.search(r"[\",\r\n]|^'", text) else text


def table_of(kind, rows):
    """The table of a kind: its columns, then how each record stands."""
    columns = COLUMNS[kind].split()
    lines = [[*columns, "proof", "proof_reason", "as_reported", "entry_stream_id", "entry_sequence", "entry_hash"]]
    for record, line in rows:
        entry = line.get("entry", {})
        own = [line["state"], line.get("reason"), " ".join(line["as_reported"]) if "as_reported" in line else None]
        lines.append([*(at(record, column) for column in columns), *own, *(entry.get(n) for n in ("stream_id", "sequence", "hash"))])
    return ("\ufeff" + "".join(",".join(map(cell, line)) + "\r\n" for line in lines)).encode()


def at(value, path):
    for name in path.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value


def same(one, other):
    return canonical(one) == canonical(other)


def is_kind(entry, wanted):
    return all(at(entry, path) == text for path, text in wanted.items())


def items_of(entry, within):
    items = [entry] if within is None else at(entry, within)
    return items if isinstance(items, list) else []


def has(value, path):
    *names, last = path.split(".")
    inner = at(value, ".".join(names)) if names else value
    return isinstance(inner, dict) and last in inner


def asked(run, kind, stream_id):
    """Whether an entry was there before the records were asked for, and whether the bundle reaches up to then."""
    at_time = run["supplements"]["services"][KINDS[kind][0]]["collected_at"]
    heads = {s["stream_id"]: s["head"]["sequence"] for s in run["stream_list"]["streams"]}
    listed = heads.get(stream_id) if to_time(at_time) >= to_time(run["started_at"]) else None
    certain = lambda entry: entry["sequence"] <= listed if listed is not None else to_time(entry["timestamp"]) < to_time(at_time) - timedelta(minutes=5)
    requested = {s["stream_id"]: s["collected"]["requested_at"] for s in run["streams"]}
    to = run["period"]["to"]
    return certain, stream_id in requested and to_time(requested[stream_id]) >= to_time(at_time) and (to is None or to_time(to) > to_time(at_time))


def later_of(archive, run, kind, stream_id):
    """What later entries say, by the id of the record."""
    key, found = (run["run_id"], stream_id, kind), {}
    if key not in archive.later:
        for entry in archive.proved[run["run_id"], stream_id].values():
            for wanted, within, name, may_say in LATER[kind]:
                own = items_of(entry, within) if is_kind(entry, wanted) else []
                ids = [at(one, name) for one in own]
                for one, its in zip(own, ids):
                    if isinstance(its, str) and ids.count(its) == 1:
                        found.setdefault(its, []).append((one, may_say, entry))
        archive.later[key] = found
    return archive.later[key]


def says_the_same(archive, run, kind, record, first, item):
    """Members that entries state as the record does; None where one contradicts it."""
    certain, is_current = asked(run, kind, first["stream_id"])
    time = KINDS[kind][2]
    if abs(to_time(record[time]) - to_time(first["timestamp"])) > timedelta(seconds=300):
        return None
    later = later_of(archive, run, kind, first["stream_id"]).get(record[KINDS[kind][1]], [])
    sayings = [(item, MAY_SAY[kind], True), *((said, may_say, certain(entry)) for said, may_say, entry in later)]
    stated = lambda member: [at(said, may_say[member]) for said, may_say, _ in sayings if member in may_say]
    can_follow = lambda wanted: wanted.get("action") != "trap.use_traced" or "aws_last_used" in stated("channel")
    changing = {member for wanted, *_, may_say in LATER[kind] if can_follow(wanted) for member in may_say}
    matched = set()
    for member in {member for _, may_say, _ in sayings for member in may_say}:
        states = [(at(said, may_say[member]), sure) for said, may_say, sure in sayings if member in may_say and has(said, may_say[member])]
        newest = max([n for n, (_, sure) in enumerate(states) if sure], default=-1)
        own = at(record, member)
        if not states or any(same(own, value) for value, _ in states[max(newest, 0):]):
            matched |= {member} if states else set()
            continue
        rises = RISES.get(member, []) if kind == "detections" else []
        last = states[max(newest, 0)][0]
        lower = newest >= 0 and own in rises and last in rises and rises.index(own) < rises.index(last)
        if member not in changing or lower or is_current:
            return None
    return matched


def is_in(period, time):
    return (period["from"] is None or time >= to_time(period["from"])) and (period["to"] is None or time < to_time(period["to"]))


def named_in(archive, run, kind, stream_id):
    """9.2: the number of the entry that names a record, by the record's id, and the ids of those that must be there."""
    _, name, time, stream, kind_of_entry, within, says = KINDS[kind]
    key, proved = (run["run_id"], stream_id, kind, "named"), archive.proved.get((run["run_id"], stream_id), {})
    if stream is None or not re.fullmatch(re.sub(r"\{\w+\}", ".+", stream), stream_id, re.S):
        return {}, set()
    if key not in archive.later:
        (numbers, due), certain = ({}, set()), asked(run, kind, stream_id)[0] if proved else None
        for entry in (one for one in proved.values() if is_kind(one, kind_of_entry)):
            for item in items_of(entry, within):
                one, stated = at(item, says[name]), at(item, MAY_SAY[kind].get(time))
                if not isinstance(one, str) or one in numbers:
                    continue
                numbers[one] = entry["sequence"]
                times = [to_time(stated)] if stated else [to_time(entry["timestamp"]) + timedelta(seconds=n) for n in (-300, 300)]
                if certain(entry) and all(is_in(run["period"], t) for t in times):
                    due.add(one)
        archive.later[key] = numbers, due
    return archive.later[key]


def must_show_all(archive, run, kind, seen, key):
    missing = 0
    for stream_id in (s["stream_id"] for s in run["streams"] if s["status"] != "refuted"):
        for one in named_in(archive, run, kind, stream_id)[1]:
            must((kind, one, stream_id) in seen, key, f"{kind} {one!r} is missing")
            missing += (kind, one, stream_id) not in seen
    return missing


def cannot_be(run, kind, place, time):
    """An entry that the service did not list, although it must have been there."""
    listed = {s["stream_id"]: s["head"]["sequence"] for s in run["stream_list"]["streams"]}.get(place["stream_id"])
    collected, started = (to_time(one) for one in (run["supplements"]["services"][KINDS[kind][0]]["collected_at"], run["started_at"]))
    return listed is not None and place["sequence"] > listed and (collected < started or to_time(time) + timedelta(seconds=300 + 300) < started)


def judge_record(archive, run, kind, record):
    _, name, _, stream, kind_of_entry, within, says = KINDS[kind]
    if stream is None:
        return "unproved", []
    place = record.get("entry")
    if not place or place.get("stream_id") is None or place.get("sequence") is None:
        return "no_entry", []
    statuses = {s["stream_id"]: s["status"] for s in run["streams"]}
    if place["stream_id"] != re.sub(r"\{(\w+)\}", lambda m: str(record.get(m[1])), stream) or statuses.get(place["stream_id"]) == "refuted":
        return "contradicted", []
    proved = archive.proved.get((run["run_id"], place["stream_id"]))
    if proved is None:
        return "unproved", []
    own = named_in(archive, run, kind, place["stream_id"])[0].get(record[name], place["sequence"])
    if own != place["sequence"] or cannot_be(run, kind, place, record[KINDS[kind][2]]):
        return "contradicted", []
    entry = proved.get(place["sequence"])
    if entry is None:
        return "unproved", []
    if place.get("hash") not in (None, entry["hash"]) or any(at(entry, path) != text for path, text in kind_of_entry.items()):
        return "contradicted", []
    items = [entry] if within is None else [item for item in at(entry, within) or [] if at(item, says[name]) == record[name]]
    if len(items) != 1 or not all(same(record.get(ours), at(items[0], theirs)) for ours, theirs in says.items()):
        return "contradicted", []
    stated = says_the_same(archive, run, kind, record, entry, items[0])
    if stated is None:
        return "contradicted", []
    stated |= {*says, KINDS[kind][2], *re.findall(r"\{(\w+)\}", stream)}
    return "proved_by_entry", [column for column in COLUMNS[kind].split() if column not in stated]


def verify_supplements(archive, run, supplements):
    stored, services = supplements["object"], supplements["services"]
    partial = any(service["state"] == "missing" for service in services.values())
    key = f"runs/{run['run_id']}/supplements{'.PARTIAL' if partial else ''}.zip{'.age' if 'encrypted' in stored else ''}"
    must(stored["key"] == key, key, "is not where it belongs")
    if not archive.matches(stored) or "encrypted" in stored or run["source"]["contract_sha256"] is not None:
        OPEN.append(f"{key}: not opened")
        return
    files = read_bag(archive.path(key), "supplements", key, OF_BAG, BAG + [f"data/{n}" for n in ("supplements.json", "records.jsonl", "transfer-log.json")])
    if files is None:
        return
    must(sha256(files["manifest-sha256.txt"]) == stored["identity"], key, "is another bag than recorded")
    document = read_record(files["data/supplements.json"], "supplements", key)
    log = read_record(files["data/transfer-log.json"], "supplements log", key, "transfer-log")
    if document is None or log is None:
        return
    wanted = {**{n: v for n, v in supplements.items() if n != "object"}, "run_id": run["run_id"], "period": run["period"]}
    must({n: v for n, v in document.items() if n != "format"} == wanted and log["run_id"] == run["run_id"], key, "says something else than the run record")
    answers = {n for n in files if n.startswith("data/") and n.endswith(".json") and n.count("/") > 1}
    must(sorted(s["file"] for s in log["steps"]) == sorted(answers) and all([s["exchange"]["bytes"], s["exchange"]["sha256"]] == [len(files[s["file"]]), sha256(files[s["file"]])] for s in log["steps"] if s["file"] in files), key, "has other answers than its transfer log")
    for name in (n for n, service in services.items() if service["state"] == "collected"):
        times = [to_time(s["exchange"]["requested_at"]) for s in log["steps"] if s["file"].startswith(f"data/{name}/")]
        earliest = max([to_time(run["begun_at"]) - timedelta(minutes=5), *times])
        must(to_time(services[name]["collected_at"]) >= earliest, key, f"shows that {name} was collected from later than recorded")
    must(all(services[n.split("/")[1]]["state"] == "collected" for n in files if re.match(r"data/\w+/", n)), key, "has files of a service that was not collected")
    judged, rows, seen, period = [], [], {}, run["period"]
    for kind, (service, name, time, *_rest) in KINDS.items():
        folder, begun = f"data/{service}/{kind}/", len(judged)
        for path in sorted((n for n in answers if n.startswith(folder)), key=lambda n: (n.rsplit("/", 1)[0], len(n), n)):
            answer = parse(files[path])
            after = re.sub(r"\d+(?=\.json$)", lambda m: f"{int(m[0]) + 1:04}", path)
            onward = None if kind == "verifications" else answer.get("next_cursor", False)
            must(kind == "verifications" or onward is not False and (onward not in (None, "")) == (after in files), key, f"{path} ends otherwise than it says")
            for record in [answer] if kind == "verifications" else answer["data"]:
                place = record.get("entry") or {}
                about = [record.get(time), record.get("entry"), {n: at(record, n) for n in {**KINDS[kind][6], **MAY_SAY.get(kind, {})}}]
                before = seen.setdefault((kind, record[name], place.get("stream_id")), about)
                if before is not about and same(before, about):
                    continue
                is_of_period = not time or is_in(period, to_time(record[time]))
                if not is_of_period and record[name] not in named_in(archive, run, kind, place.get("stream_id") or "")[1]:
                    continue
                state, as_reported = judge_record(archive, run, kind, record) if before is about else ("contradicted", [])
                if is_of_period or state == "contradicted":
                    judged.append((kind, record[name], state))
                    rows.append((record, as_reported))
        if services[service]["state"] == "collected":
            counts = supplements["kinds"].get(kind, {})
            must(counts.get("in_period") == len(judged) - begun, key, f"counts other {kind} than there are")
            must(counts.get("missing") == must_show_all(archive, run, kind, seen, key), key, f"counts other {kind} as missing")
    written = files["data/records.jsonl"].split(b"\n")[:-1]
    lines = [parse(line) for line in written]
    must(written == [json.dumps(line, separators=(",", ":"), ensure_ascii=False).encode() for line in lines], key, "has a line that is written otherwise")
    must([(line["kind"], line["id"]) for line in lines] == [(kind, name) for kind, name, _ in judged], key, "has other records than were received")
    for line, (kind, name, state), (_, as_reported) in zip(lines, judged, rows):
        must(line["state"] != state or line.get("as_reported", []) == as_reported, key, f"names other columns as reported of {kind} {name!r}")
        must(line["state"] == state or "unproved" in (line["state"], state), key, f"records {kind} {name!r} as {line['state']}, and it is {state}")
        must(state not in ("contradicted", "no_entry"), key, f"{kind} {name!r} is {state}")
        if (line["state"], state) == ("proved_by_entry", "unproved"):
            OPEN.append(f"{key}: {kind} {name!r} is not proved here")
    for kind in supplements["kinds"]:
        own = [(record, line) for (record, _), line in zip(rows, lines) if line["kind"] == kind]
        must(files.get(f"data/{KINDS[kind][0]}/{kind}.csv") == table_of(kind, own), key, f"{kind}.csv is not the table of what was received")
    for kind, counts in supplements["kinds"].items():
        for state in ("proved_by_entry", "contradicted", "unproved", "no_entry"):
            must(counts[state] == sum((line["kind"], line["state"]) == (kind, state) for line in lines), key, f"counts other {kind} as {state}")


# 10. Archives -----------------------------------------------------------------------------------------------------

class Archive:
    def __init__(self, folder, public_keys, root, service_root, seal_keys):
        self.folder, self.root, self.service_root, self.seal_keys = folder, root, service_root, seal_keys
        self.keys = {key_id(file): file for file in public_keys}
        self.named, self.entries, self.runs, self.checked, self.proved, self.later = set(), {}, {}, 0, {}, {}
        self.objects, self.earlier = {}, []
        for at, folders, files in os.walk(folder):
            folders[:] = [name for name in folders if not name.startswith(".")]
            for name in files:
                full = os.path.join(at, name)
                if not name.startswith("."):
                    key = os.path.relpath(full, folder)
                    self.objects[key] = not must(os.path.isfile(full) and not os.path.islink(full), key, "is no file")

    def path(self, key):
        return os.path.join(self.folder, key)

    def read(self, key):
        """The bytes of an object; None where it is not there."""
        self.named.add(key)
        if not must(key in self.objects, key, "is missing"):
            return None
        with open(self.path(key), "rb") as source:
            return source.read()

    def matches(self, stored):
        data = self.read(stored["key"])
        return data is not None and must([len(data), sha256(data)] == [stored["bytes"], stored["sha256"]], stored["key"], "is not what was recorded")

    def is_of_another_version(self):
        """2, rule 6."""
        names = ["archive.json"] + [key for key in self.objects if re.fullmatch(r"ledger/\d{8}\.json", key)]
        formats = []
        for name in names:
            try:
                formats.append(json.loads(open(self.path(name), "rb").read())["format"])
            except (OSError, ValueError, KeyError, TypeError):
                return False
        return all(re.fullmatch(r"evidence-[a-z-]+/\d+", str(f)) and not str(f).endswith("/7") for f in formats)

    def verify(self):
        data = self.read("archive.json")
        archive = data and read_record(data, "archive", "archive.json")
        ledger = self.verify_ledger()
        if archive and ledger and ledger[0]["audit_url"] is not None:
            must(data == record_bytes({"format": "evidence-archive/7", "audit_url": ledger[0]["audit_url"]}), "archive.json", "is not of the service of ledger entry 1")
        names = [entry.get("run_id") or entry.get("abandons") for entry in ledger if "run_id" in entry or "abandons" in entry]
        must(len(names) == len(set(names)), "ledger", "names a run in two entries")
        recorded = {entry["run_id"] for entry in ledger if "run_id" in entry}
        given_up = {entry["abandons"] for entry in ledger if "abandons" in entry}
        given_up = (given_up | {run for entry in ledger for run in entry.get("supersedes", [])}) - recorded
        for key in sorted(self.objects):
            run = re.match(r"runs/([^/]+)/", key)
            if run and run[1] not in recorded:
                self.named.add(key)
                if run[1] not in given_up:
                    OPEN.append(f"{key}: of a run that is in no ledger entry")
                    self.verify_open(key, run[1], ledger)
        for run in sorted(run for run in given_up if f"runs/{run}/run.json" in self.objects):
            was_there = f"runs/{run}/run.tsr" in self.objects or self.is_named_before(run)
            must(not was_there, f"runs/{run}/run.json", "was given up, and its ledger entry was there")
        self.verify_keys()
        for key in sorted(set(self.objects) - self.named):
            if key.startswith("acceptances/") and self.is_left_acceptance(key):
                continue
            must(False, key, "is named by nothing")

    def verify_open(self, key, run, ledger):
        """10, step 3: a run without an entry is unfinished, unless its entry was there."""
        if key == f"runs/{run}/run.tsr" and f"runs/{run}/run.json" in self.objects:
            must(False, key, "is there, and the ledger entry that comes before it is not")
        if key != f"runs/{run}/run.json":
            return
        with open(self.path(key), "rb") as source:
            record = read_record(source.read(), "run", key)
        must(not self.is_named_before(run), key, "is in no ledger entry, and another run says that it was")
        first = next((entry for entry in ledger if "signature" in entry), None)
        late = first and record and to_time(record["finished_at"]) >= to_time(first["created_at"])
        must(not (late and not record["signed"]), key, "is not signed, and older entries of the ledger are")

    def is_named_before(self, run):
        return any(run in (earlier["run_id"] for earlier in other) for other in self.earlier)

    def is_left_acceptance(self, key):
        """10: one that no ledger entry names, at the key that follows from its members, counts for nothing."""
        with open(self.path(key), "rb") as source:
            record = read_record(source.read(), "acceptance", key)
        return record and key == f"acceptances/{slug_of(record['stream_id'])}-{record['accepted_at'].replace(':', '-')}.json"

    def verify_keys(self):
        for key in [key for key in self.objects if key.startswith("keys/")]:
            with open(self.path(key)) as source:
                pem = source.read()
            must(key == f"keys/{key_id(self.path(key))}.pem" and pem.startswith("-----BEGIN PUBLIC KEY-----\n"), key, "is not the key of its name")
            self.named.add(key)
        for keyid in self.used:
            self.read(f"keys/{keyid}.pem")

    def follow_keys(self, keys):
        """5.1: which entries the given keys vouch for, and whose signatures count."""
        found = {m[1]: self.path(key) for key in self.objects if (m := re.fullmatch(r"keys/([0-9a-f]{64})\.pem", key))}
        self.all_keys = {**{name: path for name, path in found.items() if key_id(path) == name}, **self.keys}
        trusted, waiting, last = set(self.keys), [], None
        self.vouched, self.retired, self.signers, self.vouched_runs = set(), {}, set(self.keys), {}
        for key in keys:
            with open(self.path(key), "rb") as source:
                data = source.read()
            try:
                entry = parse(data)
                sound = [s["keyid"] for s in signatures_of(entry) if s["keyid"] in self.all_keys and holds(self.all_keys[s["keyid"]], LEDGER_TYPE, signed_part(entry), s)]
                number, both = entry["number"], "hands_over_to" in entry and len(sound) == 2
            except (ValueError, KeyError, TypeError):
                waiting, last = [], None
                continue
            waiting = waiting + [entry] if last == entry.get("previous_sha256") else [entry]
            if any(name in trusted and name not in self.retired for name in sound):
                for one in waiting:
                    self.vouched.add(one["number"])
                    self.signers.update([one["signature"]["keyid"]] if "signature" in one else [])
                    self.vouched_runs[one.get("run_id")] = one.get("run_sha256")
                waiting = []
                trusted.update([entry["hands_over_to"]] if both else [])
            if both:
                self.retired.setdefault(entry["signature"]["keyid"], number)
            last = sha256(data)
        self.signers |= trusted

    def verify_ledger(self):
        keys = sorted(key for key in self.objects if re.fullmatch(r"ledger/\d{8}\.json", key))
        before, previous, signed, eras = None, ZEROS, False, {}
        ledger, self.used, self.restarts, self.acceptances = [], set(), {}, []
        self.follow_keys(keys)
        must(bool(keys), "ledger", "is missing")
        for number, key in enumerate(keys, 1):
            must(key == f"ledger/{number:08d}.json", key, f"comes where entry {number} should be")
            data = self.read(key)
            members = {"run_id": "run entry", "abandons": "abandonment entry", "hands_over_to": "hand-over entry"}
            kind = next((members[name] for name in members if f'\n  "{name}": '.encode() in data), "acceptance entry")
            entry = read_record(data, kind, key, "ledger-entry")
            if entry is None:
                before, previous = None, sha256(data)
                continue
            must(entry["number"] == number and entry["previous_sha256"] == previous, key, "does not continue the entry before it")
            must(record_bytes(entry) == data, key, "is not written as a record")
            signature = entry.get("signature")
            signed = signed or signature is not None
            if signed or self.keys and number == len(keys):
                for one in signatures_of(entry) or [None]:
                    is_signed(self.all_keys, LEDGER_TYPE, signed_part(entry), one, key)
                    self.used.add((one or {}).get("keyid"))
                must(self.retired.get((signature or {}).get("keyid"), number) >= number, key, "is signed by a key that handed over before")
                if self.keys and number not in self.vouched:
                    must(bool(self.vouched), key, "is signed by a key that is not given")
                    OPEN.append(f"{key}: nobody vouches for it")
            derived = self.derive(entry, before, key, ledger, eras)
            if derived is not None:
                derived.update({name: entry[name] for name in ("signature", "countersignature") if name in entry})
                must(record_bytes(derived) == data, key, "does not follow from what it records and the entry before")
            ledger.append(entry)
            before, previous = entry, sha256(data)
        return ledger

    def derive(self, entry, before, key, ledger, eras):
        """4: the entry as it must be. Verifies what it records on the way."""
        heads, service = (before["heads"], before["audit_url"]) if before else ({}, None)
        common = {"format": "evidence-ledger-entry/7", "number": entry["number"], "previous_sha256": entry["previous_sha256"]}
        if "hands_over_to" in entry:
            must(entry["countersignature"]["keyid"] == entry["hands_over_to"] != entry["signature"]["keyid"], key, "is not signed by the keys of a hand-over")
            return {**common, "hands_over_to": entry["hands_over_to"], "created_at": entry["created_at"], "audit_url": service, "heads": heads}
        if "abandons" in entry:
            own = {name: entry[name] for name in ("abandons", "reason", "abandoned_by", "created_at")}
            return {**common, **own, "audit_url": service, "heads": heads}
        if "acceptance_key" in entry:
            data = self.read(entry["acceptance_key"])
            record = data and read_record(data, "acceptance", entry["acceptance_key"])
            if not record or not must(sha256(data) == entry["acceptance_sha256"], entry["acceptance_key"], "is not what the ledger names"):
                return None
            name = f"acceptances/{slug_of(record['stream_id'])}-{record['accepted_at'].replace(':', '-')}.json"
            must(entry["acceptance_key"] == name, name, "is not where it belongs")
            restart = {name: record[name] for name in ("reason", "accepted_by", "accepted_at", "head")}
            self.restarts.setdefault(record["stream_id"], []).append({**restart, "earlier": eras.pop(record["stream_id"], [])})
            self.acceptances.append(record)
            stream, seen = record["stream_id"], record["contradiction"]["seen"]
            must(record["contradiction"] == self.contradiction(stream, ledger), name, "accepts what the newest run with the stream did not find")
            if seen:
                eras[stream] = [seen]
            left = {stream: {**seen["entries"]["head"], "run_id": seen["run_id"]}} if seen and seen["entries"] else {}
            return {**common, "acceptance_key": entry["acceptance_key"], "acceptance_sha256": entry["acceptance_sha256"], "stream_id": stream, "seen": seen, "created_at": record["accepted_at"],
                    "audit_url": service, "heads": {s: left.get(s, h) for s, h in heads.items() if s != stream or s in left}}
        run_key = f"runs/{entry['run_id']}/run.json"
        data = self.read(run_key)
        run = data and read_record(data, "run", run_key)
        if not run or not must(sha256(data) == entry["run_sha256"], run_key, "is not what the ledger names"):
            return None
        past = {stream: list(spans) for stream, spans in eras.items()}
        spans = by_stream([(s["stream_id"], span) for s in run["streams"] if (span := span_of(s)) is not False])
        for stream, span in spans.items():
            eras.setdefault(stream, []).append({"run_id": run["run_id"], "period": run["package_period"], "part": False, "entries": span})
        known = {e["audit_url"] for e in ledger} | {entry["audit_url"]}
        verify_run(self, run, data, past, known, ledger)
        after = dict(heads)
        for stream, span in spans.items():
            if span and span["head"]["sequence"] > after.get(stream, {"sequence": -1})["sequence"]:
                after[stream] = {**span["head"], "run_id": run["run_id"]}
        moved = run["source"]["moved_from"] is not None
        return {**common, "run_id": run["run_id"], "run_sha256": sha256(data), "package_period": run["package_period"],
                "coverage": coverage_of(run), "supersedes": run["supersedes"], "spans": spans, "created_at": run["finished_at"],
                "audit_url": run["source"]["audit_url"] if moved or service is None else service, "heads": by_stream(after.items())}


    def contradiction(self, stream, ledger):
        """4: what the newest run with the stream found against the runs before it; None for nothing."""
        for entry in reversed([e for e in ledger if "run_id" in e]):
            run = read_record(self.read(f"runs/{entry['run_id']}/run.json"), "run", entry["run_id"])
            gone, held = ([s for s in (run or {}).get(name, []) if s["stream_id"] == stream] for name in ("vanished", "streams"))
            if gone:
                return {"run_id": run["run_id"], "finding": gone[0]["finding"]["code"], "message": gone[0]["finding"]["message"], "seen": None}
            if held:
                continuity = held[0]["claims"]["continuity"]
                entries = None if held[0]["entries"] == 0 else entries_of(held[0])
                if continuity["state"] != "refuted" or entries is False:
                    return None
                first = next((f for f in held[0]["findings"] if f["code"].startswith("continuity/") and f["severity"] == "error"), {"code": "continuity", "message": continuity.get("reason", "continuity is refuted")})
                seen = {"run_id": run["run_id"], "period": run["package_period"], "part": False, "entries": entries}
                return {"run_id": run["run_id"], "finding": first["code"], "message": first["message"], "seen": seen}
        return None


def span_of(stream):
    """4, rule 2: the span, None for an empty stream, False for none."""
    if stream["status"] == "empty":
        return None
    continuity = stream["claims"]["continuity"]["state"]
    found = [f["code"] for f in stream["findings"] if f["code"].startswith("continuity/") and f["severity"] == "error"]
    contradicts = continuity == "refuted" and (not found or any(code != "continuity/gap" for code in found))
    return False if contradicts else entries_of(stream)


def entries_of(stream):
    if stream["claims"]["order"]["state"] != "proved" or None in (stream["first_sequence"], stream["previous_hash"], stream["head"]):
        return False
    names = "first_sequence head previous_hash first_recorded_at last_recorded_at digests_bind entries_sha256".split()
    return {**{name: stream[name] for name in names}, "agrees": stream["claims"]["continuity"]["state"] == "proved"}


def coverage_of(run):
    scope, counts = run["scope"], run["reconciliation"]
    def unique(values):
        return sorted(set(values), key=utf16)
    without = ["without", *unique(scope["exclude"])] if scope["exclude"] else []
    text = json.dumps([unique(scope["streams"]), without], ensure_ascii=False, separators=(",", ":"))
    firsts = sorted(day for s in run["streams"] for day in list(s["activity"]["counts"])[:1])
    return {"period": run["period"], "until": run["period"]["to"] or run["begun_at_by_service"] or run["begun_at"], "filter": text if scope["streams"] or scope["exclude"] else "",
            "listed": counts["listed"], "left_out": counts["partial"] + counts["failed"] + counts["excluded"], "excluded": counts["excluded"], "first_entry": firsts[0] if firsts else None}


def is_earlier(one, other):
    """4: an earlier revision of the same name."""
    def revision(run):
        found = re.fullmatch(r"(.*)\.r(\d+)", run)
        return (found[1], int(found[2])) if found else (run, 1)
    (base, number), (other_base, other_number) = revision(one), revision(other)
    return base == other_base and number < other_number


def verify_run(archive, run, data, past, services, ledger):
    """Steps 3 to 8 for one run."""
    prefix, counts = f"runs/{run['run_id']}/", run["reconciliation"]
    key = prefix + "run.json"
    gone = {v["stream_id"] for v in run["vanished"]}
    told = {item["stream_id"] for name in ("streams", "failed", "excluded") for item in run[name]}
    must(all(s["stream_id"] in told for s in run["stream_list"]["streams"]), key, "does not say what became of a stream")
    judge_list(run, gone, key)
    must_add_up(run, gone, key)
    left = {(run["run_id"], s["stream_id"]): s["head"] for s in run["streams"]}
    for entry in ledger:
        by = entry.get("run_id") or (entry.get("seen") or {}).get("run_id")
        left.update({(by, stream): {n: head[n] for n in ("sequence", "hash")} for stream, head in entry["heads"].items() if head["run_id"] == by})
    for gone_or_ended in run["vanished"] + run["ended"]:
        head = gone_or_ended["head"]
        must(left.get((head["run_id"], gone_or_ended["stream_id"])) == {n: head[n] for n in ("sequence", "hash")}, key, "misses a stream by a head that the ledger does not have")
    named = {earlier["run_id"] for earlier in run["earlier_runs"]}
    known = next((e["heads"] for e in reversed(ledger) if e["created_at"] <= run["started_at"] or e.get("run_id") in named), {})
    known = set(known) - told - {item["stream_id"] for item in run["stream_list"]["streams"] + run["vanished"] + run["ended"]}
    must(not any(in_scope(stream, run["scope"]) for stream in known), key, "says nothing of a stream that runs before had")
    must(run["source"]["audit_url"] in services, key, "is of another service")
    must(all(acceptance in archive.acceptances for acceptance in run["acceptances"]), key, "names an acceptance that the ledger does not")
    must(run["outcome"] != "refuted", key, "the run itself was refuted")
    must(all(archive.runs.get(earlier["run_id"], earlier) == earlier for earlier in run["earlier_runs"]), key, "says of a run before what its record does not")
    archive.earlier.append(run["earlier_runs"])
    must(all(is_earlier(other, run["run_id"]) for other in run["supersedes"]), key, "takes the place of a run of another name")
    archive.runs[run["run_id"]] = {**coverage_of(run), "run_id": run["run_id"], "outcome": run["outcome"], "finished_at": run["finished_at"], "streams": counts["exported"], "entries": sum(s["entries"] for s in run["streams"])}
    asked = next((d for d in run["documents"] if d["name"] == "asked.json"), None)
    for stored in run["left_over"] + run["documents"]:
        right = stored["key"] == prefix + stored["name"] if "name" in stored else stored["key"].startswith(prefix)
        must(right, stored["key"], "is not where it belongs")
        archive.matches(stored)
    if asked and asked["key"] in archive.objects:
        question = read_record(archive.read(asked["key"]), "asked", asked["key"])
        same = question and all(question[n] == run[n] for n in ("run_id", "begun_at", "begun_at_by_service", "period"))
        same = same and all(question["source"][n] == run["source"][n] for n in ("audit_url", "contract_sha256"))
        same = same and all((sorted(set(v)) if isinstance(v, list) else v) == (sorted(set(run["scope"][n])) if isinstance(v, list) else run["scope"][n]) for n, v in question["scope"].items())
        must(bool(same), asked["key"], "asks for another run")
    archive.by_signature = []
    for stream in run["streams"]:
        bundle, slug = stream["bundle"], slug_of(stream["stream_id"])
        ending = ".PARTIAL.zip" if stream["partial"] else ".zip"
        must(bundle["key"] == f"{prefix}streams/{slug}{ending}{'.age' if 'encrypted' in bundle else ''}", key, f"puts {stream['stream_id']!r} where it does not belong")
        if stream["record"] is not None and archive.matches(stream["record"]):
            record = read_record(archive.read(stream["record"]["key"]), "stream", stream["record"]["key"])
            same = record and {**record, "record": stream["record"]}.items() >= stream.items() and record["run_id"] == run["run_id"]
            must(bool(same) and stream["record"]["key"] == f"{prefix}streams/{slug}.json", stream["record"]["key"], "says something else than the run record")
        if archive.matches(bundle) and "encrypted" not in bundle and not stream["partial"]:
            archive.checked += verify_bundle(archive, run, stream, past.get(stream["stream_id"], []), bundle["key"]) or 0
        elif bundle["key"] in archive.objects:
            OPEN.append(f"{bundle['key']}: not opened")
    if run["supplements"]:
        verify_supplements(archive, run, run["supplements"])
    if not verify_statement(archive, run, data):
        OPEN.extend(archive.by_signature)
    verify_stamps(archive, run, data)
    verify_hold_log(archive, run)


def must_add_up(run, gone, key):
    """10, step 3: the outcome, the exit code and every count follow from the streams."""
    states = [state for state in run["streams"] if state["stream_id"] not in gone]
    partial = [s for s in states if s["partial"] or s["status"] == "incomplete"]
    empty = [s for s in states if not s["partial"] and s["status"] == "empty"]
    counts = {"exported": len(states) - len(partial) - len(empty), "partial": len(partial), "failed": len(run["failed"]), "empty": len(empty), "excluded": len(run["excluded"])}
    services = [service["state"] for service in (run["supplements"] or {"services": {}})["services"].values()]
    of = {state: services.count(state) for state in ("collected", "missing")}
    counts.update(listed=sum(counts.values()), supplements={"configured": sum(of.values()), **of})
    must(run["reconciliation"] == counts, key, "its reconciliation is not what its streams come to")
    found = ["refuted" for _ in gone] + ["incomplete" for _ in run["failed"]] + ["incomplete" for _ in range(of["missing"])]
    found += ["incomplete" if s["partial"] and s["status"] != "refuted" else s["status"] for s in run["streams"]]
    found += ["refuted" for f in (run["supplements"] or {"findings": []})["findings"] if f["severity"] == "error"]
    worst = next((state for state in ("refuted", "incomplete", "collected", "verified") if state in found), "empty")
    must(run["outcome"] == worst, key, "states another outcome than its streams")
    must(run["exit_code"] == {"verified": 0, "collected": 0, "refuted": 1, "incomplete": 3, "empty": 4}[worst], key, "states another exit code than its streams come to")
    must(not any(in_scope(item["stream_id"], run["scope"]) for item in run["excluded"]), key, "leaves out a stream that its scope does not exclude")


def in_scope(stream, scope):
    """3: whether the globs of a scope let a stream in. None where this reads a glob not."""
    def any_of(globs):
        found = [matches(stream, glob) for glob in globs]
        return True if True in found else None if None in found else False
    left_out, named = any_of(scope["exclude"]), not scope["streams"] or any_of(scope["streams"])
    return False if left_out or named is False else None if None in (left_out, named) else True


def matches(stream, glob):
    if stream == glob:
        return True
    if re.search(r"[\[\]{}()\\!+@]", glob):
        return None
    *parts, last = glob.split("/")
    one = lambda part: "[^/]+" if part == "*" else "".join({"*": "[^/]*", "?": "[^/]"}.get(c, re.escape(c)) for c in part)
    text = "".join("(?:[^/]+/)*" if part == "**" else one(part) + "/" for part in parts)
    return re.fullmatch(text + (".*" if last == "**" else one(last)), stream, re.S) is not None


def judge_list(run, gone, key):
    """10, step 3: the list of streams and what the run has of them."""
    rows = run["stream_list"]["streams"]
    listed = {row["stream_id"]: row for row in rows}
    places = [item["stream_id"] for name in ("streams", "failed", "excluded") for item in run[name]]
    must(len(listed) == len(rows) == sum(page["streams"] for page in run["stream_list"]["pages"]), key, "has another number of streams in its list than on its pages")
    must(len(places) == len(set(places)), key, "has a stream in two places")
    must(all(item["stream_id"] in listed for name in ("failed", "excluded") for item in run[name]), key, "names a stream that was not listed")
    started = to_time(run["started_at"])
    for stream in run["streams"]:
        row, said = listed.get(stream["stream_id"]), stream["service"]
        if row is None:
            must(stream["head"] is None or stream["stream_id"] in gone, key, f"exports {stream['stream_id']!r}, which is neither listed nor vanished")
        elif stream["collected"]["export_started_at"] == run["started_at"]:
            must([row["entries"], row["head"]] == [said["entries"], said["head"]], key, f"lists {stream['stream_id']!r} otherwise than its bundle says")
        elif to_time(stream["collected"]["received_at"]) <= started and stream["status"] != "refuted":
            now, heads = row["head"], [said["head"]] + ([stream["head"]] if stream["head"] else [])
            heads = [h for h in heads if None not in (h["sequence"], now["sequence"])]
            same = [h for h in heads if h["sequence"] == now["sequence"] and None not in (h["hash"], now["hash"])]
            fits = all(h["sequence"] <= now["sequence"] for h in heads) and all(h["hash"] == now["hash"] for h in same)
            fits = fits and (None in (row["entries"], said["entries"]) or row["entries"] >= said["entries"])
            must(fits, key, f"lists less of {stream['stream_id']!r} than was received before, or something else")


def verify_statement(archive, run, data):
    """5.3. True if a key of the reader vouches for the run."""
    if not run["signed"]:
        return False
    key = f"runs/{run['run_id']}/run.dsse.json"
    content = archive.read(key)
    try:
        envelope = content and parse(content)
    except ValueError:
        envelope = {}
    if content is None or not has_members(envelope, "envelope", key) or not must(len(envelope["signatures"]) == 1 and record_bytes(envelope) == content, key, "is not written as a record"):
        return False
    subjects = {f"runs/{run['run_id']}/run.json": sha256(data)}
    bundles = [s["bundle"] for s in run["streams"]]
    supplements = [run["supplements"]["object"]] if run["supplements"] else []
    subjects.update({s["key"]: s["sha256"] for s in bundles + supplements + run["left_over"] + run["documents"]})
    predicate = {name: run[name] for name in "run_id outcome exit_code period source tool finished_at".split()}
    statement = record_bytes({"_type": "https://in-toto.io/Statement/v1", "subject": [{"name": n, "digest": {"sha256": subjects[n]}} for n in sorted(subjects, key=utf16)], "predicateType": "urn:evidence-exporter:run:7", "predicate": predicate})
    must(envelope["payloadType"] == "application/vnd.in-toto+json" and base64.b64encode(statement).decode() == envelope["payload"], key, "is not the statement of this run")
    signature = envelope["signatures"][0]
    vouches = is_signed(archive.all_keys, envelope["payloadType"], base64.b64decode(envelope["payload"]), signature, key)
    vouches = vouches and signature["keyid"] in archive.signers and archive.vouched_runs.get(run["run_id"]) == sha256(data)
    if archive.keys and signature.get("keyid") not in archive.signers:
        is_open = archive.vouched and archive.vouched_runs.get(run["run_id"]) != sha256(data)
        must(is_open, key, "is signed by a key that is not given")
        OPEN.append(f"{key}: nobody vouches for it")
    archive.used.add(signature.get("keyid"))
    return vouches


def verify_stamps(archive, run, data):
    """5.5"""
    number, covered, not_before, now = 1, data, to_time(run["finished_at"]), datetime.now(timezone.utc)
    named, proved = {}, False
    for key in [k for k in archive.objects if re.fullmatch(rf"runs/{re.escape(run['run_id'])}/hold-log/[^/]+-restamp\.json", k)]:
        record = read_record(archive.read(key), "restamp", key, "restamp-record")
        if record and must(record["run_id"] == run["run_id"] and key.endswith(f"/{record['ordered_at'].replace(':', '-')}-restamp.json"), key, "is not where it belongs"):
            named[record["token"]["key"]] = record["token"]["sha256"]
    while (key := f"runs/{run['run_id']}/run{'' if number == 1 else f'.{number}'}.tsr") in archive.objects:
        token = archive.read(key)
        must(number == 1 or named.get(key) == sha256(token), key, "nothing records who had it made")
        time, proves = (archive.root and token_time(token, sha256(covered), archive.root, key, now)) or (None, False)
        if time is not None:
            must(time + timedelta(minutes=5) >= not_before, key, "is older than what it covers")
            not_before, proved = time if time <= now else not_before, proved or proves
        number, covered = number + 1, covered + token
    if run["timestamp_authority"] is not None and (number == 1 or archive.root and not proved):
        OPEN.append(f"runs/{run['run_id']}: not time-stamped yet, or not under this root")


def verify_hold_log(archive, run):
    pattern = re.compile(rf"runs/{re.escape(run['run_id'])}/hold-log/([^/]+)-(hold|release|extend|share)\.json")
    for key in sorted(archive.objects):
        found = pattern.fullmatch(key)
        if not found:
            continue
        action = found[2]
        data = archive.read(key)
        kind = "share" if action == "share" else "hold"
        record = read_record(data, kind, key, f"{kind}-record")
        if record is None:
            continue
        at = record["shared_at" if action == "share" else "ordered_at"]
        must(record["run_id"] == run["run_id"] and at.replace(":", "-") == found[1] and record.get("action", "share") == action, key, "is not where it belongs")
        done = key[: -len(".json")] + ".done.json"
        if action != "share" and done in archive.objects:
            result = read_record(archive.read(done), "hold-result", done)
            must(result is None or result["record_sha256"] == sha256(data), done, "is not the end of the record beside it")


def read_seal_key(file):
    """hex:…, base64:… or the key itself; a line feed at the end is not part of it."""
    with open(file, "rb") as source:
        text = re.sub(rb"\r?\n\Z", b"", source.read())
    if text.startswith(b"hex:"):
        return bytes.fromhex(text[4:].decode())
    return base64.b64decode(text[7:], validate=True) if text.startswith(b"base64:") else text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("archive")
    parser.add_argument("--public-key", action="append", default=[])
    parser.add_argument("--root", help="root certificate of the authority that stamps runs")
    parser.add_argument("--service-root", help="root certificate of the authority that stamps the service's checkpoints")
    parser.add_argument("--seal-key", action="append", default=[], metavar="ID=FILE")
    options = parser.parse_args()
    seal_keys = {}
    for option in options.seal_key:
        name, file = option.split("=", 1)
        seal_keys[name] = read_seal_key(file)
    archive = Archive(options.archive, options.public_key, options.root, options.service_root, seal_keys)
    if archive.is_of_another_version():
        print("this archive is of another version of the format: nothing was verified")
        return 2
    try:
        archive.verify()
    except (KeyError, TypeError, AttributeError, IndexError, ValueError) as error:
        must(False, options.archive, f"holds what no archive holds: {error!r}")
    for line in FINDINGS + ([] if FINDINGS else OPEN):
        print(line)
    outcome = "refuted" if FINDINGS else "incomplete" if OPEN or not archive.checked else "verified"
    print(outcome)
    return {"verified": 0, "refuted": 1, "incomplete": 3}[outcome]


if __name__ == "__main__":
    sys.exit(main())

"""Writes, for each dialect of its table, a chain of entries as an audit service of that dialect would send them."""
import base64, datetime, hashlib, hmac, json, sys

LENGTH = 24
KEYS = {"k1": b"the first key", "k2": b"\x00\xff the second"}


def default(value):
    return json.dumps(value)


def compact(value, **more):
    return json.dumps(value, separators=(",", ":"), **more)


def jcs(value):
    """RFC 8785 of what these entries hold: no float that Python writes in another way, no name beyond U+FFFF."""
    return compact(value, sort_keys=True, ensure_ascii=False)


def without(value, *names):
    return {name: value[name] for name in value if name not in names}


def odd(members):
    """JSON with white space where few would put it."""
    return "{\t" + " ,\n ".join(f"{json.dumps(name)} :  {json.dumps(value, indent=1, ensure_ascii=False)}" for name, value in members.items()) + "\r\n}"


def base(index):
    return {
        "id": f"e-{index + 1}",
        "stream": "payments",
        "seq": index + 1,
        "at": f"2026-10-01T00:00:{index:02}+00:00",
        "actor": f"Zoë {index % 3} 😀",
        "action": "payment.created\u007f\t\"x\"",
        "amount": 1.5 * index + 0.25,
        "big": 10**30 + index if index % 2 else -index,
        "note": None if index % 4 == 0 else "",
        "paid": index % 2 == 0,
        "metadata": {"zeta": [1, {"b": None, "a": "ü"}], "alpha": {"k": index}, "é": "", "empty": {}},
    }


def small(index):
    """Without what RFC 8785 would write in another way than Python."""
    return without(base(index), "big") | {"amount": index + 0.5}


HEX = bytes.hex
B64 = lambda digest: base64.b64encode(digest).decode()
B64U = lambda digest: base64.urlsafe_b64encode(digest).decode()
bare = lambda encode: lambda digest: encode(digest).rstrip("=")
SHA = {name: (lambda data, entry, name=name: hashlib.new(name, data).digest()) for name in ("sha256", "sha384", "sha512")}


def chain(preimage, genesis="0" * 64, encode=HEX, make=SHA["sha256"], entry=base, send=default):
    """`preimage` gets the entry with its `prev` and without its `hash`, what `prev` says, and the digest's bytes."""
    texts, previous, raw = [], genesis, None
    for index in range(LENGTH):
        now = entry(index)
        if previous is not ABSENT:
            now["prev"] = previous
        data = preimage(now, previous, raw)
        raw = make(data.encode() if isinstance(data, str) else data, now)
        previous = encode(raw)
        texts.append(send(now, previous) if send is odd_with_hash else send(nest(now, previous)))
    return texts


ABSENT = object()


def nest(entry, digest):
    """The digest goes where the entry wants it: to its top, or into `chain`."""
    if "chain" in entry:
        return entry | {"chain": entry["chain"] | {"hash": digest}}
    return {"hash": digest, **entry}


def odd_with_hash(entry, digest):
    members = list(entry.items())
    return odd(dict(members[:3] + [("hash", digest)] + members[3:]))


def py(value):
    """Python's str() of a value in a join."""
    return value if isinstance(value, str) else "None" if value is None else json.dumps(value)


def join(separator, entry, *names):
    return separator.join(py(entry[name]) for name in names)


def zeros(digest_encode, size):
    return digest_encode(bytes(size))


def chained(index):
    entry = base(index)
    return {"chain": {"seq": entry["seq"], "by": "service"}, **without(entry, "seq")}


def with_prev_in_chain(preimage):
    texts, previous = [], "0" * 64
    for index in range(LENGTH):
        now = chained(index)
        now["chain"]["prev"] = previous
        previous = hashlib.sha256(preimage(now).encode()).hexdigest()
        now["chain"]["hash"] = previous
        texts.append(default(now))
    return texts


def timed(write):
    def entry(index):
        return base(index) | {"at": write(datetime.datetime(2026, 10, 1, 0, 0, index, 250000, datetime.timezone.utc))}

    return entry


SIMPLE = lambda e, p, r: p + jcs(e)
DIALECTS = {
    "rfc8785": lambda: chain(lambda e, p, r: jcs(e), entry=small),
    "previous before": lambda: chain(lambda e, p, r: p + json.dumps(without(e, "prev"), sort_keys=True)),
    "previous after": lambda: chain(lambda e, p, r: compact(without(e, "prev"), ensure_ascii=False) + p),
    "previous inside": lambda: chain(lambda e, p, r: compact(e)),
    "previous bytes": lambda: chain(lambda e, p, r: (r or bytes(32)) + json.dumps(without(e, "prev"), sort_keys=True, ensure_ascii=False).encode()),
    "previous bytes, nothing": lambda: chain(lambda e, p, r: (r or b"") + default(without(e, "prev")).encode(), genesis=None),
    "previous bytes, base64": lambda: chain(lambda e, p, r: (r or b"") + default(without(e, "prev")).encode(), genesis="first", encode=bare(B64)),
    "separators": lambda: chain(lambda e, p, r: "v1\n" + (p or "GENESIS") + "|" + default(without(e, "prev")), genesis=""),
    "join": lambda: chain(lambda e, p, r: join("|", e, "prev", "seq", "at", "actor", "action", "amount", "big", "note", "paid")),
    "join of everything": lambda: chain(lambda e, p, r: join(";", e, "seq", "at", "stream", "id", "actor", "action", "amount", "big", "note", "paid", "metadata", "prev")),
    "join without separator": lambda: chain(lambda e, p, r: join("", e, "seq", "at", "stream", "actor", "prev")),
    "join of nested": lambda: chain(lambda e, p, r: p + "|" + "|".join([str(e["seq"]), str(e["metadata"]["alpha"]["k"]), e["at"], e["stream"], e["id"]])),
    "join and json": lambda: chain(lambda e, p, r: join("|", e, "prev", "seq", "actor") + "|" + json.dumps(e["metadata"], sort_keys=True)),
    "json of a member": lambda: chain(lambda e, p, r: p + json.dumps(e["metadata"], sort_keys=True) + "." + str(e["seq"])),
    "rfc8785 of a part of a member": lambda: chain(lambda e, p, r: p + jcs({"zeta": e["metadata"]["zeta"]}), entry=small),
    "fields in order": lambda: chain(lambda e, p, r: compact({name: e[name] for name in ("seq", "prev", "actor", "metadata", "at") if name in e})),
    "fields, rfc8785": lambda: chain(lambda e, p, r: jcs({name: e[name] for name in ("seq", "prev", "actor", "at", "stream")}), entry=small),
    "as sent": lambda: chain(lambda e, p, r: odd(e), send=odd_with_hash),
    "a member as sent": lambda: chain(lambda e, p, r: p + json.dumps(e["metadata"], indent=1, ensure_ascii=False), send=odd_with_hash),
    "sha-384, base64": lambda: chain(SIMPLE, entry=small, encode=B64, make=SHA["sha384"], genesis=zeros(B64, 48)),
    "sha-512, base64url, padded": lambda: chain(SIMPLE, entry=small, encode=B64U, make=SHA["sha512"], genesis=""),
    "sha-512, base64url": lambda: chain(lambda e, p, r: join("|", e, "prev", "seq", "id", "actor"), encode=bare(B64U), make=SHA["sha512"], genesis=""),
    "sha-256, base64, no padding": lambda: chain(SIMPLE, entry=small, encode=bare(B64), genesis=""),
    "base64 before a join": lambda: chain(lambda e, p, r: p + join("|", e, "actor", "seq"), encode=B64, genesis="-"),
    "hmac, one key": lambda: chain(SIMPLE, entry=small, make=lambda data, e: hmac.digest(KEYS["k1"], data, "sha256")),
    "hmac, key by field": lambda: chain(
        lambda e, p, r: json.dumps(e, sort_keys=True),
        entry=lambda index: base(index) | {"key": "k1" if index < 9 else "k2"},
        make=lambda data, e: hmac.digest(KEYS[e["key"]], data, "sha512"),
        genesis="0" * 128,
    ),
    "hmac-sha-384": lambda: chain(SIMPLE, entry=small, encode=B64, genesis="", make=lambda data, e: hmac.digest(KEYS["k2"], data, "sha384")),
    "prefix": lambda: chain(SIMPLE, entry=small, encode=lambda d: "sha256:" + HEX(d), genesis="sha256:" + "0" * 64),
    "prefix, nothing before the first": lambda: chain(lambda e, p, r: (p if r else "") + jcs(without(e, "prev")), entry=small, encode=lambda d: "sha256:" + HEX(d), genesis="sha256:" + "0" * 64),
    "zeros hashed as a word": lambda: chain(lambda e, p, r: (p if r else "root") + jcs(without(e, "prev")), entry=small),
    "base64 zeros hashed as nothing": lambda: chain(lambda e, p, r: (p if r else "") + jcs(without(e, "prev")), entry=small, encode=B64, genesis=zeros(B64, 32)),
    "null": lambda: chain(lambda e, p, r: (p or "") + jcs(without(e, "prev")), entry=small, genesis=None),
    "null hashed as zeros": lambda: chain(lambda e, p, r: (p or "0" * 64) + jcs(without(e, "prev")), entry=small, genesis=None),
    "null inside": lambda: chain(lambda e, p, r: json.dumps(e, sort_keys=True), genesis=None),
    "absent": lambda: chain(lambda e, p, r: ("" if p is ABSENT else p) + jcs(without(e, "prev")), entry=small, genesis=ABSENT),
    "absent hashed as a word": lambda: chain(lambda e, p, r: ("none" if p is ABSENT else p) + jcs(without(e, "prev")), entry=small, genesis=ABSENT),
    "a word": lambda: chain(lambda e, p, r: p + jcs(without(e, "prev")), entry=small, genesis="GENESIS"),
    "a word hashed as another": lambda: chain(lambda e, p, r: (p if r else "0") + jcs(without(e, "prev")), entry=small, genesis="GENESIS"),
    "from 0": lambda: chain(lambda e, p, r: json.dumps(e), entry=lambda index: base(index) | {"seq": index}),
    "numbers as text": lambda: chain(lambda e, p, r: join("|", e, "prev", "seq", "stream"), entry=lambda index: base(index) | {"seq": str(index + 1)}),
    "no zone": lambda: chain(lambda e, p, r: json.dumps(e), entry=timed(lambda at: at.replace(tzinfo=None).isoformat())),
    "no zone, a space": lambda: chain(lambda e, p, r: json.dumps(e), entry=timed(lambda at: at.strftime("%Y-%m-%d %H:%M:%S,250"))),
    "seconds": lambda: chain(lambda e, p, r: json.dumps(e), entry=timed(lambda at: at.timestamp())),
    "milliseconds": lambda: chain(lambda e, p, r: json.dumps(e), entry=timed(lambda at: round(at.timestamp() * 1000))),
    "roles in a member": lambda: with_prev_in_chain(lambda e: e["chain"]["prev"] + "|" + e["actor"]),
    "roles in a member, hashed whole": lambda: with_prev_in_chain(lambda e: json.dumps(without(e, "chain")) + json.dumps(e["chain"], sort_keys=True)),
    "names with dots": lambda: chain(lambda e, p, r: p + "|" + str(e["a"]["b"]), entry=lambda index: base(index) | {"a.b": "decoy", "a": {"b": index}}),
    "next to nothing": lambda: chain(lambda e, p, r: e["actor"]),
}

json.dump({name: make() for name, make in DIALECTS.items()}, sys.stdout)

#ifndef SETTINGS_H
#define SETTINGS_H
// Settings from settings.ts: a contract, a stream and its keys. Texts are passed in `exchange`. Settings that do not
// fit are refused.
#include "entry.h"
#include "hmac.h"

#define EXPORT(name) __attribute__((export_name(name)))

u8 exchange[EXCHANGE_BYTES + SLACK] __attribute__((aligned(16)));

static bool has_digest_key;
// Entries may have seals in the form `seal_form`. With keys for seals, every entry must have a seal, which is checked.
static bool has_seals;
static bool checks_seals;
// Seals are made over the bytes of the digest instead of its text.
static bool seals_bytes;
static struct keys digest_keys;
static struct keys seal_keys;

static void forget_settings(void) {
  named_count = step_count = constants_length = stream_id_length = shape.count = 0;
  digest_keys.count = seal_keys.count = 0;
  groups = 0;
  has_digest_key = has_seals = checks_seals = writes_entry = writes_chosen = false;
  for (u32 i = 0; i < ROLES; i++) row_of[i] = NOWHERE;
}

// Copies the text in `exchange` for the lifetime of the settings. Returns null if there is no room.
static const u8 *keep(u32 length) {
  if (length > EXCHANGE_BYTES || constants_length + length > CONSTANT_BYTES) return 0;
  u8 *kept = constants + constants_length;
  put(kept, exchange, length);
  constants_length += length;
  return kept;
}

EXPORT("set_form") void set_form(u32 as_sent, u32 ascii, u32 sorted, u32 doubles, u32 gap, u32 chosen) {
  form.as_sent = as_sent;
  form.ascii = ascii;
  form.sorted = sorted;
  form.doubles = doubles;
  form.gap = gap;
  writes_chosen = chosen;
}

EXPORT("set_values") void set_values(u32 numbers_as_text, u32 unit) {
  text_numbers = numbers_as_text;
  time_unit = unit;
}

static struct text as_text(u32 length) { return (struct text){exchange, length}; }

// Adds a member by name, or adds properties to a member that is known. Returns its row, or NOWHERE if there is no room.
EXPORT("name") u32 name_member(u32 length, u32 container, u32 written, u32 covered) {
  if (length > MAX_NAME) return NOWHERE;
  u32 row = find_named(as_text(length), (u8)container);
  if (row == NOWHERE) {
    if (named_count == MAX_NAMED) return NOWHERE;
    row = named_count++;
    put(named[row].bytes, exchange, length);
    named[row].length = length;
    named[row].container = (u8)container;
    named[row].is_container = named[row].holds_covered = false;
    named[row].written = named[row].covered = false;
    named[row].group = 0;
  }
  named[row].written |= written;
  named[row].covered |= covered;
  if (container != NOWHERE) {
    named[container].is_container = true;
    named[container].holds_covered |= covered;
  }
  shape.count = 0;
  return row;
}

// Adds a member to a group. An entry should have a member of each group.
EXPORT("group") void add_to_group(u32 row, u32 group) {
  named[row].group |= (u8)(1 << group);
  groups |= (u8)(1 << group);
}

EXPORT("play") void play(u32 role, u32 row) { row_of[role] = (u8)row; }

// Adds the next step of the preimage. Returns its index, or NO_STEP if there is no room.
EXPORT("step") u32 add_step(u32 kind, u32 row, u32 count, u32 length, u32 pinned) {
  const u8 *kept = keep(length);
  if (!kept || step_count == MAX_STEPS) return NO_STEP;
  steps[step_count] = (struct step){kind, row, count, {kept, length}, pinned};
  if (kind == ENTRY) writes_entry = true;
  return step_count++;
}

// Sets the algorithm and text form of digests; the prefix is in `exchange`.
EXPORT("set_digest") u32 set_digest(u32 algorithm, u32 encoding, u32 prefix_length) {
  if (prefix_length > MAX_PREFIX) return false;
  set_digest_form(&digest_form, algorithm, encoding);
  put(digest_form.prefix, exchange, prefix_length);
  digest_form.prefix_length = prefix_length;
  return true;
}

EXPORT("set_genesis") u32 set_genesis(u32 kind, u32 length) {
  const u8 *kept = keep(length);
  genesis = kind;
  genesis_literal = (struct text){kept, length};
  return kept != 0;
}

// Sets the stream's id, which is in `exchange`.
EXPORT("expect_stream") u32 expect_stream(u32 length) {
  if (length > MAX_MEANING) return false;
  put(stream_id, exchange, length);
  stream_id_length = length;
  return true;
}

// Makes digests HMACs from now on.
EXPORT("key_digests") void key_digests(void) { has_digest_key = true; }

// Sets the form of seals.
EXPORT("expect_seals") void expect_seals(u32 algorithm, u32 encoding) {
  set_digest_form(&seal_form, algorithm, encoding);
  has_seals = true;
}

// Requires a seal of every entry from now on, and computes it.
EXPORT("check_seals") void check_seals(u32 over_bytes) {
  seals_bytes = over_bytes;
  checks_seals = true;
}

// Adds a key, with its id followed by its bytes in `exchange`, and clears `exchange`.
EXPORT("add_key") u32 add_key(u32 for_seals, u32 id_length, u32 key_length) {
  struct keys *keys = for_seals ? &seal_keys : &digest_keys;
  enum algorithm algorithm = for_seals ? seal_form.algorithm : digest_form.algorithm;
  bool fits = keys->count < MAX_KEYS && id_length <= MAX_KEY_ID && key_length <= block_of(algorithm);
  if (fits) {
    struct key *key = &keys->of[keys->count++];
    put(key->id, exchange, id_length);
    key->id_length = id_length;
    set_key_states(key, algorithm, exchange + id_length, key_length);
  }
  zero(exchange, sizeof exchange);
  return fits;
}

// Reports whether an accepted entry of the last run uses a key. Keys are numbered in the order in which they were
// added.
EXPORT("used_key") u32 used_key(u32 for_seals, u32 index) { return (for_seals ? &seal_keys : &digest_keys)->used[index]; }
#endif

// Decodes the plain entries of a chain, up to the first entry that may not be plain. Results depend only on the bytes
// of an entry and on the settings, and do not say whether the entry is right. The kernel may be uncertain about any
// entry, but must never be certain and wrong: `decode/reference/` returns the same result for every accepted entry.
#include "settings.h"

// Limits of the entries and bytes that are parsed before they are hashed: enough to keep four lanes busy, and few
// enough to stay in the cache.
#define MAX_BATCH 128
#define BATCH_TEXT (64 << 10)
// Size of a run's first batch. Batches start small so that a chain full of entries that are not plain costs no more.
#define FIRST_BATCH 4

// Key of a seal and, if seals are made over the text of the digest, that text.
struct seal {
  struct text digest;
  const struct key *key;
};

// Buffers that decoder.ts reads and writes by address.
u8 input[INPUT_BYTES + SLACK] __attribute__((aligned(16)));
// Columns with a row for each accepted entry of the last run: sequence number, time, start and end in `input`, place
// and length of its timestamp, flags, stated digest of its predecessor, stated digest and computed digest; with keys
// for seals, also stated and computed seal. Nothing is compared here. Digests follow each other without padding.
double sequences[MAX_ENTRIES];
double times[MAX_ENTRIES];
u32 starts[MAX_ENTRIES];
u32 ends[MAX_ENTRIES];
u32 timestamps[MAX_ENTRIES];
u32 timestamp_lengths[MAX_ENTRIES];
u8 flags[MAX_ENTRIES];
u8 previous[MAX_ENTRIES * MAX_DIGEST + SLACK] __attribute__((aligned(16)));
u8 stated[MAX_ENTRIES * MAX_DIGEST + SLACK] __attribute__((aligned(16)));
u8 computed[MAX_ENTRIES * MAX_DIGEST + SLACK] __attribute__((aligned(16)));
u8 stated_seals[MAX_ENTRIES * MAX_DIGEST + SLACK] __attribute__((aligned(16)));
u8 computed_seals[MAX_ENTRIES * MAX_DIGEST + SLACK] __attribute__((aligned(16)));
u32 report[REPORT_WORDS];

static u8 texts[INPUT_BYTES + 2 * BATCH_TEXT + SLACK] __attribute__((aligned(16)));
static u8 *texts_end;
static u8 short_texts[MAX_BATCH][SHORT_TEXT] __attribute__((aligned(16)));
static struct message messages[MAX_BATCH];
static const struct key *batch_keys[MAX_BATCH];
static struct seal seals[MAX_BATCH];
static u8 made[MAX_BATCH][MAX_DIGEST] __attribute__((aligned(16)));
static u32 batch_count;
// Row of the first entry of the batch.
static u32 batch_start;

// Clears all settings. `first` is the sequence number of the stream's first entry; `depth` limits the nesting of an
// entry.
EXPORT("begin") void begin(double first, u32 depth) {
  forget_settings();
  first_sequence = first;
  max_depth = depth;
}

// Wipes the keys and all values derived from them.
EXPORT("forget") void forget(void) {
  bool had_keys = digest_keys.count > 0 || seal_keys.count > 0;
  forget_keys(&digest_keys);
  forget_keys(&seal_keys);
  zero(exchange, sizeof exchange);
  if (had_keys) zero(short_texts, sizeof short_texts);
  if (had_keys) zero(made, sizeof made);
}

// Copies the digests or seals of the batch to a column.
static void put_made(u8 *column, u32 bytes) {
  for (u32 i = 0; i < batch_count; i++) put(column + (batch_start + i) * bytes, made[i], bytes);
}

static SELDOM void make_seals(void) {
  enum algorithm algorithm = seal_form.algorithm;
  u32 bytes = digest_bytes(digest_form.algorithm);
  const struct key *keys[MAX_BATCH];
  for (u32 i = 0; i < batch_count; i++) {
    struct text over = seals[i].digest;
    if (seals_bytes) over = (struct text){stated + (batch_start + i) * bytes, bytes};
    put(short_texts[i], over.at, over.length);
    messages[i] = (struct message){short_texts[i], pad(short_texts[i], over.length, block_of(algorithm), algorithm), seals[i].key->inner};
    keys[i] = seals[i].key;
  }
  hash_messages(algorithm, messages, batch_count, made);
  hash_outer(algorithm, keys, batch_count, made, short_texts, messages);
  put_made(computed_seals, digest_bytes(algorithm));
}

static SELDOM void note_keys(void) {
  for (u32 i = 0; i < batch_count; i++) {
    if (has_digest_key) digest_keys.used[batch_keys[i] - digest_keys.of] = true;
    if (checks_seals) seal_keys.used[seals[i].key - seal_keys.of] = true;
  }
}

// Hashes the parsed entries, and starts the next batch.
static void end_batch(void) {
  enum algorithm algorithm = digest_form.algorithm;
  hash_messages(algorithm, messages, batch_count, made);
  if (has_digest_key) hash_outer(algorithm, batch_keys, batch_count, made, short_texts, messages);
  put_made(computed, digest_bytes(algorithm));
  if (checks_seals) make_seals();
  if (has_digest_key || checks_seals) note_keys();
  batch_start += batch_count;
  batch_count = 0;
  texts_end = texts;
}

// Returns the key that the role's member names or, without the role, the only key. Returns 0 if there is none.
static const struct key *chosen_key(const struct keys *keys, enum role role) {
  if (plays(role)) return find_key(keys, value_of(role));
  return keys->count == 1 ? &keys->of[0] : 0;
}

static bool find_digest_key(void) {
  if (!has_digest_key) return true;
  batch_keys[batch_count] = chosen_key(&digest_keys, DIGEST_KEY);
  return batch_keys[batch_count] != 0;
}

// Reads the seal of an entry; without keys, checks only its form. Returns false if the seal is uncertain.
static bool read_seal(const struct entry *entry) {
  if (!has_seals) return true;
  struct text sent = value_of(SEAL);
  const u8 *digits = digits_in(&seal_form, sent);
  u8 *to = stated_seals + (batch_start + batch_count) * digest_bytes(seal_form.algorithm);
  if (!digits) return !checks_seals && (sent.length == 0 || is_text(sent, "null", 4));
  if (!from_digits(&seal_form, digits, to)) return false;
  if (!checks_seals) return true;
  struct seal *seal = &seals[batch_count];
  seal->key = chosen_key(&seal_keys, SEAL_KEY);
  seal->digest = (struct text){entry->digest.at + 1, entry->digest.length - 2};
  return seal->key != 0;
}

// Adds the preimage of an entry to the batch. Returns false if its key, seal or preimage is uncertain.
static APART bool add_to_batch(const struct part *members, const struct entry *entry) {
  enum algorithm algorithm = digest_form.algorithm;
  struct writer writer = {texts_end, texts + INPUT_BYTES + BATCH_TEXT, false, 0, 0};
  if (!find_digest_key() || !read_seal(entry) || !write_preimage(&writer, entry, members)) return false;
  const struct key *key = has_digest_key ? batch_keys[batch_count] : 0;
  u32 blocks = pad(texts_end, (u32)(writer.to - texts_end), key ? block_of(algorithm) : 0, algorithm);
  messages[batch_count] = (struct message){texts_end, blocks, key ? key->inner : initial_state(algorithm)};
  u32 index = batch_start + batch_count;
  sequences[index] = entry->sequence;
  times[index] = entry->time;
  starts[index] = (u32)(entry->start - input);
  ends[index] = (u32)(entry->end - input);
  timestamps[index] = plays(TIMESTAMP) ? (u32)(entry->timestamp.at - input) : NO_OFFSET;
  timestamp_lengths[index] = entry->timestamp.length;
  flags[index] = IS_COMPUTED | (entry->is_first ? IS_FIRST : 0);
  texts_end += blocks * block_of(algorithm);
  batch_count++;
  return true;
}

static bool take_entry(struct entry *entry) {
  if (!has_shape(parts, part_count) && !learn_shape(parts, part_count)) return false;
  u32 at = (batch_start + batch_count) * digest_bytes(digest_form.algorithm);
  return find_values(parts) && read_roles(entry, previous + at, stated + at) && add_to_batch(parts, entry);
}

// Parses an entry and adds it to the batch. Returns the address after it, or 0.
static const u8 *read_entry(const u8 *start) {
  struct entry entry;
  entry.start = start;
  part_count = 0;
  arena_top = arena;
  if (max_depth == 0) return reject(start);
  entry.end = read_members(start, 1, 0);
  if (!entry.end) return 0;
  u32 noted = unhashed_count;
  unhashed_entry = batch_start + batch_count;
  if (unhashed_entry < MAX_ENTRIES && take_entry(&entry)) return entry.end;
  // Drops the notes of an entry that is not accepted.
  unhashed_count = noted;
  shape.is_noted = false;
  return reject(start);
}

// Reads entries, and returns where reading stopped. `report` receives the reason and the place.
static const u8 *read_entries(const u8 *at, const u8 *limit, enum place place) {
  u32 batch_limit = FIRST_BATCH;
  for (;;) {
    at = space_end(at);
    report[PLACE] = place;
    report[STOP] = NEEDS_MORE;
    if (at >= block_end) return at;
    if (*at == ',' && place == AFTER) {
      at++;
      place = NEXT;
      continue;
    }
    report[STOP] = *at == ']' && place != NEXT ? CLOSED : UNSURE;
    if (*at != '{' || place == AFTER) return at;
    if (at >= limit) {
      report[STOP] = NEEDS_MORE;
      return at;
    }
    const u8 *end = read_entry(at);
    if (!end) {
      if (rejected_at >= block_end) report[STOP] = NEEDS_MORE;
      return at;
    }
    at = end;
    place = AFTER;
    if (batch_count < batch_limit && texts_end < texts + BATCH_TEXT) continue;
    end_batch();
    batch_limit = batch_limit < MAX_BATCH / 2 ? batch_limit * 2 : MAX_BATCH;
  }
}

// Reads the entries of `input` from `start` to `end` that begin before `limit`. Overwrites up to SLACK bytes after
// `end`.
EXPORT("run") void run(u32 start, u32 end, u32 limit, u32 place) {
  block_end = input + end;
  for (u32 i = 0; i < SLACK; i += 16) wasm_v128_store(input + end + i, wasm_i64x2_const_splat(0));
  forget_used(&digest_keys);
  forget_used(&seal_keys);
  unhashed_base = input;
  unhashed_count = 0;
  shape.is_noted = false;
  texts_end = texts;
  batch_count = batch_start = 0;
  const u8 *at = read_entries(input + start, input + limit, place);
  end_batch();
  report[OFFSET] = (u32)(at - input);
  report[COUNT] = batch_start;
  report[UNHASHED_COUNT] = unhashed_count;
}

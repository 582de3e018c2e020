// Over 250 lines: the entry points and the one loop that they share.
// Verifies the entries of a chain, block by block, as long as they are regular; kernel.ts says what that is, and what is
// done with the first one that is not. To be uncertain is always allowed, to be wrongly certain never: whatever is
// accepted here, `reading/reading.ts` and `chain/walk.ts` accept without a finding, with the same digest, and it leaves
// open (`recipe/cover.ts`) nothing that is not known already.
#include "settings.h"

// Of what is parsed before it is hashed: enough for four lanes to be busy, and little enough to stay in the cache.
#define MAX_BATCH 128
#define BATCH_TEXT (64 << 10)
// Behind an entry that was not regular, less is parsed in advance, so that a chain full of them costs no more.
#define FIRST_BATCH 4
#define MAX_RECORDS 8192
#define NONE 0xffffffff

// What stands before the place where reading begins or ends: `[`, an entry, or the comma behind one.
enum place { FIRST, AFTER, NEXT };
enum stop { NEEDS_MORE, IRREGULAR, CLOSED };

struct record {
  double sequence;
  double time;
  // Offsets in the input: of the entry, behind it, of its stated digest's digits and of its timestamp.
  u32 start;
  u32 end;
  u32 digits;
  u32 timestamp;
  u32 timestamp_length;
};

// A seal to check.
struct seal {
  // What it is made over, if that is the digest's text.
  struct text digest;
  const u8 *stated;
  const struct key *key;
};

// Read and written by kernel.ts, by their addresses.
u8 input[INPUT_BYTES + SLACK] __attribute__((aligned(16)));
struct record records[MAX_RECORDS];
// Of the records, one behind the other, each as long as it is.
u8 digests[MAX_RECORDS * MAX_DIGEST + SLACK] __attribute__((aligned(16)));
struct tip tip;
// What the first entry behind `assume_tip` says that it stands behind.
struct tip assumed;
struct {
  u32 stop;
  u32 place;
  u32 offset;
  u32 regular;
} report;

static bool has_tip;
static bool assumes_tip;

static u8 texts[INPUT_BYTES + 2 * BATCH_TEXT + SLACK] __attribute__((aligned(16)));
static u8 *texts_end;
static u8 short_texts[MAX_BATCH][SHORT_TEXT] __attribute__((aligned(16)));
static struct message messages[MAX_BATCH];
static const struct key *batch_keys[MAX_BATCH];
static struct seal seals[MAX_BATCH];
static u8 made[MAX_BATCH][MAX_DIGEST] __attribute__((aligned(16)));
static u32 batch_count;
static u32 batch_limit;
// The record of the batch's first entry, and the first record whose digest or seal is not that of its bytes.
static u32 batch_start;
static u32 mismatch;

EXPORT("begin") void begin(double first, u32 depth) {
  forget_settings();
  has_tip = assumes_tip = false;
  first_sequence = first;
  max_depth = depth;
  batch_limit = MAX_BATCH;
}

// Forgets the keys, and what was made with them.
EXPORT("forget") void forget(void) {
  bool had_keys = digest_keys.count > 0 || seal_keys.count > 0;
  forget_keys(&digest_keys);
  forget_keys(&seal_keys);
  zero(exchange, sizeof exchange);
  if (had_keys) zero(short_texts, sizeof short_texts);
  if (had_keys) zero(made, sizeof made);
  has_tip = assumes_tip = false;
}

EXPORT("trust_tip") void trust_tip(u32 given) {
  has_tip = given;
  assumes_tip = false;
}

// The next entry follows whatever it says that it follows, at whatever time.
EXPORT("assume_tip") void assume_tip(void) { has_tip = assumes_tip = true; }

static void hold_to(const struct digest_form *form, u32 index, const u8 *stated) {
  u8 digits[MAX_DIGITS + SLACK];
  to_digits(form, made[index], digits);
  if (!same_wide(digits, stated, form->digits) && batch_start + index < mismatch) mismatch = batch_start + index;
}

static SELDOM void hold_seals_to_digests(void) {
  enum algorithm algorithm = seal_form.algorithm;
  u32 bytes = digest_bytes(digest_form.algorithm);
  const struct key *keys[MAX_BATCH];
  for (u32 i = 0; i < batch_count; i++) {
    struct text over = seals[i].digest;
    if (seals_bytes) over = (struct text){digests + (batch_start + i) * bytes, bytes};
    put(short_texts[i], over.at, over.length);
    messages[i] = (struct message){short_texts[i], pad(short_texts[i], over.length, block_of(algorithm), algorithm), seals[i].key->inner};
    keys[i] = seals[i].key;
  }
  hash_messages(algorithm, messages, batch_count, made);
  hash_outer(algorithm, keys, batch_count, made, short_texts, messages);
  for (u32 i = 0; i < batch_count; i++) hold_to(&seal_form, i, seals[i].stated);
}

// The keys of entries that are regular.
static SELDOM void note_keys(void) {
  for (u32 i = 0; i < batch_count && batch_start + i < mismatch; i++) {
    if (has_digest_key) digest_keys.used[batch_keys[i] - digest_keys.of] = true;
    if (checks_seals) seal_keys.used[seals[i].key - seal_keys.of] = true;
  }
}

// Hashes what was parsed. From the first record on that does not fit, none is regular.
static void end_batch(void) {
  enum algorithm algorithm = digest_form.algorithm;
  u32 bytes = digest_bytes(algorithm);
  hash_messages(algorithm, messages, batch_count, made);
  if (has_digest_key) hash_outer(algorithm, batch_keys, batch_count, made, short_texts, messages);
  for (u32 i = 0; i < batch_count; i++) {
    hold_to(&digest_form, i, input + records[batch_start + i].digits);
    put(digests + (batch_start + i) * bytes, made[i], bytes);
  }
  if (checks_seals) hold_seals_to_digests();
  if (has_digest_key || checks_seals) note_keys();
  batch_start += batch_count;
  batch_count = 0;
  texts_end = texts;
}

// The one that the role names; without the role, the only one that was given.
static const struct key *chosen_key(const struct keys *keys, enum role role) {
  if (plays(role)) return find_key(keys, value_of(role));
  return keys->count == 1 ? &keys->of[0] : 0;
}

static bool find_keys(const struct entry *entry) {
  if (has_digest_key) {
    batch_keys[batch_count] = chosen_key(&digest_keys, DIGEST_KEY);
    if (!batch_keys[batch_count]) return false;
  }
  if (!has_seals) return true;
  struct text sent = value_of(SEAL);
  struct seal *seal = &seals[batch_count];
  seal->stated = digits_in(&seal_form, sent);
  if (!checks_seals) return seal->stated ? are_digits(&seal_form, seal->stated) : sent.length == 0 || is_text(sent, "null", 4);
  seal->key = chosen_key(&seal_keys, SEAL_KEY);
  seal->digest = (struct text){entry->digest.at + 1, entry->digest.length - 2};
  return seal->key && seal->stated;
}

// False where it is not certain what the entry's digest is made over.
static bool add_to_batch(const struct part *members, const struct entry *entry) {
  enum algorithm algorithm = digest_form.algorithm;
  struct writer writer = {texts_end, texts + INPUT_BYTES + BATCH_TEXT, false, 0, 0};
  if (!find_keys(entry) || !write_preimage(&writer, entry, members)) return false;
  const struct key *key = has_digest_key ? batch_keys[batch_count] : 0;
  u32 blocks = pad(texts_end, (u32)(writer.to - texts_end), key ? block_of(algorithm) : 0, algorithm);
  messages[batch_count] = (struct message){texts_end, blocks, key ? key->inner : initial_state(algorithm)};
  struct record *record = &records[batch_start + batch_count];
  record->sequence = entry->sequence;
  record->time = entry->time;
  record->start = (u32)(entry->start - input);
  record->end = (u32)(entry->end - input);
  record->digits = (u32)(entry->digits - input);
  record->timestamp = plays(TIMESTAMP) ? (u32)(entry->timestamp.at - input) : NONE;
  record->timestamp_length = plays(TIMESTAMP) ? entry->timestamp.length : 0;
  texts_end += blocks * block_of(algorithm);
  batch_count++;
  return true;
}

// Takes for the tip what the entry says that it stands behind, before all times.
static SELDOM bool assume_what_it_follows(void) {
  const u8 *digits = digits_in(&digest_form, value_of(PREVIOUS_DIGEST));
  if (!digits || !read_sequence(value_of(SEQUENCE), &assumed.sequence)) return false;
  assumed.sequence--;
  assumed.time = EARLIEST;
  put(assumed.digits, digits, MAX_DIGITS);
  put((u8 *)&tip, (const u8 *)&assumed, sizeof tip);
  return true;
}

// What the next entry must follow: the last one that was parsed, or the tip.
static bool follows(struct entry *entry) {
  u32 parsed = batch_start + batch_count;
  if (parsed == 0 && assumes_tip && !assume_what_it_follows()) return false;
  if (parsed == 0) return stands_behind(tip.sequence, tip.digits, tip.time, entry);
  const struct record *last = &records[parsed - 1];
  return stands_behind(last->sequence, input + last->digits, last->time, entry);
}

// Parses an entry and adds it to the batch. Returns the place behind it.
static const u8 *read_entry(const u8 *start) {
  struct entry entry;
  entry.start = start;
  part_count = 0;
  arena_top = arena;
  if (max_depth == 0) return reject(start);
  entry.end = read_members(start, 1, 0);
  if (!entry.end) return 0;
  if (!has_tip || batch_start + batch_count == MAX_RECORDS) return reject(start);
  if (!has_shape(parts, part_count) && !learn_shape(parts, part_count)) return reject(start);
  if (!find_values(parts) || !follows(&entry) || !add_to_batch(parts, &entry)) return reject(start);
  return entry.end;
}

static void advance_tip(u32 regular) {
  if (regular == 0) return;
  assumes_tip = false;
  const struct record *last = &records[regular - 1];
  tip.sequence = last->sequence;
  tip.time = last->time;
  put(tip.digits, input + last->digits, MAX_DIGITS);
}

// Returns where reading stopped; why, and at what place, is in `report`.
static const u8 *read_entries(const u8 *at, enum place place) {
  for (;;) {
    at = space_end(at);
    report.place = place;
    report.stop = NEEDS_MORE;
    if (at >= block_end) return at;
    if (*at == ',' && place == AFTER) {
      at++;
      place = NEXT;
      continue;
    }
    report.stop = *at == ']' && place != NEXT ? CLOSED : IRREGULAR;
    if (*at != '{' || place == AFTER) return at;
    const u8 *end = read_entry(at);
    if (!end) {
      if (rejected_at >= block_end) report.stop = NEEDS_MORE;
      return at;
    }
    at = end;
    place = AFTER;
    if (batch_count < batch_limit && texts_end < texts + BATCH_TEXT) continue;
    end_batch();
    if (mismatch != NONE) return at;
    batch_limit = batch_limit < MAX_BATCH / 2 ? batch_limit * 2 : MAX_BATCH;
  }
}

// Reads the bytes of `input` from `start` to `end`. Behind them up to SLACK bytes are lost.
EXPORT("run") void run(u32 start, u32 end, u32 place) {
  block_end = input + end;
  for (u32 i = 0; i < SLACK; i += 16) wasm_v128_store(input + end + i, wasm_i64x2_const_splat(0));
  texts_end = texts;
  batch_count = batch_start = 0;
  mismatch = NONE;
  const u8 *at = read_entries(input + start, place);
  end_batch();
  report.offset = (u32)(at - input);
  report.regular = batch_start;
  if (mismatch != NONE) {
    report.stop = IRREGULAR;
    report.regular = mismatch;
    report.offset = records[mismatch].start;
    report.place = mismatch == 0 && place == FIRST ? FIRST : NEXT;
  }
  if (report.stop == IRREGULAR) batch_limit = FIRST_BATCH;
  advance_tip(report.regular);
}

// For tests: hashes the first `length` bytes of `input` into `exchange`.
EXPORT("hash") void hash(u32 algorithm, u32 length) {
  put(texts, input, length);
  messages[0] = (struct message){texts, pad(texts, length, 0, algorithm), initial_state(algorithm)};
  hash_messages(algorithm, messages, 1, made);
  put(exchange, made[0], digest_bytes(algorithm));
}

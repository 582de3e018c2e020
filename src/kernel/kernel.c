// Verifies the entries of a chain, block by block, as long as they are regular; kernel.ts says what that is, and what is
// done with the first one that is not. To be uncertain is always allowed, to be wrongly certain never: whatever is
// accepted here, `contract/reading.ts` and `chain/walk.ts` accept without a finding, with the same digest.
#include "entry.h"
#include "hmac.h"

// Of what is parsed before it is hashed: enough for four lanes to be busy, and little enough to stay in the cache.
#define MAX_BATCH 128
#define BATCH_TEXT (64 << 10)
// Behind an entry that was not regular, less is parsed in advance, so that a chain full of them costs no more.
#define FIRST_BATCH 4
#define MAX_RECORDS 8192
#define NONE 0xffffffff

#define EXPORT(name) __attribute__((export_name(name)))

// What stands before the place where reading begins or ends: `[`, an entry, or the comma behind one.
enum place { FIRST, AFTER, NEXT };
enum stop { NEEDS_MORE, IRREGULAR, CLOSED };

struct record {
  double sequence;
  // Offsets in the input: of the entry, behind it, of its stated digest and of its timestamp (NONE without that role).
  u32 start;
  u32 end;
  u32 digest_text;
  u32 timestamp;
};

// Read and written by kernel.ts, by their addresses.
u8 input[INPUT_BYTES + SLACK] __attribute__((aligned(16)));
u8 exchange[4096 + SLACK] __attribute__((aligned(16)));
struct record records[MAX_RECORDS];
// Of each record.
u8 digests[MAX_RECORDS][32] __attribute__((aligned(16)));
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
static bool checks_seals;

static u8 texts[INPUT_BYTES + BATCH_TEXT + 4 * BLOCK + SLACK] __attribute__((aligned(16)));
static u8 *texts_end;
static struct message messages[MAX_BATCH];
static struct seal seals[MAX_BATCH + LANES];
static u32 batch_count;
static u32 batch_limit;
// The record of the batch's first entry, and the first record whose digest or seal is not that of its bytes.
static u32 batch_start;
static u32 mismatch;

EXPORT("begin") void begin(double first, u32 depth) {
  named_count = key_count = required_roles = stream_id_length = shape.count = 0;
  has_tip = assumes_tip = checks_seals = false;
  first_sequence = first;
  max_depth = depth;
  batch_limit = MAX_BATCH;
}

// Forgets the keys, and what was made with them.
EXPORT("forget") void forget(void) {
  zero(keys, sizeof keys);
  zero(exchange, sizeof exchange);
  zero(seals, sizeof seals);
  key_count = 0;
  has_tip = assumes_tip = false;
}

// A member of entries that matters, its name in `exchange`. False when there is no room for it.
EXPORT("name") u32 name_member(u32 length, u32 role, u32 omitted) {
  if (named_count == MAX_NAMED || length > MAX_NAME) return false;
  struct named *member = &named[named_count++];
  put(member->bytes, exchange, length);
  member->length = length;
  member->role = role;
  member->omitted = omitted;
  if (role != NO_ROLE && role != SEAL && role != SEAL_KEY) required_roles |= 1u << role;
  return true;
}

// The stream's id as canonical text, in `exchange`.
EXPORT("expect_stream") u32 expect_stream(u32 length) {
  if (length > MAX_STREAM_ID) return false;
  put(stream_id, exchange, length);
  stream_id_length = length;
  return true;
}

// From now on every seal is checked.
EXPORT("check_seals") void check_seals(void) {
  checks_seals = true;
  required_roles |= 1u << SEAL | 1u << SEAL_KEY;
}

// A key, its id as canonical text and then its bytes in `exchange`, which is cleared.
EXPORT("add_key") u32 add_key(u32 id_length, u32 key_length) {
  bool fits = key_count < MAX_KEYS && id_length <= MAX_KEY_ID && key_length <= BLOCK;
  if (fits) {
    struct key *key = &keys[key_count++];
    put(key->id, exchange, id_length);
    key->id_length = id_length;
    set_key_states(key, exchange + id_length, key_length);
  }
  zero(exchange, sizeof exchange);
  return fits;
}

EXPORT("trust_tip") void trust_tip(u32 given) {
  has_tip = given;
  assumes_tip = false;
}

// The next entry follows whatever it says that it follows, at whatever time.
EXPORT("assume_tip") void assume_tip(void) { has_tip = assumes_tip = true; }

static const struct key *find_key(struct text id) {
  for (u32 i = 0; i < key_count; i++)
    if (id.length == keys[i].id_length && same(id.at, keys[i].id, id.length)) return &keys[i];
  return 0;
}

static void hold_seals_to_digests(void) {
  u8 made[LANES][32], digits[DIGITS];
  for (u32 i = batch_count; i % LANES != 0; i++) seals[i] = seals[0];
  for (u32 first = 0; first < batch_count; first += LANES) {
    make_seals(&seals[first], made);
    for (u32 lane = 0; lane < LANES && first + lane < batch_count; lane++) {
      to_hex(made[lane], digits);
      u32 record = batch_start + first + lane;
      if (!same_64(digits, seals[first + lane].stated) && record < mismatch) mismatch = record;
    }
  }
}

// Hashes what was parsed. From the first record on that does not fit, none is regular.
static void end_batch(void) {
  u8 digits[DIGITS];
  hash_messages(messages, batch_count, &digests[batch_start]);
  for (u32 i = batch_start; i < batch_start + batch_count; i++) {
    to_hex(digests[i], digits);
    if (!same_64(digits, input + records[i].digest_text) && i < mismatch) mismatch = i;
  }
  if (checks_seals) hold_seals_to_digests();
  batch_start += batch_count;
  batch_count = 0;
  texts_end = texts;
}

static void add_to_batch(const struct part *members, const struct entry *entry, const struct key *key) {
  u8 *end = write_entry(members, texts_end);
  u32 blocks = pad(texts_end, (u32)(end - texts_end));
  messages[batch_count] = (struct message){texts_end, blocks};
  if (key) seals[batch_count] = (struct seal){entry->digest, entry->seal, key};
  struct record *record = &records[batch_start + batch_count];
  record->sequence = entry->sequence;
  record->start = (u32)(entry->start - input);
  record->end = (u32)(entry->end - input);
  record->digest_text = (u32)(entry->digest - input);
  record->timestamp = requires(TIMESTAMP) ? (u32)(entry->timestamp - input) : NONE;
  texts_end += blocks * BLOCK;
  batch_count++;
}

// Takes for the tip what the entry says that it stands behind, before all times.
static bool assume_tip_of(const struct part *members) {
  static const u8 earliest[] = "0000-01-01T00:00:00.000Z";
  if ((shape.roles & required_roles) != required_roles) return false;
  struct text previous = value_of(members, PREVIOUS);
  if (!is_string_of(previous, DIGITS) || !read_sequence(value_of(members, SEQUENCE), &assumed.sequence)) return false;
  assumed.sequence--;
  put(assumed.digest, previous.at + 1, DIGITS);
  for (u32 i = 0; i < TIMESTAMP_BYTES; i++) assumed.timestamp[i] = earliest[i];
  put((u8 *)&tip, (const u8 *)&assumed, sizeof tip);
  return true;
}

// What the next entry must follow: the last one that was parsed, or the tip.
static bool follows(const struct part *members, struct entry *entry) {
  u32 parsed = batch_start + batch_count;
  if (parsed == 0 && assumes_tip && !assume_tip_of(members)) return false;
  if (parsed == 0) return stands_behind(members, tip.sequence, tip.digest, tip.timestamp, entry);
  const struct record *last = &records[parsed - 1];
  const u8 *timestamp = last->timestamp == NONE ? tip.timestamp : input + last->timestamp;
  return stands_behind(members, last->sequence, input + last->digest_text, timestamp, entry);
}

// Parses an entry and adds it to the batch. Returns the place behind it.
static const u8 *read_entry(const u8 *start) {
  struct entry entry;
  const struct key *key = 0;
  part_count = 0;
  arena_top = arena;
  if (max_depth == 0) return reject(start);
  entry.start = start;
  entry.end = read_members(start, 1, 0);
  if (!entry.end) return 0;
  if (!has_tip || batch_start + batch_count == MAX_RECORDS) return reject(start);
  if (!has_shape(parts, part_count) && !learn_shape(parts, part_count)) return reject(start);
  if (!follows(parts, &entry)) return reject(start);
  if (checks_seals && !(key = find_key(entry.seal_key))) return reject(start);
  add_to_batch(parts, &entry, key);
  return entry.end;
}

static void advance_tip(u32 regular) {
  if (regular == 0) return;
  assumes_tip = false;
  const struct record *last = &records[regular - 1];
  tip.sequence = last->sequence;
  for (u32 i = 0; i < DIGITS; i += 16) wasm_v128_store(tip.digest + i, wasm_v128_load(input + last->digest_text + i));
  if (last->timestamp == NONE) return;
  for (u32 i = 0; i < TIMESTAMP_BYTES; i++) tip.timestamp[i] = input[last->timestamp + i];
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

// For tests and for callers that have texts of their own: hashes the first `length` bytes of `input` into `exchange`.
EXPORT("sha256") void sha256(u32 length) {
  put(texts, input, length);
  messages[0] = (struct message){texts, pad(texts, length)};
  hash_messages(messages, 1, digests);
  put(exchange, digests[0], 32);
}

#ifndef ENTRY_H
#define ENTRY_H
// What an entry must say to be the very next of its chain, and the text that its digest is made of.
#include "canonical.h"

// The order is known to kernel.ts.
enum role { SEQUENCE, PREVIOUS, DIGEST, STREAM_ID, TIMESTAMP, ENTRY_ID, SEAL, SEAL_KEY, ROLES, NO_ROLE = ROLES };

#define DIGITS 64
#define TIMESTAMP_BYTES 24
#define MAX_NAMED 16
#define MAX_NAME 256
#define MAX_STREAM_ID 4096

struct named {
  u8 bytes[MAX_NAME];
  u32 length;
  enum role role;
  bool omitted;
};

static struct named named[MAX_NAMED];
static u32 named_count;
// One bit a role: the roles that every entry must state.
static u32 required_roles;
// In RFC 8785 form, with its quotes.
static u8 stream_id[MAX_STREAM_ID + SLACK];
static u32 stream_id_length;
static double first_sequence;

// The last regular entry.
struct tip {
  double sequence;
  u8 digest[DIGITS];
  u8 timestamp[TIMESTAMP_BYTES];
};

// The members of entries in the order in which they came last: what is known of them is used again while they come so.
static struct {
  u32 count;
  struct part names[MAX_SORTED_MEMBERS];
  u8 name_bytes[MAX_SORTED_MEMBERS][MAX_NAME];
  // Their canonical order, without what is omitted.
  u8 order[MAX_SORTED_MEMBERS];
  u32 order_count;
  u32 roles;
  u8 member_of[ROLES];
} shape;

static inline bool same_name(const struct part *a, const struct part *b) {
  if (a->key[0] != b->key[0] || a->key[1] != b->key[1] || a->name.length != b->name.length) return false;
  return a->name.length <= 16 || same(a->name.at + 16, b->name.at + 16, a->name.length - 16);
}

static inline bool has_shape(const struct part *members, u32 count) {
  if (count == 0 || count != shape.count) return false;
  for (u32 i = 0; i < count; i++)
    if (!same_name(&members[i], &shape.names[i])) return false;
  return true;
}

// False when the names say nothing certain: one is there twice, they are too many or too long.
static bool learn_shape(const struct part *members, u32 count) {
  u8 order[MAX_SORTED_MEMBERS];
  shape.count = 0;
  if (!sort_members(members, count, order)) return false;
  shape.order_count = shape.roles = 0;
  for (u32 i = 0; i < count; i++) {
    struct text name = members[order[i]].name;
    if (name.length > MAX_NAME) return false;
    bool omitted = false;
    for (u32 j = 0; j < named_count; j++) {
      if (name.length != named[j].length || !same(name.at, named[j].bytes, name.length)) continue;
      omitted = named[j].omitted;
      if (named[j].role == NO_ROLE) continue;
      shape.roles |= 1u << named[j].role;
      shape.member_of[named[j].role] = order[i];
    }
    if (!omitted) shape.order[shape.order_count++] = order[i];
  }
  for (u32 i = 0; i < count; i++) {
    for (u32 j = 0; j < members[i].name.length; j++) shape.name_bytes[i][j] = members[i].name.at[j];
    shape.names[i] = members[i];
    shape.names[i].name.at = shape.name_bytes[i];
  }
  shape.count = count;
  return true;
}

// An entry whose words fit; its digest and its seal are still to be held to its bytes.
struct entry {
  const u8 *start;
  const u8 *end;
  double sequence;
  const u8 *digest;
  const u8 *timestamp;
  const u8 *seal;
  struct text seal_key;
};

// A string of so many bytes between its quotes.
static inline bool is_string_of(struct text value, u32 length) { return value.length == length + 2 && *value.at == '"'; }

// A safe integer without sign: `number_end` has seen to the rest of its form.
static bool read_sequence(struct text value, double *to) {
  double number = 0;
  if (value.length > 16) return false;
  for (u32 i = 0; i < value.length; i++) {
    if (!is_digit(value.at[i])) return false;
    number = number * 10 + (value.at[i] - '0');
  }
  *to = number;
  return true;
}

static inline u32 two_digits(const u8 *at) { return (u32)(at[0] - '0') * 10 + (u32)(at[1] - '0'); }

static u32 days_of_month(u32 year, u32 month) {
  static const u8 days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  return days[month - 1] + (month == 2 && leap);
}

// Exactly YYYY-MM-DDTHH:MM:SS.mmmZ with a day that there is and an hour below 24: ECMAScript's Date Time String Format
// (ECMA-262 21.4.1.32), which Date.parse must take. Of such texts the later time is the greater text.
static bool is_timestamp(const u8 *at) {
  const v128_t date = wasm_u8x16_make('0', '0', '0', '0', '-', '0', '0', '-', '0', '0', 'T', '0', '0', ':', '0', '0');
  const v128_t date_range = wasm_u8x16_make(9, 9, 9, 9, 0, 9, 9, 0, 9, 9, 0, 9, 9, 0, 9, 9);
  const v128_t time = wasm_u8x16_make('0', '0', 'T', '0', '0', ':', '0', '0', ':', '0', '0', '.', '0', '0', '0', 'Z');
  const v128_t time_range = wasm_u8x16_make(9, 9, 0, 9, 9, 0, 9, 9, 0, 9, 9, 0, 9, 9, 9, 0);
  v128_t fits = wasm_v128_and(wasm_u8x16_le(wasm_i8x16_sub(wasm_v128_load(at), date), date_range),
                              wasm_u8x16_le(wasm_i8x16_sub(wasm_v128_load(at + 8), time), time_range));
  if (!wasm_i8x16_all_true(fits)) return false;
  u32 year = two_digits(at) * 100 + two_digits(at + 2), month = two_digits(at + 5), day = two_digits(at + 8);
  if (month < 1 || month > 12 || day < 1 || day > days_of_month(year, month)) return false;
  return two_digits(at + 11) < 24 && two_digits(at + 14) < 60 && two_digits(at + 17) < 60;
}

static inline bool is_before(const u8 *timestamp, const u8 *other) {
  for (u32 i = 0; i < TIMESTAMP_BYTES; i++)
    if (timestamp[i] != other[i]) return timestamp[i] < other[i];
  return false;
}

static inline bool is_genesis(const u8 *digits) {
  for (u32 i = 0; i < DIGITS; i++)
    if (digits[i] != '0') return false;
  return true;
}

static inline bool requires(enum role role) { return required_roles >> role & 1; }
static inline struct text value_of(const struct part *members, enum role role) { return members[shape.member_of[role]].value; }

// Whether the entry says that it stands behind the one with these values: `order.ts` then has nothing to report. What
// is compared as canonical text is equal as a value: RFC 8785 writes each string in one way.
static bool stands_behind(const struct part *members, double sequence, const u8 *digest, const u8 *timestamp,
                          struct entry *entry) {
  if ((shape.roles & required_roles) != required_roles) return false;
  if (!read_sequence(value_of(members, SEQUENCE), &entry->sequence) || entry->sequence != sequence + 1) return false;
  struct text previous = value_of(members, PREVIOUS), stated = value_of(members, DIGEST);
  if (!is_string_of(previous, DIGITS) || !same_64(previous.at + 1, digest)) return false;
  // Zeros stand for "no predecessor": the first entry says so, and no other may.
  if (is_genesis(digest) != (entry->sequence == first_sequence)) return false;
  // That it holds lower-case hexadecimal digits follows once it is equal to the computed digest.
  if (!is_string_of(stated, DIGITS)) return false;
  entry->digest = stated.at + 1;
  if (requires(STREAM_ID)) {
    struct text stream = value_of(members, STREAM_ID);
    if (stream.length != stream_id_length || !same(stream.at, stream_id, stream_id_length)) return false;
  }
  if (requires(ENTRY_ID) && *value_of(members, ENTRY_ID).at != '"') return false;
  entry->timestamp = timestamp;
  if (requires(TIMESTAMP)) {
    struct text time = value_of(members, TIMESTAMP);
    if (!is_string_of(time, TIMESTAMP_BYTES) || !is_timestamp(time.at + 1) || is_before(time.at + 1, timestamp)) return false;
    entry->timestamp = time.at + 1;
  }
  if (!requires(SEAL)) return true;
  if (!is_string_of(value_of(members, SEAL), DIGITS)) return false;
  entry->seal = value_of(members, SEAL).at + 1;
  entry->seal_key = value_of(members, SEAL_KEY);
  return true;
}

// The RFC 8785 form of the entry without its omitted members. Returns its end.
static u8 *write_entry(const struct part *members, u8 *to) {
  *to = '{';
  struct writer writer = {to + 1, 0, 0};
  for (u32 i = 0; i < shape.order_count; i++) write_member(&writer, &members[shape.order[i]]);
  return write_close(&writer, to, '}');
}
#endif

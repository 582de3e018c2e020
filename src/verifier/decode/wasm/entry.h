#ifndef ENTRY_H
#define ENTRY_H
// Statements of an entry about itself: its sequence number, predecessor, digest, stream and time.
#include "preimage.h"
#include "time.h"

// Row of the named member that plays each role, or NOWHERE.
static u8 row_of[ROLES];
static u8 stream_id[MAX_MEANING + SLACK];
static u32 stream_id_length;
static double first_sequence;
// Integers may be sent as strings.
static bool text_numbers;
static enum time_unit time_unit;
static enum genesis_kind genesis;
static struct text genesis_literal;
static struct digest_form seal_form;

static inline bool plays(enum role role) { return row_of[role] != NOWHERE; }
static inline struct text value_of(enum role role) { return values[row_of[role]]; }

static bool read_sequence(struct text value, double *to) {
  if (*value.at != '"') return read_integer(value, to);
  // Accepts the same digits as `RoleFields.integer`: up to 15, with leading zeros ignored.
  if (!text_numbers || value.length < 3 || value.length > 17) return false;
  struct text digits = {value.at + 1, value.length - 2};
  for (; digits.length > 1 && *digits.at == '0'; digits.at++) digits.length--;
  return read_integer(digits, to);
}

static bool is_id(struct text value) {
  double number;
  return *value.at == '"' || read_integer(value, &number);
}

static inline bool are_zeros(const u8 *digits) {
  u8 zero = digest_form.encoding == HEX ? '0' : 'A';
  for (u32 i = 0; i < digest_form.digits; i++)
    if (digits[i] != zero) return false;
  return true;
}

static inline bool is_genesis_literal(struct text value) {
  return genesis == LITERAL && value.length == genesis_literal.length && same(value.at, genesis_literal.at, value.length);
}

// Reads the stated predecessor: its digest, or zeros if the entry states that it has none. Returns false if the value
// is uncertain.
static bool read_previous(struct entry *entry, u8 *to) {
  entry->previous = value_of(PREVIOUS_DIGEST);
  entry->previous_digits = 0;
  entry->is_first = genesis == ABSENT ? entry->previous.length == 0 : is_genesis_literal(entry->previous);
  if (entry->is_first) {
    zero(to, digest_bytes(digest_form.algorithm));
    return true;
  }
  entry->previous_digits = digits_in(&digest_form, entry->previous);
  if (!entry->previous_digits || !from_digits(&digest_form, entry->previous_digits, to)) return false;
  entry->is_first = genesis == ZEROS && are_zeros(entry->previous_digits);
  return true;
}

// Reads the digest that the entry states for itself. Returns false if the value is uncertain.
static bool read_digest(struct entry *entry, u8 *to) {
  entry->digest = value_of(DIGEST);
  const u8 *digits = digits_in(&digest_form, entry->digest);
  return digits && from_digits(&digest_form, digits, to);
}

// Reads the members that play roles; `previous` and `stated` receive the digests. Returns false if a value is
// uncertain, the sequence number precedes the first of the stream, or the entry belongs to another stream.
static APART bool read_roles(struct entry *entry, u8 *previous, u8 *stated) {
  if (!read_sequence(value_of(SEQUENCE), &entry->sequence) || entry->sequence < first_sequence) return false;
  if (!read_previous(entry, previous) || !read_digest(entry, stated)) return false;
  if (plays(STREAM_ID) && !means(value_of(STREAM_ID), (struct text){stream_id, stream_id_length})) return false;
  if (plays(ENTRY_ID) && !is_id(value_of(ENTRY_ID))) return false;
  entry->time = 0;
  entry->timestamp = NO_NAME;
  if (!plays(TIMESTAMP)) return true;
  entry->timestamp = value_of(TIMESTAMP);
  return read_time(time_unit, entry->timestamp, &entry->time);
}
#endif

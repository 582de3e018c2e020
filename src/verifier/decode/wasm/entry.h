#ifndef ENTRY_H
#define ENTRY_H
// What an entry must say to be the very next of its chain.
#include "preimage.h"
#include "time.h"

// The order is known to settings.ts.
enum role { SEQUENCE, PREVIOUS_DIGEST, DIGEST, STREAM_ID, TIMESTAMP, ENTRY_ID, SEAL, SEAL_KEY, DIGEST_KEY, ROLES, NO_ROLE = ROLES };

// What the first entry of a stream says of its predecessor. The order is known to settings.ts.
enum genesis { ZEROS, ABSENT, LITERAL };

// By role: the named member that plays it, or NOWHERE.
static u8 row_of[ROLES];
static u8 stream_id[MAX_MEANING + SLACK];
static u32 stream_id_length;
static double first_sequence;
// Integers may be sent as text.
static bool text_numbers;
static enum time_unit time_unit;
static enum genesis genesis;
static struct text genesis_literal;
static struct digest_form seal_form;

// The last regular entry.
struct tip {
  double sequence;
  double time;
  u8 digits[MAX_DIGITS];
};

static inline bool plays(enum role role) { return row_of[role] != NOWHERE; }
static inline struct text value_of(enum role role) { return values[row_of[role]]; }

static bool read_sequence(struct text value, double *to) {
  if (*value.at != '"') return read_integer(value, to);
  // `Fields.integer`: up to fifteen digits, whose leading zeros say nothing.
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

// Whether the entry names this digest as its predecessor's: the first one nothing, and no other one what stands for that.
static bool names_previous(struct entry *entry, const u8 *digits) {
  entry->previous = value_of(PREVIOUS_DIGEST);
  entry->previous_digits = digits_in(&digest_form, entry->previous);
  entry->is_first = entry->sequence == first_sequence;
  if (entry->is_first && genesis == ABSENT) return entry->previous.length == 0;
  if (entry->is_first && genesis == LITERAL) {
    entry->previous_digits = 0;
    return is_genesis_literal(entry->previous);
  }
  if (!entry->previous_digits || is_genesis_literal(entry->previous)) return false;
  if (genesis == ZEROS && are_zeros(entry->previous_digits) != entry->is_first) return false;
  return same_wide(entry->previous_digits, digits, digest_form.digits);
}

// Whether the entry says that it stands behind the one with these values: `order.ts` then has nothing to report.
static bool stands_behind(double sequence, const u8 *digits, double time, struct entry *entry) {
  if (!read_sequence(value_of(SEQUENCE), &entry->sequence) || entry->sequence != sequence + 1) return false;
  if (!names_previous(entry, digits)) return false;
  entry->digest = value_of(DIGEST);
  entry->digits = digits_in(&digest_form, entry->digest);
  if (!entry->digits) return false;
  if (plays(STREAM_ID) && !means(value_of(STREAM_ID), (struct text){stream_id, stream_id_length})) return false;
  if (plays(ENTRY_ID) && !is_id(value_of(ENTRY_ID))) return false;
  entry->time = time;
  entry->timestamp = (struct text){NOTHING, 0};
  if (!plays(TIMESTAMP)) return true;
  entry->timestamp = value_of(TIMESTAMP);
  return read_time(time_unit, entry->timestamp, &entry->time) && entry->time >= time;
}
#endif

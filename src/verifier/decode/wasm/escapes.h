#ifndef ESCAPES_H
#define ESCAPES_H
// JSON form of the contract, and escapes in strings.
//
// A reader takes the address of a value's first byte, and returns the address after its last byte or the result of
// `reject`.
#include "bytes.h"

// Form in which the contract hashes JSON: that of RFC 8785, that of Python's json.dumps, or the sent form.
static struct {
  bool as_sent;
  // Characters outside printable ASCII are escaped.
  bool ascii;
  // Members are sorted by name; otherwise they keep the sent order.
  bool sorted;
  // Numbers are the text that ECMAScript writes for their double; otherwise they keep the sent text.
  bool doubles;
  // Number of spaces after commas and colons: 0 or 1.
  u32 gap;
} form;

// End of the block. SLACK zero bytes follow it; no token contains a zero byte, so every reader stops there at the
// latest.
static const u8 *block_end;
// First byte that could not be accepted. A place at or after `block_end` only means that more bytes are needed.
static const u8 *rejected_at;

static inline const u8 *reject(const u8 *at) {
  rejected_at = at;
  return 0;
}

static inline bool between(u8 byte, u8 low, u8 high) { return (u8)(byte - low) <= (u8)(high - low); }
static inline bool is_digit(u8 byte) { return between(byte, '0', '9'); }

// Reads an escape of RFC 8785 section 3.2.2.2: \" \\ \b \f \n \r \t, or \u00xx in lower case for the other control
// characters. Rejects other spellings, such as `\u0008`, `\/`, `\u0041` and `\u001F`, and every surrogate.
static const u8 *escape_end(const u8 *at) {
  switch (at[1]) {
    case '"': case '\\': case 'b': case 'f': case 'n': case 'r': case 't': return at + 2;
    case 'u': break;
    default: return reject(at + 1);
  }
  if (at[2] != '0') return reject(at + 2);
  if (at[3] != '0') return reject(at + 3);
  if (at[4] != '0' && at[4] != '1') return reject(at + 4);
  u8 last = at[5];
  if (!is_digit(last) && !between(last, 'a', 'f')) return reject(at + 5);
  bool has_short_form = last == '8' || last == '9' || last == 'a' || last == 'c' || last == 'd';
  if (at[4] == '0' && has_short_form) return reject(at + 5);
  return at + 6;
}

static inline u32 hex_value(u8 byte) {
  if (is_digit(byte)) return byte - '0';
  byte |= 0x20;
  return between(byte, 'a', 'f') ? (u32)(byte - 'a') + 10 : 16;
}

static const u8 *unit_end(const u8 *at, u32 *unit) {
  if (at[0] != '\\') return reject(at);
  if (at[1] != 'u') return reject(at + 1);
  *unit = 0;
  for (u32 i = 2; i < 6; i++) {
    u32 digit = hex_value(at[i]);
    if (digit == 16) return reject(at + i);
    *unit = *unit << 4 | digit;
  }
  return at + 6;
}

// Reads \uXXXX, or the two escapes of a surrogate pair. Rejects a lone surrogate.
static const u8 *code_point_end(const u8 *at, u32 *point) {
  const u8 *end = unit_end(at, point);
  if (!end || *point < 0xd800 || *point > 0xdfff) return end;
  if (*point >= 0xdc00) return reject(at);
  u32 low;
  end = unit_end(end, &low);
  if (!end) return 0;
  if (low < 0xdc00 || low > 0xdfff) return reject(at);
  *point = 0x10000 + ((*point - 0xd800) << 10) + (low - 0xdc00);
  return end;
}

// Reads any escape of RFC 8259 section 7.
static const u8 *any_escape_end(const u8 *at) {
  u32 point;
  switch (at[1]) {
    case '"': case '\\': case '/': case 'b': case 'f': case 'n': case 'r': case 't': return at + 2;
    default: return code_point_end(at, &point);
  }
}

// Reads an escape as Python writes it with ensure_ascii: the short forms above, and lower-case \uxxxx for every other
// character outside printable ASCII.
static const u8 *ascii_escape_end(const u8 *at) {
  if (at[1] == '/') return reject(at + 1);
  if (at[1] != 'u') return any_escape_end(at);
  u32 point;
  const u8 *end = code_point_end(at, &point);
  if (!end) return 0;
  for (const u8 *digit = at + 2; digit < end; digit++)
    if (between(*digit, 'A', 'F')) return reject(at);
  bool has_short_form = point == 8 || point == 9 || point == 10 || point == 12 || point == 13;
  return has_short_form || (point >= 0x20 && point < 0x7f) ? reject(at) : end;
}
#endif

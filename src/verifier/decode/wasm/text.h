#ifndef TEXT_H
#define TEXT_H
// Readers for those strings, numbers and literals of JSON (RFC 8259) whose bytes are already the form that the contract
// hashes. All other JSON is rejected, and left to the reference decoder.
#include "escapes.h"

// Reads a multi-byte character of UTF-8 (RFC 3629 section 4, UTF8-2 to UTF8-4). Rejects overlong forms, surrogates and
// code points above U+10FFFF. RFC 8785 writes these characters without escapes.
static const u8 *multibyte_end(const u8 *at) {
  u8 lead = at[0], low = 0x80, high = 0xbf;
  if (!between(lead, 0xc2, 0xf4)) return reject(at);
  if (lead == 0xe0) low = 0xa0;
  if (lead == 0xed) high = 0x9f;
  if (lead == 0xf0) low = 0x90;
  if (lead == 0xf4) high = 0x8f;
  if (!between(at[1], low, high)) return reject(at + 1);
  u32 length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  for (u32 i = 2; i < length; i++)
    if (!between(at[i], 0x80, 0xbf)) return reject(at + i);
  return at + length;
}

// Returns a bit for each of the next 16 bytes, set for a quote, a backslash, a control character (forbidden by RFC 8259
// section 7) or a byte of a multi-byte character, which is negative as a signed byte.
static inline u32 special_bytes(const u8 *at) {
  v128_t bytes = wasm_v128_load(at);
  v128_t quote = wasm_i8x16_eq(bytes, wasm_i8x16_const_splat('"'));
  v128_t backslash = wasm_i8x16_eq(bytes, wasm_i8x16_const_splat('\\'));
  v128_t other = wasm_i8x16_lt(bytes, wasm_i8x16_const_splat(0x20));
  return (u32)wasm_i8x16_bitmask(wasm_v128_or(wasm_v128_or(quote, backslash), other));
}

// Returns a bit for each of the next 16 bytes, set for DEL, which Python escapes with ensure_ascii and JSON does not.
static inline u32 delete_bytes(const u8 *at) {
  return (u32)wasm_i8x16_bitmask(wasm_i8x16_eq(wasm_v128_load(at), wasm_i8x16_const_splat(0x7f)));
}

static __attribute__((noinline)) const u8 *string_rest(const u8 *at) {
  for (;;) {
    if (*at == '"') return at + 1;
    at = *at == '\\' ? (form.as_sent ? any_escape_end(at) : escape_end(at)) : *at >= 0x80 ? multibyte_end(at) : reject(at);
    if (!at) return 0;
    u32 special;
    while (!(special = special_bytes(at))) at += 16;
    at += __builtin_ctz(special);
  }
}

static inline const u8 *string_end(const u8 *at) {
  u32 special;
  at++;
  while (!(special = special_bytes(at))) at += 16;
  at += __builtin_ctz(special);
  return *at == '"' ? at + 1 : string_rest(at);
}

// Reads the rest of a member's name, starting at a byte that is special in strings.
static __attribute__((noinline)) const u8 *name_rest(const u8 *at) {
  for (;;) {
    if (*at == '"') return at + 1;
    if (!between(*at, 0x80, form.doubles ? 0xed : 0xf4)) return reject(at);
    at = multibyte_end(at);
    if (!at) return 0;
    u32 special;
    while (!(special = special_bytes(at))) at += 16;
    at += __builtin_ctz(special);
  }
}

// Reads a member's name. Names with escapes are rejected, so that equal names have equal bytes. The bytes of UTF-8 sort
// as code points do, which is the order of Python. RFC 8785 section 3.2.3 sorts by UTF-16 code units, which puts U+E000
// to U+FFFF after the surrogates of higher code points. Names with U+E000 or a higher code point are therefore rejected
// for RFC 8785.
static inline const u8 *name_end(const u8 *at) {
  u32 special;
  if (*at != '"') return reject(at);
  at++;
  while (!(special = special_bytes(at))) at += 16;
  at += __builtin_ctz(special);
  return *at == '"' ? at + 1 : name_rest(at);
}

static inline const u8 *digits_end(const u8 *at) {
  while (is_digit(*at)) at++;
  return at;
}

static const u8 LARGEST_INTEGER[] = "9007199254740991";

// Reports whether `length` digits without leading zeros are at most 2^53 - 1. A double holds every integer up to there,
// and ECMAScript's Number::toString writes all its digits (RFC 8785 section 3.2.2.3).
static bool is_safe_integer(const u8 *digits, u32 length) {
  if (length != 16) return length < 16;
  for (u32 i = 0; i < 16; i++)
    if (digits[i] != LARGEST_INTEGER[i]) return digits[i] < LARGEST_INTEGER[i];
  return true;
}

// Returns the number of significant digits of a number with a fraction, or 16 for a number below 1e-6, which ECMAScript
// writes with an exponent.
static u32 significant_digits(const u8 *integer, const u8 *fraction, const u8 *end) {
  if (*integer != '0') return (u32)(fraction - 1 - integer) + (u32)(end - fraction);
  const u8 *first = fraction;
  while (*first == '0') first++;
  return first - fraction > 5 ? 16 : (u32)(end - first);
}

// Reads a number that is the text of its double in ECMAScript. Two decimals of up to 15 significant digits never share
// a double (DBL_DIG), so Number::toString, which picks the shortest decimal that converts back to the double, finds
// this one. Rejects `-0` (written `0`), exponents and trailing zeros.
static const u8 *number_end(const u8 *start) {
  const u8 *integer = start + (*start == '-');
  if (!is_digit(*integer)) return reject(integer);
  const u8 *at = *integer == '0' ? integer + 1 : digits_end(integer + 1);
  if (at >= block_end) return reject(at);
  if (*at != '.') {
    if (*integer == '0' && integer != start) return reject(start);
    return is_safe_integer(integer, (u32)(at - integer)) ? at : reject(start);
  }
  const u8 *fraction = at + 1;
  at = digits_end(fraction);
  if (at == fraction || at >= block_end) return reject(at);
  if (at[-1] == '0' || significant_digits(integer, fraction, at) > 15) return reject(start);
  return at;
}

// Reads any number of RFC 8259 section 6, regardless of its double.
static SELDOM const u8 *any_number_end(const u8 *at) {
  at += *at == '-';
  if (!is_digit(*at)) return reject(at);
  at = *at == '0' ? at + 1 : digits_end(at + 1);
  if (*at == '.') {
    if (!is_digit(at[1])) return reject(at + 1);
    at = digits_end(at + 1);
  }
  if (*at == 'e' || *at == 'E') {
    at += at[1] == '+' || at[1] == '-' ? 2 : 1;
    if (!is_digit(*at)) return reject(at);
    at = digits_end(at);
  }
  return at >= block_end ? reject(at) : at;
}

static const u8 *literal_end(const u8 *at, const char *literal) {
  for (; *literal; literal++, at++)
    if (*at != (u8)*literal) return reject(at);
  return at;
}

// Reads a number, true, false or null.
static inline const u8 *scalar_end(const u8 *at) {
  switch (*at) {
    case 't': return literal_end(at, "true");
    case 'f': return literal_end(at, "false");
    case 'n': return literal_end(at, "null");
    default: return form.doubles ? number_end(at) : any_number_end(at);
  }
}

// Skips white space of RFC 8259 section 2: only space, tab, line feed and carriage return.
static inline const u8 *space_end(const u8 *at) {
  while (*at <= ' ' && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t')) at++;
  return at;
}
#endif

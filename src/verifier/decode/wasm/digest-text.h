#ifndef DIGEST_TEXT_H
#define DIGEST_TEXT_H
// Digests as text: hexadecimal, base64 or base64url (RFC 4648), with an optional prefix.
#include "hash.h"
#include "text.h"

#define MAX_DIGITS 128
#define MAX_PREFIX 64

// Algorithm and text form of digests or seals.
struct digest_form {
  enum algorithm algorithm;
  enum encoding encoding;
  u32 digits;
  // Number of "=" that may follow the digits: all of them or none.
  u32 padding;
  u8 prefix[MAX_PREFIX + SLACK];
  u32 prefix_length;
};

static void set_digest_form(struct digest_form *form, enum algorithm algorithm, enum encoding encoding) {
  u32 bytes = digest_bytes(algorithm);
  form->algorithm = algorithm;
  form->encoding = encoding;
  form->digits = encoding == HEX ? 2 * bytes : (bytes * 4 + 2) / 3;
  form->padding = encoding == HEX ? 0 : (3 - bytes % 3) % 3;
  form->prefix_length = 0;
}

static u32 base64_value(u8 digit) {
  if (between(digit, 'A', 'Z')) return digit - 'A';
  if (between(digit, 'a', 'z')) return digit - 'a' + 26;
  if (is_digit(digit)) return digit - '0' + 52;
  return digit == '+' || digit == '-' ? 62 : 63;
}

// Encodes bytes as base64 or base64url (RFC 4648 sections 4 and 5), without padding.
static SELDOM void to_base64(const u8 *bytes, u32 count, bool url, u8 *to) {
  static const u8 digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  for (u32 bit = 0; bit < 8 * count; bit += 6) {
    u32 next = bit / 8 + 1 < count ? bytes[bit / 8 + 1] : 0;
    u32 value = ((u32)bytes[bit / 8] << 8 | next) >> (10 - bit % 8) & 63;
    *to++ = value < 62 ? digits[value] : value == 62 ? (url ? '-' : '+') : (url ? '_' : '/');
  }
}

// Decodes `count` bytes, a multiple of eight, from twice as many digits. Returns false if a character is not a
// lower-case hexadecimal digit.
static inline bool from_hex(const u8 *digits, u32 count, u8 *to) {
  v128_t are_digits = wasm_i8x16_const_splat(-1);
  for (u32 i = 0; i < 2 * count; i += 16) {
    v128_t bytes = wasm_v128_load(digits + i);
    v128_t number = wasm_i8x16_sub(bytes, wasm_u8x16_const_splat('0'));
    v128_t letter = wasm_i8x16_sub(bytes, wasm_u8x16_const_splat('a'));
    v128_t is_number = wasm_u8x16_le(number, wasm_u8x16_const_splat(9));
    v128_t is_letter = wasm_u8x16_le(letter, wasm_u8x16_const_splat(5));
    are_digits = wasm_v128_and(are_digits, wasm_v128_or(is_number, is_letter));
    v128_t values = wasm_v128_bitselect(number, wasm_i8x16_add(letter, wasm_i8x16_const_splat(10)), is_number);
    v128_t pairs = wasm_v128_or(wasm_i16x8_shl(values, 4), wasm_u16x8_shr(values, 8));
    pairs = wasm_v128_and(pairs, wasm_i16x8_const_splat(0xff));
    wasm_v128_store64_lane(to + i / 2, wasm_u8x16_narrow_i16x8(pairs, pairs), 0);
  }
  return wasm_i8x16_all_true(are_digits);
}

// Decodes digits without padding. Returns false unless encoding the bytes again gives the same digits.
static SELDOM bool from_base64(const struct digest_form *form, const u8 *digits, u8 *to) {
  u8 again[MAX_DIGITS + SLACK];
  u32 held = 0, bits = 0, count = 0;
  for (u32 i = 0; i < form->digits; i++) {
    held = held << 6 | base64_value(digits[i]);
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    to[count++] = (u8)(held >> bits);
  }
  to_base64(to, count, form->encoding == BASE64URL, again);
  return same_wide(again, digits, form->digits);
}

// Decodes digits to bytes. Returns false if the digits do not follow the encoding.
static inline bool from_digits(const struct digest_form *form, const u8 *digits, u8 *to) {
  return form->encoding == HEX ? from_hex(digits, digest_bytes(form->algorithm), to) : from_base64(form, digits, to);
}

// Returns the digits of a value that has the shape of a digest, otherwise 0. `from_digits` checks the digits
// themselves.
static const u8 *digits_in(const struct digest_form *form, struct text value) {
  u32 bare = form->prefix_length + form->digits;
  if (*value.at != '"' || (value.length != bare + 2 && value.length != bare + form->padding + 2)) return 0;
  if (!same(value.at + 1, form->prefix, form->prefix_length)) return 0;
  for (u32 i = 1 + bare; i < value.length - 1; i++)
    if (value.at[i] != '=') return 0;
  return value.at + 1 + form->prefix_length;
}
#endif

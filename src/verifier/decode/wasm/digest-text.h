#ifndef DIGEST_TEXT_H
#define DIGEST_TEXT_H
// Digests as text: hexadecimal, base64 and base64url (RFC 4648), perhaps behind a prefix.
#include "hash.h"
#include "text.h"

#define MAX_DIGITS 128
#define MAX_PREFIX 64

// How digests, or seals, are made and written.
struct digest_form {
  enum algorithm algorithm;
  enum encoding encoding;
  u32 digits;
  // How many "=" may stand behind the digits: all of them or none.
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

static void to_hex(const u8 *bytes, u32 count, u8 *to) {
  const v128_t digits = wasm_i8x16_make('0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f');
  for (u32 i = 0; i < count; i += 16) {
    v128_t pairs = wasm_v128_load(bytes + i);
    v128_t high = wasm_i8x16_swizzle(digits, wasm_u8x16_shr(pairs, 4));
    v128_t low = wasm_i8x16_swizzle(digits, wasm_v128_and(pairs, wasm_i8x16_const_splat(15)));
    wasm_v128_store(to + 2 * i, wasm_i8x16_shuffle(high, low, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23));
    wasm_v128_store(to + 2 * i + 16,
                    wasm_i8x16_shuffle(high, low, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31));
  }
}

static u32 base64_value(u8 digit) {
  if (between(digit, 'A', 'Z')) return digit - 'A';
  if (between(digit, 'a', 'z')) return digit - 'a' + 26;
  if (is_digit(digit)) return digit - '0' + 52;
  return digit == '+' || digit == '-' ? 62 : 63;
}

// RFC 4648 sections 4 and 5, without padding.
static SELDOM void to_base64(const u8 *bytes, u32 count, bool url, u8 *to) {
  static const u8 digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  for (u32 bit = 0; bit < 8 * count; bit += 6) {
    u32 next = bit / 8 + 1 < count ? bytes[bit / 8 + 1] : 0;
    u32 value = ((u32)bytes[bit / 8] << 8 | next) >> (10 - bit % 8) & 63;
    *to++ = value < 62 ? digits[value] : value == 62 ? (url ? '-' : '+') : (url ? '_' : '/');
  }
}

static void to_digits(const struct digest_form *form, const u8 *digest, u8 *to) {
  u32 bytes = digest_bytes(form->algorithm);
  if (form->encoding == HEX) to_hex(digest, bytes, to);
  else to_base64(digest, bytes, form->encoding == BASE64URL, to);
}

// Of lower-case digits alone; `count` is a multiple of 16, and so many digits are twice as many.
static inline void from_hex(const u8 *digits, u32 count, u8 *to) {
  for (u32 i = 0; i < 2 * count; i += 16) {
    v128_t bytes = wasm_v128_load(digits + i);
    // A letter has a bit that a digit has not, and its value is that of its low bits and nine.
    v128_t letters = wasm_u8x16_shr(wasm_v128_and(bytes, wasm_i8x16_const_splat(0x40)), 6);
    v128_t values = wasm_v128_and(bytes, wasm_i8x16_const_splat(15));
    values = wasm_i8x16_add(values, wasm_i8x16_add(letters, wasm_i8x16_shl(letters, 3)));
    v128_t pairs = wasm_v128_or(wasm_i16x8_shl(values, 4), wasm_u16x8_shr(values, 8));
    pairs = wasm_v128_and(pairs, wasm_i16x8_const_splat(0xff));
    wasm_v128_store64_lane(to + i / 2, wasm_u8x16_narrow_i16x8(pairs, pairs), 0);
  }
}

// Of digits that are of the encoding; what other ones become is of no use and does no harm.
static u32 from_digits(const struct digest_form *form, const u8 *digits, u8 *to) {
  u32 width = 6, held = 0, bits = 0, count = digest_bytes(form->algorithm);
  if (form->encoding == HEX) {
    from_hex(digits, count, to);
    return count;
  }
  for (u32 i = 0; i < form->digits; i++) {
    held = held << width | base64_value(digits[i]);
    bits += width;
    if (bits < 8) continue;
    bits -= 8;
    *to++ = (u8)(held >> bits);
  }
  return count;
}

static inline bool are_hex(const u8 *digits, u32 count) {
  for (u32 i = 0; i < count; i += 16) {
    v128_t bytes = wasm_v128_load(digits + i);
    v128_t number = wasm_u8x16_le(wasm_i8x16_sub(bytes, wasm_u8x16_const_splat('0')), wasm_u8x16_const_splat(9));
    v128_t letter = wasm_u8x16_le(wasm_i8x16_sub(bytes, wasm_u8x16_const_splat('a')), wasm_u8x16_const_splat(5));
    if (!wasm_i8x16_all_true(wasm_v128_or(number, letter))) return false;
  }
  return true;
}

static SELDOM bool are_base64(const struct digest_form *form, const u8 *digits) {
  u8 bytes[MAX_DIGITS + 16], again[MAX_DIGITS + SLACK];
  from_digits(form, digits, bytes);
  to_digits(form, bytes, again);
  return same_wide(again, digits, form->digits);
}

// Whether digits that nothing is compared with are of the encoding, and written as it writes them.
static bool are_digits(const struct digest_form *form, const u8 *digits) {
  return form->encoding == HEX ? are_hex(digits, form->digits) : are_base64(form, digits);
}

// The digits of a value that has the shape of a digest; 0 for one that has not. What digits they are is not looked at:
// that follows once they are equal to those of a digest that was computed.
static const u8 *digits_in(const struct digest_form *form, struct text value) {
  u32 bare = form->prefix_length + form->digits;
  if (*value.at != '"' || (value.length != bare + 2 && value.length != bare + form->padding + 2)) return 0;
  if (!same(value.at + 1, form->prefix, form->prefix_length)) return 0;
  for (u32 i = 1 + bare; i < value.length - 1; i++)
    if (value.at[i] != '=') return 0;
  return value.at + 1 + form->prefix_length;
}
#endif

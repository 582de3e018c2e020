#ifndef TIME_H
#define TIME_H
// Times of entries as milliseconds since 1970. Only texts for which the result of Date.parse is certain are accepted.
#include "text.h"

// Reads a safe integer that consists of digits only, without leading zeros.
static bool read_integer(struct text value, double *to) {
  double number = 0;
  if (value.length == 0 || (value.length > 1 && *value.at == '0') || !is_safe_integer(value.at, value.length)) return false;
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

// Returns the days from 1970-01-01 to a Gregorian date. Counts months from March on, in cycles of 400 years.
static int days_since_1970(u32 year, u32 month, u32 day) {
  u32 years = year + 400 - (month < 3), months = month < 3 ? month + 9 : month - 3;
  u32 of_cycle = years % 400;
  u32 days = of_cycle * 365 + of_cycle / 4 - of_cycle / 100 + (153 * months + 2) / 5 + day - 1;
  return (int)(years / 400 * 146097 + days) - 719468 - 146097;
}

// Reads YYYY-MM-DDTHH:MM:SS (ECMA-262 section 21.4.1.32) with a date that exists and an hour below 24, up to nine
// digits of a second (ECMAScript uses three), and an optional Z. A time without Z is UTC as well.
static APART bool read_time_text(const u8 *at, u32 length, double *to) {
  const v128_t date = wasm_u8x16_make('0', '0', '0', '0', '-', '0', '0', '-', '0', '0', 'T', '0', '0', ':', '0', '0');
  const v128_t date_range = wasm_u8x16_make(9, 9, 9, 9, 0, 9, 9, 0, 9, 9, 0, 9, 9, 0, 9, 9);
  if (length < 19 || length > 30) return false;
  if (!wasm_i8x16_all_true(wasm_u8x16_le(wasm_i8x16_sub(wasm_v128_load(at), date), date_range))) return false;
  if (at[16] != ':' || !is_digit(at[17]) || !is_digit(at[18])) return false;
  const u8 *end = at + length - (at[length - 1] == 'Z');
  u32 thousandths = 0;
  if (end > at + 19) {
    if (at[19] != '.' || end == at + 20 || end > at + 29) return false;
    for (u32 i = 20, unit = 100; at + i < end; i++, unit /= 10) {
      if (!is_digit(at[i])) return false;
      thousandths += (u32)(at[i] - '0') * unit;
    }
  }
  u32 year = two_digits(at) * 100 + two_digits(at + 2), month = two_digits(at + 5), day = two_digits(at + 8);
  u32 hour = two_digits(at + 11), minute = two_digits(at + 14), second = two_digits(at + 17);
  // `isRecordable` accepts no year zero.
  if (year < 1 || month < 1 || month > 12 || day < 1 || day > days_of_month(year, month)) return false;
  if (hour > 23 || minute > 59 || second > 59) return false;
  *to = days_since_1970(year, month, day) * 864e5 + (hour * 3600 + minute * 60 + second) * 1e3 + thousandths;
  return true;
}

// Reads a Unix time without sign, fraction or exponent, up to the end of the year 9999.
static bool read_unix_time(struct text value, double unit, double *to) {
  double number;
  if (!read_integer(value, &number) || number * unit > 253402300799999.0) return false;
  *to = number * unit;
  return true;
}

static bool read_time(enum time_unit unit, struct text value, double *to) {
  if (unit == SECONDS) return read_unix_time(value, 1e3, to);
  if (unit == MILLISECONDS) return read_unix_time(value, 1, to);
  return *value.at == '"' && value.length > 2 && read_time_text(value.at + 1, value.length - 2, to);
}
#endif

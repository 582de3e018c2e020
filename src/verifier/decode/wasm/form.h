#ifndef FORM_H
#define FORM_H
// Writes into a bounded buffer: members and items with their separators, and strings either escaped to ASCII or
// decoded.
#include "text.h"

// Maximum length of a decoded id, in bytes.
#define MAX_MEANING 4096

// Member of an object or, without a name, a run of items of an array.
struct part {
  // First 16 bytes of the name as two big-endian numbers, padded with zeros, which compare as the names do.
  u64 key[2];
  // Bytes between the quotes.
  struct text name;
  struct text value;
};

// Bounded output. Consecutive members that already have their final form and order are copied as one run.
struct writer {
  u8 *to;
  // End of the buffer; SLACK bytes follow it. Output that does not fit is dropped and sets `full`.
  const u8 *limit;
  bool full;
  const u8 *run;
  const u8 *run_end;
};

// Writes bytes, and leaves room for a separator after them.
static inline void write(struct writer *writer, const u8 *from, u32 length) {
  if (writer->limit - writer->to < (int)length + 2) {
    writer->full = true;
    return;
  }
  writer->to = put(writer->to, from, length);
}

static inline void write_separator(struct writer *writer, u8 sign) {
  if (writer->full) return;
  *writer->to++ = sign;
  if (form.gap) *writer->to++ = ' ';
}

static inline bool is_separator(const u8 *at, u8 sign) { return *at == sign && (form.gap == 0 || at[1] == ' '); }

static inline void end_run(struct writer *writer) {
  if (!writer->run) return;
  write(writer, writer->run, (u32)(writer->run_end - writer->run));
  write_separator(writer, ',');
  writer->run = 0;
}

static bool is_printable_ascii(struct text text) {
  for (u32 i = 0; i < text.length; i++)
    if (!between(text.at[i], 0x20, 0x7e)) return false;
  return true;
}

// Returns the first code point of valid UTF-8, and moves `at` past it.
static u32 decode(const u8 **at) {
  const u8 *bytes = *at;
  if (bytes[0] < 0x80) return *at += 1, bytes[0];
  if (bytes[0] < 0xe0) return *at += 2, (bytes[0] & 0x1fu) << 6 | (bytes[1] & 0x3fu);
  if (bytes[0] < 0xf0) return *at += 3, (bytes[0] & 0xfu) << 12 | (bytes[1] & 0x3fu) << 6 | (bytes[2] & 0x3fu);
  return *at += 4, (bytes[0] & 7u) << 18 | (bytes[1] & 0x3fu) << 12 | (bytes[2] & 0x3fu) << 6 | (bytes[3] & 0x3fu);
}

static u32 encode(u32 point, u8 *to) {
  if (point < 0x80) return to[0] = (u8)point, 1;
  u32 length = point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
  for (u32 i = length - 1; i > 0; i--, point >>= 6) to[i] = 0x80 | (point & 0x3f);
  to[0] = (u8)((0xf00u >> length) | point);
  return length;
}

static u8 *put_unit(u8 *to, u32 unit) {
  *to++ = '\\';
  *to++ = 'u';
  for (int shift = 12; shift >= 0; shift -= 4) *to++ = (u8)"0123456789abcdef"[unit >> shift & 15];
  return to;
}

// Writes the contents of a string, and escapes every character outside printable ASCII.
static SELDOM void write_ascii(struct writer *writer, struct text text) {
  const u8 *at = text.at, *end = text.at + text.length;
  while (at < end) {
    const u8 *run = at;
    while (at < end && between(*at, 0x20, 0x7e)) at++;
    write(writer, run, (u32)(at - run));
    if (at == end) return;
    u8 escape[12 + 16], *behind = escape;
    u32 point = decode(&at);
    if (point >= 0x10000) {
      behind = put_unit(behind, 0xd800 + ((point - 0x10000) >> 10));
      point = 0xdc00 + (point & 0x3ff);
    }
    behind = put_unit(behind, point);
    write(writer, escape, (u32)(behind - escape));
  }
}

static const u8 *backslash_in(const u8 *at, const u8 *end) {
  for (; at < end; at += 16) {
    u32 found = (u32)wasm_i8x16_bitmask(wasm_i8x16_eq(wasm_v128_load(at), wasm_i8x16_const_splat('\\')));
    if (found) return at + __builtin_ctz(found) < end ? at + __builtin_ctz(found) : end;
  }
  return end;
}

// Writes the decoded contents of a string as UTF-8. `text` is the part between the quotes, which a reader has accepted.
static void write_decoded(struct writer *writer, struct text text) {
  const u8 *at = text.at, *end = text.at + text.length;
  for (;;) {
    const u8 *escape = backslash_in(at, end);
    write(writer, at, (u32)(escape - at));
    if (escape == end) return;
    u8 meant[4 + 16];
    u32 point = escape[1];
    at = escape + 2;
    switch (escape[1]) {
      case 'b': point = '\b'; break;
      case 'f': point = '\f'; break;
      case 'n': point = '\n'; break;
      case 'r': point = '\r'; break;
      case 't': point = '\t'; break;
      case 'u': at = code_point_end(escape, &point); break;
    }
    write(writer, meant, encode(point, meant));
  }
}

// Reports whether a value is a string with these decoded contents.
static bool means(struct text value, struct text meaning) {
  if (*value.at != '"') return false;
  struct text inner = {value.at + 1, value.length - 2};
  u8 decoded[MAX_MEANING + SLACK];
  if (backslash_in(inner.at, inner.at + inner.length) != inner.at + inner.length) {
    struct writer writer = {decoded, decoded + MAX_MEANING + 2, false, 0, 0};
    write_decoded(&writer, inner);
    if (writer.full) return false;
    inner = (struct text){decoded, (u32)(writer.to - decoded)};
  }
  return inner.length == meaning.length && same(inner.at, meaning.at, meaning.length);
}

static void write_name(struct writer *writer, struct text name) {
  if (!form.ascii || is_printable_ascii(name)) {
    write(writer, name.at - 1, name.length + 2);
    return;
  }
  write(writer, WIDE("\""), 1);
  write_ascii(writer, name);
  write(writer, WIDE("\""), 1);
}

static inline __attribute__((always_inline)) void write_member(struct writer *writer, const struct part *member) {
  const u8 *name = member->name.at - 1, *colon = member->name.at + member->name.length + 1;
  bool in_place = member->value.at == colon + 1 + form.gap && is_separator(colon, ':');
  if (!in_place || (form.ascii && !is_printable_ascii(member->name))) {
    end_run(writer);
    write_name(writer, member->name);
    write_separator(writer, ':');
    write(writer, member->value.at, member->value.length);
    write_separator(writer, ',');
    return;
  }
  if (!writer->run || name != writer->run_end + 1 + form.gap || !is_separator(writer->run_end, ',')) {
    end_run(writer);
    writer->run = name;
  }
  writer->run_end = member->value.at + member->value.length;
}

// Closes the object or array that opened at `start`, and drops the comma after its last part.
static inline void write_close(struct writer *writer, u8 *start, u8 bracket) {
  end_run(writer);
  if (writer->to > start + 1) writer->to -= 1 + form.gap;
  *writer->to++ = bracket;
}
#endif

#ifndef PREIMAGE_H
#define PREIMAGE_H
// Preimage of an entry's digest, written step by step, and the ambiguities that the preimage leaves.
#include "digest-text.h"
#include "members.h"

#define MAX_STEPS 128
#define CONSTANT_BYTES 16384

// Kinds of steps, in the order of layout.ts:
// - Text: a constant.
// - Previous digest, as written; with `count`, `text` if the entry names no predecessor.
// - Previous digest, as bytes.
// - Entry: JSON of the entry, without the members that are not written.
// - Value: JSON of a named member, `null` if it is absent.
// - Field: text of a named member. A string is decoded; null or absent gives `text`; any other value is as sent.
// - Boundary: fields from step `row` on, separated by `text`. Ambiguous if `text` does not occur exactly `count` times.
// - Number boundary: ambiguous if the text from step `row` on starts with a number.
struct step {
  enum step_kind kind;
  u32 row;
  u32 count;
  struct text text;
  // The contract states the type of the field.
  bool pinned;
};

static struct step steps[MAX_STEPS];
static u32 step_count;
static u8 constants[CONSTANT_BYTES + SLACK];
static u32 constants_length;
static struct digest_form digest_form;

// Statements of an entry. Nothing here is compared with computed values or other entries: the chain walk does that.
struct entry {
  const u8 *start;
  const u8 *end;
  // True if the entry names no predecessor.
  bool is_first;
  double sequence;
  double time;
  struct text timestamp;
  struct text previous;
  const u8 *previous_digits;
  struct text digest;
};

// Writes the entry as sent, without the members that are not written and the comma before each of them. Keeps the sent
// bytes between the other members. The first kept member loses all bytes before it, back to the first member's name.
static SELDOM void write_as_sent(struct writer *writer, const struct entry *entry, const struct part *members) {
  const u8 *run = members[0].name.at - 1, *run_end = run;
  write(writer, entry->start, (u32)(run - entry->start));
  for (u32 i = 0; i < shape.order_count; i++) {
    u32 index = shape.order[i];
    const u8 *name = members[index].name.at - 1;
    const u8 *gap = index == 0 || i == 0 ? name : members[index - 1].value.at + members[index - 1].value.length;
    if (gap != run_end) {
      write(writer, run, (u32)(run_end - run));
      run = gap;
    }
    run_end = members[index].value.at + members[index].value.length;
  }
  write(writer, run, (u32)(run_end - run));
  struct text last = members[shape.count - 1].value;
  write(writer, last.at + last.length, (u32)(entry->end - last.at - last.length));
}

static void write_entry(struct writer *writer, const struct entry *entry, const struct part *members) {
  if (form.as_sent) {
    write_as_sent(writer, entry, members);
    return;
  }
  u8 *start = writer->to;
  write(writer, WIDE("{"), 1);
  for (u32 i = 0; i < shape.order_count; i++) write_member(writer, &members[shape.order[i]]);
  if (!writer->full) write_close(writer, start, '}');
}

static SELDOM void write_previous(struct writer *writer, const struct step *step, const struct entry *entry) {
  u8 bytes[MAX_DIGEST + 16];
  if (step->kind == PREVIOUS_BYTES) {
    if (!entry->previous_digits) return;
    from_digits(&digest_form, entry->previous_digits, bytes);
    write(writer, bytes, digest_bytes(digest_form.algorithm));
  } else if (entry->is_first && step->count) {
    write(writer, step->text.at, step->text.length);
  } else if (*entry->previous.at == '"') {
    write(writer, entry->previous.at + 1, entry->previous.length - 2);
  }
}

static const u8 *run_of_digits(const u8 *at, const u8 *end) {
  while (at < end && is_digit(*at)) at++;
  return at;
}

// Reports whether a whole text is a number (RFC 8259 section 6).
static bool is_number(const u8 *at, const u8 *end) {
  at += at < end && *at == '-';
  const u8 *integer = at;
  at = run_of_digits(at, end);
  if (at == integer || (*integer == '0' && at > integer + 1)) return false;
  if (at < end && *at == '.') {
    const u8 *fraction = at + 1;
    at = run_of_digits(fraction, end);
    if (at == fraction) return false;
  }
  if (at < end && (*at | 0x20) == 'e') {
    const u8 *exponent = at + 1 + (at + 1 < end && (at[1] == '+' || at[1] == '-'));
    at = run_of_digits(exponent, end);
    if (at == exponent) return false;
  }
  return at == end;
}

static bool is_text(struct text text, const char *literal, u32 length) {
  return text.length == length && same(text.at, (const u8 *)literal, length);
}

// Reports whether a value other than a string could have the same text.
static bool could_be_another(struct text text, struct text null_as) {
  if (text.length == null_as.length && same(text.at, null_as.at, text.length)) return true;
  if (text.length == 0) return false;
  u8 first = *text.at;
  if (first == '{' || first == '[' || is_text(text, "true", 4) || is_text(text, "false", 5)) return true;
  return (first == '-' || is_digit(first)) && is_number(text.at, text.at + text.length);
}

// Writes a named member as text. Returns false if the sent text is uncertain.
static SELDOM bool write_field(struct writer *writer, u32 index) {
  const struct step *step = &steps[index];
  struct text value = values[step->row];
  const u8 *start = writer->to;
  if (*value.at == '"') {
    write_decoded(writer, (struct text){value.at + 1, value.length - 2});
    bool is_open = !step->pinned && could_be_another((struct text){start, (u32)(writer->to - start)}, step->text);
    return !is_open || note_unhashed(OF_STEP, index, NO_NAME);
  }
  if (!step->pinned && !note_unhashed(OF_STEP, index, NO_NAME)) return false;
  if (value.length == 0 || is_text(value, "null", 4)) write(writer, step->text.at, step->text.length);
  // The bytes of a rebuilt value differ from the sent bytes.
  else if (value.at >= arena && value.at < arena + sizeof arena) return false;
  else write(writer, value.at, value.length);
  return true;
}

// Counts occurrences, including overlapping ones. Stops at one more than `most`.
static SELDOM u32 occurrences(struct text wanted, const u8 *at, const u8 *end, u32 most) {
  u32 count = 0;
  const v128_t first = wasm_u8x16_splat(*wanted.at);
  for (; at < end; at += 16) {
    u32 found = (u32)wasm_i8x16_bitmask(wasm_i8x16_eq(wasm_v128_load(at), first));
    for (; found; found &= found - 1) {
      const u8 *place = at + __builtin_ctz(found);
      if (place + wanted.length > end || !same(place, wanted.at, wanted.length)) continue;
      if (++count > most) return count;
    }
  }
  return count;
}

// Appends the preimage of the entry's digest, and notes its ambiguities. Returns false if the preimage is uncertain.
static bool write_preimage(struct writer *writer, const struct entry *entry, const struct part *members) {
  const u8 *starts[MAX_STEPS];
  for (u32 i = 0; i < step_count; i++) {
    const struct step *step = &steps[i];
    starts[i] = writer->to;
    switch (step->kind) {
      case TEXT: write(writer, step->text.at, step->text.length); break;
      case PREVIOUS: case PREVIOUS_BYTES: write_previous(writer, step, entry); break;
      case ENTRY: write_entry(writer, entry, members); break;
      case VALUE: {
        struct text value = values[step->row];
        write(writer, value.length == 0 ? WIDE("null") : value.at, value.length == 0 ? 4 : value.length);
        break;
      }
      case FIELD:
        if (!write_field(writer, i)) return false;
        break;
      case BOUNDARY:
        if (occurrences(step->text, starts[step->row], writer->to, step->count) == step->count) break;
        if (!note_unhashed(OF_STEP, i, NO_NAME)) return false;
        break;
      case NUMBER_BOUNDARY:
        if (*starts[step->row] != '-' && !is_digit(*starts[step->row])) break;
        if (!note_unhashed(OF_STEP, i, NO_NAME)) return false;
        break;
    }
  }
  return !writer->full;
}
#endif

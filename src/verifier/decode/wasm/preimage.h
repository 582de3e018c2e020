#ifndef PREIMAGE_H
#define PREIMAGE_H
// What the digest of an entry is made over, part after part, and what that leaves open.
#include "digest-text.h"
#include "members.h"

#define MAX_STEPS 128
#define CONSTANT_BYTES 16384

// The kinds of steps, in the order of layout.ts:
//   a constant text;
//   the predecessor's digest as it is written; where an entry names none, `text`, if `count` says so;
//   the predecessor's digest as bytes;
//   the entry as JSON, without what is not written of it;
//   a named member as JSON, `null` where it is absent;
//   a named member as text: a string's meaning, everything else as it was sent, `text` for null and for nothing;
//   a boundary: from the step `row` on, `text` separates fields, `count` times; where it is there more often, it is open
//     where they end;
//   a number at the step `row` has an open boundary to what is behind it.
struct step {
  enum step_kind kind;
  u32 row;
  u32 count;
  struct text text;
  // The contract says which type the field has.
  bool pinned;
};

static struct step steps[MAX_STEPS];
static u32 step_count;
static u8 constants[CONSTANT_BYTES + SLACK];
static u32 constants_length;
static struct digest_form digest_form;

// What an entry says. Nothing here is compared with what is computed, or with another entry: that is for the fold.
struct entry {
  const u8 *start;
  const u8 *end;
  // It names no predecessor.
  bool is_first;
  double sequence;
  double time;
  struct text timestamp;
  struct text previous;
  const u8 *previous_digits;
  struct text digest;
};

// All of the entry but some members, each with the comma before it; between the others what was sent. Of the first that
// stays, what is before it goes.
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

// RFC 8259 section 6, all of a text.
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

// Whether a value that is no string could have the same text.
static bool could_be_another(struct text text, struct text null_as) {
  if (text.length == null_as.length && same(text.at, null_as.at, text.length)) return true;
  if (text.length == 0) return false;
  u8 first = *text.at;
  if (first == '{' || first == '[' || is_text(text, "true", 4) || is_text(text, "false", 5)) return true;
  return (first == '-' || is_digit(first)) && is_number(text.at, text.at + text.length);
}

// False where it is not certain what was sent.
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
  // What was put together anew is not what was sent.
  else if (value.at >= arena && value.at < arena + sizeof arena) return false;
  else write(writer, value.at, value.length);
  return true;
}

// Overlapping ones too, as many as there are, or one more than `most`.
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

// Appends what the entry's digest is made over, and notes what that leaves open. False where it is not certain.
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

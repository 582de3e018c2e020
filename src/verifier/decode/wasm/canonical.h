#ifndef CANONICAL_H
#define CANONICAL_H
// Reads JSON values and finds their canonical form: the form in which the contract hashes them. A value that is already
// canonical is referenced in place. A value with white space, or with members out of order, is rebuilt in the arena.
#include "form.h"

// A nested value that is rebuilt at several levels takes its size at each of them. A value that does not fit is
// rejected.
#define ARENA_BYTES (2 << 20)
// Maximum number of parts of all objects and arrays that are open at the same time.
#define MAX_OPEN_PARTS 8192
// Maximum number of members to sort: insertion sort takes quadratic time.
#define MAX_SORTED_MEMBERS 64

static u8 arena[ARENA_BYTES + SLACK];
static u8 *arena_top;
static struct part parts[MAX_OPEN_PARTS];
static u32 part_count;
static u32 max_depth;
// Canonical form of the value that was read last.
static struct text canonical;

// Layout of an object's bytes. `compact`: the bytes are in hashed form, except perhaps for the order of the members.
// `ordered`: the members are sorted by name.
struct layout {
  bool compact;
  bool ordered;
};

static const u8 *read_value(const u8 *at, u32 depth);

static inline void set_key(struct part *member) {
  v128_t bytes = wasm_v128_load(member->name.at);
  bytes = wasm_v128_and(bytes, ones(member->name.length < 16 ? member->name.length : 16));
  wasm_v128_store(member->key, wasm_i8x16_shuffle(bytes, bytes, 7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8));
}

// Compares two names; the result is negative, zero or positive, as for memcmp. No name contains a zero byte (a control
// character), so the zeros that pad the key of a short name sort it before the longer names that it begins.
static inline int name_order(const struct part *a, const struct part *b) {
  if (a->key[0] != b->key[0]) return a->key[0] < b->key[0] ? -1 : 1;
  if (a->key[1] != b->key[1]) return a->key[1] < b->key[1] ? -1 : 1;
  u32 shorter = a->name.length < b->name.length ? a->name.length : b->name.length;
  for (u32 i = 16; i < shorter; i++)
    if (a->name.at[i] != b->name.at[i]) return a->name.at[i] < b->name.at[i] ? -1 : 1;
  return (int)a->name.length - (int)b->name.length;
}

static inline bool is_gap(const u8 *from, const u8 *to) {
  return (u32)(to - from) == form.gap && (form.gap == 0 || *from == ' ');
}

// Reads the members of an object, starting at its brace, and pushes them onto the stack of parts. `layout` may be null.
static inline __attribute__((always_inline)) const u8 *read_members(const u8 *at, u32 depth, struct layout *layout) {
  bool compact = true, ordered = true;
  const u8 *next = space_end(++at);
  compact &= next == at;
  if (*next == '}') {
    if (layout) *layout = (struct layout){compact, true};
    return next + 1;
  }
  for (u32 first = part_count;;) {
    if (part_count == MAX_OPEN_PARTS) return reject(next);
    struct part *member = &parts[part_count];
    const u8 *end = name_end(next);
    if (!end) return 0;
    member->name = (struct text){next + 1, (u32)(end - next) - 2};
    set_key(member);
    if (layout && part_count > first && name_order(member - 1, member) >= 0) ordered = false;
    part_count++;
    at = space_end(end);
    compact &= at == end && !(layout && form.ascii && !is_printable_ascii(member->name));
    if (*at != ':') return reject(at);
    next = space_end(++at);
    compact &= is_gap(at, next);
    end = read_value(next, depth);
    if (!end) return 0;
    compact &= canonical.at == next;
    member->value = canonical;
    at = space_end(end);
    compact &= at == end;
    if (*at == '}') {
      if (layout) *layout = (struct layout){compact, ordered};
      return at + 1;
    }
    if (*at != ',') return reject(at);
    next = space_end(++at);
    compact &= is_gap(at, next);
  }
}

// Writes the indices of `members`, sorted by name, to `order`. Returns false if a name repeats or there are too many
// members.
static bool sort_members(const struct part *members, u32 count, u8 *order) {
  if (count > MAX_SORTED_MEMBERS) return false;
  for (u32 i = 0; i < count; i++) {
    u32 to = i;
    for (; to > 0; to--) {
      int difference = name_order(&members[order[to - 1]], &members[i]);
      if (difference == 0) return false;
      if (difference < 0) break;
      order[to] = order[to - 1];
    }
    order[to] = (u8)i;
  }
  return true;
}

static inline struct writer write_to_arena(u8 bracket) {
  *arena_top = bracket;
  return (struct writer){arena_top + 1, arena + ARENA_BYTES, false, 0, 0};
}

// Makes the written value the canonical form. Returns false if the arena is too small.
static bool take_from_arena(const struct writer *writer) {
  if (writer->full || writer->to > writer->limit) return false;
  canonical = (struct text){arena_top, (u32)(writer->to - arena_top)};
  arena_top = writer->to;
  return true;
}

static const u8 *read_object(const u8 *start, u32 depth) {
  u32 first = part_count;
  u8 order[MAX_SORTED_MEMBERS];
  struct layout layout;
  const u8 *end = read_members(start, depth + 1, &layout);
  if (!end) return 0;
  u32 count = part_count - first;
  // Sorts the names even if the members stay in place, because sorting finds duplicate names.
  if (!layout.ordered && !sort_members(parts + first, count, order)) return reject(start);
  if (form.as_sent || (layout.compact && (layout.ordered || !form.sorted))) {
    canonical = (struct text){start, (u32)(end - start)};
  } else {
    struct writer writer = write_to_arena('{');
    bool stays = layout.ordered || !form.sorted;
    for (u32 i = 0; i < count; i++) write_member(&writer, &parts[first + (stays ? i : order[i])]);
    write_close(&writer, arena_top, '}');
    if (!take_from_arena(&writer)) return reject(start);
  }
  part_count = first;
  return end;
}

// Appends an item to the items from part `first` on. Extends the last run if the item directly follows it.
static inline bool add_item(u32 first, struct text item) {
  if (part_count > first) {
    struct text *last = &parts[part_count - 1].value;
    const u8 *last_end = last->at + last->length;
    if (item.at == last_end + 1 + form.gap && is_separator(last_end, ',')) {
      last->length += 1 + form.gap + item.length;
      return true;
    }
  }
  if (part_count == MAX_OPEN_PARTS) return false;
  parts[part_count++].value = item;
  return true;
}

static const u8 *read_items(const u8 *at, u32 depth, bool *compact) {
  const u8 *next = space_end(++at);
  *compact = next == at;
  if (*next == ']') return next + 1;
  for (u32 first = part_count;;) {
    const u8 *end = read_value(next, depth);
    if (!end) return 0;
    *compact &= canonical.at == next;
    if (!form.as_sent && !add_item(first, canonical)) return reject(next);
    at = space_end(end);
    *compact &= at == end;
    if (*at == ']') return at + 1;
    if (*at != ',') return reject(at);
    next = space_end(++at);
    *compact &= is_gap(at, next);
  }
}

static SELDOM const u8 *read_array(const u8 *start, u32 depth) {
  u32 first = part_count;
  bool compact;
  const u8 *end = read_items(start, depth + 1, &compact);
  if (!end) return 0;
  if (compact || form.as_sent) {
    canonical = (struct text){start, (u32)(end - start)};
  } else {
    struct writer writer = write_to_arena('[');
    for (u32 i = first; i < part_count; i++) {
      write(&writer, parts[i].value.at, parts[i].value.length);
      write_separator(&writer, ',');
    }
    write_close(&writer, arena_top, ']');
    if (!take_from_arena(&writer)) return reject(start);
  }
  part_count = first;
  return end;
}

// Returns the end of a string, and sets `plain` if Python with ensure_ascii writes the string in the same way.
static const u8 *ascii_string_end(const u8 *at, bool *plain) {
  *plain = true;
  for (at++;;) {
    u32 special;
    while (!(special = special_bytes(at) | delete_bytes(at))) at += 16;
    at += __builtin_ctz(special);
    if (*at == '"') return at + 1;
    *plain &= *at == '\\';
    at = *at == '\\' ? ascii_escape_end(at) : *at == 0x7f ? at + 1 : *at >= 0x80 ? multibyte_end(at) : reject(at);
    if (!at) return 0;
  }
}

static SELDOM const u8 *read_ascii_string(const u8 *start) {
  bool plain;
  const u8 *end = ascii_string_end(start, &plain);
  if (!end) return 0;
  canonical = (struct text){start, (u32)(end - start)};
  if (plain) return end;
  struct writer writer = write_to_arena('"');
  write_ascii(&writer, (struct text){start + 1, canonical.length - 2});
  write(&writer, WIDE("\""), 1);
  return take_from_arena(&writer) ? end : reject(start);
}

// Reads a value and sets `canonical`. `depth` is the number of the entry's objects and arrays that enclose the value.
static const u8 *read_value(const u8 *at, u32 depth) {
  if (*at == '"') {
    if (form.ascii) return read_ascii_string(at);
    const u8 *end = string_end(at);
    canonical = (struct text){at, (u32)(end - at)};
    return end;
  }
  if (*at == '{' || *at == '[') {
    if (depth == max_depth) return reject(at);
    return *at == '{' ? read_object(at, depth) : read_array(at, depth);
  }
  const u8 *end = scalar_end(at);
  canonical = (struct text){at, (u32)(end - at)};
  return end;
}
#endif

#ifndef CANONICAL_H
#define CANONICAL_H
// Objects and arrays, and their RFC 8785 form. A value that is written canonically already is its own form, and only
// its place is noted; what has white space in it or members out of order is put together anew in the arena.
#include "text.h"

#define INPUT_BYTES (1 << 20)
// A nested value that is put together anew at many levels takes its size at each: beyond this it is not certain.
#define ARENA_BYTES (2 << 20)
// Of all objects and arrays that are open at one place.
#define MAX_OPEN_PARTS 8192
// They are sorted by insertion, which takes time with the square of their number.
#define MAX_SORTED_MEMBERS 64

struct text {
  const u8 *at;
  u32 length;
};

// A member of an object, or (without a name) a run of items of an array.
struct part {
  // The name's first 16 bytes as big-endian numbers, zeros behind its end: they compare as names do.
  u64 key[2];
  // Between the quotes.
  struct text name;
  struct text value;
};

static u8 arena[ARENA_BYTES + SLACK];
static u8 *arena_top;
static struct part parts[MAX_OPEN_PARTS];
static u32 part_count;
static u32 max_depth;
// The canonical form of the value that was read last.
static struct text canonical;

// What is known of the bytes of an object or array.
struct form {
  bool compact;
  bool ordered;
};

static const u8 *read_value(const u8 *at, u32 depth);

static inline v128_t ones(u32 count) {
  static const u8 mask[32] = {255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255};
  return wasm_v128_load(mask + 16 - count);
}

static inline void set_key(struct part *member) {
  v128_t bytes = wasm_v128_load(member->name.at);
  bytes = wasm_v128_and(bytes, ones(member->name.length < 16 ? member->name.length : 16));
  wasm_v128_store(member->key, wasm_i8x16_shuffle(bytes, bytes, 7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8));
}

// Below, at or above zero as the name of `a` sorts before, is or sorts behind that of `b`. No name holds a zero byte
// (it is a control character), so the zeros behind a short one's end sort it before those that it begins.
static inline int name_order(const struct part *a, const struct part *b) {
  if (a->key[0] != b->key[0]) return a->key[0] < b->key[0] ? -1 : 1;
  if (a->key[1] != b->key[1]) return a->key[1] < b->key[1] ? -1 : 1;
  u32 shorter = a->name.length < b->name.length ? a->name.length : b->name.length;
  for (u32 i = 16; i < shorter; i++)
    if (a->name.at[i] != b->name.at[i]) return a->name.at[i] < b->name.at[i] ? -1 : 1;
  return (int)a->name.length - (int)b->name.length;
}

// Reads the members of an object, from its brace on, onto the stack of parts. `form` may be null.
static inline __attribute__((always_inline)) const u8 *read_members(const u8 *at, u32 depth, struct form *form) {
  bool compact = true, ordered = true;
  const u8 *next = space_end(++at);
  compact &= next == at;
  if (*next == '}') {
    if (form) *form = (struct form){compact, true};
    return next + 1;
  }
  for (u32 first = part_count;;) {
    if (part_count == MAX_OPEN_PARTS) return reject(next);
    struct part *member = &parts[part_count];
    const u8 *end = name_end(next);
    if (!end) return 0;
    member->name = (struct text){next + 1, (u32)(end - next) - 2};
    set_key(member);
    if (form && part_count > first && name_order(member - 1, member) >= 0) ordered = false;
    part_count++;
    at = space_end(end);
    compact &= at == end;
    if (*at != ':') return reject(at);
    next = space_end(++at);
    compact &= next == at;
    end = read_value(next, depth);
    if (!end) return 0;
    compact &= canonical.at == next;
    member->value = canonical;
    at = space_end(end);
    compact &= at == end;
    if (*at == '}') {
      if (form) *form = (struct form){compact, ordered};
      return at + 1;
    }
    if (*at != ',') return reject(at);
    next = space_end(++at);
    compact &= next == at;
  }
}

// Into `order`, indices of `members` sorted by name. False when a name occurs twice, or there are too many.
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

// Members that already stand one behind the other as they should are copied as one run.
struct writer {
  u8 *to;
  const u8 *run;
  const u8 *run_end;
};

static inline void end_run(struct writer *writer) {
  if (!writer->run) return;
  writer->to = put(writer->to, writer->run, (u32)(writer->run_end - writer->run));
  *writer->to++ = ',';
  writer->run = 0;
}

static inline void write_member(struct writer *writer, const struct part *member) {
  const u8 *name = member->name.at - 1, *name_behind = member->name.at + member->name.length + 1;
  const u8 *end = member->value.at + member->value.length;
  if (member->value.at != name_behind + 1) {
    end_run(writer);
    writer->to = put(writer->to, name, (u32)(name_behind - name));
    *writer->to++ = ':';
    writer->to = put(writer->to, member->value.at, member->value.length);
    *writer->to++ = ',';
    return;
  }
  // The value stands two bytes behind the name: the byte between is the colon. One byte between two members is the comma.
  if (!writer->run || name != writer->run_end + 1) {
    end_run(writer);
    writer->run = name;
  }
  writer->run_end = end;
}

// Closes what was opened with the byte at `start`; the comma behind the last part gives way.
static inline u8 *write_close(struct writer *writer, u8 *start, u8 bracket) {
  end_run(writer);
  u8 *to = writer->to - (writer->to > start + 1);
  *to = bracket;
  return to + 1;
}

// The canonical form is never longer than what was read, from `from` to `to`: is there room for it?
static inline bool has_room(const u8 *from, const u8 *to) { return (u32)(to - from) <= (u32)(arena + ARENA_BYTES - arena_top); }

static void take_from_arena(u8 *end) {
  canonical = (struct text){arena_top, (u32)(end - arena_top)};
  arena_top = end;
}

static const u8 *read_object(const u8 *start, u32 depth) {
  u32 first = part_count;
  struct form form;
  const u8 *end = read_members(start, depth + 1, &form);
  if (!end) return 0;
  if (form.compact && form.ordered) {
    canonical = (struct text){start, (u32)(end - start)};
  } else {
    u8 order[MAX_SORTED_MEMBERS];
    u32 count = part_count - first;
    if (!form.ordered && !sort_members(parts + first, count, order)) return reject(start);
    if (!has_room(start, end)) return reject(start);
    *arena_top = '{';
    struct writer writer = {arena_top + 1, 0, 0};
    for (u32 i = 0; i < count; i++) write_member(&writer, &parts[first + (form.ordered ? i : order[i])]);
    take_from_arena(write_close(&writer, arena_top, '}'));
  }
  part_count = first;
  return end;
}

// An item behind the items from part `first` on: in the same run, if it stands right behind it.
static inline bool add_item(u32 first, struct text item) {
  struct part *last = &parts[part_count - 1];
  if (part_count > first && item.at == last->value.at + last->value.length + 1) {
    last->value.length += 1 + item.length;
    return true;
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
    if (!add_item(first, canonical)) return reject(next);
    at = space_end(end);
    *compact &= at == end;
    if (*at == ']') return at + 1;
    if (*at != ',') return reject(at);
    next = space_end(++at);
    *compact &= next == at;
  }
}

static const u8 *read_array(const u8 *start, u32 depth) {
  u32 first = part_count;
  bool compact;
  const u8 *end = read_items(start, depth + 1, &compact);
  if (!end) return 0;
  if (compact) {
    canonical = (struct text){start, (u32)(end - start)};
  } else {
    if (!has_room(start, end)) return reject(start);
    *arena_top = '[';
    struct writer writer = {arena_top + 1, 0, 0};
    for (u32 i = first; i < part_count; i++) {
      writer.to = put(writer.to, parts[i].value.at, parts[i].value.length);
      *writer.to++ = ',';
    }
    take_from_arena(write_close(&writer, arena_top, ']'));
  }
  part_count = first;
  return end;
}

// `depth`: how many objects and arrays of the element are open around the value.
static const u8 *read_value(const u8 *at, u32 depth) {
  if (*at == '"') {
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

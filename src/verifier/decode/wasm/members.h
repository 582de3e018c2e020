#ifndef MEMBERS_H
#define MEMBERS_H
// Named members of an entry: finds their values, and notes the members that are not hashed.
#include "canonical.h"

#define MAX_NAMED 64

// Member that the contract names: of the entry, or of an object that is a member of the entry.
struct named {
  u8 bytes[MAX_NAME + SLACK];
  u32 length;
  // Row of the object that contains the member; NOWHERE for the entry itself.
  u8 container;
  // True for an object that holds named members; `holds_covered` if some of them are covered.
  bool is_container;
  bool holds_covered;
  // Written by the step of the preimage that writes the entry.
  bool written;
  // Hashed by another step, or the digest or the seal itself.
  bool covered;
  // Bits of the groups to which the member belongs; see `groups`.
  u8 group;
};

static struct named named[MAX_NAMED];
static u32 named_count;
// Bit set of groups. An entry should have a member of each group.
static u8 groups;
// Values of the current entry's named members; empty for absent members.
static struct text values[MAX_NAMED];
static const u8 NOTHING[SLACK];
static const struct text NO_NAME = {NOTHING, 0};
// Unhashed parts of the entries of a run, each with the first entry that has it. An unhashed member also has the place
// of its name in `input`, and the row of the object that contains it.
u32 unhashed[MAX_UNHASHED][UNHASHED_WORDS];
static u32 unhashed_count;
static const u8 *unhashed_base;
// Row of the current entry.
static u32 unhashed_entry;

// Notes an unhashed part, once for each run. Returns false if there is no room.
static SELDOM bool note_unhashed(enum unhashed_kind kind, u32 index, struct text name) {
  for (u32 i = 0; i < unhashed_count; i++) {
    const u32 *row = unhashed[i];
    if (row[UNHASHED_KIND] != kind || row[UNHASHED_INDEX] != index || row[UNHASHED_LENGTH] != name.length) continue;
    if (same(unhashed_base + row[UNHASHED_NAME], name.at, name.length)) return true;
  }
  if (unhashed_count == MAX_UNHASHED) return false;
  u32 *row = unhashed[unhashed_count++];
  row[UNHASHED_ENTRY] = unhashed_entry;
  row[UNHASHED_KIND] = kind;
  row[UNHASHED_INDEX] = index;
  row[UNHASHED_NAME] = kind == OF_MEMBER ? (u32)(name.at - unhashed_base) : 0;
  row[UNHASHED_LENGTH] = name.length;
  return true;
}

// The preimage writes the entry; with `writes_chosen`, only those named members of it that are `written`.
static bool writes_entry;
static bool writes_chosen;

// Member names of the last entries, in order. Facts learned from the names are reused while entries keep these names.
static struct {
  u32 count;
  struct part names[MAX_SORTED_MEMBERS];
  u8 name_bytes[MAX_SORTED_MEMBERS][MAX_NAME];
  // Indices of the written members, in the order in which they are written.
  u8 order[MAX_SORTED_MEMBERS];
  u32 order_count;
  u8 member_of[MAX_NAMED];
  // Indices of the unhashed members; `is_noted` after this run has noted them.
  u8 unhashed[MAX_SORTED_MEMBERS];
  u32 unhashed_count;
  bool is_noted;
} shape;

static inline bool same_name(const struct part *a, const struct part *b) {
  if (a->key[0] != b->key[0] || a->key[1] != b->key[1] || a->name.length != b->name.length) return false;
  return a->name.length <= 16 || same(a->name.at + 16, b->name.at + 16, a->name.length - 16);
}

static inline bool has_shape(const struct part *members, u32 count) {
  if (count == 0 || count != shape.count) return false;
  for (u32 i = 0; i < count; i++)
    if (!same_name(&members[i], &shape.names[i])) return false;
  return true;
}

static u32 find_named(struct text name, u8 container) {
  for (u32 i = 0; i < named_count; i++)
    if (named[i].container == container && name.length == named[i].length && same(name.at, named[i].bytes, name.length))
      return i;
  return NOWHERE;
}

static inline bool is_written(u32 row) { return row == NOWHERE ? writes_entry && !writes_chosen : named[row].written; }

static void remember_names(const struct part *members, u32 count) {
  for (u32 i = 0; i < count; i++) {
    for (u32 j = 0; j < members[i].name.length; j++) shape.name_bytes[i][j] = members[i].name.at[j];
    shape.names[i] = members[i];
    shape.names[i].name.at = shape.name_bytes[i];
  }
  shape.count = count;
}

// Learns the names of the members. Returns false if a name repeats or is too long, or if there are too many names.
static SELDOM bool learn_shape(const struct part *members, u32 count) {
  u8 sorted[MAX_SORTED_MEMBERS];
  bool writes[MAX_SORTED_MEMBERS];
  shape.count = shape.order_count = shape.unhashed_count = 0;
  shape.is_noted = false;
  for (u32 i = 0; i < named_count; i++) shape.member_of[i] = NOWHERE;
  if (!sort_members(members, count, sorted)) return false;
  for (u32 i = 0; i < count; i++) {
    if (members[i].name.length > MAX_NAME) return false;
    u32 row = find_named(members[i].name, NOWHERE);
    writes[i] = is_written(row);
    if (row != NOWHERE) shape.member_of[row] = (u8)i;
    // A container with covered members is checked for each entry, because its members may differ between entries.
    bool is_hashed = writes[i] || (row != NOWHERE && (named[row].covered || named[row].holds_covered));
    if (!is_hashed) shape.unhashed[shape.unhashed_count++] = (u8)i;
  }
  if (writes_chosen && !form.sorted) {
    for (u32 i = 0; i < named_count; i++)
      if (named[i].written && shape.member_of[i] != NOWHERE) shape.order[shape.order_count++] = shape.member_of[i];
  } else {
    for (u32 i = 0; i < count; i++) {
      u8 member = form.sorted ? sorted[i] : (u8)i;
      if (writes[member]) shape.order[shape.order_count++] = member;
    }
  }
  remember_names(members, count);
  return true;
}

// Notes the members that their names alone show to be unhashed.
static SELDOM bool note_members(const struct part *members) {
  for (u32 i = 0; i < shape.unhashed_count; i++)
    if (!note_unhashed(OF_MEMBER, NOWHERE, members[shape.unhashed[i]].name)) return false;
  shape.is_noted = true;
  return true;
}

// Reads the members of an object that holds named ones, and notes the unhashed ones.
static SELDOM bool open_container(const struct part *member, u32 row) {
  const u8 *at = space_end(member->name.at + member->name.length + 1);
  at = space_end(at + 1);
  bool is_hashed = named[row].written || named[row].covered;
  if (*at != '{') return is_hashed || !named[row].holds_covered || note_unhashed(OF_MEMBER, NOWHERE, member->name);
  is_hashed |= !named[row].holds_covered;
  u32 first = part_count;
  if (!read_members(at, 2, 0)) return false;
  for (u32 i = first; i < part_count; i++) {
    u32 inner = find_named(parts[i].name, (u8)row);
    if (inner != NOWHERE) values[inner] = parts[i].value;
    bool is_open = !is_hashed && (inner == NOWHERE || !named[inner].covered);
    if (is_open && !note_unhashed(OF_MEMBER, row, parts[i].name)) return false;
  }
  return true;
}

// Collects the values of an entry's named members, and notes its unhashed parts.
static bool find_values(const struct part *members) {
  for (u32 i = 0; i < named_count; i++) {
    u8 member = named[i].container == NOWHERE ? shape.member_of[i] : NOWHERE;
    values[i] = member == NOWHERE ? (struct text){NOTHING, 0} : members[member].value;
  }
  for (u32 i = 0; i < named_count; i++) {
    if (!named[i].is_container || shape.member_of[i] == NOWHERE) continue;
    if (!open_container(&members[shape.member_of[i]], i)) return false;
  }
  u8 missing = groups;
  for (u32 i = 0; missing && i < named_count; i++)
    if (values[i].length > 0) missing &= (u8)~named[i].group;
  for (u32 group = 0; missing; group++, missing >>= 1)
    if ((missing & 1) && !note_unhashed(OF_GROUP, group, NO_NAME)) return false;
  return shape.unhashed_count == 0 || shape.is_noted || note_members(members);
}
#endif

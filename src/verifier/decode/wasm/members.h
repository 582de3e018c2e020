#ifndef MEMBERS_H
#define MEMBERS_H
// The members of an entry that the contract names: where they stand, and which members are not hashed.
#include "canonical.h"

#define MAX_NAMED 64

// A member that matters: of the entry, or of an object that is a member of it.
struct named {
  u8 bytes[MAX_NAME + SLACK];
  u32 length;
  // The object that it is a member of; NOWHERE for the entry itself.
  u8 container;
  // It is an object that holds named members, and some that are covered.
  bool is_container;
  bool holds_covered;
  // By the part of the preimage that writes the entry.
  bool written;
  // By another part, or it is the digest or the seal itself.
  bool covered;
  // The bits of the groups that it is of; see `groups`.
  u8 group;
};

static struct named named[MAX_NAMED];
static u32 named_count;
// Of each of these groups, a bit each, an entry should have a member.
static u8 groups;
// Of the named members of the entry that is read: their values, nothing where they are absent.
static struct text values[MAX_NAMED];
static const u8 NOTHING[SLACK];
static const struct text NO_NAME = {NOTHING, 0};
// What is not hashed of the entries of a run, each thing once: at which entry first, and what; of a member, where in
// `input` its name is, and the row of the member that it is in.
u32 unhashed[MAX_UNHASHED][UNHASHED_WORDS];
static u32 unhashed_count;
static const u8 *unhashed_base;
// The number of the entry that is read.
static u32 unhashed_entry;

// False where there is no room.
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

// Whether the preimage writes the entry, and of that only the named members that it is told to.
static bool writes_entry;
static bool writes_chosen;

// The members of entries in the order in which they came last: what is known of them is used again while they come so.
static struct {
  u32 count;
  struct part names[MAX_SORTED_MEMBERS];
  u8 name_bytes[MAX_SORTED_MEMBERS][MAX_NAME];
  // Those that are written, in the order in which they are.
  u8 order[MAX_SORTED_MEMBERS];
  u32 order_count;
  u8 member_of[MAX_NAMED];
  // Those that are not hashed, and whether this run has noted them.
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

// False when the names say nothing certain: one is there twice, or they are too many or too long.
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
    // Where a part is covered it depends on the other members, which may differ from entry to entry.
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

// Notes what of the entry's members is not hashed, as far as their names alone say it.
static SELDOM bool note_members(const struct part *members) {
  for (u32 i = 0; i < shape.unhashed_count; i++)
    if (!note_unhashed(OF_MEMBER, NOWHERE, members[shape.unhashed[i]].name)) return false;
  shape.is_noted = true;
  return true;
}

// Reads the members of an object that holds named ones, and notes those that are not hashed.
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

// Takes down the values of an entry's named members, and notes what is not hashed of it.
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

#ifndef HMAC_H
#define HMAC_H
// HMAC (RFC 2104) of many messages at once. Keeps the states after a key's inner and outer block instead of the key.
#include "form.h"
#include "hash.h"

#define MAX_KEYS 64
#define MAX_KEY_ID 512

struct key {
  u8 id[MAX_KEY_ID + SLACK];
  u32 id_length;
  u8 inner[STATE_BYTES] __attribute__((aligned(16)));
  u8 outer[STATE_BYTES] __attribute__((aligned(16)));
};

struct keys {
  struct key of[MAX_KEYS];
  // True for each key that an accepted entry of the last run uses.
  bool used[MAX_KEYS];
  u32 count;
};

// Room for the text of a digest, or for an outer block, with its padding.
#define SHORT_TEXT 512

static inline void forget_used(struct keys *keys) {
  for (u32 i = 0; i < keys->count; i++) keys->used[i] = false;
}

static void forget_keys(struct keys *keys) {
  zero(keys->of, keys->count * sizeof *keys->of);
  keys->count = 0;
}

static void state_behind(enum algorithm algorithm, const u8 *block, u8 to[STATE_BYTES]) {
  u8 state[1][MAX_DIGEST];
  const struct message message = {block, 1, initial_state(algorithm)};
  if (is_512(algorithm)) hash_messages_512(&message, 1, state, true);
  else hash_messages_256(&message, 1, state, true);
  put(to, state[0], STATE_BYTES);
  zero(state, sizeof state);
}

// Computes the inner and outer state of a key (RFC 2104 section 2). `secret` is at most one block long.
static void set_key_states(struct key *key, enum algorithm algorithm, const u8 *secret, u32 length) {
  u8 block[MAX_BLOCK];
  for (u32 i = 0; i < MAX_BLOCK; i++) block[i] = (i < length ? secret[i] : 0) ^ 0x36;
  state_behind(algorithm, block, key->inner);
  for (u32 i = 0; i < MAX_BLOCK; i++) block[i] ^= 0x36 ^ 0x5c;
  state_behind(algorithm, block, key->outer);
  zero(block, sizeof block);
}

// Returns the key with the id that a value states, or 0.
static const struct key *find_key(const struct keys *keys, struct text value) {
  for (u32 i = 0; i < keys->count; i++)
    if (means(value, (struct text){keys->of[i].id, keys->of[i].id_length})) return &keys->of[i];
  return 0;
}

// Replaces the digests of the inner messages with the HMACs.
static void hash_outer(enum algorithm algorithm, const struct key *const *keys, u32 count, u8 (*digests)[MAX_DIGEST],
                       u8 (*blocks)[SHORT_TEXT], struct message *messages) {
  for (u32 i = 0; i < count; i++) {
    put(blocks[i], digests[i], MAX_DIGEST);
    pad(blocks[i], digest_bytes(algorithm), block_of(algorithm), algorithm);
    messages[i] = (struct message){blocks[i], 1, keys[i]->outer};
  }
  hash_messages(algorithm, messages, count, digests);
}
#endif

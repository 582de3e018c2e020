#ifndef HMAC_H
#define HMAC_H
// HMAC-SHA-256 (RFC 2104) of the 64 digits of digests: what a seal is made over. The states behind a key's inner and
// outer block are kept, and not the key.
#include "sha256.h"

#define MAX_KEYS 64
#define MAX_KEY_ID 512

struct key {
  // As it stands in an entry: a string in RFC 8785 form, with its quotes.
  u8 id[MAX_KEY_ID];
  u32 id_length;
  u32 inner[8];
  u32 outer[8];
};

static struct key keys[MAX_KEYS];
static u32 key_count;

static void state_behind(const u8 block[BLOCK], u32 to[8]) {
  v128_t state[8], w[16];
  const u8 *const at[LANES] = {block, block, block, block};
  for (u32 i = 0; i < 8; i++) state[i] = wasm_i32x4_splat((int)INITIAL_STATE[i]);
  load_words(w, at);
  compress(state, w);
  for (u32 i = 0; i < 8; i++) to[i] = ((u32 *)state)[4 * i];
  zero(state, sizeof state);
  zero(w, sizeof w);
}

// RFC 2104 section 2; `secret` has at most 64 bytes, and `block` is 64 bytes.
static void set_key_states(struct key *key, const u8 *secret, u32 length) {
  u8 block[BLOCK];
  for (u32 i = 0; i < BLOCK; i++) block[i] = (i < length ? secret[i] : 0) ^ 0x36;
  state_behind(block, key->inner);
  for (u32 i = 0; i < BLOCK; i++) block[i] ^= 0x36 ^ 0x5c;
  state_behind(block, key->outer);
  zero(block, sizeof block);
}

// A seal to check: 64 digits each.
struct seal {
  const u8 *digest;
  const u8 *stated;
  const struct key *key;
};

static void load_states(v128_t state[8], const struct seal seals[LANES], bool outer) {
  const u32 *lanes[LANES];
  for (u32 i = 0; i < LANES; i++) lanes[i] = outer ? seals[i].key->outer : seals[i].key->inner;
  for (u32 half = 0; half < 8; half += 4) {
    for (u32 i = 0; i < LANES; i++) state[half + i] = wasm_v128_load(lanes[i] + half);
    transpose(state + half);
  }
}

// What stands behind `bytes` of text in a message whose first block was the key's (FIPS 180-4 section 5.1.1).
static void pad_words(v128_t w[16], u32 bytes) {
  for (u32 i = bytes % BLOCK / 4; i < 15; i++) w[i] = wasm_i32x4_const_splat(0);
  w[bytes % BLOCK / 4] = wasm_i32x4_const_splat((int)0x80000000);
  w[15] = wasm_i32x4_splat((int)((BLOCK + bytes) * 8));
}

// The seals that the four keys make, 32 bytes each.
static void make_seals(const struct seal seals[LANES], u8 to[LANES][32]) {
  v128_t state[8], w[16];
  const u8 *const at[LANES] = {seals[0].digest, seals[1].digest, seals[2].digest, seals[3].digest};
  load_states(state, seals, false);
  load_words(w, at);
  compress(state, w);
  pad_words(w, 64);
  compress(state, w);
  for (u32 i = 0; i < 8; i++) w[i] = state[i];
  pad_words(w, 32);
  load_states(state, seals, true);
  compress(state, w);
  for (u32 lane = 0; lane < LANES; lane++) store_digest(state, lane, to[lane]);
}
#endif

#ifndef HASH_H
#define HASH_H
// Hashes many messages, as many at once as the hash has lanes.
#include "sha256.h"
#include "sha512.h"

#define MAX_BLOCK 128
#define MAX_DIGEST 64
#define STATE_BYTES 64

static inline bool is_512(enum algorithm algorithm) { return algorithm != SHA_256; }
static inline u32 block_of(enum algorithm algorithm) { return is_512(algorithm) ? BLOCK_512 : BLOCK_256; }
static inline u32 digest_bytes(enum algorithm algorithm) { return algorithm == SHA_256 ? 32 : algorithm == SHA_384 ? 48 : 64; }

static inline const u8 *initial_state(enum algorithm algorithm) {
  if (algorithm == SHA_256) return (const u8 *)INITIAL_STATE;
  return (const u8 *)(algorithm == SHA_384 ? INITIAL_STATE_384 : INITIAL_STATE_512);
}

// Padded message of whole blocks. `state` is the state of the hash before the first of these blocks.
struct message {
  const u8 *at;
  u32 blocks;
  const u8 *state;
};

// Pads a text in place (FIPS 180-4 section 5.1) and returns its number of blocks. Overwrites up to 16 bytes after the
// last block. `before` is the number of message bytes that the state already includes.
static inline u32 pad(u8 *text, u32 length, u32 before, enum algorithm algorithm) {
  u32 block = block_of(algorithm), blocks = (length + block / 8) / block + 1;
  u8 *end = text + blocks * block;
  u8 *at = text + length;
  *at++ = 0x80;
  for (; at < end; at += 16) wasm_v128_store(at, wasm_i64x2_const_splat(0));
  u64 bits = (u64)(before + length) * 8;
  for (u32 i = 1; i <= 5; i++, bits >>= 8) end[-(int)i] = (u8)bits;
  return blocks;
}

// Stores the words of one lane as the bytes of a digest or, with `as_state`, unchanged.
static inline void store_256(const v128_t state[8], u32 lane, u8 *to, bool as_state) {
  const u32 *words = (const u32 *)state;
  v128_t first = wasm_u32x4_make(words[lane], words[4 + lane], words[8 + lane], words[12 + lane]);
  v128_t second = wasm_u32x4_make(words[16 + lane], words[20 + lane], words[24 + lane], words[28 + lane]);
  wasm_v128_store(to, as_state ? first : big_endian(first));
  wasm_v128_store(to + 16, as_state ? second : big_endian(second));
}

static inline void store_512(const v128_t state[8], u32 lane, u8 *to, bool as_state) {
  for (u32 i = 0; i < 8; i += 2) {
    const u64 *words = (const u64 *)state;
    v128_t pair = wasm_u64x2_make(words[2 * i + lane], words[2 * i + 2 + lane]);
    wasm_v128_store(to + 8 * i, as_state ? pair : big_endian_64(pair));
  }
}

// Defines a function that hashes `count` messages into `to`, MAX_DIGEST bytes each. A lane that has finished a message
// takes the next one. Wipes the working state, which may derive from a key.
#define DEFINE_HASH_MESSAGES(name, WORD, LANE_COUNT, BLOCK_BYTES, LOAD_WORDS, COMPRESS, STORE)             \
  static void name(const struct message *messages, u32 count, u8 (*to)[MAX_DIGEST], bool as_state) {       \
    static const u8 idle[BLOCK_BYTES];                                                                     \
    v128_t state[8], w[16];                                                                                \
    const u8 *at[LANE_COUNT];                                                                              \
    u32 left[LANE_COUNT] = {0}, job[LANE_COUNT], next = 0, done = 0;                                       \
    for (;;) {                                                                                             \
      u32 steps = 0xffffffff;                                                                              \
      for (u32 lane = 0; lane < LANE_COUNT; lane++) {                                                      \
        if (left[lane] == 0) {                                                                             \
          at[lane] = idle;                                                                                 \
          if (next == count) continue;                                                                     \
          const WORD *from = (const WORD *)messages[next].state;                                           \
          for (u32 i = 0; i < 8; i++) ((WORD *)state)[LANE_COUNT * i + lane] = from[i];                    \
          at[lane] = messages[next].at;                                                                    \
          left[lane] = messages[next].blocks;                                                              \
          job[lane] = next++;                                                                              \
        }                                                                                                  \
        if (left[lane] < steps) steps = left[lane];                                                        \
      }                                                                                                    \
      if (done == count) break;                                                                            \
      for (u32 step = 0; step < steps; step++) {                                                           \
        LOAD_WORDS(w, at);                                                                                 \
        COMPRESS(state, w);                                                                                \
        for (u32 lane = 0; lane < LANE_COUNT; lane++)                                                      \
          if (left[lane] > 0) at[lane] += BLOCK_BYTES;                                                     \
      }                                                                                                    \
      for (u32 lane = 0; lane < LANE_COUNT; lane++) {                                                      \
        if (left[lane] == 0) continue;                                                                     \
        left[lane] -= steps;                                                                               \
        if (left[lane] > 0) continue;                                                                      \
        STORE(state, lane, to[job[lane]], as_state);                                                       \
        done++;                                                                                            \
      }                                                                                                    \
    }                                                                                                      \
    zero(state, sizeof state);                                                                             \
    zero(w, sizeof w);                                                                                     \
  }

DEFINE_HASH_MESSAGES(hash_messages_256, u32, LANES, BLOCK_256, load_words, compress, store_256)
DEFINE_HASH_MESSAGES(hash_messages_512, u64, LANES_512, BLOCK_512, load_words_512, compress_512, store_512)

static void hash_messages(enum algorithm algorithm, const struct message *messages, u32 count, u8 (*to)[MAX_DIGEST]) {
  if (is_512(algorithm)) hash_messages_512(messages, count, to, false);
  else hash_messages_256(messages, count, to, false);
}
#endif

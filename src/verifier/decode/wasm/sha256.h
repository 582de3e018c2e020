#ifndef SHA256_H
#define SHA256_H
// SHA-256 (FIPS 180-4) of four messages at once, one in each lane of a vector.
#include "bytes.h"

#define BLOCK_256 64
#define LANES 4

static const u32 INITIAL_STATE[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

#define FOUR(word) {word, word, word, word}
static const u32 ROUND_CONSTANTS[64][LANES] __attribute__((aligned(16))) = {
    FOUR(0x428a2f98), FOUR(0x71374491), FOUR(0xb5c0fbcf), FOUR(0xe9b5dba5), FOUR(0x3956c25b), FOUR(0x59f111f1),
    FOUR(0x923f82a4), FOUR(0xab1c5ed5), FOUR(0xd807aa98), FOUR(0x12835b01), FOUR(0x243185be), FOUR(0x550c7dc3),
    FOUR(0x72be5d74), FOUR(0x80deb1fe), FOUR(0x9bdc06a7), FOUR(0xc19bf174), FOUR(0xe49b69c1), FOUR(0xefbe4786),
    FOUR(0x0fc19dc6), FOUR(0x240ca1cc), FOUR(0x2de92c6f), FOUR(0x4a7484aa), FOUR(0x5cb0a9dc), FOUR(0x76f988da),
    FOUR(0x983e5152), FOUR(0xa831c66d), FOUR(0xb00327c8), FOUR(0xbf597fc7), FOUR(0xc6e00bf3), FOUR(0xd5a79147),
    FOUR(0x06ca6351), FOUR(0x14292967), FOUR(0x27b70a85), FOUR(0x2e1b2138), FOUR(0x4d2c6dfc), FOUR(0x53380d13),
    FOUR(0x650a7354), FOUR(0x766a0abb), FOUR(0x81c2c92e), FOUR(0x92722c85), FOUR(0xa2bfe8a1), FOUR(0xa81a664b),
    FOUR(0xc24b8b70), FOUR(0xc76c51a3), FOUR(0xd192e819), FOUR(0xd6990624), FOUR(0xf40e3585), FOUR(0x106aa070),
    FOUR(0x19a4c116), FOUR(0x1e376c08), FOUR(0x2748774c), FOUR(0x34b0bcb5), FOUR(0x391c0cb3), FOUR(0x4ed8aa4a),
    FOUR(0x5b9cca4f), FOUR(0x682e6ff3), FOUR(0x748f82ee), FOUR(0x78a5636f), FOUR(0x84c87814), FOUR(0x8cc70208),
    FOUR(0x90befffa), FOUR(0xa4506ceb), FOUR(0xbef9a3f7), FOUR(0xc67178f2),
};

#define SHIFT_RIGHT(x, n) wasm_u32x4_shr(x, n)
#define ROTATE(x, n) wasm_v128_or(wasm_u32x4_shr(x, n), wasm_i32x4_shl(x, 32 - (n)))
#define XOR3(a, b, c) wasm_v128_xor(wasm_v128_xor(a, b), c)
#define ADD(a, b) wasm_i32x4_add(a, b)

// Round of FIPS 180-4 section 4.1.2, with Maj as ((a ^ b) & (b ^ c)) ^ b, whose a ^ b is the next round's b ^ c. The
// empty assembly keeps the computations of each round together; otherwise the compiler interleaves rounds until it runs
// out of registers.
#define ROUND(a, b, c, d, e, f, g, h, word, round)                                                          \
  do {                                                                                                      \
    v128_t choice = wasm_v128_xor(wasm_v128_and(wasm_v128_xor(f, g), e), g);                                \
    v128_t sum = ADD(ADD(h, ADD(word, wasm_v128_load(constants[round]))),                                   \
                     ADD(choice, XOR3(ROTATE(e, 6), ROTATE(e, 11), ROTATE(e, 25))));                        \
    d = ADD(d, sum);                                                                                        \
    STANDS_HERE("+r"(sum), "+r"(d));                                                                        \
    v128_t a_xor_b = wasm_v128_xor(a, b);                                                                   \
    v128_t majority = wasm_v128_xor(wasm_v128_and(a_xor_b, b_xor_c), b);                                    \
    b_xor_c = a_xor_b;                                                                                      \
    h = ADD(ADD(sum, majority), XOR3(ROTATE(a, 2), ROTATE(a, 13), ROTATE(a, 22)));                          \
    STANDS_HERE("+r"(h));                                                                                   \
  } while (0)

#define PINNED(word)                                                                                        \
  ({                                                                                                        \
    v128_t pinned = word;                                                                                   \
    STANDS_HERE("+r"(pinned));                                                                              \
    pinned;                                                                                                 \
  })

#define NEXT_WORD(i)                                                                                        \
  (w[(i) & 15] = PINNED(ADD(ADD(w[(i) & 15], w[((i) + 9) & 15]),                                            \
                     ADD(XOR3(ROTATE(w[((i) + 1) & 15], 7), ROTATE(w[((i) + 1) & 15], 18),                  \
                              SHIFT_RIGHT(w[((i) + 1) & 15], 3)),                                           \
                         XOR3(ROTATE(w[((i) + 14) & 15], 17), ROTATE(w[((i) + 14) & 15], 19),               \
                              SHIFT_RIGHT(w[((i) + 14) & 15], 10))))))

#define EIGHT_ROUNDS(i, WORD)                                                                               \
  ROUND(a, b, c, d, e, f, g, h, WORD((i) + 0), (i) + 0);                                                    \
  ROUND(h, a, b, c, d, e, f, g, WORD((i) + 1), (i) + 1);                                                    \
  ROUND(g, h, a, b, c, d, e, f, WORD((i) + 2), (i) + 2);                                                    \
  ROUND(f, g, h, a, b, c, d, e, WORD((i) + 3), (i) + 3);                                                    \
  ROUND(e, f, g, h, a, b, c, d, WORD((i) + 4), (i) + 4);                                                    \
  ROUND(d, e, f, g, h, a, b, c, WORD((i) + 5), (i) + 5);                                                    \
  ROUND(c, d, e, f, g, h, a, b, WORD((i) + 6), (i) + 6);                                                    \
  ROUND(b, c, d, e, f, g, h, a, WORD((i) + 7), (i) + 7)

#define GIVEN_WORD(i) w[i]

// Compresses one block in each lane (FIPS 180-4 section 6.2.2).
static __attribute__((noinline)) void compress(v128_t state[8], const v128_t words[16]) {
  v128_t a = state[0], b = state[1], c = state[2], d = state[3];
  v128_t e = state[4], f = state[5], g = state[6], h = state[7];
  v128_t b_xor_c = wasm_v128_xor(b, c), w[16];
  for (u32 i = 0; i < 16; i++) w[i] = words[i];
  // Hidden from the compiler so that it loads the constants: V8 compiles a constant in the code to three instructions.
  const u32 (*constants)[LANES] = ROUND_CONSTANTS;
  __asm__("" : "+r"(constants));
  EIGHT_ROUNDS(0, GIVEN_WORD);
  EIGHT_ROUNDS(8, GIVEN_WORD);
  EIGHT_ROUNDS(16, NEXT_WORD);
  EIGHT_ROUNDS(24, NEXT_WORD);
  EIGHT_ROUNDS(32, NEXT_WORD);
  EIGHT_ROUNDS(40, NEXT_WORD);
  EIGHT_ROUNDS(48, NEXT_WORD);
  EIGHT_ROUNDS(56, NEXT_WORD);
  state[0] = ADD(state[0], a), state[1] = ADD(state[1], b), state[2] = ADD(state[2], c), state[3] = ADD(state[3], d);
  state[4] = ADD(state[4], e), state[5] = ADD(state[5], f), state[6] = ADD(state[6], g), state[7] = ADD(state[7], h);
}

static inline v128_t big_endian(v128_t words) {
  return wasm_i8x16_shuffle(words, words, 3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12);
}

// Transposes four rows of four words.
static inline void transpose(v128_t rows[4]) {
  v128_t low01 = wasm_i32x4_shuffle(rows[0], rows[1], 0, 4, 1, 5), high01 = wasm_i32x4_shuffle(rows[0], rows[1], 2, 6, 3, 7);
  v128_t low23 = wasm_i32x4_shuffle(rows[2], rows[3], 0, 4, 1, 5), high23 = wasm_i32x4_shuffle(rows[2], rows[3], 2, 6, 3, 7);
  rows[0] = wasm_i64x2_shuffle(low01, low23, 0, 2);
  rows[1] = wasm_i64x2_shuffle(low01, low23, 1, 3);
  rows[2] = wasm_i64x2_shuffle(high01, high23, 0, 2);
  rows[3] = wasm_i64x2_shuffle(high01, high23, 1, 3);
}

// Loads the words of the block at each lane's address.
static inline void load_words(v128_t w[16], const u8 *const at[LANES]) {
  for (u32 i = 0; i < 4; i++) {
    for (u32 lane = 0; lane < LANES; lane++) w[4 * i + lane] = big_endian(wasm_v128_load(at[lane] + 16 * i));
    transpose(w + 4 * i);
  }
}
#endif

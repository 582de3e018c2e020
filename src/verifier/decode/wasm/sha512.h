#ifndef SHA512_H
#define SHA512_H
// SHA-512 and SHA-384 (FIPS 180-4) of two messages at once, one in each lane of a vector. Names that follow those of
// sha256.h have the same meaning, for words of 64 bits.
#include "bytes.h"

#define BLOCK_512 128
#define LANES_512 2

static const u64 INITIAL_STATE_512[8] = {
    0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
    0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};
static const u64 INITIAL_STATE_384[8] = {
    0xcbbb9d5dc1059ed8, 0x629a292a367cd507, 0x9159015a3070dd17, 0x152fecd8f70e5939,
    0x67332667ffc00b31, 0x8eb44a8768581511, 0xdb0c2e0d64f98fa7, 0x47b5481dbefa4fa4};

#define BOTH(word) {word, word}
__attribute__((weak, aligned(16))) const u64 ROUND_CONSTANTS_512[80][LANES_512] = {
    BOTH(0x428a2f98d728ae22), BOTH(0x7137449123ef65cd), BOTH(0xb5c0fbcfec4d3b2f), BOTH(0xe9b5dba58189dbbc),
    BOTH(0x3956c25bf348b538), BOTH(0x59f111f1b605d019), BOTH(0x923f82a4af194f9b), BOTH(0xab1c5ed5da6d8118),
    BOTH(0xd807aa98a3030242), BOTH(0x12835b0145706fbe), BOTH(0x243185be4ee4b28c), BOTH(0x550c7dc3d5ffb4e2),
    BOTH(0x72be5d74f27b896f), BOTH(0x80deb1fe3b1696b1), BOTH(0x9bdc06a725c71235), BOTH(0xc19bf174cf692694),
    BOTH(0xe49b69c19ef14ad2), BOTH(0xefbe4786384f25e3), BOTH(0x0fc19dc68b8cd5b5), BOTH(0x240ca1cc77ac9c65),
    BOTH(0x2de92c6f592b0275), BOTH(0x4a7484aa6ea6e483), BOTH(0x5cb0a9dcbd41fbd4), BOTH(0x76f988da831153b5),
    BOTH(0x983e5152ee66dfab), BOTH(0xa831c66d2db43210), BOTH(0xb00327c898fb213f), BOTH(0xbf597fc7beef0ee4),
    BOTH(0xc6e00bf33da88fc2), BOTH(0xd5a79147930aa725), BOTH(0x06ca6351e003826f), BOTH(0x142929670a0e6e70),
    BOTH(0x27b70a8546d22ffc), BOTH(0x2e1b21385c26c926), BOTH(0x4d2c6dfc5ac42aed), BOTH(0x53380d139d95b3df),
    BOTH(0x650a73548baf63de), BOTH(0x766a0abb3c77b2a8), BOTH(0x81c2c92e47edaee6), BOTH(0x92722c851482353b),
    BOTH(0xa2bfe8a14cf10364), BOTH(0xa81a664bbc423001), BOTH(0xc24b8b70d0f89791), BOTH(0xc76c51a30654be30),
    BOTH(0xd192e819d6ef5218), BOTH(0xd69906245565a910), BOTH(0xf40e35855771202a), BOTH(0x106aa07032bbd1b8),
    BOTH(0x19a4c116b8d2d0c8), BOTH(0x1e376c085141ab53), BOTH(0x2748774cdf8eeb99), BOTH(0x34b0bcb5e19b48a8),
    BOTH(0x391c0cb3c5c95a63), BOTH(0x4ed8aa4ae3418acb), BOTH(0x5b9cca4f7763e373), BOTH(0x682e6ff3d6b2b8a3),
    BOTH(0x748f82ee5defb2fc), BOTH(0x78a5636f43172f60), BOTH(0x84c87814a1f0ab72), BOTH(0x8cc702081a6439ec),
    BOTH(0x90befffa23631e28), BOTH(0xa4506cebde82bde9), BOTH(0xbef9a3f7b2c67915), BOTH(0xc67178f2e372532b),
    BOTH(0xca273eceea26619c), BOTH(0xd186b8c721c0c207), BOTH(0xeada7dd6cde0eb1e), BOTH(0xf57d4f7fee6ed178),
    BOTH(0x06f067aa72176fba), BOTH(0x0a637dc5a2c898a6), BOTH(0x113f9804bef90dae), BOTH(0x1b710b35131c471b),
    BOTH(0x28db77f523047d84), BOTH(0x32caab7b40c72493), BOTH(0x3c9ebe0a15c9bebc), BOTH(0x431d67c49c100d4c),
    BOTH(0x4cc5d4becb3e42b6), BOTH(0x597f299cfc657e2a), BOTH(0x5fcb6fab3ad6faec), BOTH(0x6c44198c4a475817),
};

#define SHIFT_RIGHT_64(x, n) wasm_u64x2_shr(x, n)
#define ROTATE_64(x, n) wasm_v128_or(wasm_u64x2_shr(x, n), wasm_i64x2_shl(x, 64 - (n)))
#define ADD_64(a, b) wasm_i64x2_add(a, b)

// Round of FIPS 180-4 section 4.1.3.
#define ROUND_64(a, b, c, d, e, f, g, h, word, round)                                                            \
  do {                                                                                                           \
    v128_t choice = wasm_v128_xor(wasm_v128_and(wasm_v128_xor(f, g), e), g);                                     \
    v128_t sum = ADD_64(ADD_64(h, ADD_64(word, wasm_v128_load(ROUND_CONSTANTS_512[round]))),                     \
                        ADD_64(choice, XOR3(ROTATE_64(e, 14), ROTATE_64(e, 18), ROTATE_64(e, 41))));             \
    v128_t a_xor_b = wasm_v128_xor(a, b);                                                                        \
    v128_t majority = wasm_v128_xor(wasm_v128_and(a_xor_b, b_xor_c), b);                                         \
    b_xor_c = a_xor_b;                                                                                           \
    d = ADD_64(d, sum);                                                                                          \
    h = ADD_64(ADD_64(sum, majority), XOR3(ROTATE_64(a, 28), ROTATE_64(a, 34), ROTATE_64(a, 39)));               \
  } while (0)

#define NEXT_WORD_64(i)                                                                                          \
  (w[(i) & 15] = ADD_64(ADD_64(w[(i) & 15], w[((i) + 9) & 15]),                                                  \
                        ADD_64(XOR3(ROTATE_64(w[((i) + 1) & 15], 1), ROTATE_64(w[((i) + 1) & 15], 8),            \
                                    SHIFT_RIGHT_64(w[((i) + 1) & 15], 7)),                                       \
                               XOR3(ROTATE_64(w[((i) + 14) & 15], 19), ROTATE_64(w[((i) + 14) & 15], 61),        \
                                    SHIFT_RIGHT_64(w[((i) + 14) & 15], 6)))))

#define EIGHT_ROUNDS_64(i, WORD)                                                                                 \
  ROUND_64(a, b, c, d, e, f, g, h, WORD((i) + 0), (i) + 0);                                                      \
  ROUND_64(h, a, b, c, d, e, f, g, WORD((i) + 1), (i) + 1);                                                      \
  ROUND_64(g, h, a, b, c, d, e, f, WORD((i) + 2), (i) + 2);                                                      \
  ROUND_64(f, g, h, a, b, c, d, e, WORD((i) + 3), (i) + 3);                                                      \
  ROUND_64(e, f, g, h, a, b, c, d, WORD((i) + 4), (i) + 4);                                                      \
  ROUND_64(d, e, f, g, h, a, b, c, WORD((i) + 5), (i) + 5);                                                      \
  ROUND_64(c, d, e, f, g, h, a, b, WORD((i) + 6), (i) + 6);                                                      \
  ROUND_64(b, c, d, e, f, g, h, a, WORD((i) + 7), (i) + 7)

// Compresses one block in each lane (FIPS 180-4 section 6.4.2). Overwrites its words in `w`.
static __attribute__((noinline)) void compress_512(v128_t state[8], v128_t w[16]) {
  v128_t a = state[0], b = state[1], c = state[2], d = state[3];
  v128_t e = state[4], f = state[5], g = state[6], h = state[7];
  v128_t b_xor_c = wasm_v128_xor(b, c);
  EIGHT_ROUNDS_64(0, GIVEN_WORD);
  EIGHT_ROUNDS_64(8, GIVEN_WORD);
  EIGHT_ROUNDS_64(16, NEXT_WORD_64);
  EIGHT_ROUNDS_64(24, NEXT_WORD_64);
  EIGHT_ROUNDS_64(32, NEXT_WORD_64);
  EIGHT_ROUNDS_64(40, NEXT_WORD_64);
  EIGHT_ROUNDS_64(48, NEXT_WORD_64);
  EIGHT_ROUNDS_64(56, NEXT_WORD_64);
  EIGHT_ROUNDS_64(64, NEXT_WORD_64);
  EIGHT_ROUNDS_64(72, NEXT_WORD_64);
  state[0] = ADD_64(state[0], a), state[1] = ADD_64(state[1], b), state[2] = ADD_64(state[2], c);
  state[3] = ADD_64(state[3], d), state[4] = ADD_64(state[4], e), state[5] = ADD_64(state[5], f);
  state[6] = ADD_64(state[6], g), state[7] = ADD_64(state[7], h);
}

static inline v128_t big_endian_64(v128_t words) {
  return wasm_i8x16_shuffle(words, words, 7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8);
}

static inline void load_words_512(v128_t w[16], const u8 *const at[LANES_512]) {
  for (u32 i = 0; i < 8; i++) {
    v128_t one = big_endian_64(wasm_v128_load(at[0] + 16 * i)), other = big_endian_64(wasm_v128_load(at[1] + 16 * i));
    w[2 * i] = wasm_i64x2_shuffle(one, other, 0, 2);
    w[2 * i + 1] = wasm_i64x2_shuffle(one, other, 1, 3);
  }
}
#endif

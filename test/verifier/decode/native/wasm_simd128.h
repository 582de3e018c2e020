// The intrinsics of WebAssembly's SIMD that the decoder uses, for a native build: plain loops over lanes, which sanitizers
// see through. Named as clang's header, in whose place it is included.
#ifndef WASM_SIMD128_H
#define WASM_SIMD128_H
#include <stdint.h>
#include <string.h>

typedef uint32_t v128_t __attribute__((vector_size(16)));
typedef uint8_t u8x16_ __attribute__((vector_size(16)));
typedef int8_t i8x16_ __attribute__((vector_size(16)));
typedef uint16_t u16x8_ __attribute__((vector_size(16)));
typedef int16_t i16x8_ __attribute__((vector_size(16)));
typedef uint64_t u64x2_ __attribute__((vector_size(16)));

#define LANES_(type, from, result, expression)                                              \
  type in_ = (type)(from), out_ = {0};                                                      \
  for (int i = 0; i < (int)(sizeof in_ / sizeof in_[0]); i++) out_[i] = (expression);       \
  return (result)out_

static inline v128_t wasm_v128_load(const void *at) {
  v128_t value;
  memcpy(&value, at, sizeof value);
  return value;
}
static inline void wasm_v128_store(void *at, v128_t value) { memcpy(at, &value, sizeof value); }

static inline v128_t wasm_v128_and(v128_t a, v128_t b) { return a & b; }
static inline v128_t wasm_v128_or(v128_t a, v128_t b) { return a | b; }
static inline v128_t wasm_v128_xor(v128_t a, v128_t b) { return a ^ b; }
static inline v128_t wasm_v128_bitselect(v128_t a, v128_t b, v128_t mask) { return (a & mask) | (b & ~mask); }
static inline int wasm_v128_any_true(v128_t a) { return (a[0] | a[1] | a[2] | a[3]) != 0; }

static inline v128_t wasm_i32x4_add(v128_t a, v128_t b) { return a + b; }
static inline v128_t wasm_i32x4_shl(v128_t a, uint32_t n) { return a << (n & 31); }
static inline v128_t wasm_u32x4_shr(v128_t a, uint32_t n) { return a >> (n & 31); }
static inline v128_t wasm_i64x2_add(v128_t a, v128_t b) { return (v128_t)((u64x2_)a + (u64x2_)b); }
static inline v128_t wasm_i64x2_shl(v128_t a, uint32_t n) { return (v128_t)((u64x2_)a << (n & 63)); }
static inline v128_t wasm_u64x2_shr(v128_t a, uint32_t n) { return (v128_t)((u64x2_)a >> (n & 63)); }
static inline v128_t wasm_i8x16_sub(v128_t a, v128_t b) { return (v128_t)((u8x16_)a - (u8x16_)b); }
static inline v128_t wasm_i8x16_add(v128_t a, v128_t b) { return (v128_t)((u8x16_)a + (u8x16_)b); }
static inline v128_t wasm_i16x8_shl(v128_t a, uint32_t n) { return (v128_t)((u16x8_)a << (uint16_t)(n & 15)); }
static inline v128_t wasm_u16x8_shr(v128_t a, uint32_t n) { return (v128_t)((u16x8_)a >> (uint16_t)(n & 15)); }

static inline v128_t wasm_i8x16_eq(v128_t a, v128_t b) { LANES_(u8x16_, a, v128_t, in_[i] == ((u8x16_)b)[i] ? 255 : 0); }
static inline v128_t wasm_i8x16_lt(v128_t a, v128_t b) { LANES_(i8x16_, a, v128_t, in_[i] < ((i8x16_)b)[i] ? -1 : 0); }
static inline v128_t wasm_u8x16_le(v128_t a, v128_t b) { LANES_(u8x16_, a, v128_t, in_[i] <= ((u8x16_)b)[i] ? 255 : 0); }
// Saturates: below zero is 0, above 255 is 255.
static inline v128_t wasm_u8x16_narrow_i16x8(v128_t a, v128_t b) {
  u8x16_ out = {0};
  for (int i = 0; i < 16; i++) {
    int16_t lane = i < 8 ? ((i16x8_)a)[i] : ((i16x8_)b)[i - 8];
    out[i] = lane < 0 ? 0 : lane > 255 ? 255 : (uint8_t)lane;
  }
  return (v128_t)out;
}
#define wasm_v128_store64_lane(at, a, lane)    \
  do {                                         \
    uint64_t lane_ = ((u64x2_)(a))[lane];      \
    memcpy((at), &lane_, sizeof lane_);        \
  } while (0)
static inline uint32_t wasm_i8x16_bitmask(v128_t a) {
  uint32_t bits = 0;
  for (int i = 0; i < 16; i++) bits |= (uint32_t)(((u8x16_)a)[i] >> 7) << i;
  return bits;
}
static inline int wasm_i8x16_all_true(v128_t a) {
  for (int i = 0; i < 16; i++)
    if (((u8x16_)a)[i] == 0) return 0;
  return 1;
}

#define wasm_u8x16_make(...) ((v128_t)(u8x16_){__VA_ARGS__})
#define wasm_u32x4_make(...) ((v128_t){__VA_ARGS__})
#define wasm_u64x2_make(...) ((v128_t)(u64x2_){__VA_ARGS__})
static inline v128_t wasm_u8x16_splat(uint8_t a) { return wasm_u8x16_make(a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a); }
#define wasm_i8x16_const_splat(a) wasm_u8x16_splat((uint8_t)(a))
#define wasm_u8x16_const_splat(a) wasm_u8x16_splat((uint8_t)(a))
#define wasm_i16x8_const_splat(a) ((v128_t)((u16x8_){0} + (uint16_t)(a)))
#define wasm_i64x2_const_splat(a) wasm_u64x2_make((uint64_t)(a), (uint64_t)(a))

#define wasm_i8x16_shuffle(a, b, ...) ((v128_t)__builtin_shufflevector((u8x16_)(a), (u8x16_)(b), __VA_ARGS__))
#define wasm_i32x4_shuffle(a, b, ...) (__builtin_shufflevector((v128_t)(a), (v128_t)(b), __VA_ARGS__))
#define wasm_i64x2_shuffle(a, b, ...) ((v128_t)__builtin_shufflevector((u64x2_)(a), (u64x2_)(b), __VA_ARGS__))
#endif

#ifndef BYTES_H
#define BYTES_H
// Bytes of linear memory. Buffers that are read or written sixteen bytes at a time have SLACK bytes behind their end.
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <wasm_simd128.h>
#include "layout.h"

typedef uint8_t u8;
typedef uint32_t u32;
typedef uint64_t u64;

struct text {
  const u8 *at;
  u32 length;
};

#define SLACK 128
// V8 compiles a function that is called often with all that was drawn into it, and until that is done it runs slowly. So
// these are compiled apart: what every entry needs, and what few chains call, or seldom.
#define APART __attribute__((noinline))
#define SELDOM __attribute__((noinline))

// A constant that is copied sixteen bytes at a time, though it is shorter.
#define WIDE(text) ((const u8 *)text "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0")

// Up to 15 bytes more are read behind `from`, and overwritten behind the copy.
static inline u8 *put(u8 *to, const u8 *from, u32 length) {
  for (u32 done = 0; done < length; done += 16) wasm_v128_store(to + done, wasm_v128_load(from + done));
  return to + length;
}

static inline bool same(const u8 *a, const u8 *b, u32 length) {
  for (u32 i = 0; i < length; i++)
    if (a[i] != b[i]) return false;
  return true;
}

// The first `count` of sixteen bytes.
static inline v128_t ones(u32 count) {
  static const u8 mask[32] = {255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255};
  return wasm_v128_load(mask + 16 - count);
}

// As `same`, of buffers with SLACK behind their ends.
static inline bool same_wide(const u8 *a, const u8 *b, u32 length) {
  v128_t difference = wasm_i64x2_const_splat(0);
  u32 i = 0;
  for (; i + 16 <= length; i += 16)
    difference = wasm_v128_or(difference, wasm_v128_xor(wasm_v128_load(a + i), wasm_v128_load(b + i)));
  v128_t rest = wasm_v128_xor(wasm_v128_load(a + i), wasm_v128_load(b + i));
  return !wasm_v128_any_true(wasm_v128_or(difference, wasm_v128_and(rest, ones(length - i))));
}

// That a value stands in a register here: how the compiler orders what it computes for WebAssembly.
#ifdef __wasm__
#define STANDS_HERE(...) __asm__ volatile("" : __VA_ARGS__)
#else
#define STANDS_HERE(...) ((void)0)
#endif

static inline void zero(void *bytes, u32 length) {
  for (u32 i = 0; i < length; i++) ((volatile u8 *)bytes)[i] = 0;
}
#endif

#ifndef BYTES_H
#define BYTES_H
// Byte helpers for linear memory. Buffers that are read or written in 16-byte steps have SLACK spare bytes after their
// end.
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
// V8 optimizes a hot function together with everything that is inlined into it, and runs it slowly until then. These
// attributes keep functions out of line: APART those that every entry needs, SELDOM those that few chains call, or that
// rarely run.
#define APART __attribute__((noinline))
#define SELDOM __attribute__((noinline))

// Constant padded with zeros, so that `put` can copy it in 16-byte steps.
#define WIDE(text) ((const u8 *)text "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0")

// Copies `length` bytes in 16-byte steps and returns the end of the copy. Reads up to 15 bytes past the source, and
// overwrites up to 15 bytes past the copy.
static inline u8 *put(u8 *to, const u8 *from, u32 length) {
  for (u32 done = 0; done < length; done += 16) wasm_v128_store(to + done, wasm_v128_load(from + done));
  return to + length;
}

static inline bool same(const u8 *a, const u8 *b, u32 length) {
  for (u32 i = 0; i < length; i++)
    if (a[i] != b[i]) return false;
  return true;
}

// Mask of the first `count` of 16 bytes.
static inline v128_t ones(u32 count) {
  static const u8 mask[32] = {255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255};
  return wasm_v128_load(mask + 16 - count);
}

// Compares as `same` does, in 16-byte steps. Both buffers need SLACK bytes after their ends.
static inline bool same_wide(const u8 *a, const u8 *b, u32 length) {
  v128_t difference = wasm_i64x2_const_splat(0);
  u32 i = 0;
  for (; i + 16 <= length; i += 16)
    difference = wasm_v128_or(difference, wasm_v128_xor(wasm_v128_load(a + i), wasm_v128_load(b + i)));
  v128_t rest = wasm_v128_xor(wasm_v128_load(a + i), wasm_v128_load(b + i));
  return !wasm_v128_any_true(wasm_v128_or(difference, wasm_v128_and(rest, ones(length - i))));
}

// Pins values to registers at this point, which fixes the order in which the compiler computes them for WebAssembly.
#ifdef __wasm__
#define STANDS_HERE(...) __asm__ volatile("" : __VA_ARGS__)
#else
#define STANDS_HERE(...) ((void)0)
#endif

static inline void zero(void *bytes, u32 length) {
  for (u32 i = 0; i < length; i++) ((volatile u8 *)bytes)[i] = 0;
}
#endif

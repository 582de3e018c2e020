#ifndef BYTES_H
#define BYTES_H
// Bytes of linear memory. Buffers that are read or written sixteen bytes at a time have SLACK bytes behind their end.
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <wasm_simd128.h>

typedef uint8_t u8;
typedef uint32_t u32;
typedef uint64_t u64;

#define SLACK 128
#define COUNT(array) (sizeof(array) / sizeof *(array))

// Behind the copy: up to 15 bytes more are overwritten.
static inline u8 *put(u8 *to, const u8 *from, u32 length) {
  for (u32 done = 0; done < length; done += 16) wasm_v128_store(to + done, wasm_v128_load(from + done));
  return to + length;
}

static inline bool same(const u8 *a, const u8 *b, u32 length) {
  for (u32 i = 0; i < length; i++)
    if (a[i] != b[i]) return false;
  return true;
}

static inline bool same_64(const u8 *a, const u8 *b) {
  v128_t difference = wasm_v128_xor(wasm_v128_load(a), wasm_v128_load(b));
  for (u32 i = 16; i < 64; i += 16)
    difference = wasm_v128_or(difference, wasm_v128_xor(wasm_v128_load(a + i), wasm_v128_load(b + i)));
  return !wasm_v128_any_true(difference);
}

static inline void zero(void *bytes, u32 length) {
  for (u32 i = 0; i < length; i++) ((volatile u8 *)bytes)[i] = 0;
}
#endif

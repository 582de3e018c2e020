// The decoder on any bytes, for libFuzzer and sanitizers. An input is: the recipe program (a byte), the place and whether it
// is read in two parts (a byte), and the bytes of entries.
#include <sanitizer/asan_interface.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernel.c"

static void load(const u8 *bytes, u32 length) {
  memset(exchange, 0, EXCHANGE_BYTES);
  memcpy(exchange, bytes, length);
}

// Generated from the contracts of all dialects: `PROGRAMS`, each of which tells the decoder of one.
#include "programs.h"

#define HEADER 2
// Larger inputs may meet what only long ones do: tables that are full.
#define COMPARED_BYTES 16384

#define REQUIRE(condition) \
  do {                     \
    if (!(condition)) {    \
      fprintf(stderr, "broken: %s\n", #condition); \
      abort();             \
    }                      \
  } while (0)

struct taken {
  u32 count;
  u32 start[MAX_ENTRIES];
  double sequence[MAX_ENTRIES];
  u8 digests[MAX_ENTRIES][3][MAX_DIGEST];
};
static struct taken whole, in_parts;

// Behind the bytes that were given and SLACK more, nothing of `input` may be touched.
static void run_exactly(u32 start, u32 end, u32 limit, u32 place) {
  const u8 *behind = input + end + SLACK;
  ASAN_POISON_MEMORY_REGION(behind, (size_t)(input + sizeof input - behind));
  run(start, end, limit, place);
  ASAN_UNPOISON_MEMORY_REGION(input, sizeof input);
}

// What came of a run is within the bytes that it was given, and in order.
static void check_run(u32 start, u32 end, u32 limit) {
  REQUIRE(report[COUNT] <= MAX_ENTRIES && report[UNHASHED_COUNT] <= MAX_UNHASHED);
  REQUIRE(report[STOP] < STOPS && report[PLACE] < PLACES);
  REQUIRE(report[OFFSET] >= start && report[OFFSET] <= end + SLACK);
  u32 behind = start;
  for (u32 i = 0; i < report[COUNT]; i++) {
    REQUIRE(starts[i] >= behind && starts[i] < limit && ends[i] > starts[i] && ends[i] <= end);
    REQUIRE(input[starts[i]] == '{' && input[ends[i] - 1] == '}');
    behind = ends[i];
    if (timestamps[i] == NO_OFFSET) continue;
    REQUIRE(timestamps[i] > starts[i] && timestamps[i] + timestamp_lengths[i] < ends[i]);
  }
  for (u32 i = 0; i < report[UNHASHED_COUNT]; i++)
    REQUIRE(unhashed[i][UNHASHED_NAME] + unhashed[i][UNHASHED_LENGTH] <= end);
}

static void add_taken(struct taken *taken) {
  u32 bytes = digest_bytes(digest_form.algorithm);
  for (u32 i = 0; i < report[COUNT] && taken->count < MAX_ENTRIES; i++, taken->count++) {
    taken->start[taken->count] = starts[i];
    taken->sequence[taken->count] = sequences[i];
    memcpy(taken->digests[taken->count][0], previous + i * bytes, bytes);
    memcpy(taken->digests[taken->count][1], stated + i * bytes, bytes);
    memcpy(taken->digests[taken->count][2], computed + i * bytes, bytes);
  }
}

static void give(const u8 *bytes, u32 length) { memcpy(input, bytes, length); }

// A batch depends on its bytes alone: what is taken in two parts is what is taken at once.
static void check_parts(const u8 *bytes, u32 length, u32 limit, u32 place) {
  in_parts.count = 0;
  give(bytes, length);
  run_exactly(0, length, limit, place);
  check_run(0, length, limit);
  add_taken(&in_parts);
  if (report[STOP] == NEEDS_MORE && report[OFFSET] < length) {
    u32 from = report[OFFSET];
    give(bytes, length);
    run_exactly(from, length, length, report[PLACE]);
    check_run(from, length, length);
    add_taken(&in_parts);
  }
  REQUIRE(in_parts.count == whole.count);
  u32 digest_length = digest_bytes(digest_form.algorithm);
  for (u32 i = 0; i < whole.count; i++) {
    REQUIRE(whole.start[i] == in_parts.start[i] && whole.sequence[i] == in_parts.sequence[i]);
    for (u32 j = 0; j < 3; j++) REQUIRE(same(whole.digests[i][j], in_parts.digests[i][j], digest_length));
  }
}

static void print_taken(void) {
  u32 bytes = digest_bytes(digest_form.algorithm);
  for (u32 i = 0; i < report[COUNT]; i++) {
    printf("%u %u %.0f ", starts[i], ends[i], sequences[i]);
    for (u32 j = 0; j < bytes; j++) printf("%02x", stated[i * bytes + j]);
    printf(" ");
    for (u32 j = 0; j < bytes; j++) printf("%02x", computed[i * bytes + j]);
    printf("\n");
  }
  printf("stop %u\n", report[STOP]);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size) {
  if (size < HEADER || size - HEADER > INPUT_BYTES) return 0;
  PROGRAMS[data[0] % PROGRAM_COUNT]();
  u32 length = (u32)size - HEADER, place = data[1] % PLACES;
  const u8 *bytes = data + HEADER;
  give(bytes, length);
  run_exactly(0, length, length, place);
  check_run(0, length, length);
  if (getenv("PRINT_TAKEN")) print_taken();
  whole.count = 0;
  add_taken(&whole);
  if (length <= COMPARED_BYTES && report[UNHASHED_COUNT] < MAX_UNHASHED)
    check_parts(bytes, length, length / (2 + data[1] / PLACES % 8), place);
  forget();
  return 0;
}

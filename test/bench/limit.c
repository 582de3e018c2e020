/* limit FILE [seal]
 *
 * What verification can cost at least: one thread of C that reads canonical.ndjson, leaves hash and seal out of each
 * line, hashes the rest with libcrypto and compares hash, link and, if asked, seal. It trusts the file's layout and
 * parses nothing, so it is a measure and no verifier. Prints
 *   limit: N entries, B bad, S s, R entries/s, M MB/s
 * and ends with 1 if any is bad.
 *
 * cc -O2 limit.c -lcrypto -o limit
 */
#define _GNU_SOURCE
/* The one-shot and EVP interfaces look the algorithm up for every entry, which would flatter what is measured. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include <fcntl.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define KEY "bench-seal-key"
#define HEX 64
#define BLOCK (1 << 20)
#define LONGEST_LINE (1 << 16)

struct hmac {
  SHA256_CTX inner, outer;
};
struct walk {
  long entries, bad;
  char previous[HEX];
  const struct hmac *key; /* NULL: seals are not looked at */
};

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void to_hex(const unsigned char *digest, char *text) {
  static const char digits[] = "0123456789abcdef";
  for (int i = 0; i < SHA256_DIGEST_LENGTH; i++) {
    text[2 * i] = digits[digest[i] >> 4];
    text[2 * i + 1] = digits[digest[i] & 15];
  }
}

static void begin_with(SHA256_CTX *hash, const char *key, unsigned char pad) {
  unsigned char block[SHA256_CBLOCK];
  memset(block, pad, sizeof block);
  for (size_t i = 0; key[i] != 0; i++) block[i] ^= (unsigned char)key[i];
  SHA256_Init(hash);
  SHA256_Update(hash, block, sizeof block);
}

static int seal_matches(const struct hmac *key, const char *hash, const char *seal) {
  unsigned char digest[SHA256_DIGEST_LENGTH];
  char text[HEX];
  SHA256_CTX part = key->inner;
  SHA256_Update(&part, hash, HEX);
  SHA256_Final(digest, &part);
  part = key->outer;
  SHA256_Update(&part, digest, sizeof digest);
  SHA256_Final(digest, &part);
  to_hex(digest, text);
  return memcmp(text, seal, HEX) == 0;
}

/* The value of the next member so named between `from` and `end`; NULL if there is none. */
static const char *member(const char *from, const char *end, const char *name) {
  size_t length = strlen(name);
  const char *found = from == NULL ? NULL : memmem(from, (size_t)(end - from), name, length);
  return found == NULL || end - found < (long)length + HEX + 1 ? NULL : found + length;
}

static int entry_is_good(struct walk *walk, const char *line, const char *end) {
  static const char hash_name[] = ",\"hash\":\"", seal_name[] = ",\"seal\":\"";
  /* RFC 8785 sorts them: hash, metadata, prev_hash, seal. */
  const char *hash = member(line, end, hash_name);
  const char *previous = member(hash, end, ",\"prev_hash\":\"");
  const char *seal = member(previous, end, seal_name);
  if (seal == NULL) return 0;
  const char *before_hash = hash - (sizeof hash_name - 1), *after_hash = hash + HEX + 1;
  const char *before_seal = seal - (sizeof seal_name - 1), *after_seal = seal + HEX + 1;
  SHA256_CTX content;
  unsigned char digest[SHA256_DIGEST_LENGTH];
  char computed[HEX];
  SHA256_Init(&content);
  SHA256_Update(&content, line, (size_t)(before_hash - line));
  SHA256_Update(&content, after_hash, (size_t)(before_seal - after_hash));
  SHA256_Update(&content, after_seal, (size_t)(end - after_seal));
  SHA256_Final(digest, &content);
  to_hex(digest, computed);
  int good = memcmp(computed, hash, HEX) == 0 && memcmp(previous, walk->previous, HEX) == 0;
  if (walk->key != NULL) good = seal_matches(walk->key, hash, seal) && good;
  memcpy(walk->previous, hash, HEX);
  return good;
}

int main(int count, char **arguments) {
  if (count < 2) return fputs("usage: limit FILE [seal]\n", stderr), 2;
  double began = seconds();
  struct hmac key;
  begin_with(&key.inner, KEY, 0x36);
  begin_with(&key.outer, KEY, 0x5c);
  struct walk walk = {.key = count > 2 ? &key : NULL};
  memset(walk.previous, '0', HEX);
  int file = open(arguments[1], O_RDONLY);
  if (file < 0) return perror(arguments[1]), 2;
  char *buffer = malloc(BLOCK + LONGEST_LINE);
  size_t held = 0;
  long total = 0;
  for (ssize_t got; (got = read(file, buffer + held, BLOCK)) > 0;) {
    total += got;
    const char *line = buffer, *end = buffer + held + got, *newline;
    for (; (newline = memchr(line, '\n', (size_t)(end - line))) != NULL; line = newline + 1) {
      walk.entries++;
      walk.bad += !entry_is_good(&walk, line, newline);
    }
    held = (size_t)(end - line);
    if (held > LONGEST_LINE) return fputs("limit: a line is too long\n", stderr), 2;
    memmove(buffer, line, held);
  }
  double took = seconds() - began;
  printf("limit%s: %ld entries, %ld bad, %.3f s, %.0f entries/s, %.0f MB/s\n", walk.key ? " with seal" : "",
         walk.entries, walk.bad, took, (double)walk.entries / took, (double)total / took / 1e6);
  return walk.bad != 0;
}

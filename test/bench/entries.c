/* entries COUNT FOLDER [ALTERED]
 *
 * One stream of sealed entries in the default contract, sealed with code that shares nothing with the exporter or the
 * platform. Into FOLDER go
 *   canonical.ndjson        an entry per line in RFC 8785 form: what `limit` reads
 *   package-canonical.json  an evidence package whose entries are in RFC 8785 form
 *   package.json            the same package with the members in the order in which a service sends them
 * The actor of the entry with the sequence ALTERED is changed after it was sealed.
 * Seals: HMAC-SHA-256 under "bench-seal-key", named k1. Strings hold what tempts a reader that cuts before it parses.
 *
 * cc -O2 entries.c -lcrypto -o entries
 */
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY "bench-seal-key"
#define HEX 64
#define TEXT 4096

enum { CANONICAL_LINES, CANONICAL_PACKAGE, SENT_PACKAGE, FORMS };
static const char *const names[FORMS] = {"canonical.ndjson", "package-canonical.json", "package.json"};

struct entry {
  char id[40], timestamp[40], actor[64], resource[40];
  const char *action, *type;
  char metadata[TEXT], metadata_sent[TEXT];
  long sequence;
  char previous[HEX + 1], hash[HEX + 1], seal[HEX + 1];
};

/* splitmix64: the same entries in every run. */
static uint64_t state = 20261101;
static uint64_t draw(void) {
  uint64_t z = (state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}
static unsigned below(unsigned limit) { return (unsigned)(draw() % limit); }
#define ONE_OF(list) list[below(sizeof list / sizeof *list)]

static void to_hex(const unsigned char *bytes, char *text) {
  for (int i = 0; i < SHA256_DIGEST_LENGTH; i++) sprintf(text + 2 * i, "%02x", bytes[i]);
}

static void must_fit(int written, size_t room) {
  if (written < 0 || (size_t)written >= room) {
    fputs("entries: a text is longer than its room\n", stderr);
    exit(1);
  }
}
static void format(char *text, size_t room, const char *how, ...) {
  va_list values;
  va_start(values, how);
  must_fit(vsnprintf(text, room, how, values), room);
  va_end(values);
}

static void draw_entry(struct entry *e, long sequence) {
  static const char *const actions[] = {"invoice.read",  "invoice.approve", "role.grant",     "session.open",
                                        "backup.restore", "model.invoke",    "secret.rotate", "consent.revoke"};
  static const char *const kinds[] = {"invoice", "role", "session", "volume", "model", "secret"};
  static const char *const clients[] = {
      "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "batch/3.1 (\\\"night\\\" shift)",
      "python-requests/2.32", "pr\xc3\xbc" "fer/2 \xe2\x82\xac}{", "D:\\\\audit\\\\agent.exe [64]"};
  static const char *const notes[] = {
      "", "", ",\"labels\":[\"q3\",{\"nested\":[true,null]},\"eu\"]",
      ",\"note\":\"as agreed:\\n\\\"yes\\\" },{\\\"entry_id\\\":\\\"0\\\",\\\"hash\\\":\\\"\"",
  };
  const char *client = ONE_OF(clients), *note = ONE_OF(notes);
  unsigned elapsed = below(90000), a = below(256), b = below(256), c = below(256);
  e->sequence = sequence;
  e->action = ONE_OF(actions);
  e->type = ONE_OF(kinds);
  uint64_t high = draw(), low = draw();
  format(e->id, sizeof e->id, "%016llx%016llx", (unsigned long long)high, (unsigned long long)low);
  format(e->actor, sizeof e->actor, "person-%u@example.com", below(4000));
  format(e->resource, sizeof e->resource, "res-%010x", below(0x7fffffff));
  /* A tenth of a second apart, within 28 days of a month: no calendar is needed. */
  long long ms = (long long)sequence * 100;
  long days = (long)(ms / 86400000);
  format(e->timestamp, sizeof e->timestamp, "2026-%02ld-%02ldT%02d:%02d:%02d.%03dZ", 1 + days / 28 % 12, 1 + days % 28,
         (int)(ms / 3600000 % 24), (int)(ms / 60000 % 60), (int)(ms / 1000 % 60), (int)(ms % 1000));
  /* The names sort: agent < elapsed_ms < ip < labels, note. */
  format(e->metadata, TEXT, "{\"agent\":\"%s\",\"elapsed_ms\":%u,\"ip\":\"10.%u.%u.%u\"%s}", client, elapsed, a, b, c,
         note);
  format(e->metadata_sent, TEXT, "{\"ip\":\"10.%u.%u.%u\"%s,\"agent\":\"%s\",\"elapsed_ms\":%u}", a, b, c, note, client,
         elapsed);
}

/* RFC 8785 form; `sealed` adds hash and seal, which the hash does not cover. */
static int canonical(const struct entry *e, int sealed, char *text, size_t room) {
  char hash[96] = "", seal[96] = "";
  if (sealed) {
    format(hash, sizeof hash, "\"hash\":\"%s\",", e->hash);
    format(seal, sizeof seal, "\"seal\":\"%s\",", e->seal);
  }
  int length = snprintf(text, room,
                        "{\"action\":\"%s\",\"actor\":\"%s\",\"entry_id\":\"%s\",%s\"metadata\":%s,\"prev_hash\":\"%s\","
                        "\"resource_id\":\"%s\",\"resource_type\":\"%s\",%s\"seal_key_id\":\"k1\",\"sequence\":%ld,"
                        "\"stream_id\":\"bench\",\"timestamp\":\"%s\"}",
                        e->action, e->actor, e->id, hash, e->metadata, e->previous, e->resource, e->type, seal,
                        e->sequence, e->timestamp);
  must_fit(length, room);
  return length;
}

static void as_sent(const struct entry *e, FILE *out) {
  fprintf(out,
          "{\"entry_id\":\"%s\",\"stream_id\":\"bench\",\"sequence\":%ld,\"timestamp\":\"%s\",\"actor\":\"%s\","
          "\"action\":\"%s\",\"resource_type\":\"%s\",\"resource_id\":\"%s\",\"metadata\":%s,\"prev_hash\":\"%s\","
          "\"seal_key_id\":\"k1\",\"hash\":\"%s\",\"seal\":\"%s\"}",
          e->id, e->sequence, e->timestamp, e->actor, e->action, e->type, e->resource, e->metadata_sent, e->previous,
          e->hash, e->seal);
}

static void seal(struct entry *e) {
  static char text[2 * TEXT];
  unsigned char digest[SHA256_DIGEST_LENGTH];
  int length = canonical(e, 0, text, sizeof text);
  SHA256((unsigned char *)text, (size_t)length, digest);
  to_hex(digest, e->hash);
  unsigned size;
  HMAC(EVP_sha256(), KEY, sizeof KEY - 1, (unsigned char *)e->hash, HEX, digest, &size);
  to_hex(digest, e->seal);
}

/* Returns where the head's hash belongs: it is known only when the last entry is sealed. */
static long begin_package(FILE *out, long count) {
  fprintf(out,
          "{\"format\":\"evidence-package/1\",\"package_id\":\"bench-package\",\"stream\":{\"stream_id\":\"bench\","
          "\"title\":\"not yet: \\\"entries\\\":[{\"},\"period\":null,\"generated_at\":\"2026-12-31T00:00:00.000Z\","
          "\"entry_count\":%ld,\"first_sequence\":1,\"last_sequence\":%ld,\"head_hash\":\"",
          count, count);
  long head = ftell(out);
  fprintf(out, "%0*d\",\"checkpoints\":[],\"entries\":[", HEX, 0);
  return head;
}

static FILE *create(const char *folder, const char *name) {
  char path[TEXT];
  format(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "w");
  if (file == NULL) {
    perror(path);
    exit(1);
  }
  setvbuf(file, NULL, _IOFBF, 1 << 20);
  return file;
}

static void finish(FILE *file) {
  if (fclose(file) == 0) return;
  perror("entries");
  exit(1);
}

int main(int count_of_arguments, char **arguments) {
  if (count_of_arguments < 3) {
    fputs("usage: entries COUNT FOLDER [ALTERED]\n", stderr);
    return 2;
  }
  long count = atol(arguments[1]), altered = count_of_arguments > 3 ? atol(arguments[3]) : 0, head[FORMS] = {0};
  FILE *out[FORMS];
  for (int form = 0; form < FORMS; form++) {
    out[form] = create(arguments[2], names[form]);
    if (form != CANONICAL_LINES) head[form] = begin_package(out[form], count);
  }
  static struct entry e;
  static char text[2 * TEXT];
  memset(e.previous, '0', HEX);
  for (long sequence = 1; sequence <= count; sequence++) {
    draw_entry(&e, sequence);
    seal(&e);
    if (sequence == altered) e.actor[0] = 'P';
    canonical(&e, 1, text, sizeof text);
    fprintf(out[CANONICAL_LINES], "%s\n", text);
    const char *separator = sequence > 1 ? "," : "";
    fprintf(out[CANONICAL_PACKAGE], "%s%s", separator, text);
    fputs(separator, out[SENT_PACKAGE]);
    as_sent(&e, out[SENT_PACKAGE]);
    memcpy(e.previous, e.hash, sizeof e.previous);
  }
  for (int form = 0; form < FORMS; form++) {
    if (form != CANONICAL_LINES) {
      fputs("]}\n", out[form]);
      fseek(out[form], head[form], SEEK_SET);
      fputs(e.previous, out[form]);
    }
    finish(out[form]);
  }
  return 0;
}

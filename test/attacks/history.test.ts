import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import type { Description } from '../../src/verifier/profile/description.ts';
import { formatContract } from '../../src/verifier/profile/file.ts';
import { DEFAULT_DESCRIPTION } from '../../src/verifier/reading/default-contract.ts';
import { entryAfter, GENESIS, type SentEntry, sealed } from '../support/chain.ts';
import { type FalseService, type Printed, startFalseService } from '../support/false-service.ts';
import { someRows } from '../support/some-rows.ts';

const STREAM = 's';
let service: FalseService;
afterEach(() => service.close());

/** Returns ten entries a month from August 2026 on, numbered from `first`. */
function months(count: number, first = 1): SentEntry[] {
  const entries: SentEntry[] = [];
  for (let index = 0; index < count * 10; index++) {
    const timestamp = new Date(Date.UTC(2026, 7 + Math.floor(index / 10), 2 + 2 * (index % 10))).toISOString();
    const sequence = first + index;
    entries.push(entryAfter(entries.at(-1) ?? null, { stream_id: STREAM, sequence, timestamp }));
  }
  return entries;
}

/** Changes, hashes and links each entry again. */
function rewritten(
  entries: readonly SentEntry[],
  from: number,
  change: Partial<SentEntry> = { actor: 'm' },
): SentEntry[] {
  const after: SentEntry[] = [];
  for (const entry of entries) {
    const prev_hash = after.at(-1)?.hash ?? GENESIS;
    after.push(sealed({ ...entry, ...(entry.sequence === from ? change : {}), prev_hash }));
  }
  return after;
}

async function serve(description?: Partial<Description>): Promise<void> {
  if (description === undefined) service = await startFalseService();
  else {
    service = await startFalseService({ contract: 'contract.yaml', require: ['order'] });
    const text = formatContract({ ...DEFAULT_DESCRIPTION, name: 'another', ...description });
    writeFileSync(join(service.directory, 'contract.yaml'), text);
  }
}

const tell = (entries: SentEntry[], more = {}) => service.streams.set(STREAM, { entries, ...more });

function shown({ code, document }: Printed) {
  const [stream] = document.streams;
  const { continuity } = stream.claims;
  const found = stream.findings
    .map(({ code }: { code: string }) => code)
    .filter((one: string) => /^continuity/.test(one));
  return { code, state: continuity.state, words: continuity.basis ?? continuity.reason, found };
}

const month = (period: string) => service.export({ period });
const verified = async () => {
  const { code, document } = await service.verify();
  return { code, history: document.history.map((finding: { code: string }) => finding.code) };
};
const threeMonths = async () => {
  await serve();
  tell(months(3));
  for (const period of ['2026-08', '2026-09', '2026-10']) expect((await month(period)).code).toBe(0);
};

test('an old entry that was edited at the service refutes the run that has it, and no bundle is called altered', async () => {
  await threeMonths();
  tell(months(3).map((entry) => (entry.sequence === 5 ? { ...entry, actor: 'm' } : entry)));
  expect((await service.export({ request: 'all', 'all-time': true })).code).toBe(1);
  const { code, document } = await service.verify();
  expect([code, document.objects.altered]).toEqual([1, []]);
});

test('months that follow one another agree, and so does one that is exported again', async () => {
  await threeMonths();
  expect(shown(await service.export({ period: '2026-09', revise: true }))).toMatchObject({
    code: 0,
    state: 'proved',
    words: expect.stringMatching(/same entries as run 2026-09/),
  });
  expect(shown(await service.export({ request: 'all', 'all-time': true }))).toMatchObject({ code: 0, state: 'proved' });
  expect(await verified()).toEqual({ code: 0, history: [] });
});

/** Findings in the package and in the list of streams. */
const TWICE = ['continuity/rewritten', 'continuity/rewritten'];

test('a month that lies within an earlier run is compared with its bundle', async () => {
  await serve();
  tell(months(3));
  await service.export({ request: 'all', 'all-time': true });
  expect(shown(await month('2026-09'))).toMatchObject({ code: 0, state: 'proved' });
  tell(rewritten(months(3), 5));
  expect(shown(await month('2026-08'))).toMatchObject({ code: 1, found: TWICE });
});

const AGAIN: [words: string, flags: object][] = [
  ['under another name', { request: 'again', period: '2026-08' }],
  ['as a revision', { period: '2026-08', revise: true }],
];
test.each(someRows(AGAIN, () => 'again'))(
  'history rewritten, and an old month asked for again %s',
  async (_words, flags) => {
    await threeMonths();
    tell(rewritten(months(3), 5));
    expect(shown(await service.export(flags))).toMatchObject({ code: 1, found: TWICE });
  },
);

test('an old month asked for again, with fewer entries', async () => {
  await threeMonths();
  tell(months(3), { packaged: (all: SentEntry[]) => all.slice(0, 6), listed: (all: SentEntry[]) => all.slice(0, 6) });
  expect(shown(await service.export({ period: '2026-08', revise: true }))).toMatchObject({
    code: 1,
    found: ['continuity/truncated'],
  });
});

test('an old month asked for again, without its first entries', async () => {
  await threeMonths();
  tell(months(3), { packaged: (all: SentEntry[]) => all.slice(3), listed: (all: SentEntry[]) => all.slice(3) });
  expect(shown(await service.export({ period: '2026-09', revise: true }))).toMatchObject({
    code: 1,
    found: ['continuity/truncated'],
  });
});

const LATE = { packaged: (all: SentEntry[]) => all.slice(3), listed: (all: SentEntry[]) => all.slice(3) };

test('entries between two adjacent months that are in neither', async () => {
  await serve();
  tell(months(2));
  await month('2026-08');
  tell(months(2), LATE);
  expect(shown(await month('2026-09'))).toMatchObject({ code: 1, found: ['continuity/gap'] });
  expect((await verified()).code).toBe(1);
});

test('entries between two months with an empty one between them', async () => {
  await serve();
  const entries = months(3);
  tell(entries.slice(0, 10));
  await month('2026-08');
  await month('2026-09');
  tell(entries, { packaged: (all: SentEntry[]) => all, stated: {} });
  expect(shown(await month('2026-10'))).toMatchObject({ code: 3, found: ['continuity/grown'] });
});

test('months with one between them that nobody exported are not accused', async () => {
  await serve();
  tell(months(3));
  await month('2026-08');
  expect(shown(await month('2026-10'))).toMatchObject({
    code: 0,
    state: 'unproved',
    found: ['continuity/unknown-start'],
  });
  expect(await verified()).toEqual({ code: 0, history: [] });
});

const KEYED: Partial<Description> = {
  digest: {
    ...DEFAULT_DESCRIPTION.digest,
    recipe: {
      algorithm: 'hmac-sha-256',
      key: { field: 'seal_key_id' },
      preimage: [{ json: { form: 'rfc8785', without: ['hash', 'seal'] } }],
    },
  },
};
const UNLINKED: Partial<Description> = {
  digest: {
    ...DEFAULT_DESCRIPTION.digest,
    recipe: {
      algorithm: 'sha-256',
      key: null,
      preimage: [{ json: { form: 'rfc8785', without: ['hash', 'seal', 'prev_hash'] } }],
    },
  },
};
const UNCOVERED: Partial<Description> = {
  digest: {
    ...DEFAULT_DESCRIPTION.digest,
    recipe: {
      algorithm: 'sha-256',
      key: null,
      preimage: [{ json: { form: 'rfc8785', without: ['hash', 'seal', 'actor'] } }],
    },
  },
};
const NONE: Partial<Description> = { digest: { ...DEFAULT_DESCRIPTION.digest, recipe: null } };

const UNKNOWN: [string, Partial<Description>][] = [
  ['no recipe is known', NONE],
  ['digests are keyed, and the key is not given', KEYED],
];

describe.each(someRows(UNKNOWN, () => 'compared by content'))('where %s', (_words, description) => {
  test('every entry rewritten under the digests of before', async () => {
    await serve(description);
    tell(months(1));
    await service.export({ request: 'r1', 'all-time': true });
    tell(months(1).map((entry) => ({ ...entry, actor: 'm' })));
    expect(shown(await service.export({ request: 'r2', 'all-time': true }))).toMatchObject({
      code: 1,
      found: ['continuity/rewritten'],
    });
  });

  test('what is the same but for the order of its members is the same', async () => {
    await serve(description);
    tell(months(1));
    await service.export({ request: 'r1', 'all-time': true });
    tell(months(2).map((entry) => Object.fromEntries(Object.entries(entry).toReversed()) as SentEntry));
    expect(shown(await service.export({ request: 'r2', 'all-time': true }))).toMatchObject({
      code: 0,
      state: 'proved',
      words: expect.stringContaining('compared by their content'),
    });
    expect(await verified()).toEqual({ code: 0, history: [] });
  });

  test('an entry rewritten in a month that lies within an earlier run', async () => {
    await serve(description);
    tell(months(3));
    await service.export({ request: 'r1', 'all-time': true });
    expect(shown(await month('2026-09'))).toMatchObject({ code: 0, state: 'proved' });
    tell(months(3).map((entry) => (entry.sequence === 25 ? { ...entry, actor: 'm' } : entry)));
    expect(shown(await month('2026-10'))).toMatchObject({ code: 1, found: ['continuity/rewritten'] });
  });
});

test('where digests are not over the one before, old entries rewritten and linked anew', async () => {
  await serve(UNLINKED);
  const unlinked = (entries: SentEntry[], change: number | null) => {
    const after: SentEntry[] = [];
    for (const entry of entries) {
      const { prev_hash: _link, ...rest } = entry.sequence === change ? { ...entry, actor: 'm' } : entry;
      const { hash, seal } = sealed(rest as SentEntry);
      after.push({ ...rest, hash, seal, prev_hash: after.at(-1)?.hash ?? GENESIS } as SentEntry);
    }
    return after;
  };
  tell(unlinked(months(1), null));
  await service.export({ request: 'r1', 'all-time': true });
  expect(shown(await service.export({ request: 'r2', 'all-time': true }))).toMatchObject({ state: 'proved' });
  tell(unlinked(months(1), 4));
  expect(shown(await service.export({ request: 'r3', 'all-time': true }))).toMatchObject({
    code: 1,
    found: ['continuity/rewritten'],
  });
});

test('where digests do not cover the actor, every actor changed', async () => {
  await serve(UNCOVERED);
  const without = (entries: SentEntry[], named: string) => {
    const after: SentEntry[] = [];
    for (const entry of entries) {
      const { actor: _actor, ...rest }: SentEntry = { ...entry, prev_hash: after.at(-1)?.hash ?? GENESIS };
      after.push({ ...sealed(rest as SentEntry), actor: named });
    }
    return after;
  };
  tell(without(months(1), 'a'));
  await service.export({ request: 'r1', 'all-time': true });
  tell(without(months(2), 'a'));
  expect(shown(await service.export({ request: 'r2', 'all-time': true }))).toMatchObject({ state: 'proved' });
  tell(without(months(2), 'b'));
  expect(shown(await service.export({ request: 'r3', 'all-time': true }))).toMatchObject({
    code: 1,
    found: ['continuity/rewritten', 'continuity/rewritten'],
  });
});

const FROM_0: Partial<Description> = { entry: { ...DEFAULT_DESCRIPTION.entry, first_sequence: 0 } };

test('the only entry of a stream that counts from 0, rewritten', async () => {
  await serve(FROM_0);
  const [entry] = months(1, 0);
  tell([entry as SentEntry]);
  expect(shown(await service.export({ request: 'r1', 'all-time': true }))).toMatchObject({ code: 0, state: 'proved' });
  tell([sealed({ ...(entry as SentEntry), actor: 'm' })]);
  expect(shown(await service.export({ request: 'r2', 'all-time': true }))).toMatchObject({
    code: 1,
    found: ['continuity/rewritten'],
  });
});

test('a stream of one entry that counts from 0 is missed when nothing else is there', async () => {
  await serve(FROM_0);
  tell(months(1, 0).slice(0, 1));
  await service.export({ request: 'r1', 'all-time': true });
  service.streams.clear();
  const { code, document } = await service.export({ request: 'r2', 'all-time': true });
  expect([code, document.vanished[0]?.head.sequence]).toEqual([1, 0]);
});

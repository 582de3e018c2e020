import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Beginnings } from '../support/beginnings.ts';
import { entryAfter, type SentEntry } from '../support/chain.ts';
import { drawnPdf } from '../support/drawn-pdf.ts';
import { type FalseService, type Printed, startFalseService } from '../support/false-service.ts';
import { json, type Reply } from '../support/fault-server.ts';
import { packagePdf } from '../support/services/package-pdf.ts';
import { inTurn, someRows } from '../support/some-rows.ts';

// No answer of a service may make an archive unreadable or block later exports. A service can spoil only its own
// stream.

/** Half of a surrogate pair, and texts in which a pair spans the 200th, 300th or 500th position. */
const LONE = '\ud800';
const HALVES = `x${'😀'.repeat(600)}`;
/** API key of the exported service. */
const KEY = 'sk_of_a_false_service';
const KEY_IN_HEX = Buffer.from(KEY).toString('hex');
const FAR = 'Fri, 01 Jan 12026 00:00:00 GMT';

let service: FalseService;

/** Builds three months of entries for a stream. */
function months(streamId: string): SentEntry[] {
  const entries: SentEntry[] = [];
  for (const day of ['2026-08-10', '2026-09-10', '2026-09-20', '2026-09-21', '2026-10-10'])
    entries.push(entryAfter(entries.at(-1) ?? null, { stream_id: streamId, timestamp: `${day}T00:00:00Z` }));
  return entries;
}

beforeAll(async () => {
  service = await startFalseService();
});
afterAll(async () => {
  await service.close();
  rmSync(service.directory, { recursive: true });
});
beforeEach(beginAnew);

/** Resets the service to two honest streams without exports. */
function beginAnew(): void {
  service.streams.clear();
  for (const id of ['good', 'bad']) service.streams.set(id, { entries: months(id) });
  service.twist = (reply) => reply;
  for (const name of readdirSync(service.directory)) rmSync(join(service.directory, name), { recursive: true });
}

type Twist = FalseService['twist'];
// biome-ignore lint/suspicious/noExplicitAny: tests change arbitrary members of the service's answers.
type Value = any;

/** Changes the JSON of the answers to a path. */
function changed(path: RegExp, change: (value: Value) => Value): Twist {
  return (reply, asked) =>
    path.test(asked) && typeof reply.body === 'string' && (reply.status ?? 200) < 300
      ? { ...reply, body: JSON.stringify(change(JSON.parse(reply.body))) }
      : reply;
}

const replaced =
  (path: RegExp, answer: Reply): Twist =>
  (reply, asked) =>
    path.test(asked) ? answer : reply;

const headed =
  (path: RegExp, headers: Record<string, string>): Twist =>
  (reply, asked) =>
    path.test(asked) ? { ...reply, headers: { ...reply.headers, ...headers } } : reply;

/** Adds a stream to the list. */
const withStream = (more: object): Twist =>
  changed(/^\/streams\/$/, (list) => ({ ...list, data: [...list.data, { ...list.data[0], ...more }] }));

const refusal = (detail: unknown): Reply => json({ detail }, { status: 400 });
const CHECK = /\/verify$/;
const check = (more: object): Twist =>
  replaced(CHECK, json({ stream_id: 's', verified: true, checked_at: null, failures: [], ...more }));
const LIST = /^\/streams\/$/;
const LISTING = /^\/entries\/$/;
const GENERATE = /generate$/;
const FORM = /\/(json)$/;

/** Service answers, with the exit codes of exporting September and of verifying. */
const ROWS: [words: string, twist: Twist, ours: number, verified: number][] = [
  ['an honest service', (reply) => reply, 0, 0],
  ['a refusal with half of a pair', replaced(GENERATE, refusal(`no ${LONE}`)), 3, 3],
  ['a refusal that is cut within a pair', replaced(GENERATE, refusal(HALVES)), 3, 3],
  ['a refusal as a list with half of a pair', replaced(GENERATE, refusal([{ loc: [LONE], msg: LONE }])), 3, 3],
  ['a check refused with half of a pair', replaced(CHECK, refusal(`no ${LONE}`)), 0, 0],
  ['a check refused, cut within a pair', replaced(CHECK, refusal(HALVES)), 0, 0],
  ['a check at a time with half of a pair', check({ checked_at: `2026${LONE}` }), 0, 0],
  ['a check with half of a pair elsewhere', check({ note: LONE }), 0, 0],
  ['a check in the year 12026', check({ checked_at: '+012026-01-01T00:00:00Z' }), 0, 0],
  ['a listing refused with half of a pair', replaced(LISTING, refusal(`no ${LONE}`)), 3, 3],
  ['a PDF refused with half of a pair', replaced(/\/pdf$/, refusal(`no ${LONE}`)), 3, 3],
  ['a summary refused, cut within a pair', replaced(/\/summary$/, refusal(HALVES)), 3, 3],
  [
    'a summary with half of a pair',
    changed(/\/summary$/, (it) => ({ ...it, counts: { actions: { [LONE]: 3 } } })),
    0,
    0,
  ],
  ['a package of a stream with half of a pair', changed(GENERATE, (it) => ({ ...it, stream_id: `s${LONE}` })), 3, 3],
  ['a package id with half of a pair', changed(GENERATE, (it) => ({ ...it, package_id: `p${LONE}` })), 3, 3],
  ['a package id of 100 KB', changed(GENERATE, (it) => ({ ...it, package_id: 'p'.repeat(100_000) })), 3, 3],
  ['a package that states an id with half of a pair', changed(FORM, (it) => ({ ...it, package_id: `p${LONE}` })), 3, 3],
  ['an entry whose id has half of a pair', changed(FORM, (it) => edited(it, { entry_id: `e${LONE}` })), 1, 1],
  ['an entry whose action has half of a pair', changed(FORM, (it) => edited(it, { action: `read ${LONE}` })), 1, 1],
  ['a tampered entry whose action is cut within a pair', changed(FORM, (it) => edited(it, { action: HALVES })), 1, 1],
  ['a tampered entry whose actor is cut within a pair', changed(FORM, (it) => edited(it, { actor: HALVES })), 1, 1],
  ['a listed entry of a stream with half of a pair', changed(LISTING, (it) => listing(it, { stream_id: LONE })), 3, 3],
  [
    'a listed entry with a time that is written oddly',
    changed(LISTING, (it) => listing(it, { timestamp: '2026-09-21 00:00:00 (a,b)' })),
    0,
    0,
  ],
  ['a listed stream with half of a pair in its id', withStream({ stream_id: `s${LONE}` }), 3, 3],
  ['a listed stream with half of a pair elsewhere', withStream({ stream_id: 's', label: LONE }), 3, 3],
  ['a listed stream with an id of 400 KB', withStream({ stream_id: 's'.repeat(400_000) }), 3, 3],
  [
    'a listed stream whose record escapes the key in part',
    withStream({ stream_id: 's', x: `\\u0073${KEY.slice(1)}` }),
    3,
    3,
  ],
  [
    'a listed stream whose record names members after the key',
    withStream({ stream_id: 's', [KEY]: 1, [KEY.toUpperCase()]: 2, [Buffer.from(KEY).toString('base64')]: 3 }),
    3,
    3,
  ],
  [
    'a listed stream whose head spells the key',
    withStream({ stream_id: 's', head_hash: KEY_IN_HEX.padEnd(64, '0') }),
    3,
    3,
  ],
  ['a listed stream whose head is in capitals', withStream({ stream_id: 's', head_hash: 'A'.repeat(64) }), 3, 3],
  ['a listed stream with less than no entries', withStream({ stream_id: 's', entry_count: -1 }), 3, 3],
  ['a listed stream that is verified in words', withStream({ stream_id: 's', verified: 'x' }), 3, 3],
  [
    'a check after a byte order mark',
    (reply, asked) => (CHECK.test(asked) ? { ...reply, body: `\ufeff${reply.body}` } : reply),
    0,
    0,
  ],
  [
    'a listed entry of a stream with an id of 1 MB',
    changed(LISTING, (it) => listing(it, { stream_id: 's'.repeat(2 ** 20) })),
    3,
    3,
  ],
  [
    'a package of a stream with an id of 1 MB',
    changed(GENERATE, (it) => ({ ...it, stream_id: 's'.repeat(2 ** 20) })),
    3,
    3,
  ],
  ['every date in the year 12026', headed(/./, { date: FAR }), 0, 0],
  ['the date of the package in the year 12026', headed(GENERATE, { date: FAR }), 0, 0],
  ['every date in the year 0', headed(/./, { date: '0000-01-01T00:00:00Z' }), 0, 0],
  ['a request id of 8 KB', headed(/./, { 'x-request-id': 'ü'.repeat(4000) }), 0, 0],
  ['an ETag of half a pair in bytes', headed(/./, { etag: '"\u00ed\u00a0\u0080"' }), 0, 0],
  ['a list that goes on at 60 KB of cursor', changed(LIST, (it) => ({ ...it, next_cursor: 'c'.repeat(60_000) })), 3, 0],
  [
    'a listing that goes on at 60 KB of cursor',
    changed(LISTING, (it) => ({ ...it, next_cursor: 'c'.repeat(60_000) })),
    3,
    3,
  ],
  [
    'a cursor with half of a pair',
    changed(LIST, (it) => ({ ...it, next_cursor: it.data.length > 0 ? LONE : null })),
    3,
    0,
  ],
  [
    'a checkpoint with half of a pair',
    changed(FORM, (it) => ({ ...it, checkpoints: [{ sequence: 3, head_hash: LONE, token: LONE }] })),
    3,
    3,
  ],
  [
    'a package with a huge text beside its entries',
    changed(FORM, (it) => ({ ...it, note: 'n'.repeat(4 * 2 ** 20) })),
    0,
    0,
  ],
];

/** Changes the last entry of the package but keeps its digest. */
const edited = (sent: Value, more: object) => ({
  ...sent,
  entries: [...sent.entries.slice(0, -1), { ...sent.entries.at(-1), ...more }],
});
const listing = ({ data, ...page }: Value, more: object) => ({
  ...page,
  data: data.map((entry: Value, index: number) => (index === data.length - 1 ? { ...entry, ...more } : entry)),
});

const said = ({ code, said: words }: Printed) => `${code}: ${words}`;

describe('evidence that holds the API key', () => {
  const withKey = changed(/\/summary$/, (it) => ({ ...it, note: `Bearer ${KEY}` }));

  test('is a finding, and the month stays open until the key is renewed', async () => {
    service.twist = withKey;
    const exported = await service.export({ period: '2026-09' });
    expect(exported.code, said(exported)).toBe(3);
    const text = JSON.stringify(exported.document);
    expect(text).toContain('secret/in-evidence');
    expect(text + exported.said).not.toContain(KEY);
    expect((await service.verify()).code).toBe(3);
    service.twist = (reply) => reply;
    expect((await service.export({ period: '2026-09' })).code).toBe(0);
    expect((await service.verify()).code).toBe(0);
  });

  const octal = [...KEY].map((sign) => `\\${sign.charCodeAt(0).toString(8).padStart(3, '0')}`).join('');
  test.each<[words: string, pdf: () => Uint8Array | Promise<Uint8Array>]>([
    ['that is compressed', () => packagePdf('Package', { Note: KEY })],
    ['that is escaped', () => drawnPdf([`BT /F1 9 Tf 1 0 0 1 50 700 Tm (${octal}) Tj ET`])],
  ])('is found in text of a PDF %s', async (_words, pdf) => {
    const body = await pdf();
    expect(Buffer.from(body).includes(KEY)).toBe(false);
    service.twist = replaced(/\/pdf$/, { headers: { 'content-type': 'application/pdf' }, body });
    const exported = await service.export({ period: '2026-09' });
    expect(exported.code, said(exported)).toBe(3);
    expect(JSON.stringify(exported.document)).toContain('the pdf form holds the API key');
    expect((await service.verify()).code).toBe(3);
  });

  test('is archived where that is accepted, and named', async () => {
    writeFileSync(join(service.directory, 'evidence.yaml'), 'verify: { accept_secrets: true }\n');
    service.twist = withKey;
    const exported = await service.export({ period: '2026-09' });
    expect(exported.code, said(exported)).toBe(0);
    expect(JSON.stringify(exported.document)).toContain('secret/accepted');
    expect((await service.verify()).code).toBe(0);
  });

  test('and finalized without acceptance it is incomplete, in a verification, too', async () => {
    service.twist = withKey;
    const exported = await service.export({ period: '2026-09', 'finalize-partial': true });
    expect(exported.code, said(exported)).toBe(3);
    const found = await service.verify();
    expect(found.code, said(found)).toBe(3);
  });
});

test('the doctor ends as an export of streams that would lie in one place does', async () => {
  // 32 bits of their digests are equal, and the ids have no readable characters.
  for (const id of ['支付三三四七七', '支付七四三六九']) service.streams.set(id, { entries: months(id) });
  for (const { code, said: words, document } of [await service.export({ period: '2026-09' }), await service.doctor()]) {
    expect(code).toBe(2);
    expect(`${words}${JSON.stringify(document)}`).toContain('would have the same name in the archive');
  }
});

describe('the API key spreads into nothing but the forms', () => {
  const FORMS = [
    KEY,
    KEY.toUpperCase(),
    encodeURIComponent(KEY).replace('s', '%73'),
    Buffer.from(KEY).toString('base64'),
  ];
  /** Twist that puts a form into a place, and the exit code of the export. */
  const PLACES: [place: string, twist: (form: string) => Twist, code: number][] = [
    ['actor of a tampered entry', (actor) => changed(FORM, (it) => edited(it, { actor })), 1],
    ['action of a tampered entry', (action) => changed(FORM, (it) => edited(it, { action })), 1],
    ['entry_id of a tampered entry', (entry_id) => changed(FORM, (it) => edited(it, { entry_id })), 1],
    ['stream of a listed entry', (stream_id) => changed(LISTING, (it) => listing(it, { stream_id })), 0],
    ['ids of the summary', (package_id) => changed(/\/summary$/, (it) => ({ ...it, package_id })), 1],
  ];
  const rows = inTurn(PLACES, FORMS).map(([[place, twist, code], form]) => [place, form, twist, code] as const);

  /** Returns everything in the archive that the service did not send. */
  const kept = () => {
    const root = join(service.directory, 'evidence-archive');
    const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).map((name) => join(root, name));
    const textOf = (file: string) =>
      file.endsWith('.zip')
        ? execFileSync('unzip', ['-p', file, '-x', '*/data/evidence.*', '*/data/summary.*'], { encoding: 'utf8' })
        : readFileSync(file, 'utf8');
    return files
      .filter((file) => statSync(file).isFile())
      .map(textOf)
      .join('\n');
  };

  const requireClean = async (twist: Twist, code: number) => {
    service.twist = twist;
    const exported = await service.export({ period: '2026-09' });
    expect(exported.code, said(exported)).toBe(code);
    const found = await service.verify();
    expect(found.code, said(found)).toBe(code);
    const all = `${kept()}${JSON.stringify(exported.document)}${exported.said}`.toLowerCase();
    for (const form of [...FORMS, KEY_IN_HEX]) expect(all).not.toContain(form.toLowerCase());
    // A second export with the same command accepts the recorded state.
    expect((await service.export({ period: '2026-09' })).code).toBe(code);
  };

  test.each(someRows(rows, ([place]) => place))('in the %s: %s', (_place, form, twist, code) =>
    requireClean(twist(form), code),
  );

  test('in the digest of an entry, in hex', () => {
    const hash = KEY_IN_HEX.padEnd(64, '0');
    return requireClean(
      changed(FORM, (it) => ({ ...edited(it, { hash }), head_hash: hash })),
      3,
    );
  });

  test('in the digest of a listed entry, in hex', () =>
    requireClean(
      changed(LISTING, (it) => listing(it, { hash: KEY_IN_HEX.padEnd(64, '0') })),
      0,
    ));

  test('in an action that the summary counts', () =>
    requireClean(
      changed(/\/summary$/, (it) => ({ ...it, counts: { actions: { [KEY]: it.entry_count } } })),
      1,
    ));
});

test.each([
  'report: { organisation: "x\\ud800" }',
  'report: { prepared_by: "x\\udc00" }',
  'verify: { accept_unhashed: ["\\ud800"] }',
])('what one configures oneself is refused before anything is written: %s', async (text) => {
  writeFileSync(join(service.directory, 'evidence.yaml'), `${text}\n`);
  const exported = await service.export({ period: '2026-09' });
  expect(exported.code).toBe(2);
  expect(exported.said).toMatch(/a string contains a lone surrogate/);
  expect(readdirSync(service.directory)).toEqual(['evidence.yaml']);
});

describe('what a service says is found out at once, and poisons nothing', () => {
  const beginnings = new Beginnings();

  /** One row per place and outcome; the other rows differ only in the bytes. */
  const tried = someRows(
    ROWS,
    ([words, , ours, verified]) => `${words.split(' ').slice(0, 2).join(' ')} ${ours} ${verified}`,
  );

  test.each(tried)('%s', async (_words, twist, ours, verified) => {
    await beginnings.begin(service.directory, 'august', async () => {
      const before = await service.export({ period: '2026-08' });
      expect(before.code, said(before)).toBe(0);
    });
    service.twist = twist;
    const exported = await service.export({ period: '2026-09' });
    expect(exported.code, said(exported)).toBe(ours);
    const found = await service.verify();
    expect(found.code, said(found)).toBe(verified);
    const again = await service.export({ period: '2026-09' });
    expect(again.code, said(again)).toBe(ours);
    service.twist = (reply) => reply;
    // The service recovers: exports of other months work, and an open month can be finished.
    const later = await service.export({ period: '2026-10' });
    expect(later.code, said(later)).toBe(0);
    const mended = await service.export({ period: '2026-09' });
    expect(mended.code, said(mended)).toBe(ours === 3 ? 0 : ours);
    const after = await service.verify();
    expect(after.code, said(after)).toBe(ours === 3 ? 0 : verified);
  });
});

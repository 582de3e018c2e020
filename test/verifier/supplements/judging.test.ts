import { describe, expect, test } from 'vitest';
import type { ReportedClaims } from '../../../src/verifier/claims/claim.ts';
import { CLAIMS } from '../../../src/verifier/claims/claim.ts';
import type { Description } from '../../../src/verifier/profile/description.ts';
import { DEFAULT_DESCRIPTION } from '../../../src/verifier/reading/default-contract.ts';
import { csvHeader, csvRow } from '../../../src/verifier/supplements/csv.ts';
import type { RecordKind } from '../../../src/verifier/supplements/files.ts';
import { recordFiles } from '../../../src/verifier/supplements/files.ts';
import { ImpliedRecords } from '../../../src/verifier/supplements/implied.ts';
import { askedAtOf } from '../../../src/verifier/supplements/judging.ts';
import { describeRecords, readRecords } from '../../../src/verifier/supplements/reading.ts';
import {
  type JudgedStream,
  type StreamNotes,
  type StreamStanding,
  standingOf,
} from '../../../src/verifier/supplements/standing.ts';
import { SupplementTally } from '../../../src/verifier/supplements/tally.ts';
import { withoutProofsOf } from '../../../src/verifier/verify/supplements-check.ts';
import { entryAfter, type SentEntry } from '../../support/chain.ts';

// biome-ignore lint/suspicious/noExplicitAny: a record with arbitrary members.
type Item = any;

const said = { detection_id: 'd-1', credential_type: 'aws', plant_location: 'ci', label: 'bait' };
const used = { stream_id: 'traps', action: 'trap.used', resource_type: 'trap', resource_id: 'c-1', metadata: said };
const first = entryAfter(null, { stream_id: 'traps' });
const proving = entryAfter(first, used);
const last = entryAfter(proving, { stream_id: 'traps' });
const bundle = [first, proving, last];

const placeOf = ({ stream_id, sequence, hash }: SentEntry) => ({ stream_id, sequence, hash });
const detection: Item = {
  ...said,
  credential_id: 'c-1',
  detected_at: '2026-10-01T00:00:02.000Z',
  entry: placeOf(proving),
};

const events = ['e-1', 'e-2'].map((event_id) => ({ event_id, event_type: 'changed', path: '/bin/sh' }));
const raised = entryAfter(null, { stream_id: 'endpoints/web', action: 'events.raised', metadata: { events } });
const event: Item = {
  ...events[0],
  path_base64: null,
  endpoint_id: 'web',
  first_seen: '2026-10-01T00:00:02.000Z',
  entry: placeOf(raised),
};

const claims = Object.fromEntries(CLAIMS.map((name) => [name, { state: 'proved' }])) as ReportedClaims;

const [BEFORE, ASKED, LATER] = [1, 2, 3].map((hour) => `2026-12-01T0${hour}:00:00.000Z`) as [string, string, string];
const asked = { state: 'collected' as const, origin: 'https://platform', collected_at: ASKED };
const SERVICES = { audit: asked, traps: asked, endpoints: asked, agents: asked };
const STREAMS: Partial<Record<RecordKind, string>> = { detections: 'traps', events: 'endpoints/web' };

const OCTOBER = { from: '2026-10-01T00:00:00.000Z', to: '2026-11-01T00:00:00.000Z' };

/** Returns the notes of a bundle with these entries. */
function notesOf(
  contract: Description,
  kind: RecordKind,
  entries: readonly object[],
  find: StreamNotes['find'],
): StreamNotes {
  const all = new ImpliedRecords(contract.supplements, [kind]);
  const implied = entries.flatMap((entry) =>
    all.of(STREAMS[kind] ?? '', Buffer.from(JSON.stringify(entry))).map((one) => ({
      ...one,
      sequence: Number((entry as { sequence: unknown }).sequence),
    })),
  );
  return {
    find,
    implied: () => new Map(implied.filter(({ isFirst }) => isFirst).map(({ id, sequence }) => [id, sequence])),
    later: (_kind, id) => implied.filter((one) => !one.isFirst && one.id === id).map(({ sequence }) => sequence),
  };
}

interface Case {
  kind?: RecordKind;
  records: Item[];
  /** Entries in the bundle of the stream. */
  entries?: SentEntry[];
  stream?: Partial<JudgedStream>;
  /** True if the run lacks this stream. */
  isUnknown?: boolean;
  contract?: Description;
  /** True to send sequence numbers as text. */
  asText?: boolean;
  period?: { from: string | null; to: string | null };
  /** Newest entry in the list of streams. */
  listed?: number | null;
  /** Time of the package request, and start of the attempt. */
  requestedAt?: string;
  startedAt?: string;
}

function judge({
  kind = 'detections',
  records,
  entries = bundle,
  stream = {},
  isUnknown = false,
  asText: isText = false,
  ...more
}: Case) {
  const { contract = DEFAULT_DESCRIPTION, period = { from: null, to: null } } = more;
  const { listed = 99, requestedAt = LATER, startedAt = BEFORE } = more;
  const verdict: JudgedStream = {
    status: 'verified',
    claims,
    first_sequence: entries[0]?.sequence ?? null,
    head: entries.at(-1) ?? null,
    ...stream,
  };
  const sent = entries.map((entry) => ({ ...entry, ...(isText ? { sequence: String(entry.sequence) } : {}) }));
  const find = (sequence: number) => {
    const found = sent.find((entry) => Number(entry.sequence) === sequence);
    return found === undefined ? null : { digest: found.hash, bytes: Buffer.from(JSON.stringify(found)) };
  };
  const standing: StreamStanding = isUnknown
    ? { kind: 'unknown' }
    : standingOf(verdict, notesOf(contract, kind, sent, find), { listed, requestedAt });
  const askedAt = askedAtOf(SERVICES, { startedAt, to: period.to });
  const tally = new SupplementTally({ contract, period, standingOf: () => standing, askedAt });
  const body = Buffer.from(JSON.stringify({ data: records, next_cursor: null }));
  const states = readRecords(contract, kind, body).map((record) => tally.judge(record));
  tally.finish([STREAMS[kind] ?? '']);
  return { states, proved: tally.proved, ...tally.statement };
}

const statesOf = (about: Case) => judge(about).states.map((state) => state?.state ?? null);
const altered = (more: Partial<SentEntry>) => ({ ...proving, ...more });
const unproved = (name: 'order' | 'content' | 'completeness') => ({
  claims: { ...claims, [name]: { state: 'unproved' as const, reason: 'of no key' } },
});
const asText: Description = { ...DEFAULT_DESCRIPTION, numbers: 'text' };

test('a record whose entry says the same is proved by it', () => {
  expect(statesOf({ records: [detection] })).toEqual(['proved_by_entry']);
  expect(statesOf({ records: [event], kind: 'events', entries: [raised] })).toEqual(['proved_by_entry']);
  expect(statesOf({ records: [{ ...detection, severity: 'low', occurrences: 9 }] })).toEqual(['proved_by_entry']);
});

describe('no record is proved', () => {
  test.each<[what: string, state: string, about: Case]>([
    ['that names another digest', 'contradicted', { records: [naming({ hash: first.hash })] }],
    ['that says something else', 'contradicted', { records: [{ ...detection, label: 'other' }] }],
    ['that says nothing where its entry does', 'contradicted', { records: [{ ...detection, label: null }] }],
    ['that names an entry of something else', 'contradicted', { records: [naming(placeOf(first))] }],
    ['that names the entry of another record', 'contradicted', { records: [{ ...detection, detection_id: 'd-2' }] }],
    ['whose entry is in another stream', 'contradicted', { records: [naming({ stream_id: 'mine' })] }],
    ['of a refuted stream', 'contradicted', { records: [detection], stream: { status: 'refuted' } }],
    [
      'whose entry is of another kind',
      'contradicted',
      { records: [naming({ hash: null })], entries: [first, altered({ action: 'trap.use_ended' }), last] },
    ],
    [
      'that is not among those of its entry',
      'contradicted',
      { records: [{ ...event, event_id: 'e-3' }], kind: 'events', entries: [raised] },
    ],
    [
      'that its entry names twice',
      'contradicted',
      {
        records: [{ ...event, entry: { ...event.entry, hash: null } }],
        kind: 'events',
        entries: [{ ...raised, metadata: { events: [events[0], { ...events[0], path: '/bin/ls' }] } }],
      },
    ],
    [
      'of another machine than the stream is of',
      'contradicted',
      { records: [{ ...event, endpoint_id: 'db' }], kind: 'events', entries: [raised] },
    ],
    [
      'of a machine whose name is no text',
      'contradicted',
      { records: [{ ...event, endpoint_id: 7 }], kind: 'events', entries: [raised] },
    ],
    ['that names no entry', 'no_entry', { records: [{ ...detection, entry: null }] }],
    ['that has no such field', 'no_entry', { records: [{ ...detection, entry: undefined }] }],
    ['that names a stream and no number', 'no_entry', { records: [naming({ sequence: null })] }],
    ['of a stream that the run has not got', 'unproved', { records: [detection], isUnknown: true }],
    ['of a stream whose order is unproved', 'unproved', { records: [detection], stream: unproved('order') }],
    ['of a stream whose content is unproved', 'unproved', { records: [detection], stream: unproved('content') }],
    [
      'of a stream that was not opened',
      'unproved',
      { records: [detection], stream: { status: 'recorded' as never, ...recorded() } },
    ],
    ['that names an entry after the last', 'unproved', { records: [unknown(4)] }],
    ['that names an entry before the first', 'unproved', { records: [unknown(1)], entries: [proving, last] }],
    [
      'that names an entry after the last, while another one says that it is of it',
      'contradicted',
      { records: [naming({ sequence: 4 })] },
    ],
    [
      'that names an entry before the first, while another one says that it is of it',
      'contradicted',
      { records: [naming({ sequence: 1 })], entries: [proving, last] },
    ],
    [
      'that is said to be of another period than its entry',
      'contradicted',
      {
        records: [{ ...detection, detected_at: '2025-01-01T00:00:00.000Z' }],
        period: { from: '2026-09-01T00:00:00.000Z', to: null },
      },
    ],
    [
      'that names an entry which the service did not list when it must have been there',
      'contradicted',
      { records: [unknown(4)], listed: 3 },
    ],
    [
      'that names an entry which the service did not list after it was asked for records',
      'contradicted',
      { records: [{ ...unknown(4), detected_at: ASKED }], listed: 3, startedAt: LATER },
    ],
    [
      'that names an entry which may have come after the list',
      'unproved',
      { records: [{ ...unknown(4), detected_at: BEFORE }], listed: 3 },
    ],
    ['that names a gap', 'unproved', { records: [detection], entries: [first, last] }],
    ['of an empty stream', 'unproved', { records: [detection], entries: [] }],
    [
      'that names the largest number there is',
      'unproved',
      { records: [unknown(Number.MAX_SAFE_INTEGER)], listed: null },
    ],
    [
      'where digests leave out what is compared',
      'unproved',
      {
        records: [detection],
        stream: { claims: { ...claims, content: { state: 'proved', not_covered: ['metadata.label'] } } },
      },
    ],
    [
      'where digests leave out what holds it',
      'unproved',
      {
        records: [detection],
        stream: { claims: { ...claims, content: { state: 'proved', not_covered: ['metadata'] } } },
      },
    ],
    [
      'whose entry is, by its own word, another one',
      'unproved',
      { records: [naming({ hash: null })], entries: [first, altered({ stream_id: 'mine' }), last] },
    ],
  ])('%s', (_what, state, about) => {
    expect(statesOf(about)).toEqual([state]);
  });

  test('by a name that every object has', () => {
    const records = [{ ...detection, detection_id: '__proto__', entry: { ...detection.entry } }];
    expect(statesOf({ records })).toEqual(['contradicted']);
    expect(statesOf({ records: [naming({ stream_id: 'constructor' })] })).toEqual(['contradicted']);
  });
});

test('a claim that is not about entries, and members of no interest, are no bar', () => {
  expect(statesOf({ records: [detection], stream: unproved('completeness') })).toEqual(['proved_by_entry']);
  const content = { state: 'proved' as const, not_covered: ['seal', 'metadata.other'] };
  expect(statesOf({ records: [detection], stream: { claims: { ...claims, content } } })).toEqual(['proved_by_entry']);
});

test('numbers of entries that are sent as text are read as such, and only by a contract that says so', () => {
  const records = [naming({ sequence: '2', hash: null })];
  expect(statesOf({ records, contract: asText, asText: true })).toEqual(['proved_by_entry']);
  expect(() => judge({ records })).toThrow(/not a whole number/);
});

describe('a record that comes twice', () => {
  test('and says the same counts once', () => {
    const { states, kinds } = judge({ records: [detection, { ...detection, occurrences: 2 }] });
    expect(states[1]).toBe(null);
    expect(kinds.detections).toMatchObject({ records: 1, in_period: 1, proved_by_entry: 1 });
  });

  test('and does not say the same is contradicted', () => {
    expect(statesOf({ records: [detection, { ...detection, detected_at: '2026-10-01T00:00:03.000Z' }] })).toEqual([
      'proved_by_entry',
      'contradicted',
    ]);
  });
});

test('what is of another period is counted, and not judged', () => {
  const at = (detected_at: string) => ({ ...detection, detection_id: detected_at, detected_at, entry: null });
  const records = ['2026-09-30T23:59:59.999Z', '2026-10-01T00:00:00.000Z', '2026-11-01T00:00:00.000Z'].map(at);
  const { states, kinds } = judge({
    records,
    period: OCTOBER,
  });
  expect(states.map((state) => state?.state)).toEqual([undefined, 'no_entry', undefined]);
  expect(kinds.detections).toMatchObject({ records: 3, in_period: 1, no_entry: 1 });
});

describe('findings', () => {
  test('say once what is true of all records of a stream, and count them', () => {
    const records = Array.from({ length: 5 }, (_, at) => ({ ...detection, detection_id: `d-${at}` }));
    const { findings, findings_count } = judge({ records, stream: { status: 'refuted' } });
    expect([findings.length, findings_count]).toEqual([1, 5]);
    expect(findings[0]).toMatchObject({ code: 'supplement/contradicted', severity: 'error', records: 5, id: 'd-0' });
  });

  test('name each record that an entry contradicts', () => {
    const records = ['a', 'b'].map((label, at) => ({ ...detection, detection_id: `d-${at + 2}`, label }));
    expect(judge({ records }).findings.map(({ id, sequence }) => [id, sequence])).toEqual([
      ['d-2', 2],
      ['d-3', 2],
      // The entry names this record.
      ['d-1', 2],
    ]);
  });

  test('warn of entries outside of the bundle', () => {
    const { findings } = judge({ records: [detection, unknown(4)] });
    expect(findings).toMatchObject([{ code: 'supplement/outside-bundle', severity: 'warning' }]);
  });
});

describe('an answer is refused', () => {
  const page = JSON.stringify({ data: [detection] });
  test.each([
    ['with a name twice', page.replace('"label":"bait"', '"label":"bait","label":"other"'), /more than one way/],
    [
      'with a number that changes when it is read',
      page.replace('"sequence":2', '"sequence":2.0000000000000001'),
      /2\.0000000000000001/,
    ],
    ['without its list', '{"items":[]}', /no list "data"/],
    ['with a record that is no object', '{"data":[1]}', /no JSON object/],
    ['with an id that is no text', page.replace('"detection_id":"d-1"', '"detection_id":7'), /"detection_id"/],
    ['with an empty id', page.replace('"detection_id":"d-1"', '"detection_id":""'), /"detection_id"/],
    ['with a time that is none', page.replace('2026-10-01T00:00:02.000Z', 'yesterday'), /"detected_at"/],
    ['with half a number', page.replace('"sequence":2', '"sequence":2.5'), /"entry\.sequence"/],
    ['with a negative number', page.replace('"sequence":2', '"sequence":-2'), /"entry\.sequence"/],
    ['with a digest that is none', page.replace(proving.hash, 'abc'), /"entry\.hash"/],
    ['that is cut', page.slice(0, -5), /JSON/],
  ])('%s', (_what, body, message) => {
    expect(() => readRecords(DEFAULT_DESCRIPTION, 'detections', Buffer.from(body))).toThrow(message);
  });
});

test('a number that is not the one that was written proves nothing, wherever it stands', () => {
  const contract = structuredClone(DEFAULT_DESCRIPTION);
  const entry = contract.supplements?.traps?.detections.entry;
  if (entry == null) throw new Error('detections name entries');
  entry.says['share'] = 'metadata.share';
  const find = () => ({
    digest: proving.hash,
    bytes: Buffer.from(
      JSON.stringify(altered({ metadata: { ...said, share: 'X' } })).replace('"X"', '0.30000000000000001'),
    ),
  });
  const notes: StreamNotes = { find, implied: () => new Map(), later: () => [] };
  const verdict: JudgedStream = { status: 'verified', claims, first_sequence: 1, head: last };
  const standing = standingOf(verdict, notes, { listed: 99, requestedAt: LATER });
  const askedAt = askedAtOf(SERVICES, { startedAt: BEFORE, to: null });
  const period = { from: null, to: null };
  const tally = new SupplementTally({ contract, period, standingOf: () => standing, askedAt });
  const body = Buffer.from(JSON.stringify({ data: [{ ...detection, share: 0.3 }] }));
  expect(readRecords(contract, 'detections', body).map((record) => tally.judge(record)?.state)).toEqual(['unproved']);
});

test('records that a stream proved are not proved where other runs contradict the stream', () => {
  const { kinds, findings, findings_count, proved } = judge({ records: [detection] });
  const service = { state: 'not_configured' as const };
  const services = { audit: service, traps: service, endpoints: service, agents: service };
  const check = { services, judged: true, kinds, findings, findings_count, proved };
  expect(withoutProofsOf(check, () => false)).toEqual(check);
  const { kinds: left } = withoutProofsOf(check, (streamId) => streamId === 'traps');
  expect(left.detections).toMatchObject({ in_period: 1, proved_by_entry: 0, contradicted: 1 });
});

test('files are read agent by agent and page by page', () => {
  const folder = 'data/agents/actions';
  const paths = [`${folder}/b/0001.json`, `${folder}/a/10000.json`, `${folder}/a/9999.json`, 'data/agents/actions.csv'];
  expect(recordFiles('actions', paths)).toEqual([
    `${folder}/a/9999.json`,
    `${folder}/a/10000.json`,
    `${folder}/b/0001.json`,
  ]);
});

test('a table runs nothing in a spreadsheet, and says how each record stands', () => {
  const description = describeRecords(DEFAULT_DESCRIPTION.supplements ?? never(), 'detections') ?? never();
  const state = { kind: 'detections', id: 'd-1', state: 'unproved', reason: '=1+1' } as const;
  const [names, row] = [
    csvHeader(description),
    csvRow(description, { ...detection, label: '=cmd', action: { a: 1 } }, state),
  ];
  expect(names.split(',').slice(-6).join(',').trimEnd()).toBe(
    'proof,proof_reason,as_reported,entry_stream_id,entry_sequence,entry_hash',
  );
  expect(row).toContain(`"'=cmd"`);
  expect(row).toContain(`"{""a"":1}"`);
  expect(row).toMatch(/,unproved,"'=1\+1",,,,\r\n$/);
});

function never(): never {
  throw new Error('it is described');
}

function naming(entry: object): Item {
  return { ...detection, entry: { ...detection.entry, ...entry } };
}

/** Returns a record that no entry of the bundle is about. */
function unknown(sequence: number): Item {
  return { ...naming({ sequence }), detection_id: 'd-9' };
}

function recorded() {
  return { claims: { ...claims, order: { state: 'recorded' as const }, content: { state: 'recorded' as const } } };
}

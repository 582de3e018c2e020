import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { readRoots } from '../../../src/core/timestamp/roots.ts';
import { openMemoryArchive } from '../../../src/exporter/archive/memory.ts';
import { judgeStamps, readStamps, type StampVerdict } from '../../../src/verifier/records/stamps.ts';
import { type Authority, genTimeAt, newAuthority } from '../../support/forging-authority.ts';
import { digestOf, type Forgery, forge, statusInfo } from '../../support/tsa-forge.ts';

const RUN = Buffer.from('{"run_id":"r"}\n');
const FINISHED = new Date('2026-03-01T12:00:00Z');

let first: Authority;
let second: Authority;
beforeAll(async () => {
  first = await newAuthority('First', { to: '2027-01-01' });
  second = await newAuthority('Second', { from: '2026-06-01', to: '2030-01-01' });
});

/** A token of a chain: its authority, its time, and changes to it. */
type Token = [authority: 'first' | 'second', time: string, lies?: Partial<Forgery>];

async function archiveWith(tokens: Token[]) {
  const archive = openMemoryArchive();
  const put = (key: string, bytes: Uint8Array) =>
    archive.put(key, { bytes }, { sha256: createHash('sha256').update(bytes).digest('hex'), bytes: bytes.length });
  await put('runs/r/run.json', RUN);
  const covered: Buffer[] = [RUN];
  for (const [index, [authority, time, lies]] of tokens.entries()) {
    const imprint = digestOf('sha256', Buffer.concat(covered));
    const signer = authority === 'first' ? first.signer : second.signer;
    const der = forge(signer, { imprint, genTime: genTimeAt(time), status: statusInfo(0), ...lies });
    await put(index === 0 ? 'runs/r/run.tsr' : `runs/r/run.${index + 1}.tsr`, der);
    covered.push(der);
  }
  return { archive, next: digestOf('sha256', Buffer.concat(covered)).toString('hex') };
}

async function judge(tokens: Token[], now: string, pinned = true): Promise<StampVerdict[]> {
  const { archive } = await archiveWith(tokens);
  const roots = pinned ? readRoots(first.root.pem + second.root.pem, 'roots') : null;
  return judgeStamps(await readStamps(archive, 'r'), FINISHED, { roots, now: new Date(now) });
}

const OF_RUN = digestOf('sha256', RUN);
const AT = '2026-03-01T12:00:05Z';
const ROWS: [string, Token[], string, [StampVerdict['state'], RegExp | null][]][] = [
  ['one that holds', [['first', AT]], '2026-04-01', [['proved', null]]],
  ['one that has expired', [['first', AT]], '2027-04-01', [['proved', /has expired since/]]],
  [
    'one renewed in time',
    [
      ['first', AT],
      ['second', '2026-12-01'],
    ],
    '2027-04-01',
    [
      ['proved', null],
      ['proved', null],
    ],
  ],
  [
    'one renewed too late',
    [
      ['first', AT],
      ['second', '2027-02-01'],
    ],
    '2027-04-01',
    [
      ['proved', /renewal is of 2027-02-01.*after the authority's certificate ended/],
      ['proved', null],
    ],
  ],
  [
    'a renewal over the run alone',
    [
      ['first', AT],
      ['second', '2026-12-01', { imprint: OF_RUN }],
    ],
    '2026-12-02',
    [
      ['proved', null],
      ['refuted', /another digest/],
    ],
  ],
  [
    'a token over something else',
    [['first', AT, { imprint: digestOf('sha256', Buffer.from('x')) }]],
    '2026-04-01',
    [['refuted', /another digest/]],
  ],
  [
    'a token from before the run ended',
    [['first', '2026-03-01T11:50:00Z']],
    '2026-04-01',
    [['refuted', /2026-03-01T11:50:00.000Z, and .* a later time, 2026-03-01T12:00:00.000Z$/]],
  ],
  ['a token of a clock that is a little slow', [['first', '2026-03-01T11:56:00Z']], '2026-04-01', [['proved', null]]],
  [
    'a renewal from before what it renews',
    [
      ['second', '2026-12-01'],
      ['first', '2026-11-01'],
    ],
    '2026-12-02',
    [
      ['proved', null],
      ['refuted', /2026-11-01.* a later time, 2026-12-01/],
    ],
  ],
];

describe('the tokens of a run', () => {
  test.each(ROWS)('%s', async (_words, tokens, now, expected) => {
    const verdicts = await judge(tokens, now);
    expect(verdicts.map(({ state }) => state)).toEqual(expected.map(([state]) => state));
    for (const [index, [, remark]] of expected.entries())
      expect(verdicts[index]?.remarks).toEqual(remark === null ? [] : [expect.stringMatching(remark)]);
  });

  test('say when, by whom, and until when', async () => {
    const [verdict] = await judge([['first', AT]], '2026-04-01');
    expect(verdict).toMatchObject({
      key: 'runs/r/run.tsr',
      time: new Date(AT),
      authority: 'CN=First',
      until: new Date('2027-01-01'),
    });
  });

  test('prove nothing without a pinned root, and what is wrong by itself is refuted all the same', async () => {
    const verdicts = await judge(
      [
        ['first', AT],
        ['second', '2026-12-01', { imprint: OF_RUN }],
      ],
      '2026-12-02',
      false,
    );
    expect(verdicts).toMatchObject([
      { state: 'unproved', until: null, remarks: [expect.stringMatching(/no time-stamping authority is trusted/)] },
      { state: 'refuted' },
    ]);
  });
});

test('the next one is over the run record and all that are there', async () => {
  const { archive, next } = await archiveWith([
    ['first', AT],
    ['second', '2026-12-01'],
  ]);
  expect((await readStamps(archive, 'r')).next).toEqual({ key: 'runs/r/run.3.tsr', digest: next });
});

test('a token of a size that none has is unreadable', async () => {
  const { archive } = await archiveWith([]);
  const bytes = Buffer.alloc(2 ** 20);
  await archive.put(
    'runs/r/run.tsr',
    { bytes },
    { sha256: digestOf('sha256', bytes).toString('hex'), bytes: bytes.length },
  );
  await expect(readStamps(archive, 'r')).rejects.toMatchObject({ code: 'unreadable' });
});

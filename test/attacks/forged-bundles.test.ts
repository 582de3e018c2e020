import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sha256 } from '../../src/core/digest.ts';
import { openMemoryArchive } from '../../src/exporter/archive/memory.ts';
import { nextStepOf } from '../../src/exporter/next-steps.ts';
import { TRANSFER_LOG } from '../../src/verifier/bundle/files.ts';
import { bundleFileName, slugOf } from '../../src/verifier/bundle/layout.ts';
import type { ClaimName } from '../../src/verifier/claims/claim.ts';
import type { ReportedVerdict } from '../../src/verifier/claims/recorded.ts';
import type { Span } from '../../src/verifier/claims/schemas.ts';
import type { Verdict } from '../../src/verifier/claims/verdict.ts';
import { bundleKey } from '../../src/verifier/records/keys.ts';
import type { RunStream } from '../../src/verifier/records/record.ts';
import { toRecordBytes } from '../../src/verifier/records/record-bytes.ts';
import type { SigningKey } from '../../src/verifier/signature/key.ts';
import { verifyArchive } from '../../src/verifier/verify/archive.ts';
import type { ArchiveContext } from '../../src/verifier/verify/archive-reading.ts';
import { verifyBundle } from '../../src/verifier/verify/bundle.ts';
import { reportAlone } from '../../src/verifier/verify/file-report.ts';
import { ReportBrowser } from '../support/browser.ts';
import { chainOf, packageOf, type SentEntry, STREAM } from '../support/chain.ts';
import { drawnPdf } from '../support/drawn-pdf.ts';
import { type PackageBundle, writePackageBundle } from '../support/package-bundle.ts';
import { type BagFiles, rebag, zipOf } from '../support/rebag.ts';
import { monthStream, verifiedRun } from '../support/run-records.ts';
import { finalizeRun, newKey } from '../support/signed-archive.ts';

/**
 * Bundles that an attacker without keys forged from an honest one, with every manifest and statement recomputed. They
 * prove no claim that rests on the word of others, and verification finds each forgery wherever another record
 * identifies the true bundle.
 */

const RUN = '2026-10';
const PDF = 'data/evidence.pdf';
const chain = chainOf(5);
const listingOf = (entries: readonly SentEntry[]) =>
  entries.map(({ sequence, hash }) => `${sequence},${hash}\n`).join('');
const summaryOf = (entries: readonly SentEntry[]) =>
  Buffer.from(
    JSON.stringify({
      package_id: 'pkg-1',
      stream_id: STREAM,
      entry_count: entries.length,
      head_hash: entries.at(-1)?.hash ?? null,
    }),
  );

/** Builds a whole bundle over these entries with the exporter's own code. */
const of = (entries: SentEntry[]): Omit<PackageBundle, 'target'> => ({
  evidence: Buffer.from(JSON.stringify(packageOf(entries))),
  listing: listingOf(entries),
  summary: summaryOf(entries),
  statesHead: true,
  runId: RUN,
});

const cut = chain.slice(0, 3);
const edited = chainOf(5, { actor: 'mallory' });
const set = (path: string, content: string) => (files: BagFiles) => files.set(path, Buffer.from(content));
/** Lists entries after the end of the package with this time; the listing may leave the time empty. */
const listedBehind = (time: string) =>
  listingOf(cut) +
  chain
    .slice(3)
    .map(({ sequence, hash }) => `${sequence},${hash},${time}\n`)
    .join('');
/** A form that states nothing; the tests only need the service to have sent one. */
const pdf = drawnPdf(['']);
/** Removes one step from the transfer log. */
const withoutStep = (step: string) => (files: BagFiles) => {
  const log = JSON.parse((files.get(TRANSFER_LOG) ?? '').toString());
  log.steps = log.steps.filter((one: { step: string }) => one.step !== step);
  files.set(TRANSFER_LOG, Buffer.from(toRecordBytes(log)));
};
const JUST_AFTER = '2026-11-01T12:00:00Z';
const replacing = (path: string, from: RegExp, to: string) => (files: BagFiles) =>
  files.set(path, Buffer.from((files.get(path) ?? '').toString().replace(from, to)));
/** Sets the number of entries that the pages of the listing report. */
const pagesInService = (entries: number) => replacing('data/service.json', /"entries": \d+/, `"entries": ${entries}`);
const pagesOf = (entries: number) => (files: BagFiles) => {
  pagesInService(entries)(files);
  replacing(TRANSFER_LOG, /"listed": \{\s*"entries": \d+/, `"listed": { "entries": ${entries}`)(files);
};
/** Changes an answer of the service that the bundle quotes. */
const quoting = (member: 'stream_record' | 'check_answer', from: string, to: string) => (files: BagFiles) => {
  const service = JSON.parse((files.get('data/service.json') ?? '').toString());
  expect(service[member]).toContain(from);
  service[member] = service[member].replace(from, to);
  files.set('data/service.json', Buffer.from(toRecordBytes(service)));
  if (member !== 'check_answer') return;
  const log = JSON.parse((files.get(TRANSFER_LOG) ?? '').toString());
  const { exchange } = log.steps.find(({ step }: { step: string }) => step === 'vendor-verify');
  exchange.sha256 = sha256(service[member]);
  files.set(TRANSFER_LOG, Buffer.from(toRecordBytes(log)));
};
const alsoProved = (verdict: Verdict): Verdict => ({
  ...verdict,
  claims: {
    ...verdict.claims,
    completeness: { state: 'proved', basis: "the service's own listing has the same 5 entries" },
  },
});

/** Span that an earlier run recorded, starting at the first entry. */
const BEGUN_ELSEWHERE: Span = {
  run_id: '2026-09',
  period: { from: null, to: null },
  part: false,
  entries: {
    first_sequence: 1,
    head: { sequence: 3, hash: chain[2]?.hash ?? '' },
    previous_hash: 'a'.repeat(64),
    first_recorded_at: null,
    last_recorded_at: null,
    digests_bind: true,
    entries_sha256: null,
    agrees: true,
  },
};

/** State of a claim that rests on the word of others. */
type Word = 'recorded' | 'unproved' | 'refuted';
interface Forgery {
  name: string;
  bundle: Omit<PackageBundle, 'target'>;
  change?: (files: BagFiles) => void;
  /** True if verification finds the forgery in the bundle alone, and in an archive that the forger built around it. */
  isFound: boolean;
  completeness: Word;
  continuity: Word;
}

const READ_BACK = { isFound: false, completeness: 'recorded', continuity: 'recorded' } as const;
const CAUGHT = { isFound: true, completeness: 'refuted', continuity: 'recorded' } as const;
const FORGERIES: Forgery[] = [
  { name: 'cut off, the listing too', bundle: of(cut), ...READ_BACK },
  { name: 'edited, all digests made anew', bundle: of(edited), ...READ_BACK },
  { name: 'without the form that would differ', bundle: { ...of(cut), summary: null }, ...READ_BACK },
  {
    name: 'cut off, without the PDF that would differ',
    bundle: { ...of(cut), pdf },
    change: (files) => files.delete(PDF),
    ...CAUGHT,
    completeness: 'recorded',
  },
  {
    name: 'cut off, without the PDF that would differ, and without a word of it',
    bundle: { ...of(cut), pdf },
    change: (files) => {
      files.delete(PDF);
      withoutStep('pdf')(files);
    },
    ...READ_BACK,
  },
  {
    name: 'cut off, the listing left as it was',
    bundle: of(cut),
    change: set('data/listing.csv', listingOf(chain)),
    ...CAUGHT,
  },
  {
    name: 'cut off, the listing and the count of its pages left as they were',
    bundle: of(cut),
    change: (files) => {
      set('data/listing.csv', listingOf(chain))(files);
      pagesOf(5)(files);
    },
    ...CAUGHT,
  },
  {
    name: 'whole, with a time in the lines of its own entries',
    bundle: of(chain),
    change: set('data/listing.csv', listingOf(chain).replaceAll('\n', `,${JUST_AFTER}\n`)),
    ...CAUGHT,
    completeness: 'unproved',
  },
  {
    name: 'whole, after an export that began at entry 1 with a predecessor',
    bundle: of(chain),
    change: replacing('data/verification.json', /"earlier": \[\]/, `"earlier": [${JSON.stringify(BEGUN_ELSEWHERE)}]`),
    ...CAUGHT,
    completeness: 'recorded',
  },
  {
    name: 'cut off, what is missing made to be listed later',
    bundle: of(cut),
    change: set('data/listing.csv', listedBehind(JUST_AFTER)),
    ...CAUGHT,
    completeness: 'recorded',
  },
  {
    name: 'cut off, what is missing made to be listed at no time',
    bundle: { ...of(cut), listing: listedBehind('') },
    ...READ_BACK,
    completeness: 'unproved',
  },
  {
    name: 'cut off, the listing too, and not the count of its pages',
    bundle: of(cut),
    change: pagesOf(5),
    ...CAUGHT,
    completeness: 'recorded',
  },
  {
    name: 'cut off, the listing and the transfer log too, and not the count of its pages',
    bundle: of(cut),
    change: pagesInService(5),
    ...CAUGHT,
    completeness: 'recorded',
  },
  {
    name: 'edited, the listing left as it was',
    bundle: of(edited),
    change: set('data/listing.csv', listingOf(chain)),
    ...CAUGHT,
  },
  {
    name: 'with a listing that lacks an entry',
    bundle: of(chain),
    change: set('data/listing.csv', listingOf(chain.toSpliced(2, 1))),
    ...CAUGHT,
  },
  {
    name: 'with a listing that is none',
    bundle: of(chain),
    change: set('data/listing.csv', 'all is well\n'),
    ...CAUGHT,
    completeness: 'unproved',
  },
  {
    name: 'without a listing',
    bundle: of(chain),
    change: (files) => files.delete('data/listing.csv'),
    ...CAUGHT,
    completeness: 'unproved',
  },
  {
    name: 'that states completeness by nothing',
    bundle: { ...of(chain), listing: null, restate: alsoProved },
    ...CAUGHT,
    completeness: 'unproved',
  },
  {
    name: 'that quotes the record of another stream',
    bundle: of(chain),
    change: quoting('stream_record', 'payments/prod', 'payments/test'),
    ...CAUGHT,
    completeness: 'recorded',
  },
  {
    name: 'that quotes a record with two ids of a stream',
    bundle: of(chain),
    change: quoting('stream_record', '{', '{"stream_id":"payments/test",'),
    ...CAUGHT,
    completeness: 'recorded',
  },
  {
    name: "that quotes two verdicts of the service's own check",
    bundle: { ...of(chain), isChecked: true },
    change: quoting('check_answer', '{', '{"verified":false,'),
    ...CAUGHT,
    completeness: 'recorded',
  },
];

let browser: ReportBrowser;
let page: Page;
let honest: Made;
const key = newKey();

beforeAll(async () => {
  browser = await ReportBrowser.launch();
  honest = await make({ name: 'honest', bundle: of(chain), ...READ_BACK });
  const stream = monthStream(1, honest.verdict.stream_id);
  page = await browser.open(verifiedRun([{ ...stream, bundle: { ...stream.bundle, identity: honest.identity } }]));
});
afterAll(async () => {
  expect(browser.complaints).toEqual([]);
  await browser.close();
});

interface Made {
  target: string;
  identity: string;
  verdict: Verdict;
  /** Members of the stream's record that do not come from the bundle. */
  beside: Pick<RunStream, 'collected' | 'service'>;
}

async function make({ name, bundle, change }: Forgery): Promise<Made> {
  const made = join(browser.folder, 'made.zip');
  const target = join(browser.folder, `${name}.zip`);
  const { verdict, beside } = await writePackageBundle({ ...bundle, target: made });
  await rebag(made, target, change ?? (() => {}));
  const { identity, judged } = await verifyBundle(target, target, OPTIONS);
  return {
    target,
    identity: identity ?? '',
    verdict,
    beside: { ...beside, service: judged?.service ?? beside.service },
  };
}

const OPTIONS = { contract: null, sealKeys: new Map(), roots: null, now: new Date('2026-11-21T00:00:00Z') };
const statesOf = (verdict: ReportedVerdict | null | undefined) => [
  verdict?.claims.completeness.state,
  verdict?.claims.continuity.state,
];

/** Verifies an archive with one run of one stream. @param stored bundle that replaces the recorded one. */
async function verifyIn(recorded: Made, stored: Made, signing: SigningKey | null, more: Partial<ArchiveContext> = {}) {
  const archive = openMemoryArchive();
  const name = bundleFileName(slugOf(recorded.verdict.stream_id), 'COMPLETE');
  const place = (bytes: Buffer) => ({ key: bundleKey(RUN, name), bytes: bytes.length, sha256: sha256(bytes) });
  const bundle = { ...place(readFileSync(recorded.target)), identity: recorded.identity };
  const stream: RunStream = {
    ...recorded.verdict,
    ...recorded.beside,
    partial: false,
    missing: [],
    bundle,
    record: null,
  };
  const bytes = readFileSync(stored.target);
  await archive.put(bundle.key, { bytes }, place(bytes));
  await finalizeRun(archive, RUN, signing, { streams: [stream] });
  const trust = { publicKeys: [], stampRoots: null, ...more };
  const report = await verifyArchive({ ...OPTIONS, ...trust, archive, workDirectory: browser.folder });
  const verified = report.runs[0]?.streams[0];
  return { code: report.exit_code, states: statesOf(verified), verified };
}

async function drop({ target }: Made): Promise<{ said: string; word: string; tone: string; claims: string[] }> {
  const results = page.locator('.result:not([aria-busy])');
  const before = await results.count();
  await page.setInputFiles('#files', [target]);
  const result = results.nth(before);
  await result.waitFor();
  return {
    said: (await result.textContent()) ?? '',
    word: (await result.locator('.verdict b').textContent()) ?? '',
    tone: (await result.locator('.verdict').getAttribute('class')) ?? '',
    claims: await result.locator('tbody td.status').allTextContents(),
  };
}

describe.each(FORGERIES)('a bundle $name', (forgery) => {
  const { isFound, completeness, continuity } = forgery;
  let forged: Made;

  beforeAll(async () => {
    forged = await make(forgery);
  });

  test('by itself proves nothing of what others said', async () => {
    const verified = await verifyBundle(forged.target, forged.target, OPTIONS);
    const verdict = reportAlone(verified);
    expect(statesOf(verdict)).toEqual([completeness, continuity]);
    expect(verified.findings.length > 0 || verdict?.status === 'refuted').toBe(isFound);
  });

  test('is an alarm on the page that lists another one', async () => {
    const { tone, claims } = await drop(forged);
    expect(tone).toBe('verdict alarm');
    expect([claims[5], claims[4]]).toEqual([completeness, continuity]);
  });

  test('is found in an archive that is signed', async () => {
    const { code, states } = await verifyIn(honest, forged, key, { publicKeys: [key] });
    expect(code).toBe(1);
    expect(states).not.toContain('proved');
  });

  test('in an archive that was made around it has no listing that anybody vouches for', async () => {
    const { code, states } = await verifyIn(forged, forged, null);
    expect([code, states[0]]).toEqual([isFound ? 1 : 0, completeness]);
  });
});

describe('an entry that was altered after it was archived', () => {
  const EVIDENCE = 'data/evidence.json';
  const archived = { ...of(chain), isChecked: true };
  const altered = Buffer.from(
    JSON.stringify(packageOf(chain.map((entry) => (entry.sequence === 2 ? { ...entry, actor: 'mallory' } : entry)))),
  );
  const isAtTheService = /operator of the service|ask the operator/i;
  let made: Made;

  beforeAll(async () => {
    made = await make({ name: 'archived', bundle: archived, ...READ_BACK });
  });

  /** @param isMended true to recompute the manifests after the change. */
  async function alter(isMended: boolean): Promise<Made> {
    const target = join(browser.folder, 'altered.zip');
    await rebag(made.target, target, (files) => {
      const left = new Map([...files].map(([path, content]) => [`${slugOf(STREAM)}/${path}`, content]));
      files.set(EVIDENCE, altered);
      if (!isMended) writeFileSync(`${target}.left`, zipOf(left.set(`${slugOf(STREAM)}/${EVIDENCE}`, altered)));
    });
    return { ...made, target: isMended ? target : `${target}.left` };
  }

  test.each([
    ['its manifests left as they were', false],
    ['its manifests set right', true],
  ])('%s, is not laid to the service', async (_words, isMended) => {
    const { target } = await alter(isMended);
    const { findings, judged } = await verifyBundle(target, target, OPTIONS);
    const verdict = judged?.verdict;
    expect(findings).not.toEqual([]);
    expect(verdict?.claims.content.state).toBe('refuted');
    expect(verdict?.claims.agreement).toMatchObject({
      state: 'unproved',
      reason: expect.stringContaining('not what it states'),
    });
    expect(verdict?.findings.map(({ code }) => code)).toEqual(['content/mismatch']);
    expect(verdict?.findings.map(nextStepOf).join()).not.toMatch(isAtTheService);
  });

  test('is not laid to the service on the page either', async () => {
    const { claims, said } = await drop(await alter(false));
    expect([claims[1], claims[6]]).toEqual(['refuted', 'unproved']);
    expect(said).not.toMatch(/the service says|PDF/);
  });

  test('everything set right but the record, is not laid to the service', async () => {
    const forged = await make({ name: 'made to fit', bundle: { ...archived, evidence: altered }, ...READ_BACK });
    const { judged } = await verifyBundle(forged.target, forged.target, OPTIONS);
    expect(judged?.verdict.claims.agreement.state).toBe('refuted');
    const { verified } = await verifyIn(made, forged, null);
    expect(verified?.claims.agreement.state).toBe('unproved');
    expect(verified?.findings.map(nextStepOf).join()).not.toMatch(isAtTheService);
  });
});

describe('the honest bundle', () => {
  type Row = [words: string, verify: () => Promise<unknown[]>, expected: unknown[]];
  const inArchive = async (signing: SigningKey | null, more: Partial<ArchiveContext>) => {
    const { code, states } = await verifyIn(honest, honest, signing, more);
    return [code, ...states];
  };
  const require = (...required: ClaimName[]) => ({ required });
  test.each<Row>([
    ['in a signed archive, under its key', () => inArchive(key, { publicKeys: [key] }), [0, 'proved', 'proved']],
    ['in a signed archive, under no key', () => inArchive(key, {}), [0, 'recorded', 'proved']],
    ['in an archive that is not signed', () => inArchive(null, {}), [0, 'recorded', 'proved']],
    [
      'where completeness is required, under its key',
      () => inArchive(key, { publicKeys: [key], ...require('order', 'completeness') }),
      [0, 'proved', 'proved'],
    ],
    [
      'where completeness is required, and nobody vouches for it',
      () => inArchive(null, require('order', 'completeness')),
      [3, 'recorded', 'proved'],
    ],
    [
      'by itself',
      async () => statesOf(reportAlone(await verifyBundle(honest.target, honest.target, OPTIONS))),
      ['recorded', 'recorded'],
    ],
  ])('%s', async (_words, verify, expected) => {
    expect(await verify()).toEqual(expected);
  });

  test('by itself does not meet who requires what it can only record', async () => {
    const options = { ...OPTIONS, ...require('order', 'continuity') };
    expect(reportAlone(await verifyBundle(honest.target, honest.target, options))?.status).toBe('incomplete');
  });

  test('on the page that lists it is calm, and what it records is not counted as proved', async () => {
    const { word, tone, claims } = await drop(honest);
    expect([word, tone]).toEqual(['VERIFIED HERE', 'verdict calm']);
    expect([claims[5], claims[4]]).toEqual(['recorded', 'recorded']);
  });
});

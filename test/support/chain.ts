import { createHash, createHmac } from 'node:crypto';
import reference from 'canonicalize';
import { toHmacKey } from '../../src/core/digest.ts';
import { verifyToken } from '../../src/core/timestamp/verify.ts';
import type { DatedQuestion } from '../../src/verifier/chain/dated.ts';
import { PackageReader, type PackageReading } from '../../src/verifier/chain/package.ts';
import type { ComparedSection } from '../../src/verifier/chain/walk.ts';
import type { ClaimName, Examination } from '../../src/verifier/claims/claim.ts';
import { examine } from '../../src/verifier/claims/examine.ts';
import type { Known, Measures, Observations, ReadForms } from '../../src/verifier/claims/observe.ts';
import type { RecordedStatement } from '../../src/verifier/claims/statement.ts';
import type { SealKeys } from '../../src/verifier/model/entry.ts';
import { defaultContract } from '../../src/verifier/reading/default-contract.ts';

/** An entry on the wire; tests put arbitrary values into it. */
export interface SentEntry {
  entry_id: string;
  stream_id: string;
  sequence: number;
  timestamp: string;
  prev_hash: string;
  seal_key_id: string;
  hash: string;
  seal: string;
  [name: string]: unknown;
}

export interface SentPackage {
  package_id: string;
  stream: { stream_id: string };
  entry_count: number;
  first_sequence: number | null;
  last_sequence: number | null;
  head_hash: string | null;
  entries: SentEntry[];
  [name: string]: unknown;
}

export const STREAM = 'payments/prod';
export const SEAL_KEY = 'the seal key of the tests';
export const KEYS: SealKeys = new Map([['k1', toHmacKey(Buffer.from(SEAL_KEY))]]);
export const GENESIS = '0'.repeat(64);

/** Returns the entry with the hash and the seal of its content. */
export function sealed(entry: SentEntry): SentEntry {
  const { hash: _hash, seal: _seal, ...content } = entry;
  const hash = createHash('sha256')
    .update(reference(content) ?? '')
    .digest('hex');
  return { ...entry, hash, seal: createHmac('sha256', SEAL_KEY).update(hash).digest('hex') };
}

/** Returns a new entry after `previous`, or the first entry. */
export function entryAfter(previous: SentEntry | null, more: Partial<SentEntry> = {}): SentEntry {
  const sequence = (previous?.sequence ?? 0) + 1;
  return sealed({
    entry_id: `e-${sequence}`,
    stream_id: previous?.stream_id ?? STREAM,
    sequence,
    timestamp: new Date(Date.UTC(2026, 9, 1) + sequence * 1000).toISOString(),
    actor: `actor-${sequence % 3}`,
    action: 'payment.created',
    resource_type: 'payment',
    resource_id: `p/${sequence}`,
    metadata: { amount: sequence * 1.5, note: 'ü "quoted" \\', tags: ['a', { b: null }] },
    prev_hash: previous?.hash ?? GENESIS,
    seal_key_id: 'k1',
    hash: '',
    seal: '',
    ...more,
  });
}

/** Returns an intact chain from its first entry on. */
export function chainOf(length: number, more: Partial<SentEntry> = {}): SentEntry[] {
  const entries: SentEntry[] = [];
  for (let index = 0; index < length; index++) entries.push(entryAfter(entries.at(-1) ?? null, more));
  return entries;
}

/** Returns a package with the statements of an honest service about its entries. */
export function packageOf(entries: SentEntry[], more: Partial<SentPackage> = {}): SentPackage {
  return {
    format: 'evidence-package/1',
    package_id: 'pkg-1',
    stream: { stream_id: STREAM },
    period: null,
    generated_at: '2026-11-01T00:00:00.000Z',
    entry_count: entries.length,
    first_sequence: entries[0]?.sequence ?? null,
    last_sequence: entries.at(-1)?.sequence ?? null,
    head_hash: entries.at(-1)?.hash ?? null,
    checkpoints: [],
    ...more,
    entries,
  };
}

export interface ReadingOptions {
  keys?: SealKeys;
  watch?: number[];
  compared?: readonly ComparedSection[];
  dated?: readonly DatedQuestion[];
  streamId?: string;
  packageId?: string;
  /** Offsets at which the bytes are cut into pieces. */
  cuts?: number[];
  /** Count entries by their action. */
  actions?: boolean;
}

/** Reads a package, and overwrites each piece after pushing it. */
export function readPackage(sent: SentPackage | string, options: ReadingOptions = {}): PackageReading {
  const { keys = KEYS, cuts = [], watch = [], compared = [], dated = [], ...expected } = options;
  const bytes = Buffer.from(typeof sent === 'string' ? sent : JSON.stringify(sent));
  const reader = new PackageReader(defaultContract, keys, {
    ...expected,
    watch: () => watch,
    compared: () => compared,
    dated: () => dated,
  });
  let at = 0;
  for (const cut of [...cuts, bytes.length]) {
    const piece = Buffer.from(bytes.subarray(at, cut));
    reader.push(piece);
    piece.fill(0x7d);
    at = Math.max(at, cut);
  }
  return reader.finish();
}

export function examineReading(
  reading: PackageReading,
  required: readonly ClaimName[] = ['order', 'content', 'seal'],
  more: Partial<Observed> = {},
): Examination {
  return examine(observationsOf(reading, more), required);
}

/** Observations other than the entries. */
export type Observed = Known & ReadForms & Measures;

export function observationsOf(reading: PackageReading, more: Partial<Observed> = {}): Observations {
  const all: Observed = {
    summary: null,
    pdf: null,
    isShort: false,
    isAltered: false,
    vendor: null,
    earlier: [],
    period: { from: null, to: null },
    statedCount: null,
    statement: NO_STATEMENT,
    unfetched: null,
    secrets: { found_in: [], accepted: false },
    restarts: [],
    completeness: { kind: 'none', code: 'no-listing', reason: 'not asked' },
    contractFile: null,
    acceptUnhashed: [],
    roots: null,
    verifyToken,
    now: new Date('2026-11-30'),
    sealKeysGiven: true,
    contract: defaultContract,
    ...more,
  };
  return { reading, known: all, forms: all, measures: all };
}

/** A list of streams that states nothing. */
export const NO_STATEMENT: RecordedStatement = { entryCount: null, headSequence: null, headDigest: null, readAt: '' };

/** Returns the statement of a list of streams that names this entry as the newest. */
export function statedAt(headSequence: number | null): RecordedStatement {
  return { ...NO_STATEMENT, headSequence };
}

/** Returns codes and positions of findings. */
export function bare(findings: readonly { code: string; sequence?: number; from?: number; to?: number }[]): string[] {
  return findings.map(
    ({ code, sequence, from, to }) => `${code} ${sequence ?? (to === undefined ? '' : `${from}-${to}`)}`,
  );
}

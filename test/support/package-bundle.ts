import { sha256 } from '../../src/core/digest.ts';
import { type WrittenBundle, writeBundle } from '../../src/exporter/bundle/write.ts';
import {
  bagInfo,
  type ServiceDocument,
  type TransferLog,
  type Verification,
} from '../../src/verifier/bundle/documents.ts';
import { CONTRACT_FILE, type FormName, tokenFiles } from '../../src/verifier/bundle/files.ts';
import { slugOf } from '../../src/verifier/bundle/layout.ts';
import { missingFile } from '../../src/verifier/bundle/missing.ts';
import { PackageReader, type PackageReading } from '../../src/verifier/chain/package.ts';
import type { ClaimName } from '../../src/verifier/claims/claim.ts';
import type { CompletenessBasis } from '../../src/verifier/claims/completeness.ts';
import { CarriedListing } from '../../src/verifier/claims/listing-text.ts';
import type { RecordedStatement } from '../../src/verifier/claims/statement.ts';
import { toVerdict, type Verdict } from '../../src/verifier/claims/verdict.ts';
import type { MissingForm } from '../../src/verifier/model/failure.ts';
import type { Description } from '../../src/verifier/profile/description.ts';
import { formatContract } from '../../src/verifier/profile/file.ts';
import type { Contract } from '../../src/verifier/reading/contract.ts';
import { type ContractInUse, DEFAULT_IN_USE } from '../../src/verifier/reading/in-use.ts';
import { pinContract } from '../../src/verifier/reading/pinned.ts';
import type { StreamRecord } from '../../src/verifier/records/record.ts';
import { toRecordBytes } from '../../src/verifier/records/record-bytes.ts';
import { examineReading } from './chain.ts';

export interface PackageBundle {
  target: string;
  /** JSON form of the package. */
  evidence: Uint8Array;
  /** Contract; null for the default one. */
  description?: Description | null;
  /** Summary in JSON. */
  summary?: Uint8Array | null;
  pdf?: Uint8Array | null;
  /** Result of the service's own check: true if it passed, `failed` if it failed, false if it was not requested. */
  isChecked?: boolean | 'failed';
  /** Time at which the exporter verified the package; no token in it is newer. */
  verifiedAt?: Date;
  /** Forms that the bundle lacks. */
  missing?: readonly MissingForm[];
  /** The service's own listing, as text; null if entries were not listed. */
  listing?: string | null;
  /** True if the service's list of streams states the head too. */
  statesHead?: boolean;
  runId?: string;
  /** Ids of the keys with which the bundle claims to have checked seals. */
  sealKeyIds?: string[];
  required?: readonly ClaimName[];
  /** Claims that the bundle states as required, instead of `required`. */
  requires?: readonly ClaimName[];
  /** Changes the verdict that the bundle states. */
  restate?: (verdict: Verdict) => Verdict;
}

const ASKED_AT = '2026-11-01T00:00:00.000Z';
const LATEST = '2026-11-02T00:00:00.000Z';

type ServicePage = NonNullable<ServiceDocument['listing']>['pages'][number];

/** Puts a whole listing into one page. */
function pageOf(listing: string): ServicePage {
  const entries = listing.split('\n').length - 1;
  return { path: '/v1/entries', entries, bytes: listing.length, sha256: sha256(listing) };
}

/** Returns a stream's record in the list of streams. */
function recordIn({ streams: { fields } }: Description, streamId: string, { entries, head }: Statement): string {
  const values = [
    [fields.stream_id, streamId],
    [fields.entry_count, entries],
    [fields.head_sequence, head.sequence],
  ] as const;
  const record = values.reduce<Json>(
    (built, [path, value]) => (path === null || value === null ? built : withValue(built, path, value)),
    {},
  );
  return JSON.stringify(record);
}

type Json = { [name: string]: Json | string | number };

function withValue(record: Json, path: string, value: string | number): Json {
  const [name = '', ...rest] = path.split('.');
  const inner = record[name];
  const below = typeof inner === 'object' ? inner : {};
  return { ...record, [name]: rest.length === 0 ? value : withValue(below, rest.join('.'), value) };
}

/** Writes a bundle of one package as an exporter without a seal key does. */
export async function writePackageBundle({
  target,
  evidence,
  description = null,
  summary = null,
  pdf = null,
  isChecked = false,
  verifiedAt = new Date('2026-11-01T00:00:00.000Z'),
  missing = [],
  listing = null,
  statesHead = false,
  runId = 'r',
  sealKeyIds = [],
  required = ['order'],
  requires = required,
  restate = (verdict) => verdict,
}: PackageBundle): Promise<WrittenBundle & { verdict: Verdict; beside: ReturnType<typeof besideVerdict> }> {
  const inUse: ContractInUse =
    description === null ? DEFAULT_IN_USE : pinContract(Buffer.from(formatContract(description)), 'contract.yaml');
  const { stated, reading, listed } = statedOf(
    inUse,
    { evidence, summary, listing, statesHead, isChecked, verifiedAt },
    required,
  );
  const verdict = restate(missing.length > 0 ? { ...stated.verdict, status: 'incomplete' } : stated.verdict);
  const verification = { ...stated, run_id: runId, required_claims: [...requires], seal_key_ids: sealKeyIds, verdict };
  const service: ServiceDocument = {
    format: 'evidence-service/7',
    run_id: runId,
    stream_id: verdict.stream_id,
    stream_record: recordIn(inUse.description, verdict.stream_id, stateOf(reading, statesHead)),
    check_answer: isChecked === 'failed' ? FAILED_ANSWER : isChecked ? CHECK_ANSWER : null,
    listing:
      listing === null
        ? null
        : { pages: [pageOf(listing)], asked_at: ASKED_AT, asked_at_by_service: null, latest: LATEST },
  };
  const forms = [
    { step: 'json', path: 'data/evidence.json', content: evidence },
    ...(summary === null ? [] : [{ step: 'summary', path: 'data/summary.json', content: summary }]),
    ...(pdf === null ? [] : [{ step: 'pdf', path: 'data/evidence.pdf', content: pdf }]),
  ];
  const written = await writeBundle({
    target,
    slug: slugOf(verdict.stream_id),
    date: '2026-11-01T00:00:00Z',
    bagInfo: bagInfo(verification, missing.length > 0 ? 'PARTIAL' : 'COMPLETE'),
    tagFiles: [{ name: 'README.txt', content: 'How to check this.\n' }, ...missing.map(missingFile)],
    payload: [
      ...forms.map(({ path, content }) => ({ path, content })),
      { path: 'data/verification.json', content: toRecordBytes(verification) },
      { path: 'data/service.json', content: toRecordBytes(service) },
      ...(listing === null ? [] : [{ path: 'data/listing.csv', content: listing }]),
      {
        path: 'data/transfer-log.json',
        content: toRecordBytes(transferLog(inUse.contract, verification, forms, missing, service)),
      },
      ...(inUse.file === null ? [] : [{ path: CONTRACT_FILE, content: inUse.file.bytes }]),
      ...tokenFiles(reading.facts?.checkpoints ?? []).map(({ path, content }) => ({ path, content })),
    ],
  });
  return { ...written, verdict, beside: besideVerdict(stated.statement, listed) };
}

const RECEIVED_AT = '2026-11-01T00:00:00.000Z';
const ANSWERED = { requested_at: RECEIVED_AT, status: 200, date: null, request_id: null, attempts: 1 };
const CHECK_ANSWER = JSON.stringify({ verified: true, checked_at: RECEIVED_AT, failures: [] });
const FAILED_ANSWER = JSON.stringify({ verified: false, checked_at: RECEIVED_AT, failures: [] });

/** Returns the members of a stream's record other than its verdict. */
function besideVerdict(
  { entries, head }: Pick<Verification['statement'], 'entries' | 'head'>,
  listed: number | null = null,
): Pick<StreamRecord, 'collected' | 'service'> {
  return {
    collected: { export_started_at: RECEIVED_AT, requested_at: RECEIVED_AT, received_at: RECEIVED_AT },
    service: { entries, head, listed, verified: null, failed_sequences: [] },
  };
}

function transferLog(
  { downloads }: Contract,
  { run_id, verdict }: Verification,
  forms: readonly { step: string; path: string; content: Uint8Array }[],
  missing: readonly MissingForm[],
  { listing, check_answer: checked }: ServiceDocument,
): TransferLog {
  const pathOf = (step: string) =>
    (downloads[step as FormName] ?? `/${step}`).replace('{package_id}', verdict.package_id ?? '');
  const exchange = { ...ANSWERED, method: 'GET' as const };
  const checkExchange = (answer: string) => {
    const [bytes, digest] = [Buffer.byteLength(answer), sha256(answer)];
    return { ...ANSWERED, method: 'POST' as const, path: '/verify', bytes, sha256: digest };
  };
  return {
    format: 'evidence-transfer-log/7',
    run_id,
    stream_id: verdict.stream_id,
    audit_url: 'https://audit.example.com',
    operator: { user: 'u', host: 'h' },
    request: null,
    requested_by: null,
    export_started_at: RECEIVED_AT,
    received_at: RECEIVED_AT,
    steps: [
      ...forms.map(({ step, path, content }) => ({
        step,
        file: path,
        exchange: { ...exchange, path: pathOf(step), bytes: content.length, sha256: sha256(content) },
      })),
      ...missing.map(({ form, code, reason }) => ({ step: form, failure: { code, reason } })),
      ...(checked === null ? [] : [{ step: 'vendor-verify', exchange: checkExchange(checked) }]),
      ...(listing?.pages.map(({ entries }) => ({ step: 'listing', listed: { entries, pages: 1 } })) ?? []),
    ],
  };
}

function statedOf(
  { contract, file }: ContractInUse,
  {
    evidence,
    summary,
    listing,
    statesHead,
    isChecked,
    verifiedAt,
  }: Required<Pick<PackageBundle, 'evidence' | 'listing' | 'statesHead' | 'isChecked' | 'verifiedAt'>> & {
    summary: Uint8Array | null;
  },
  required: readonly ClaimName[],
): { stated: Verification; reading: PackageReading; listed: number | null } {
  const reader = new PackageReader(contract, new Map());
  reader.push(evidence);
  const reading = reader.finish();
  const nothing = { kind: 'none' as const, code: 'no-listing' as const, reason: 'nothing was asked' };
  const completeness =
    listing === null ? nothing : compared(reading, evidence, contract, listing, stateOf(reading, statesHead));
  const verified = isChecked === true;
  const vendor = isChecked ? { verified, checked_at: RECEIVED_AT, failed_sequences: [] } : null;
  const examination = examineReading(reading, required, {
    completeness,
    contract,
    vendor,
    sealKeysGiven: false,
    statement: recordedStatement(stateOf(reading, statesHead)),
    summary: summary === null ? null : contract.readSummary(summary),
  });
  const stated: Verification = {
    format: 'evidence-verification/7',
    run_id: 'r',
    period: { from: null, to: null },
    package_period: { from: null, to: null },
    verified_at: verifiedAt.toISOString(),
    tool: { name: 'evidence-exporter', version: '0.1.0' },
    contract: contract.name,
    contract_sha256: file?.sha256 ?? null,
    recipe: contract.recipe,
    required_claims: [...required],
    seal_key_ids: [],
    accepted_unhashed: [],
    timestamp_roots: null,
    earlier: [],
    statement: stateOf(reading, statesHead),
    unfetched: null,
    package_entries: null,
    secrets: { found_in: [], accepted: false },
    accepted_restarts: [],
    completeness: listing === null ? nothing : { kind: 'listing' },
    vendor,
    verdict: toVerdict(reading, examination),
    does_not_prove: [],
  };
  return { stated, reading, listed: completeness.kind === 'listing' ? completeness.listed : null };
}

interface Statement {
  entries: number;
  head: { sequence: number | null; hash: null };
  read_at: string;
}

function recordedStatement({ entries, head, read_at }: Statement): RecordedStatement {
  return { entryCount: entries, headSequence: head.sequence, headDigest: head.hash, readAt: read_at };
}

function stateOf({ walk }: PackageReading, statesHead: boolean): Statement {
  const sequence = statesHead ? (walk.head?.sequence ?? null) : null;
  return { entries: walk.entries, head: { sequence, hash: null }, read_at: ASKED_AT };
}

function compared(
  reading: PackageReading,
  evidence: Uint8Array,
  contract: Contract,
  listing: string,
  { head: { sequence: headSequence } }: Statement,
): CompletenessBasis {
  const { streamId } = reading.walk;
  const cut = {
    askedAt: Date.parse(ASKED_AT),
    askedAtByService: null,
    statedHead: headSequence,
    latest: Date.parse(LATEST),
  };
  const carried = new CarriedListing(streamId, cut);
  using reader = new PackageReader(contract, new Map(), { streamId, ...carried.observer });
  reader.push(evidence);
  reader.finish();
  carried.endPackage();
  carried.push(Buffer.from(listing));
  return {
    kind: 'listing',
    ...(carried.finish() ?? { lines: 0, listed: 0, same: 0, differences: 1, deviations: [], undecided: 0 }),
  };
}

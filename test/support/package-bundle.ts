import { CONTRACT_FILE, type Custody, type Verification } from '../../src/bundle/documents.ts';
import { bagInfo } from '../../src/bundle/info.ts';
import { slugOf } from '../../src/bundle/layout.ts';
import { type MissingForm, missingFile } from '../../src/bundle/missing.ts';
import { tokenFiles } from '../../src/bundle/tokens.ts';
import { type WrittenBundle, writeBundle } from '../../src/bundle/write.ts';
import { PackageReader, type PackageReading } from '../../src/chain/package.ts';
import type { ClaimName } from '../../src/claims/claim.ts';
import { toVerdict, type Verdict } from '../../src/claims/verdict.ts';
import type { Description } from '../../src/contract/description.ts';
import { formatContract } from '../../src/contract/file.ts';
import { type ContractInUse, DEFAULT_IN_USE } from '../../src/contract/in-use.ts';
import { pinContract } from '../../src/contract/pinned.ts';
import { sha256 } from '../../src/encoding/digest.ts';
import { type StreamRecord, toRecordBytes } from '../../src/ledger/record.ts';
import { examineReading } from './chain.ts';

export interface PackageBundle {
  target: string;
  /** The JSON form. */
  evidence: Uint8Array;
  /** Null for the default contract. */
  description?: Description | null;
  /** A summary in JSON. */
  summary?: Uint8Array | null;
  /** Forms that it lacks. */
  missing?: readonly MissingForm[];
  runId?: string;
  /** Of the keys that it says seals were checked with. */
  sealKeyIds?: string[];
  required?: readonly ClaimName[];
  /** What it states that it requires, instead. */
  requires?: readonly ClaimName[];
  /** To state another verdict than the one that the entries give. */
  restate?: (verdict: Verdict) => Verdict;
}

/** A bundle of one package, as an exporter leaves it that has no seal key. */
export async function writePackageBundle({
  target,
  evidence,
  description = null,
  summary = null,
  missing = [],
  runId = 'r',
  sealKeyIds = [],
  required = ['order'],
  requires = required,
  restate = (verdict) => verdict,
}: PackageBundle): Promise<WrittenBundle & { verdict: Verdict }> {
  const inUse: ContractInUse =
    description === null ? DEFAULT_IN_USE : pinContract(Buffer.from(formatContract(description)), 'contract.yaml');
  const { stated, reading } = statedOf(inUse, evidence, summary, required);
  const verdict = restate(missing.length > 0 ? { ...stated.verdict, status: 'incomplete' } : stated.verdict);
  const verification = { ...stated, run_id: runId, required_claims: [...requires], seal_key_ids: sealKeyIds, verdict };
  const forms = [
    { step: 'json', path: 'data/evidence.json', content: evidence },
    ...(summary === null ? [] : [{ step: 'summary', path: 'data/summary.json', content: summary }]),
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
      { path: 'data/custody.json', content: toRecordBytes(transferLog(verification, forms, missing)) },
      ...(inUse.file === null ? [] : [{ path: CONTRACT_FILE, content: inUse.file.bytes }]),
      ...tokenFiles(reading.facts?.checkpoints ?? []).map(({ path, content }) => ({ path, content })),
    ],
  });
  return { ...written, verdict };
}

const RECEIVED_AT = '2026-11-01T00:00:00.000Z';

/** What a record says of these bundles besides their verdict. */
export const BESIDE_VERDICT: Pick<StreamRecord, 'collected' | 'service'> = {
  collected: { export_started_at: RECEIVED_AT, from: RECEIVED_AT, to: RECEIVED_AT },
  service: { entry_count: null, head_sequence: null, listed: null, verified: null, failed_sequences: [] },
};

function transferLog(
  { run_id, verdict }: Verification,
  forms: readonly { step: string; path: string; content: Uint8Array }[],
  missing: readonly MissingForm[],
): Custody {
  const exchange = {
    method: 'GET' as const,
    requested_at: RECEIVED_AT,
    status: 200,
    date: null,
    request_id: null,
    attempts: 1,
  };
  return {
    format: 'evidence-custody/1',
    run_id,
    stream_id: verdict.stream_id,
    audit_origin: 'https://audit.example.com',
    operator: { user: 'u', host: 'h' },
    request: null,
    requested_by: null,
    export_started_at: RECEIVED_AT,
    received_at: RECEIVED_AT,
    steps: [
      ...forms.map(({ step, path, content }) => ({
        step,
        file: path,
        exchange: { ...exchange, path: `/${step}`, bytes: content.length, sha256: sha256(content) },
      })),
      ...missing.map(({ form, reason }) => ({ step: form, failure: reason })),
    ],
  };
}

function statedOf(
  { contract, file }: ContractInUse,
  evidence: Uint8Array,
  summary: Uint8Array | null,
  required: readonly ClaimName[],
): { stated: Verification; reading: PackageReading } {
  const reader = new PackageReader(contract, new Map());
  reader.push(evidence);
  const reading = reader.finish();
  const completeness = { kind: 'none' as const, why: 'nothing was asked' };
  const examination = examineReading(reading, required, {
    completeness,
    contract,
    sealKeysGiven: false,
    summary: summary === null ? null : contract.readSummary(summary),
  });
  const stated: Verification = {
    format: 'evidence-verification/1',
    run_id: 'r',
    period: { from: null, to: null },
    package_period: { from: null, to: null },
    verified_at: '2026-11-01T00:00:00.000Z',
    tool: { name: 'evidence-exporter', version: '0' },
    contract: contract.name,
    contract_sha256: file?.sha256 ?? null,
    recipe: contract.recipe,
    required_claims: [...required],
    seal_key_ids: [],
    accepted_unhashed: [],
    timestamp_roots: null,
    earlier: [],
    stated_head: null,
    stated_entries: null,
    accepted_restart: null,
    completeness,
    vendor: null,
    verdict: toVerdict(reading, examination),
    does_not_prove: [],
  };
  return { stated, reading };
}

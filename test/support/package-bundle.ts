import { CONTRACT_FILE, type Verification } from '../../src/bundle/documents.ts';
import { type WrittenBundle, writeBundle } from '../../src/bundle/write.ts';
import { PackageReader } from '../../src/chain/package.ts';
import type { ClaimName } from '../../src/claims/claim.ts';
import { toVerdict, type Verdict } from '../../src/claims/verdict.ts';
import type { Description } from '../../src/contract/description.ts';
import { formatContract } from '../../src/contract/file.ts';
import { type ContractInUse, DEFAULT_IN_USE } from '../../src/contract/in-use.ts';
import { pinContract } from '../../src/contract/pinned.ts';
import { toRecordBytes } from '../../src/ledger/record.ts';
import { examineReading } from './chain.ts';

export interface PackageBundle {
  target: string;
  /** The JSON form. */
  evidence: Uint8Array;
  /** Null for the default contract. */
  description?: Description | null;
  required?: readonly ClaimName[];
  /** To state another verdict than the one that the entries give. */
  restate?: (verdict: Verdict) => Verdict;
}

/** A bundle of one package, as an exporter leaves it that has no seal key and no other form. */
export function writePackageBundle({
  target,
  evidence,
  description = null,
  required = ['order'],
  restate = (verdict) => verdict,
}: PackageBundle): Promise<WrittenBundle> {
  const inUse: ContractInUse =
    description === null ? DEFAULT_IN_USE : pinContract(Buffer.from(formatContract(description)), 'contract.yaml');
  const verification = statedOf(inUse, evidence, required);
  return writeBundle({
    target,
    slug: 'stream-12345678',
    date: '2026-11-01T00:00:00Z',
    bagInfo: [['External-Identifier', 'r/s']],
    tagFiles: [{ name: 'README.txt', content: 'How to check this.\n' }],
    payload: [
      { path: 'data/evidence.json', content: evidence },
      {
        path: 'data/verification.json',
        content: toRecordBytes({ ...verification, verdict: restate(verification.verdict) }),
      },
      ...(inUse.file === null ? [] : [{ path: CONTRACT_FILE, content: inUse.file.bytes }]),
    ],
  });
}

function statedOf(
  { contract, file }: ContractInUse,
  evidence: Uint8Array,
  required: readonly ClaimName[],
): Verification {
  const reader = new PackageReader(contract, new Map());
  reader.push(evidence);
  const reading = reader.finish();
  const completeness = { kind: 'none' as const, why: 'nothing was asked' };
  const examination = examineReading(reading, required, { completeness, contract, sealKeysGiven: false });
  return {
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
    earlier_head: null,
    reaches_now: true,
    stated_head: null,
    accepted_restart: null,
    completeness,
    vendor: null,
    verdict: toVerdict(reading, examination),
    does_not_prove: [],
  };
}

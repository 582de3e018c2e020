import { dirname } from 'node:path';
import type { Printer } from '../../../core/terminal/printer.ts';
import type { Certificate } from '../../../core/timestamp/certificate.ts';
import type { ClaimName } from '../../../verifier/claims/claim.ts';
import type { ContractUse } from '../../../verifier/reading/in-use.ts';
import type { PublicKey } from '../../../verifier/signature/key.ts';
import type { Config } from '../config/config.ts';

/** Inputs that a verification relied on, and the contracts that it read by. Contains no secrets. */
export interface TrustReport {
  /** Configuration file as given; null for none. */
  configuration: string | null;
  /** Ids of the keys that signatures are verified with. */
  public_keys: string[];
  /** Contains no digest of a key: a digest of a chosen key would allow guessing it. */
  seal_keys: { id: string; file: string }[];
  /** Roots for tokens of entries; null if none are pinned. */
  timestamp_roots: Root[] | null;
  /** Roots for stamps of runs; null if none are pinned. */
  stamp_roots: Root[] | null;
  /** Claims that must be proved, in addition to those that a run or bundle requires. */
  required_claims: ClaimName[];
  /** Claims that need not be proved although a run or bundle requires them. */
  without_claims: ClaimName[];
  /** Endpoint of an S3 store; null for the one in the store's settings. */
  endpoint: string | null;
  /** Contracts that something was read by. */
  contracts: ContractUse[];
  /** Decoders that read the entries: the reference decoder alone, or also the fast one. */
  decoders: 'fast and reference' | 'reference alone';
}

interface Root {
  /** SHA-256 of the certificate, hex. */
  sha256: string;
  subject: string;
}

/** Trust inputs from the reader, apart from the configuration. */
export interface GivenTrust {
  publicKeys: readonly PublicKey[];
  roots: readonly Certificate[] | null;
  stampRoots: readonly Certificate[] | null;
  referenceAlone: boolean;
  without?: readonly ClaimName[];
}

export function describeTrust(config: Config, given: GivenTrust, contracts: readonly ContractUse[]): TrustReport {
  return {
    configuration: config.configFile,
    public_keys: given.publicKeys.map(({ id }) => id),
    seal_keys: [...config.verify.sealKeyFiles].map(([id, file]) => ({ id, file: file.given })),
    timestamp_roots: given.roots?.map(toRoot) ?? null,
    stamp_roots: given.stampRoots?.map(toRoot) ?? null,
    required_claims: config.verify.required,
    without_claims: [...(given.without ?? [])],
    endpoint: config.archive.store.endpoint ?? null,
    contracts: [...contracts],
    decoders: given.referenceAlone ? 'reference alone' : 'fast and reference',
  };
}

export function toRoot({ x509, subject }: Certificate): Root {
  return { sha256: x509.fingerprint256.replaceAll(':', '').toLowerCase(), subject: subject.text };
}

const OWNERS = { reader: 'given by you', bundle: "the bundle's own", default: 'comes with this program' } as const;

/** Lists keys by name if they fit on a line; otherwise their number and their common folder. */
function sealKeys(keys: TrustReport['seal_keys']): string {
  if (keys.length === 0) return 'none';
  if (keys.length <= MAX_NAMED_KEYS) return keys.map(({ id, file }) => `${id} (${file})`).join(', ');
  const folders = new Set(keys.map(({ file }) => dirname(file)));
  const [folder] = folders;
  return folders.size === 1 ? `${keys.length} in ${folder}` : `${keys.length} in ${folders.size} folders`;
}

const MAX_NAMED_KEYS = 3;

/** Prints the trust inputs before the outcome, which depends on them. */
export function printTrust(trust: TrustReport, printer: Printer): void {
  const list = (texts: readonly string[]) => (texts.length === 0 ? 'none' : texts.join(', '));
  const roots = (pinned: TrustReport['stamp_roots']) =>
    list((pinned ?? []).map(({ sha256, subject }) => `${sha256} ${subject}`));
  printer.result(`Configuration ${trust.configuration ?? 'none'}`);
  printer.result(`Public keys   ${list(trust.public_keys)}`);
  printer.result(`Seal keys     ${sealKeys(trust.seal_keys)}`);
  printer.result(`Token roots   ${roots(trust.timestamp_roots)}`);
  printer.result(`Stamp roots   ${roots(trust.stamp_roots)}`);
  printer.result(`Required      ${list(trust.required_claims)}`);
  if (trust.endpoint !== null) printer.result(`Endpoint      ${trust.endpoint}`);
  for (const { name, sha256, owner } of trust.contracts)
    printer.result(`Contract      ${name}${sha256 === null ? '' : `, SHA-256 ${sha256}`}, ${OWNERS[owner]}`);
  if (trust.decoders === 'reference alone') printer.result('Decoder       the reference decoder alone (--reference)');
  printer.result('');
}

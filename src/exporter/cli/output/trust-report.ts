import { dirname } from 'node:path';
import type { Printer } from '../../../core/terminal/printer.ts';
import type { ClaimName } from '../../../verifier/claims/claim.ts';
import type { ContractUse } from '../../../verifier/reading/in-use.ts';
import type { PublicKey } from '../../../verifier/signature/key.ts';
import type { Certificate } from '../../../verifier/timestamp/certificate.ts';
import type { Config } from '../config/config.ts';

/** The trust that a verification took from whoever asked for it, and the contracts by which it read. Nothing in it is a secret. */
export interface TrustReport {
  /** The configuration file, as it was named; null for none. */
  configuration: string | null;
  /** Ids of the keys that signatures are judged by. */
  public_keys: string[];
  /** A digest of a key that somebody chose would let it be guessed, so there is none. */
  seal_keys: { id: string; file: string }[];
  /** Those that tokens of entries are judged under; null where none are pinned. */
  timestamp_roots: Root[] | null;
  /** Those that stamps of runs are judged under; null where none are pinned. */
  stamp_roots: Root[] | null;
  /** The claims that must be proved, whatever a run or a bundle requires besides. */
  required_claims: ClaimName[];
  /** Claims that need not be proved although a run or a bundle requires them. */
  without_claims: ClaimName[];
  /** The endpoint of an S3 store; null for the one that its own settings name. */
  endpoint: string | null;
  /** Each contract that something was read by. */
  contracts: ContractUse[];
  /** The decoders that read the entries: the reference decoder alone, or the fast one too. */
  decoders: 'fast and reference' | 'reference alone';
}

interface Root {
  /** SHA-256 of the certificate, hex. */
  sha256: string;
  subject: string;
}

/** The trust that the reader gave, apart from the configuration. */
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

/** Keys by name as far as they fit on a line; else their number, and the folder where they all lie. */
function sealKeys(keys: TrustReport['seal_keys']): string {
  if (keys.length === 0) return 'none';
  if (keys.length <= MAX_NAMED_KEYS) return keys.map(({ id, file }) => `${id} (${file})`).join(', ');
  const folders = new Set(keys.map(({ file }) => dirname(file)));
  const [folder] = folders;
  return folders.size === 1 ? `${keys.length} in ${folder}` : `${keys.length} in ${folders.size} folders`;
}

const MAX_NAMED_KEYS = 3;

/** The head of the output: whoever reads the outcome knows what it rests on. */
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

import { EvidenceError, isEvidenceError } from '../../core/errors.ts';
import { FORMATS, GET_THAT_VERSION, otherVersionIn } from '../../core/formats.ts';
import type { Bundle } from '../bundle/bundle.ts';
import { type ServiceDocument, VERIFICATION_DOCUMENT, type Verification } from '../bundle/documents.ts';
import { CONTRACT_FILE, SERVICE, TRANSFER_LOG, VERIFICATION } from '../bundle/files.ts';
import { type ContractInUse, DEFAULT_IN_USE } from '../reading/in-use.ts';
import { pinContract } from '../reading/pinned.ts';
import { readDocument } from './document.ts';
import { type Checked, checked, readInBundle } from './object-finding.ts';
import { readServiceDocument } from './service.ts';

const MAX_CONTRACT_BYTES = 2 ** 20;

/** Statements of the bundle about itself, by which the rest of it is read; null for those that cannot be read. */
export interface StatedDocuments {
  stated: Verification | null;
  service: ServiceDocument | null;
  /** Contract of the bundle, or the default one; null if the reader supplied another. */
  own: ContractInUse | null;
}

export async function readDocuments(
  bundle: Bundle,
  key: string,
  { contract, alone = false }: { contract: object | null; alone?: boolean },
): Promise<Checked<StatedDocuments>> {
  const { value: stated, findings } = await readDocument(bundle, key, VERIFICATION, VERIFICATION_DOCUMENT);
  if (stated === null && alone) await refuseOtherVersion(bundle, key);
  const service = await readServiceDocument(bundle, key);
  const own = contract === null ? await readContract(bundle, key, stated) : checked(null);
  return {
    value: { stated, service: service.value, own: own.value },
    findings: [...findings, ...service.findings, ...own.findings],
  };
}

/** Refuses a single bundle whose documents were all written by another version. @throws EvidenceError `config`. */
async function refuseOtherVersion(bundle: Bundle, key: string): Promise<void> {
  const found: (string | null)[] = [];
  for (const path of [VERIFICATION, SERVICE, TRANSFER_LOG]) {
    const isThere = bundle.entries.some((entry) => entry.path === path);
    found.push(isThere ? await otherVersionOf(bundle, path) : null);
  }
  if (found.includes(null)) return;
  throw new EvidenceError(
    'config',
    `the bundle ${key} has documents of the format ${found[0]}, and this version reads ${FORMATS.verification}`,
    { nextStep: `${GET_THAT_VERSION}: "tool" in ${VERIFICATION} names it.` },
  );
}

/** Returns the other version that wrote a document; null for this version or an unreadable document. */
async function otherVersionOf(bundle: Bundle, path: string): Promise<string | null> {
  try {
    return otherVersionIn(await bundle.readFile(path, VERIFICATION_DOCUMENT.maxBytes));
  } catch (error) {
    if (!isEvidenceError(error)) throw error;
    return null;
  }
}

/** Reads the contract that the bundle states. Its digest is checked later, with all files. */
async function readContract(bundle: Bundle, key: string, stated: Verification | null): Promise<Checked<ContractInUse>> {
  const isThere = bundle.entries.some(({ path }) => path === CONTRACT_FILE);
  if (stated === null || stated.contract_sha256 === null || !isThere) return checked(DEFAULT_IN_USE);
  const place = `${key}:${CONTRACT_FILE}`;
  const { value, findings } = await readInBundle(place, async () =>
    pinContract(await bundle.readFile(CONTRACT_FILE, MAX_CONTRACT_BYTES), place),
  );
  return { value: value ?? DEFAULT_IN_USE, findings };
}

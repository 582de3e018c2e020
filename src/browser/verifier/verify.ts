import { readBundle } from '../../bundle/bundle.ts';
import { CLAIMS, type Claim, type ClaimName } from '../../claims/claim.ts';
import { verifyContent } from '../../verify/content.ts';
import type { Result } from '../messages.ts';
import { openBlob } from './blob.ts';

/** Claims that are not, or not wholly, checked here, and what checks them. */
const ELSEWHERE: Partial<Record<ClaimName, string>> = {
  seal: 'Seals are checked by those who have their key: evidence verify BUNDLE --seal-key ID=FILE.',
  anchor:
    'Tokens are not checked in a browser: evidence verify BUNDLE --timestamp-roots FILE, or openssl ts -verify as README.txt in the bundle says.',
  agreement: 'The PDF is not read in a browser: evidence verify BUNDLE compares it too.',
};

/**
 * Verifies one bundle by the rules of `evidence verify`, without keys, roots and PDFs.
 * @param onProgress is told which share of the bundle was read, 0 to 1.
 */
export async function verifyBlob(
  blob: Blob,
  name: string,
  now: Date,
  onProgress: (share: number) => void,
): Promise<Result> {
  let read = 0;
  const container = openBlob(blob, name, (bytes) => {
    read += bytes;
    onProgress(Math.min(read / blob.size, 1));
  });
  const options = { contract: null, sealKeys: new Map(), roots: null, now };
  const { problems, identity, runId, verdict, recorded } = await verifyContent(
    readBundle(container),
    name,
    options,
    null,
  );
  return {
    problems,
    identity,
    runId,
    streamId: verdict?.stream_id ?? null,
    entries: verdict?.entries ?? 0,
    status: verdict?.status ?? null,
    stated: recorded?.status ?? null,
    claims: verdict === null ? [] : CLAIMS.map((claim) => toRow(claim, verdict.claims[claim], recorded?.claims[claim])),
    findings: verdict?.findings ?? [],
    findingsCount: verdict?.findings_count ?? 0,
  };
}

function toRow(
  name: ClaimName,
  { state, basis, reason }: Claim,
  recorded: Claim | undefined,
): Result['claims'][number] {
  const elsewhere = ELSEWHERE[name];
  const isOpen = state === 'unproved' || name === 'agreement';
  return {
    name,
    state,
    why: (state === 'proved' ? basis : reason) ?? '',
    elsewhere: isOpen && state !== 'refuted' ? (elsewhere ?? null) : null,
    stated: recorded?.state ?? null,
  };
}

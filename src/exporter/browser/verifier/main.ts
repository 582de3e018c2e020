import '../stand-ins/dispose.ts';
import { z } from 'zod';
import { EvidenceError, messageOf } from '../../../core/errors.ts';
import { readBundle } from '../../../verifier/bundle/bundle.ts';
import { openBlob } from '../../../verifier/bundle/container.ts';
import { CLAIMS, type Claim, type ClaimName, type ReportedClaim } from '../../../verifier/claims/claim.ts';
import { verifyContent } from '../../../verifier/verify/content.ts';
import { reportAlone } from '../../../verifier/verify/file-report.ts';
import { sayRefutation } from '../../report/view/refutation.ts';
import type { Reply, Result, VerifierRequest } from '../messages.ts';

// Keeps zod from probing for `new Function`, which the page's content security policy forbids.
z.config({ jitless: true });

/** Minimum time between two progress reports, so that the page has time to draw. Milliseconds. */
const PAUSE = 50;

self.addEventListener('message', async ({ data }: MessageEvent<VerifierRequest>) => {
  const reply = (message: Reply) => self.postMessage(message);
  let last = 0;
  try {
    const result = await verifyBlob(data.file, data.file.name, new Date(data.now), (share) => {
      const now = performance.now();
      if (now - last < PAUSE) return;
      last = now;
      reply({ kind: 'progress', share });
    });
    reply({ kind: 'result', result });
  } catch (error) {
    reply({ kind: 'failure', message: messageOf(error) });
  }
});

/** Claims that the browser checks only partly or not at all, with the program that checks them. */
const ELSEWHERE: Partial<Record<ClaimName, string>> = {
  seal: 'Checking seals needs their key: evidence verify BUNDLE --seal-key ID=FILE.',
  anchor:
    'Tokens are not checked in a browser. Use evidence verify BUNDLE --timestamp-roots FILE, or openssl ts -verify as described in README.txt of the bundle.',
  agreement: 'The PDF is not read in a browser. evidence verify BUNDLE reads it, which can only refute.',
};

/** Signatures and certificates can only be verified asynchronously in a browser; reading a PDF needs far more code. */
const NOT_HERE = { readPdf: null, verifyToken: null };

const AGE = 'age-encryption.org/v1';

/**
 * Verifies one bundle by the rules of `evidence verify`, without keys, roots and PDFs.
 * @param onProgress receives the fraction of the bundle that has been read, 0 to 1.
 * @throws EvidenceError `unreadable` if the file is encrypted.
 */
async function verifyBlob(blob: Blob, name: string, now: Date, onProgress: (share: number) => void): Promise<Result> {
  // First line of an encrypted file, defined by the age format.
  if ((await blob.slice(0, AGE.length).text()) === AGE)
    throw new EvidenceError('unreadable', 'it is encrypted; decrypt it (age -d -i KEY FILE) and drop the result');
  let read = 0;
  const container = openBlob(blob, name, (bytes) => {
    read += bytes;
    onProgress(Math.min(read / blob.size, 1));
  });
  const options = { contract: null, sealKeys: new Map(), roots: null, now };
  const verified = await verifyContent(readBundle(container), name, options, NOT_HERE);
  const { findings: bundleFindings, identity, judged } = verified;
  const recorded = judged?.stated.verdict;
  const hasPdf = judged?.hasPdf === true;
  const verdict = reportAlone(verified);
  return {
    bundleFindings,
    identity,
    runId: judged?.stated.run_id ?? null,
    streamId: verdict?.stream_id ?? null,
    entries: verdict?.entries ?? 0,
    status: verdict?.status ?? null,
    refutation:
      verdict?.recorded_refutation === undefined
        ? null
        : sayRefutation(verdict.recorded_refutation, verdict.claims).message,
    claims:
      verdict === null
        ? []
        : CLAIMS.map((claim) => toRow(claim, verdict.claims[claim], recorded?.claims[claim], hasPdf)),
    findings: verdict?.findings ?? [],
    findingsCount: verdict?.findings_count ?? 0,
  };
}

function toRow(
  name: ClaimName,
  { state, basis, reason }: ReportedClaim,
  recorded: Claim | undefined,
  hasPdf: boolean,
): Result['claims'][number] {
  const elsewhere = name === 'agreement' && !hasPdf ? undefined : ELSEWHERE[name];
  const isOpen = state !== 'proved' || name === 'agreement';
  return {
    name,
    state,
    why: (state === 'proved' ? basis : reason) ?? '',
    elsewhere: isOpen && state !== 'refuted' ? (elsewhere ?? null) : null,
    stated: recorded?.state ?? null,
  };
}

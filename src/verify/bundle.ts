import { openBundle } from '../bundle/read.ts';
import { readPdfFacts } from '../contract/pdf.ts';
import { type VerifiedBundle, type VerifyOptions, verifyContent } from './content.ts';

/** Two pages take a tenth of a second; a PDF made to take for ever must not hold up the rest. */
const PDF_WITHIN_MS = 30_000;

/**
 * Verifies one bundle on a disk; see `verifyContent`.
 * @param key how the bundle is called in problems.
 * @throws EvidenceError `not-found` when there is no such file.
 */
export async function verifyBundle(file: string, key: string, options: VerifyOptions): Promise<VerifiedBundle> {
  const opening = openBundle(file, {}, key);
  try {
    return await verifyContent(opening, key, options, (bytes) =>
      readPdfFacts(bytes, AbortSignal.timeout(PDF_WITHIN_MS)),
    );
  } finally {
    await opening.then(
      (bundle) => bundle.close(),
      () => undefined,
    );
  }
}

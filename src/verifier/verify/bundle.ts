import { verifyToken } from '../../core/timestamp/verify.ts';
import { openBundle } from '../bundle/read.ts';
import { readPdf } from '../pdf-text/reader.ts';
import { type VerifiedBundle, type VerifyOptions, verifyContent } from './content.ts';

/**
 * Verifies one bundle on disk; see `verifyContent`.
 * @param key name of the bundle in findings.
 * @throws EvidenceError `not-found` if the file does not exist.
 */
export async function verifyBundle(file: string, key: string, options: VerifyOptions): Promise<VerifiedBundle> {
  const opening = openBundle(file, {}, key);
  try {
    return await verifyContent(opening, key, options, { readPdf, verifyToken });
  } finally {
    await opening.then(
      (bundle) => bundle.close(),
      () => undefined,
    );
  }
}

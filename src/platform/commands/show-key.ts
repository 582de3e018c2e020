import process from 'node:process';
import { EvidenceError } from '../../core/errors.ts';

/**
 * Writes what has a new API key in it to standard output, and waits until it was taken.
 * @param where the key is of, as in "the API key of ./data".
 * @throws EvidenceError `output`. Whoever made the key has to undo it then.
 */
export function showKey(lines: string, where: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  process.stdout.write(lines, (cause) => {
    if (!cause) return resolve();
    const message = `the API key of ${where} could not be shown, and is shown only once; nothing was kept`;
    reject(
      new EvidenceError('output', message, {
        nextStep: 'Run the same command again where its output can be written.',
        cause,
      }),
    );
  });
  return promise;
}

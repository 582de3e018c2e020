import { parentPort } from 'node:worker_threads';
import { type ErrorCode, type ErrorDetails, isEvidenceError, isSystemError } from '../../core/errors.ts';
import { Slots } from '../../core/parallel.ts';
import { type BundleOptions, type WrittenBundle, writeBundle } from '../bundle/write.ts';

export interface PackingJob {
  id: number;
  options: BundleOptions;
}

/** An error of ours loses its class between threads, so it travels as what it says; any other is a defect. */
export type PackingAnswer = { id: number } & (
  | { written: WrittenBundle }
  | { failure: { code: ErrorCode; message: string; details: ErrorDetails } }
  | { defect: unknown; refused: Pick<NodeJS.ErrnoException, 'code' | 'syscall' | 'path'> }
);

const turns = new Slots(1);

// One after the other: what is packed is archived, and the next received, while others are packed. At once, streams of one
// size would all be received and then all be packed.
parentPort?.on('message', ({ id, options }: PackingJob) => {
  void turns.run(async () => parentPort?.postMessage(await answer(id, options)));
});

async function answer(id: number, options: BundleOptions): Promise<PackingAnswer> {
  try {
    return { id, written: await writeBundle(options) };
  } catch (error) {
    if (!isEvidenceError(error)) return { id, defect: error, refused: refusalOf(error) };
    const { code, message, nextStep } = error;
    return { id, failure: { code, message, details: nextStep === undefined ? {} : { nextStep } } };
  }
}

/** Returns what an error loses between threads, and tells of the disk. */
function refusalOf(error: unknown): Pick<NodeJS.ErrnoException, 'code' | 'syscall' | 'path'> {
  if (!isSystemError(error)) return {};
  const { code, syscall, path } = error;
  return { code, syscall, ...(path === undefined ? {} : { path }) };
}

import { parentPort } from 'node:worker_threads';
import { type ErrorCode, type ErrorDetails, isEvidenceError, isSystemError } from '../../core/errors.ts';
import { Slots } from '../../core/parallel.ts';
import { type BundleOptions, type WrittenBundle, writeBundle } from '../bundle/write.ts';

export interface PackingJob {
  id: number;
  options: BundleOptions;
}

/**
 * Answer of the thread. EvidenceError loses its class between threads, so its fields are sent; any other error is a
 * defect.
 */
export type PackingAnswer = { id: number } & (
  | { written: WrittenBundle }
  | { failure: { code: ErrorCode; message: string; details: ErrorDetails } }
  | { defect: unknown; refused: Pick<NodeJS.ErrnoException, 'code' | 'syscall' | 'path'> }
);

const turns = new Slots(1);

// Packs one bundle at a time, so that one bundle is archived and the next stream received while another is packed. In
// parallel, streams of similar size would all be received first and then all be packed.
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

/** Returns the fields of a system error that are lost between threads. */
function refusalOf(error: unknown): Pick<NodeJS.ErrnoException, 'code' | 'syscall' | 'path'> {
  if (!isSystemError(error)) return {};
  const { code, syscall, path } = error;
  return { code, syscall, ...(path === undefined ? {} : { path }) };
}

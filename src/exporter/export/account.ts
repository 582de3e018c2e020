import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { asPart, PackageReader } from '../../verifier/chain/package.ts';
import { entriesBeside } from '../../verifier/claims/completeness.ts';
import { lookOut } from '../../verifier/claims/past.ts';
import { type ExportContext, pastOf, type RunState } from './context.ts';
import { receiveForms } from './forms.ts';
import { makePackage } from './package.ts';
import type { ListedStream } from './plan.ts';
import type { AccountPackage } from './received.ts';

/** Collects the package of the whole account for all streams of a run: made, downloaded and read once. */
export async function collectAccount(
  context: ExportContext,
  run: RunState,
  streams: readonly ListedStream[],
): Promise<AccountPackage> {
  const folder = join(context.workDirectory, 'account');
  await mkdir(folder, { recursive: true });
  const stated = new Map(streams.map((stream) => [stream.streamId, stream.headSequence]));
  const watch = (streamId: string) => entriesBeside(stated.get(streamId) ?? null);
  const look = lookOut((streamId) => pastOf(run, streamId), context.packagePeriod, watch);
  const made = await makePackage(context, '', context.packagePeriod, () => {});
  const begin = () => new PackageReader(context.contract, context.sealKeys, { packageId: made.packageId, ...look });
  using readers = new DisposableStack();
  let reader = readers.use(begin());
  const forms = await receiveForms(context, made.packageId, folder, {
    begin: () => context.signal.throwIfAborted(),
    restart: (form) => {
      if (form !== 'json') return;
      reader[Symbol.dispose]();
      reader = readers.use(begin());
    },
    chunk: (form, bytes) => {
      if (form === 'json') reader.push(bytes);
    },
    failed: (form, message) => context.listen({ type: 'step-failed', streamId: 'all streams', step: form, message }),
  });
  const absent = forms.missing.find(({ form }) => form === 'json');
  const readings = new Map(
    reader.finishEach(stated.keys()).map((reading) => [reading.walk.streamId, reading] as const),
  );
  return {
    ...made,
    ...forms,
    transferLog: [...made.transferLog, ...forms.transferLog],
    readingOf: (streamId) => {
      const reading = readings.get(streamId);
      if (reading === undefined) throw new TypeError(`the stream "${streamId}" was not asked for`);
      return absent === undefined ? reading : asPart(reading, absent.reason);
    },
  };
}

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Rows } from '../../core/rows/rows.ts';
import { asPart, PackageReader, type PackageReading } from '../../verifier/chain/package.ts';
import { entriesBeside } from '../../verifier/claims/completeness.ts';
import { lookOut } from '../../verifier/claims/past.ts';
import { type ExportContext, pastOf, type RunState } from './context.ts';
import { makePackage, receiveForms } from './package.ts';
import { findHidden, type ListedStream, type StreamSelection } from './plan.ts';
import type { AccountPackage, ReceivedForms } from './received.ts';

/**
 * Collects the package of the whole account for all streams of a run. The package is generated, downloaded and read
 * once.
 */
export async function collectAccount(
  context: ExportContext,
  run: RunState,
  streams: Rows<ListedStream>,
): Promise<AccountPackage> {
  const { service, runtime } = context;
  const folder = join(runtime.workDirectory, 'account');
  await mkdir(folder, { recursive: true });
  const stated = new Map(streams.map((stream) => [stream.streamId, stream.headSequence]));
  const made = await makePackage(service, '', () => {});
  const begin = () => beginReading(context, run, made.packageId, stated);
  using readers = new DisposableStack();
  let reader = readers.use(begin());
  const forms = await receiveForms(service, made.packageId, folder, {
    begin: () => runtime.signal.throwIfAborted(),
    restart: (form) => {
      if (form !== 'json') return;
      reader[Symbol.dispose]();
      reader = readers.use(begin());
    },
    chunk: (form, bytes) => {
      if (form === 'json') reader.push(bytes);
    },
    failed: (form, message) => runtime.listen({ type: 'step-failed', streamId: 'all streams', step: form, message }),
  });
  const readings = readingsOf(reader.finishEach(stated.keys()), forms);
  return {
    ...made,
    ...forms,
    transferLog: [...made.transferLog, ...forms.transferLog],
    streamIds: [...readings.keys()],
    readingOf: (streamId) => {
      const reading = readings.get(streamId);
      if (reading === undefined) throw new TypeError(`the stream "${streamId}" was not requested`);
      return reading;
    },
  };
}

/** @param stated sequence number of each stream's newest entry, as the service states it. */
function beginReading(
  { service, trust }: ExportContext,
  run: RunState,
  packageId: string,
  stated: ReadonlyMap<string, number | null>,
): PackageReader {
  return new PackageReader(service.contract, trust.sealKeys, {
    packageId,
    actions: true,
    ...lookOut(
      (streamId) => pastOf(run, streamId),
      service.packagePeriod,
      (streamId) => entriesBeside(stated.get(streamId) ?? null),
    ),
  });
}

/**
 * Returns the readings by stream id. If the package did not arrive completely, each reading covers only part of its
 * stream.
 */
function readingsOf(read: readonly PackageReading[], { missing }: ReceivedForms): ReadonlyMap<string, PackageReading> {
  const absent = missing.find(({ form }) => form === 'json');
  return new Map(
    read.map((reading) => [reading.walk.streamId, absent === undefined ? reading : asPart(reading, absent.reason)]),
  );
}

/** Streams of a run after the service's list was read. */
interface PlannedStreams {
  selection: StreamSelection;
  open: Rows<ListedStream>;
  /** Ids of streams that an earlier attempt finished. */
  finished: ReadonlySet<string>;
}

/**
 * Returns the streams that the account's package contains but that are neither listed nor finished by an earlier
 * attempt.
 */
export async function hiddenIn(
  { question }: ExportContext,
  { account }: RunState,
  { selection, open, finished }: PlannedStreams,
): Promise<ListedStream[]> {
  if (account === null || open.length + finished.size === 0) return [];
  // If a listed stream is open, that stream reports a failure to get the package.
  const held = await (open.length === 0 ? account() : account().catch(() => null));
  const hidden = held === null ? [] : findHidden(selection, question.scope, held.streamIds);
  return hidden.filter(({ streamId }) => !finished.has(streamId));
}

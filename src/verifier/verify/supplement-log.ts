import { SUPPLEMENT_TRANSFER_LOG, type SupplementTransferLog } from '../bundle/documents.ts';
import { TRANSFER_LOG } from '../bundle/files.ts';
import type { RunRecord } from '../records/record.ts';
import type { RunSupplements } from '../records/supplements.ts';
import { SUPPLEMENT_SERVICES } from '../supplements/files.ts';
import { CLOCKS_APART_MS } from '../supplements/judging.ts';
import { readDocument } from './document.ts';
import { type ObjectFinding, recordDiffers, toObjectFinding } from './object-finding.ts';
import type { SoundSupplements } from './supplements-check.ts';

/** Checks that the log has one line for each answer, with its length and digest. */
export async function checkSupplementLog(
  { bundle, files, key }: SoundSupplements,
  run: RunRecord,
  supplements: RunSupplements,
  received: ReadonlySet<string>,
): Promise<ObjectFinding[]> {
  const place = `${key}:${TRANSFER_LOG}`;
  const { value: log, findings } = await readDocument(bundle, key, TRANSFER_LOG, SUPPLEMENT_TRANSFER_LOG);
  if (log === null) return findings;
  const messages = [
    ...(log.run_id === run.run_id ? [] : ['is the transfer log of another run']),
    ...(isOfServices(log, supplements) ? [] : ['names other service addresses than the run record']),
    ...differencesInSteps(log, files, received),
  ];
  return [
    ...messages.map((message) => toObjectFinding('bundle/contradiction', place, message)),
    ...checkTimes(log, run, supplements, place),
  ];
}

function differencesInSteps(
  { steps }: SupplementTransferLog,
  files: SoundSupplements['files'],
  received: ReadonlySet<string>,
): string[] {
  const logged = new Set<string>();
  const wrong = steps.flatMap((step) => {
    const why = whyStepDiffers(step, files, received, logged);
    if (step.file !== undefined) logged.add(step.file);
    return why ?? [];
  });
  const unlogged = [...received].filter((path) => !logged.has(path));
  return [...wrong, ...unlogged.map((path) => `does not say how ${path} was received`)];
}

function whyStepDiffers(
  { step, file, exchange }: SupplementTransferLog['steps'][number],
  files: SoundSupplements['files'],
  received: ReadonlySet<string>,
  logged: ReadonlySet<string>,
): string | null {
  if (file === undefined || exchange === undefined || !received.has(file))
    return `has a step "${step}" without an answer`;
  if (logged.has(file)) return `says twice how ${file} was received`;
  if (exchange.sha256 !== files.get(file)?.sha256 || exchange.bytes !== files.get(file)?.bytes)
    return `states another size or digest of ${file}`;
  return exchange.status < 200 || exchange.status > 299 ? `says that ${file} was refused` : null;
}

/**
 * Checks that the recorded time of each collection, by which records are judged, is in the run and not before its
 * requests.
 */
function checkTimes(
  { steps }: SupplementTransferLog,
  { begun_at: begunAt }: RunRecord,
  { services }: RunSupplements,
  place: string,
): ObjectFinding[] {
  return SUPPLEMENT_SERVICES.flatMap((service) => {
    const state = services[service];
    if (state.state !== 'collected') return [];
    const times = steps
      .filter(({ file }) => file?.startsWith(`data/${service}/`))
      .map(({ exchange }) => Date.parse(exchange?.requested_at ?? begunAt));
    // Another machine, with another clock, may have resumed the run.
    const earliest = Math.max(Date.parse(begunAt) - CLOCKS_APART_MS, ...times);
    if (Date.parse(state.collected_at) >= earliest) return [];
    const message = `shows that ${service} was collected later than the run record says`;
    const values = { expected: new Date(earliest).toISOString(), actual: state.collected_at };
    return [recordDiffers(place, message, values)];
  });
}

function isOfServices({ services }: SupplementTransferLog, { services: recorded }: RunSupplements): boolean {
  return SUPPLEMENT_SERVICES.every((service) => {
    const state = recorded[service];
    return services[service] === (state.state === 'collected' ? state.origin : undefined);
  });
}

import { z } from 'zod';
import { EvidenceError, messageOf } from '../../core/errors.ts';
import type { Json } from '../../core/json/canonical.ts';
import { prepend, readInflated, readLines } from './lines.ts';
import { resourceOf } from './resource.ts';
import type { ImportResult, ImportTally } from './result.ts';
import { type EntryQueue, runImport, type ServiceOptions } from './run.ts';
import { type ImportedEntry, toField, toStreamId } from './service.ts';

/** Maximum size of a log file as delivered by CloudTrail, which is one JSON document and parsed as a whole. */
const MAX_DOCUMENT_BYTES = 128 * 1024 * 1024;
/**
 * Maximum size of a record. CloudTrail truncates records at 256 KiB (1 MiB when expanded); this leaves room for
 * enrichment.
 */
const MAX_LINE_BYTES = 4 * 1024 * 1024;

const text = z.string().min(1);
const recordSchema = z.looseObject({
  eventID: text,
  eventSource: text,
  eventName: text,
  eventTime: z.iso.datetime({ offset: true }),
  userIdentity: z.record(z.string(), z.unknown()).nullish(),
});
const insightSchema = z.looseObject({ eventType: z.literal('AwsCloudTrailInsight') });

/** Fields that identify the actor, best first. */
const ACTOR_FIELDS = ['arn', 'invokedBy', 'principalId', 'userName', 'type'];

interface Located {
  /** File and line, or file and position in `Records`, for messages. */
  where: string;
  json: Json;
}

/**
 * Records AWS CloudTrail events, from log files as delivered (`{"Records":[…]}`) or with one record per line, gzip or
 * not. Each event is recorded once, by its `eventID`.
 *
 * @throws EvidenceError `unreadable` with file and line; earlier events are recorded.
 */
export function importCloudTrail(options: ServiceOptions & { files: readonly string[] }): Promise<ImportResult> {
  const changed = { numbersAsText: 0, repairedTexts: 0 };
  const sources = options.files.map((file) => async (queue: EntryQueue, tally: ImportTally) => {
    for await (const located of readRecords(file, changed)) {
      if (insightSchema.safeParse(located.json).success) tally.skip('CloudTrail Insights events, which have no actor');
      else await queue.add(toEntry(located));
    }
  });
  return runImport(options, [...sources, async (_queue, tally) => noteChanges(changed, tally)]);
}

function noteChanges(changed: { numbersAsText: number; repairedTexts: number }, tally: ImportTally): void {
  if (changed.numbersAsText > 0)
    tally.note(`${changed.numbersAsText} numbers that a double cannot represent were recorded as text.`);
  if (changed.repairedTexts > 0)
    tally.note(`${changed.repairedTexts} texts contained a lone surrogate, which was recorded as U+FFFD.`);
}

async function* readRecords(
  file: string,
  changed: { numbersAsText: number; repairedTexts: number },
): AsyncGenerator<Located> {
  const parse = (json: string, where: string): Json => {
    try {
      const parsed = parseExactly(json);
      changed.numbersAsText += parsed.numbersAsText;
      changed.repairedTexts += parsed.repairedTexts;
      return parsed.value;
    } catch (cause) {
      throw new EvidenceError('unreadable', `${where} is not JSON: ${messageOf(cause)}`, { cause });
    }
  };
  const chunks = readInflated(file);
  const head = await chunks.next();
  if (head.done === true) return;
  const whole = prepend(head.value, chunks);
  if (startsDocument(head.value)) {
    const document = parse(await readDocument(file, whole), file);
    for (const [index, json] of recordsOf(document, file).entries())
      yield { where: `record ${index + 1} of ${file}`, json };
    return;
  }
  for await (const line of readLines(file, whole, MAX_LINE_BYTES)) {
    const where = `line ${line.number} of ${file}`;
    if (line.text.trim() !== '') yield { where, json: parse(line.text, where) };
  }
}

/**
 * Reports whether a file starts as a delivered log file; a single record on a line would start with `{"eventVersion"`.
 */
function startsDocument(head: Buffer): boolean {
  return /^\uFEFF?\s*\{\s*"Records"\s*:/.test(head.subarray(0, 256).toString('utf8'));
}

async function readDocument(file: string, inflated: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of inflated) {
    bytes += chunk.length;
    if (bytes > MAX_DOCUMENT_BYTES)
      throw new EvidenceError('unreadable', `${file} inflates to more than ${MAX_DOCUMENT_BYTES} bytes`, {
        nextStep: "Write one record per line, for example with `jq -c '.Records[]'`. Such a file can have any size.",
      });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks)
    .toString('utf8')
    .replace(/^\uFEFF/, '');
}

function recordsOf(document: Json, file: string): Json[] {
  const records = typeof document === 'object' && document !== null && !Array.isArray(document) && document['Records'];
  if (Array.isArray(records)) return records;
  throw new EvidenceError('unreadable', `"Records" of ${file} is not a list`);
}

function toEntry({ where, json }: Located): ImportedEntry {
  const parsed = recordSchema.safeParse(json);
  if (!parsed.success) {
    const fields = [...new Set(parsed.error.issues.map((issue) => issue.path.join('.') || 'the record'))].join(', ');
    throw new EvidenceError('unreadable', `${where} is not a CloudTrail record (missing or wrong: ${fields})`);
  }
  const { eventID, eventSource, eventName, eventTime, userIdentity } = parsed.data;
  const record = json as { [name: string]: Json };
  const { eventSource: _source, eventName: _name, eventTime: _time, ...metadata } = record;
  const resource = resourceOf(record, eventSource.replace(/\.amazonaws\.com$/, ''));
  return {
    stream_id: toStreamId(eventSource),
    actor: toField(actorOf(userIdentity ?? {})),
    action: toField(eventName),
    resource_type: toField(resource.type),
    resource_id: toField(resource.id),
    metadata,
    occurred_at: eventTime,
    idempotency_key: `cloudtrail:${eventID}`,
  };
}

function actorOf(identity: { [name: string]: unknown }): string {
  for (const field of ACTOR_FIELDS) {
    const value = identity[field];
    if (typeof value === 'string' && value !== '') return value;
  }
  return '-';
}

export interface ImportedJson {
  value: Json;
  /** Number of numbers that became text, because a double would have changed or lost them. */
  numbersAsText: number;
  /** Number of strings with a lone surrogate, now U+FFFD, because no digest can be computed over such a string. */
  repairedTexts: number;
}

/**
 * Parses JSON, and makes changes explicit that an audit entry requires: an integer beyond ±(2^53−1) or a number beyond
 * the range of a double becomes its source text.
 *
 * @throws SyntaxError
 */
export function parseExactly(text: string): ImportedJson {
  let numbersAsText = 0;
  let repairedTexts = 0;
  const revive = (_name: string, value: Json, context?: { source?: string }): Json => {
    if (typeof value === 'number' && losesDigits(value)) {
      numbersAsText++;
      return context?.source ?? String(value);
    }
    if (typeof value === 'string' && !value.isWellFormed()) {
      repairedTexts++;
      return value.toWellFormed();
    }
    return value;
  };
  return { value: JSON.parse(text, revive) as Json, numbersAsText, repairedTexts };
}

function losesDigits(number: number): boolean {
  return !Number.isFinite(number) || (Number.isInteger(number) && !Number.isSafeInteger(number));
}

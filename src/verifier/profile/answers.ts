import { isEvidenceError } from '../../core/errors.ts';
import { cutText } from '../../core/foreign-text.ts';
import type { Json } from '../../core/json/canonical.ts';
import type { Description } from './description.ts';
import { digestReader } from './digest-text.ts';
import { RoleFields } from './fields.ts';
import type { List } from './list-description.ts';
import { valueAt } from './path.ts';
import { toTimestamp } from './time.ts';

/** Stream as the service lists it; null if the service does not show a value. */
export interface StreamAnswer {
  streamId: string;
  entryCount: number | null;
  headSequence: number | null;
  headDigest: string | null;
  verified: boolean | null;
  lastCheckedAt: string | null;
  /** True if the service shows that it never checked the stream. */
  neverChecked: boolean;
  /** Description of the part that violates the contract; null if none does. */
  drift: string | null;
}

/** Listed entry, as far as a comparison needs it. */
export interface EntryAnswer {
  /** Null if entries do not state their stream. */
  streamId: string | null;
  sequence: number;
  /** Lower-case hex. */
  digest: string;
  /** RFC 3339; empty if the service shows none. */
  timestamp: string;
}

export interface GenerateAnswer {
  packageId: string;
  /** Null if the answer does not state it. */
  streamId: string | null;
  made: MadeAnswer | null;
}

/** Statements about a package in the answer that reports it ready. */
export interface MadeAnswer {
  /** Null if the answer does not state it. */
  entryCount: number | null;
}

/** Result of the service's own check of a stream. */
export interface VerifyAnswer {
  verified: boolean;
  checkedAt: string | null;
  failedSequences: number[];
}

/**
 * Reads the service's answers other than packages, by a contract. All methods throw `EvidenceError` `contract` if a
 * field with a role is missing or has another type.
 */
export interface AnswerReader {
  stream(item: Json): StreamAnswer;
  entry(item: Json): EntryAnswer;
  /** Returns the id of the key that seals a listed entry; null for a service without seals. */
  sealKeyId(item: Json): string | null;
  generated(answer: Json): GenerateAnswer;
  /** Reads the answer about a package's status; null until the package is ready. */
  made(answer: Json): MadeAnswer | null;
  verification(answer: Json): VerifyAnswer;
}

export function answerReader(description: Description): AnswerReader {
  const digests = digestReader(description.digest);
  const { entry: roles, generate } = description;
  const made = (answer: Json) => readMade(description, answer);
  return {
    made,
    stream: (item) => readStream(description, item),
    entry: (item) => {
      const fields = new RoleFields('a listed entry', item, description);
      return {
        streamId: roles.stream_id === null ? null : fields.text(roles.stream_id),
        sequence: fields.integer(roles.sequence, roles.first_sequence),
        digest: fields.read(roles.digest, (sent) => digests.digest(sent), digests.shape),
        timestamp: roles.timestamp === null ? '' : toTimestamp(fields, roles.timestamp, roles.timestamp_unit),
      };
    },
    sealKeyId: (item) => {
      if (description.seal === null) return null;
      const { key } = description.seal;
      return 'id' in key ? key.id : new RoleFields('a listed entry', item, description).text(key.field);
    },
    generated: (answer) => {
      const fields = new RoleFields('the package', answer, description);
      const { package_id, stream_id } = generate.fields;
      const streamId = stream_id === null ? null : fields.text(stream_id);
      return { packageId: fields.id(package_id), streamId, made: made(answer) };
    },
    verification: (answer) => readVerification(description, answer),
  };
}

function readMade(description: Description, answer: Json): MadeAnswer | null {
  const { ready, fields: paths } = description.generate;
  // The answer may count the entries so far of a package that is not ready yet.
  if (ready.when === 'download-answers') return { entryCount: null };
  const { entry_count: path } = paths;
  const fields = new RoleFields('the package', answer, description);
  const isStated = path !== null && fields.has(path) && !fields.isNull(path);
  if (ready.when === 'at-once') return { entryCount: isStated ? fields.integer(path, 0) : null };
  const known = (sent: Json | undefined) =>
    typeof sent === 'string' && [...ready.ready, ...ready.pending].includes(sent) ? sent : null;
  const status = fields.read(ready.field, known, 'a status that is known');
  if (!ready.ready.includes(status)) return null;
  return { entryCount: isStated ? fields.integer(path, 0) : null };
}

function readVerification(description: Description, answer: Json): VerifyAnswer {
  const { verify } = description;
  if (verify === null) throw new TypeError('a contract without verify has no such answers');
  const fields = new RoleFields('the verification', answer, description);
  const { verified, checked_at, failures, failure_sequence } = verify.fields;
  return {
    verified: fields.boolean(verified),
    checkedAt: checked_at === null || fields.isNull(checked_at) ? null : cutText(fields.text(checked_at), MAX_TIME),
    failedSequences: failures === null ? [] : failedSequences(valueAt(answer, failures), failure_sequence),
  };
}

/** Maximum number of code points of a time that is shown as sent. */
const MAX_TIME = 64;

function readStream(description: Description, item: Json): StreamAnswer {
  const digests = digestReader(description.digest);
  const fields = new RoleFields('a stream', item, description);
  const paths = description.streams.fields;
  const answer: StreamAnswer = {
    streamId: fields.text(paths.stream_id),
    entryCount: null,
    headSequence: null,
    headDigest: null,
    verified: null,
    lastCheckedAt: null,
    neverChecked: false,
    drift: null,
  };
  const stated = <T>(path: string | null, read: (path: string) => T): T | null =>
    path === null || fields.isNull(path) ? null : read(path);
  try {
    if (paths.entry_count !== null) answer.entryCount = fields.integer(paths.entry_count, 0);
    // A stream without entries has no head: some services say 0, some null.
    answer.headSequence = stated(paths.head_sequence, (path) => fields.integer(path, 0));
    answer.headDigest = stated(paths.head_digest, (path) =>
      fields.read(path, (sent) => digests.digest(sent), digests.shape),
    );
    answer.verified = stated(paths.verified, (path) => fields.boolean(path));
    answer.lastCheckedAt = stated(paths.last_checked_at, (path) => fields.text(path));
    answer.neverChecked = paths.last_checked_at !== null && answer.lastCheckedAt === null;
  } catch (error) {
    if (!isEvidenceError(error, 'contract')) throw error;
    answer.drift = error.message;
  }
  return answer;
}

const KEPT_FAILURES = 1000;

function failedSequences(failures: Json | undefined, path: string | null): number[] {
  if (!Array.isArray(failures) || path === null) return [];
  const numbers = failures.map((failure) => valueAt(failure, path)).filter((found) => typeof found === 'number');
  return [...new Set(numbers)].slice(0, KEPT_FAILURES);
}

/** Returns the items of one page of a list; null if they are not at the contract's path. */
export function itemsOf(list: Pick<List, 'items'>, answer: Json): Json[] | null {
  const items = valueAt(answer, list.items);
  return Array.isArray(items) ? items : null;
}

/** Reports whether packages and listings can be limited to a period. */
export function selectsPeriod({ generate }: Description): boolean {
  const body = JSON.stringify(generate.body);
  return body.includes('{from}') && body.includes('{to}');
}

/**
 * Fills the placeholders of a body or path. A body member that is a placeholder without a value is left out.
 * @param values by name; null for no value.
 */
export function fillIn(template: Json, values: Readonly<Record<string, string | null>>): Json {
  if (typeof template === 'string') return fillText(template, values);
  if (Array.isArray(template)) return template.map((item) => fillIn(item, values));
  if (typeof template !== 'object' || template === null) return template;
  const members = Object.entries(template).filter(([, value]) => !isOpen(value, values));
  return Object.fromEntries(members.map(([name, value]) => [name, fillIn(value, values)]));
}

function isOpen(value: Json, values: Readonly<Record<string, string | null>>): boolean {
  const [, name] = typeof value === 'string' ? (/^\{(\w+)\}$/.exec(value) ?? []) : [];
  return name !== undefined && values[name] === null;
}

/** Replaces all placeholders at once, so that a value which looks like a placeholder stays unchanged. */
export function fillText(template: string, values: Readonly<Record<string, string | null>>): string {
  return template.replace(/\{(\w+)\}/g, (name, bare: string) => values[bare] ?? name);
}

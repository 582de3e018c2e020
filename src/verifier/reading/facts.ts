import { utf8Bytes } from '../../core/bytes.ts';
import { EvidenceError } from '../../core/errors.ts';
import type { Json } from '../../core/json/canonical.ts';
import { parseExactJson } from '../../core/json/exact.ts';
import type { Description } from '../profile/description.ts';
import { type DigestReader, digestBytes } from '../profile/digest-text.ts';
import { RoleFields } from '../profile/fields.ts';
import { valueAt } from '../profile/path.ts';
import type { Checkpoint, PackageFacts, SummaryFacts } from './contract.ts';
import { otherEntries, plainStatements } from './plain-sight.ts';

type Extent = 'whole' | 'head';
/** Reads an optional statement. A null path means that the service does not show it. */
type Read<T> = (path: string | null) => T | null;

/**
 * Reads the statements of a package about itself.
 * @param extent `whole` if the document is complete; members that the head of a package lacks may still arrive.
 */
export function readFacts(
  description: Description,
  digests: DigestReader,
  document: Json,
  extent: Extent,
): PackageFacts {
  const whole = extent === 'whole';
  const { package: form, generate } = description;
  const paths = form.fields;
  // A package that is only an array of entries states nothing.
  if (Array.isArray(document) && form.entries === '') return { ...NOTHING, scope: generate.scope };
  const fields = new RoleFields('the package', document, description);
  const stated = <T>(read: (path: string) => T, path: string | null): T | null =>
    path === null || (!whole && !fields.has(path)) ? null : read(path);
  const orNull = <T>(read: (path: string) => T, path: string | null): T | null =>
    stated((at) => (fields.isNull(at) ? null : read(at)), path);
  const { format } = form;
  if (format !== null && (whole || fields.has(format.field)))
    fields.read(format.field, (sent) => (sent === format.is ? sent : null), JSON.stringify(format.is));
  const streamId = orNull((path) => fields.text(path), paths.stream_id);
  const ofAccount = paths.stream_id !== null && fields.isNull(paths.stream_id);
  const sequence: Read<number> = (path) => orNull((at) => fields.integer(at, description.entry.first_sequence), path);
  return {
    scope: ofAccount ? 'account' : generate.scope,
    packageId: stated((path) => fields.id(path), paths.package_id),
    streamId,
    entryCount: stated((path) => fields.integer(path, 0), paths.entry_count),
    firstSequence: sequence(paths.first_sequence),
    lastSequence: sequence(paths.last_sequence),
    headDigest: headIn(fields, digests, paths.head_digest, extent),
    generatedAt: stated((path) => fields.text(path), paths.generated_at),
    checkpoints: readCheckpoints(description, digests, document, whole),
    plain: whole ? plainStatements(document, paths, digests) : [],
    otherEntries: whole ? otherEntries(document, description) : [],
  };
}

const NOTHING: Omit<PackageFacts, 'scope'> = {
  packageId: null,
  streamId: null,
  entryCount: null,
  firstSequence: null,
  lastSequence: null,
  headDigest: undefined,
  generatedAt: null,
  checkpoints: [],
  plain: [],
  otherEntries: [],
};

function headIn(
  fields: RoleFields,
  digests: DigestReader,
  path: string | null,
  extent: Extent,
): string | null | undefined {
  if (path === null || (extent === 'head' && !fields.has(path))) return undefined;
  return fields.isNull(path) ? null : fields.read(path, (sent) => digests.digest(sent), digests.shape);
}

function readCheckpoints(
  description: Description,
  digests: DigestReader,
  document: Json,
  whole: boolean,
): Checkpoint[] {
  const roles = description.package.checkpoints;
  if (roles === null) return [];
  const items = valueAt(document, roles.items);
  if (items === undefined && !whole) return [];
  if (!Array.isArray(items))
    throw new EvidenceError('contract', `the field "${roles.items}" of the package is no list of checkpoints`);
  return items.map((item): Checkpoint => {
    const fields = new RoleFields('a checkpoint', item, description);
    return {
      streamId: roles.stream_id === null ? null : fields.text(roles.stream_id),
      sequence: fields.integer(roles.sequence, description.entry.first_sequence),
      digest: fields.read(roles.digest, (sent) => digests.digest(sent), digests.shape),
      token: fields.isNull(roles.token) ? null : decode(fields.text(roles.token), roles.token_encoding),
    };
  });
}

/** Decodes a token. A token that cannot be decoded becomes empty, and its check rejects it. */
function decode(text: string, encoding: 'base64' | 'base64url' | 'hex'): Uint8Array {
  const bare = text.replace(/\s+/g, '');
  return digestBytes(encoding === 'hex' ? bare.toLowerCase() : bare, encoding) ?? new Uint8Array();
}

/** Maximum number of values in a summary: a value of two bytes takes many times as much memory once parsed. */
const MAX_SUMMARY_VALUES = 250_000;
const MARKS = new Set(utf8Bytes(',[{'));

/**
 * Returns an upper bound of the number of values in a JSON text: every value but the first follows one of these marks.
 */
function mayHold(bytes: Uint8Array): number {
  let marks = 1;
  for (const byte of bytes) if (MARKS.has(byte)) marks++;
  return marks;
}

/**
 * @throws EvidenceError `unreadable` if the bytes are not JSON, hold too many values or are ambiguous, or if the
 * contract's summaries are not JSON.
 */
export function readSummaryFacts(description: Description, digests: DigestReader, bytes: Uint8Array): SummaryFacts {
  const paths = description.summary;
  if (paths === null) throw new EvidenceError('unreadable', 'summaries of this service are not JSON');
  if (mayHold(bytes) > MAX_SUMMARY_VALUES)
    throw new EvidenceError('unreadable', `the summary holds more than ${MAX_SUMMARY_VALUES} values`);
  const { value, ambiguity, inexactInteger } = parseExactJson(bytes);
  if (inexactInteger !== null)
    throw new EvidenceError('unreadable', `the summary holds a number that changes when it is read: ${inexactInteger}`);
  if (ambiguity !== null) throw new EvidenceError('unreadable', `the summary is ambiguous: ${ambiguity}`);
  const fields = new RoleFields('the summary', value, description);
  const stated = <T>(path: string | null, read: (path: string) => T): T | null => (path === null ? null : read(path));
  return {
    packageId: stated(paths.package_id, (path) => fields.id(path)),
    streamId: stated(paths.stream_id, (path) => fields.text(path)),
    entryCount: stated(paths.entry_count, (path) => fields.integer(path, 0)),
    headDigest: headIn(fields, digests, paths.head_digest, 'whole'),
    actions: stated(paths.actions, (path) => readActions(valueAt(value, path))),
    plain: plainStatements(value, paths, digests),
  };
}

/**
 * Reads a list of counts by name. Counts only illustrate, so a list of another form yields null, not a contract error.
 */
function readActions(sent: Json | undefined): SummaryFacts['actions'] {
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent)) return null;
  const counts = Object.entries(sent);
  return counts.every(isCount) ? counts : null;
}

function isCount(pair: [string, Json]): pair is [string, number] {
  return Number.isSafeInteger(pair[1]) && Number(pair[1]) >= 0;
}

import { createHmac, type KeyObject } from 'node:crypto';
import { hexBytes, utf8Text } from '../../core/bytes.ts';
import { EvidenceError } from '../../core/errors.ts';
import { cutText } from '../../core/foreign-text.ts';
import type { Json } from '../../core/json/canonical.ts';
import { type ExactJson, parseExactJson } from '../../core/json/exact.ts';
import { isExact } from '../../core/json/numbers.ts';
import { readWritten, type Written } from '../../core/json/source-text.ts';
import type { Entry, RecomputedDigest, SealKeys } from '../model/entry.ts';
import type { Description } from '../profile/description.ts';
import type { KeyChoice } from '../profile/digest-description.ts';
import { type DigestReader, digestReader, macReader } from '../profile/digest-text.ts';
import { RoleFields } from '../profile/fields.ts';
import { namesOf, valueAt, writtenAt } from '../profile/path.ts';
import { toTimestamp } from '../profile/time.ts';
import type { Hashed } from '../recipe/preimage.ts';
import { compileProgram } from '../recipe/program.ts';
import { compileRecipe, hashName, type Recipe } from '../recipe/recipe.ts';
import { compileCover } from '../recipe/roles.ts';
import type { Contract } from './contract.ts';
import { wordsOf } from './entry-words.ts';
import { readFacts, readSummaryFacts } from './facts.ts';

/** Compiles a description into a contract that is ready to read. */
export function openContract(description: Description): Contract {
  const digests = digestReader(description.digest);
  const recipe = compileRecipe(description);
  const cover = compileCover(description);
  return {
    name: description.name,
    recipe: recipe?.words ?? null,
    hasSeals: description.seal !== null,
    hasKeyedDigests: (description.digest.recipe?.key ?? null) !== null,
    bindsPredecessor: cover.bindsPredecessor,
    unhashedSeal: cover.unhashedSeal,
    openRoles: cover.openRoles,
    fields: description.entry,
    countedAction: countedAction(description),
    program: compileProgram(description),
    downloads: description.downloads,
    scope: description.generate.scope,
    genesis: digests.genesis,
    firstSequence: description.entry.first_sequence,
    entriesPath: namesOf(description.package.entries),
    readEntry: entryReader(description, digests, recipe),
    describeEntry: (bytes) => wordsOf(description.entry, parseExactJson(bytes).value),
    readPackage: (document) => readFacts(description, digests, document, 'whole'),
    readPackageHead: (document) => readFacts(description, digests, document, 'head'),
    readSummary: (bytes) => readSummaryFacts(description, digests, bytes),
    sealOf: sealMaker(description),
  };
}

/**
 * Returns the member by which summaries count actions. Null also for an action in an inner object or of several fields,
 * because no known summary counts by those.
 */
function countedAction({ entry, summary }: Description): string | null {
  const [path, ...others] = [entry.action ?? []].flat();
  if (path === undefined || others.length > 0 || (summary?.actions ?? null) === null) return null;
  const [name, ...inner] = namesOf(path);
  return name === undefined || inner.length > 0 ? null : name;
}

function entryReader(description: Description, digests: DigestReader, recipe: Recipe | null): Contract['readEntry'] {
  const { entry: roles, digest } = description;
  const readSeal = sealReader(description.seal);
  return (bytes, members, keys): Entry => {
    const exact = parseExactJson(bytes, { members });
    const fields = new RoleFields('an entry', exact.value, description);
    const entry = hashed(bytes, exact.value);
    if (exact.inexactInteger !== null) refuseInexact(entry, roles.sequence, description.name);
    return {
      streamId: roles.stream_id === null ? null : fields.text(roles.stream_id),
      sequence: fields.integer(roles.sequence, roles.first_sequence),
      entryId: roles.entry_id === null ? '' : fields.id(roles.entry_id),
      timestamp: roles.timestamp === null ? '' : toTimestamp(fields, roles.timestamp, roles.timestamp_unit),
      words: () => wordsOf(roles, exact.value),
      previous: fields.read(roles.previous, (sent) => digests.previous(sent), digests.shape),
      digest: fields.read(roles.digest, (sent) => digests.digest(sent), digests.shape),
      digestText: String(valueAt(exact.value, roles.digest)),
      content: contentOf(entry, exact, recipe, digest.recipe?.key ?? null, keys),
      seal: readSeal(exact.value),
    };
  };
}

/** @throws EvidenceError `contract` if the number at the path is not the whole number that it is read as. */
function refuseInexact(entry: Hashed, path: string, contract: string): void {
  const sent = writtenAt(entry.written(), path);
  const text = sent === undefined ? '' : entry.text().slice(sent.start, sent.end);
  if (sent?.kind !== 'scalar' || !/^[-\d]/.test(text) || isExact(text)) return;
  throw new EvidenceError(
    'contract',
    `the field "${path}" of an entry is no plain whole number, as the contract "${contract}" says it is: ${cutText(text, MAX_SHOWN)}`,
  );
}

/** Maximum number of characters shown of a number, which may have millions of digits. */
const MAX_SHOWN = 40;

function contentOf(
  entry: Hashed,
  { value, ambiguity, inexact }: ExactJson,
  recipe: Recipe | null,
  choice: KeyChoice | null,
  keys: SealKeys,
): RecomputedDigest {
  if (ambiguity !== null) return { state: 'ambiguous', reason: ambiguity };
  if (recipe === null) return { state: 'no-recipe' };
  const keyId = choice === null ? null : (chosenKey(value, choice) ?? '');
  const key = keyId === null ? null : (keys.get(keyId) ?? null);
  if (keyId !== null && key === null) return { state: 'no-key', keyId };
  if (inexact !== null && recipe.needsDoubles) return { state: 'inexact', number: cutText(inexact, MAX_SHOWN) };
  return { state: 'computed', digest: recipe.digest(entry, key), keyId, unhashed: recipe.unhashed(entry) };
}

function hashed(bytes: Uint8Array, value: Json): Hashed {
  let text: string | undefined;
  let written: Written | undefined;
  const sent = () => {
    text ??= utf8Text(bytes);
    return text;
  };
  return {
    value,
    text: sent,
    written: () => {
      written ??= readWritten(sent());
      return written;
    },
  };
}

function chosenKey(entry: Json, choice: KeyChoice): string | null {
  if ('id' in choice) return choice.id;
  const sent = valueAt(entry, choice.field);
  return typeof sent === 'string' || typeof sent === 'number' ? String(sent) : null;
}

function sealReader(seal: Description['seal']): (entry: Json) => Entry['seal'] {
  if (seal === null) return () => null;
  const read = macReader(seal);
  return (entry) => {
    const sent = valueAt(entry, seal.field);
    if (sent === undefined || sent === null) return null;
    const value = read(sent);
    return value === null ? 'malformed' : { keyId: chosenKey(entry, seal.key), value };
  };
}

function sealMaker({ seal }: Description): Contract['sealOf'] {
  return (key: KeyObject, { digest, digestText }) => {
    if (seal === null) throw new EvidenceError('contract', 'this contract knows no seals');
    const data = seal.over === 'digest-text' ? digestText : hexBytes(digest);
    return createHmac(hashName(seal.algorithm), key).update(data).digest('hex');
  };
}

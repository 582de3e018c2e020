import type { Contract } from './contract.ts';
import type { Description } from './description.ts';

/**
 * What a kernel has to be told of a contract whose chains it can verify by itself; null for all others. It can where a
 * digest is the hexadecimal SHA-256 of the RFC 8785 form of all of the entry but its digest and seal, every field is a
 * top-level member, and a seal is the hexadecimal HMAC-SHA-256 of the digest's text.
 */
export function plainKindOf({ numbers, entry, digest, seal }: Description): Contract['plainKind'] {
  const { recipe, encoding, prefix, genesis } = digest;
  const { stream_id: streamId, timestamp, entry_id: entryId } = entry;
  if (streamId === null || timestamp === null || entryId === null) return null;
  const names = [entry.sequence, entry.previous, entry.digest, streamId, timestamp, entryId];
  const isPlain =
    numbers === 'number' &&
    entry.timestamp_unit === 'text' &&
    encoding === 'hex' &&
    prefix === '' &&
    genesis === 'zeros' &&
    recipe?.algorithm === 'sha-256' &&
    names.every((name) => !name.includes('.'));
  if (!isPlain) return null;
  const omitted = omittedBy(recipe.preimage);
  const itself = [entry.digest, ...(seal === null ? [] : [seal.field])];
  if (omitted === null || !omitted.every((name) => itself.includes(name))) return null;
  const plainSeal = seal === null ? null : plainSealOf(seal);
  if (plainSeal === undefined) return null;
  return {
    roles: {
      sequence: entry.sequence,
      previous: entry.previous,
      digest: entry.digest,
      streamId,
      timestamp,
      entryId,
      seal: plainSeal,
    },
    omitted,
  };
}

function omittedBy(preimage: NonNullable<Description['digest']['recipe']>['preimage']): readonly string[] | null {
  const [only] = preimage;
  if (preimage.length !== 1 || typeof only !== 'object' || !('json' in only) || only.json.form !== 'rfc8785')
    return null;
  const { of = '', fields, without = [] } = only.json;
  return of === '' && fields === undefined ? without : null;
}

function plainSealOf({ field, key, algorithm, encoding, over }: NonNullable<Description['seal']>) {
  const isPlain =
    algorithm === 'hmac-sha-256' &&
    encoding === 'hex' &&
    over === 'digest-text' &&
    'field' in key &&
    !field.includes('.');
  return isPlain && !key.field.includes('.') ? { value: field, keyId: key.field } : undefined;
}

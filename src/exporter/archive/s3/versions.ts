import {
  type DeleteMarkerEntry,
  ListObjectsV2Command,
  ListObjectVersionsCommand,
  type ListObjectVersionsCommandOutput,
  type ObjectVersion,
} from '@aws-sdk/client-s3';
import { whereDefined } from '../../../core/defined.ts';
import { EvidenceError } from '../../../core/errors.ts';
import type { StoredObject } from '../../../verifier/archive/archive.ts';
import { compareKeys } from '../../../verifier/archive/key.ts';
import type { Connection } from './connection.ts';
import type { S3Place } from './options.ts';

/** Object of a bucket, by its full name. */
interface StoredName extends Pick<StoredObject, 'bytes' | 'version_id' | 'covered_by'> {
  name: string;
}

interface Version {
  name: string;
  bytes: number;
  id: string | undefined;
  marker: boolean;
  /**
   * Changes with the content: forging an equal tag needs an MD5 second preimage, and encrypting stores give every
   * version a distinct tag. Undefined if the store returns none.
   */
  etag: string | undefined;
}

/**
 * Objects of a bucket by name, each represented by its first version. Versions stored over it later are not the object.
 */
export class Versions {
  /** False if the store does not list versions or the identity may not; null before the first attempt. */
  #listable: boolean | null = null;
  readonly #connection: Connection;
  readonly #place: S3Place;

  constructor(connection: Connection, place: S3Place) {
    this.#connection = connection;
    this.#place = place;
  }

  /** True if the last listing returned versions; null before the first listing. */
  get listable(): boolean | null {
    return this.#listable;
  }

  async find(name: string): Promise<StoredName | null> {
    for await (const found of this.under(name)) return found.name === name ? found : null;
    return null;
  }

  /** Yields all objects whose full name begins with `prefix`, in the order of their UTF-8 bytes. */
  async *under(prefix: string): AsyncGenerator<StoredName> {
    let versions: Version[] = [];
    for await (const page of this.#pages(prefix)) {
      versions = versions.concat(page);
      const last = versions.at(-1)?.name;
      // The next page may contain further versions of the last name.
      const open = versions.findIndex(({ name }) => name === last);
      yield* firstVersions(versions.slice(0, open));
      versions = shorten(versions.slice(open));
    }
    yield* firstVersions(versions);
  }

  async *#pages(prefix: string): AsyncGenerator<Version[]> {
    if (this.#listable === false) return yield* this.#unversionedPages(prefix);
    let keyMarker: string | undefined;
    let versionMarker: string | undefined;
    for (;;) {
      const page = await this.#versionPage(prefix, keyMarker, versionMarker);
      if (page === null) return yield* this.#unversionedPages(prefix);
      const versions = toVersions(page);
      yield versions;
      if (page.IsTruncated !== true) return;
      // Computes the marker instead of using NextKeyMarker, which some stores do not encode like names.
      const next = versions.at(-1)?.name ?? '';
      const order = compareKeys(keyMarker ?? '', next);
      if (order > 0 || (order === 0 && page.NextVersionIdMarker === versionMarker)) throw this.#endless(prefix);
      [keyMarker, versionMarker] = [next, page.NextVersionIdMarker];
    }
  }

  #endless(prefix: string): EvidenceError {
    return new EvidenceError(
      'archive',
      `the store's list of s3://${this.#place.bucket}/${prefix} does not continue where the last page ended`,
      { nextStep: 'Ask the operator of the store; nothing was changed.' },
    );
  }

  /** Returns null if versions cannot be listed. */
  async #versionPage(
    prefix: string,
    keyMarker: string | undefined,
    versionMarker: string | undefined,
  ): Promise<ListObjectVersionsCommandOutput | null> {
    const command = new ListObjectVersionsCommand({
      Bucket: this.#place.bucket,
      Prefix: prefix,
      EncodingType: 'url',
      KeyMarker: keyMarker,
      VersionIdMarker: keyMarker === undefined ? undefined : versionMarker,
    });
    const leave = this.#listable === null ? [403, 405, 501] : [];
    const doing = `list s3://${this.#place.bucket}/${prefix}`;
    const page = await this.#connection.sendOr(doing, command, leave, () => null);
    if (page !== null) this.#listable = true;
    return page;
  }

  async *#unversionedPages(prefix: string): AsyncGenerator<Version[]> {
    let token: string | undefined;
    do {
      const command = new ListObjectsV2Command({
        Bucket: this.#place.bucket,
        Prefix: prefix,
        EncodingType: 'url',
        ContinuationToken: token,
      });
      const page = await this.#connection.send(`list s3://${this.#place.bucket}/${prefix}`, command);
      this.#listable = false;
      yield (page.Contents ?? []).map(({ Key = '', Size = 0 }) => ({
        name: decode(Key),
        bytes: Size,
        id: undefined,
        marker: false,
        etag: undefined,
      }));
      token = page.IsTruncated === true ? page.NextContinuationToken : undefined;
    } while (token !== undefined);
  }
}

/** Returns the versions of a page by name; versions of one name are newest first, as the store lists them. */
function toVersions({ Versions = [], DeleteMarkers = [] }: ListObjectVersionsCommandOutput): Version[] {
  const toVersion = (entry: ObjectVersion | DeleteMarkerEntry) => ({
    name: decode(entry.Key ?? ''),
    bytes: 'Size' in entry ? (entry.Size ?? 0) : 0,
    id: entry.VersionId,
    marker: !('Size' in entry),
    etag: 'ETag' in entry ? entry.ETag : undefined,
    latest: entry.IsLatest === true,
  });
  const all = [...Versions.map(toVersion), ...DeleteMarkers.map(toVersion)];
  // The answer has versions and delete markers in two lists. Only the latest of both must come first; it is marked as
  // such.
  return all.sort((one, other) => compareKeys(one.name, other.name) || Number(other.latest) - Number(one.latest));
}

/** Yields the oldest version of each name from versions sorted by name, without names that have only delete markers. */
function* firstVersions(versions: readonly Version[]): Generator<StoredName> {
  for (let from = 0, to = 0; from < versions.length; from = to) {
    const name = versions[from]?.name ?? '';
    while (versions[to]?.name === name) to += 1;
    const ofName = versions.slice(from, to);
    const first = firstOf(ofName);
    const latest = ofName[0];
    if (first === undefined || latest === undefined) continue;
    const covered_by = coverOf(first, ofName);
    yield {
      name,
      bytes: first.bytes,
      ...(first.id === undefined || (first.id === 'null' && first === latest) ? {} : { version_id: first.id }),
      ...whereDefined({ covered_by }),
    };
  }
}

function firstOf(versions: readonly Version[]): Version | undefined {
  return versions.findLast(({ marker }) => !marker);
}

/** @param versions of one name, newest first. */
function coverOf(first: Version, versions: readonly Version[]): StoredName['covered_by'] {
  if (versions[0] === first) return undefined;
  if (versions[0]?.marker === true) return 'delete-marker';
  return versions[0] !== undefined && isSame(versions[0], first) ? 'same-content' : 'version';
}

function isSame(one: Version, other: Version): boolean {
  return !one.marker && one.bytes === other.bytes && one.etag !== undefined && one.etag === other.etag;
}

/** Reduces the versions of one name so far to the two that matter: the latest, and the oldest with content. */
function shorten(versions: Version[]): Version[] {
  return [...new Set([versions[0], firstOf(versions)])].filter((version) => version !== undefined);
}

/** Decodes a name from an answer with `EncodingType: url`, which keeps control characters out of the XML. */
function decode(encoded: string): string {
  try {
    return decodeURIComponent(encoded.replaceAll('+', ' '));
  } catch {
    return encoded;
  }
}

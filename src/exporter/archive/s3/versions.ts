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

/** An object of a bucket, by its full name. */
interface StoredName extends Pick<StoredObject, 'bytes' | 'version_id' | 'covered_by'> {
  name: string;
}

interface Version {
  name: string;
  bytes: number;
  id: string | undefined;
  marker: boolean;
  /**
   * Differs where the content does: for a second content with the tag of the first, MD5 would have to give up a second
   * preimage, and stores that encrypt give every version a tag of its own. Undefined where the store names none.
   */
  etag: string | undefined;
}

/** The names of objects in a bucket, each with its first version: what was put over it later is not the object. */
export class Versions {
  /** Some stores list no versions; some identities may not. Null until it was tried. */
  #listable: boolean | null = null;
  readonly #connection: Connection;
  readonly #place: S3Place;

  constructor(connection: Connection, place: S3Place) {
    this.#connection = connection;
    this.#place = place;
  }

  /** True if the last listing saw versions; null before the first. */
  get listable(): boolean | null {
    return this.#listable;
  }

  async find(name: string): Promise<StoredName | null> {
    for await (const found of this.under(name)) return found.name === name ? found : null;
    return null;
  }

  /** All whose full name begins with `prefix`, in the order of their UTF-8 bytes. */
  async *under(prefix: string): AsyncGenerator<StoredName> {
    let versions: Version[] = [];
    for await (const page of this.#pages(prefix)) {
      versions = versions.concat(page);
      const last = versions.at(-1)?.name;
      // The versions of the last name may go on in the next page.
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
      // Not NextKeyMarker: not every store encodes it as it encodes the names.
      const next = versions.at(-1)?.name ?? '';
      const order = compareKeys(keyMarker ?? '', next);
      if (order > 0 || (order === 0 && page.NextVersionIdMarker === versionMarker)) throw this.#endless(prefix);
      [keyMarker, versionMarker] = [next, page.NextVersionIdMarker];
    }
  }

  #endless(prefix: string): EvidenceError {
    return new EvidenceError(
      'archive',
      `the store's list of s3://${this.#place.bucket}/${prefix} does not go on where it ended`,
      { nextStep: 'Ask the operator of the store; nothing was changed.' },
    );
  }

  /** Null where versions cannot be listed. */
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

/** The versions of a page by name, those of the same name from the newest to the oldest, as the store lists them. */
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
  // The store's answer has them in two lists. Which came last matters, and that it says; the rest needs no order.
  return all.sort((one, other) => compareKeys(one.name, other.name) || Number(other.latest) - Number(one.latest));
}

/** Returns the oldest version of each name from those sorted by name; none of a name that has only markers. */
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

/** @param versions of one name, from the newest to the oldest. */
function coverOf(first: Version, versions: readonly Version[]): StoredName['covered_by'] {
  if (versions[0] === first) return undefined;
  if (versions[0]?.marker === true) return 'delete-marker';
  return versions[0] !== undefined && isSame(versions[0], first) ? 'same-content' : 'version';
}

function isSame(one: Version, other: Version): boolean {
  return !one.marker && one.bytes === other.bytes && one.etag !== undefined && one.etag === other.etag;
}

/** Returns what is needed of one name's versions so far, however many they are: the latest, and the oldest with content. */
function shorten(versions: Version[]): Version[] {
  return [...new Set([versions[0], firstOf(versions)])].filter((version) => version !== undefined);
}

/** Decodes a name in an answer with `EncodingType: url`, which keeps control characters out of the XML. */
function decode(encoded: string): string {
  try {
    return decodeURIComponent(encoded.replaceAll('+', ' '));
  } catch {
    return encoded;
  }
}

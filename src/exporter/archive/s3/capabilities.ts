import { createHash } from 'node:crypto';
import { EvidenceError } from '../../../core/errors.ts';
import type { Connection } from './connection.ts';
import { isRefusal } from './failure.ts';
import { hasChecksum, inspect } from './inspect.ts';
import type { S3Place } from './options.ts';
import type { PutProtection } from './policy.ts';
import { putWhole, type Upload } from './upload.ts';
import type { Versions } from './versions.ts';

/** Capabilities that an archive needs from a store. */
export interface Capabilities {
  /** Refuses to store an object whose name exists. */
  createOnly: boolean;
  /** Keeps earlier content of a name as a version. */
  versions: boolean;
  /** Checks the SHA-256 of a body and returns it. */
  checksums: boolean;
  /** This identity may read locks. */
  locksShown: boolean;
}

/** Name of the probe object. It begins with a dot, so no key can refer to it. */
export const PROBE = '.capabilities';

/** Name of the scratch object, which `evidence doctor` stores repeatedly. */
export const SCRATCH = '.doctor';

const TEXT = 'Stored by evidence-exporter to test this store. It is not evidence.\n';
const CONTENT = { source: { bytes: Buffer.from(TEXT) }, expected: { sha256: digestOf(TEXT), bytes: TEXT.length } };

/**
 * Probes a store by storing an object that is the same in every archive. A create-only store refuses it from the second
 * time on.
 *
 * @throws EvidenceError `config` if the store should lock objects and does not; otherwise as `Connection.attempt` does.
 */
export async function findCapabilities(
  connection: Connection,
  place: S3Place,
  versions: Versions,
  protection: PutProtection,
): Promise<Capabilities> {
  const name = `${place.prefix}${PROBE}`;
  const upload = { bucket: place.bucket, name, ...CONTENT, protection };
  const conditional = await tryCreate(connection, upload);
  const oldest = await versions.find(name);
  if (oldest === null) throw new EvidenceError('archive', `s3://${place.bucket}/${name} was stored, but is not listed`);
  const isFirst =
    conditional.state === 'created' &&
    // Unknown if the store does not list versions.
    (oldest.version_id === undefined || oldest.version_id === conditional.version_id) &&
    oldest.covered_by === undefined;
  const createOnly =
    conditional.state === 'refused' || (isFirst && (await tryCreate(connection, upload)).state === 'refused');
  const found = await inspect(connection, {
    bucket: place.bucket,
    name,
    version_id: conditional.state === 'created' ? (conditional.version_id ?? undefined) : oldest.version_id,
  });
  if (found === null) throw new EvidenceError('archive', `s3://${place.bucket}/${name} was stored, but does not exist`);
  return {
    createOnly,
    versions: oldest.version_id !== undefined,
    checksums: hasChecksum(found, CONTENT.expected),
    locksShown: !found.lockHidden,
  };
}

type Trial = { state: 'created'; version_id: string | null } | { state: 'refused' } | { state: 'unknown-condition' };

/** Stores the object if it does not exist. Stores it unconditionally if the store does not support conditions. */
async function tryCreate(connection: Connection, upload: Omit<Upload, 'createOnly'>): Promise<Trial> {
  const doing = `store s3://${upload.bucket}/${upload.name}${upload.protection.ObjectLockMode === undefined && upload.protection.ObjectLockLegalHoldStatus === undefined ? '' : ' with a lock'}`;
  const put = ({ createOnly, leave }: { createOnly: boolean; leave: number[] }) =>
    connection.attempt(doing, (signal) => putWhole(connection, { ...upload, createOnly }, signal), { leave });
  try {
    const { version_id } = await put({ createOnly: true, leave: [412, 501] });
    return { state: 'created', version_id: version_id ?? null };
  } catch (error) {
    if (isRefusal(error, 412)) return { state: 'refused' };
    if (!isRefusal(error, 501)) throw error;
    await put({ createOnly: false, leave: [] });
    return { state: 'unknown-condition' };
  }
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

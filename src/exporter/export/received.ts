import type { TransferLog } from '../../verifier/bundle/documents.ts';
import type { PackageReading } from '../../verifier/chain/package.ts';
import type { PackageCut } from '../../verifier/claims/listing.ts';
import type { Failure } from '../../verifier/model/failure.ts';
import type { Form } from '../client/audit.ts';

/** Time at which a package was requested; see `PackageCut`. */
export type AskedAt = Pick<PackageCut, 'askedAt' | 'askedAtByService'>;

/** Package that the service has generated and that is ready for download. */
export interface MadePackage extends AskedAt {
  packageId: string;
  /** Number of entries that the service stated when the package was ready; null if not stated. */
  entryCount: number | null;
  transferLog: TransferLog['steps'];
}

/** Form on disk, complete or partial. */
interface ReceivedFile {
  form: Form;
  /** Path in the bundle. */
  path: string;
  file: string;
  bytes: number;
  /** Digest in hex; null for a partial form. */
  sha256: string | null;
}

/** Forms of one package that the service delivered. */
export interface ReceivedForms {
  files: ReceivedFile[];
  missing: ({ form: Form } & Failure)[];
  transferLog: TransferLog['steps'];
  /** Forms that contain the API key. */
  withKey: Form[];
}

/** Package of a service whose packages cover the whole account. Every stream's bundle contains it. */
export interface AccountPackage extends MadePackage, ReceivedForms {
  readingOf(streamId: string): PackageReading;
  /** Ids of the streams in the package, and of those that were asked for. */
  streamIds: readonly string[];
}

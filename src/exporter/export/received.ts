import type { TransferLog } from '../../verifier/bundle/documents.ts';
import type { PackageReading } from '../../verifier/chain/package.ts';
import type { PackageCut } from '../../verifier/claims/listing.ts';
import type { Form } from '../client/audit.ts';

/** When a package was asked for; see `PackageCut`. */
export type AskedAt = Pick<PackageCut, 'askedAt' | 'askedAtByService'>;

/** A package that the service made and that is ready to be downloaded. */
export interface MadePackage extends AskedAt {
  packageId: string;
  /** The number of its entries, as the service stated it when it was ready; null where it states none. */
  entryCount: number | null;
  transferLog: TransferLog['steps'];
}

/** A form as it lies on disk, whole or as far as it came. */
interface ReceivedFile {
  form: Form;
  /** Its place in the bundle. */
  path: string;
  file: string;
  bytes: number;
  /** Unknown for a part. */
  sha256: string | null;
}

/** The forms of one package as far as the service gave them. */
export interface ReceivedForms {
  files: ReceivedFile[];
  missing: { form: Form; reason: string }[];
  /** Missing ones that the key may not have. */
  refused: Form[];
  transferLog: TransferLog['steps'];
  /** Those that hold the API key. */
  withKey: Form[];
}

/** The one package of a service whose packages hold the whole account: every stream's bundle holds it. */
export interface AccountPackage extends MadePackage, ReceivedForms {
  readingOf(streamId: string): PackageReading;
  /** All that it holds entries of, and those that were asked for. */
  streamIds: readonly string[];
}

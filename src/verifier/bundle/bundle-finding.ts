import { EvidenceError } from '../../core/errors.ts';
import type { BareFinding } from '../model/finding.ts';

export type BundleFindingCode =
  /** File whose bytes are not those that its manifest states. */
  | 'bundle/altered'
  | 'bundle/missing-file'
  /** File that no manifest names, or that no bundle has. */
  | 'bundle/unexpected-file'
  /** Two files of one kind: one program reads the first, another the second. */
  | 'bundle/ambiguous'
  /** Two files of the bundle that contradict each other. */
  | 'bundle/contradiction'
  /** Name that would be extracted elsewhere, by some or all programs. */
  | 'bundle/unsafe-name'
  /** Two names that are the same file on some disks. */
  | 'bundle/name-collision'
  | 'bundle/several-folders'
  | 'bundle/link'
  | 'bundle/encrypted'
  /** File larger than the limits allow, by its own statement or while it is inflated. */
  | 'bundle/too-large'
  /** Bytes in the zip that belong to no file. */
  | 'bundle/hidden-bytes'
  /** Zip that states two different things about the same file, or about itself. */
  | 'bundle/inconsistent-zip'
  /** File whose content cannot be read out of the zip. */
  | 'bundle/unreadable'
  /** Manifest, `bagit.txt` or `bag-info.txt` that violates RFC 8493. */
  | 'bundle/malformed'
  /** Number or size of the payload files other than stated in `bag-info.txt`. */
  | 'bundle/count-differs';

/** Finding about a bundle. Each is an error: the bundle is not as it was packed. */
export interface BundleFinding extends BareFinding<BundleFindingCode> {
  /** Path in the bundle's folder; empty for a finding about the zip itself. */
  path: string;
}

/** Error about a file that cannot be read out of a bundle, thrown to callers that ask for bytes, not for findings. */
export class DamagedFile extends EvidenceError {
  readonly finding: BundleFinding;

  constructor(finding: BundleFinding, cause?: unknown) {
    super('unreadable', finding.message, {
      nextStep: 'Fetch the bundle again from the archive and compare its SHA-256 with the run record.',
      cause,
    });
    this.finding = finding;
  }
}

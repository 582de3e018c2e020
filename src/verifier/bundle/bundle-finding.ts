import { EvidenceError } from '../../core/errors.ts';
import type { BareFinding } from '../model/finding.ts';

export type BundleFindingCode =
  /** The bytes of a file are not those its manifest states. */
  | 'bundle/altered'
  | 'bundle/missing-file'
  /** A file that no manifest names, or that no bundle has. */
  | 'bundle/unexpected-file'
  /** Two files of one kind: one program reads the one, another the other. */
  | 'bundle/ambiguous'
  /** Two files of the bundle say different things. */
  | 'bundle/contradiction'
  /** A name that would be extracted elsewhere, or elsewhere by another program. */
  | 'bundle/unsafe-name'
  /** Two names that are one file on some disks. */
  | 'bundle/name-collision'
  | 'bundle/several-folders'
  | 'bundle/link'
  | 'bundle/encrypted'
  /** Larger than the limits allow, by its own statement or while being inflated. */
  | 'bundle/too-large'
  /** Bytes in the zip that belong to no file. */
  | 'bundle/hidden-bytes'
  /** The zip states two different things about the same file, or about itself. */
  | 'bundle/inconsistent-zip'
  /** The content of a file cannot be read out of the zip. */
  | 'bundle/unreadable'
  /** A manifest, `bagit.txt` or `bag-info.txt` that breaks RFC 8493. */
  | 'bundle/malformed'
  /** Number or bytes of the payload files are not those stated in `bag-info.txt`. */
  | 'bundle/count-differs';

/** Each of them is an error: the bundle is not as it was packed. */
export interface BundleFinding extends BareFinding<BundleFindingCode> {
  /** Within the bundle's folder; empty where it is about the zip itself. */
  path: string;
}

/** A file that cannot be read out of a bundle, thrown where bytes were asked for and a list of findings was not. */
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

import type { WireCheckpoint, WireEntry, WireSummary } from '../wire.ts';

/** The data that the PDF form of a package is composed from. */
export interface EvidencePdf {
  title: string;
  summary: WireSummary;
  /** RFC 3339; also the date of the document. */
  generatedAt: string;
  checkpoints: WireCheckpoint[];
  /** All entries, or the first of them. */
  first: WireEntry[];
  /** The last entries when `first` is not all, else none. */
  last: WireEntry[];
}

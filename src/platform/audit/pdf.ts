import type { WireCheckpoint, WireEntry, WireSummary } from '../../contract/default.ts';

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

/**
 * The PDF form of an evidence package: an A4 document whose text can be selected and searched, in fonts it carries
 * itself. The same input gives the same bytes.
 */
export async function renderEvidencePdf(input: EvidencePdf): Promise<Uint8Array> {
  // Loaded on first use: the PDF library would delay the start of a service that may never be asked for this form.
  const { composeDocument } = await import('./pdf/document.ts');
  return composeDocument(input);
}

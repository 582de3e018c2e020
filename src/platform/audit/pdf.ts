import type { EvidencePdf } from './pdf/input.ts';

/**
 * The PDF form of an evidence package: an A4 document whose text can be selected and searched, in fonts it carries
 * itself. The same input gives the same bytes.
 */
export async function renderEvidencePdf(input: EvidencePdf): Promise<Uint8Array> {
  // Loaded on first use: the PDF library would delay the start of a service that may never be asked for this form.
  const { composeDocument } = await import('./pdf/document.ts');
  return composeDocument(input);
}

import { PDFDocument, StandardFonts } from 'pdf-lib';

/** Draws a page with these facts, one per line. It omits characters that its font lacks, as a small service would. */
export async function packagePdf(title: string, facts: Record<string, string | number>): Promise<Uint8Array> {
  const document = await PDFDocument.create({ updateMetadata: false });
  const font = await document.embedFont(StandardFonts.Helvetica);
  const page = document.addPage([842, 595]);
  page.drawText(title, { x: 40, y: 540, size: 16, font });
  Object.entries(facts)
    .filter(([, value]) => /^[\x20-\x7e]*$/.test(String(value)))
    .forEach(([label, value], index) => {
      page.drawText(`${label}: ${value}`, { x: 40, y: 500 - index * 20, size: 8, font });
    });
  return document.save({ useObjectStreams: false });
}

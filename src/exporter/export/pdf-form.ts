import { readFile } from 'node:fs/promises';
import { utf8Bytes } from '../../core/bytes.ts';
import { EvidenceError } from '../../core/errors.ts';
import { type FormSource, type ReadPdf, readPdfForm } from '../../verifier/claims/observe.ts';
import { readPdf } from '../../verifier/pdf-text/reader.ts';
import type { Form } from '../client/audit.ts';
import type { ExportContext } from './context.ts';
import type { ReceivedForms } from './received.ts';

/** Findings about the PDF of a package. */
export interface PdfInPackage {
  /** Tells what was read of it already. */
  read: ReadPdf;
  /** Forms that hold the API key. */
  withKey: Form[];
}

/** Returns a form that arrived whole; null for any other. */
export function wholeForm({ files, missing }: Pick<ReceivedForms, 'files' | 'missing'>, name: Form): FormSource | null {
  const found = missing.some(({ form }) => form === name) ? undefined : files.find(({ form }) => form === name);
  return found === undefined ? null : { bytes: found.bytes, read: () => readFile(found.file) };
}

/** Reads the PDF once: for what it states, and for the API key in text that the file compresses or escapes. */
export async function readPdfOf(
  { service: { client } }: Pick<ExportContext, 'service'>,
  received: Pick<ReceivedForms, 'files' | 'missing' | 'withKey'>,
): Promise<PdfInPackage> {
  const watch = client.watchKey();
  const seeText = (text: string) => watch.push(utf8Bytes(text));
  const reading = await readPdfForm(wholeForm(received, 'pdf'), (bytes) => readPdf(bytes, { seeText }));
  const isNew = watch.isFound && !received.withKey.includes('pdf');
  return {
    read: async () => {
      if (reading !== null && !('unreadable' in reading)) return reading;
      throw new EvidenceError('unreadable', reading?.unreadable ?? 'it is not there');
    },
    withKey: isNew ? [...received.withKey, 'pdf'] : received.withKey,
  };
}

import { utf8Text } from '../../core/bytes.ts';
import type { Bundle } from './bundle.ts';
import { missingForms } from './files.ts';
import { missingFileName } from './layout.ts';

/** A form that could not be had, and why. */
export interface MissingForm {
  form: string;
  reason: string;
}

const MAX_REASON_BYTES = 64 * 1024;

/** The tag file that stands for the form. */
export function missingFile({ form, reason }: MissingForm): { name: string; content: string } {
  return { name: missingFileName(form), content: `The ${form} form of this package is missing.\n\n${reason}\n` };
}

/** @throws EvidenceError `unreadable` for a file that is damaged or too long. */
export async function readMissing(bundle: Bundle): Promise<MissingForm[]> {
  const missing: MissingForm[] = [];
  for (const form of missingForms(bundle.entries.map(({ path }) => path))) {
    const text = utf8Text(await bundle.readFile(missingFileName(form), MAX_REASON_BYTES));
    missing.push({ form, reason: text.split('\n\n').slice(1).join('\n\n').trim() });
  }
  return missing;
}

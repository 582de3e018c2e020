import { utf8Text } from '../../core/bytes.ts';
import type { Bundle } from './bundle.ts';
import { missingForms } from './files.ts';
import { missingFileName } from './layout.ts';

/** Missing form, and the reason. */
export interface MissingForm {
  form: string;
  reason: string;
}

const MAX_REASON_BYTES = 64 * 1024;

/** Returns the tag file that replaces the form. */
export function missingFile({ form, reason }: MissingForm): { name: string; content: string } {
  return { name: missingFileName(form), content: `The ${form} form of this package is missing.\n\n${reason}\n` };
}

/** @throws EvidenceError `unreadable` if a file is damaged or too long. */
export async function readMissing(bundle: Bundle): Promise<MissingForm[]> {
  const missing: MissingForm[] = [];
  for (const form of missingForms(bundle.entries.map(({ path }) => path))) {
    const text = utf8Text(await bundle.readFile(missingFileName(form), MAX_REASON_BYTES));
    missing.push({ form, reason: text.split('\n\n').slice(1).join('\n\n').trim() });
  }
  return missing;
}

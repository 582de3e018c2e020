import { utf8Text } from '../../core/bytes.ts';
import { EvidenceError } from '../../core/errors.ts';
import { type MissingForm, missingFormSchema } from '../model/failure.ts';
import type { Bundle } from './bundle.ts';
import { missingForms } from './files.ts';
import { missingFileName } from './layout.ts';

const MAX_REASON_BYTES = 64 * 1024;

/** Returns the tag file that replaces the form. */
export function missingFile({ form, code, reason }: MissingForm): { name: string; content: string } {
  const content = `The ${form} form of this package is missing: ${code}.\n\n${reason}\n`;
  return { name: missingFileName(form), content };
}

/** @throws EvidenceError `unreadable` if a file is damaged or too long. */
export async function readMissing(bundle: Bundle): Promise<MissingForm[]> {
  const missing: MissingForm[] = [];
  for (const form of missingForms(bundle.entries.map(({ path }) => path))) {
    const text = utf8Text(await bundle.readFile(missingFileName(form), MAX_REASON_BYTES));
    const [, code, reason] = /^[^\n]* is missing: (\S+)\.\n\n(.*)$/s.exec(text) ?? [];
    const read = missingFormSchema.safeParse({ form, code, reason: reason?.trim() });
    if (!read.success) throw new EvidenceError('unreadable', `${missingFileName(form)} does not have its form`);
    missing.push(read.data);
  }
  return missing;
}

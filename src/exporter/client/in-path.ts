import { EvidenceError } from '../../core/errors.ts';
import { fillText } from '../../verifier/profile/answers.ts';

/**
 * A path with ids as segments of it. Every URL parser takes `.` and `..` for steps, encoded or not (WHATWG URL, 4.5),
 * so they would address something else.
 */
export function inPath(template: string, ids: Readonly<Record<string, string>>): string {
  for (const id of Object.values(ids))
    if (/^\.{0,2}$/.test(id) || !id.isWellFormed())
      throw new EvidenceError('service', `the id ${JSON.stringify(id)} cannot stand in the path of a URL`);
  return fillText(
    template,
    Object.fromEntries(Object.entries(ids).map(([name, id]) => [name, encodeURIComponent(id)])),
  );
}

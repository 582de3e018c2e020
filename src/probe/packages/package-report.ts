import { agree, plural } from '../../core/plurals.ts';
import type { Description } from '../../verifier/profile/description.ts';
import type { Reasoning } from '../report.ts';
import type { Sample, SampleAnswer } from '../sample/sample.ts';

export function reportPackage(
  { generate, downloads, package: form, summary }: Sections,
  read: ReadForm,
  answer: SampleAnswer,
  reasoning: Reasoning,
): void {
  const { ready } = generate;
  const when = ready.when === 'status-says' ? `when ${ready.field} says ${ready.ready.join(' or ')}` : ready.when;
  reasoning.found('generate', JSON.stringify(generate.body), `answered ${answer.status}; ready ${when}`);
  const stated = Object.values(form.fields).filter((path) => path !== null);
  const where = form.entries === '' ? 'the package itself' : form.entries;
  reasoning.found(
    'package',
    `entries in ${where}; ${read.scope}`,
    `its ${plural(read.entries.length, 'entry')} ${agree(read.entries.length, 'has', 'have')} the fields of the chain`,
  );
  if (stated.length > 0)
    reasoning.found('package facts', stated.join(', '), 'equal to the known facts about the package and its entries');
  reportCheckpoints(form.checkpoints, reasoning);
  reasoning.doubts(
    'package facts',
    `${read.unlike.join(', ')}: named like a count or head, but different from the package's entries, which may be truncated`,
    read.unlike.length,
  );
  reasoning.doubts(
    'checkpoints',
    `${read.differ} of them match no entry of the package in number and digest`,
    read.differ,
  );
  for (const name of ['pdf', 'summary'] as const)
    if (downloads[name] === null) reasoning.lacks(name, 'it cannot be downloaded', `bundles have no ${name}`);
  if (summary === null && downloads.summary !== null)
    reasoning.lacks('summary facts', 'the summary is no JSON', 'agreement: the summary is kept, but not compared');
}

function reportCheckpoints(checkpoints: Description['package']['checkpoints'], reasoning: Reasoning): void {
  if (checkpoints === null) {
    const why = 'no list of the package holds RFC 3161 tokens with digests of its entries';
    reasoning.lacks('checkpoints', why, 'anchor: unproved');
    return;
  }
  const how = 'they have the number and the digest of an entry, and a token';
  reasoning.found('checkpoints', checkpoints.items, how);
}

export type Sections = Pick<Description, 'generate' | 'downloads' | 'package' | 'summary'>;

export interface ReadForm {
  form: Description['package'];
  entries: Sample[];
  scope: Description['generate']['scope'];
  /** Number of checkpoints that do not match the entry that they refer to. */
  differ: number;
  /** Fields named like its count or head that do not match its entries. */
  unlike: string[];
  /** Stream of the package; null if it contains all streams. */
  streamId: string | null;
}

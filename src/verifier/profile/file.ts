import { Document, isMap, isScalar } from 'yaml';
import { parseYaml } from '../../core/yaml.ts';
import { type Description, descriptionSchema } from './description.ts';

/**
 * Parses the text of a contract file.
 * @param name of the file, for errors.
 * @throws EvidenceError `config` with file, line and column.
 */
export function parseContract(text: string, name: string): Description {
  return parseYaml(descriptionSchema, text, name);
}

const HEAD = `How an audit service writes its lists, packages and digests. Data only: nothing in it runs.
Paths of URLs stand below the service's address; fields are names joined by dots.`;

/** Comments on the sections. */
const SECTIONS: Partial<Record<keyof Description, string>> = {
  streams: 'The list of streams: where its items are, how it goes on, and which fields a stream has.',
  entries: "The list of one stream's entries, by which a package is compared with what the service lists.",
  verify: "The service's own check of a stream.",
  generate: 'How an evidence package is asked for, and when it is ready.',
  downloads: 'Where the forms of a package are.',
  package: 'The JSON form of a package: where its entries are, and what it states of itself.',
  summary: 'What the summary states; null when it is no JSON.',
  entry: 'Which field of an entry plays which role.',
  digest: 'How digests are written, and the recipe by which they are made anew.',
  seal: 'The HMAC on each digest.',
  supplements: 'What other services show, and which entry of the audit service each record names.',
};

/**
 * Writes a description as the text of a contract file, from which `parseContract` reads the same description. The same
 * description and notes always give the same bytes.
 * @param notes comments on single sections: how they were found.
 */
export function formatContract(
  description: Description,
  notes: Partial<Record<keyof Description, string>> = {},
): string {
  const document = new Document(description, { aliasDuplicateObjects: false });
  document.commentBefore = commented(HEAD);
  if (isMap(document.contents))
    for (const { key } of document.contents.items) {
      if (!isScalar(key)) continue;
      const name = key.value as keyof Description;
      const lines = [SECTIONS[name], notes[name]].filter((line) => line !== undefined);
      if (lines.length === 0) continue;
      key.commentBefore = commented(lines.join('\n'));
      key.spaceBefore = true;
    }
  return document.toString({ lineWidth: 0 });
}

function commented(text: string): string {
  return text.replace(/^/gm, ' ');
}

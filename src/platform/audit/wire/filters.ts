import { recordedIn, text } from '../../http/fields.ts';

/** Maximum length of a search. */
const MAX_SEARCH = 256;

/** Words to search for. */
const searchWords = text.max(MAX_SEARCH).regex(/(?!\u212a)[\p{L}\p{N}\p{M}]/u, 'has no letter and no digit');

/** Member of metadata: its name and its value, separated by the first colon. */
const metadataMember = text.max(2 * MAX_SEARCH).regex(/^[^:]+:/, 'is not a name, a colon and a value');

/** Filters of lists of entries. */
export const entryFilters = {
  actor: text.optional(),
  action: text.optional(),
  resource_type: text.optional(),
  resource_id: text.optional(),
  ...recordedIn,
  /** Words that an entry contains, all of them, in any of its texts. */
  q: searchWords.optional(),
  /** Member of metadata, at any level, as `name:value`. */
  metadata: metadataMember.optional(),
};

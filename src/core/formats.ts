import { utf8Text } from './bytes.ts';
/**
 * Version of the documents of an archive and its bundles, described in `templates/help/archive-format.md`. Each names
 * its format in its member `format`, `evidence-NAME/VERSION`; a change to any of them is a new version of all. Contract
 * files, control frameworks and documents printed by commands have separate versions.
 */
export const ARCHIVE_VERSION = 7;

function format<const Name extends string>(name: Name): `evidence-${Name}/${typeof ARCHIVE_VERSION}` {
  return `evidence-${name}/${ARCHIVE_VERSION}`;
}

export const FORMATS = {
  archive: format('archive'),
  ledgerEntry: format('ledger-entry'),
  acceptance: format('acceptance'),
  asked: format('asked'),
  stream: format('stream'),
  encryptedBundle: format('encrypted-bundle'),
  attempt: format('attempt'),
  supplements: format('supplements'),
  supplementsRecord: format('supplements-record'),
  runDraft: format('run-draft'),
  run: format('run'),
  hold: format('hold-record'),
  holdResult: format('hold-result'),
  restamp: format('restamp-record'),
  share: format('share-record'),
  verification: format('verification'),
  service: format('service'),
  transferLog: format('transfer-log'),
} as const;

const KNOWN: ReadonlySet<string> = new Set(Object.values(FORMATS));

/** Returns the format that a document names if it is another version of one of these; null for any other document. */
export function otherVersionOf(document: unknown): string | null {
  if (typeof document !== 'object' || document === null || !('format' in document)) return null;
  const { format } = document;
  const isName = typeof format === 'string' && /^evidence-[a-z-]{1,40}\/\d{1,9}$/.test(format);
  return isName && !KNOWN.has(format) ? format : null;
}

/** Returns the same as `otherVersionOf` for bytes that may not be JSON. */
export function otherVersionIn(bytes: Uint8Array): string | null {
  try {
    return otherVersionOf(JSON.parse(utf8Text(bytes)));
  } catch {
    return null;
  }
}

/** Next step for an archive or a bundle of another version. */
export const GET_THAT_VERSION =
  'Nothing was verified and nothing was written. Use the version of evidence-exporter that wrote it';

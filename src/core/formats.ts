import { utf8Text } from './bytes.ts';
/**
 * The format that a document names in its member `format`: `evidence-NAME/VERSION`. The documents of an archive and of
 * its bundles share one version, which `templates/help/archive-format.md` describes: a change to any of them is a new
 * version of all. A contract file, a control framework and a document that a command prints have versions of their own.
 */
export const ARCHIVE_VERSION = 5;

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

/** The format that a document names, where it is one of another version than these; null for any other document. */
export function otherVersionOf(document: unknown): string | null {
  if (typeof document !== 'object' || document === null || !('format' in document)) return null;
  const { format } = document;
  const isName = typeof format === 'string' && /^evidence-[a-z-]{1,40}\/\d{1,9}$/.test(format);
  return isName && !KNOWN.has(format) ? format : null;
}

/** As `otherVersionOf`, of what may be no JSON at all. */
export function otherVersionIn(bytes: Uint8Array): string | null {
  try {
    return otherVersionOf(JSON.parse(utf8Text(bytes)));
  } catch {
    return null;
  }
}

/** The next step with an archive or a bundle of another version. */
export const GET_THAT_VERSION =
  'Nothing was verified and nothing was written. Use the version of evidence-exporter that wrote it';

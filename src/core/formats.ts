/**
 * The format that a document names in its member `format`: `evidence-NAME/VERSION`. The documents of an archive and of its
 * bundles share one version, which `templates/help/archive-format.md` describes: a change to any of them is a new version
 * of all. A contract file, a control framework and a document that a command prints have versions of their own.
 */
export const ARCHIVE_VERSION = 2;

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
  runDraft: format('run-draft'),
  run: format('run'),
  hold: format('hold'),
  holdResult: format('hold-result'),
  restamp: format('restamp'),
  share: format('share'),
  verification: format('verification'),
  service: format('service'),
  transferLog: format('transfer-log'),
} as const;

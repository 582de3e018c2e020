/** The keys of the objects of a run and of the ledger, relative to the archive. Pure: `/` everywhere. */

/** What `ledger/service.ts` describes. */
export const ARCHIVE_KEY = 'archive.json';

export function runPrefix(runId: string): string {
  return `runs/${runId}/`;
}

export function runRecordKey(runId: string): string {
  return `runs/${runId}/run.json`;
}

/** What `askedSchema` describes. */
export function askedKey(runId: string): string {
  return `runs/${runId}/asked.json`;
}

/** What `runDraftSchema` describes. */
export function runDraftKey(runId: string): string {
  return `runs/${runId}/run-draft.json`;
}

/** A report of a finalized run. */
export function documentKey(runId: string, name: string): string {
  return `runs/${runId}/${name}`;
}

/** The signed statement over the files of the run. */
export function runEnvelopeKey(runId: string): string {
  return `runs/${runId}/run.dsse.json`;
}

/** Where a run's time-stamp token lies. @param number 1 for the first, then counting the renewals. */
export function stampKey(runId: string, number: number): string {
  return number === 1 ? `runs/${runId}/run.tsr` : `runs/${runId}/run.${number}.tsr`;
}

export function bundleKey(runId: string, fileName: string): string {
  return `runs/${runId}/streams/${fileName}`;
}

/** What `encryptedBundleSchema` describes. @param sha256 of the encrypted bundle. */
export function encryptedBundleKey(runId: string, sha256: string): string {
  return `runs/${runId}/encrypted/${sha256}.json`;
}

export function streamRecordKey(runId: string, slug: string): string {
  return `runs/${runId}/streams/${slug}.json`;
}

/** @param at when the try began; its colons become hyphens, which every file system takes. */
export function attemptPrefix(runId: string, at: Date): string {
  return `runs/${runId}/attempts/${at.toISOString().replaceAll(':', '-')}/`;
}

/** Of all that is recorded about a run after it was finalized. */
export function holdLogPrefix(runId: string): string {
  return `runs/${runId}/hold-log/`;
}

/**
 * Where it is recorded what was done about the protection of a run.
 * @param at when it was asked for; see `attemptPrefix`.
 */
export function holdRecordKey(runId: string, at: string, action: string): string {
  return `runs/${runId}/hold-log/${at.replaceAll(':', '-')}-${action}.json`;
}

/** Beside the record of what was asked for, that of what came of it. */
export function holdResultKey(key: string): string {
  return key.replace(/\.json$/, '.done.json');
}

export function ledgerKey(number: number): string {
  return `ledger/${String(number).padStart(8, '0')}.json`;
}

/** @param at when it was accepted; see `attemptPrefix`. */
export function acceptanceKey(slug: string, at: string): string {
  return `acceptances/${slug}-${at.replaceAll(':', '-')}.json`;
}

/** A public key that something here is signed with. @param id of the key. */
export function publicKeyKey(id: string): string {
  return `keys/${id}.pem`;
}

/** The run that an object belongs to; null for one outside of `runs/`. */
export function runIdOf(key: string): string | null {
  return /^runs\/([^/]+)\//.exec(key)?.[1] ?? null;
}

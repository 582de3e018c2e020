/**
 * Keys of the objects of a run and of the ledger, relative to the archive: functions that build them and functions that
 * parse them. Pure, with `/` everywhere.
 */

import { RUN_ID } from '../model/run-id.ts';

export const RUNS_PREFIX = 'runs/';
export const LEDGER_PREFIX = 'ledger/';
export const PUBLIC_KEYS_PREFIX = 'keys/';
export const ACCEPTANCES_PREFIX = 'acceptances/';

/** Prefixes of keys that belong to no single run. */
export const COMMON_PREFIXES: readonly string[] = [LEDGER_PREFIX, PUBLIC_KEYS_PREFIX, ACCEPTANCES_PREFIX];

export function isCommon(key: string): boolean {
  return COMMON_PREFIXES.some((prefix) => key.startsWith(prefix));
}

/** Key of the object that `ledger/service.ts` describes. */
export const ARCHIVE_KEY = 'archive.json';

export function runPrefix(runId: string): string {
  return `runs/${runId}/`;
}

/** Returns the run that an object belongs to; null outside of `runs/`, and in a folder whose name is no run id. */
export function runIdOf(key: string): string | null {
  const name = /^runs\/([^/]+)\//.exec(key)?.[1];
  return name !== undefined && RUN_ID.test(name) ? name : null;
}

/** Splits the address of a run, `ROOT/runs/ID`; returns null for any other address. */
export function splitRunAddress(address: string): { root: string; runId: string } | null {
  const [, root, runId] = /^(.*)\/runs\/([^/]+)$/s.exec(address) ?? [];
  return root === undefined || runId === undefined ? null : { root, runId };
}

export function runRecordKey(runId: string): string {
  return `runs/${runId}/run.json`;
}

/** Returns the key of the object that `askedSchema` describes. */
export function askedKey(runId: string): string {
  return `runs/${runId}/asked.json`;
}

/** Returns the key of the object that `runDraftSchema` describes. */
export function runDraftKey(runId: string): string {
  return `runs/${runId}/run-draft.json`;
}

/** Returns the key of a report of a finalized run. */
export function documentKey(runId: string, name: string): string {
  return `runs/${runId}/${name}`;
}

export function isDocumentKey(key: string): boolean {
  return /^runs\/[^/]+\/(report\.(pdf|html)|index\.csv|assessment-results\.json)$/.test(key);
}

/** Returns the key of the signed statement over the files of the run. */
export function runEnvelopeKey(runId: string): string {
  return `runs/${runId}/run.dsse.json`;
}

/**
 * Returns the key of a run's time-stamp token. @param number 1 for the first token, 2 for its first renewal, and so on.
 */
export function stampKey(runId: string, number: number): string {
  return number === 1 ? `runs/${runId}/run.tsr` : `runs/${runId}/run.${number}.tsr`;
}

export function bundleKey(runId: string, fileName: string): string {
  return `runs/${runId}/streams/${fileName}`;
}

/** Returns the key of the object that `encryptedBundleSchema` describes. @param sha256 of the encrypted bundle. */
export function encryptedBundleKey(runId: string, sha256: string): string {
  return `runs/${runId}/encrypted/${sha256}.json`;
}

export function isEncryptedBundleKey(key: string): boolean {
  return /^runs\/[^/]+\/encrypted\/[^/]+\.json$/.test(key);
}

/** Returns the key of the bag with a run's supplements, which is marked PARTIAL if one of them is missing. */
export function supplementsKey(runId: string, form: { isPartial: boolean; isEncrypted: boolean }): string {
  return `runs/${runId}/supplements${form.isPartial ? '.PARTIAL' : ''}.zip${form.isEncrypted ? '.age' : ''}`;
}

export function isSupplementsKey(key: string): boolean {
  return /^runs\/[^/]+\/supplements(\.PARTIAL)?\.zip(\.age)?$/.test(key);
}

/** Returns the key of the object that `announcedSupplementsSchema` describes. @param sha256 of the stored bag. */
export function announcedSupplementsKey(runId: string, sha256: string): string {
  return `runs/${runId}/supplements/${sha256}.json`;
}

export function isAnnouncedSupplementsKey(key: string): boolean {
  return /^runs\/[^/]+\/supplements\/[^/]+\.json$/.test(key);
}

export function streamRecordKey(runId: string, slug: string): string {
  return `runs/${runId}/streams/${slug}.json`;
}

/** Returns the slug of the stream whose bundle or record has this key; null for other keys. */
export function streamSlugOf(key: string): string | null {
  return /^runs\/[^/]+\/streams\/([^/]+?)(\.PARTIAL)?\.(zip|zip\.age|json)$/.exec(key)?.[1] ?? null;
}

/** @param at start of the attempt; its colons become hyphens, which every file system accepts. */
export function attemptPrefix(runId: string, at: Date): string {
  return `runs/${runId}/attempts/${at.toISOString().replaceAll(':', '-')}/`;
}

/** Returns the name of a file in an attempt's folder; null for other keys. */
export function attemptFileOf(key: string): string | null {
  return /^runs\/[^/]+\/attempts\/[^/]+\/([^/]+)$/.exec(key)?.[1] ?? null;
}

/** Returns the prefix of everything that is recorded about a run after it was finalized. */
export function holdLogPrefix(runId: string): string {
  return `runs/${runId}/hold-log/`;
}

/**
 * Returns the key of the record of a change to a run's protection.
 * @param at time of the request; see `attemptPrefix`.
 */
export function holdRecordKey(runId: string, at: string, action: string): string {
  return `runs/${runId}/hold-log/${at.replaceAll(':', '-')}-${action}.json`;
}

/** Returns the action in the key of a hold record; null for other keys, including those of results. */
export function holdActionOf(key: string): string | null {
  return /^runs\/[^/]+\/hold-log\/[^/]+-([a-z]+)\.json$/.exec(key)?.[1] ?? null;
}

/** Returns the key of the result of a hold record. */
export function holdResultKey(key: string): string {
  return key.replace(/\.json$/, '.done.json');
}

export function ledgerKey(number: number): string {
  return `ledger/${String(number).padStart(8, '0')}.json`;
}

export function isLedgerKey(key: string): boolean {
  return /^ledger\/\d{8}\.json$/.test(key);
}

/** @param at time of the acceptance; see `attemptPrefix`. */
export function acceptanceKey(slug: string, at: string): string {
  return `acceptances/${slug}-${at.replaceAll(':', '-')}.json`;
}

/** Returns the key of a public key that signed something here. @param id of the key. */
export function publicKeyKey(id: string): string {
  return `keys/${id}.pem`;
}

/** Returns the id of the public key; null for other objects. */
export function publicKeyIdOf(key: string): string | null {
  return /^keys\/([0-9a-f]{64})\.pem$/.exec(key)?.[1] ?? null;
}

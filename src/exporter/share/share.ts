import { FORMATS } from '../../core/formats.ts';
import { SHARE, SHARE_MARK, type SharedObject, type ShareRecord, shareKey } from '../../verifier/records/hold-log.ts';
import { runEnvelopeKey } from '../../verifier/records/keys.ts';
import { toRecordBytes } from '../../verifier/records/record-bytes.ts';
import type { Archive, LinkSeries } from '../archive/archive.ts';
import { putBesideRun } from '../records/put-record.ts';
import { renderLetter } from '../report/letter.ts';
import type { LetterFile, LetterSubject } from '../report/view/letter.ts';
import { ShareFolder } from './folder.ts';
import { type SharedRun, type ShareSelection, selectObjects } from './selection.ts';

interface ShareOptions {
  run: SharedRun;
  sharedWith: string | null;
  /** Roots that the sharing operator has pinned. */
  roots: LetterSubject['roots'];
  sharedBy: ShareRecord['shared_by'];
  /** Lifetime of links in seconds; null for copies. */
  linkSeconds: number | null;
  /** Folder for the letter and any copies. It must not exist yet. */
  folder: string;
}

interface ShareContext {
  archive: Archive;
  now: () => Date;
  signal: AbortSignal;
}

export interface Shared {
  record: ShareRecord;
  /** Key of the record in the archive. */
  key: string;
  /** Remarks on the links, one sentence each. */
  warnings: string[];
}

/**
 * Shares a finalized run: by links that expire, or as copies, with a letter that describes the run and explains how to
 * verify it. Only the letter contains the links.
 *
 * @throws EvidenceError see `selectObjects`, `putBesideRun`; in that case nothing was shared.
 */
export async function shareRun(context: ShareContext, options: ShareOptions): Promise<Shared> {
  const { archive, signal } = context;
  const { selection, series, record } = await prepare(context, options);
  const folder = await ShareFolder.make(options.folder);
  try {
    if (series === null) await folder.copy(archive, selection.objects, signal);
    signal.throwIfAborted();
    const stored = await keepShare(archive, record);
    if (series === null) await folder.write(SHARE_MARK, toRecordBytes(record));
    const files = await toFiles([...selection.objects, stored], stored, series);
    const letter = await renderLetter(toSubject(options, record, selection, files));
    for (const { name, bytes } of letter) await folder.write(name, bytes);
    return { record, key: stored.key, warnings: series === null ? [] : warningsOf(series) };
  } catch (error) {
    await folder.remove();
    throw error;
  }
}

/**
 * Returns the record that `shareRun` would store, and remarks on the links. Writes nothing and creates no links.
 * @throws EvidenceError as `shareRun` does if the run cannot be shared.
 */
export async function foreseeShare(context: ShareContext, options: ShareOptions): Promise<Omit<Shared, 'key'>> {
  const { series, record } = await prepare(context, options);
  await ShareFolder.checkNew(options.folder);
  return { record, warnings: series === null ? [] : warningsOf(series) };
}

async function prepare({ archive, now }: ShareContext, options: ShareOptions) {
  const selection = await selectObjects(archive, options.run);
  const series = options.linkSeconds === null ? null : await beginLinks(archive, options.linkSeconds);
  const record: ShareRecord = {
    format: FORMATS.share,
    run_id: options.run.record.run_id,
    shared_with: options.sharedWith,
    shared_by: options.sharedBy,
    shared_at: now().toISOString(),
    form: series === null ? 'copies' : 'links',
    expires_at: series === null ? null : endOf(series).toISOString(),
    objects: selection.objects,
  };
  return { selection, series, record };
}

function beginLinks({ links, url }: Archive, seconds: number): Promise<LinkSeries> {
  if (links === null) throw new TypeError(`${url} has no links`);
  return links.begin(seconds);
}

/** Returns the earlier of the requested end and the end of the credentials. */
function endOf({ until, credentialsUntil }: LinkSeries): Date {
  return credentialsUntil instanceof Date && credentialsUntil < until ? credentialsUntil : until;
}

function warningsOf({ until, credentialsUntil }: LinkSeries): string[] {
  if (credentialsUntil === 'unknown')
    return [
      `The links are signed with temporary credentials of unknown lifetime; if these expire before ${until.toISOString()}, so do the links.`,
    ];
  if (credentialsUntil === null || credentialsUntil >= until) return [];
  return [
    `The links expire at ${credentialsUntil.toISOString()}, with the credentials that sign them, not at ${until.toISOString()}. Use a long-term access key for the full time.`,
  ];
}

/** Lists the files in reading order, with the record of the share last. */
async function toFiles(
  objects: readonly SharedObject[],
  record: SharedObject,
  series: LinkSeries | null,
): Promise<LetterFile[]> {
  const files: LetterFile[] = [];
  for (const { key, bytes, sha256 } of objects)
    files.push({
      path: key === record.key ? SHARE_MARK : key,
      bytes,
      sha256,
      url: series === null ? null : await series.linkTo(key),
    });
  return files;
}

function toSubject(
  { run: { record: run, sha256 }, roots }: ShareOptions,
  share: ShareRecord,
  selection: ShareSelection,
  files: LetterFile[],
): LetterSubject {
  const { entry, signer, stamp } = selection;
  const signature =
    signer === null
      ? null
      : {
          envelope: runEnvelopeKey(run.run_id),
          keyId: signer.id,
          isEcdsa: signer.key.asymmetricKeyType === 'ec',
        };
  return {
    run,
    share,
    runSha256: sha256,
    entry: { key: entry.key, number: entry.entry.number },
    signature,
    stamp,
    roots,
    files,
  };
}

async function keepShare(archive: Archive, record: ShareRecord): Promise<SharedObject> {
  const stored = await putBesideRun(archive, shareKey(record), SHARE, record, new Date(record.shared_at));
  return { ...stored, version_id: stored.version_id ?? null };
}

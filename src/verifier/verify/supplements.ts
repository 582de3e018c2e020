import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { BundleFinding } from '../bundle/bundle-finding.ts';
import { CONTRACT_FILE } from '../bundle/files.ts';
import type { FileDigest } from '../bundle/integrity.ts';
import { type OpenBundle, openBundle } from '../bundle/read.ts';
import type { Description } from '../profile/description.ts';
import { DEFAULT_DESCRIPTION } from '../reading/default-contract.ts';
import { pinContract } from '../reading/pinned.ts';
import { runRecordKey, supplementsKey } from '../records/keys.ts';
import type { RunRecord } from '../records/record.ts';
import { readRecord } from '../records/record-bytes.ts';
import type { RunSupplements } from '../records/supplements.ts';
import { SUPPLEMENTS_RECORD } from '../supplements/document.ts';
import { SUPPLEMENTS_DOCUMENT } from '../supplements/files.ts';
import { ImpliedRecords } from '../supplements/implied.ts';
import type { VerifyOptions } from './content.ts';
import { NotedStreams } from './noted-streams.ts';
import { type ObjectFinding, toObjectFinding } from './object-finding.ts';
import { sameRecord } from './recorded-stream.ts';
import { fetchBundle, readObject } from './stored.ts';
import type { RunContext, VerifiedStream } from './stream.ts';
import { checkSupplementFiles, collectedKinds } from './supplement-files.ts';
import { judgeSupplements, wantedIn } from './supplement-records.ts';
import { readIn, type SoundSupplements, type SupplementsCheck } from './supplements-check.ts';

/**
 * Verifies the supplements of a run around its streams: the bag is read before them, so that the entries that records name
 * are noted while the streams are read.
 * @param verifyStreams with the entries that are to be noted.
 */
export async function verifySupplements(
  context: RunContext,
  run: RunRecord,
  findings: ObjectFinding[],
  verifyStreams: (notes: NotedStreams | null) => Promise<readonly VerifiedStream[]>,
): Promise<SupplementsCheck | null> {
  const { supplements } = run;
  if (supplements === null) {
    await verifyStreams(null);
    return null;
  }
  const folder = await mkdtemp(join(context.workDirectory, 'supplements-'));
  let sound: SoundSupplements | null = null;
  try {
    sound = await openSupplements(context, run, supplements, folder, findings);
    const wanted = sound === null ? null : await wantedIn(sound, run, findings);
    const notesOf = (numbers: NonNullable<typeof wanted>, { contract }: SoundSupplements) => {
      const kinds = collectedKinds({ contract }, supplements);
      return new NotedStreams(join(folder, 'notes'), numbers, new ImpliedRecords(contract.supplements, kinds));
    };
    using notes = wanted === null || sound === null ? null : notesOf(wanted, sound);
    const streams = await verifyStreams(notes);
    if (sound === null || notes === null) return asRecorded(supplements);
    const judging = { run, supplements, sound, notes, streams };
    return (await readIn(sound.key, findings, () => judgeSupplements(judging, findings))) ?? asRecorded(supplements);
  } finally {
    await sound?.bundle.close();
    await rm(folder, { recursive: true, force: true });
  }
}

function asRecorded({ services, kinds, findings, findings_count }: RunSupplements): SupplementsCheck {
  return { services, judged: false, proved: [], kinds, findings, findings_count };
}

/** Null for a bag that is gone, is encrypted and not opened here, or is not what the run says of it. */
async function openSupplements(
  context: RunContext,
  run: RunRecord,
  supplements: RunSupplements,
  folder: string,
  findings: ObjectFinding[],
): Promise<SoundSupplements | null> {
  const { object } = supplements;
  const differs = (message: string) =>
    findings.push(toObjectFinding('record/differs', runRecordKey(run.run_id), message));
  if (object === null) {
    differs('names no bag with the supplements that it speaks of');
    return null;
  }
  const isPartial = Object.values(supplements.services).some(({ state }) => state === 'missing');
  const expected = supplementsKey(run.run_id, { isPartial, isEncrypted: object.encrypted !== undefined });
  if (object.key !== expected) differs('puts its supplements where they do not belong');
  const found = findings.length;
  const file = await fetchBundle(context, object, folder, findings);
  if (file === 'gone' || file === 'encrypted') return null;
  const bundle = await readObject(object.key, findings, () => openBundle(file, { holds: 'supplements' }, object.key));
  if (bundle === null) return null;
  if (bundle.identity !== object.identity) differs("its identity of the supplements differs from the bag's");
  const sound = await readBag(bundle, run, supplements, object.key, context, findings);
  if (sound !== null && findings.length === found) return sound;
  await bundle.close();
  return null;
}

async function readBag(
  bundle: OpenBundle,
  run: RunRecord,
  supplements: RunSupplements,
  key: string,
  { contract: given }: Pick<VerifyOptions, 'contract'>,
  findings: ObjectFinding[],
): Promise<SoundSupplements | null> {
  const files = new Map<string, FileDigest>();
  const broken = await bundle.checkIntegrity({ onEnd: (path, file) => void files.set(path, file) });
  findings.push(...broken.map((finding) => inBag(finding, key)));
  if (broken.length > 0) return null;
  await checkDocument(bundle, run, supplements, key, findings);
  const contract = await readContract(bundle, files, run, key, given, findings);
  if (contract === null) return null;
  const sound = { bundle, key, files, contract, isByReader: given !== null };
  findings.push(...(await checkSupplementFiles(sound, run, supplements)));
  return sound;
}

function inBag({ code, path, message, ...values }: BundleFinding, key: string): ObjectFinding {
  return toObjectFinding(code, path === '' ? key : `${key}:${path}`, message, values);
}

const MAX_CONTRACT_BYTES = 2 ** 20;

/** The bag says of itself what the record of the run says of it. */
async function checkDocument(
  bundle: OpenBundle,
  run: RunRecord,
  { object: _object, ...statement }: RunSupplements,
  key: string,
  findings: ObjectFinding[],
): Promise<void> {
  const place = `${key}:${SUPPLEMENTS_DOCUMENT}`;
  const document = await readIn(place, findings, async () => {
    const bytes = await bundle.readFile(SUPPLEMENTS_DOCUMENT, SUPPLEMENTS_RECORD.maxBytes);
    return readRecord(SUPPLEMENTS_RECORD, bytes, place);
  });
  if (document === null) return;
  const { format: _format, run_id, period, ...stated } = document;
  const isSame = run_id === run.run_id && sameRecord(period, run.period) && sameRecord(stated, statement);
  if (!isSame) findings.push(toObjectFinding('record/differs', place, 'says something else than the run record'));
}

/** The one that the reader has brought, or that the run was exported by. */
async function readContract(
  bundle: OpenBundle,
  files: ReadonlyMap<string, FileDigest>,
  { source: { contract_sha256: expected } }: RunRecord,
  key: string,
  given: VerifyOptions['contract'],
  findings: ObjectFinding[],
): Promise<Description | null> {
  const place = `${key}:${CONTRACT_FILE}`;
  const actual = files.get(CONTRACT_FILE)?.sha256 ?? null;
  if (actual !== expected) {
    const values = { expected: expected ?? 'none', actual: actual ?? 'none' };
    findings.push(toObjectFinding('record/differs', place, 'is not the contract that the run record names', values));
    return null;
  }
  if (given !== null && given.file !== null) return pinContract(given.file.bytes, place).description;
  if (given !== null || expected === null) return DEFAULT_DESCRIPTION;
  return readIn(
    place,
    findings,
    async () => pinContract(await bundle.readFile(CONTRACT_FILE, MAX_CONTRACT_BYTES), place).description,
  );
}

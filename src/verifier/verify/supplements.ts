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
import type { RunSupplements } from '../records/supplements.ts';
import { SUPPLEMENTS_RECORD } from '../supplements/document.ts';
import { SUPPLEMENTS_DOCUMENT } from '../supplements/files.ts';
import { ImpliedRecords } from '../supplements/implied.ts';
import type { VerifyOptions } from './content.ts';
import { readDocument } from './document.ts';
import { NotedStreams } from './noted-entries.ts';
import {
  type Checked,
  checked,
  type ObjectFinding,
  readInBundle,
  readObject,
  recordDiffers,
  toObjectFinding,
} from './object-finding.ts';
import { sameRecord } from './recorded-stream.ts';
import { fetchBundle } from './stored.ts';
import type { RunContext, VerifiedStream } from './stream.ts';
import { checkSupplementFiles, collectedKinds } from './supplement-files.ts';
import { judgeSupplements, wantedIn } from './supplement-records.ts';
import type { SoundSupplements, SupplementsCheck } from './supplements-check.ts';

interface Opened {
  sound?: SoundSupplements | null;
  notes?: NotedStreams | null;
  findings?: ObjectFinding[];
}

/** Supplements of a run, opened before its streams are read. */
export class OpenedSupplements implements AsyncDisposable {
  /** Notes the entries that records name while streams are read; null if none need noting. */
  readonly notes: NotedStreams | null;
  readonly findings: ObjectFinding[];
  readonly #run: RunRecord;
  readonly #sound: SoundSupplements | null;
  readonly #folder: string | null;

  private constructor(run: RunRecord, folder: string | null, { sound = null, notes = null, findings = [] }: Opened) {
    this.#run = run;
    this.#folder = folder;
    this.#sound = sound;
    this.notes = notes;
    this.findings = findings;
  }

  static async open(context: RunContext, run: RunRecord): Promise<OpenedSupplements> {
    const { supplements } = run;
    if (supplements === null) return new OpenedSupplements(run, null, {});
    const folder = await mkdtemp(join(context.workDirectory, 'supplements-'));
    try {
      const { value: sound, findings } = await openBag(context, run, supplements, folder);
      if (sound === null) return new OpenedSupplements(run, folder, { findings });
      const wanted = await wantedIn(sound, run);
      const kinds = collectedKinds(sound, supplements);
      const implied = new ImpliedRecords(sound.contract.supplements, kinds);
      const notes = wanted.value === null ? null : new NotedStreams(join(folder, 'notes'), wanted.value, implied);
      return new OpenedSupplements(run, folder, { sound, notes, findings: [...findings, ...wanted.findings] });
    } catch (error) {
      await rm(folder, { recursive: true, force: true });
      throw error;
    }
  }

  /** Judges every record by the streams as verified; null for a run without supplements. */
  async judge(streams: readonly VerifiedStream[]): Promise<Checked<SupplementsCheck | null>> {
    const { supplements } = this.#run;
    if (supplements === null) return checked(null);
    const [sound, notes] = [this.#sound, this.notes];
    if (sound === null || notes === null) return checked(asRecorded(supplements));
    const judging = { run: this.#run, supplements, sound, notes, streams };
    const { value: judged, findings } = await readInBundle(sound.key, () => judgeSupplements(judging));
    return {
      value: judged?.value ?? asRecorded(supplements),
      findings: [...findings, ...(judged?.findings ?? [])],
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.notes?.[Symbol.dispose]();
    await this.#sound?.bundle.close();
    if (this.#folder !== null) await rm(this.#folder, { recursive: true, force: true });
  }
}

function asRecorded({ services, kinds, findings, findings_count }: RunSupplements): SupplementsCheck {
  return { services, judged: false, proved: [], kinds, findings, findings_count };
}

/** Returns null for a bag that is missing, is encrypted and not opened here, or contradicts the run record. */
async function openBag(
  context: RunContext,
  run: RunRecord,
  supplements: RunSupplements,
  folder: string,
): Promise<Checked<SoundSupplements | null>> {
  const { object } = supplements;
  const differs = (message: string) => recordDiffers(runRecordKey(run.run_id), message);
  if (object === null) return { value: null, findings: [differs('names no bag with its supplements')] };
  const isPartial = Object.values(supplements.services).some(({ state }) => state === 'missing');
  const expected = supplementsKey(run.run_id, { isPartial, isEncrypted: object.encrypted !== undefined });
  const misplaced = object.key === expected ? [] : [differs('states the wrong key for its supplements')];
  const fetched = await fetchBundle(context, object, folder);
  if (fetched.value === 'gone' || fetched.value === 'encrypted')
    return { value: null, findings: [...misplaced, ...fetched.findings] };
  const file = fetched.value;
  const opened = await readObject(object.key, () => openBundle(file, { holds: 'supplements' }, object.key));
  const bundle = opened.value;
  if (bundle === null) return { value: null, findings: [...misplaced, ...fetched.findings, ...opened.findings] };
  const other =
    bundle.identity === object.identity ? [] : [differs("its identity of the supplements differs from the bag's")];
  const read = await readBag(bundle, run, supplements, object.key, context);
  const ofBag = [...fetched.findings, ...other, ...read.findings];
  const isSound = read.value !== null && ofBag.length === 0;
  if (!isSound) await bundle.close();
  return { value: isSound ? read.value : null, findings: [...misplaced, ...ofBag] };
}

async function readBag(
  bundle: OpenBundle,
  run: RunRecord,
  supplements: RunSupplements,
  key: string,
  { contract: given }: Pick<VerifyOptions, 'contract'>,
): Promise<Checked<SoundSupplements | null>> {
  const files = new Map<string, FileDigest>();
  const broken = await bundle.checkIntegrity({ onEnd: (path, file) => void files.set(path, file) });
  if (broken.length > 0) return { value: null, findings: broken.map((finding) => inBag(finding, key)) };
  const document = await checkDocument(bundle, run, supplements, key);
  const contract = await readContract(bundle, files, run, key, given);
  const findings = [...document, ...contract.findings];
  if (contract.value === null) return { value: null, findings };
  const sound = { bundle, key, files, contract: contract.value, isByReader: given !== null };
  return { value: sound, findings: [...findings, ...(await checkSupplementFiles(sound, run, supplements))] };
}

function inBag({ code, path, message, ...values }: BundleFinding, key: string): ObjectFinding {
  return toObjectFinding(code, path === '' ? key : `${key}:${path}`, message, values);
}

const MAX_CONTRACT_BYTES = 2 ** 20;

/** Checks that the bag states about itself what the run record states. */
async function checkDocument(
  bundle: OpenBundle,
  run: RunRecord,
  { object: _object, ...statement }: RunSupplements,
  key: string,
): Promise<ObjectFinding[]> {
  const place = `${key}:${SUPPLEMENTS_DOCUMENT}`;
  const { value: document, findings } = await readDocument(bundle, key, SUPPLEMENTS_DOCUMENT, SUPPLEMENTS_RECORD);
  if (document === null) return findings;
  const { format: _format, run_id, period, ...stated } = document;
  const isSame = run_id === run.run_id && sameRecord(period, run.period) && sameRecord(stated, statement);
  return isSame ? [] : [recordDiffers(place, 'contradicts the run record')];
}

/** Returns the contract that the reader supplied or, without one, the contract of the export. */
async function readContract(
  bundle: OpenBundle,
  files: ReadonlyMap<string, FileDigest>,
  { source: { contract_sha256: expected } }: RunRecord,
  key: string,
  given: VerifyOptions['contract'],
): Promise<Checked<Description | null>> {
  const place = `${key}:${CONTRACT_FILE}`;
  const actual = files.get(CONTRACT_FILE)?.sha256 ?? null;
  if (actual !== expected) {
    const values = { expected: expected ?? 'none', actual: actual ?? 'none' };
    const message = 'is not the contract that the run record names';
    return { value: null, findings: [recordDiffers(place, message, values)] };
  }
  if (given !== null && given.file !== null) return checked(pinContract(given.file.bytes, place).description);
  if (given !== null || expected === null) return checked(DEFAULT_DESCRIPTION);
  return readInBundle(
    place,
    async () => pinContract(await bundle.readFile(CONTRACT_FILE, MAX_CONTRACT_BYTES), place).description,
  );
}

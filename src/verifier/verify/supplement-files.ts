import type { SupplementTransferLog } from '../bundle/documents.ts';
import { SUPPLEMENT_TRANSFER_LOG } from '../bundle/documents.ts';
import { CONTRACT_FILE, README, TRANSFER_LOG } from '../bundle/files.ts';
import { BAG_INFO, bagInfoText, parseBagInfo, payloadOxum, slugOf } from '../bundle/layout.ts';
import { describePeriod } from '../bundle/period.ts';
import type { RunRecord } from '../records/record.ts';
import { readRecord } from '../records/record-bytes.ts';
import type { RunSupplements } from '../records/supplements.ts';
import {
  actionsFile,
  csvFile,
  KIND_NAMES,
  type OtherService,
  pageFile,
  RECORD_KINDS,
  RECORD_STATES,
  type RecordKind,
  SUPPLEMENT_SERVICES,
  SUPPLEMENTS_DOCUMENT,
  statisticsFile,
  verificationFile,
} from '../supplements/files.ts';
import { CLOCKS_APART_MS } from '../supplements/judging.ts';
import { describeRecords, readAgents } from '../supplements/reading.ts';
import { type ObjectFinding, toObjectFinding } from './object-finding.ts';
import { checkListPages, listOf } from './supplement-pages.ts';
import { MAX_ANSWER_BYTES, readIn, type SoundSupplements } from './supplements-check.ts';

const MAX_INFO_BYTES = 2 ** 20;

/** The folder in the zip. */
const FOLDER = 'supplements';

/** Checks that the bag has the files that the services, as the run records them, lead to, no other ones, and says how each came. */
export async function checkSupplementFiles(
  sound: SoundSupplements,
  run: RunRecord,
  supplements: RunSupplements,
): Promise<ObjectFinding[]> {
  const { bundle, files, key } = sound;
  const findings: ObjectFinding[] = [];
  const received = await receivedFiles(sound, run, supplements, findings);
  const made = [SUPPLEMENTS_DOCUMENT, RECORD_STATES, TRANSFER_LOG, ...madeFiles(sound, supplements)];
  const expected = new Set([...received, ...made, CONTRACT_FILE]);
  for (const path of [...received, ...made, README])
    if (!files.has(path))
      findings.push(toObjectFinding('bundle/missing-file', `${key}:${path}`, 'belongs to what was collected'));
  for (const path of files.keys())
    if (path.startsWith('data/') && !expected.has(path))
      findings.push(
        toObjectFinding('bundle/unexpected-file', `${key}:${path}`, 'is of nothing that the run says was collected'),
      );
  if (bundle.folder !== FOLDER)
    findings.push(toObjectFinding('bundle/contradiction', key, `lies in a folder that is not called ${FOLDER}`));
  if (findings.length > 0) return findings;
  await checkTransferLog(sound, run, supplements, received, findings);
  await checkInfo(sound, run, supplements, findings);
  return findings;
}

function isCollected({ services }: RunSupplements, service: keyof RunSupplements['services']): boolean {
  return services[service].state === 'collected';
}

/** Kinds of records that were collected. */
export function collectedKinds({ contract }: Pick<SoundSupplements, 'contract'>, supplements: RunSupplements) {
  return KIND_NAMES.filter((kind) => {
    const isDescribed = contract.supplements !== undefined && describeRecords(contract.supplements, kind) !== null;
    return isDescribed && isCollected(supplements, RECORD_KINDS[kind]);
  });
}

function madeFiles(sound: SoundSupplements, supplements: RunSupplements): string[] {
  return collectedKinds(sound, supplements).map(csvFile);
}

/** The answers that there must be. */
async function receivedFiles(
  sound: SoundSupplements,
  run: RunRecord,
  supplements: RunSupplements,
  findings: ObjectFinding[],
): Promise<Set<string>> {
  const { contract, files } = sound;
  const statistics = SUPPLEMENT_SERVICES.filter((service) => isCollected(supplements, service))
    .filter((service) => (contract.supplements?.[service]?.statistics ?? null) !== null)
    .map(statisticsFile);
  const kinds = collectedKinds(sound, supplements);
  const lists = kinds.filter((kind) => kind !== 'actions' && kind !== 'verifications');
  const received = new Set(statistics);
  const add = async (kind: RecordKind | 'agents', pages: readonly string[]) => {
    const list = listOf(contract.supplements, kind);
    if (list !== null) await checkListPages(sound, list, pages, findings);
    for (const path of pages) received.add(path);
  };
  for (const kind of lists) await add(kind, pagesOf(files, RECORD_KINDS[kind], kind));
  if (!kinds.includes('actions')) return received;
  const agentPages = pagesOf(files, 'agents', 'agents');
  await add('agents', agentPages);
  for (const slug of await agentsInScope(sound, run, agentPages, findings)) {
    received.add(verificationFile(slug));
    await add(
      'actions',
      numbered((number) => actionsFile(slug, number), files),
    );
  }
  return received;
}

function pagesOf(files: SoundSupplements['files'], service: OtherService, kind: RecordKind | 'agents'): string[] {
  return numbered((number) => pageFile(service, kind, number), files);
}

/** Pages are counted without a gap, and of every list there is at least one. */
function numbered(fileOf: (number: number) => string, files: SoundSupplements['files']): string[] {
  const pages = [fileOf(1)];
  while (files.has(fileOf(pages.length + 1))) pages.push(fileOf(pages.length + 1));
  return pages;
}

/** Agents whose streams the run was to export, as the names of their files. */
async function agentsInScope(
  { bundle, contract, files, key }: SoundSupplements,
  { streams, failed }: RunRecord,
  pages: readonly string[],
  findings: ObjectFinding[],
): Promise<Set<string>> {
  const scope = new Set([...streams, ...failed].map(({ stream_id }) => stream_id));
  const slugs = new Set<string>();
  for (const path of pages.filter((page) => files.has(page))) {
    const read = async () => readAgents(contract, await bundle.readFile(path, MAX_ANSWER_BYTES));
    for (const { agentId, streamId } of (await readIn(`${key}:${path}`, findings, read)) ?? [])
      if (streamId !== null && scope.has(streamId)) slugs.add(slugOf(agentId));
  }
  return slugs;
}

/** Every answer came as the log says: of each there is one line, with its length and digest. */
async function checkTransferLog(
  { bundle, files, key }: SoundSupplements,
  run: RunRecord,
  supplements: RunSupplements,
  received: ReadonlySet<string>,
  findings: ObjectFinding[],
): Promise<void> {
  const place = `${key}:${TRANSFER_LOG}`;
  const log = await readIn(place, findings, async () =>
    readRecord(SUPPLEMENT_TRANSFER_LOG, await bundle.readFile(TRANSFER_LOG, SUPPLEMENT_TRANSFER_LOG.maxBytes), place),
  );
  if (log === null) return;
  const differs = (message: string) => findings.push(toObjectFinding('bundle/contradiction', place, message));
  if (log.run_id !== run.run_id) differs('is the transfer log of another run');
  if (!isOfServices(log, supplements)) differs('names other addresses of services than the run record');
  const logged = new Set<string>();
  for (const { step, file, exchange } of log.steps) {
    if (file === undefined || exchange === undefined || !received.has(file))
      differs(`has a step "${step}" of no answer`);
    else if (logged.has(file)) differs(`says twice how ${file} came`);
    else if (exchange.sha256 !== files.get(file)?.sha256 || exchange.bytes !== files.get(file)?.bytes)
      differs(`says that ${file} came as something else`);
    else if (exchange.status < 200 || exchange.status > 299) differs(`says that ${file} was refused`);
    if (file !== undefined) logged.add(file);
  }
  for (const path of received) if (!logged.has(path)) differs(`does not say how ${path} came`);
  checkTimes(log, run, supplements, place, findings);
}

/** A service was collected from in its run, and no earlier than its answers were asked for: by that time records are judged. */
function checkTimes(
  { steps }: SupplementTransferLog,
  { begun_at: begunAt }: RunRecord,
  { services }: RunSupplements,
  place: string,
  findings: ObjectFinding[],
): void {
  for (const service of SUPPLEMENT_SERVICES) {
    const state = services[service];
    if (state.state !== 'collected') continue;
    const times = steps
      .filter(({ file }) => file?.startsWith(`data/${service}/`))
      .map(({ exchange }) => Date.parse(exchange?.requested_at ?? begunAt));
    // Another machine may have gone on with the run.
    const earliest = Math.max(Date.parse(begunAt) - CLOCKS_APART_MS, ...times);
    if (Date.parse(state.collected_at) >= earliest) continue;
    const message = `shows that ${service} was collected from later than the run record says`;
    const values = { expected: new Date(earliest).toISOString(), actual: state.collected_at };
    findings.push(toObjectFinding('record/differs', place, message, values));
  }
}

function isOfServices({ services }: SupplementTransferLog, { services: recorded }: RunSupplements): boolean {
  return SUPPLEMENT_SERVICES.every((service) => {
    const state = recorded[service];
    return services[service] === (state.state === 'collected' ? state.origin : undefined);
  });
}

/** All of `bag-info.txt` follows from the run and the other files, but the day. */
async function checkInfo(
  { bundle, files, key }: SoundSupplements,
  { tool, run_id, period }: RunRecord,
  supplements: RunSupplements,
  findings: ObjectFinding[],
): Promise<void> {
  const place = `${key}:${BAG_INFO}`;
  const bytes = await readIn(place, findings, () => bundle.readFile(BAG_INFO, MAX_INFO_BYTES));
  if (bytes === null) return;
  const text = Buffer.from(bytes).toString('utf8');
  const [, date = ''] = (parseBagInfo(text) ?? []).find(([label]) => label === 'Bagging-Date') ?? [];
  const payload = [...files].filter(([path]) => path.startsWith('data/')).map(([, file]) => file);
  const isPartial = Object.values(supplements.services).some(({ state }) => state === 'missing');
  const expected = bagInfoText([
    ...supplementsInfo({ tool, run_id, period }, isPartial),
    ['Bagging-Date', /^\d{4}-\d\d-\d\d$/.test(date) ? date : 'a day'],
    ['Payload-Oxum', payloadOxum(payload)],
  ]);
  if (text !== expected)
    findings.push(toObjectFinding('bundle/contradiction', place, 'does not say what the run record says'));
}

/** The fields of `bag-info.txt` that follow from the run. */
export function supplementsInfo(
  { tool, run_id, period }: Pick<RunRecord, 'tool' | 'run_id' | 'period'>,
  isPartial: boolean,
): [label: string, value: string][] {
  return [
    ['Bag-Software-Agent', `${tool.name} ${tool.version}`],
    ['External-Identifier', `${run_id}/${FOLDER}`],
    ['External-Description', `What other services showed beside the audit evidence, ${describePeriod(period)}`],
    ['Evidence-Status', isPartial ? 'PARTIAL' : 'COMPLETE'],
  ];
}

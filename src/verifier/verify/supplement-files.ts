import type { Json } from '../../core/json/canonical.ts';
import { CONTRACT_FILE, README, TRANSFER_LOG } from '../bundle/files.ts';
import { BAG_INFO, expectedBagInfo, slugOf } from '../bundle/layout.ts';
import { describePeriod } from '../bundle/period.ts';
import { itemsOf } from '../profile/answers.ts';
import type { List } from '../profile/list-description.ts';
import { valueAt } from '../profile/path.ts';
import type { SupplementsDescription } from '../profile/supplements.ts';
import type { RunRecord } from '../records/record.ts';
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
import { describeRecords, readAgents, readAnswer } from '../supplements/reading.ts';
import { type Checked, type ObjectFinding, readInBundle, toObjectFinding } from './object-finding.ts';
import { checkSupplementLog } from './supplement-log.ts';
import { MAX_ANSWER_BYTES, type SoundSupplements } from './supplements-check.ts';

const MAX_INFO_BYTES = 2 ** 20;

/** Name of the folder in the zip. */
const FOLDER = 'supplements';

/**
 * Checks that the bag has exactly the files that follow from the services in the run record, and that its log covers
 * each.
 */
export async function checkSupplementFiles(
  sound: SoundSupplements,
  run: RunRecord,
  supplements: RunSupplements,
): Promise<ObjectFinding[]> {
  const { bundle, files, key } = sound;
  const { value: received, findings } = await receivedFiles(sound, run, supplements);
  const made = [SUPPLEMENTS_DOCUMENT, RECORD_STATES, TRANSFER_LOG, ...collectedKinds(sound, supplements).map(csvFile)];
  const expected = new Set([...received, ...made, CONTRACT_FILE]);
  for (const path of [...received, ...made, README])
    if (!files.has(path))
      findings.push(toObjectFinding('bundle/missing-file', `${key}:${path}`, 'is missing from what was collected'));
  for (const path of files.keys())
    if (path.startsWith('data/') && !expected.has(path))
      findings.push(
        toObjectFinding(
          'bundle/unexpected-file',
          `${key}:${path}`,
          'belongs to nothing that the run says was collected',
        ),
      );
  if (bundle.folder !== FOLDER)
    findings.push(toObjectFinding('bundle/contradiction', key, `is in a folder that is not named ${FOLDER}`));
  if (findings.length > 0) return findings;
  return [
    ...(await checkSupplementLog(sound, run, supplements, received)),
    ...(await checkInfo(sound, run, supplements)),
  ];
}

function isCollected({ services }: RunSupplements, service: keyof RunSupplements['services']): boolean {
  return services[service].state === 'collected';
}

/** Returns the kinds of records that were collected. */
export function collectedKinds({ contract }: Pick<SoundSupplements, 'contract'>, supplements: RunSupplements) {
  return KIND_NAMES.filter((kind) => {
    const isDescribed = contract.supplements !== undefined && describeRecords(contract.supplements, kind) !== null;
    return isDescribed && isCollected(supplements, RECORD_KINDS[kind]);
  });
}

/** Returns the answers that the bag must have. */
async function receivedFiles(
  sound: SoundSupplements,
  run: RunRecord,
  supplements: RunSupplements,
): Promise<Checked<Set<string>>> {
  const { contract, files } = sound;
  const findings: ObjectFinding[] = [];
  const statistics = SUPPLEMENT_SERVICES.filter((service) => isCollected(supplements, service))
    .filter((service) => (contract.supplements?.[service]?.statistics ?? null) !== null)
    .map(statisticsFile);
  const kinds = collectedKinds(sound, supplements);
  const lists = kinds.filter((kind) => kind !== 'actions' && kind !== 'verifications');
  const received = new Set(statistics);
  const add = async (kind: RecordKind | 'agents', pages: readonly string[]) => {
    const list = listOf(contract.supplements, kind);
    if (list !== null) findings.push(...(await checkListPages(sound, list, pages)));
    for (const path of pages) received.add(path);
  };
  for (const kind of lists) await add(kind, pagesOf(files, RECORD_KINDS[kind], kind));
  if (!kinds.includes('actions')) return { value: received, findings };
  const agentPages = pagesOf(files, 'agents', 'agents');
  await add('agents', agentPages);
  const agents = await agentsInScope(sound, run, agentPages);
  findings.push(...agents.findings);
  for (const slug of agents.value) {
    received.add(verificationFile(slug));
    await add(
      'actions',
      numbered((number) => actionsFile(slug, number), files),
    );
  }
  return { value: received, findings };
}

function pagesOf(files: SoundSupplements['files'], service: OtherService, kind: RecordKind | 'agents'): string[] {
  return numbered((number) => pageFile(service, kind, number), files);
}

/** Returns the pages of a list, which are numbered without gaps; every list has at least one. */
function numbered(fileOf: (number: number) => string, files: SoundSupplements['files']): string[] {
  const pages = [fileOf(1)];
  while (files.has(fileOf(pages.length + 1))) pages.push(fileOf(pages.length + 1));
  return pages;
}

/** Returns the agents whose streams the run was to export, as the slugs of their files. */
async function agentsInScope(
  { bundle, contract, files, key }: SoundSupplements,
  { streams, failed }: RunRecord,
  pages: readonly string[],
): Promise<Checked<Set<string>>> {
  const scope = new Set([...streams, ...failed].map(({ stream_id }) => stream_id));
  const slugs = new Set<string>();
  const findings: ObjectFinding[] = [];
  for (const path of pages.filter((page) => files.has(page))) {
    const read = async () => readAgents(contract, await bundle.readFile(path, MAX_ANSWER_BYTES));
    const agents = await readInBundle(`${key}:${path}`, read);
    findings.push(...agents.findings);
    for (const { agentId, streamId } of agents.value ?? [])
      if (streamId !== null && scope.has(streamId)) slugs.add(slugOf(agentId));
  }
  return { value: slugs, findings };
}

/** Checks `bag-info.txt`: all of it but the day follows from the run and the other files. */
async function checkInfo(
  { bundle, files, key }: SoundSupplements,
  run: RunRecord,
  supplements: RunSupplements,
): Promise<ObjectFinding[]> {
  const place = `${key}:${BAG_INFO}`;
  const { value: bytes, findings } = await readInBundle(place, () => bundle.readFile(BAG_INFO, MAX_INFO_BYTES));
  if (bytes === null) return findings;
  const text = Buffer.from(bytes).toString('utf8');
  const isPartial = Object.values(supplements.services).some(({ state }) => state === 'missing');
  return text === expectedBagInfo(text, supplementsInfo(run, isPartial), files)
    ? []
    : [toObjectFinding('bundle/contradiction', place, 'contradicts the run record')];
}

/** Returns the fields of `bag-info.txt` that follow from the run. */
function supplementsInfo({ tool, run_id, period }: RunRecord, isPartial: boolean): [label: string, value: string][] {
  return [
    ['Bag-Software-Agent', `${tool.name} ${tool.version}`],
    ['External-Identifier', `${run_id}/${FOLDER}`],
    ['External-Description', `What other services showed beside the audit evidence, ${describePeriod(period)}`],
    ['Evidence-Status', isPartial ? 'PARTIAL' : 'COMPLETE'],
  ];
}

/** Returns the description of the list that pages belong to. */
function listOf(supplements: SupplementsDescription | undefined, kind: RecordKind | 'agents'): List | null {
  if (kind === 'detections') return supplements?.traps?.detections ?? null;
  if (kind === 'events' || kind === 'scans') return supplements?.endpoints?.[kind] ?? null;
  return kind === 'verifications' ? null : (supplements?.agents?.[kind] ?? null);
}

/** Checks that a list continues exactly as its pages say. @param pages all pages in the bag, in order. */
async function checkListPages(
  { bundle, files, key }: SoundSupplements,
  list: List,
  pages: readonly string[],
): Promise<ObjectFinding[]> {
  const findings: ObjectFinding[] = [];
  for (const [at, path] of pages.entries()) {
    if (!files.has(path)) continue;
    const place = `${key}:${path}`;
    const read = async () => goesOn(list, readAnswer(await bundle.readFile(path, MAX_ANSWER_BYTES), 'a list').value);
    const onward = await readInBundle(place, read);
    findings.push(...onward.findings);
    const isLast = at === pages.length - 1;
    if (onward.value === null || onward.value === 'unknown' || onward.value === (isLast ? 'end' : 'on')) continue;
    findings.push(toObjectFinding('bundle/contradiction', place, WRONG[onward.value]));
  }
  return findings;
}

const WRONG = {
  on: 'says that its list continues, but no page follows',
  end: 'ends its list, but another page follows',
  cut: 'does not say whether its list continues: it is truncated',
};

/** Reports whether a page says that another one follows; a link in a header is not archived. */
function goesOn({ items, paging }: List, page: Json): keyof typeof WRONG | 'unknown' {
  if (paging.style === 'single') return 'end';
  if (paging.style === 'offset' || paging.style === 'page')
    return (itemsOf({ items }, page)?.length ?? 0) === 0 ? 'end' : 'on';
  if (paging.next === null) return 'unknown';
  const next = valueAt(page, paging.next);
  if (next === undefined && !paging.absent_at_end) return 'cut';
  return (next ?? '') === '' ? 'end' : 'on';
}

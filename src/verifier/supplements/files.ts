/**
 * The files of the bag with supplements: how each name is built, and whether a name is one of them. Pure: `/`
 * everywhere.
 */

/** The services that have supplements. */
export const SUPPLEMENT_SERVICES = ['audit', 'traps', 'endpoints', 'agents'] as const;
export type SupplementService = (typeof SUPPLEMENT_SERVICES)[number];

/** Those beside the audit service. */
export const OTHER_SERVICES = ['traps', 'endpoints', 'agents'] as const;
export type OtherService = (typeof OTHER_SERVICES)[number];

/** Records, by the service that shows them. */
export const RECORD_KINDS = {
  detections: 'traps',
  events: 'endpoints',
  scans: 'endpoints',
  verifications: 'agents',
  actions: 'agents',
} as const satisfies Record<string, OtherService>;
export type RecordKind = keyof typeof RECORD_KINDS;
export const KIND_NAMES = Object.keys(RECORD_KINDS) as RecordKind[];

/** The path of the document that `supplementsDocumentSchema` describes. */
export const SUPPLEMENTS_DOCUMENT = 'data/supplements.json';
/** A `recordStateSchema` a line: every record of the period, and how it stands. */
export const RECORD_STATES = 'data/records.jsonl';

const NUMBER = '[0-9]{4,}';
const SLUG = '[a-z0-9._-]+-[0-9a-f]{8}';

const NAMES = new RegExp(
  `^data/(${[
    'supplements\\.json|records\\.jsonl|transfer-log\\.json|contract\\.yaml',
    '(audit|traps|endpoints|agents)/statistics\\.json',
    `(traps/detections|endpoints/(events|scans)|agents/agents)/${NUMBER}\\.json`,
    '(traps/detections|endpoints/(events|scans)|agents/(verifications|actions))\\.csv',
    `agents/verifications/${SLUG}\\.json`,
    `agents/actions/${SLUG}/${NUMBER}\\.json`,
  ].join('|')})$`,
);

/** Folders that a zip may name by themselves, apart from one of an agent. */
export const SUPPLEMENT_FOLDERS: ReadonlySet<string> = new Set([
  '',
  'data/',
  'data/audit/',
  'data/traps/',
  'data/traps/detections/',
  'data/endpoints/',
  'data/endpoints/events/',
  'data/endpoints/scans/',
  'data/agents/',
  'data/agents/agents/',
  'data/agents/verifications/',
  'data/agents/actions/',
]);

/** Reports whether a payload file can be one of supplements. */
export function isSupplementFile(path: string): boolean {
  return NAMES.test(path);
}

/** A page of a list as it was received. @param number from 1 on. */
export function pageFile(service: OtherService, kind: RecordKind | 'agents', number: number): string {
  return `data/${service}/${kind}/${numbered(number)}`;
}

/** The records of the period as a table. */
export function csvFile(kind: RecordKind): string {
  return `data/${RECORD_KINDS[kind]}/${kind}.csv`;
}

export function statisticsFile(service: SupplementService): string {
  return `data/${service}/statistics.json`;
}

/** @param slug `slugOf` the agent's id. */
export function verificationFile(slug: string): string {
  return `data/agents/verifications/${slug}.json`;
}

/** A page of an agent's actions. */
export function actionsFile(slug: string, number: number): string {
  return `data/agents/actions/${slug}/${numbered(number)}`;
}

function numbered(number: number): string {
  return `${String(number).padStart(4, '0')}.json`;
}

/** The agent whose actions or verification a file is; null for other files. */
export function agentSlugOf(path: string): string | null {
  return (
    /^data\/agents\/(?:actions\/([^/]+)\/[^/]+|verifications\/([^/]+))\.json$/.exec(path)?.slice(1).find(Boolean) ??
    null
  );
}

/** Files with the records of a kind, in the order in which they are read: agent by agent, page by page. */
export function recordFiles(kind: RecordKind, paths: Iterable<string>): string[] {
  const folder = `data/${RECORD_KINDS[kind]}/${kind}/`;
  return [...paths].filter((path) => path.startsWith(folder)).toSorted(byFolderThenNumber);
}

function byFolderThenNumber(one: string, other: string): number {
  const [[folder, name], [otherFolder, otherName]] = [splitPath(one), splitPath(other)];
  if (folder !== otherFolder) return folder < otherFolder ? -1 : 1;
  if (name.length !== otherName.length && /^[0-9]+\.json$/.test(name)) return name.length - otherName.length;
  return name < otherName ? -1 : Number(name > otherName);
}

function splitPath(path: string): [folder: string, name: string] {
  const slash = path.lastIndexOf('/');
  return [path.slice(0, slash), path.slice(slash + 1)];
}

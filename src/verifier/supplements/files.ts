/**
 * File names in the bag with supplements: functions that build them and functions that recognize them. Pure, with `/`
 * everywhere.
 */

/** Services that have supplements. */
export const SUPPLEMENT_SERVICES = ['audit', 'traps', 'endpoints', 'agents'] as const;
export type SupplementService = (typeof SUPPLEMENT_SERVICES)[number];

/** Services other than the audit service. */
export const OTHER_SERVICES = ['traps', 'endpoints', 'agents'] as const;
export type OtherService = (typeof OTHER_SERVICES)[number];

/** Kinds of records, with the service that shows them. */
export const RECORD_KINDS = {
  detections: 'traps',
  events: 'endpoints',
  scans: 'endpoints',
  verifications: 'agents',
  actions: 'agents',
} as const satisfies Record<string, OtherService>;
export type RecordKind = keyof typeof RECORD_KINDS;
export const KIND_NAMES = Object.keys(RECORD_KINDS) as RecordKind[];

/** Path of the document that `supplementsDocumentSchema` describes. */
export const SUPPLEMENTS_DOCUMENT = 'data/supplements.json';
/** Path of the states of all records of the period, one `recordStateSchema` per line. */
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

/** Folders that a zip may list as members, apart from those of an agent. */
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

/** Reports whether a payload file can be a file of supplements. */
export function isSupplementFile(path: string): boolean {
  return NAMES.test(path);
}

/** Returns the path of a page of a list as received. @param number from 1. */
export function pageFile(service: OtherService, kind: RecordKind | 'agents', number: number): string {
  return `data/${service}/${kind}/${numbered(number)}`;
}

/** Returns the path of the table of the period's records. */
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

/** Returns the path of a page of an agent's actions. */
export function actionsFile(slug: string, number: number): string {
  return `data/agents/actions/${slug}/${numbered(number)}`;
}

function numbered(number: number): string {
  return `${String(number).padStart(4, '0')}.json`;
}

/** Returns the slug of the agent whose actions or verification a file holds; null for other files. */
export function agentSlugOf(path: string): string | null {
  return (
    /^data\/agents\/(?:actions\/([^/]+)\/[^/]+|verifications\/([^/]+))\.json$/.exec(path)?.slice(1).find(Boolean) ??
    null
  );
}

/** Returns the files with the records of a kind, in the order in which they are read: agent by agent, page by page. */
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

import type { ReadableArchive } from '../archive/archive.ts';
import { type Asked, readAsked } from '../records/asked.ts';
import { askedKey } from '../records/keys.ts';
import { differencesOf, type Question } from '../records/question.ts';
import type { RunRecord } from '../records/record.ts';
import { readObject } from './checked.ts';
import { type ObjectFinding, toObjectFinding } from './object-finding.ts';

/** Checks that the question that a run was begun with, where its record names that, is the one that the record states. */
export async function verifyAsked(archive: ReadableArchive, record: RunRecord): Promise<ObjectFinding[]> {
  const key = askedKey(record.run_id);
  if (record.documents.every((document) => document.key !== key)) return [];
  const { value: begun, findings } = await readObject(key, async () =>
    (await archive.stat(key)) === null ? null : readAsked(archive, record.run_id),
  );
  const differences = begun === null ? [] : differencesBetween(begun.asked, record);
  if (differences.length === 0) return findings;
  return [toObjectFinding('record/differs', key, `asks for another run than the record: ${differences.join('; ')}`)];
}

function differencesBetween(asked: Asked, record: RunRecord & Question): string[] {
  const isOfRun =
    asked.run_id === record.run_id &&
    asked.begun_at === record.begun_at &&
    asked.begun_at_by_service === record.begun_at_by_service;
  return [...(isOfRun ? [] : ['run or time of beginning']), ...differencesOf(asked, record)];
}

import { toRecordBytes } from '../records/record-bytes.ts';

/** Whether two records say the same, in whatever order. */
export function sameRecord(a: unknown, b: unknown): boolean {
  return Buffer.from(toRecordBytes(sorted(a))).equals(toRecordBytes(sorted(b)));
}

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

import type { Bundle } from '../bundle/bundle.ts';
import type { RecordFormat } from '../model/schemas.ts';
import { readRecord } from '../records/record-bytes.ts';
import { type Checked, readInBundle } from './object-finding.ts';

/** Reads a document of a bundle; returns null and a finding if it cannot be read. @param key of the bundle. */
export function readDocument<T>(
  bundle: Bundle,
  key: string,
  path: string,
  format: RecordFormat<T>,
): Promise<Checked<T | null>> {
  const place = `${key}:${path}`;
  return readInBundle(place, async () => readRecord(format, await bundle.readFile(path, format.maxBytes), place));
}

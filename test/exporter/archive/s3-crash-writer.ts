import { createHash } from 'node:crypto';
import { openS3Archive } from '../../../src/exporter/archive/s3/archive.ts';
import { DEFAULT_S3_LIMITS } from '../../../src/exporter/archive/s3/options.ts';

/** Stores this many objects, whole and in parts, locked if a mode is given, until it is killed. */
const [, , endpoint = '', bucket = '', count = '', mode] = process.argv;
const limits = { ...DEFAULT_S3_LIMITS, multipartBytes: 6 * 2 ** 20, partBytes: 5 * 2 ** 20 };
const { signal } = new AbortController();
const retention = mode === 'compliance' ? ({ mode, years: 1 } as const) : undefined;
const archive = openS3Archive(
  { bucket, prefix: 'p/' },
  { endpoint, pathStyle: true, legalHold: false, retention, limits, signal },
);
for (let index = 0; index < Number(count); index += 1) {
  const bytes = Buffer.alloc(index % 2 === 0 ? 12 * 2 ** 20 : 1000, `object ${index}, `);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  await archive.put(`runs/${index}`, { bytes }, { sha256, bytes: bytes.length });
}
await archive.close();

import { afterAll, beforeAll, describe } from 'vitest';
import { openS3Archive } from '../../../src/exporter/archive/s3/archive.ts';
import { describeArchive } from '../../conformance/archive.ts';
import { type Behaviour, DOUBLE_ENV, S3Double } from '../../support/s3-double/double.ts';
import { doubleOptions, IN_SMALL_PARTS } from '../../support/s3-double/options.ts';

const STORES: [name: string, behaviour: Partial<Behaviour>][] = [
  ["as Amazon's", { pageSize: 3 }],
  ['without versions', { versioned: false, locks: false, listsVersions: false, pageSize: 2 }],
  ['that ignores create-only writes', { createOnly: 'ignored', pageSize: 2 }],
  ['that knows neither create-only writes nor checksums', { createOnly: 'not-implemented', checksums: false }],
];

describe.each(STORES)('a store %s', (name, behaviour) => {
  let double: S3Double;
  let archives = 0;
  beforeAll(async () => {
    Object.assign(process.env, DOUBLE_ENV);
    double = await S3Double.start(behaviour);
  });
  afterAll(() => double.stop());
  describeArchive(`a store ${name}`, async () => {
    archives += 1;
    const limits = IN_SMALL_PARTS;
    return openS3Archive({ bucket: 'bucket', prefix: `a prefix/${archives}/` }, doubleOptions(double, { limits }));
  });
});

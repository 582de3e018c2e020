import { beforeAll, describe } from 'vitest';
import { openS3Archive } from '../../src/archive/s3/archive.ts';
import { DEFAULT_LIMITS, type S3Options } from '../../src/archive/s3/options.ts';
import { describeArchive } from '../contract/archive.ts';
import { makeBucket, type Radosgw, useRadosgw } from '../support/radosgw.ts';

let gateway: Radosgw;
beforeAll(async () => {
  gateway = await useRadosgw();
  Object.assign(process.env, gateway.env);
});

function options(more: Partial<S3Options> = {}): S3Options {
  const { signal } = new AbortController();
  return { endpoint: gateway.endpoint, pathStyle: true, legalHold: false, limits: DEFAULT_LIMITS, signal, ...more };
}

const IN_PARTS = { ...DEFAULT_LIMITS, multipartBytes: 10 * 2 ** 20, partBytes: 5 * 2 ** 20 };

describe.each(['lock', 'versioned', 'plain'] as const)('a %s bucket', (kind) => {
  let bucket: string;
  let archives = 0;
  beforeAll(async () => {
    bucket = await makeBucket(gateway, kind);
  });
  describeArchive(`a real S3 (${kind})`, async () => {
    archives += 1;
    return openS3Archive({ bucket, prefix: `a prefix/${archives}/` }, options({ limits: IN_PARTS }));
  });
});

import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { evidence } from '../support/evidence.ts';
import { lieAbout } from '../support/lying-service.ts';
import { postEntries, type ServedPlatform, servePlatform, someEntries } from '../support/platform.ts';
import { type Limit, slidingWindowOf } from '../support/rate-limits.ts';

/** Requests per second that the service accepts before it answers 429. */
const PER_SECOND = 10;
const STREAMS = 40;
const REQUESTS = 1 + 6 * STREAMS;

let platform: ServedPlatform;

beforeAll(async () => {
  platform = await servePlatform();
  const ids = Array.from({ length: STREAMS }, (_, index) => `stream-${index}`);
  await postEntries(
    platform,
    ids.flatMap((id) => someEntries(id, 3)),
  );
}, 60_000);
afterAll(() => platform.stop());

async function exportAll(rate: object) {
  let refused = 0;
  let first = 0;
  let last = 0;
  const window = slidingWindowOf(PER_SECOND, 1000);
  const limit: Limit = (now) => {
    first ||= now;
    last = now;
    const retryAfter = window(now);
    if (retryAfter !== null) refused++;
    return retryAfter;
  };
  const service = await lieAbout(platform.auditUrl, () => undefined, limit);
  const directory = mkdtempSync(join(tmpdir(), 'rate-test-'));
  writeFileSync(join(directory, 'evidence.yaml'), JSON.stringify({ source: { rate } }));
  try {
    const env = { ...platform.env, EVIDENCE_AUDIT_URL: service.auditUrl };
    const { code, stderr } = await evidence(['export', '--all-time'], { cwd: directory, env });
    expect(code, stderr).toBe(0);
    return { refused, accepted: service.requests.length - refused, seconds: (last - first) / 1000 };
  } finally {
    service.close();
  }
}

describe.concurrent(`${REQUESTS} requests to a service that takes ${PER_SECOND} a second`, () => {
  const ideal = REQUESTS / PER_SECOND;

  test('none is refused where the rate is configured', async () => {
    const { refused, accepted, seconds } = await exportAll({ requests_per_second: PER_SECOND });
    expect([refused, accepted]).toEqual([0, REQUESTS]);
    expect(seconds).toBeLessThan(1.3 * ideal);
  }, 90_000);

  test('few are refused where it is not, and little time is lost', async () => {
    const { refused, accepted, seconds } = await exportAll({ concurrency: 4 });
    expect(accepted).toBe(REQUESTS);
    expect(refused).toBeGreaterThan(0);
    expect(refused / REQUESTS).toBeLessThanOrEqual(0.05);
    expect(seconds).toBeLessThan(1.3 * ideal);
  }, 90_000);
});

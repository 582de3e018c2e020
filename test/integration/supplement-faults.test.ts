import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type FalseService, startFalseService } from '../support/false-service.ts';
import { type FaultServer, json, type Reply, startFaultServer } from '../support/fault-server.ts';
import { OTHERS, type Other, storyOf } from '../support/services/beside.ts';
import { API_KEY, attemptIn, placeBeside, RUN, recordIn } from '../support/services/beside-export.ts';
import { bytesOf } from '../support/services/faulty.ts';
import { chooseShortestWaits } from '../support/shortest-waits.ts';
import { inTurn, someRows } from '../support/some-rows.ts';

chooseShortestWaits();

const EACH = 3;
const story = storyOf(EACH);
let audit: FalseService;
/** Server that no request may reach. */
let elsewhere: FaultServer;

beforeAll(async () => {
  audit = await startFalseService();
  for (const [id, entries] of story.streams) audit.streams.set(id, { entries });
  elsewhere = await startFaultServer(json({ data: [], next_cursor: null }));
});
afterAll(() => Promise.all([audit.close(), elsewhere.close()]));

/** Path of the first list requested from each service. */
const LIST: Record<Other, string> = { traps: '/detections/', endpoints: '/events/', agents: '/agents/' };

interface Row {
  fault: string;
  reply(truth: Reply, nth: number): Reply | undefined;
  reason: RegExp;
}

const page = (truth: Reply) => JSON.parse(bytesOf(truth).toString());
const refusal = (status: number): Reply => json({ code: 'no' }, { status });

const ROWS: Row[] = [
  { fault: 'down', reply: () => ({ end: 'reset' }), reason: /connection|reset|closed/i },
  {
    fault: 'slow',
    reply: (truth) => ({ ...truth, end: 'stall' }),
    reason: /0\.3 s|idle|timeout|no data|minimum is 1000 a second/i,
  },
  { fault: 'cut', reply: (truth) => ({ ...truth, end: 'cut' }), reason: /closed|broke|cut|terminated|bytes/i },
  {
    fault: 'endless',
    reply: (truth, nth) => json({ ...page(truth), next_cursor: `${nth}-again` }),
    reason: /more than 20 answers|after 20 pages|twice/,
  },
  {
    fault: 'in a circle',
    reply: (truth) => json({ ...page(truth), data: [], next_cursor: 'the same' }),
    reason: /leads back to a page that was already read/,
  },
  {
    fault: 'oversize',
    reply: () => json({ data: ['x'.repeat(300_000)], next_cursor: null }),
    reason: /more than 200000 bytes/,
  },
  {
    fault: 'HTML',
    reply: () => ({ headers: { 'content-type': 'text/html' }, body: '<!DOCTYPE html><title>Sign in</title>' }),
    reason: /answered 200 with text\/html, but it is not JSON/,
  },
  { fault: 'JSON cut off', reply: () => ({ ...json({}), body: '{"data":[{"id":' }), reason: /it is not JSON/ },
  { fault: 'no list', reply: () => json({ data: 'none', next_cursor: null }), reason: /has no list "data"/ },
  { fault: 'records without ids', reply: () => json({ data: [{ id: 5 }], next_cursor: null }), reason: /_id/ },
  {
    fault: 'sent elsewhere',
    reply: () => ({ status: 302, headers: { location: `${elsewhere.url}/here/` } }),
    reason: /redirects to another origin/,
  },
  { fault: 'refused, 401', reply: () => refusal(401), reason: /answered 401/ },
  { fault: 'refused, 403', reply: () => refusal(403), reason: /answered 403/ },
  { fault: 'not there, 404', reply: () => refusal(404), reason: /answered 404/ },
];

/** Returns the digests of the files in a folder of the run. */
function digestsIn(folder: string): Record<string, string> {
  return Object.fromEntries(
    readdirSync(folder).map((name) => [
      name,
      createHash('sha256')
        .update(readFileSync(join(folder, name)))
        .digest('hex'),
    ]),
  );
}

const proved = { in_period: EACH, proved_by_entry: EACH, contradicted: 0, unproved: 0, no_entry: 0 };

describe.concurrent('a service beside the audit service that is not as it must be costs its supplement alone', () => {
  const all = inTurn(ROWS, OTHERS).map(([row, service]) => [row.fault, service, row] as const);
  const rows = someRows(all, ([fault]) => fault);

  test.for(rows)('%s: %s', async ([, service, { reply, reason }], { onTestFinished }) => {
    const { beside, run, folder } = await placeBeside(audit.url, story.shown);
    beside.fault = ({ service: asked, path, nth }, truth) =>
      asked === service && path === LIST[service] ? reply(truth, nth) : undefined;
    onTestFinished(() => beside.close());
    const first = await run();
    expect(first.code, first.stderr).toBe(3);
    const { supplements, reconciliation, failed, incomplete } = attemptIn(folder);
    expect(supplements.services[service]).toMatchObject({ state: 'missing', reason: expect.stringMatching(reason) });
    expect(supplements.services[service].next_step).toMatch(/run the same command again/);
    expect(reconciliation).toMatchObject({ exported: 3, supplements: { configured: 4, collected: 3, missing: 1 } });
    expect([failed, incomplete, existsSync(join(folder, 'run.json'))]).toEqual([[], [], false]);
    const exported = digestsIn(join(folder, 'streams'));

    beside.fault = () => undefined;
    const second = await run();
    expect(second.code, second.stderr).toBe(0);
    expect(digestsIn(join(folder, 'streams'))).toEqual(exported);
    const { kinds, object } = recordIn(folder).supplements;
    expect(kinds).toMatchObject({ detections: proved, events: proved, scans: proved, actions: proved });
    expect(object.key).toBe(`runs/${RUN}/supplements.zip`);
    expect(first.stdout + first.stderr + second.stdout).not.toContain(API_KEY);
  });
});

test('nobody was sent elsewhere', () => {
  expect(elsewhere.requests).toEqual([]);
});

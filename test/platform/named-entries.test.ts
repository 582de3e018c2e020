import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AGENTS_API, NEW_ACTION, NEW_AGENT } from './agents/operations.ts';
import { enrol } from './endpoints/http-sensor.ts';
import { file } from './endpoints/sensor-double.ts';
import { listAll, SERVICES, type Service } from './service.ts';

const TOOLS = ['a', 'b'].map((digest) => [file('/usr/bin/tool', digest)]);
const BUG = { credential_type: 'web_bug', plant_location: 'wiki', label: 'x' };

interface Kind {
  /** Creates records, and returns the path of their list. */
  path(service: Service): Promise<string>;
  recorded: string;
  id: string;
}

const KINDS: Record<string, Kind> = {
  detections: { path: usedTraps, recorded: 'detected_at', id: 'detection_id' },
  events: { path: changedEndpoints, recorded: 'first_seen', id: 'event_id' },
  scans: { path: scannedEndpoint, recorded: 'received_at', id: 'scan_id' },
  actions: { path: actedAgent, recorded: 'received_at', id: 'action_id' },
};

async function usedTraps(service: Service): Promise<string> {
  for (const label of ['one', 'two']) {
    const { credential } = (await service.call('POST', '//traps/api/v1/credentials/generate', { ...BUG, label })).body;
    await fetch(credential.url);
    await nextMillisecond();
  }
  return '//traps/api/v1/detections/';
}

async function changedEndpoints(service: Service): Promise<string> {
  for (const [first = [], second = []] of [TOOLS, TOOLS]) {
    const agent = await enrol(service);
    const baseline = { endpoint_id: agent.id, name: 'x', roots: ['/usr/bin'], lines: first, complete: true };
    await service.call('POST', '//endpoints/baselines/register', baseline);
    await agent.report(second);
    await nextMillisecond();
  }
  return '//endpoints/events/';
}

async function scannedEndpoint(service: Service): Promise<string> {
  const agent = await enrol(service);
  for (const lines of TOOLS) {
    await agent.report(lines);
    await nextMillisecond();
  }
  return `//endpoints/scans/?endpoint_id=${agent.id}`;
}

async function actedAgent(service: Service): Promise<string> {
  const { agent_id } = (await service.call('POST', `${AGENTS_API}/agents`, NEW_AGENT)).body;
  await service.call('POST', `${AGENTS_API}/agents/${agent_id}/onboard`, {});
  for (const tool_used of ['t', 'another']) {
    await service.call('POST', `${AGENTS_API}/agents/${agent_id}/actions`, { ...NEW_ACTION, tool_used });
    await nextMillisecond();
  }
  return `${AGENTS_API}/agents/${agent_id}/actions`;
}

/** Waits a millisecond, so that the next record has another time. */
async function nextMillisecond(): Promise<void> {
  for (const now = Date.now(); Date.now() === now; ) await new Promise(setImmediate);
}

describe.each(SERVICES)('a platform on %s', (_name, start) => {
  let service: Service;
  beforeAll(async () => {
    service = await start();
  });
  afterAll(() => service.close());

  test.each(Object.entries(KINDS))(
    'names the entry of each of the %s, and answers those of a time',
    async (_kind, kind) => {
      const path = await kind.path(service);
      const [last, first, ...others] = await listAll(service, path);
      expect(others).toEqual([]);
      for (const record of [last, first]) {
        const { stream_id, ...place } = record.entry;
        expect(Object.keys(place)).toEqual(['sequence', 'hash']);
        const entries = await listAll(service, `/entries/?stream_id=${encodeURIComponent(stream_id)}`);
        const [entry] = entries.filter(({ sequence }) => sequence === place.sequence);
        expect(entry.hash).toBe(place.hash);
        expect(JSON.stringify(entry)).toContain(record[kind.id]);
      }
      const { [kind.recorded]: from } = first;
      const { [kind.recorded]: to } = last;
      const ids = async (query: string) =>
        (await listAll(service, `${path}${path.includes('?') ? '&' : '?'}${query}`)).map((record) => record[kind.id]);
      expect(await ids(`from=${from}&to=${to}`)).toEqual([first[kind.id]]);
      expect(await ids(`from=${to}`)).toEqual([last[kind.id]]);
      expect(await ids(`to=${from}`)).toEqual([]);
    },
  );

  test('counts traps, and what was seen of them', async () => {
    const { body } = await service.call('GET', '//traps/api/v1/stats/');
    const now = expect.stringMatching(/^\d{4}-/);
    expect(body).toEqual({
      traps: 2,
      planted: 2,
      unproved: 2,
      without_decoy: 0,
      proved_since: null,
      detections: 2,
      detections_24h: 2,
      open_detections: { low: 0, medium: 2, high: 0, critical: 0 },
      open_since: now,
      last_detection_at: now,
    });
  });
});

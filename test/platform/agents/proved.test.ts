import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { evidence } from '../../support/evidence.ts';
import { runPlatform } from '../command.ts';
import { listAll, startService } from '../service.ts';
import { onboarded } from './http-agent.ts';

test('every action and outcome is an entry of a stream that an export proves: order, content and seal', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'proved-agents-'));
  const service = await startService();
  try {
    const agent = await onboarded(service);
    const places: { stream_id: string; sequence: number; hash: string }[] = [];
    for (const did of [
      () => agent.did(),
      () => agent.said({ tool_used: 'read_file' }),
      () => agent.said({ tool_used: 'x' }),
    ]) {
      const { action_id, entry } = await did();
      const outcome = await agent.send('POST', `/actions/${action_id}/outcome`, { outcome: 'succeeded' });
      places.push(entry, outcome.body.entry);
    }
    for (let n = 0; n < 2; n++) places.push((await agent.said({ tool_used: 'x' })).entry);
    const refused = await agent.send('POST', '/actions', { action_type: 'tool_call', action_description: 'again' });
    expect(refused).toMatchObject({ status: 409, body: { code: 'agent_suspended' } });
    places.push(refused.body.entry);

    const stream_id = `agents/${agent.id}`;
    const entries = await listAll(service, `/entries/?stream_id=${encodeURIComponent(stream_id)}`);
    const resolved = places.map(({ sequence }) => entries.find((entry) => entry.sequence === sequence));
    expect(resolved.map((entry) => ({ stream_id, sequence: entry.sequence, hash: entry.hash }))).toEqual(places);
    const of = (action: string) => entries.filter((entry) => entry.action === action).length;
    expect(['action.logged', 'action.outcome', 'action.refused'].map(of)).toEqual([5, 3, 1]);

    const words = ['seal-keys', 'write', '--data', service.dataDir, '--out', join(folder, 'seal-keys')];
    const { stdout: settings } = await runPlatform(words);
    await writeFile(join(folder, 'evidence.yaml'), settings);
    const env = { EVIDENCE_AUDIT_URL: service.url, EVIDENCE_API_KEY: service.apiKey };
    const exported = await evidence(['export', '--all-time', '--stream', stream_id, '--json'], { cwd: folder, env });
    expect(exported.code, exported.stdout).toBe(0);
    const [stream] = JSON.parse(exported.stdout).streams;
    const proved = { state: 'proved' };
    expect(stream).toMatchObject({ stream_id, claims: { content: proved, order: proved, seal: proved } });
    const head = entries.reduce((last, entry) => (entry.sequence > last.sequence ? entry : last));
    expect(stream.head).toMatchObject({ sequence: head.sequence, hash: head.hash });
    expect(Object.fromEntries(stream.actions.counts)).toMatchObject({
      'action.logged': 5,
      'action.outcome': 3,
      'action.refused': 1,
    });
    expect((await evidence(['verify', 'evidence-archive'], { cwd: folder })).code).toBe(0);
  } finally {
    await service.close();
    await rm(folder, { recursive: true });
  }
});

import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PlatformCaller } from '../../../src/platform/demonstration/caller.ts';
import { playStory, type StoryPart, tokenIn } from '../../../src/platform/demonstration/story.ts';
import { checkStreams } from '../../../src/platform/demonstration/streams.ts';
import { fill, type Service, startService } from '../service.ts';
import { settingsOf } from '../traps/decoy-places.ts';

let service: Service;
let folder: string;
beforeAll(async () => {
  service = await startService({ decoys: [settingsOf({ kind: 'web', isPlain: true })] });
  folder = await mkdtemp(join(tmpdir(), 'demonstration-'));
});
afterAll(async () => {
  await service.close();
  await rm(folder, { recursive: true });
});

const signal = new AbortController().signal;
const caller = () => new PlatformCaller(service.origin, service.apiKey, signal);

test('without an agent for endpoints a trap is made and used all the same', async () => {
  const parts: StoryPart[] = [];
  await playStory({ caller: caller(), folder, tell: (part) => parts.push(part), signal, isWatched: false });
  expect(parts.map(({ title }) => title)).toEqual(['Bait', 'The decoy', 'An AI agent']);
  expect(parts.find(({ title }) => title === 'The decoy')?.facts).toContainEqual([
    'used',
    'detected: the trap "nightly backup" was used, severity critical',
  ]);
  expect(await readdir(folder)).toEqual([]);
  const { data } = (await service.call('GET', '//traps/api/v1/detections/')).body;
  expect(data).toMatchObject([{ channel: 'http', depth: 'used', label: 'nightly backup' }]);
});

test('every stream is checked and has its head time-stamped; one that was altered ends the demonstration', async () => {
  const { data } = (await service.call('GET', '/streams/')).body;
  expect(await checkStreams(caller())).toBe(data.length);
  for (const { stream_id } of data) {
    const { body } = await service.call('GET', `/streams/${encodeURIComponent(stream_id)}/checkpoints`);
    expect(body.data).toMatchObject([{ anchor: { tsa_url: expect.stringContaining('development') } }]);
  }
  await fill(service, 'altered', 1);
  await service.sql("DROP TRIGGER entries_no_update; UPDATE entries SET actor = 'x' WHERE actor = 'actor-0'");
  await expect(checkStreams(caller())).rejects.toThrow('something wrong with the stream "altered"');
});

test('what the service refuses is said, with what was asked', async () => {
  await expect(caller().as(null).get('/audit/streams/')).rejects.toThrow('GET /audit/streams/ was answered with 401');
});

test.each([
  ['a file of another kind', 'password=1\n'],
  ['a token without an address', 'API_URL=nowhere\nAPI_TOKEN=x\n'],
])('%s has no token', (_what, text) => {
  expect(() => tokenIn(text)).toThrow('has no token in it');
});

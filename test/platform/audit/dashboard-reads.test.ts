import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { entry, SERVICES, type Service } from '../service.ts';

describe.each(SERVICES)('what the dashboard reads, on %s', (_name, start) => {
  let service: Service;
  beforeAll(async () => {
    service = await start();
    for (const [stream, count] of [
      ['a', 1],
      ['prod/a', 3],
      ['prod/b', 2],
      ['prod0', 1],
      ['üben', 1],
    ] as const)
      for (let at = 0; at < count; at++) await service.call('POST', '/entries/', entry(stream, at));
  });
  afterAll(() => service.close());
  const ids = async (query: string) =>
    (await service.call('GET', `/streams/?${query}`)).body.data.map(
      ({ stream_id }: { stream_id: string }) => stream_id,
    );

  test.each([
    ['begins_with=prod/', ['prod/a', 'prod/b']],
    ['begins_with=prod', ['prod/a', 'prod/b', 'prod0']],
    ['begins_with=%C3%BC', ['üben']],
    ['begins_with=Prod', []],
    ['begins_with=', ['a', 'prod/a', 'prod/b', 'prod0', 'üben']],
    ['verification_status=failed', []],
  ])('streams of %s', async (query, expected) => {
    expect(await ids(query)).toEqual(expected);
  });

  test('a search goes on where its page ended', async () => {
    const { body } = await service.call('GET', '/streams/?begins_with=prod&limit=2');
    const next = await service.call('GET', `/streams/?begins_with=prod&limit=2&cursor=${body.next_cursor}`);
    const found = [...body.data, ...next.body.data].map(({ stream_id }) => stream_id);
    expect([found, next.body.next_cursor]).toEqual([['prod/a', 'prod/b', 'prod0'], null]);
  });

  test('the packages of a stream, newest first, each of them once', async () => {
    const made: string[] = [];
    for (let count = 0; count < 5; count++)
      made.push((await service.call('POST', '/evidence/generate', { stream_id: 'prod/a' })).body.package_id);
    await service.call('POST', '/evidence/generate', { stream_id: 'prod/b' });
    const listed: { package_id: string; created_at: string }[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const query: string = cursor === '' ? '' : `&cursor=${cursor}`;
      const { body } = await service.call('GET', `/streams/prod%2Fa/packages?limit=2${query}`);
      listed.push(...body.data);
      cursor = body.next_cursor;
    }
    expect(listed.map(({ package_id }) => package_id).sort()).toEqual(made.sort());
    const times = listed.map(({ created_at }) => created_at);
    expect(times).toEqual(times.toSorted().reverse());
    expect((await service.call('GET', '/streams/nobody/packages')).status).toBe(404);
    expect((await service.call('GET', '/streams/prod%2Fa/packages?cursor=x')).body.code).toBe('invalid_cursor');
  });

  test('the entries of thirty days without gaps, and the streams that have most of them', async () => {
    const { body } = await service.call('GET', '/stats/activity');
    expect(body.days).toHaveLength(30);
    const days = body.days.map(({ day }: { day: string }) => Date.parse(day));
    expect(days.every((day: number, at: number) => at === 0 || day - days[at - 1] === 86_400_000)).toBe(true);
    expect(body.days.at(-1)).toMatchObject({ entries: 8 });
    expect(body.streams.slice(0, 2)).toEqual([
      { stream_id: 'prod/a', entries: 3 },
      { stream_id: 'prod/b', entries: 2 },
    ]);
  });
});

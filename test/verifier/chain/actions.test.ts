import { describe, expect, test } from 'vitest';
import { entryAfter, packageOf, readPackage, type SentEntry, STREAM, sealed } from '../../support/chain.ts';

const ACTIONS = ['read', 'delete', 'read', 'é "quoted"', 'back\\slash', 'x'.repeat(300), 'read'];
const entries: SentEntry[] = [];
for (const action of ACTIONS) entries.push(entryAfter(entries.at(-1) ?? null, { action }));
const COUNTED = new Map([
  ...[['read', 3] as const, ['delete', 1] as const, ['é "quoted"', 1] as const, ['back\\slash', 1] as const],
  [`${'x'.repeat(200)}…`, 1] as const,
]);

const text = JSON.stringify(packageOf(entries));
const countsOf = (sent: string) => readPackage(sent, { streamId: STREAM, actions: true }).walk.actions;
const resealed = (change: (entry: SentEntry) => object) =>
  JSON.stringify(packageOf(entries.map((entry) => sealed({ ...entry, ...change(entry) } as SentEntry))));

describe('entries are counted by the action that they state', () => {
  test.each<[what: string, sent: string]>([
    ['as a service sends them', text],
    ['with blanks', JSON.stringify(packageOf(entries), null, 2)],
    ['with an escaped name', text.replaceAll('"action":', '"\\u0061ction":')],
    ['with an escaped value', text.replaceAll('"read"', '"re\\u0061d"')],
    [
      'after an object with such a member',
      text.replaceAll('{"entry_id"', '{"metadata":{"action":"none"},"entry_id"').replaceAll(/,"metadata":\{\}/g, ''),
    ],
    ['after a text that looks like it', resealed(() => ({ actor: 'a,"action":"none"' }))],
    ['after a member whose name ends like it', text.replaceAll('{"entry_id"', '{"x\\"action":"none","entry_id"')],
    ['beside a member of an object', resealed(() => ({ metadata: { action: 'none' } }))],
  ])('%s', (_what, sent) => {
    const counted = countsOf(sent);
    expect(new Map([...(counted ?? [])].sort())).toEqual(new Map([...COUNTED].sort()));
  });

  test('and not at all where one states none, or nobody asked', () => {
    expect(countsOf(text.replace('"action":"delete"', '"action":null'))).toBe(null);
    expect(countsOf(text.replace('"action":"delete"', '"action":""'))).toBe(null);
    expect(readPackage(text, { streamId: STREAM }).walk.actions).toBe(null);
  });
});

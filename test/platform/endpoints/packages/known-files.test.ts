import { expect, test } from 'vitest';
import { explains, standingPath } from '../../../../src/platform/endpoints/packages/known-files.ts';

const ROOT = { uid: 0, gid: 0 };
const PLAIN = { ...ROOT, mode: 0o755 };
const SET_ID = { ...ROOT, mode: 0o4755 };

/** Files before, after and in the package; true if the package explains the change. */
const CHANGES: readonly (readonly [
  words: string,
  boolean,
  before: typeof PLAIN | null,
  after: typeof PLAIN,
  packaged: typeof PLAIN,
])[] = [
  ['an upgrade that leaves attributes as they were', true, PLAIN, PLAIN, PLAIN],
  [
    'an upgrade of what an administrator keeps otherwise',
    true,
    { ...PLAIN, mode: 0o2755, gid: 42 },
    { ...PLAIN, mode: 0o2755, gid: 42 },
    PLAIN,
  ],
  ['an upgrade of what is setuid', true, SET_ID, SET_ID, SET_ID],
  ['an upgrade that takes rights away', true, { ...PLAIN, mode: 0o775 }, PLAIN, PLAIN],
  ['a new file', true, null, PLAIN, PLAIN],
  ['a new file that the package has setuid', true, null, SET_ID, SET_ID],
  ['a new file with setuid of its own', false, null, SET_ID, PLAIN],
  ['an upgrade that has become setuid', false, PLAIN, SET_ID, PLAIN],
  ['an upgrade that has become setuid again, as the package has it', false, PLAIN, SET_ID, SET_ID],
  ['what everybody may write to', false, PLAIN, { ...PLAIN, mode: 0o757 }, PLAIN],
  ['what belongs to somebody', false, PLAIN, { ...PLAIN, uid: 1000 }, PLAIN],
];

test.each(CHANGES)('%s: explained is %s', (_words, expected, before, after, packaged) => {
  const observed = { ...after, sha256: 'b' };
  const changed = { path: '/usr/bin/x', observed, expected: before && { ...before, sha256: 'a' } };
  expect(explains(packaged, changed)).toBe(expected);
});

test('what has the same content as before is no upgrade', () => {
  const observed = { ...SET_ID, sha256: 'a' };
  expect(explains(SET_ID, { path: '/usr/bin/x', observed, expected: { ...PLAIN, sha256: 'a' } })).toBe(false);
});

test.each([
  ['/bin/sh', '/usr/bin/sh'],
  ['/lib64/ld.so', '/usr/lib64/ld.so'],
  ['/usr/bin/sh', '/usr/bin/sh'],
  ['/bin', '/bin'],
  ['/binary/x', '/binary/x'],
  ['/opt/bin/x', '/opt/bin/x'],
])('%s stands at %s', (path, at) => {
  expect(standingPath(path)).toBe(at);
});

import { expect, test } from 'vitest';
import { newAwsId } from '../../../src/platform/traps/aws/access-key.ts';
import type { DecoyPlace } from '../../../src/platform/traps/decoys/decoy.ts';
import { typesPossible } from '../../../src/platform/traps/making.ts';
import { realismOf, type TrapLooks } from '../../../src/platform/traps/realism.ts';
import type { WireTrap } from '../../../src/platform/traps/wire.ts';

const DAY = 24 * 60 * 60_000;
const NOW = new Date('2026-11-22T12:00:00Z');
const ago = (days: number) => new Date(NOW.getTime() - days * DAY).toISOString();

const CHANNEL = { channel: 'http', active: true, reason: '', last_proved_at: ago(1) } as const;
const TRAP = {
  credential_type: 'web_bug',
  label: 'Salaries',
  decoy: 'front',
  confirmed_at: ago(40),
  detection_channels: [CHANNEL],
} as unknown as WireTrap;
const PLACE: DecoyPlace = { name: 'front', kind: 'web', host: 'cdn.example.org', port: 443, authority: null };
const LOOKS: TrapLooks = {
  trap: TRAP,
  place: PLACE,
  host: PLACE.host,
  platformHost: 'evidence.example.com',
  trippedBeside: 0,
  now: NOW,
};

const of = (result: string, looks: Partial<TrapLooks>) =>
  realismOf({ ...LOOKS, ...looks })
    .filter((each) => each.result === result)
    .map(({ check }) => check);
const trap = (more: object) => ({ trap: { ...TRAP, ...more } });
const place = (more: object) => ({ place: { ...PLACE, ...more } });
const proved = (more: object) => trap({ detection_channels: [{ ...CHANNEL, ...more }] });

const awsKey = (account: string) => trap({ credential_type: 'aws_key', known_as: newAwsId('AKIA', account) });

test('a trap that hides well passes every check, and nothing is to be done', () => {
  const checks = realismOf(LOOKS);
  expect(checks).toHaveLength(7);
  expect(checks.every(({ result, next_step }) => result === 'passed' && next_step === null)).toBe(true);
});

test.each([
  ['a label that tells', trap({ label: 'HoneyToken 1' }), 'plain_label'],
  ['a label of two words', trap({ label: 'aws_canary_2' }), 'plain_label'],
  ['a host that tells', { host: 'canarytokens.example.org' }, 'plain_host'],
  ['the host of the platform', { host: 'evidence.example.com' }, 'plain_host own_host'],
  ['a host below the platform', { host: 'a.evidence.example.com' }, 'plain_host own_host'],
  ['a web decoy of an authority of its own', place({ authority: 'PEM' }), 'certificate'],
  ['an AWS decoy without TLS', place({ kind: 'aws', isPlain: true }), 'certificate'],
  ['an account of canaries', awsKey('052310077262'), 'unlisted_account'],
  ['another trap of the host that was used', { trippedBeside: 1 }, 'unspent_decoy'],
  ['nobody who planted it', trap({ confirmed_at: null }), 'planted'],
  ['a channel that was never proved', proved({ last_proved_at: null }), 'proved'],
  ['a channel that was proved 31 days ago', proved({ last_proved_at: ago(31) }), 'proved'],
  ['no channel that is active', proved({ active: false }), 'proved'],
])('%s fails', (_what, looks, failed) => {
  expect(of('failed', looks).join(' ')).toBe(failed);
  const steps = realismOf({ ...LOOKS, ...looks }).filter(({ result }) => result === 'failed');
  expect(steps.every(({ next_step }) => next_step !== null)).toBe(true);
});

test.each([
  ['a label with such letters within a word', trap({ label: 'bootstrap of cloud-extraps' })],
  ['a host of a similar end', { host: 'notevidence.example.com.example.org' }],
  ['a PostgreSQL server of its own authority', place({ kind: 'postgres', authority: 'PEM' })],
  ['a cluster of its own authority', place({ kind: 'kubernetes', authority: 'PEM' })],
  ['an account that no list has', awsKey('123456789012')],
  ['a proof of 29 days ago', proved({ last_proved_at: ago(29) })],
])('%s fails nothing', (_what, looks) => {
  expect(of('failed', looks)).toEqual([]);
});

test('the account of an old key cannot be told', () => {
  expect(of('unknown', trap({ credential_type: 'aws_key', known_as: 'AKIAIOSFODNN7EXAMPLE' }))).toEqual([
    'unlisted_account',
  ]);
});

test('nothing is said of what does not fit, and a decoy that is gone leaves its host unknown', () => {
  expect(of('unknown', { place: null, host: null })).toEqual(['plain_host', 'own_host']);
  const none = realismOf({ ...LOOKS, ...trap({ decoy: null }), place: null, host: null });
  expect(none.map(({ check }) => check)).toEqual(['plain_label', 'planted', 'proved']);
  expect(realismOf({ ...LOOKS, ...place({ kind: 'ssh' }) }).map(({ check }) => check)).not.toContain('certificate');
});

test('a web bug leads to a decoy where there is one, and to the platform where there is none', () => {
  const bug = (places: readonly DecoyPlace[]) => typesPossible(places).find(({ type }) => type === 'web_bug');
  expect(bug([])).toEqual({ type: 'web_bug', decoys: [], reason: null });
  expect(bug([{ ...PLACE, kind: 'ssh' }, PLACE])).toEqual({ type: 'web_bug', decoys: [PLACE], reason: null });
});

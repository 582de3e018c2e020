import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Printer } from '../../../../src/core/terminal/printer.ts';
import { VerifyProgress } from '../../../../src/exporter/cli/commands/verify-archive.ts';
import { LiveLines } from '../../../../src/exporter/cli/output/live-lines.ts';
import { keptOutput } from '../../../support/output.ts';

const isTerminal = Object.getOwnPropertyDescriptor(process.stderr, 'isTTY');
let written: string[];
beforeEach(() => {
  written = [];
  vi.stubEnv('TERM', 'xterm');
  Object.defineProperty(process.stderr, 'isTTY', { value: true, configurable: true });
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    written.push(String(text));
    return true;
  });
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  if (isTerminal === undefined) Reflect.deleteProperty(process.stderr, 'isTTY');
  else Object.defineProperty(process.stderr, 'isTTY', isTerminal);
});

const printerOf = (options: Partial<ConstructorParameters<typeof Printer>[0]>) =>
  new Printer({ json: false, quiet: false, ...keptOutput(), ...options });

test('lines take the place of those before, and are taken back', () => {
  const lines = new LiveLines(printerOf({}));
  lines.show(['one', 'two']);
  lines.show(['three']);
  lines.takeBack();
  lines.takeBack();
  expect(written).toEqual(['one\ntwo\n', '\x1b[2F\x1b[J', 'three\n', '\x1b[1F\x1b[J']);
});

test.each<[what: string, shows: () => void]>([
  ['a log for programs', () => new LiveLines(printerOf({ logFormat: 'json' })).show(['one'])],
  ['no progress', () => new LiveLines(printerOf({ quiet: true })).show(['one'])],
  ['lines in detail', () => new LiveLines(printerOf({ verbose: true })).show(['one'])],
  ['a verification with a log for programs', () => verifying({ logFormat: 'json' })],
  ['a verification whose requests are told', () => verifying({ verbose: true })],
])('%s: nothing is drawn', (_what, shows) => {
  shows();
  expect(written).toEqual([]);
});

test('a verification draws the stream that it looks at', () => {
  verifying({});
  expect(written).toEqual(['  2026-10: stream 1: payments\n']);
});

function verifying(options: Parameters<typeof printerOf>[0]): void {
  const context = { printer: printerOf(options), signal: new AbortController().signal };
  const progress = new VerifyProgress(context as ConstructorParameters<typeof VerifyProgress>[0]);
  progress.onRun('2026-10');
  progress.onStream('payments');
}

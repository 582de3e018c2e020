import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Command } from '../../../../src/exporter/cli/command.ts';
import { runLedger } from '../../../../src/exporter/cli/commands/ledger.ts';
import { runRestamp } from '../../../../src/exporter/cli/commands/restamp.ts';
import { runShare } from '../../../../src/exporter/cli/commands/share.ts';
import { entryAfter } from '../../../support/chain.ts';
import { carryOut } from '../../../support/command.ts';
import { type FalseService, startFalseService } from '../../../support/false-service.ts';
import { type OpensslAuthority, startOpensslAuthority } from '../../../support/tsa.ts';

let service: FalseService;
let authority: OpensslAuthority;
let directory: string;

beforeAll(async () => {
  service = await startFalseService();
  ({ directory } = service);
  authority = await startOpensslAuthority(join(directory, 'tsa'));
  service.streams.set('logins', { entries: [entryAfter(null, { stream_id: 'logins' })] });
  expect((await service.export({ request: 'AUD-1', 'all-time': true })).code).toBe(0);
  service.streams.set('logins', { entries: [entryAfter(null, { stream_id: 'logins', actor: 'another' })] });
  expect((await service.export({ request: 'AUD-2', 'all-time': true })).code).toBe(1);
  const sign = { tsa_url: authority.url, tsa_roots: authority.rootFile };
  writeFileSync(join(directory, 'evidence.yaml'), JSON.stringify({ sign }));
});
afterAll(() => Promise.all([service.close(), authority.close()]));

const ask = <Flags extends object>(command: Command<Flags>, flags: object, json = true) =>
  carryOut(command, flags, directory, { json });

/** Returns everything in the folder, sorted. */
const files = () => readdirSync(directory, { recursive: true, encoding: 'utf8' }).toSorted();

const added = (before: readonly string[]) =>
  files()
    .filter((file) => !before.includes(file))
    .filter((file) => /\.\w+$/.test(file));

/** Commands, with the objects that each adds to the archive and that its dry run names. */
const COMMANDS: [name: string, command: Command<never>, flags: object, adds: RegExp[], says: RegExp][] = [
  [
    'restamp',
    runRestamp as Command<never>,
    { run: 'AUD-1', within: '90d' },
    [/^runs\/AUD-1\/run\.tsr$/, /^runs\/AUD-1\/hold-log\/\S+-restamp\.json$/],
    /Would request 1 token from .*No command can undo this\. Nothing was requested or written\./s,
  ],
  [
    'share',
    runShare as Command<never>,
    { run: 'AUD-1', for: 'J. Smith', out: 'handed-out' },
    [/^runs\/AUD-1\/hold-log\/\S+-share\.json$/],
    /would be shared with J\. Smith: \d+ objects.* go to handed-out, .* to runs\/AUD-1\/hold-log\/.*nothing was written/s,
  ],
  [
    'ledger accept',
    runLedger as Command<never>,
    { action: 'accept', stream: 'logins', reason: 'moved' },
    [/^acceptances\/\S+\.json$/, /^ledger\/00000003\.json$/],
    /continuity\/rewritten of run AUD-2 is accepted; logins is no longer compared with entry 1, .*under acceptances\/, .*ledger\/00000003\.json.*Nothing was written/s,
  ],
];

test.each(COMMANDS)(
  '%s --dry-run says what is then done, and does nothing',
  async (_name, command, flags, adds, says) => {
    const before = files();
    const words = await ask(command, { ...flags, 'dry-run': true }, false);
    expect([words.code, words.stderr]).toEqual([0, '']);
    expect(words.stdout).toMatch(says);
    const { code, document } = await ask(command, { ...flags, 'dry-run': true });
    expect([code, document.dry_run, files()]).toEqual([0, true, before]);

    expect((await ask(command, flags)).code).toBe(0);
    const archived = added(before).flatMap((file) => /^evidence-archive\/(.*)/.exec(file)?.[1] ?? []);
    expect(archived).toHaveLength(adds.length);
    for (const key of adds) expect(archived).toContainEqual(expect.stringMatching(key));
  },
);

test('a folder that is there is found before anything is shared', async () => {
  const flags = { run: 'AUD-1', for: 'J. Smith', out: 'tsa', 'dry-run': true };
  const { code, stdout } = await ask(runShare, flags);
  expect([code, stdout]).toEqual([2, expect.stringContaining('exists and is never overwritten')]);
});

test('what is not due, and what was accepted already, would not be done', async () => {
  const { stdout } = await ask(runRestamp, { all: true, within: '1d', 'dry-run': true }, false);
  expect(stdout).toMatch(/^AUD-1 +not-due/m);
  const accept = { action: 'accept', stream: 'logins', reason: 'again' };
  for (const flags of [accept, { ...accept, 'dry-run': true }]) {
    const before = files();
    const { code, document } = await ask(runLedger, flags);
    expect([code, files()]).toEqual([2, before]);
    expect(document.error).toMatchObject({
      message: expect.stringMatching(/^a restart or end of "logins" was already accepted at \S+ by \S+, .*: moved$/),
      next_step: expect.stringContaining('Nothing needs to be done'),
    });
  }
});

test('the objects that a dry run of a share names are those of its record', async () => {
  const flags = { run: 'AUD-1', for: 'J. Smith', out: 'handed-out-too' };
  const foreseen = await ask(runShare, { ...flags, 'dry-run': true });
  const { document } = await ask(runShare, flags);
  expect(foreseen.document.objects).toEqual(document.objects);
  expect(JSON.parse(readFileSync(join(directory, 'handed-out-too/share.json'), 'utf8')).objects).toEqual(
    document.objects,
  );
});

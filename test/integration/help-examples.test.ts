import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CommandTable } from '../../src/core/terminal/command-table.ts';
import { TABLES } from '../../src/exporter/cli/commands/flags-of.ts';
import { importCommands } from '../../src/platform/commands/import.ts';
import { keysCommands } from '../../src/platform/commands/keys.ts';
import { packagesCommands } from '../../src/platform/commands/packages.ts';
import { type Acme, openAcme, type Place, servedIn } from '../support/acme.ts';
import { fencedIn, readDocuments } from '../support/documents.ts';
import { someRows } from '../support/some-rows.ts';

// Each test runs several processes, on machines that do other work too.

let acme: Acme;
/** True to run `evidence` as a separate program too. */
const [isStarted = false] = someRows([false, true], () => 'evidence').slice(-1);

beforeAll(async () => {
  acme = await openAcme(isStarted);
});
afterAll(() => acme.close());

function examplesOf(commands: Readonly<Record<string, CommandTable>>, program: string): string[] {
  const examples = Object.values(commands).flatMap((table) => table.examples ?? []);
  return [...new Set(examples.map(([line]) => line.replace('$0', program)))];
}

/** Commands that need an empty folder, and commands that need S3. */
const IN_BARE = /^evidence (init|demo|keygen)\b/;
const IN_S3 = /^evidence (hold|release|extend)\b|verify s3:/;

async function placeOf(line: string): Promise<Place> {
  if (IN_BARE.test(line)) return acme.bare();
  if (/ ledger accept /.test(line)) return vanished(acme.filled(), 'payments');
  if (/ abandon /.test(line)) return begun(acme.filled(), '2026-09');
  return IN_S3.test(line) ? acme.inS3() : acme.filled();
}

/** Adds a run that found a stream vanished. */
async function vanished(place: Place, streamId: string): Promise<Place> {
  const told = acme.service.streams.get(streamId);
  acme.service.streams.delete(streamId);
  const { code } = await place.run('evidence export --all-time');
  if (told !== undefined) acme.service.streams.set(streamId, told);
  expect(code).toBe(1);
  return place;
}

/** Adds a run that began and was not finalized. */
function begun(place: Place, runId: string): Place {
  const folder = join(place.folder, 'evidence-archive/runs', runId);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'asked.json'), '{}');
  return place;
}

/** Examples that also appear in the documents, whose tests run them. */
const documented = readDocuments()
  .flatMap(fencedIn)
  .flatMap(({ text }) => text.split('\n').map((line) => line.replace(/ +#.*$/, '')));
const examples = examplesOf(TABLES, 'evidence');

test('every command has an example', () => {
  const named = examples.map((line) => /evidence ([a-z]+)/.exec(line)?.[1]);
  expect([...new Set(named), 'version'].toSorted()).toEqual(Object.keys(TABLES).toSorted());
});

/** Returns the part of a line that runs in bash; the rest is for other shells. */
function ofOurShell(line: string): string {
  return /evidence completion (zsh|fish)/.exec(line)?.[0] ?? line;
}

/** Commands that demo.test.ts and distributed.test.ts run; the latter has a queue. */
const elsewhere = ['evidence demo', 'evidence status', 'evidence worker --until-idle --concurrency 8'];

test.each(examples.filter((line) => !documented.includes(line) && !elsewhere.includes(line)))('%s', async (line) => {
  const { code, stdout, stderr } = await (await placeOf(line)).run(ofOurShell(line));
  expect(code, `${stderr}${stdout.slice(-2000)}`).toBe(0);
});

test('the examples of the platform', async () => {
  const examples = examplesOf({ ...importCommands, ...keysCommands, ...packagesCommands }, 'evidence-platform');
  expect(examples).toHaveLength(4);
  const place = acme.bare();
  const begun = await place.run('evidence-platform init --data ./data; evidence-platform serve --data ./data');
  const { apiKey, port } = servedIn(place, begun.stdout);
  const given = (line: string) => line.replace('8181', port);
  for (const line of examples.filter((each) => !documented.includes(each))) {
    const { code, stderr } = await place.run(given(line), { EVIDENCE_API_KEY: apiKey });
    expect([line, code, stderr]).toEqual([line, 0, expect.any(String)]);
  }
});

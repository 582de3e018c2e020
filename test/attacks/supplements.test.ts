import { cpSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { FlagsOf } from '../../src/exporter/cli/commands/flags-of.ts';
import { runVerify } from '../../src/exporter/cli/commands/verify.ts';
import { slugOf } from '../../src/verifier/bundle/layout.ts';
import { Altered, inFile, type Json, sha256 } from '../support/altered-archive.ts';
import { sealed } from '../support/chain.ts';
import { commandIn } from '../support/command.ts';
import { type FalseService, startFalseService } from '../support/false-service.ts';
import { runToEnd } from '../support/process.ts';
import { type BagFiles, rebag } from '../support/rebag.ts';
import { AGENT, storyOf } from '../support/services/beside.ts';
import { type BesideExport, placeBeside, RUN } from '../support/services/beside-export.ts';

/** Supplements altered by an attacker who corrects every digest that needs no key. */

const story = storyOf(2);
const folder = mkdtempSync(join(tmpdir(), 'supplements-'));
let audit: FalseService;
let made: BesideExport;

beforeAll(async () => {
  audit = await startFalseService();
  for (const [id, entries] of story.streams) audit.streams.set(id, { entries });
  made = await placeBeside(audit.url, story.shown);
  expect((await made.run()).code).toBe(0);
});
afterAll(async () => {
  await Promise.all([audit.close(), made.beside.close()]);
  rmSync(folder, { recursive: true });
});

const KEY = `runs/${RUN}/supplements.zip`;
const DETECTIONS = 'data/traps/detections/0001.json';
const STATES = 'data/records.jsonl';
const DOCUMENT = 'data/supplements.json';
const LOG = 'data/transfer-log.json';

type Change = (archive: Altered) => void | Promise<void>;

async function verify(root: string, flags: Partial<FlagsOf<'verify'>> = {}): Promise<{ exit: number; report: Json }> {
  const { context, printed } = commandIn(root);
  const exit = await runVerify({ targets: [root], ...flags } as FlagsOf<'verify'>, context);
  return { exit, report: JSON.parse(printed.stdout) };
}

async function verifyAltered(change: Change): Promise<{ exit: number; run: Json; codes: string[] }> {
  const root = mkdtempSync(join(folder, 'archive-'));
  cpSync(join(made.directory, 'evidence-archive'), root, { recursive: true });
  const archive = new Altered(root);
  await change(archive);
  const { exit, report } = await verify(root);
  rmSync(root, { recursive: true });
  const [run] = report.runs;
  const all = [...run.findings, ...report.objects.unexpected, ...report.objects.missing];
  return { exit, run, codes: [...new Set<string>(all.map(({ code }: Json) => code))].sort() };
}

/** Changes files of the bag, and every digest that depends on them. */
const inBag =
  (...changes: ((files: BagFiles) => void)[]): Change =>
  async (archive) => {
    const target = `${archive.path(KEY)}.new`;
    let manifest = '';
    await rebag(archive.path(KEY), target, (files) => {
      for (const change of changes) change(files);
      const payload = [...files].filter(([path]) => path.startsWith('data/'));
      const lines = payload.map(([path, content]) => `${sha256(content)}  ${path}\n`);
      manifest = lines.sort().join('');
    });
    renameSync(target, archive.path(KEY));
    archive.editRun(RUN, ({ supplements: { object } }) => {
      archive.measure(object);
      object.identity = sha256(manifest);
    });
  };

const inRecord =
  (change: (supplements: Json) => void): Change =>
  (archive) =>
    archive.editRun(RUN, ({ supplements }) => change(supplements));

/** Changes the statement in the bag and in the record. */
const inStatement =
  (change: (statement: Json) => void): Change =>
  async (archive) => {
    await inBag(inFile(DOCUMENT, change))(archive);
    await inRecord(change)(archive);
  };

const inLines =
  (change: (lines: string[]) => string[]) =>
  (files: BagFiles): void => {
    const lines = files.get(STATES)?.toString().trimEnd().split('\n') ?? [];
    files.set(STATES, Buffer.from(`${change(lines).join('\n')}\n`));
  };

const inText =
  (path: string, from: string | RegExp, to: string) =>
  (files: BagFiles): void => {
    const text = files.get(path)?.toString() ?? '';
    const altered = text.replace(from, to);
    expect(altered, path).not.toBe(text);
    files.set(path, Buffer.from(altered));
  };

/** Makes the transfer log match every answer's present content. */
const logged = (files: BagFiles): void =>
  inFile(LOG, (log) => {
    for (const { file, exchange } of log.steps) {
      const content = files.get(file);
      if (content !== undefined) Object.assign(exchange, { bytes: content.length, sha256: sha256(content) });
    }
  })(files);

/** Changes the entries of the stream of traps. */
const inEntries =
  (change: (entries: Json[]) => void): Change =>
  (archive) =>
    archive.editBundle(
      RUN,
      archive.find(`runs/${RUN}/streams`, `${slugOf('traps')}.zip`),
      inFile('data/evidence.json', ({ entries }) => change(entries)),
    );

const both =
  (...changes: Change[]): Change =>
  async (archive) => {
    for (const change of changes) await change(archive);
  };

/** Removes a detection from every record that names it. */
const suppressed = (id: string): Change =>
  both(
    inBag(
      inFile(DETECTIONS, (page) => {
        page.data = page.data.filter((each: Json) => each.detection_id !== id);
      }),
      inLines((lines) => lines.filter((line) => !line.includes(`"${id}"`))),
      inText('data/traps/detections.csv', new RegExp(`^${id},.*\r\n`, 'm'), ''),
      logged,
    ),
    inStatement(({ kinds: { detections } }) => {
      for (const count of ['records', 'in_period', 'proved_by_entry']) detections[count] -= 1;
    }),
  );

/** Gives a detection another entry than the one that names it. */
const elsewhere = inBag(
  inText(DETECTIONS, /"sequence":\d+,"hash":"\w+"/, '"sequence":99,"hash":null'),
  inText(DETECTIONS, 'bait 1', 'bait 9'),
  logged,
);

const collectedLongAgo = inStatement(({ services }) => (services.traps.collected_at = '2026-10-05T00:00:00.000Z'));

/** Sets the cursor that a page of a list returns. */
const goingOn = (next: string) => inBag(inText(DETECTIONS, '"next_cursor":null', `"next_cursor":"${next}"`), logged);

const cutOff = inBag(inText(DETECTIONS, /,?"next_cursor":null/, ''), logged);

test('supplements that nobody touched are judged anew, and proved', async () => {
  const { exit, report } = await verify(join(made.directory, 'evidence-archive'));
  const { judged, kinds } = report.runs[0].supplements;
  expect([exit, judged, kinds.detections.proved_by_entry, kinds.actions.proved_by_entry]).toEqual([0, true, 2, 2]);
});

describe('what was altered is seen', () => {
  const files = (change: (bag: BagFiles) => void) => inBag(change);
  const stateOf = (from: string, to: string) => inLines(([line = '', ...rest]) => [line.replace(from, to), ...rest]);

  test.each<[what: string, codes: string[], change: Change]>([
    ['the bag is gone', ['object/missing'], (archive) => archive.remove(KEY)],
    ['a byte of the bag', ['bundle/unreadable', 'object/altered'], (archive) => archive.flip(KEY)],
    ['an answer', ['bundle/contradiction'], files(inText(DETECTIONS, 'bait 1', 'bait 9'))],
    [
      'an answer, with the log of how it came',
      ['bundle/contradiction', 'supplement/contradicted', 'verdict/differs'],
      inBag(inText(DETECTIONS, 'bait 1', 'bait 9'), logged),
    ],
    [
      'an answer that can be read in two ways',
      ['object/unreadable'],
      inBag(inText(DETECTIONS, '{"', '{"data":[],"'), logged),
    ],
    ['a detection that is suppressed everywhere', ['supplement/missing'], suppressed('det-1')],
    [
      'a detection that names an entry outside of the bundle',
      ['bundle/contradiction', 'supplement/contradicted', 'verdict/differs'],
      elsewhere,
    ],
    ['a list that goes on and has no further page', ['bundle/contradiction'], goingOn('500')],
    [
      'how a record stands, said twice in its line',
      ['bundle/contradiction'],
      files(inText(STATES, '"state":"proved_by_entry"', '"state":"contradicted","state":"proved_by_entry"')),
    ],
    [
      'which columns are as the service says',
      ['bundle/contradiction'],
      files(inLines(([line = '', ...rest]) => [line.replace(/"as_reported":\[[^\]]*\],/, ''), ...rest])),
    ],
    [
      'which columns are as the service says, with one that an entry states',
      ['bundle/contradiction'],
      files(inLines(([line = '', ...rest]) => [line.replace('"as_reported":[', '"as_reported":["label",'), ...rest])),
    ],
    ['a list that does not say that it ends', ['bundle/contradiction'], cutOff],
    ['an answer left out', ['bundle/missing-file'], files((bag) => bag.delete('data/endpoints/scans/0001.json'))],
    [
      'the actions of an agent left out',
      ['bundle/missing-file'],
      files((bag) => bag.delete(`data/agents/actions/${slugOf(AGENT)}/0001.json`)),
    ],
    [
      'an answer more',
      ['bundle/contradiction'],
      files((bag) => bag.set('data/traps/detections/0002.json', Buffer.from('{"data":[]}'))),
    ],
    [
      'an answer after a gap',
      ['bundle/unexpected-file'],
      files((bag) => bag.set('data/traps/detections/0003.json', Buffer.from('{}'))),
    ],
    [
      'an agent that nobody asked after',
      ['bundle/unexpected-file'],
      files((bag) => bag.set('data/agents/verifications/x-12345678.json', Buffer.from('{}'))),
    ],
    ['a file that no bag has', ['bundle/unexpected-file'], files((bag) => bag.set('data/notes.txt', Buffer.from('x')))],
    ['a contract', ['record/differs'], files((bag) => bag.set('data/contract.yaml', Buffer.from('{}')))],
    ['a table', ['bundle/contradiction'], files(inText('data/traps/detections.csv', 'bait 1', 'bait 9'))],
    [
      'a table whose records are proved otherwise',
      ['bundle/contradiction'],
      files(inText('data/traps/detections.csv', 'proved_by_entry', 'unproved')),
    ],
    [
      'how a record stands',
      ['bundle/contradiction', 'record/differs', 'verdict/differs'],
      files(stateOf('proved_by_entry', 'contradicted')),
    ],
    [
      'how a record stands, for less',
      ['bundle/contradiction', 'record/differs'],
      files(stateOf('proved_by_entry', 'unproved')),
    ],
    ['the entry of a record', ['bundle/contradiction'], files(stateOf('"sequence":1', '"sequence":2'))],
    ['what is no state', ['bundle/contradiction'], files(stateOf('proved_by_entry', 'sworn'))],
    [
      'a record with two states',
      ['bundle/contradiction'],
      files(stateOf('"state":', '"state":"contradicted","state":')),
    ],
    ['a record with a blank', ['bundle/contradiction'], files(stateOf('"state":', '"state": '))],
    ['a record left out', ['bundle/contradiction'], files(inLines((lines) => lines.slice(1)))],
    ['a record more', ['bundle/contradiction'], files(inLines((lines) => [...lines, lines[0] ?? '']))],
    ['records in another order', ['bundle/contradiction'], files(inLines((lines) => lines.toReversed()))],
    [
      'counts of the bag',
      ['record/differs'],
      files(inFile(DOCUMENT, ({ kinds }) => (kinds.events.proved_by_entry = 1))),
    ],
    ['counts of the record', ['record/differs'], inRecord(({ kinds }) => (kinds.events.proved_by_entry = 1))],
    ['counts of both', ['record/differs'], inStatement(({ kinds }) => (kinds.events.proved_by_entry = 1))],
    ['counts of a kind left out', ['record/differs'], inStatement(({ kinds }) => delete kinds.events)],
    [
      'the address of a service',
      ['bundle/contradiction'],
      inStatement(({ services }) => (services.traps.origin = 'https://else.where')),
    ],
    [
      'a service that is said to be missing',
      ['bundle/unexpected-file', 'record/differs'],
      inStatement(({ services }) => {
        services.traps = { ...services.traps, state: 'missing', code: 'refused', reason: 'gone', next_step: 'Ask.' };
      }),
    ],
    [
      'a service that is said to be nobody',
      ['bundle/unexpected-file', 'record/differs'],
      inStatement(({ services }) => (services.traps = { state: 'not_configured' })),
    ],
    ['the run of the bag', ['record/differs'], files(inFile(DOCUMENT, (document) => (document.run_id = 'other')))],
    [
      'the period of the bag',
      ['record/differs'],
      files(inFile(DOCUMENT, ({ period }) => (period.to = '2026-01-01T00:00:00.000Z'))),
    ],
    ['the run of the log', ['bundle/contradiction'], files(inFile(LOG, (log) => (log.run_id = 'other')))],
    ['a step of the log left out', ['bundle/contradiction'], files(inFile(LOG, ({ steps }) => steps.pop()))],
    ['a step of the log twice', ['bundle/contradiction'], files(inFile(LOG, ({ steps }) => steps.push(steps[0])))],
    [
      'an answer that was refused',
      ['bundle/contradiction'],
      files(inFile(LOG, ({ steps }) => (steps[0].exchange.status = 404))),
    ],
    ['what people read of the bag', ['bundle/contradiction'], files(inText('bag-info.txt', 'COMPLETE', 'PARTIAL'))],
    ['when a service was collected from, before the run', ['record/differs'], collectedLongAgo],
    [
      'when a service was collected from, before it was asked',
      ['record/differs'],
      async (archive) => {
        const { begun_at } = archive.read(`runs/${RUN}/run.json`);
        await inStatement(({ services }) => (services.traps.collected_at = begun_at))(archive);
      },
    ],
    [
      'when a service was collected from, so that what is suppressed need not be there',
      ['record/differs'],
      both(suppressed('det-1'), collectedLongAgo),
    ],
    ['its explanation left out', ['bundle/missing-file'], files((bag) => bag.delete('README.txt'))],
    ['its identity in the record', ['record/differs'], inRecord(({ object }) => (object.identity = 'a'.repeat(64)))],
    [
      'its place',
      ['record/differs'],
      both(
        (archive) => archive.move(KEY, `runs/${RUN}/other.zip`),
        inRecord(({ object }) => (object.key = `runs/${RUN}/other.zip`)),
      ),
    ],
    [
      'no bag in the record',
      ['object/unexpected', 'record/differs'],
      inRecord((supplements) => (supplements.object = null)),
    ],
    [
      'no supplements in the record',
      ['object/unexpected', 'record/differs'],
      (archive) => archive.editRun(RUN, (record) => (record.supplements = null)),
    ],
    [
      'no supplements anywhere in the record',
      ['object/unexpected'],
      (archive) =>
        archive.editRun(RUN, (record) => {
          record.supplements = null;
          record.reconciliation.supplements = { configured: 0, collected: 0, missing: 0 };
        }),
    ],
    [
      'the entry after a detection',
      ['bundle/contradiction', 'supplement/contradicted', 'verdict/differs'],
      inEntries(([first]) => (first.metadata.label = 'other')),
    ],
    [
      'the entry after a detection, with its digest and all after it',
      ['bundle/contradiction', 'supplement/contradicted', 'verdict/differs'],
      inEntries((entries) => {
        entries[0].metadata.label = 'other';
        for (const [at, entry] of entries.entries())
          entries[at] = sealed({ ...entry, ...(at === 0 ? {} : { prev_hash: entries[at - 1].hash }) });
      }),
    ],
  ])('%s', async (_what, codes, change) => {
    const { exit, run, codes: found } = await verifyAltered(change);
    expect([exit, found]).toEqual([1, codes]);
    const proved = run.supplements?.judged === true ? run.supplements.kinds.detections?.proved_by_entry : undefined;
    if (codes.includes('supplement/contradicted')) expect(proved).toBeLessThan(2);
  });

  test('an entry altered leaves no record of its stream proved, and those of others as they were', async () => {
    const { run } = await verifyAltered(inEntries(([, second]) => (second.metadata.label = 'other')));
    const { detections, events } = run.supplements.kinds;
    expect([detections.proved_by_entry, detections.contradicted, events.proved_by_entry]).toEqual([0, 2, 2]);
    expect(run.streams.find(({ stream_id }: Json) => stream_id === 'traps').status).toBe('refuted');
  });
});

describe('the verifier that is written by the document alone', () => {
  const VERIFIER = resolve(import.meta.dirname, '../conformance/archive-format/verify.py');
  const saysOf = async (change: Change): Promise<string> => {
    const root = mkdtempSync(join(folder, 'archive-'));
    cpSync(join(made.directory, 'evidence-archive'), root, { recursive: true });
    await change(new Altered(root));
    const { stdout } = await runToEnd('python3', ['-B', VERIFIER, root], { cwd: folder });
    rmSync(root, { recursive: true });
    return stdout;
  };

  test('finds nothing wrong with what nobody touched', async () => {
    const said = await saysOf(() => {});
    expect(said).toBe('verified\n');
  });

  test.each<[what: string, said: RegExp, change: Change]>([
    ['an answer', /transfer log/, inBag(inText(DETECTIONS, 'bait 1', 'bait 9'))],
    ['an answer, with its log', /'det-1' is contradicted/, inBag(inText(DETECTIONS, 'bait 1', 'bait 9'), logged)],
    ['how a record stands', /and it is proved_by_entry/, inBag(inText(STATES, 'proved_by_entry', 'contradicted'))],
    ['a detection that is suppressed everywhere', /'det-1' is missing/, suppressed('det-1')],
    ['a detection that names an entry outside of the bundle', /'det-1' is contradicted/, elsewhere],
    ['when a service was collected from', /later than recorded/, collectedLongAgo],
    ['a list that goes on and has no further page', /ends otherwise than it says/, goingOn('500')],
    ['a list that does not say that it ends', /ends otherwise than it says/, cutOff],
    [
      'which columns are as the service says',
      /other columns as reported/,
      inBag(inLines(([line = '', ...rest]) => [line.replace(/"as_reported":\[[^\]]*\],/, ''), ...rest])),
    ],
    ['a table', /is not the table/, inBag(inText('data/traps/detections.csv', 'bait 1', 'bait 9'))],
    ['a record with a blank', /is written otherwise/, inBag(inText(STATES, '"state":', '"state": '))],
    ['a record left out', /has other records/, inBag(inLines((lines) => lines.slice(1)))],
    ['counts of both', /counts other events/, inStatement(({ kinds }) => (kinds.events.proved_by_entry = 1))],
    ['a record without its entry', /'det-1' is no_entry/, inBag(inText(DETECTIONS, '"entry":{', '"other":{'), logged)],
    ['its identity', /is another bag/, inRecord(({ object }) => (object.identity = 'a'.repeat(64)))],
    [
      'the entry after a detection',
      /the claim content is refuted/,
      inEntries(([first]) => (first.metadata.label = 'x')),
    ],
  ])('sees %s', async (_what, said, change) => {
    const found = await saysOf(change);
    expect(found).toMatch(said);
    expect(found).toMatch(/^refuted$/m);
  });
});

describe('a bag that is encrypted', () => {
  test('is judged by whoever can open it, and left as recorded by whoever cannot', async () => {
    const secret = await generateX25519Identity();
    const identity = join(folder, 'identity.txt');
    writeFileSync(identity, `${secret}\n`, { mode: 0o600 });
    const encrypted = await placeBeside(audit.url, story.shown, {
      archive: { encrypt_to: [await identityToRecipient(secret)] },
    });
    try {
      expect((await encrypted.run()).code).toBe(0);
      const root = join(encrypted.directory, 'evidence-archive');
      const closed = await verify(root);
      expect(closed.report.runs[0].supplements.judged).toBe(false);
      expect(closed.report.runs[0].findings).toEqual([]);
      const { exit, report } = await verify(root, { identity: [identity] });
      const { judged, kinds } = report.runs[0].supplements;
      expect([exit, judged, kinds.detections.proved_by_entry], JSON.stringify(report.runs[0])).toEqual([0, true, 2]);
    } finally {
      await encrypted.beside.close();
    }
  });
});

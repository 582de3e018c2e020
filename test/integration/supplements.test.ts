import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ageKey } from '../support/age.ts';
import { evidence } from '../support/evidence.ts';
import { type FalseService, startFalseService } from '../support/false-service.ts';
import { json } from '../support/fault-server.ts';
import { InterruptedExports } from '../support/interrupted-exports.ts';
import { OTHERS, type Shown, storyOf } from '../support/services/beside.ts';
import { attemptIn, type BesideExport, placeBeside, recordIn, words } from '../support/services/beside-export.ts';
import { fileIn, namesIn } from '../support/services/faulty-export.ts';
import { someRows } from '../support/some-rows.ts';

const EACH = 3;
const story = storyOf(EACH);
let audit: FalseService;
const opened: BesideExport[] = [];

beforeAll(async () => {
  audit = await startFalseService();
  for (const [id, entries] of story.streams) audit.streams.set(id, { entries });
});
afterAll(() => Promise.all([audit.close(), ...opened.map(({ beside }) => beside.close())]));

async function placed(config: object = {}, shown: Shown = story.shown): Promise<BesideExport> {
  const made = await placeBeside(audit.url, shown, config);
  opened.push(made);
  return made;
}

const unavailable = () => json({ code: 'no' }, { status: 403 });

describe('a run with supplements', () => {
  let first: BesideExport;
  beforeAll(async () => {
    first = await placed();
    expect((await first.run()).code).toBe(0);
  });

  test('has pages as they were received, tables, and how each record stands, in one bag', async () => {
    const { folder, beside } = first;
    const { supplements } = recordIn(folder);
    expect(supplements.findings).toEqual([]);
    const bag = join(folder, 'supplements.zip');
    expect(await namesIn(bag)).toEqual(
      expect.arrayContaining([
        'data/traps/detections/0001.json',
        'data/endpoints/events.csv',
        'data/audit/statistics.json',
        'data/supplements.json',
        'data/records.jsonl',
        'data/transfer-log.json',
      ]),
    );
    const received = JSON.parse((await fileIn(bag, 'data/traps/detections/0001.json')).toString());
    expect(received).toEqual({ data: story.shown.detections, next_cursor: null });
    const strangers = beside.requests.filter(({ headers }) => headers.authorization === undefined);
    expect(strangers.map(({ path }) => path)).toEqual(['/agents/public/verify-agent/agent-1']);
    // The exporter requests nothing about agents whose streams it does not export.
    expect(beside.requests.filter(({ path }) => path.includes('agent-of-nobody'))).toEqual([]);
  });

  test('is verified with its bag', async () => {
    const { directory } = first;
    const { code, stdout } = await evidence(['verify', 'evidence-archive'], { cwd: directory });
    expect([code, stdout], stdout).toEqual([0, expect.any(String)]);
  });

  test('one record that another entry contradicts, and one without its entry, refute the run', async () => {
    const [one, other, ...others] = story.shown.detections;
    const shown = {
      ...story.shown,
      detections: [{ ...one, label: 'another' }, { ...other, entry: null }, ...others],
    };
    const { run, folder } = await placed({}, shown);
    expect((await run()).code).toBe(1);
    const { supplements, outcome } = recordIn(folder);
    expect(outcome).toBe('refuted');
    expect(supplements.kinds.detections).toMatchObject({ proved_by_entry: 1, contradicted: 1, no_entry: 1 });
  });

  test('is finalized without a service that is gone when that is asked for, and labelled so', async () => {
    const { run, folder, beside } = await placed();
    beside.fault = ({ service }) => (service === 'agents' ? unavailable() : undefined);
    expect((await run()).code).toBe(3);
    expect(existsSync(join(folder, 'supplements.zip'))).toBe(false);
    expect(attemptIn(folder).supplements.object).toBe(null);
    expect((await run('--finalize-partial')).code).toBe(3);
    const { supplements, outcome } = recordIn(folder);
    expect([outcome, supplements.object.key]).toEqual([
      'incomplete',
      expect.stringMatching(/supplements\.PARTIAL\.zip$/),
    ]);
    expect(supplements.services.agents.next_step).toMatch(/--revise/);
    expect((await namesIn(join(folder, 'supplements.PARTIAL.zip'))).filter((name) => /agents/.test(name))).toEqual([]);
  });

  test('is collected anew for a revision', async () => {
    const { run, folder, directory } = first;
    expect((await run('--revise')).code).toBe(0);
    const runs = readdirSync(join(folder, '..'));
    expect(runs).toHaveLength(2);
    for (const name of runs)
      expect(existsSync(join(directory, 'evidence-archive', 'runs', name, 'supplements.zip'))).toBe(true);
  });

  test('without other services has none, and says nothing of them', async () => {
    const { directory, env, folder } = await placed();
    writeFileSync(join(directory, 'evidence.yaml'), '');
    const { code, stdout, stderr } = await evidence(words.slice(0, -1), { cwd: directory, env });
    expect([code, recordIn(folder).supplements]).toEqual([0, null]);
    expect(stdout + stderr).not.toMatch(/supplement/);
  });
});

describe('an archive that is encrypted', () => {
  const keys = mkdtempSync(join(tmpdir(), 'supplements-keys-'));
  const auditor = ageKey(keys, 'auditor');
  const encrypted = { archive: { encrypt_to: [auditor.recipient] } };

  test('has an encrypted bag, what is read as it arrives is proved, and it is gone on with after its bag', async () => {
    const { run, folder, beside } = await placed(encrypted);
    expect((await run()).code).toBe(0);
    const { kinds, object } = recordIn(folder).supplements;
    expect([object.key, kinds.detections.proved_by_entry]).toEqual([
      expect.stringMatching(/supplements\.zip\.age$/),
      EACH,
    ]);
    const zip = join(folder, '..', 'opened.zip');
    execFileSync('age', ['-d', '-i', auditor.file, '-o', zip, join(folder, 'supplements.zip.age')]);
    expect(await namesIn(zip)).toContain('data/endpoints/scans.csv');
    expect(object.encrypted).toMatchObject({ bytes: statSync(zip).size, recipients: [auditor.recipient] });

    const asked = beside.requests.length;
    // Objects that a crash leaves after the bag is stored.
    const ours = /^(asked\.json|streams|encrypted|supplements|supplements\.zip\.age)$/;
    for (const name of readdirSync(folder)) if (!ours.test(name)) rmSync(join(folder, name), { recursive: true });
    rmSync(join(folder, '..', '..', 'ledger'), { recursive: true });
    const { code, stderr } = await run();
    expect(code, stderr).toBe(0);
    expect([recordIn(folder).supplements.object, beside.requests.length]).toEqual([object, asked]);
  });

  test('proves nothing by streams that an earlier try exported, and says why', async () => {
    const { run, folder, beside } = await placed(encrypted);
    beside.fault = ({ service }) => (service === 'agents' ? unavailable() : undefined);
    expect((await run()).code).toBe(3);
    beside.fault = () => undefined;
    expect((await run()).code).toBe(0);
    expect(recordIn(folder).supplements.kinds.actions).toMatchObject({ proved_by_entry: 0, unproved: EACH });
  });
});

describe('what is told before an export', () => {
  test('by the doctor: each service that is configured, and what to do for one that refuses', async () => {
    const { directory, env, beside } = await placed();
    beside.fault = ({ service }) => (service === 'traps' ? unavailable() : undefined);
    const { code, stdout } = await evidence(['doctor', '--json'], { cwd: directory, env });
    const { checks } = JSON.parse(stdout);
    const states = OTHERS.map((name) => checks.find((check: { name: string }) => check.name === name));
    expect(states.map(({ state }) => state)).toEqual(['failed', 'ok', 'ok']);
    expect([code, states[0].next_step]).toEqual([
      3,
      expect.stringMatching(/API key permission .* run evidence doctor again/),
    ]);
  });

  test('by a dry run, which would miss the same', async () => {
    const { run, beside, folder } = await placed();
    beside.fault = ({ service }) => (service === 'traps' ? unavailable() : undefined);
    const { code, stdout } = await run('--dry-run');
    expect(code).toBe(3);
    expect(
      JSON.parse(stdout).supplements.map(({ name, state }: { name: string; state: string }) => [name, state]),
    ).toEqual([
      ['traps', 'failed'],
      ['endpoints', 'ok'],
      ['agents', 'ok'],
    ]);
    expect(existsSync(folder)).toBe(false);
  });
});

describe('an export that was interrupted', () => {
  let interrupted: InterruptedExports;

  beforeAll(async () => {
    const { directory, env } = await placed();
    interrupted = await InterruptedExports.make(words, { cwd: directory, env });
  });

  const ENDINGS: [when: string, ending: RegExp, collected: string][] = [
    ['before the bag', /streams\/traps-[0-9a-f]+\.json$/, 'anew'],
    ['when what the bag holds was written down', /supplements\/[0-9a-f]{64}\.json$/, 'anew'],
    ['after the bag', /supplements\.zip$/, 'as they are'],
    ['after the draft', /run-draft\.json$/, 'as they are'],
    ['after the record', /\/run\.json$/, 'as they are'],
  ];
  test.each(someRows(ENDINGS, ([, , collected]) => collected))(
    '%s is gone on with by the same command',
    async (_when, ending, collected) => {
      const { run, folder, directory, beside } = await placed();
      interrupted.leave(ending, join(directory, 'evidence-archive'));
      const { code, stderr } = await run();
      expect(code, stderr).toBe(0);
      expect(recordIn(folder).supplements.kinds.detections.proved_by_entry).toBe(EACH);
      expect(beside.requests.length > 0).toBe(collected === 'anew');
    },
  );
});

import {
  appendFileSync,
  chmodSync,
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { evidence } from '../support/evidence.ts';
import { assessmentResultsSchema } from '../support/oscal.ts';
import { postEntries, type ServedPlatform, servePlatform, someEntries } from '../support/platform.ts';
import { run } from '../support/process.ts';

const CONFIG = `report: { organisation: 北京示例公司, controls: [soc2, pci-dss-4], oscal: true }
verify: { require: [order, content] }
`;
const STREAMS = ['payments', '生产/支付', '🔐 vault'];

let platform: ServedPlatform;
let folder: string;
let printed: string;
const runFolder = () => join(folder, 'evidence-archive/runs/AUD-1');

beforeAll(async () => {
  platform = await servePlatform();
  for (const [index, stream] of STREAMS.entries()) await postEntries(platform, someEntries(stream, 5 + index));
  folder = mkdtempSync(join(tmpdir(), 'report-test-'));
  writeFileSync(join(folder, 'evidence.yaml'), CONFIG);
  const { code, stdout, stderr } = await exportTo(folder);
  expect(code, stderr).toBe(0);
  printed = stdout;
});
afterAll(() => platform.stop());

const ASKED = ['export', '--all-time', '--request', 'AUD-1', '--requested-by', 'Ana, Example Audit'];
const exportTo = (cwd: string, env = platform.env) => evidence(ASKED, { cwd, env });
const verify = async (cwd: string) => {
  const { code, stdout } = await evidence(['verify', 'evidence-archive', '--json'], { cwd });
  return { code, report: JSON.parse(stdout) };
};

test('the export leaves its documents, says where the report lies, and what it left verifies', async () => {
  expect(printed).toMatch(/^Report +\.\/evidence-archive\/runs\/AUD-1\/report\.pdf$/m);
  expect(readdirSync(runFolder()).sort()).toEqual([
    'asked.json',
    'assessment-results.json',
    'index.csv',
    'report.html',
    'report.pdf',
    'run-draft.json',
    'run.json',
    'streams',
  ]);
  const { code, report } = await verify(folder);
  expect([code, report.outcome, report.objects.unexpected]).toEqual([0, 'verified', []]);
});

test('what the report says to type, shows what it says', async () => {
  const text = await run('pdftotext', ['-layout', join(runFolder(), 'report.pdf'), '-'], folder);
  const commands = [...text.matchAll(/^ +(jq -r .*sha256sum -c)$/gm)].map(([, command = '']) => command);
  expect(commands).toHaveLength(2);
  const said = await Promise.all(commands.map((command) => run('sh', ['-c', command], runFolder())));
  expect(said.join('').trim().split('\n')).toHaveLength(6 + STREAMS.length);
  for (const line of said.join('').trim().split('\n')) expect(line).toMatch(/: OK$/);
});

test('record, report and index tell the same', async () => {
  const record = JSON.parse(readFileSync(join(runFolder(), 'run.json'), 'utf8'));
  const text = await run('pdftotext', ['-layout', join(runFolder(), 'report.pdf'), '-'], folder);
  const squeezed = text.replace(/\s+/g, '');
  const rows = readFileSync(join(runFolder(), 'index.csv'), 'utf8').trim().split('\r\n').slice(1);
  expect(record.reconciliation).toMatchObject({ listed: 3, exported: 3, partial: 0, failed: 0, empty: 0, excluded: 0 });
  expect(text).toContain('3 streams listed = 3 exported + 0 partial + 0 failed + 0 empty + 0 excluded');
  expect(text).toContain('18 of 18 entries that the service');
  expect(rows.map((row) => row.split(',')[4])).toEqual(['exported', 'exported', 'exported']);
  for (const { stream_id, head, bundle } of record.streams) {
    for (const said of [stream_id, head.hash, bundle.sha256]) expect(squeezed).toContain(said.replace(/\s+/g, ''));
    expect(rows.some((row) => row.includes(head.hash) && row.includes(bundle.sha256))).toBe(true);
  }
  expect(squeezed).toContain('北京示例公司');
  expect(record.source.requests[0]).toMatchObject({ method: 'GET', path: '/audit/streams/' });
  expect(record.tool.commit).toMatch(/^[0-9a-f]{40}(-dirty)?$/);
  const results = JSON.parse(readFileSync(join(runFolder(), 'assessment-results.json'), 'utf8'));
  expect(assessmentResultsSchema.safeParse(results).error?.issues ?? []).toEqual([]);
});

test('activity and actions stand in the record, and are counted anew from the bundle', async () => {
  const record = JSON.parse(readFileSync(join(runFolder(), 'run.json'), 'utf8'));
  for (const { entries, activity, actions } of record.streams) {
    const counted = Object.values(activity.counts as Record<string, number>).reduce((sum, count) => sum + count, 0);
    const acted = actions.counts.reduce((sum: number, [, count]: [string, number]) => sum + count, actions.others);
    expect([counted + activity.undated, acted]).toEqual([entries, entries]);
  }
});

describe('tampering with a document', () => {
  let copy: string;
  beforeEach(() => {
    copy = mkdtempSync(join(tmpdir(), 'report-copy-'));
    cpSync(join(folder, 'evidence-archive'), join(copy, 'evidence-archive'), { recursive: true });
    return () => rmSync(copy, { recursive: true });
  });
  const place = (name: string) => join(copy, 'evidence-archive/runs/AUD-1', name);

  test.each(['report.pdf', 'report.html', 'index.csv', 'assessment-results.json', 'run-draft.json'])(
    '%s, altered',
    async (name) => {
      chmodSync(place(name), 0o644);
      appendFileSync(place(name), ' ');
      const { code, report } = await verify(copy);
      expect([code, report.objects.altered.map(({ key }: { key: string }) => key)]).toEqual([
        1,
        [`runs/AUD-1/${name}`],
      ]);
    },
  );

  test('report.pdf, removed', async () => {
    rmSync(place('report.pdf'));
    const { code, report } = await verify(copy);
    expect([code, report.objects.missing[0]?.key]).toEqual([1, 'runs/AUD-1/report.pdf']);
  });

  test('a report that nobody made', async () => {
    writeFileSync(place('report2.pdf'), 'x');
    const { code, report } = await verify(copy);
    expect([code, report.objects.unexpected[0]?.key]).toEqual([1, 'runs/AUD-1/report2.pdf']);
  });

  test('an interrupted seal goes on where it was, with the same documents', async () => {
    for (const name of ['run.json', 'index.csv']) rmSync(place(name), { force: true });
    rmSync(join(copy, 'evidence-archive/ledger'), { recursive: true });
    const open = await verify(copy);
    expect([open.code, open.report.objects.unexpected]).toEqual([3, []]);
    writeFileSync(join(copy, 'evidence.yaml'), CONFIG.replace('北京示例公司', 'Somebody else'));
    const { code, stderr } = await exportTo(copy);
    expect(code, stderr).toBe(0);
    for (const name of ['run.json', 'report.pdf', 'report.html', 'index.csv', 'run-draft.json'])
      expect(readFileSync(place(name)).equals(readFileSync(join(runFolder(), name))), name).toBe(true);
    expect((await verify(copy)).code).toBe(0);
  });
});

describe('a run of which something is missing', () => {
  let cwd: string;
  beforeAll(async () => {
    cwd = mkdtempSync(join(tmpdir(), 'report-attempt-'));
    writeFileSync(join(cwd, 'evidence.yaml'), CONFIG.replace('content]', 'seal]'));
    const { code, stdout } = await exportTo(cwd);
    expect(code).toBe(3);
    expect(stdout).toMatch(/^Report +\S+\/attempts\/\S+\/report\.pdf$/m);
  });
  const firstPage = (file: string) => run('pdftotext', ['-l', '1', file, '-'], cwd);
  const attempt = () => {
    const attempts = join(cwd, 'evidence-archive/runs/AUD-1/attempts');
    return join(attempts, readdirSync(attempts)[0] ?? '', 'report.pdf');
  };

  test('leaves an attempt with a report that says so, and the archive accounts for it', async () => {
    const text = await firstPage(attempt());
    expect(text).toMatch(/^PARTIAL$/m);
    expect(text).toContain('The run is not finalized');
    const { code, report } = await verify(cwd);
    expect([code, report.objects.unexpected]).toEqual([3, []]);
    chmodSync(attempt(), 0o644);
    appendFileSync(attempt(), ' ');
    expect((await verify(cwd)).report.objects.altered).toMatchObject([{ code: 'object/altered' }]);
  });

  test('or is finalized as it is, labelled on its first page', async () => {
    expect((await evidence([...ASKED, '--finalize-partial'], { cwd, env: platform.env })).code).toBe(3);
    const text = await firstPage(join(cwd, 'evidence-archive/runs/AUD-1/report.pdf'));
    expect(text).toMatch(/^PARTIAL$/m);
    expect(text).not.toContain('The run is not finalized');
  });
});

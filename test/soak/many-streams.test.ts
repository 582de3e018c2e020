import { once } from 'node:events';
import { createReadStream, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, expect, test } from 'vitest';
import { wait } from '../../src/core/wait.ts';
import { openEnvelope } from '../../src/verifier/records/statement.ts';
import { isSignedBy } from '../../src/verifier/signature/envelope.ts';
import { readPublicKey } from '../../src/verifier/signature/key.ts';
import { useChromium } from '../support/chromium.ts';
import { COUNTED, costIn } from '../support/cost.ts';
import { makeKey } from '../support/openssl-keys.ts';
import { EVIDENCE, finish, startNode } from '../support/process.ts';
import { startFaultyService } from '../support/services/faulty.ts';

const SIZES = [10_000, 100_000];
const LIMIT_MB = 250;
/** Variables that the files from `init` set for systemd, cron and Kubernetes. */
const DEPLOYED = { MALLOC_ARENA_MAX: '1', MALLOC_TRIM_THRESHOLD_: '131072' };
/** Number of streams above which report.html lists only streams with findings, and the identities of all. */
const MAX_ROWS = 5000;
/** Bound on the time for ten times as many streams. */
const MOST = 11;
const KEY = 'sk_of_many_streams';
const RUN = 'MANY';

const folder = mkdtempSync(join(tmpdir(), 'many-streams-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const seconds = new Map<number, number>();

test.each(SIZES)(
  `%d streams are planned, interrupted, gone on with and finalized in ${LIMIT_MB} MB`,
  async (size) => {
    const cwd = mkdtempSync(join(folder, 'export-'));
    const streams = new Map(Array.from({ length: size }, (_, n) => [`team ${n % 7}/stream-${n}`, 1] as const));
    const service = await startFaultyService({ apiKey: KEY, streams, fault: () => undefined });
    const signing = await makeKey(cwd, 'signing.pem', 'ed25519');
    writeFileSync(join(cwd, 'evidence.yaml'), JSON.stringify({ sign: { key_file: 'signing.pem' } }));
    const env = { ...DEPLOYED, EVIDENCE_AUDIT_URL: service.auditUrl, EVIDENCE_API_KEY: KEY };
    const start = () =>
      startNode(EVIDENCE, ['export', '--all-time', '--request', RUN, '--quiet'], { cwd, env, nodeFlags: COUNTED });
    try {
      const interrupted = start();
      // Six requests per stream, and one per page of the list.
      while (service.requests.length < 2 * size) await wait(100);
      interrupted.kill('SIGINT');
      const first = await finish(interrupted);
      expect(first.code, first.stderr).toBe(130);
      const second = await finish(start());
      expect(second.code, second.stderr).toBe(0);
      const costs = [costIn(first.stderr), costIn(second.stderr)];
      const said = costs.map(({ memory, seconds: took }) => `${Math.round(memory / 1e6)} MB, ${Math.round(took)} s`);
      process.stdout.write(`${size} streams: interrupted ${said[0]}; gone on with ${said[1]}\n`);
      for (const { memory } of costs) expect(memory).toBeLessThan(LIMIT_MB * 1e6);
      seconds.set(
        size,
        costs.reduce((sum, one) => sum + one.seconds, 0),
      );
    } finally {
      await service.close();
    }
    const run = join(cwd, 'evidence-archive/runs', RUN);
    expect(await linesOf(join(run, 'index.csv'))).toBe(size + 1);
    await openReport(join(run, 'report.html'), size);
    expectSigned(join(run, 'run.dsse.json'), signing.publicFile, size);
  },
  10_800_000,
);

test('ten times the streams take at most eleven times as long', () => {
  const [few = Number.NaN, many = Number.NaN] = SIZES.map((size) => seconds.get(size));
  process.stdout.write(`processor time: ${SIZES[0]} streams ${few.toFixed(0)} s, ${SIZES[1]} ${many.toFixed(0)} s\n`);
  expect(many / few).toBeLessThan(MOST);
});

async function linesOf(file: string): Promise<number> {
  let lines = 0;
  const reader = createInterface({ input: createReadStream(file) });
  reader.on('line', () => lines++);
  await once(reader, 'close');
  return lines;
}

/** Expects the statement to name each stream's bundle. */
function expectSigned(file: string, publicFile: string, size: number): void {
  const { signature, ...signed } = openEnvelope(readFileSync(file), file);
  expect(isSignedBy(signed, signature, readPublicKey(readFileSync(publicFile, 'utf8'), publicFile))).toBe(true);
  const { subject } = JSON.parse(signed.payload.toString());
  const ofStreams = subject.filter(({ name }: { name: string }) => name.startsWith(`runs/${RUN}/streams/`));
  expect(ofStreams).toHaveLength(size);
}

/** Opens the report in a browser, and searches its table. */
async function openReport(file: string, size: number): Promise<void> {
  expect(statSync(file).size).toBeLessThan(50e6);
  const browser = await useChromium();
  const page = await (await browser.newContext({ offline: true })).newPage();
  try {
    await page.goto(`file://${file}`);
    expect(await page.locator('#streams').innerText()).toContain(`${size.toLocaleString('en')} streams`);
    const listed =
      size > MAX_ROWS
        ? await page.locator('#identities').evaluate((lines) => lines.textContent?.trim().split('\n').length)
        : await page.locator('#table tbody tr').count();
    expect(listed).toBe(size);
  } finally {
    await page.context().close();
  }
}

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { entryAfter, type SentEntry } from './chain.ts';
import { type FalseService, startFalseService, type Told } from './false-service.ts';
import { ca, forge, type Issued, issue, OID, purposes } from './tsa-forge.ts';

/** Facts about a run that a test knows in advance: the service's streams, and the request. */
export interface ReportRun {
  words: string;
  /** Period; all time by default. */
  period?: string;
  exclude?: string[];
  streams: Record<string, Partial<Told> & Pick<Told, 'entries'>>;
  /** An earlier export, with its request and the service's streams at that time. */
  before?: { request: string; streams: ReportRun['streams'] };
  /** Streams that the service refuses. */
  failed?: string[];
  partial?: boolean;
  code: number;
}

export const REQUEST = 'AUD-1';
export const MONTH = '2026-10';
const DAY_MS = 86_400_000;

/** Returns three entries per day of October 2026, except for quiet days; each event happened a week earlier. */
export function entriesOf(streamId: string, days: number, { from = 1, quiet = [] as number[] } = {}): SentEntry[] {
  const entries: SentEntry[] = [];
  for (let day = from; day < from + days; day++)
    for (let hour = 9; hour < 12 && !quiet.includes(day); hour++) {
      const time = Date.UTC(2026, 9, day, hour);
      entries.push(
        entryAfter(entries.at(-1) ?? null, {
          stream_id: streamId,
          timestamp: new Date(time).toISOString(),
          occurred_at: new Date(time - 7 * DAY_MS).toISOString(),
        }),
      );
    }
  return entries;
}

export interface Authority {
  signer: Issued;
  rootPem: string;
}

export async function makeAuthority(): Promise<Authority> {
  const root = await issue({ subject: 'CN=Root', extensions: [ca()] });
  const signer = await issue({
    subject: 'CN=Test Authority',
    issuer: root,
    extensions: [purposes(true, OID.timeStamping)],
  });
  return { signer, rootPem: root.pem };
}

/** Returns a checkpoint with a valid token; `genTime` has whole seconds. */
export function anchored({ signer }: Authority, entry: SentEntry, genTime: string): object {
  const { stream_id, sequence, hash } = entry;
  const token = forge(signer, { imprint: Buffer.from(hash, 'hex'), genTime }).toString('base64');
  return { stream_id, sequence, hash, anchor: { token } };
}

/** Kinds of runs that a report must describe correctly. */
export function reportRuns(authority: Authority): ReportRun[] {
  const payments = entriesOf('payments', 20, { quiet: [7, 8, 15] });
  const logins = entriesOf('logins', 5, { from: 3 });
  const at = (index: number) => payments[index] as SentEntry;
  const checkpoints = [anchored(authority, at(9), '20261020100000Z'), anchored(authority, at(39), '20261022100000Z')];
  const both = { payments: { entries: payments, package: { checkpoints } }, logins: { entries: logins } };
  const edited = payments.map((entry, index) => (index === 4 ? { ...entry, actor: 'somebody else' } : entry));
  const holed = edited.filter((_entry, index) => index < 20 || index > 23);
  const refused = { ...both, logins: { entries: logins, refused: 403 } };
  return [
    { words: 'clean', streams: both, code: 0 },
    { words: 'of a month', period: MONTH, streams: { ...both, quiet: { entries: [] } }, code: 0 },
    { words: 'filtered', streams: both, exclude: ['log*'], code: 0 },
    { words: 'resumed', streams: both, before: { request: REQUEST, streams: refused }, code: 0 },
    {
      words: 'partial',
      streams: { ...refused, half: { entries: entriesOf('half', 2), withheld: ['pdf'] } },
      failed: ['logins'],
      partial: true,
      code: 3,
    },
    {
      words: 'refuted',
      streams: {
        ...both,
        payments: { entries: payments, packaged: () => holed, listed: () => holed },
        short: { entries: entriesOf('short', 4), packaged: (entries) => entries.slice(0, 8) },
      },
      code: 1,
    },
    {
      words: 'vanished',
      streams: { payments: both.payments },
      before: { request: 'AUD-0', streams: both },
      code: 1,
    },
    { words: 'empty', period: '2026-09', streams: both, code: 4 },
  ];
}

/** Exports the run; the archive is in the returned service's folder. */
export async function makeReportRun(
  run: ReportRun,
  { rootPem }: Authority,
): Promise<{ service: FalseService; code: number }> {
  const service = await startFalseService();
  writeFileSync(join(service.directory, 'root.pem'), rootPem);
  writeFileSync(
    join(service.directory, 'evidence.yaml'),
    'report: { organisation: Acme Ltd, prepared_by: P. Jones, oscal: true, controls: soc2 }\nverify: { timestamp_roots: root.pem }\n',
  );
  const show = (streams: ReportRun['streams']) => {
    service.streams.clear();
    for (const [id, told] of Object.entries(streams)) service.streams.set(id, told);
  };
  const options = {
    ...(run.period === undefined ? { 'all-time': true } : { period: run.period }),
    ...(run.exclude === undefined ? {} : { exclude: run.exclude }),
    ...(run.partial === true ? { 'finalize-partial': true } : {}),
    'requested-by': 'Ana, Example Audit',
  };
  if (run.before !== undefined) {
    show(run.before.streams);
    await service.export({ ...options, request: run.before.request });
  }
  show(run.streams);
  const { code } = await service.export({ ...options, request: REQUEST });
  return { service, code };
}

import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { builtFolder } from '../support/process.ts';
import { surfaceOf } from './surface.ts';

/**
 * Names and signatures that other programs import. A changed line decides the next version: a new line, a new member of
 * a report, or a new optional member of an argument is a minor version; every other change is a major one.
 */
const BOTH = {
  ErrorCode: 'type ErrorCode = (typeof ERROR_CODES)[number]',
  EvidenceError:
    'class EvidenceError extends Error { readonly code: ErrorCode; readonly nextStep: string | undefined; readonly step: NextStep | undefined; constructor(code: ErrorCode, message: string, details?: ErrorDetails); }',
  Content: 'type Content = Uint8Array<ArrayBuffer> | Blob',
  Trust:
    'interface Trust { now: Date; sealKeys?: Readonly<Record<string, Uint8Array>>; contract?: string; required?: readonly ClaimName[]; acceptUnhashed?: readonly string[]; }',
  ClaimName: 'type ClaimName = (typeof CLAIMS)[number]',
  FileReport:
    'interface FileReport { outcome: VerifiedOutcome; exit_code: number; run_id: string | null; period: { from: string | null; to: string | null; } | null; streams: StreamReport[]; findings: ObjectFinding[]; warnings: string[]; contracts: ContractUse[]; }',
  StreamReport: 'type StreamReport = ReportedVerdict & { bundle: { key: string; identity: string | null; } | null; }',
  ObjectFinding: 'interface ObjectFinding extends Finding<ObjectFindingCode> { key: string; }',
};

const IN_NODE = {
  ArchiveScope:
    'interface ArchiveScope { run?: string; from?: string; fast?: boolean; lockedUntil?: Date; workDirectory?: string; }',
  ArchiveTrust:
    'interface ArchiveTrust extends StampTrust { publicKeys?: readonly string[]; stampRoots?: string; identities?: readonly string[]; }',
  ReadableArchive:
    'interface ReadableArchive { readonly url: string; readonly locks: LockReader | null; read(key: string): Promise<Readable>; readBytes(key: string, maxBytes: number): Promise<Uint8Array>; stat(key: string): Promise<{ bytes: number; } | null>; list(prefix: string, onUnlisted?: Unlisted): AsyncIterable<StoredObject>; fetchFile(key: string, directory: string): Promise<string>; }',
  verifyArchive:
    'function verifyArchive(source: string | URL | ReadableArchive, trust: ArchiveTrust, scope?: ArchiveScope): Promise<ArchiveReport>',
  verifyBundle: 'function verifyBundle(source: string | URL | Content, trust: StampTrust): Promise<FileReport>',
  PackageReadingOptions: 'interface PackageReadingOptions { threads?: number; signal?: AbortSignal; }',
  verifyPackage:
    'function verifyPackage(source: string | URL | Content, trust: StampTrust, reading?: PackageReadingOptions): Promise<FileReport>',
  StampTrust: 'interface StampTrust extends Trust { timestampRoots?: string; }',
  ArchiveReport:
    "interface ArchiveReport { outcome: VerifiedOutcome; exit_code: number; runs: RunReport[]; open_runs: OpenRun[]; ledger: { entries: number; state: 'intact' | 'broken' | 'closed'; findings: ObjectFinding[]; }; service: ServiceReport | null; acceptances: Omit<Acceptance, 'format'>[]; months: MonthReport[]; history: ObjectFinding[]; signatures: SignatureReport; objects: { checked: number; missing: ObjectFinding[]; altered: ObjectFinding[]; unlocked: ObjectFinding[]; unexpected: ObjectFinding[]; closed: ObjectFinding[]; }; locks: Omit<LockReport, 'findings'>; warnings: string[]; contracts: ContractUse[]; }",
  RunReport:
    "interface RunReport { run_id: string; outcome: VerifiedOutcome; exit_code: number; superseded_by: string | null; period: RunRecord['period'] | null; reconciliation: RunRecord['reconciliation'] | null; streams: (VerifiedStream['verdict'] & Pick<VerifiedStream, 'bundle' | 'attested' | 'encrypted'>)[]; vanished: Vanished[]; ended: Vanished[]; failed: StreamFailure[]; excluded: Exclusion[]; supplements: SupplementsCheck | null; hold_log: ReturnType<typeof toHoldReport>[]; shares: ReturnType<typeof toShareReport>[]; signed_by: string | null; stamps: StampVerdict[]; restamps: RestampCheck['restamps']; findings: ObjectFinding[]; }",
};

const IN_BROWSERS = {
  verifyBundle: 'function verifyBundle(content: Content, trust: Trust): Promise<FileReport>',
  verifyPackage: 'function verifyPackage(content: Content, trust: Trust): Promise<FileReport>',
};

const FACES: [face: string, surface: Record<string, string>][] = [
  ['index', { ...BOTH, ...IN_NODE }],
  ['index.browser', { ...BOTH, ...IN_BROWSERS }],
];

test.each(FACES)('the types of %s are those that its version promises', (face, surface) => {
  expect(surfaceOf(join(builtFolder(), 'dist/types'), `${face}.d.ts`)).toEqual(surface);
});

test.each(FACES)('%s exports what its types say', async (face, surface) => {
  const exported = await import(pathToFileURL(join(builtFolder(), `dist/${face}.js`)).href);
  const values = Object.keys(surface).filter((name) => /^(class|function)/.test(surface[name] ?? ''));
  expect(Object.keys(exported).toSorted()).toEqual(values.toSorted());
});

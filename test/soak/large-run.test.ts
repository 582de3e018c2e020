import type { KeyObject } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sha256 } from '../../src/core/digest.ts';
import { compareTexts } from '../../src/core/rows/rows.ts';
import { readControls } from '../../src/exporter/cli/config/controls.ts';
import { bindRecord, deriveBindingKey } from '../../src/exporter/export/binding.ts';
import { bundleFileName, slugOf } from '../../src/verifier/bundle/layout.ts';
import { DEFAULT_REQUIRED } from '../../src/verifier/claims/claim.ts';
import { archiveBytes } from '../../src/verifier/ledger/service.ts';
import { ARCHIVE_KEY, askedKey, bundleKey, runDraftKey, streamRecordKey } from '../../src/verifier/records/keys.ts';
import type { RunStream } from '../../src/verifier/records/record.ts';
import { toRecordBytes } from '../../src/verifier/records/record-bytes.ts';
import { COUNTED, costIn } from '../support/cost.ts';
import { EVIDENCE, nodeToEnd } from '../support/process.ts';
import { runRecord } from '../support/records.ts';
import { monthStream, verifiedRun } from '../support/run-records.ts';

const STREAMS = 5000;
const LIMIT_MB = 400;
const LIMIT_SECONDS = 60;
const RUN = '2026-10';
const AUDIT_URL = 'http://127.0.0.1:9/audit';
const API_KEY = 'never-asked';

let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'large-run-test-'));
  await closeLargeRun();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test(`a run of ${STREAMS.toLocaleString('en')} streams gets its reports and its record in less than ${LIMIT_MB} MB and ${LIMIT_SECONDS} s`, {
  timeout: 300_000,
}, async () => {
  const { code, stdout, stderr } = await nodeToEnd(EVIDENCE, ['export', '--period', RUN], {
    cwd: folder,
    env: { EVIDENCE_AUDIT_URL: AUDIT_URL, EVIDENCE_API_KEY: API_KEY },
    nodeFlags: COUNTED,
  });
  expect([code, stdout], stderr).toEqual([0, expect.stringMatching(/5000 exported[\s\S]*^Report .*report\.pdf$/m)]);
  const { memory, seconds } = costIn(stderr);
  expect(memory).toBeLessThan(LIMIT_MB * 1e6);
  expect(seconds).toBeLessThan(LIMIT_SECONDS);
});

/**
 * Builds the archive of an export that was interrupted when only the reports were missing. Bundles are encrypted, so
 * that verifying five thousand of them does not hide the cost of the reports.
 */
async function closeLargeRun(): Promise<void> {
  const streams = Array.from({ length: STREAMS }, (_, number) => monthStream(number)).toSorted((one, other) =>
    compareTexts(one.stream_id, other.stream_id),
  );
  const report = {
    organisation: 'Acme Payments Ltd',
    prepared_by: null,
    oscal: true,
    controls: readControls(['soc2', 'pci-dss-4']),
  };
  const { scope: wide, source } = runRecord(RUN, []);
  // Claims required by default.
  const scope = { ...wide, required_claims: [...DEFAULT_REQUIRED] };
  const options = { report, scope, source: { ...source, audit_url: AUDIT_URL } };
  const { format: _format, documents: _documents, binding: _binding, ...rest } = verifiedRun(streams, options);
  const nonce = '0'.repeat(64);
  const key = await deriveBindingKey({ ...rest, nonce }, { signingKey: null, apiKey: API_KEY });
  const { run_id, period, begun_at, begun_at_by_service, operator } = rest;
  const { moved_from: _moved, time_fields: _fields, requests: _requests, ...asked } = options.source;
  const begun = { begun_at, begun_at_by_service };
  const question = { format: 'evidence-asked/7', run_id, source: asked, period, scope, ...begun, nonce, operator };
  put(ARCHIVE_KEY, archiveBytes(AUDIT_URL));
  put(askedKey(RUN), toRecordBytes(bindRecord(key, question)));
  const records = streams.map((stream) => putStream(stream, key));
  const draft = { ...rest, format: 'evidence-run-draft/7', streams: records };
  put(runDraftKey(RUN), toRecordBytes(bindRecord(key, draft)));
}

function putStream({ record: _record, ...stream }: RunStream, bindingKey: KeyObject) {
  const { stream_id, bundle } = stream;
  const slug = slugOf(stream_id);
  const content = Buffer.from(stream_id);
  const stored = { key: bundleKey(RUN, bundleFileName(slug, 'COMPLETE', true)), bytes: content.length };
  const encrypted = { bytes: bundle.bytes, sha256: bundle.sha256, recipients: ['age1recipient'] };
  put(stored.key, content);
  const own = { ...bundle, ...stored, sha256: sha256(content), encrypted };
  const rest = { run_id: RUN, ...stream, bundle: own, recorded_at: '2026-11-01T00:00:00.000Z' };
  const bytes = toRecordBytes(bindRecord(bindingKey, { format: 'evidence-stream/7', ...rest }));
  const key = streamRecordKey(RUN, slug);
  put(key, bytes);
  return { key, bytes: bytes.length, sha256: sha256(bytes) };
}

function put(key: string, bytes: Uint8Array): void {
  const path = join(folder, 'evidence-archive', key);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, bytes);
}

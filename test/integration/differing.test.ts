import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';

import { evidence } from '../support/evidence.ts';
import { camel } from '../support/services/camel.ts';
import { fastApi } from '../support/services/fastapi.ts';
import { MAIN_LENGTH, MAIN_STREAM } from '../support/services/history.ts';
import type { ServiceKind } from '../support/services/invented-service.ts';
import { results } from '../support/services/results.ts';
import { KINDS, type Kind } from '../support/services/tampering.ts';
import { inTurn, someRows } from '../support/some-rows.ts';

/** Services that differ from the default contract. `evidence export` knows of each only what `evidence probe` wrote. */
const SERVICES: [string, ServiceKind][] = [
  ['FastAPI style, digests of Python', fastApi],
  ['camelCase, SHA-512 over joined fields', camel],
  ['results and next, HMACs only', results],
];
const API_KEY = 'sk_of_a_service_that_differs';

/** Every tampering, on one service after another. */
const TAMPERED = someRows(inTurn(KINDS, SERVICES), ([tampering]) => tampering);

/** Kinds for which the service counts both entries of a number, and so states more entries than numbers. */
const COUNTED_TWICE: ReadonlySet<string> = new Set(['duplicated', 'forked']);
const MORE_THAN_NUMBERS = { severity: 'error', code: 'completeness/count-differs' };

describe.each(SERVICES)('%s', (_words, kind) => {
  const directory = mkdtempSync(join(tmpdir(), 'differing-test-'));
  let keys: string[] = [];

  /** Exports the main stream, and returns the run's result for it. */
  async function exportMain(tampering: Kind, flags: readonly string[]) {
    const service = await kind.start({ apiKey: API_KEY, tampering });
    try {
      const folder = mkdtempSync(join(tmpdir(), 'differing-test-'));
      const args = ['export', '--all-time', '--json', '--stream', MAIN_STREAM, ...flags];
      const { code, stdout, stderr } = await evidence(
        [...args, '--contract', join(directory, 'contract.yaml'), '--archive', join(folder, 'archive')],
        { cwd: directory, env: { EVIDENCE_AUDIT_URL: service.auditUrl, EVIDENCE_API_KEY: API_KEY } },
      );
      expect(stderr).not.toContain('defect');
      return { code, archive: join(folder, 'archive'), stream: JSON.parse(stdout).streams[0] };
    } finally {
      await service.close();
    }
  }

  beforeAll(async () => {
    const service = await kind.start({ apiKey: API_KEY });
    keys = Object.entries(service.sealKeys).flatMap(([id, key]) => {
      writeFileSync(join(directory, `${id}.key`), key);
      return ['--seal-key', `${id}=${id}.key`];
    });
    const probed = await evidence(['probe', '--generate', ...keys], {
      cwd: directory,
      env: { EVIDENCE_AUDIT_URL: service.auditUrl, EVIDENCE_API_KEY: API_KEY },
    });
    await service.close();
    expect(probed.code, probed.stderr).toBe(0);
  });

  test('is verified, and its archive again without it', async () => {
    const { code, stream, archive } = await exportMain('valid', keys);
    expect([code, stream.status, stream.entries]).toEqual([0, 'verified', MAIN_LENGTH]);
    const { order, content, completeness } = stream.claims;
    expect([order.state, content.state, completeness.state]).toEqual(['proved', 'proved', 'proved']);
    const again = await evidence(['verify', archive, ...keys], { cwd: directory });
    expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining('verified') });
  });

  test('without keys, what needs one is unproved, and nothing else', async () => {
    const { code, stream } = await exportMain('valid', []);
    const keyed = kind === results;
    expect([code, stream.claims.order.state, stream.claims.content.state, stream.claims.seal.state]).toEqual([
      // Content is required by default.
      keyed ? 3 : 0,
      'proved',
      keyed ? 'unproved' : 'proved',
      'unproved',
    ]);
    if (keyed) expect(stream.claims.content.reason).toContain('made with a key not given');
  });

  const tampered = TAMPERED.filter(([, [, service]]) => service === kind);
  test.concurrent.each(tampered)('%s', async (tampering) => {
    const { code, stream } = await exportMain(tampering, keys);
    const { claims, findings } = kind.expected[tampering];
    const states = Object.fromEntries(Object.keys(claims).map((claim) => [claim, stream.claims[claim].state]));
    expect(states).toEqual(claims);
    const bare = stream.findings.map(({ code: name, severity, sequence, from, to }: Record<string, unknown>) =>
      JSON.parse(JSON.stringify({ severity, code: name, sequence, from, to })),
    );
    const stated = COUNTED_TWICE.has(tampering) && kind !== results ? [MORE_THAN_NUMBERS] : [];
    expect(bare).toEqual([...findings, ...stated]);
    const refuted = Object.values(claims).includes('refuted');
    const sound = stream.claims.content.state === 'proved' ? 0 : 3;
    expect(code).toBe(refuted ? 1 : (({ 'cut-off': 3, empty: 4 } as Record<string, number>)[tampering] ?? sound));
  });
});

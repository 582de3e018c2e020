import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CertificateNames, type DecoyTls, tlsOf } from '../../../src/platform/traps/decoys/certificates.ts';
import type { DecoySettings } from '../../../src/platform/traps/decoys/decoy.ts';

/** Settings of a decoy on a free port of this machine. */
export function settingsOf(more: Partial<DecoySettings> & Pick<DecoySettings, 'kind'>): DecoySettings {
  return { name: more.kind, host: '127.0.0.1', port: 0, publicHost: null, publicPort: null, tls: null, ...more };
}

/** Creates a decoy's certificate in a folder that is removed afterwards. */
export async function certificateIn(names: Partial<CertificateNames> = {}): Promise<DecoyTls> {
  const folder = await mkdtemp(join(tmpdir(), 'decoy-'));
  const draw = () => ({ subject: 'CN=db-1', issuer: null, hosts: ['db-1'], key: 'ec' as const, ...names });
  try {
    return await tlsOf(settingsOf({ kind: 'postgres' }), folder, { now: new Date(), draw });
  } finally {
    await rm(folder, { recursive: true });
  }
}

import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from '../../src/exporter/cli/command.ts';
import { runRestamp } from '../../src/exporter/cli/commands/restamp.ts';
import { runRuns } from '../../src/exporter/cli/commands/runs.ts';
import { runShare } from '../../src/exporter/cli/commands/share.ts';
import { timestampRequest } from '../../src/exporter/export/stamp.ts';
import { entryAfter, SEAL_KEY, type SentEntry } from './chain.ts';
import { carryOut } from './command.ts';
import { type FalseService, startFalseService } from './false-service.ts';
import { type KeyFiles, makeKey } from './openssl-keys.ts';
import { startOpensslAuthority } from './tsa.ts';

/** An archive with an object of every kind, with the keys and roots that a reader needs. */
export interface WholeArchive {
  folder: string;
  key: KeyFiles;
  /** Roots of both authorities. */
  rootFile: string;
  sealKeyFile: string;
}

export const MONTHS = ['2024-09', '2024-10'] as const;

/** Returns entries of two months, the first `september` of them in the first month. */
function chainOver(streamId: string, september: number, october: number): SentEntry[] {
  const entries: SentEntry[] = [];
  for (let number = 1; number <= september + october; number++) {
    const day = number <= september ? Date.UTC(2024, 8, number) : Date.UTC(2024, 9, number - september);
    const timestamp = new Date(day + 43_200_000).toISOString();
    entries.push(entryAfter(entries.at(-1) ?? null, { stream_id: streamId, timestamp, occurred_at: timestamp }));
  }
  return entries;
}

/**
 * Exports two months of two streams as a user would: signs and timestamps them, restamps the first run with another
 * authority, shares it, and abandons a third run.
 */
export async function makeWholeArchive(): Promise<WholeArchive> {
  const service = await startFalseService();
  const at = (name: string) => join(service.directory, name);
  const authority = await startOpensslAuthority(at('tsa'));
  const later = await startOpensslAuthority(at('later-tsa'), 3000);
  const key = await makeKey(service.directory, 'signing.pem', 'ed25519');
  writeFileSync(at('k1'), SEAL_KEY);
  writeFileSync(at('roots.pem'), [authority, later].map(({ rootFile }) => readFileSync(rootFile, 'utf8')).join(''));
  const configure = (url: string) =>
    writeFileSync(
      at('evidence.yaml'),
      JSON.stringify({
        sign: { key_file: 'signing.pem', tsa_url: url, tsa_roots: 'roots.pem' },
        verify: { timestamp_roots: 'roots.pem', seal_keys: { k1: 'k1' } },
      }),
    );
  try {
    await offerEvidence(service, authority.url);
    configure(authority.url);
    for (const month of MONTHS) {
      const { code, document } = await service.export({ request: month, period: month });
      if (code !== 0) throw new Error(`the export of ${month} ended with ${code}: ${JSON.stringify(document)}`);
    }
    configure(later.url);
    const run = async <Flags extends object>(command: Command<Flags>, flags: object) => {
      const environment = { EVIDENCE_AUDIT_URL: service.url, EVIDENCE_API_KEY: 'sk_of_a_false_service' };
      const { code, said } = await carryOut(command, flags, service.directory, { environment });
      if (code !== 0) throw new Error(`${command.name} ended with ${code}: ${said}`);
    };
    await run(runRestamp, { run: MONTHS[0], within: '90d' });
    await run(runShare, { run: MONTHS[0], for: 'J. Smith', out: at('handed-out') });
    const [begun, asked] = [at('evidence-archive/runs/begun'), `evidence-archive/runs/${MONTHS[0]}/asked.json`];
    mkdirSync(begun);
    copyFileSync(at(asked), join(begun, 'asked.json'));
    await run(runRuns, { action: 'abandon', run: 'begun', reason: 'begun by mistake' });
    rmSync(begun, { recursive: true });
  } finally {
    await Promise.all([service.close(), authority.close(), later.close()]);
  }
  copyFileSync(at('k1'), at('k1.seal'));
  return { folder: at('evidence-archive'), key, rootFile: at('roots.pem'), sealKeyFile: at('k1.seal') };
}

/** Serves two streams, one of them with timestamped checkpoints. */
export async function offerEvidence({ streams }: FalseService, authority: string): Promise<void> {
  const payments = chainOver('payments/prod', 8, 4);
  const checkpoints = await Promise.all(
    [8, 12].map(async (sequence) => {
      const { hash = '' } = payments[sequence - 1] ?? {};
      const anchor = { status: 'anchored', tsa_url: authority, gen_time: null, token: await stamp(authority, hash) };
      return { checkpoint_id: `c-${sequence}`, stream_id: 'payments/prod', sequence, hash, created_at: '', anchor };
    }),
  );
  streams.set('payments/prod', { entries: payments, package: { checkpoints } });
  streams.set('logins', { entries: chainOver('logins', 5, 2) });
}

async function stamp(url: string, digest: string): Promise<string> {
  const headers = { 'content-type': 'application/timestamp-query' };
  const body = Buffer.from(timestampRequest(digest, 1n));
  const answer = await fetch(url, { method: 'POST', headers, body });
  return Buffer.from(await answer.arrayBuffer()).toString('base64');
}

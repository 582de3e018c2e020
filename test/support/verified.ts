import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FlagsOf } from '../../src/exporter/cli/commands/flags-of.ts';
import { runVerify } from '../../src/exporter/cli/commands/verify.ts';
import type { Claims } from '../../src/verifier/claims/claim.ts';
import type { Description } from '../../src/verifier/profile/description.ts';
import { formatContract } from '../../src/verifier/profile/file.ts';
import { bare } from './chain.ts';
import { commandIn } from './command.ts';

export interface VerifiedFile {
  exit: number;
  claims: Claims;
  /** Codes and positions of findings. */
  findings: string[];
}

export interface FileToVerify {
  name?: string;
  bytes: string | Uint8Array;
  /** Contract for reading the file. */
  contract?: Description;
  /** Seal keys by id. */
  sealKeys?: Record<string, string>;
  flags?: Partial<FlagsOf<'verify'>>;
}

/** Runs `evidence verify` on a file of one stream. */
export async function verifyFile({ name = 'evidence.json', bytes, contract, sealKeys = {}, flags = {} }: FileToVerify) {
  const folder = mkdtempSync(join(tmpdir(), 'verify-'));
  try {
    writeFileSync(join(folder, name), bytes);
    if (contract !== undefined) writeFileSync(join(folder, 'contract.yaml'), formatContract(contract));
    for (const [id, key] of Object.entries(sealKeys)) writeFileSync(join(folder, id), key);
    const { context, printed } = commandIn(folder);
    const given = {
      targets: [name],
      'seal-key': Object.keys(sealKeys).map((id) => `${id}=${id}`),
      ...(contract === undefined ? {} : { contract: 'contract.yaml' }),
      ...flags,
    };
    const exit = await runVerify(given as FlagsOf<'verify'>, context);
    const [stream] = JSON.parse(printed.stdout).streams;
    const verified: VerifiedFile = { exit, claims: stream.claims, findings: bare(stream.findings) };
    return verified;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

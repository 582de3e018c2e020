import { readFile } from 'node:fs/promises';
import { type Accounts, assembleAccounts } from './accounts/accounts.ts';
import type { Administration } from './accounts/administration.ts';
import { lettersInto } from './accounts/letters.ts';
import type { Passwords } from './accounts/password.ts';
import type { SignUpPolicy } from './accounts/sign-up-policy.ts';
import { recordIn } from './administration/record.ts';
import { type AuditLog, openAuditLog } from './audit/api.ts';
import type { DerivedSealKeys } from './audit/seal-keys.ts';
import { RowSeals } from './audit/sealed-rows.ts';
import { type ClockSources, PlatformClock } from './clock/clock.ts';
import type { Database } from './database/database.ts';
import { dataFolder } from './folder.ts';
import { Outbox } from './jobs/outbox.ts';
import { openPlace, openSealKeys, type PlatformPlace } from './setup.ts';

/** Dependencies that all services and commands share. */
export interface Parts {
  database: Database;
  /** Time of the platform, as `time` has it. */
  clock: () => Date;
  time: PlatformClock;
  sealKeys: DerivedSealKeys;
  log: AuditLog;
  administration: Administration;
  outbox: Outbox;
  accounts: Accounts;
}

export interface PartsOptions extends PlatformPlace {
  /** People who may sign up; nobody by default. */
  signUp?: SignUpPolicy['mode'];
  /** Domains whose addresses may sign up; all by default. */
  signUpDomains?: readonly string[];
  /** Public address of the platform; by default, the one that it listens on. */
  publicUrl?: string | null;
  /** Cheaper passwords, for tests. */
  passwords?: Passwords;
  /** Other clocks, for tests. */
  clockSources?: ClockSources;
}

/** @throws EvidenceError as `openPlace`. */
export async function openParts({
  signUp = 'closed',
  signUpDomains = [],
  publicUrl = null,
  passwords,
  clockSources,
  ...place
}: PartsOptions): Promise<Parts> {
  const database = await openPlace(place);
  try {
    const time = new PlatformClock(clockSources);
    await time.begin(database);
    const clock = time.now;
    const sealKeys = await openSealKeys(place.dataDir);
    const log = openAuditLog({ keys: sealKeys, seals: new RowSeals(sealKeys.ofRows()), clock });
    const administration = recordIn(log);
    const outbox = new Outbox(database, clock);
    const masterKey = await readFile(dataFolder(place.dataDir).masterKey);
    const letters = lettersInto(outbox);
    const policy = { mode: signUp, domains: signUpDomains };
    const deps = { database, clock, masterKey, administration, letters, signUp: policy, publicUrl };
    const accounts = assembleAccounts({ ...deps, ...(passwords && { passwords }) });
    return { database, clock, time, sealKeys, log, administration, outbox, accounts };
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** Runs `work` with the parts of a place, and closes its database. @throws EvidenceError as `openPlace`. */
export async function withParts<T>(place: PlatformPlace, work: (parts: Parts) => Promise<T>): Promise<T> {
  const parts = await openParts(place);
  try {
    return await work(parts);
  } finally {
    await parts.database.close();
  }
}

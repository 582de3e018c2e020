import type { Database } from '../database/database.ts';
import { type Job, tidyJob } from '../jobs/scheduler.ts';
import { SecretBox } from '../secrets.ts';
import type { Administration } from './administration.ts';
import { Ceremonies, relyingPartyOf } from './ceremonies.ts';
import { forgetChallenges } from './challenges.ts';
import { CredentialChanges } from './credentials.ts';
import type { AccountDeps } from './deps.ts';
import { Devices } from './devices.ts';
import { HashQueue } from './hash-queue.ts';
import { Invitations } from './invitations.ts';
import { Joining } from './joining.ts';
import type { Letters } from './letters.ts';
import { forgetLinks, OneTimeLinks } from './links.ts';
import { RecoveryCodes } from './own-recovery-codes.ts';
import { OwnSessions } from './own-sessions.ts';
import { Passkeys } from './passkeys.ts';
import { PASSWORDS, type Passwords } from './password.ts';
import { People } from './people.ts';
import { SecondFactors } from './second-factors.ts';
import { forgetSessions, Sessions } from './sessions.ts';
import { SignIn } from './sign-in.ts';
import type { SignUpPolicy } from './sign-up-policy.ts';
import { forgetSignUps, SignUps } from './sign-ups.ts';
import { forgetAttempts, Throttle } from './throttle.ts';

/** Services of accounts that routes, pages and commands use. */
// Over ten members: each one is a service.
export interface Accounts {
  people: People;
  joining: Joining;
  invitations: Invitations;
  signUps: SignUps;
  signIn: SignIn;
  credentials: CredentialChanges;
  passkeys: Passkeys;
  recoveryCodes: RecoveryCodes;
  sessions: Sessions;
  devices: Devices;
  ownSessions: OwnSessions;
  links: OneTimeLinks;
  secrets: SecretBox;
}

interface AccountsOptions {
  database: Database;
  clock: () => Date;
  masterKey: Uint8Array;
  administration: Administration;
  letters: Letters;
  signUp: SignUpPolicy;
  /** Public address of the platform, if configured; passkeys are bound to it. */
  publicUrl: string | null;
  /** Cheaper passwords, for tests. */
  passwords?: Passwords;
}

export function assembleAccounts(options: AccountsOptions): Accounts {
  const { database, clock, masterKey, administration, letters, signUp, publicUrl, passwords = PASSWORDS } = options;
  const links = new OneTimeLinks(masterKey);
  const sessions = new Sessions(database, clock);
  const secrets = new SecretBox(masterKey, 'accounts/secrets');
  const party = relyingPartyOf(publicUrl);
  const ceremonies = party === null ? null : new Ceremonies(party);
  const secondFactors = new SecondFactors({ secrets, clock, administration, ceremonies });
  const devices = new Devices(secrets, clock);
  const guarding = { throttle: new Throttle(clock), hashing: new HashQueue(), devices };
  const shared = { database, clock, administration, letters, links, secrets, passwords };
  const deps: AccountDeps = { ...shared, ...guarding, sessions, secondFactors };
  const signIn = new SignIn(deps);
  return {
    people: new People(deps),
    joining: new Joining(deps, signUp),
    invitations: new Invitations(deps),
    signUps: new SignUps(deps),
    signIn,
    credentials: new CredentialChanges(deps, signIn),
    passkeys: new Passkeys(deps, ceremonies),
    recoveryCodes: new RecoveryCodes(deps),
    sessions,
    devices,
    ownSessions: new OwnSessions(deps),
    links,
    secrets,
  };
}

/** Returns the job that deletes expired links, sessions, challenges, sign-ups and counted attempts. */
export function accountsTidyJob(database: Database, clock: () => Date): Job {
  return tidyJob('accounts/tidy', database, async (transaction) => {
    for (const forget of [forgetLinks, forgetSessions, forgetAttempts, forgetChallenges, forgetSignUps])
      await forget(transaction, clock());
  });
}

import type { Database } from '../database/database.ts';
import { SecretBox } from '../secrets.ts';
import type { Administration } from './administration.ts';
import { CredentialChanges } from './credentials.ts';
import { Joining } from './joining.ts';
import type { Letters } from './letters.ts';
import { OneTimeLinks } from './links.ts';
import { PASSWORDS, type Passwords } from './password.ts';
import { People } from './people.ts';
import { Sessions } from './sessions.ts';
import { SignIn } from './sign-in.ts';
import { Throttle } from './throttle.ts';

/** Everything that routes, pages and commands ask of accounts. */
export interface Accounts {
  people: People;
  joining: Joining;
  signIn: SignIn;
  credentials: CredentialChanges;
  sessions: Sessions;
  links: OneTimeLinks;
  secrets: SecretBox;
}

export interface AccountsOptions {
  database: Database;
  clock: () => Date;
  masterKey: Uint8Array;
  administration: Administration;
  letters: Letters;
  /** Whether anybody may sign up. */
  isOpen: boolean;
  /** For tests: passwords that cost less. */
  passwords?: Passwords;
}

export function assembleAccounts({ masterKey, isOpen, passwords = PASSWORDS, ...options }: AccountsOptions): Accounts {
  const { database, clock } = options;
  const links = new OneTimeLinks(masterKey);
  const sessions = new Sessions(database, clock);
  const secrets = new SecretBox(masterKey, 'accounts/secrets');
  const means = { ...options, links, secrets, passwords, sessions, throttle: new Throttle(clock) };
  const signIn = new SignIn(means);
  return {
    people: new People(means),
    joining: new Joining(means, isOpen),
    signIn,
    credentials: new CredentialChanges(means, signIn),
    sessions,
    links,
    secrets,
  };
}

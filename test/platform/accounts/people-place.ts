import { type Accounts, assembleAccounts } from '../../../src/platform/accounts/accounts.ts';
import { ADMINISTRATION_STREAM } from '../../../src/platform/accounts/api.ts';
import type { Role } from '../../../src/platform/accounts/enums.ts';
import type { AccountLetter } from '../../../src/platform/accounts/letters.ts';
import { lettersInto, toMail } from '../../../src/platform/accounts/letters.ts';
import { hashPassword, isPassword, type Passwords } from '../../../src/platform/accounts/password.ts';
import type { SignUpPolicy } from '../../../src/platform/accounts/sign-up-policy.ts';
import type { LinkPurpose } from '../../../src/platform/accounts/tables.ts';
import { totpCode } from '../../../src/platform/accounts/totp.ts';
import type { Database } from '../../../src/platform/database/database.ts';
import { OutboxDelivery } from '../../../src/platform/jobs/delivery.ts';
import { mailDelivery, type OutgoingMail } from '../../../src/platform/mail/mail.ts';
import { World } from '../world.ts';

export const PASSWORD = 'a long walk by the sea';
export const NETWORK = '192.0.2.1';
export const PUBLIC_URL = 'https://evidence.example';

interface SignInDetails {
  password?: string;
  code?: string;
  recovery_code?: string | undefined;
  network?: string;
  device?: string;
}

/** Accounts in a world, with cheap password hashes and a list of sent mails. */
export class PeoplePlace extends World {
  readonly accounts: Accounts;
  readonly mails: OutgoingMail[] = [];
  /** Domains of the addresses that may sign up. */
  readonly domains: string[] = [];
  /** Number of times that a password was hashed or compared. */
  hashes = 0;
  readonly #delivery: OutboxDelivery;

  /** @param mode of signing up. @param cost of hashing passwords: `CHEAP`, or the real cost. */
  constructor(
    database: Database,
    platformKey?: Uint8Array,
    mode: SignUpPolicy['mode'] = 'open',
    cost: Passwords = CHEAP,
  ) {
    super(database, platformKey);
    const { clock, masterKey, administration } = this;
    const letters = lettersInto(this.outbox);
    const passwords = {
      hash: (password: string) => this.#counted(cost.hash(password)),
      matches: (password: string, stored: string | null) => this.#counted(cost.matches(password, stored)),
    };
    const options = {
      database,
      clock,
      masterKey,
      administration,
      letters,
      passwords,
      signUp: { mode, domains: this.domains },
    };
    this.accounts = assembleAccounts({ ...options, publicUrl: PUBLIC_URL });
    const { links } = this.accounts;
    const transport = { to: 'here', send: async (mail: OutgoingMail) => void this.mails.push(mail), close: () => {} };
    const compose = (letter: unknown) =>
      toMail(letter as AccountLetter, { database, clock, links, publicUrl: PUBLIC_URL });
    const deliveries = new Map([['mail', mailDelivery(transport, { compose, host: 'evidence.example', clock })]]);
    this.#delivery = new OutboxDelivery(database, { clock, deliveries });
  }

  /** Sends waiting mails. @returns the mails sent. */
  async post(): Promise<OutgoingMail[]> {
    const before = this.mails.length;
    await this.#delivery.deliverDue();
    return this.mails.slice(before);
  }

  /** Returns messages that the outbox gave up. */
  async givenUp() {
    return (await this.outbox.dead({ limit: 50 })).data;
  }

  /** Returns the token of the link in the only waiting mail. */
  async mailedToken(): Promise<string> {
    const [mail, ...others] = await this.post();
    if (mail === undefined || others.length > 0) throw new Error(`${others.length + 1} mails instead of one`);
    return /\/app\/[\w-]+\/(\S+)/.exec(mail.text)?.[1] ?? '';
  }

  /** Creates a link and returns its token. */
  async link(purpose: LinkPurpose, content: object = {}): Promise<string> {
    const { links } = this.accounts;
    const make = (id: Promise<string>) => id.then((each) => links.token(each));
    return this.database.write((transaction) =>
      make(links.make(transaction, purpose, { ...content }, new Date(this.now))),
    );
  }

  /** Creates an account. @returns its id. */
  async join(email: string, role: Role = 'auditor', name = 'Somebody'): Promise<string> {
    const token = await this.link('invite', { email, role });
    return (await this.accounts.joining.accept(token, { name, password: PASSWORD })).personId;
  }

  signIn(email: string, more: SignInDetails = {}): Promise<string> {
    return this.accounts.signIn.signIn({ email, password: PASSWORD, network: NETWORK, ...more });
  }

  codeOf(secret: Uint8Array): string {
    return totpCode(secret, Math.floor(this.now / 30_000));
  }

  /** Returns administrative acts, oldest first. */
  async acts() {
    return (await this.log.newest(this.database, ADMINISTRATION_STREAM, { limit: 500 })).toReversed();
  }

  #counted<T>(work: Promise<T>): Promise<T> {
    this.hashes++;
    return work;
  }
}

/** Returns the result of each attempt, or the code of its error. */
export async function outcomes(attempts: readonly Promise<unknown>[]): Promise<string[]> {
  const settled = await Promise.allSettled(attempts);
  return settled.map((each) => (each.status === 'fulfilled' ? 'done' : each.reason.code)).sort();
}

/** Hash that no password matches. */
const NOBODY = `scrypt$10$8$1$${Buffer.alloc(16).toString('base64url')}$${Buffer.alloc(32).toString('base64url')}`;

/** Password hashes at a hundredth of the real cost; each stored hash states its cost. */
export const CHEAP: Passwords = {
  hash: (password) => hashPassword(password, { log2N: 10, r: 8, p: 1 }),
  matches: (password, stored) => isPassword(password, stored ?? NOBODY),
};

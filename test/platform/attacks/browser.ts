import type { Role } from '../../../src/platform/accounts/enums.ts';
import { openParts, type Parts } from '../../../src/platform/parts.ts';

import { CHEAP } from '../accounts/people-place.ts';
import type { Service } from '../service.ts';

export const PASSWORD = 'a long walk by the sea';

export interface Page {
  status: number;
  text: string;
  headers: Headers;
  /** Target of a redirect. */
  location: string;
}

type Fields = Record<string, string> | readonly (readonly [string, string])[];

/** Browser of an attacker, who sees its cookies and changes what it sends. */
export class Browser {
  readonly origin: string;
  readonly cookies = new Map<string, string>();
  /** Token of the last form loaded. */
  csrf = '';

  constructor(origin: string, session?: string) {
    this.origin = origin;
    if (session !== undefined) this.session = session;
  }

  get session(): string {
    return this.cookies.get('evidence_session') ?? '';
  }

  set session(token: string) {
    this.cookies.set('evidence_session', token);
  }

  get(path: string, headers: Record<string, string> = {}): Promise<Page> {
    return this.send(path, { headers });
  }

  /** Submits a form with the last token. */
  post(path: string, fields: Fields, headers: Record<string, string> = {}): Promise<Page> {
    const typed = Array.isArray(fields) ? fields : Object.entries(fields);
    return this.send(path, { method: 'POST', body: new URLSearchParams([['csrf', this.csrf], ...typed]), headers });
  }

  /** Loads a page and submits its form. */
  async submit(path: string, fields: Fields, headers: Record<string, string> = {}): Promise<Page> {
    await this.get(path);
    return this.post(path, fields, headers);
  }

  async send(path: string, { headers, ...init }: RequestInit & { headers?: Record<string, string> }): Promise<Page> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await fetch(this.origin + path, { redirect: 'manual', headers: { cookie, ...headers }, ...init });
    for (const each of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(each) ?? [];
      if (value === '') this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    const text = await answer.text();
    this.csrf = /name="csrf" value="([^"]*)"/.exec(text)?.[1] ?? this.csrf;
    return { status: answer.status, text, headers: answer.headers, location: answer.headers.get('location') ?? '' };
  }
}

/** Runs work with the parts of a served platform, whose password hashes are cheap. */
export async function inside<T>({ dataDir }: Service, work: (parts: Parts) => Promise<T>): Promise<T> {
  const parts = await openParts({ dataDir, passwords: CHEAP, signUp: 'approval' });
  try {
    return await work(parts);
  } finally {
    await parts.database.close();
  }
}

/** Creates an account. @returns its id, and the token of its session. */
export function join(service: Service, email: string, role: Role = 'auditor') {
  return inside(service, async ({ accounts, database, clock }) => {
    const make = database.write((transaction) => accounts.links.make(transaction, 'invite', { email, role }, clock()));
    const token = accounts.links.token(await make);
    return accounts.joining.accept(token, { name: 'Somebody', password: PASSWORD });
  });
}

/** Signs in with the password. */
export async function signIn(service: Service, email: string, password = PASSWORD): Promise<Browser> {
  const browser = new Browser(service.origin);
  const { status, text } = await browser.submit('/app/sign-in', { email, password });
  if (status !== 303) throw new Error(text);
  return browser;
}

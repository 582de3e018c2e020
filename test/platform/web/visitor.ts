import type { Role } from '../../../src/platform/accounts/enums.ts';
import { openParts } from '../../../src/platform/parts.ts';
import { CHEAP } from '../accounts/people-place.ts';
import type { Service } from '../service.ts';

/** A signed-in person's browser at a served platform. */
export class Visitor {
  readonly origin: string;
  /** Value of the session cookie. */
  readonly session: string;

  constructor(origin: string, session: string) {
    this.origin = origin;
    this.session = session;
  }

  /** Requests a page and follows redirects. @param left cookie that the preceding answer set. */
  async get(path: string, left: readonly string[] = []): Promise<{ status: number; text: string; path: string }> {
    const headers = { cookie: [`evidence_session=${this.session}`, ...left].join('; ') };
    const answer = await fetch(this.origin + path, { headers });
    return { status: answer.status, text: await answer.text(), path: new URL(answer.url).pathname };
  }

  /** Submits a page's form with these fields and follows the redirect. @param action of the form. */
  async submit(page: string, action: string, typed: Record<string, string> = {}) {
    const { text } = await this.get(page);
    return this.post(action, { csrf: /name="csrf" value="([^"]*)"/.exec(text)?.[1] ?? '', ...typed });
  }

  async post(path: string, typed: Record<string, string>): Promise<{ status: number; text: string; path: string }> {
    const headers = { cookie: `evidence_session=${this.session}`, origin: this.origin };
    const body = new URLSearchParams(typed);
    const answer = await fetch(this.origin + path, { method: 'POST', headers, body, redirect: 'manual' });
    const next = answer.headers.get('location');
    const left = answer.headers.getSetCookie().map((cookie) => cookie.split(';', 1)[0] ?? '');
    if (answer.status === 303 && next !== null) return this.get(next, left);
    return { status: answer.status, text: await answer.text(), path };
  }
}

/** Creates an account with cheap password hashes for each role, and signs its owner in. */
export async function visitorsOf<R extends Role>(
  { dataDir, origin }: Service,
  roles: readonly R[],
  postgresUrl: string | null = null,
): Promise<Record<R, Visitor>> {
  const { database, accounts, clock } = await openParts({ dataDir, postgresUrl, passwords: CHEAP });
  const visitors: [string, Visitor][] = [];
  for (const role of roles) {
    const invited = { email: `${role}@example.com`, role };
    const id = await database.write((transaction) => accounts.links.make(transaction, 'invite', invited, clock()));
    const joiner = { name: `The ${role}`, password: 'a long walk by the sea' };
    const { session } = await accounts.joining.accept(accounts.links.token(id), joiner);
    visitors.push([role, new Visitor(origin, session)]);
  }
  await database.close();
  return Object.fromEntries(visitors) as Record<R, Visitor>;
}

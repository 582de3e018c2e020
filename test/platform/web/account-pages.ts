import type { FastifyInstance, RouteOptions } from 'fastify';
import { ApiKeys } from '../../../src/platform/accounts/keys.ts';
import { pagesOfKeys, pagesOfPeople } from '../../../src/platform/accounts/pages/pages.ts';
import { signedInBy } from '../../../src/platform/accounts/pages/signed-in.ts';
import { administrationOperations } from '../../../src/platform/administration/operations.ts';
import { pagesOfAdministration } from '../../../src/platform/administration/pages/pages.ts';
import { AdministrationService } from '../../../src/platform/administration/service.ts';
import type { Database } from '../../../src/platform/database/database.ts';
import { DomainError } from '../../../src/platform/errors.ts';
import { createServer } from '../../../src/platform/http/server.ts';
import { servePages } from '../../../src/platform/web/web.ts';
import { PeoplePlace } from '../accounts/people-place.ts';
import { Visit } from './frame.ts';

export interface AccountPages {
  place: PeoplePlace;
  server: FastifyInstance;
  keys: ApiKeys;
  /** Method and path of each page. */
  routes: readonly string[];
  /** Returns a visitor with a separate browser. @param session to use. @param headers of all requests. */
  visit(session?: string, headers?: Record<string, string>): Visit;
}

interface AccountPagesOptions {
  publicUrl?: string | null;
  trustedProxies?: string[];
  signUp?: 'open' | 'approval';
}

/** Serves all pages of accounts, on a database with all tables, with an adjustable clock and cheap password hashes. */
export async function accountPagesOn(
  database: Database,
  { publicUrl = null, trustedProxies = [], signUp = 'open' }: AccountPagesOptions = {},
): Promise<AccountPages> {
  const place = new PeoplePlace(database, Buffer.alloc(32, 1), signUp);
  const { clock, masterKey, log, administration, outbox } = place;
  const keys = new ApiKeys({ database, clock, administration });
  const service = new AdministrationService({ database, log, administration, outbox });
  const { accounts } = place;
  const rateLimits = { requestsPerMinute: 10_000, refusalsPerMinute: 10_000 };
  const authenticate = async () => {
    throw new DomainError('unauthenticated', 'this is no API key');
  };
  const server = createServer({ logLevel: 'silent', rateLimits, trustedProxies, clock, authenticate });
  const routes: string[] = [];
  server.addHook('onRoute', ({ method, url }: RouteOptions) => {
    if (url.startsWith('/app')) routes.push(...[method].flat().map((each) => `${each} ${url}`));
  });
  const pages = [
    pagesOfKeys({ keys, clock }),
    pagesOfPeople({ accounts, clock }),
    pagesOfAdministration({
      service,
      operations: administrationOperations(service),
      sources: { database: place.database, people: accounts.people, channels: { namesOf: async () => new Map() } },
      clock,
      settings: [['data', '/data']],
    }),
  ];
  const findSignedIn = signedInBy(accounts.sessions);
  const modules = pages.map((each) => ({ pages: each }));
  await servePages(server, { modules, findSignedIn, masterKey, publicUrl, rateLimits, clock });
  return { place, server, keys, routes, visit: (session, headers) => new Visit(server, session, headers) };
}

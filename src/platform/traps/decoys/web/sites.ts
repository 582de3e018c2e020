import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { nginxPage, partOf, type Site, type SiteOutcome, siteJson, siteText } from './site.ts';
import type { WebRequest } from './web-request.ts';

const PIXEL = Buffer.from('R0lGODlhAQABAIABAAAAAP///yH5BAEAAAEALAAAAAABAAEAAAICTAEAOw==', 'base64');

const DRAWN = 'Mon, 28 Sep 1970 06:00:00 GMT';

/** Images of one pixel: nginx's `empty_gif`, which answers every name alike. */
const pictures: Site = {
  channel: 'http',
  service: 'http',
  passesOn: false,
  takes: (path) => path.startsWith('/assets/'),
  answer(request) {
    const { method, path } = request;
    const isRead = method === 'GET' || method === 'HEAD';
    const gif = { status: 200, reason: 'OK', type: 'image/gif', headers: [], body: PIXEL };
    const known = { status: 304, reason: 'Not Modified', type: null, headers: [], lastModified: DRAWN, body: '' };
    const shown = request.headers.get('if-modified-since') === DRAWN ? known : { ...gif, lastModified: DRAWN };
    const answer = isRead ? shown : nginxPage(405, request);
    return { answer, depth: 'read', action: `${method} ${path}` };
  },
};

const api: Site = {
  channel: 'http',
  service: 'http',
  passesOn: true,
  takes: (path) => path.startsWith('/api/'),
  answer: ({ method, path }, trap) => ({
    answer:
      trap === null
        ? siteJson(401, { message: '401 Unauthorized' }, [['WWW-Authenticate', 'Bearer realm="api"']])
        : siteJson(403, { message: '403 Forbidden' }),
    depth: 'used',
    action: `${method} ${path}`,
  }),
};

/** Token endpoint, with the errors of RFC 6749 section 5.2. */
const oauth: Site = {
  channel: 'http',
  service: 'oauth',
  passesOn: true,
  takes: (path) => path === '/oauth/token',
  answer: ({ method, path }, trap) => ({
    answer:
      trap === null
        ? siteJson(401, { error: 'invalid_client' }, [['WWW-Authenticate', 'Basic realm="oauth"']])
        : siteJson(400, { error: 'invalid_scope' }),
    depth: 'validated',
    action: `${method} ${path}`,
  }),
};

const npm: Site = {
  channel: 'npm',
  service: 'npm',
  passesOn: true,
  takes: (path) => path.startsWith('/npm/'),
  answer({ method, path }, trap) {
    const asked = path.slice('/npm/'.length);
    const isWhoAmI = asked === '-/whoami' || asked === '-/npm/v1/user';
    // npm checks for its own updates during any command.
    const depth = isWhoAmI || asked === '-/ping' || asked === 'npm' ? 'validated' : 'used';
    const action = isWhoAmI ? 'whoami' : method === 'PUT' ? `publish ${asked}` : `${method} ${asked}`;
    if (trap === null)
      return {
        answer: siteJson(401, { error: 'authorization required' }, [['WWW-Authenticate', 'Bearer, Basic']]),
        depth,
        action,
      };
    const username = partOf(trap, 'username', 'ci');
    const refused = siteJson(403, { error: `user ${username} is not allowed to access ${asked || 'this registry'}` });
    return { answer: isWhoAmI ? siteJson(200, { username, name: username }) : refused, depth, action };
  },
};

/** Container registry with the Docker Registry HTTP API V2. */
const registry: Site = {
  channel: 'registry',
  service: 'registry',
  passesOn: true,
  takes: (path) => path === '/v2' || path.startsWith('/v2/'),
  answer({ method, path }, trap) {
    const version = ['Docker-Distribution-Api-Version', 'registry/2.0'] as const;
    const isLogin = path === '/v2' || path === '/v2/';
    const outcome = { depth: isLogin ? 'validated' : 'used', action: isLogin ? 'login' : `${method} ${path}` } as const;
    if (trap !== null && isLogin) return { answer: siteJson(200, {}, [version]), ...outcome };
    const [status, code, message, more] =
      trap === null
        ? ([401, 'UNAUTHORIZED', 'authentication required', [['WWW-Authenticate', 'Basic realm="Registry"']]] as const)
        : ([403, 'DENIED', 'requested access to the resource is denied', []] as const);
    return { answer: siteJson(status, { errors: [{ code, message, detail: null }] }, [version, ...more]), ...outcome };
  },
};

/** Git repositories over smart HTTP. */
const git: Site = {
  channel: 'git',
  service: 'git',
  passesOn: true,
  takes: (path) => /\.git(?:\/|$)/.test(path),
  answer({ path, query }, trap) {
    const [, repository = path, what = ''] = /^\/(.*?)\.git(?:\/(.*))?$/.exec(path) ?? [];
    const asked = new URLSearchParams(query).get('service') ?? what;
    return {
      answer:
        trap === null
          ? siteText(401, 'HTTP Basic: Access denied\n', [['WWW-Authenticate', 'Basic realm="Git"']])
          : siteText(403, 'You are not allowed to access this project.\n'),
      depth: 'used',
      action: `${asked} ${repository}`,
    };
  },
};

export const SITES: readonly Site[] = [pictures, api, oauth, npm, registry, git, mcpSite(() => randomUUID())];

/** Site of all paths without a service. */
export const NOWHERE: Site = {
  channel: 'http',
  service: 'http',
  passesOn: false,
  takes: () => true,
  answer: (request) => ({
    answer: nginxPage(404, request),
    depth: 'validated',
    action: `${request.method} ${request.path}`,
  }),
};

/** Protocol revisions that current servers support; a client that requests another one gets the newest. */
const REVISIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];

const messageSchema = z.object({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string().max(200), z.number()]).optional(),
  method: z.string().max(200),
  params: z.record(z.string(), z.unknown()).optional(),
});
type Message = z.output<typeof messageSchema>;

const text1 = { type: 'string' };
const TOOLS = [
  {
    name: 'list_datasources',
    description: 'List the data sources that can be queried.',
    inputSchema: { type: 'object', properties: { type: text1 } },
  },
  {
    name: 'query_database',
    description: 'Run a read-only SQL query against a data source and return its rows.',
    inputSchema: { type: 'object', properties: { datasource: text1, sql: text1 }, required: ['datasource', 'sql'] },
  },
  {
    name: 'get_secret',
    description: 'Read a value from the secret store of an environment.',
    inputSchema: { type: 'object', properties: { environment: text1, key: text1 }, required: ['environment', 'key'] },
  },
];

/** Returns a server of the Model Context Protocol over streamable HTTP. @param newSession returns a session id. */
function mcpSite(newSession: () => string): Site {
  return {
    channel: 'mcp',
    service: 'mcp',
    passesOn: true,
    takes: (path) => path === '/mcp',
    answer(request, trap) {
      const message = messageOf(request);
      const outcome = { depth: isDeep(message) ? 'used' : 'validated', action: actionOf(request, message) } as const;
      if (trap !== null) return { ...outcome, answer: answerTo(request, message, newSession) };
      const challenge = ['WWW-Authenticate', 'Bearer error="invalid_token"'] as const;
      return { ...outcome, answer: siteJson(401, { error: 'invalid_token' }, [challenge]) };
    },
  };
}

function messageOf({ body }: WebRequest): Message | null {
  try {
    return messageSchema.parse(JSON.parse(body.toString()));
  } catch {
    return null;
  }
}

/** Reports whether a message is a call or a read, which is a use; connecting and listing only tries the credential. */
function isDeep(message: Message | null): boolean {
  return message !== null && /^(?:tools\/call|resources\/read|prompts\/get)$/.test(message.method);
}

function actionOf({ method, path }: WebRequest, message: Message | null): string {
  if (message === null) return `${method} ${path}`;
  const { name, clientInfo: client } = message.params ?? {};
  if (message.method === 'tools/call') return `tools/call ${String(name)}`;
  const read = z.object({ name: z.string(), version: z.string() }).safeParse(client);
  return read.success ? `${message.method} by ${read.data.name} ${read.data.version}` : message.method;
}

function answerTo(request: WebRequest, message: Message | null, newSession: () => string): SiteOutcome['answer'] {
  if (request.method === 'DELETE') return siteText(200, '');
  if (request.method !== 'POST')
    return siteJson(405, failure(null, -32_000, 'Method not allowed.'), [['Allow', 'POST']]);
  if (message === null) return siteJson(400, failure(null, -32_700, 'Parse error'));
  const { id, method, params = {} } = message;
  if (id === undefined) return siteText(202, '');
  const done = (result: object) => ({ jsonrpc: '2.0', id, result });
  switch (method) {
    case 'initialize':
      return siteJson(200, done(introduction(params['protocolVersion'])), [['Mcp-Session-Id', newSession()]]);
    case 'ping':
      return siteJson(200, done({}));
    case 'tools/list':
      return siteJson(200, done({ tools: TOOLS }));
    case 'tools/call':
      return TOOLS.some(({ name }) => name === params['name'])
        ? siteJson(200, done({ content: [{ type: 'text', text: 'upstream: 503 Service Unavailable' }], isError: true }))
        : siteJson(200, failure(id, -32_602, `Unknown tool: ${String(params['name'])}`));
    default:
      return siteJson(200, failure(id, -32_601, 'Method not found'));
  }
}

function introduction(asked: unknown): object {
  const protocolVersion = REVISIONS.find((each) => each === asked) ?? REVISIONS[0];
  return { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'internal-tools', version: '1.4.2' } };
}

function failure(id: string | number | null, code: number, message: string): object {
  return { jsonrpc: '2.0', id, error: { code, message } };
}

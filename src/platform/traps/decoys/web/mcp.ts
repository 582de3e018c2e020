import { z } from 'zod';
import { type Site, type SiteOutcome, siteJson, siteText } from './site.ts';
import type { WebRequest } from './web-request.ts';

/** Revisions that servers in use speak; a client that asks for another is answered with the newest. */
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

/** A server of the Model Context Protocol, by its streamable HTTP. @param newSession the id of a session. */
export function mcpSite(newSession: () => string): Site {
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

/** Whoever only connects and looks at what there is has tried it; calls and reads are uses. */
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

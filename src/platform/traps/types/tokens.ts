import { createHmac, randomBytes, randomInt, randomUUID } from 'node:crypto';
import { z } from 'zod';
import { invalidField } from '../../errors.ts';
import type { DecoyPlace } from '../decoys/decoy.ts';
import { randomText } from '../decoys/names.ts';
import { decoyOrigin, drawGitlabToken, drawGrafanaToken, drawServiceName, loginMarks, trustHint } from './drawn.ts';
import { type Artifact, neededDecoy, readOptions, type TrapType } from './type.ts';

interface Form {
  draw(): string;
  file(decoy: DecoyPlace, token: string, name: string): Omit<Artifact, 'instructions'>;
}

/** Forms of tokens for self-hosted services. */
const FORMS: Record<'generic' | 'gitlab' | 'grafana', Form> = {
  generic: {
    draw: () => `tok_${randomText(40)}`,
    file: (decoy, token, name) => ({
      filename: 'config/api.env',
      content: `API_URL=${decoyOrigin(decoy, { name, password: token })}/api/v1\nAPI_TOKEN=${token}\n`,
    }),
  },
  gitlab: {
    draw: drawGitlabToken,
    file: (decoy, token) => ({
      filename: '.python-gitlab.cfg',
      content: `[global]\ndefault = internal\n\n[internal]\nurl = ${decoyOrigin(decoy)}\nprivate_token = ${token}\napi_version = 4\n`,
    }),
  },
  grafana: {
    draw: drawGrafanaToken,
    file: (decoy, token) => ({
      filename: 'grafana.env',
      content: `GRAFANA_URL=${decoyOrigin(decoy)}\nGRAFANA_SERVICE_ACCOUNT_TOKEN=${token}\n`,
    }),
  },
};

const tokenOptions = z.strictObject({ form: z.string().max(40).default('generic') });

/** Token of an API that the decoy serves. */
export const apiToken: TrapType = {
  type: 'api_token',
  decoy: 'web',
  needsDecoy: true,
  async make(input) {
    const form = formOf(readOptions(tokenOptions, input).form);
    const decoy = neededDecoy(input);
    const [token, username] = [form.draw(), drawServiceName()];
    return {
      credential: { token, username, url: `${decoyOrigin(decoy)}/api/v1` },
      artifact: {
        ...form.file(decoy, token, username),
        instructions: `Put the file where programs keep settings, or add its lines to an existing file.${trustHint(decoy, 'configure clients not to verify it.')} To make it look used, mention it in the documentation of that program.`,
      },
      marks: loginMarks(token, username),
      channels: ['http'],
      knownAs: `${token.slice(0, 8)}…`,
    };
  },
};

/** @throws DomainError `invalid_request`, also for tokens of services that others run. */
function formOf(name: string): Form {
  if (Object.hasOwn(FORMS, name)) return FORMS[name as keyof typeof FORMS];
  throw invalidField(
    'options.form',
    `"${name}" is not supported. Uses of a token for a hosted service, such as GitHub or Slack, could not be detected; use one of ${Object.keys(FORMS).join(', ')}`,
  );
}

const jwtOptions = z.strictObject({
  audience: z
    .string()
    .regex(/^[\w.:/-]{1,100}$/, 'may contain only letters, digits and _.:/-')
    .default('api'),
  /** Validity of the token in days; the trap itself does not expire with it. */
  valid_days: z.int().min(1).max(3650).default(1825),
});
const DAY_S = 24 * 60 * 60;

/** JSON Web Token with the client that it was issued to. */
export const jwt: TrapType = {
  type: 'jwt',
  decoy: 'web',
  needsDecoy: true,
  async make(input) {
    const { audience, valid_days } = readOptions(jwtOptions, input);
    const decoy = neededDecoy(input);
    const [client, secret, jti] = [drawServiceName(), randomText(40), randomUUID()];
    const iat = Math.floor(input.now.getTime() / 1000) - randomInt(DAY_S, 20 * DAY_S);
    const claims = { iss: decoyOrigin(decoy), sub: client, aud: audience, iat, exp: iat + valid_days * DAY_S, jti };
    const token = signed({ ...claims, scope: 'read write' });
    const origin = decoyOrigin(decoy, { name: client, password: secret });
    return {
      credential: { token, jti, client_id: client, client_secret: secret },
      artifact: {
        filename: 'config/service.env',
        content: `OAUTH_TOKEN_URL=${origin}/oauth/token\nAPI_URL=${decoyOrigin(decoy)}/api/v1\nAPI_ACCESS_TOKEN=${token}\n`,
        instructions: `Put the file where programs keep settings, or add its lines to an existing file.${trustHint(decoy, 'configure clients not to verify it.')} The token is sent as "Authorization: Bearer".`,
      },
      marks: [
        { kind: 'bearer', value: token },
        { kind: 'bearer', value: secret },
        { kind: 'token_id', value: jti },
        { kind: 'basic', value: client },
      ],
      channels: ['http'],
      knownAs: `jti ${jti}`,
    };
  },
};

/** Signs a token with HS256 (RFC 7519). The key is discarded, because a token is recognized as a whole. */
function signed(claims: object): string {
  const [header, payload] = [{ alg: 'HS256', typ: 'JWT' }, claims].map((part) =>
    Buffer.from(JSON.stringify(part)).toString('base64url'),
  );
  const signature = createHmac('sha256', randomBytes(32)).update(`${header}.${payload}`).digest('base64url');
  return `${header}.${payload}.${signature}`;
}

const serverOptions = z.strictObject({
  /** Name of the server in the file. */
  name: z
    .string()
    .regex(/^[\w-]{1,64}$/, 'may contain only letters, digits, _ and -')
    .default('internal-tools'),
});

/** MCP server, in the file in which agents find their servers. */
export const mcpServer: TrapType = {
  type: 'mcp_server',
  decoy: 'web',
  needsDecoy: true,
  async make(input) {
    const { name } = readOptions(serverOptions, input);
    const decoy = neededDecoy(input);
    const token = drawGrafanaToken();
    const url = `${decoyOrigin(decoy)}/mcp`;
    const servers = { [name]: { type: 'http', url, headers: { Authorization: `Bearer ${token}` } } };
    return {
      credential: { url, token },
      artifact: {
        filename: '.mcp.json',
        content: `${JSON.stringify({ mcpServers: servers }, null, 2)}\n`,
        instructions: `Put the file into the root of a repository, or add its entry to the servers of an agent that should never call it.${trustHint(decoy, 'set NODE_EXTRA_CA_CERTS for agents, or use a decoy with a public certificate.')}`,
      },
      marks: [{ kind: 'bearer', value: token }],
      channels: ['mcp'],
      knownAs: `${token.slice(0, 9)}…`,
    };
  },
};

/** Path at which the platform itself serves calls of web bugs. */
const CALLBACK_PATH = '/traps/t';

/** Unguessable address in a document, a page or a message; a call shows that the content was opened. */
export const webBug: TrapType = {
  type: 'web_bug',
  decoy: 'web',
  needsDecoy: false,
  async make({ decoy, publicUrl }) {
    const token = randomBytes(15).toString('base64url');
    const base = decoy === null ? `${publicUrl}${CALLBACK_PATH}` : `${decoyOrigin(decoy)}/assets`;
    const url = `${base}/${token}.gif`;
    return {
      credential: { url, token },
      artifact: {
        filename: 'pixel.html',
        content: `<img src="${url}" alt="" width="1" height="1">\n`,
        instructions:
          'Put the line into a page or a document that loads images from the web, or plant the address itself.',
      },
      marks: [{ kind: 'path', value: token }],
      channels: ['http'],
      knownAs: url.replace(token, `${token.slice(0, 4)}…`),
    };
  },
};

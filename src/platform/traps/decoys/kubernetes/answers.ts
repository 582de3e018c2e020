import { randomUUID } from 'node:crypto';
import type { Json } from '../../../../core/json/canonical.ts';
import type { RawAnswer } from '../raw-http.ts';
import { discover } from './discovery.ts';
import { isSelfReview, type KubeRequest } from './request.ts';

interface KubeAsked {
  user: KubeUser;
  shown: KubeShown;
  body: string;
  accept: string;
  /** Host as named by the client. */
  host: string;
}

/** Paths that a new cluster shows to everyone. */
const HEALTH = ['/healthz', '/livez', '/readyz'];

export function answerKube(request: KubeRequest, { user, shown, body, accept, host }: KubeAsked): RawAnswer {
  const { path, verb, resource } = request;
  if (verb === 'get' && (path === '/version' || path === '/version/')) return jsonAnswer(200, VERSION, pretty(shown));
  if (verb === 'get' && HEALTH.includes(path)) return health(shown);
  if (user === ANONYMOUS) return forbidden(request, user, shown);
  const found = resource === null && verb === 'get' ? discover(path, accept, host) : null;
  if (found !== null)
    return jsonAnswer(200, found.body, shown, [
      ['Content-Type', found.contentType],
      ['Vary', 'Accept'],
    ]);
  if (resource !== null && isSelfReview(request)) return jsonAnswer(201, review(resource.name, body, user), shown);
  return forbidden(request, user, shown);
}

/** Selects indented JSON, which the server always uses for the version. */
const pretty = (shown: KubeShown): KubeShown => ({ ...shown, isPretty: true });

function health(shown: KubeShown): RawAnswer {
  const { headers, ...answer } = jsonAnswer(200, null, shown, [
    ['Content-Type', 'text/plain; charset=utf-8'],
    ['X-Content-Type-Options', 'nosniff'],
  ]);
  const sized = headers.map(([name, value]) => [name, name === 'Content-Length' ? '2' : value] as const);
  return { ...answer, headers: sized, body: 'ok' };
}

/** Identifiers of a cluster, random and created once. */
export interface ClusterIds {
  flowSchema: string;
  priorityLevel: string;
}

/** Client as the server identifies it. */
export interface KubeUser {
  name: string;
  groups: readonly string[];
}

export const ANONYMOUS: KubeUser = { name: 'system:anonymous', groups: ['system:unauthenticated'] };

/** Version document of a server of this release. */
const VERSION: Json = {
  major: '1',
  minor: '30',
  gitVersion: 'v1.30.0',
  gitCommit: '7c48c2bd72b9bf5c44d21d7338cc7bea77d0ad2a',
  gitTreeState: 'clean',
  buildDate: '2024-04-17T17:27:03Z',
  goVersion: 'go1.22.2',
  compiler: 'gc',
  platform: 'linux/amd64',
};

const REASONS: Readonly<Record<number, string>> = { 200: 'OK', 201: 'Created', 401: 'Unauthorized', 403: 'Forbidden' };

interface KubeShown {
  ids: ClusterIds;
  now: Date;
  /** True for browsers and curl, which get indented JSON. */
  isPretty: boolean;
  /** True for an authenticated client; anonymous ones have no flow schema. */
  isKnown: boolean;
}

function jsonAnswer(status: number, body: Json, shown: KubeShown, more: RawAnswer['headers'] = []): RawAnswer {
  const { ids, now, isPretty, isKnown } = shown;
  const plain = isPretty ? JSON.stringify(body, null, 2) : `${JSON.stringify(body)}\n`;
  // Escapes these characters as Go does in strings; JSON has them nowhere else.
  const text = plain.replace(/[<>&]/g, (character) => `\\u00${character.charCodeAt(0).toString(16)}`);
  // Go writes the headers that its handlers set in alphabetical order, followed by those that it sets itself.
  const own = new Map<string, string>([
    ['Audit-Id', randomUUID()],
    ['Cache-Control', 'no-cache, private'],
    ['Content-Type', 'application/json'],
    ...(isKnown
      ? [
          ['X-Kubernetes-Pf-Flowschema-Uid', ids.flowSchema] as const,
          ['X-Kubernetes-Pf-Prioritylevel-Uid', ids.priorityLevel] as const,
        ]
      : []),
    ...more,
  ]);
  const sorted = [...own].sort(([a], [b]) => (a < b ? -1 : 1));
  const length = ['Content-Length', String(Buffer.byteLength(text))] as const;
  const headers = [...sorted, ['Date', now.toUTCString()] as const, length];
  return { status, reason: REASONS[status] ?? 'OK', headers, body: text };
}

export function unauthorized(shown: KubeShown): RawAnswer {
  return jsonAnswer(401, failure('Unauthorized', 'Unauthorized', 401), shown);
}

function forbidden(request: KubeRequest, user: KubeUser, shown: KubeShown): RawAnswer {
  const { message, details } = refusal(request, user.name);
  return jsonAnswer(403, { ...failure(message, 'Forbidden', 403, details) }, shown, [
    ['X-Content-Type-Options', 'nosniff'],
  ]);
}

function failure(message: string, reason: string, code: number, details?: Json): { [name: string]: Json } {
  const head = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason };
  return { ...head, ...(details === undefined ? {} : { details }), code };
}

/** Returns the refusal as in apiserver/pkg/endpoints/handlers/responsewriters/errors.go. */
function refusal({ verb, path, resource }: KubeRequest, user: string): { message: string; details: Json } {
  if (resource === null)
    return {
      message: `forbidden: User ${JSON.stringify(user)} cannot ${verb} path ${JSON.stringify(path)}`,
      details: {},
    };
  const { group, name, namespace, object, part } = resource;
  const whole = part === null ? name : `${name}/${part}`;
  const what = `${name}${group === '' ? '' : `.${group}`}${object === null ? '' : ` ${JSON.stringify(object)}`}`;
  const where = namespace === null ? 'at the cluster scope' : `in the namespace ${JSON.stringify(namespace)}`;
  return {
    message: `${what} is forbidden: User ${JSON.stringify(user)} cannot ${verb} resource ${JSON.stringify(whole)} in API group ${JSON.stringify(group)} ${where}`,
    details: { ...(object === null ? {} : { name: object }), ...(group === '' ? {} : { group }), kind: name },
  };
}

/**
 * Permissions of every authenticated user: the roles system:basic-user, system:discovery and system:public-info-viewer.
 */
const RESOURCE_RULES: Json = [
  {
    verbs: ['create'],
    apiGroups: ['authorization.k8s.io'],
    resources: ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'],
  },
  { verbs: ['create'], apiGroups: ['authentication.k8s.io'], resources: ['selfsubjectreviews'] },
];
const PUBLIC = ['/healthz', '/livez', '/readyz', '/version', '/version/'];
const DISCOVERY = ['/api', '/api/*', '/apis', '/apis/*', '/healthz', '/livez', '/openapi', '/openapi/*', '/readyz'];
const OTHER_RULES: Json = [
  { verbs: ['get'], nonResourceURLs: PUBLIC },
  { verbs: ['get'], nonResourceURLs: [...DISCOVERY, '/version', '/version/'] },
];

/** Answers a review of the caller's own identity or permissions. @param body of the request. */
function review(name: string, body: string, { name: username, groups }: KubeUser): Json {
  const spec = specOf(body);
  const metadata = { creationTimestamp: null };
  const kind = {
    selfsubjectaccessreviews: 'SelfSubjectAccessReview',
    selfsubjectrulesreviews: 'SelfSubjectRulesReview',
  }[name];
  if (kind === undefined) {
    const userInfo = { username, groups: [...groups] };
    return { kind: 'SelfSubjectReview', apiVersion: 'authentication.k8s.io/v1', metadata, status: { userInfo } };
  }
  const rules = { resourceRules: RESOURCE_RULES, nonResourceRules: OTHER_RULES, incomplete: false };
  const status = kind === 'SelfSubjectAccessReview' ? { allowed: false } : rules;
  return { kind, apiVersion: 'authorization.k8s.io/v1', metadata, spec, status };
}

function specOf(body: string): Json {
  try {
    const spec = (JSON.parse(body) as { spec?: Json } | null)?.spec;
    return spec ?? {};
  } catch {
    return {};
  }
}

import { randomUUID } from 'node:crypto';
import { mcpSite } from './mcp.ts';
import { nginxPage } from './pages.ts';
import { partOf, type Site, siteJson, siteText } from './site.ts';

const PIXEL = Buffer.from('R0lGODlhAQABAIABAAAAAP///yH5BAEAAAEALAAAAAABAAEAAAICTAEAOw==', 'base64');

const DRAWN = 'Mon, 28 Sep 1970 06:00:00 GMT';

/** Pictures of one pixel: nginx's `empty_gif`, which answers the same to every name. */
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

/** RFC 6749 section 5.2. */
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
    // npm looks for its own updates beside whatever it does.
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

/** The distribution registry's HTTP API V2. */
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
    return {
      answer: siteJson(status, { errors: [{ code, message, detail: null }] }, [version, ...more]),
      ...outcome,
    };
  },
};

/** Git's smart HTTP. */
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

/** The site of paths where nothing is. */
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

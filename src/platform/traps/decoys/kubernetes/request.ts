/** Request in terms of the server's authorization rules. */
export interface KubeRequest {
  verb: string;
  path: string;
  /** Requested resource; null for a path that is not a resource. */
  resource: {
    group: string;
    name: string;
    namespace: string | null;
    object: string | null;
    part: string | null;
  } | null;
}

const BY_METHOD: Readonly<Record<string, string>> = { POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' };

/** @param target path and query. See apiserver/pkg/endpoints/request/requestinfo.go. */
export function kubeRequest(method: string, target: string): KubeRequest {
  const [path = '/', query = ''] = target.split('?', 2);
  const plain = { verb: method.toLowerCase(), path, resource: null };
  const segments = path.split('/').filter((each) => each !== '');
  const [root, ...rest] = segments;
  if (root !== 'api' && root !== 'apis') return plain;
  const group = root === 'api' ? '' : (rest.shift() ?? '');
  rest.shift();
  if (rest.length === 0) return plain;
  const inNamespace = rest[0] === 'namespaces' && rest.length > 2 && !['status', 'finalize'].includes(rest[2] ?? '');
  const namespace = inNamespace ? (rest[1] ?? null) : null;
  const [name = '', object = null, ...parts] = inNamespace ? rest.slice(2) : rest;
  const watches = new URLSearchParams(query).get('watch');
  const reads = object !== null ? 'get' : watches === 'true' || watches === '1' ? 'watch' : 'list';
  const all = method === 'DELETE' && object === null ? 'deletecollection' : BY_METHOD[method];
  return { verb: all ?? reads, path, resource: { group, name, namespace, object, part: parts[0] ?? null } };
}

/** Returns the action for detections, such as `list pods in default` or `get /version`. */
export function actionOf({ verb, path, resource }: KubeRequest): string {
  if (resource === null) return `${verb} ${path}`;
  const { name, namespace, object, part } = resource;
  const whole = [name, ...(object === null ? [] : [object]), ...(part === null ? [] : [part])].join('/');
  return `${verb} ${whole}${namespace === null ? '' : ` in ${namespace}`}`;
}

/**
 * Reports whether a request asks for the caller's own identity or permissions, which every authenticated user may do.
 */
export function isSelfReview({ verb, resource }: KubeRequest): boolean {
  return verb === 'create' && resource !== null && /^selfsubject(access|rules|)reviews$/.test(resource.name);
}

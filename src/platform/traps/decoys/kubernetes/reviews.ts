import type { Json } from '../../../../core/json/canonical.ts';
import type { KubeUser } from './answers.ts';

/** The rights of every known user: the roles system:basic-user, system:discovery and system:public-info-viewer. */
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

/** Answers who asks who they are, or what they may. @param body of the request. */
export function review(name: string, body: string, { name: username, groups }: KubeUser): Json {
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

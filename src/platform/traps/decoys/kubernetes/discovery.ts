import type { Json } from '../../../../core/json/canonical.ts';
import { GROUPS, type KubeGroup, type KubeResource, storageVersionHash, verbsOfPart } from './resources.ts';

/** Document that every authenticated user may read. */
interface Discovered {
  body: Json;
  contentType: string;
}

const PLAIN = 'application/json';
const groupVersion = ({ name, version }: KubeGroup) => (name === '' ? version : `${name}/${version}`);

/** Returns the answer for the paths with which clients discover a server's resources; null for any other path. */
export function discover(path: string, accept: string, address: string): Discovered | null {
  const wholeOf = /g=apidiscovery\.k8s\.io;v=(v2(?:beta1)?);as=APIGroupDiscoveryList/.exec(accept)?.[1];
  if (path === '/api' || path === '/apis') {
    const groups = GROUPS.filter(({ name }) => (name === '') === (path === '/api'));
    if (wholeOf !== undefined) return aggregated(groups, wholeOf);
    return { body: path === '/api' ? apiVersions(address) : apiGroups(groups), contentType: PLAIN };
  }
  const found = GROUPS.find((each) => path === (each.name === '' ? '/api/v1' : `/apis/${groupVersion(each)}`));
  if (found !== undefined) return { body: resourceList(found), contentType: PLAIN };
  const group = GROUPS.filter(({ name }) => name !== '' && path === `/apis/${name}`);
  if (group.length > 0) return { body: { kind: 'APIGroup', apiVersion: 'v1', ...apiGroup(group) }, contentType: PLAIN };
  return null;
}

function apiVersions(address: string): Json {
  const addresses = [{ clientCIDR: '0.0.0.0/0', serverAddress: address }];
  return { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: addresses };
}

function apiGroups(groups: readonly KubeGroup[]): Json {
  const names = [...new Set(groups.map(({ name }) => name))];
  return {
    kind: 'APIGroupList',
    apiVersion: 'v1',
    groups: names.map((name) => apiGroup(groups.filter((each) => each.name === name))),
  };
}

function apiGroup(group: readonly KubeGroup[]): { [name: string]: Json } {
  const versions = group.map((each) => ({ groupVersion: groupVersion(each), version: each.version }));
  return { name: group[0]?.name ?? '', versions, preferredVersion: versions[0] ?? null };
}

function resourceList(group: KubeGroup): Json {
  const resources = group.resources.flatMap((resource) => [whole(group, resource), ...parts(resource)]);
  return {
    kind: 'APIResourceList',
    ...(group.name === '' ? {} : { apiVersion: 'v1' }),
    groupVersion: groupVersion(group),
    resources,
  };
}

function whole(group: KubeGroup, { name, kind, namespaced, verbs, shortNames, categories }: KubeResource) {
  return {
    name,
    singularName: kind.toLowerCase(),
    namespaced,
    kind,
    verbs: [...verbs],
    ...(shortNames.length === 0 ? {} : { shortNames: [...shortNames] }),
    ...(categories.length === 0 ? {} : { categories: [...categories] }),
    ...(verbs.includes('list') ? { storageVersionHash: storageVersionHash(group, kind) } : {}),
  };
}

function parts({ name, kind, namespaced, subresources }: KubeResource) {
  return subresources.map((part) => {
    const verbs = [...verbsOfPart(part)];
    return { name: `${name}/${part}`, singularName: '', namespaced, ...kindOfPart(part, kind), verbs };
  });
}

const KINDS_OF_PARTS: Readonly<Record<string, { group: string; version: string; kind: string }>> = {
  eviction: { group: 'policy', version: 'v1', kind: 'Eviction' },
  scale: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
  token: { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest' },
};
const OPTIONS: Readonly<Record<string, string>> = {
  attach: 'PodAttachOptions',
  exec: 'PodExecOptions',
  portforward: 'PodPortForwardOptions',
  binding: 'Binding',
};

function kindOfPart(part: string, kind: string): { group?: string; version?: string; kind: string } {
  return KINDS_OF_PARTS[part] ?? { kind: part === 'proxy' ? `${kind}ProxyOptions` : (OPTIONS[part] ?? kind) };
}

/** Returns the aggregated discovery document (APIGroupDiscoveryList), requested by kubectl 1.26 and later. */
function aggregated(groups: readonly KubeGroup[], version: string): Discovered {
  const names = [...new Set(groups.map(({ name }) => name))];
  const items = names.map((name) => ({
    metadata: { ...(name === '' ? {} : { name }), creationTimestamp: null },
    versions: groups
      .filter((each) => each.name === name)
      .map((group) => ({
        version: group.version,
        resources: group.resources.map((resource) => discovered(group, resource)),
        freshness: 'Current',
      })),
  }));
  return {
    body: { kind: 'APIGroupDiscoveryList', apiVersion: `apidiscovery.k8s.io/${version}`, metadata: {}, items },
    contentType: `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`,
  };
}

function discovered(group: KubeGroup, resource: KubeResource): Json {
  const { name, kind, namespaced, verbs, shortNames, categories, subresources } = resource;
  const responseKind = { group: group.name, version: group.version, kind };
  return {
    resource: name,
    responseKind,
    scope: namespaced ? 'Namespaced' : 'Cluster',
    singularResource: kind.toLowerCase(),
    verbs: [...verbs],
    ...(shortNames.length === 0 ? {} : { shortNames: [...shortNames] }),
    ...(categories.length === 0 ? {} : { categories: [...categories] }),
    ...(subresources.length === 0 ? {} : { subresources: subresources.map((part) => partOf(group, kind, part)) }),
  };
}

function partOf({ name, version }: KubeGroup, kind: string, part: string): Json {
  const named = { group: name, version, ...kindOfPart(part, kind) };
  return { subresource: part, responseKind: named, verbs: [...verbsOfPart(part)] };
}

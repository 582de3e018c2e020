import { randomBytes, randomUUID, X509Certificate } from 'node:crypto';
import { z } from 'zod';
import type { DecoyPlace } from '../decoys/decoy.ts';
import { pickOne } from '../decoys/names.ts';
import { type MadeTrap, readOptions, type TrapType } from './type.ts';

const optionsSchema = z.strictObject({
  /** Kind of credential with which the owner authenticates. */
  auth: z.enum(['token', 'certificate']).default('token'),
});

const CLUSTERS = ['prod', 'staging', 'internal', 'platform', 'data', 'edge'];
const OWNERS = ['deployer', 'gitlab-runner', 'argocd-manager', 'backup', 'ci', 'monitoring', 'release'];
const NAMESPACES = ['ci', 'default', 'deploy', 'ops', 'tools'];
const GROUPS = ['developers', 'platform', 'sre', 'release-managers'];

/** File in which a Kubernetes client finds its cluster and its identity. */
export const kubeconfig: TrapType = {
  type: 'kubeconfig',
  decoy: 'kubernetes',
  needsDecoy: true,
  async make(input) {
    const { auth } = readOptions(optionsSchema, input);
    const place = input.decoy;
    if (place?.issueClient === undefined) throw new Error('a kubeconfig leads to no decoy');
    const name = `${pickOne(OWNERS)}-${pickOne(CLUSTERS)}`;
    if (auth === 'token') return tokenTrap(place, name);
    const group = pickOne(GROUPS);
    const { certificate, key } = await place.issueClient(name, [group]);
    const data = { 'client-certificate-data': base64(certificate), 'client-key-data': base64(key) };
    return madeFrom(place, data, {
      credential: { user: name, groups: [group, 'system:authenticated'], certificate, key },
      marks: [{ kind: 'client_certificate', value: new X509Certificate(certificate).fingerprint256 }],
      knownAs: `${name}, ${group}`,
    });
  },
};

function tokenTrap(place: DecoyPlace, name: string): MadeTrap {
  const namespace = pickOne(NAMESPACES);
  const token = serviceAccountToken(namespace, name);
  const user = `system:serviceaccount:${namespace}:${name}`;
  const groups = ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'];
  return madeFrom(
    place,
    { token },
    {
      credential: { user, groups, token },
      marks: [{ kind: 'bearer', value: token }],
      knownAs: `${namespace}/${name}, ${token.slice(-6)}`,
    },
  );
}

/**
 * Returns a token as in a secret of the type kubernetes.io/service-account-token. Only the cluster could check its
 * signature.
 */
function serviceAccountToken(namespace: string, name: string): string {
  const of = 'kubernetes.io/serviceaccount';
  const header = { alg: 'RS256', kid: randomBytes(32).toString('base64url') };
  const claims = {
    iss: 'kubernetes/serviceaccount',
    [`${of}/namespace`]: namespace,
    [`${of}/secret.name`]: `${name}-token`,
    [`${of}/service-account.name`]: name,
    [`${of}/service-account.uid`]: randomUUID(),
    sub: `system:serviceaccount:${namespace}:${name}`,
  };
  const signature = randomBytes(256);
  // An RSA signature is a number below its modulus.
  signature[0] = (signature[0] ?? 0) & 0x7f;
  const parts = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'));
  return [...parts, signature.toString('base64url')].join('.');
}

const INSTRUCTIONS =
  'Put the file into the home folder of a user or a deployment job, or store it with the secrets of a pipeline. To make it look used, run `kubectl config get-contexts` with it once; this sends no requests.';

/** @param user credentials of the owner in the file. */
function madeFrom(
  { host, port, authority }: DecoyPlace,
  user: Readonly<Record<string, string>>,
  made: Pick<MadeTrap, 'credential' | 'marks' | 'knownAs'>,
): MadeTrap {
  const cluster = pickOne(CLUSTERS);
  const owner = String(made.credential['user']).split(':').at(-1) ?? '';
  const context = `${owner}@${cluster}`;
  const server = `https://${host.includes(':') ? `[${host}]` : host}:${port}`;
  const lines = [
    'apiVersion: v1',
    'clusters:',
    '- cluster:',
    ...(authority === null ? [] : [`    certificate-authority-data: ${base64(authority)}`]),
    `    server: ${server}`,
    `  name: ${cluster}`,
    'contexts:',
    '- context:',
    `    cluster: ${cluster}`,
    `    user: ${owner}`,
    `  name: ${context}`,
    `current-context: ${context}`,
    'kind: Config',
    'preferences: {}',
    'users:',
    `- name: ${owner}`,
    '  user:',
    ...Object.entries(user).map(([name, value]) => `    ${name}: ${value}`),
  ];
  return {
    ...made,
    channels: ['kubernetes'],
    credential: { ...made.credential, server },
    artifact: {
      filename: '.kube/config',
      content: `${lines.join('\n')}\n`,
      instructions: INSTRUCTIONS,
    },
  };
}

const base64 = (text: string) => Buffer.from(text).toString('base64');

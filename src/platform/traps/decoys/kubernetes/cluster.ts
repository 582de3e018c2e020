import { randomBytes, randomInt, randomUUID, webcrypto } from 'node:crypto';
import {
  ALGORITHMS,
  type DecoyTls,
  generateKeys,
  loadIssuing,
  madeOnce,
  signingKeyOf,
  tlsOf,
  toIssued,
  toPemPair,
} from '../certificates.ts';
import type { DecoyPlace, DecoySettings } from '../decoy.ts';
import { pickOne } from '../names.ts';
import type { ClusterIds } from './answers.ts';

const DAY_MS = 24 * 60 * 60_000;

/** Identity of a cluster. */
export interface Cluster {
  /** Certificate, from the settings or issued by the cluster. */
  tls: DecoyTls;
  /** PEM of the authority that issues client certificates. */
  clientAuthority: string;
  ids: ClusterIds;
  issueClient: NonNullable<DecoyPlace['issueClient']>;
}

/** Opens the authority, certificate and ids of a cluster, as kubeadm creates them; they are created once. */
export async function openCluster(settings: DecoySettings, folder: string, now: () => Date): Promise<Cluster> {
  const own = await tlsOf({ ...settings, tls: null }, folder, { now: now(), draw: drawNames });
  const ids: ClusterIds = JSON.parse(
    await madeOnce(folder, 'cluster.json', async () =>
      JSON.stringify({ flowSchema: randomUUID(), priorityLevel: randomUUID() }),
    ),
  );
  const authority = await madeOnce(folder, 'authority.pem', async () => {
    throw new Error('the authority of the cluster is not there');
  });
  return {
    tls: settings.tls === null ? own : { ...settings.tls, authority: null },
    clientAuthority: own.authority ?? '',
    ids,
    issueClient: (user, groups) => issue(authority, { user, groups }, now()),
  };
}

/** https://kubernetes.io/docs/setup/best-practices/certificates/ */
function drawNames() {
  const node = `${pickOne(['cp', 'master', 'k8s-cp', 'control-plane'])}-${randomInt(1, 6)}`;
  const inside = ['kubernetes', 'kubernetes.default', 'kubernetes.default.svc', 'kubernetes.default.svc.cluster.local'];
  const address = `10.${randomInt(0, 90)}.${randomInt(0, 255)}.${randomInt(2, 250)}`;
  const hosts = [...inside, node, '10.96.0.1', address];
  return { subject: 'CN=kube-apiserver', issuer: 'CN=kubernetes', hosts, key: 'rsa' as const };
}

async function issue(authorityFile: string, { user, groups }: { user: string; groups: readonly string[] }, now: Date) {
  const x509 = await loadIssuing();
  const issuer = toIssued(authorityFile);
  const authority = new x509.X509Certificate(issuer.certificate);
  const signingKey = await signingKeyOf(issuer, 'rsa');
  const keys = await generateKeys('rsa');
  const since = now.getTime() - randomInt(5, 60) * DAY_MS - randomInt(DAY_MS);
  const notBefore = new Date(since - (since % 1000));
  const serial = randomBytes(8);
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40;
  const certificate = await x509.X509CertificateGenerator.create(
    {
      subject: [...groups.map((group) => ({ O: [group] })), { CN: [user] }],
      issuer: authority.subjectName,
      publicKey: keys.publicKey,
      signingKey,
      signingAlgorithm: ALGORITHMS.rsa,
      notBefore,
      notAfter: new Date(notBefore.getTime() + 365 * DAY_MS),
      serialNumber: serial.toString('hex'),
      extensions: [
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature | x509.KeyUsageFlags.keyEncipherment, true),
        new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.clientAuth]),
        new x509.BasicConstraintsExtension(false, undefined, true),
        await x509.AuthorityKeyIdentifierExtension.create(authority.publicKey, false, webcrypto),
      ],
    },
    webcrypto,
  );
  return toPemPair(certificate, keys);
}

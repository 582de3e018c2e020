import { randomBytes, randomUUID, webcrypto, X509Certificate } from 'node:crypto';
import { link, mkdir, readFile, unlink, writeFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';
import type { Extension } from '@peculiar/x509';
import type { DecoySettings } from './decoy.ts';
import { publicHostOf } from './place.ts';

/** Certificate that a decoy presents to TLS clients, in PEM. */
export interface DecoyTls {
  certificate: string;
  key: string;
  /** Authority that a client has to trust; null if clients already know the authority. */
  authority: string | null;
}

/** Names in a certificate, written as in RFC 4514. */
export interface CertificateNames {
  subject: string;
  /** Name of the issuing authority; null for a self-signed certificate. */
  issuer: string | null;
  /** Names and addresses that the certificate is valid for. */
  hosts: readonly string[];
  key: 'rsa' | 'ec';
}

/** Certificate and its key, both in PEM. */
interface Issued {
  certificate: string;
  key: string;
}

export const ALGORITHMS = {
  rsa: {
    name: 'RSASSA-PKCS1-v1_5',
    hash: 'SHA-256',
    modulusLength: 2048,
    publicExponent: new Uint8Array([1, 0, 1]),
  },
  ec: { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' },
};
const DAY_MS = 24 * 60 * 60_000;
/** Addresses for listening on all interfaces, which are not a name for a certificate. */
const EVERYWHERE = ['0.0.0.0', '::'];
const NAMES_FILE = 'names.json';
const AUTHORITY_FILE = 'authority.pem';
const CERTIFICATE_FILE = 'tls.pem';

/**
 * Returns the certificate of the settings, or the decoy's own, which is issued once. If the own certificate does not
 * cover the planted host, the same authority issues another one with the same names.
 * @param draw returns the initial names, which may be random.
 */
export async function tlsOf(
  settings: DecoySettings,
  folder: string,
  { now, draw }: { now: Date; draw: () => CertificateNames },
): Promise<DecoyTls> {
  if (settings.tls !== null) return { ...settings.tls, authority: null };
  const drawn: CertificateNames = JSON.parse(await madeOnce(folder, NAMES_FILE, async () => JSON.stringify(draw())));
  const planted = publicHostOf(settings);
  const hosts = drawn.hosts.includes(planted) || EVERYWHERE.includes(planted) ? drawn.hosts : [...drawn.hosts, planted];
  const names = { ...drawn, hosts };
  const issuer =
    names.issuer === null
      ? null
      : toIssued(await madeOnce(folder, AUTHORITY_FILE, async () => toText(await issueAuthority(names, now))));
  const make = async () => toText(await issue(names, issuer, now));
  let own = toIssued(await madeOnce(folder, CERTIFICATE_FILE, make));
  if (!isFor(own, hosts)) own = toIssued(await makeAnew(folder, CERTIFICATE_FILE, await make()));
  return { ...own, authority: issuer?.certificate ?? own.certificate };
}

/** Issues an authority like those inside companies. */
async function issueAuthority({ issuer, key }: CertificateNames, now: Date): Promise<Issued> {
  const x509 = await loadIssuing();
  const keys = await generateKeys(key);
  const extensions = [
    new x509.BasicConstraintsExtension(true, undefined, true),
    new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
    await x509.SubjectKeyIdentifierExtension.create(keys.publicKey, false, webcrypto),
  ];
  const terms = { name: issuer ?? '', keys, ...termsOf(key, now, 400) };
  return toPemPair(await x509.X509CertificateGenerator.createSelfSigned({ ...terms, extensions }, webcrypto), keys);
}

async function issue({ subject, hosts, key }: CertificateNames, issuer: Issued | null, now: Date): Promise<Issued> {
  const x509 = await loadIssuing();
  const keys = await generateKeys(key);
  const extensions: Extension[] = [
    new x509.BasicConstraintsExtension(false),
    new x509.SubjectAlternativeNameExtension(
      hosts.map((value) => ({ type: isIP(value) === 0 ? ('dns' as const) : ('ip' as const), value })),
    ),
    await x509.SubjectKeyIdentifierExtension.create(keys.publicKey, false, webcrypto),
  ];
  const terms = { ...termsOf(key, now, 90), extensions };
  if (issuer === null)
    return toPemPair(
      await x509.X509CertificateGenerator.createSelfSigned({ name: subject, keys, ...terms }, webcrypto),
      keys,
    );
  const authority = new x509.X509Certificate(issuer.certificate);
  const signingKey = await signingKeyOf(issuer, key);
  extensions.push(
    new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature | x509.KeyUsageFlags.keyEncipherment, true),
    new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
    await x509.AuthorityKeyIdentifierExtension.create(authority.publicKey, false, webcrypto),
  );
  const signed = { subject, issuer: authority.subjectName, publicKey: keys.publicKey, signingKey };
  return toPemPair(await x509.X509CertificateGenerator.create({ ...signed, ...terms }, webcrypto), keys);
}

/**
 * Returns validity and serial number. The validity starts before the decoy, because a new certificate would look
 * suspicious. @param days minimum age.
 */
function termsOf(key: CertificateNames['key'], now: Date, days: number) {
  const at = now.getTime() - days * DAY_MS - randomBytes(4).readUInt32BE() * 5;
  const notBefore = new Date(at - (at % 1000));
  const notAfter = new Date(notBefore.getTime() + 3650 * DAY_MS);
  // Serial number by RFC 5280 section 4.1.2.2: positive, at most 20 octets.
  const serial = randomBytes(20);
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40;
  return { notBefore, notAfter, serialNumber: serial.toString('hex'), signingAlgorithm: ALGORITHMS[key] };
}

export async function signingKeyOf({ key }: Issued, kind: CertificateNames['key']): Promise<webcrypto.CryptoKey> {
  const pkcs8 = (await loadIssuing()).PemConverter.decodeFirst(key);
  return webcrypto.subtle.importKey('pkcs8', pkcs8, ALGORITHMS[kind], false, ['sign']);
}

export async function generateKeys(key: CertificateNames['key']): Promise<webcrypto.CryptoKeyPair> {
  return (await webcrypto.subtle.generateKey(ALGORITHMS[key], true, ['sign', 'verify'])) as webcrypto.CryptoKeyPair;
}

export async function toPemPair(
  certificate: { toString(form: 'pem'): string },
  keys: webcrypto.CryptoKeyPair,
): Promise<Issued> {
  const { PemConverter } = await loadIssuing();
  const pkcs8 = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey));
  return {
    certificate: `${certificate.toString('pem')}\n`,
    key: `${PemConverter.encode(pkcs8, 'PRIVATE KEY')}\n`,
  };
}

const toText = ({ certificate, key }: Issued) => certificate + key;

export function toIssued(text: string): Issued {
  const at = text.indexOf('-----BEGIN PRIVATE KEY-----');
  return { certificate: text.slice(0, at), key: text.slice(at) };
}

function isFor({ certificate }: Issued, hosts: readonly string[]): boolean {
  const read = new X509Certificate(certificate);
  return hosts.every((host) => (isIP(host) === 0 ? read.checkHost(host) : read.checkIP(host)) !== undefined);
}

export async function loadIssuing(): Promise<typeof import('@peculiar/x509')> {
  // Loaded first, because the decorators of @peculiar/x509 need it.
  await import('reflect-metadata');
  return import('@peculiar/x509');
}

/**
 * Creates a file in a decoy's folder once, readable only by the platform. If two processes create the file at the same
 * time, both return the content of the first.
 */
export async function madeOnce(folder: string, name: string, make: () => Promise<string>): Promise<string> {
  const path = join(folder, name);
  return (await readIfThere(path)) ?? (await keep(folder, path, await make()));
}

/** Replaces a stored file. */
async function makeAnew(folder: string, name: string, text: string): Promise<string> {
  await unlink(join(folder, name)).catch(() => {});
  return keep(folder, join(folder, name), text);
}

/** Stores a file atomically, by linking a complete draft. */
async function keep(folder: string, path: string, text: string): Promise<string> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const draft = join(folder, `.${randomUUID()}`);
  await writeFile(draft, text, { flag: 'wx', mode: 0o600 });
  try {
    await link(draft, path);
    return text;
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
    return await readFile(path, 'utf8');
  } finally {
    await unlink(draft);
  }
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

import { EvidenceError, messageOf } from '../errors.ts';
import { keyWeakness } from './algorithms.ts';
import { type Certificate, isSelfSigned, KEY_USAGE, readCertificate } from './certificate.ts';

const BLOCK = /-----BEGIN ([A-Z0-9 ]+)-----([\s\S]*?)-----END \1-----/g;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const NEXT_STEP = 'Pin the root certificates of the time-stamping authorities that you trust, as PEM.';

/**
 * Reads the roots that a user pins: the certificates of a PEM text, in order, each once. Their validity is checked at
 * the time of a token. Only self-signed certificates are roots: `openssl ts -verify -CAfile` accepts no others either,
 * and an auditor must get the same answer.
 *
 * @param source name for errors, e.g. of the file.
 * @throws EvidenceError `config` if there is no certificate, something else, or a certificate that is no root.
 */
export function readRoots(pem: string, source: string): readonly Certificate[] {
  return readPem(pem, source, whyNoRoot);
}

/**
 * Reads certificates between authorities and roots, for tokens that do not carry all of them: `-untrusted` of `openssl
 * ts`. They lend no trust, so they are checked only as part of a path.
 *
 * @param source name for errors, e.g. of the file.
 * @throws EvidenceError `config` if there is no certificate, or something else.
 */
export function readIntermediates(pem: string, source: string): readonly Certificate[] {
  return readPem(pem, source, () => null);
}

function readPem(pem: string, source: string, objection: (certificate: Certificate) => string | null): Certificate[] {
  const found = new Map<string, Certificate>();
  let number = 0;
  for (const [, label = '', body = ''] of pem.matchAll(BLOCK)) {
    number++;
    const where = `${source}: block ${number}`;
    if (label !== 'CERTIFICATE') throw wrong(`${where} is a ${label}, not a CERTIFICATE`);
    const certificate = read(body.replace(/\s+/g, ''), where);
    const reason = objection(certificate);
    if (reason !== null) throw wrong(`${where} (${certificate.subject.text}) ${reason}`);
    found.set(certificate.x509.fingerprint256, certificate);
  }
  if (found.size === 0) throw wrong(`${source} contains no certificate in PEM`);
  const begun = pem.match(/-----BEGIN /g)?.length ?? 0;
  if (begun !== number) throw wrong(`${source} begins ${begun} blocks, of which ${number} are complete`);
  return [...found.values()];
}

function read(base64: string, where: string): Certificate {
  if (!BASE64.test(base64)) throw wrong(`${where} is not base64`);
  try {
    return readCertificate(Buffer.from(base64, 'base64'));
  } catch (error) {
    throw wrong(`${where} is no certificate: ${messageOf(error)}`, error);
  }
}

function whyNoRoot(certificate: Certificate): string | null {
  const { basicConstraints, keyUsage, key, notUnderstood } = certificate;
  if (key === null) return 'has a key that cannot be read';
  if (basicConstraints?.ca !== true) return 'is not the certificate of a CA: basicConstraints does not say so';
  if (keyUsage !== null && !keyUsage.includes(KEY_USAGE.keyCertSign)) return 'may not sign certificates (keyUsage)';
  if (!isSelfSigned(certificate)) return 'is not self-signed: pin the root above it';
  if (notUnderstood.length > 0) return `has extensions that are not understood: ${notUnderstood.join(', ')}`;
  const weakness = keyWeakness(key);
  return weakness === null ? null : `has ${weakness}, which is not accepted`;
}

function wrong(message: string, cause?: unknown): EvidenceError {
  return new EvidenceError('config', message, { nextStep: NEXT_STEP, cause });
}

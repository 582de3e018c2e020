import { isEvidenceError, messageOf } from '../errors.ts';
import { CLOCK_TOLERANCE, isLaterThan } from './age.ts';
import { algorithmName, digestOf } from './algorithms.ts';
import { type Certificate, KEY_USAGE } from './certificate.ts';
import { sameName } from './names.ts';
import { findPath, isValidAt, TIME_STAMPING, type TrustAnswer } from './path.ts';
import { checkNamedCertificate, checkNamedPath, checkTokenSignature, signerCertificate } from './signature.ts';
import { isGranted, type ResponseStatus, readResponse, type TimeStampResponse, type Token } from './token.ts';
import { leavesOpen, refutes, type TokenFinding, toTokenFinding } from './token-finding.ts';
import type { Accuracy, TstInfo } from './tst-info.ts';

export interface TokenQuestion {
  /** Hex of the digest that *we* computed and that the token must bind to a time. */
  digest: string;
  /** Trusted root certificates (`readRoots`). */
  roots: readonly Certificate[];
  /**
   * Certificates that complete paths if the token does not carry all of them; they lend no trust (`readIntermediates`).
   */
  intermediates?: readonly Certificate[];
  now: Date;
  /** Time by which the token existed, if before now: a later time in the token proves nothing. */
  notAfter?: Date;
  /** Nonce of our own request; absent if another party requested the token. */
  nonce?: bigint;
}

/** Statements of a token; trustworthy only if `valid`. */
export interface TokenFacts {
  genTime: Date;
  /** Time as signed, with every digit of the fraction. */
  genTimeText: string;
  accuracy: Accuracy | null;
  /** Object identifier. */
  policy: string;
  /** Hex. */
  serial: string;
  /** `sha256`, `sha384`, `sha512`, or the name of another algorithm. */
  hashAlgorithm: string;
  /** Hex. */
  imprint: string;
  /** Subject of the signer's certificate; null if the token does not carry it. */
  authority: string | null;
}

export interface TokenVerdict {
  /** True if the token proves that the digest existed at `genTime`; warnings do not change that. */
  valid: boolean;
  faults: readonly TokenFinding[];
  /** Null if the token could not be read or does not exist. */
  says: TokenFacts | null;
  /** Expiry of the first certificate to expire on the path to a root; null without a valid path. */
  until: Date | null;
}

export type VerifyToken = typeof verifyToken;

/**
 * Judges an RFC 3161 token, as TimeStampResp or bare, by every known rule, and reports all faults, not just the first.
 * Revocation is not checked: it needs the network, and what a CA says today about a key.
 *
 * @throws TypeError if `question.digest` is not hex.
 */
export function verifyToken(der: Uint8Array, question: TokenQuestion): TokenVerdict {
  if (!/^([0-9a-f]{2})+$/.test(question.digest)) throw new TypeError(`not a digest in hex: ${question.digest}`);
  const response = readOrFault(der);
  if ('code' in response) return { valid: false, faults: [response], says: null, until: null };
  const { status, token } = response;
  const faults = status === null ? [] : checkStatus(status);
  if (token === null) return { valid: false, faults, says: null, until: null };
  const certificates = [...token.certificates, ...(question.intermediates ?? [])];
  const certificate = signerCertificate(token.signer, certificates);
  faults.push(
    ...checkImprint(token.info, question.digest),
    ...checkNonce(token.info, question.nonce),
    ...checkTime(token.info, question),
  );
  const says = factsOf(token.info, certificate);
  if (certificate === undefined) {
    faults.push(
      toTokenFinding('anchor/unknown-issuer', 'the certificate of the signer is neither in the token nor given'),
    );
    return { valid: false, faults, says, until: null };
  }
  const answer = findPath({ signer: certificate, others: certificates, roots: question.roots, at: token.info.genTime });
  faults.push(...checkAuthority(token, certificate, answer, question.now));
  const until = answer.problems.length > 0 ? null : (firstEnding(answer.path ?? [])?.x509.validToDate ?? null);
  return { valid: !faults.some((fault) => refutes(fault) || leavesOpen(fault)), faults, says, until };
}

/** Checks the rules that depend on the signer. */
function checkAuthority(
  token: Token,
  certificate: Certificate,
  { path, problems }: TrustAnswer,
  now: Date,
): TokenFinding[] {
  return [
    ...checkTokenSignature(token, certificate),
    ...checkNamedCertificate(token, certificate),
    // A signer that is no authority is not the named one either: one finding is enough.
    ...(isForTimeStamping(certificate) ? checkName(token.info, certificate) : []),
    ...checkPurpose(certificate),
    // A root that is not pinned says nothing against a token; an invalid path to a pinned root does.
    ...problems.map((problem) => toTokenFinding(path === null ? 'anchor/unknown-issuer' : 'anchor/untrusted', problem)),
    ...(path === null ? checkValidity(token.info, certificate) : checkNamedPath(token, path)),
    ...(path === null || problems.length > 0 ? [] : checkExpiry(path, now)),
  ];
}

function readOrFault(der: Uint8Array): TimeStampResponse | TokenFinding {
  try {
    return readResponse(der);
  } catch (error) {
    if (!isEvidenceError(error, 'unreadable')) throw error;
    return toTokenFinding('anchor/malformed', `this is no RFC 3161 token: ${messageOf(error)}`);
  }
}

function checkStatus(status: ResponseStatus): TokenFinding[] {
  if (isGranted(status)) return [];
  const failures = status.failures.length === 0 ? '' : `, failure bits ${status.failures.join(', ')}`;
  const text = status.text === '' ? '' : `: ${status.text}`;
  const message = `the authority did not grant a token (status ${status.status}${failures})${text}`;
  return [toTokenFinding('anchor/not-granted', message, { expected: '0 or 1', actual: String(status.status) })];
}

function checkImprint({ imprint }: TstInfo, actual: string): TokenFinding[] {
  const faults: TokenFinding[] = [];
  const expected = Buffer.from(imprint.digest).toString('hex');
  if (digestOf(imprint.algorithm) === undefined) {
    const message = `the token is over a ${algorithmName(imprint.algorithm)} digest, which is not accepted`;
    faults.push(toTokenFinding('anchor/imprint-mismatch', message));
  }
  if (actual !== expected)
    faults.push(toTokenFinding('anchor/imprint-mismatch', 'the token is over another digest', { expected, actual }));
  return faults;
}

function checkTime(info: TstInfo, { now, notAfter = now }: TokenQuestion): TokenFinding[] {
  const latest = notAfter < now ? notAfter : now;
  if (!isLaterThan(info, latest, CLOCK_TOLERANCE.exporter)) return [];
  const [actual, expected] = [info.genTime.toISOString(), `${latest.toISOString()} at the latest`];
  return [toTokenFinding('anchor/future', `the token is of ${actual}, which had not come yet`, { expected, actual })];
}

function checkNonce({ nonce }: TstInfo, expected: bigint | undefined): TokenFinding[] {
  if (expected === undefined || nonce === expected) return [];
  const actual = nonce === null ? 'none' : nonce.toString(16);
  const message = 'the token answers another request: its nonce is not ours';
  return [toTokenFinding('anchor/nonce-mismatch', message, { expected: expected.toString(16), actual })];
}

/**
 * Checks the purposes: extKeyUsage is critical and timeStamping alone (RFC 3161 section 2.3), and keyUsage fits it (RFC
 * 5280).
 */
function checkPurpose(certificate: Certificate): TokenFinding[] {
  const { subject, extendedKeyUsage, keyUsage } = certificate;
  const faults: TokenFinding[] = [];
  const wrong = (message: string) =>
    faults.push(toTokenFinding('anchor/not-timestamping', `the certificate of ${subject.text} ${message}`));
  if (!isForTimeStamping(certificate)) wrong('is not for time stamping (extKeyUsage)');
  else {
    if (extendedKeyUsage?.purposes.length !== 1) wrong('is not for time stamping alone (extKeyUsage)');
    if (extendedKeyUsage?.critical !== true) wrong('does not mark its extKeyUsage as critical');
  }
  const fitting: readonly number[] = [KEY_USAGE.digitalSignature, KEY_USAGE.nonRepudiation];
  if (keyUsage !== null && (keyUsage.length === 0 || keyUsage.some((use) => !fitting.includes(use))))
    wrong('has a keyUsage other than digitalSignature and nonRepudiation');
  return faults;
}

function isForTimeStamping({ extendedKeyUsage }: Certificate): boolean {
  return extendedKeyUsage?.purposes.includes(TIME_STAMPING) === true;
}

/** Checks `tsa`: if present, it is one of the names of the signer's certificate (RFC 3161 section 2.4.2). */
function checkName({ tsa }: TstInfo, { subject, alternativeNames }: Certificate): TokenFinding[] {
  if (tsa === null) return [];
  if (tsa.directory !== null && sameName(tsa.directory, subject)) return [];
  if (alternativeNames.some(({ encoded }) => Buffer.compare(encoded, tsa.encoded) === 0)) return [];
  const message = 'the token names another authority than the certificate that signed it';
  return [toTokenFinding('anchor/untrusted', message, { expected: tsa.text, actual: subject.text })];
}

/** Checks a certificate without a path to a pinned root: no root can prove a token signed outside its validity period. */
function checkValidity({ genTime }: TstInfo, { subject, x509 }: Certificate): TokenFinding[] {
  if (isValidAt(x509, genTime)) return [];
  const message = `the certificate of ${subject.text} was not valid at the time of the token`;
  // Not of their dates, which may be none.
  const expected = `${x509.validFrom} to ${x509.validTo}`;
  return [toTokenFinding('anchor/untrusted', message, { expected, actual: genTime.toISOString() })];
}

function firstEnding(path: readonly Certificate[]): Certificate | undefined {
  return path.toSorted((a, b) => a.x509.validToDate.getTime() - b.x509.validToDate.getTime())[0];
}

function checkExpiry(path: readonly Certificate[], now: Date): TokenFinding[] {
  const first = firstEnding(path);
  if (first === undefined || now <= first.x509.validToDate) return [];
  const message = `the certificate of ${first.subject.text} was valid at the time of the token and has expired since`;
  return [toTokenFinding('anchor/certificate-expired', message, { actual: first.x509.validToDate.toISOString() })];
}

function factsOf(info: TstInfo, certificate: Certificate | undefined): TokenFacts {
  return {
    genTime: info.genTime,
    genTimeText: info.genTimeText,
    accuracy: info.accuracy,
    policy: info.policy,
    serial: info.serial.toString(16),
    hashAlgorithm: algorithmName(info.imprint.algorithm),
    imprint: Buffer.from(info.imprint.digest).toString('hex'),
    authority: certificate?.subject.text ?? null,
  };
}

import { algorithmName, keyWeakness, signatureOf } from './algorithms.ts';
import { type Certificate, isCertifiedBy, isSelfSigned, KEY_USAGE } from './certificate.ts';
import { sameName } from './names.ts';

export const TIME_STAMPING = '1.3.6.1.5.5.7.3.8';
const ANY_PURPOSE = '2.5.29.37.0';

/**
 * Maximum number of links tried: a crafted set of certificates has exponentially many paths, a real path takes a few
 * steps.
 */
const MAX_LINKS_TRIED = 100;
const MAX_CERTIFICATES = 8;

interface TrustQuestion {
  signer: Certificate;
  /** Certificates that a path may pass through. Self-signed ones prove nothing and are skipped. */
  others: readonly Certificate[];
  roots: readonly Certificate[];
  /** Time at which every certificate of the path must be valid, whether or not it is valid now. */
  at: Date;
}

export interface TrustAnswer {
  /** Path from the signer to a pinned root; null if there is none. */
  path: readonly Certificate[] | null;
  /** Reasons why the path is not valid (RFC 5280 section 6); empty for a valid path. */
  problems: readonly string[];
}

/** Returns the first valid path to a pinned root or, without one, the path with the fewest problems. */
export function findPath({ signer, others, roots, at }: TrustQuestion): TrustAnswer {
  const search = { between: others.filter((other) => !isSelfSigned(other)), roots, left: MAX_LINKS_TRIED };
  let best: TrustAnswer | null = null;
  for (const path of pathsFrom([signer], search)) {
    const problems = problemsOf(path, at);
    if (best === null || problems.length < best.problems.length) best = { path, problems };
    if (problems.length === 0) break;
  }
  return best ?? { path: null, problems: [whyNone(signer, roots)] };
}

interface Search {
  between: readonly Certificate[];
  roots: readonly Certificate[];
  /** Number of links that may still be tried. */
  left: number;
}

function* pathsFrom(path: readonly Certificate[], search: Search): Generator<readonly Certificate[]> {
  const last = path.at(-1);
  if (last === undefined || path.length === MAX_CERTIFICATES) return;
  for (const root of search.roots) if (isLink(last, root, search)) yield [...path, root];
  for (const next of search.between)
    if (!path.includes(next) && isLink(last, next, search)) yield* pathsFrom([...path, next], search);
}

function isLink(child: Certificate, issuer: Certificate, search: Search): boolean {
  if (!sameName(child.issuer, issuer.subject) || search.left === 0) return false;
  search.left--;
  return isCertifiedBy(child, issuer);
}

function whyNone(signer: Certificate, roots: readonly Certificate[]): string {
  if (roots.length === 0) return 'no root is pinned';
  return `no path leads from the certificate of ${signer.subject.text} to a pinned root`;
}

/** Checks a path (RFC 5280 section 6.1) without policies: a pinned root is trusted for time-stamps of any policy. */
function problemsOf(path: readonly Certificate[], at: Date): string[] {
  return path.flatMap((certificate, index) => {
    const issuer = path[index + 1];
    return [
      ...ownProblems(certificate, at),
      ...(index === 0 ? [] : issuerProblems(certificate, intermediatesBelow(path, index))),
      ...(issuer === undefined ? [] : linkProblems(certificate, issuer)),
      ...(index === 0 || issuer === undefined ? [] : purposeProblems(certificate)),
    ];
  });
}

/**
 * Reports whether a certificate is valid at a time; false if its dates cannot be read. RFC 5280 section 4.1.2.5 includes
 * the last second; OpenSSL does not, and an auditor must get the same answer.
 */
export function isValidAt({ validFromDate, validToDate }: Certificate['x509'], at: Date): boolean {
  return at >= validFromDate && at < validToDate;
}

function ownProblems({ x509, subject, key, notUnderstood }: Certificate, at: Date): string[] {
  const problems: string[] = [];
  if (!isValidAt(x509, at))
    problems.push(
      `the certificate of ${subject.text} is valid from ${x509.validFrom} to ${x509.validTo}, not at ${at.toISOString()}`,
    );
  const weakness = key === null ? 'a key that cannot be read' : keyWeakness(key);
  if (weakness !== null) problems.push(`the certificate of ${subject.text} has ${weakness}, which is not accepted`);
  if (notUnderstood.length > 0)
    problems.push(
      `the certificate of ${subject.text} has extensions that are not understood: ${notUnderstood.join(', ')}`,
    );
  return problems;
}

/**
 * Counts the certificates that a path length limits: not self-issued ones (RFC 5280 section 4.2.1.9), nor the signer's.
 */
function intermediatesBelow(path: readonly Certificate[], index: number): number {
  return path.slice(1, index).filter(({ subject, issuer }) => !sameName(subject, issuer)).length;
}

function issuerProblems({ subject, basicConstraints, keyUsage }: Certificate, below: number): string[] {
  const problems: string[] = [];
  if (basicConstraints?.ca !== true)
    problems.push(`the certificate of ${subject.text} is not that of a CA (basicConstraints)`);
  if (keyUsage !== null && !keyUsage.includes(KEY_USAGE.keyCertSign))
    problems.push(`the certificate of ${subject.text} may not sign certificates (keyUsage)`);
  const most = basicConstraints?.pathLength ?? null;
  if (most !== null && below > most)
    problems.push(`the certificate of ${subject.text} allows ${most} intermediate certificates below it, not ${below}`);
  return problems;
}

function linkProblems(child: Certificate, issuer: Certificate): string[] {
  const problems: string[] = [];
  const { signatureAlgorithmOid } = child.x509;
  if (signatureOf(signatureAlgorithmOid)?.digest === undefined) {
    const algorithm = algorithmName(signatureAlgorithmOid);
    problems.push(`the certificate of ${child.subject.text} is signed with ${algorithm}, which is not accepted`);
  }
  // OpenSSL also compares the key identifiers. It checks the key usage as well, which `issuerProblems` reports.
  const maySign = issuer.keyUsage === null || issuer.keyUsage.includes(KEY_USAGE.keyCertSign);
  if (maySign && !child.x509.checkIssued(issuer.x509))
    problems.push(`the certificate of ${child.subject.text} names another key of its issuer (authorityKeyIdentifier)`);
  return problems;
}

/**
 * Checks the purposes of an intermediate: it may issue only for those that it states, as browsers and the CA/Browser
 * Forum require.
 */
function purposeProblems({ subject, extendedKeyUsage }: Certificate): string[] {
  const purposes = extendedKeyUsage?.purposes ?? [ANY_PURPOSE];
  if (purposes.includes(TIME_STAMPING) || purposes.includes(ANY_PURPOSE)) return [];
  return [`the certificate of ${subject.text} may not issue for time stamping (extKeyUsage)`];
}

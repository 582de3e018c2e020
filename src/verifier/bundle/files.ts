import { sha256 } from '../../core/digest.ts';
import { agentSlugOf, isSupplementFile, SUPPLEMENT_FOLDERS } from '../supplements/files.ts';
import type { BundleFinding } from './bundle-finding.ts';
import { BAG_DECLARATION, BAG_INFO, BINDING, MANIFEST, missingFileName, TAG_MANIFEST } from './layout.ts';

/** Content of a bag: one stream, or the evidence of other services. */
export type BundleHolds = 'stream' | 'supplements';

/** Forms of a package. */
export const FORMS = ['json', 'pdf', 'summary'] as const;
export type FormName = (typeof FORMS)[number];

export const README = 'README.txt';
export const VERIFICATION = 'data/verification.json';
export const TRANSFER_LOG = 'data/transfer-log.json';
/** Statements of the service about the stream apart from its package; see `serviceSchema`. */
export const SERVICE = 'data/service.json';
/** Service's own listing of the entries, if it was asked for one; see `claims/listing-text.ts`. */
export const LISTING = 'data/listing.csv';
/** Whole JSON form. */
export const EVIDENCE = 'data/evidence.json';
/** Contract by which the forms were read, unless it is the default one. */
export const CONTRACT_FILE = 'data/contract.yaml';

/** Files of every bundle of a stream. */
const ALWAYS: readonly string[] = [
  BAG_DECLARATION,
  BAG_INFO,
  MANIFEST,
  TAG_MANIFEST,
  README,
  VERIFICATION,
  TRANSFER_LOG,
  SERVICE,
];

/** Tag files of a bag, whatever it holds. */
const TAG_FILES: ReadonlySet<string> = new Set([BAG_DECLARATION, BAG_INFO, MANIFEST, TAG_MANIFEST, README, BINDING]);

const ALLOWED: ReadonlySet<string> = new Set([
  ...ALWAYS,
  BINDING,
  LISTING,
  CONTRACT_FILE,
  ...FORMS.map(missingFileName),
]);

const CHECKPOINT = /^data\/checkpoints\/(0|[1-9][0-9]{0,15})(\.([2-9]|[1-9][0-9]{1,4}))?\.tsr$/;

/** Names of a whole form or, with `.part`, of as much of it as arrived. */
const FORM_FILES: Record<FormName, RegExp> = {
  json: /^data\/evidence\.json(\.part)?$/,
  pdf: /^data\/evidence\.pdf(\.part)?$/,
  summary: /^data\/summary\.(json|html|txt|md|pdf|bin)(\.part)?$/,
};

/** Folders that a zip may list as members. */
const FOLDERS: ReadonlySet<string> = new Set(['', 'data/', 'data/checkpoints/']);

/** Returns the single file of a form; undefined if there is none, or several, so that none of them is certain. */
export function formFile(form: FormName, paths: readonly string[]): string | undefined {
  const [first, ...others] = paths.filter((path) => FORM_FILES[form].test(path));
  return others.length === 0 ? first : undefined;
}

/** Returns the file name of a form by the content type with which it was delivered. */
export function formFileName(form: FormName, contentType: string): string {
  if (form === 'json') return EVIDENCE;
  if (form === 'pdf') return 'data/evidence.pdf';
  const type = contentType.split(';')[0]?.trim().toLowerCase() ?? '';
  const endings: Record<string, string> = {
    'application/json': 'json',
    'text/html': 'html',
    'text/plain': 'txt',
    'text/markdown': 'md',
    'application/pdf': 'pdf',
  };
  return `data/summary.${endings[type] ?? (type.endsWith('+json') ? 'json' : 'bin')}`;
}

/** Reports whether a file holds only the part of a form that arrived. */
export function isPart(path: string): boolean {
  return path.endsWith('.part');
}

export function isToken(path: string): boolean {
  return CHECKPOINT.test(path);
}

/** Returns the forms that the bundle says it lacks. */
export function missingForms(paths: readonly string[]): FormName[] {
  return FORMS.filter((form) => paths.includes(missingFileName(form)));
}

/**
 * Finds files outside the closed set of names, and second files of a kind: with two, two programs may each rightly read
 * a different one.
 * @param paths all files and, with a trailing slash, folders, in the bundle's folder.
 */
export function findInFiles(paths: readonly string[], holds: BundleHolds = 'stream'): BundleFinding[] {
  const unexpected = paths
    .filter((path) => !(holds === 'stream' ? isExpected(path) : isOfSupplements(path)))
    .map((path) => finding('bundle/unexpected-file', path, `${JSON.stringify(path)} ${whyUnexpected(path)}`));
  return holds === 'stream' ? [...unexpected, ...FORMS.flatMap((form) => findInForm(form, paths))] : unexpected;
}

function isExpected(path: string): boolean {
  if (path === '' || path.endsWith('/')) return FOLDERS.has(path);
  return ALLOWED.has(path) || isToken(path) || FORMS.some((form) => FORM_FILES[form].test(path));
}

function isOfSupplements(path: string): boolean {
  if (path === '' || path.endsWith('/'))
    return SUPPLEMENT_FOLDERS.has(path) || agentSlugOf(`${path}0001.json`) !== null;
  return TAG_FILES.has(path) || isSupplementFile(path);
}

function whyUnexpected(path: string): string {
  if (path === 'fetch.txt') return 'names files that lie elsewhere, and a bundle has all of its files';
  if (/^(tag)?manifest-/i.test(path)) return 'is a manifest besides the SHA-256 ones, which are the only ones';
  return 'is no file of a bundle';
}

function findInForm(form: FormName, paths: readonly string[]): BundleFinding[] {
  const [first, ...others] = paths.filter((path) => FORM_FILES[form].test(path));
  const missing = missingFileName(form);
  const ambiguous = others.map((path) =>
    finding('bundle/ambiguous', path, `${path} and ${first} are both the ${form} form, and only one of them was read`),
  );
  if (first === undefined) return ambiguous;
  if (isPart(first) === paths.includes(missing)) return ambiguous;
  const message = isPart(first)
    ? `${first} is a part of the ${form} form, and there is no ${missing} that says why`
    : `${missing} says that the ${form} form is missing, and ${first} is there`;
  return [...ambiguous, finding('bundle/contradiction', first, message)];
}

function finding(code: BundleFinding['code'], path: string, message: string): BundleFinding {
  return { code, path, message };
}

/** RFC 3161 token as a file next to the package that holds it. */
interface TokenFile {
  path: string;
  content: Uint8Array;
  /** Hex. */
  sha256: string;
}

/**
 * Returns the tokens of a package as files that `openssl` can check: `<sequence>.tsr` and, for further different tokens
 * of an entry, `<sequence>.2.tsr` and so on, in the order of the package.
 */
export function tokenFiles(checkpoints: readonly { sequence: number; token: Uint8Array | null }[]): TokenFile[] {
  const bySequence = new Map<number, Map<string, TokenFile>>();
  for (const { sequence, token: content } of checkpoints) {
    if (content === null) continue;
    const tokens = bySequence.get(sequence) ?? new Map<string, TokenFile>();
    bySequence.set(sequence, tokens);
    const digest = sha256(content);
    if (tokens.has(digest)) continue;
    const number = tokens.size === 0 ? '' : `.${tokens.size + 1}`;
    tokens.set(digest, { path: `data/checkpoints/${sequence}${number}.tsr`, content, sha256: digest });
  }
  return [...bySequence.values()].flatMap((tokens) => [...tokens.values()]);
}

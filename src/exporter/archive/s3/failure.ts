import { EvidenceError } from '../../../core/errors.ts';
import { cutText } from '../../../core/foreign-text.ts';

/** The answer of a store that did not do what was asked, without anything that came along with it. */
class StoreRefusal extends Error {
  /** HTTP. */
  readonly status: number;

  constructor(name: string, status: number, message: string) {
    super(message);
    this.name = name;
    this.status = status;
  }
}

/** The parts of whatever the SDK throws that say something. */
interface Thrown {
  name: string;
  message: string;
  code: string;
  /** Undefined when there was no answer, or none that could be read. */
  status: number | undefined;
  answered: boolean;
  retryAfterMs: number;
}

const MAX_MESSAGE = 300;

/** 400 is no answer to a request that is wrong here: the body did not arrive as it was sent, or too slowly. */
const DAMAGED = /^(BadDigest|XAmzContentSHA256Mismatch|XAmzContentChecksumMismatch|IncompleteBody|RequestTimeout)$/;
/** The certificate will be as wrong the next time. */
const CERTIFICATE = /CERT|SELF_SIGNED|SIGNATURE|ERR_TLS|ISSUER|EPROTO/;
const NO_CREDENTIALS = /^(CredentialsProviderError|TokenProviderError|ProviderError|SSOTokenProviderFailure)$/;
const REFUSED_WITH_400 = /^(ExpiredToken|InvalidToken|TokenRefreshRequired|ExpiredTokenException)$/;

/** Reports whether another attempt may have another end. */
export function isTransient(error: unknown): boolean {
  const { name, code, status } = readThrown(error);
  if (name === 'TimeoutError' || name === 'AbortError') return true;
  // By the first answer the SDK learns the store's clock, and signs the next request by it.
  if (name === 'RequestTimeTooSkewed') return true;
  // The process that stored the object first has removed the uploads of all others.
  if (name === 'NoSuchUpload') return true;
  if (status !== undefined && status >= 300)
    return (
      (status >= 500 && status !== 501) || status === 408 || status === 409 || status === 429 || DAMAGED.test(name)
    );
  if (code !== '') return !CERTIFICATE.test(code);
  return isUnreadableAnswer(error);
}

/** Returns the time that the store asks us to wait, in milliseconds; 0 when it does not say. */
export function askedToWait(error: unknown): number {
  return readThrown(error).retryAfterMs;
}

/** Reports whether a store answered so, by status or name. */
export function isRefusal(error: unknown, ...statusesOrNames: (number | string)[]): boolean {
  if (typeof error !== 'object' || error === null) return false;
  const { name, status } = readThrown(error);
  return statusesOrNames.some((wanted) => wanted === status || wanted === name);
}

/**
 * An SDK's failure as an error of ours. The SDK's own is not kept as the cause: it holds the answer with whatever a
 * store put into it, our access key's id among it.
 *
 * @param secrets what must not be repeated, should the store repeat it.
 */
export function toStoreError(error: unknown, doing: string, secrets: readonly string[]): unknown {
  const thrown = readThrown(error);
  const { name, code, status } = thrown;
  const said = clean(thrown.message, secrets);
  if (NO_CREDENTIALS.test(name))
    return new EvidenceError('config', `could not ${doing}: there are no credentials for the store: ${said}`, {
      nextStep:
        profileStep() ??
        'Set AWS_PROFILE, AWS_ACCESS_KEY_ID with AWS_SECRET_ACCESS_KEY, or run where the machine has a role; `aws sso login` renews a session.',
    });
  if (/^Region is missing/.test(said))
    return new EvidenceError('config', `could not ${doing}: the region of the bucket is not known`, {
      nextStep: 'Set archive.region, or AWS_REGION.',
    });
  if (status !== undefined && status >= 300) return refused(doing, new StoreRefusal(name, status, said));
  if (name === 'TimeoutError' || name === 'AbortError') return unanswered(doing, 'it did not answer in time');
  if (code !== '') {
    if (code === 'EPROTO' && /wrong version number/i.test(thrown.message))
      return new EvidenceError('config', `could not ${doing}: the store does not speak TLS`, {
        nextStep: 'If it is right that it is not encrypted, write archive.endpoint with http://.',
      });
    if (!CERTIFICATE.test(code)) return unanswered(doing, `${said || code}`);
    return new EvidenceError('archive', `could not ${doing}: the store's certificate is not trusted: ${said || code}`, {
      nextStep: 'Name the authority of the store in archive.ca_file.',
    });
  }
  if (isUnreadableAnswer(error)) return unanswered(doing, 'the answer of the store could not be understood');
  return error;
}

/** A profile that is named is looked for in the files of AWS, and nothing says when it is not there. */
function profileStep(): string | null {
  const profile = process.env['AWS_PROFILE'];
  if (profile === undefined || profile === '') return null;
  return `AWS_PROFILE names the profile "${profile}": see whether ~/.aws/config or ~/.aws/credentials has it, with credentials that hold, or unset AWS_PROFILE.`;
}

function unanswered(doing: string, why: string): EvidenceError {
  return new EvidenceError('archive', `could not ${doing}: ${why}`, {
    nextStep: 'Check the store and the way to it, then run the same command again: what is archived stays.',
  });
}

/** In the order in which they are tried. */
const NEXT_STEPS: [when: RegExp | number, code: 'config' | 'not-found' | 'store-refused', nextStep: string][] = [
  [/^NoSuchBucket$/, 'not-found', 'Check archive.url, archive.region and archive.endpoint; a bucket is never made.'],
  [
    /^(PermanentRedirect|AuthorizationHeaderMalformed|IllegalLocationConstraintException)$/,
    'config',
    'Set archive.region to the region of the bucket.',
  ],
  [/^KMS\./, 'config', 'Check archive.kms_key_id, and that this identity may use the key.'],
  [/^RequestTimeTooSkewed$/, 'store-refused', "Set this machine's clock."],
  [
    REFUSED_WITH_400,
    'store-refused',
    'Renew the credentials (`aws sso login`, or a new session token), then run the same command again.',
  ],
  [401, 'store-refused', 'Check the credentials of the store, then run the same command again.'],
  [403, 'store-refused', 'Check the credentials, and that this identity may do so, then run the same command again.'],
];

function refused(doing: string, refusal: StoreRefusal): EvidenceError {
  const { name, status, message } = refusal;
  const said = message === '' || message === name ? '' : `: ${message}`;
  const text = `could not ${doing}: the store answered ${status} (${name})${said}`;
  if (status === 400 && name === 'InvalidRequest' && /lock/i.test(`${message}${doing}`))
    return new EvidenceError('config', text, {
      nextStep: 'Use a bucket that was made with Object Lock, or leave out archive.retention and archive.legal_hold.',
      cause: refusal,
    });
  const [, code, nextStep] = NEXT_STEPS.find(([when]) =>
    typeof when === 'number' ? when === status : when.test(name),
  ) ?? [0, 'archive' as const, 'Check the store, then run the same command again: what is archived stays.'];
  return new EvidenceError(code, text, { nextStep, cause: refusal });
}

function readThrown(error: unknown): Thrown {
  if (error instanceof StoreRefusal)
    return {
      name: error.name,
      message: error.message,
      code: '',
      status: error.status,
      answered: true,
      retryAfterMs: 0,
    };
  const {
    name = 'Error',
    message = '',
    code,
    $metadata,
    $response,
  } = error as {
    name?: string;
    message?: string;
    code?: unknown;
    $metadata?: { httpStatusCode?: number };
    $response?: { headers?: Record<string, string> };
  };
  const seconds = Number($response?.headers?.['retry-after']);
  return {
    name,
    message: message === 'UnknownError' ? '' : message,
    code: typeof code === 'string' ? code : '',
    status: $metadata?.httpStatusCode,
    answered: $response !== undefined || $metadata?.httpStatusCode !== undefined,
    retryAfterMs: Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : 0,
  };
}

/** An answer with a good status whose text is not what it should be. */
function isUnreadableAnswer(error: unknown): boolean {
  return readThrown(error).answered;
}

/** Returns a store's message, fit for a terminal and a log. */
function clean(message: string, secrets: readonly string[]): string {
  let text = message.replace(/[\p{Cc}\p{Cf}]+/gu, ' ').trim();
  for (const secret of secrets) text = text.replaceAll(secret, '***');
  return cutText(text, MAX_MESSAGE);
}

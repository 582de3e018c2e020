import { EvidenceError, type NextStep } from '../../../core/errors.ts';
import { cutText } from '../../../core/foreign-text.ts';

/** Refusal of a store, reduced to name, status and message. */
class StoreRefusal extends Error {
  /** HTTP status. */
  readonly status: number;

  constructor(name: string, status: number, message: string) {
    super(message);
    this.name = name;
    this.status = status;
  }
}

/** Relevant fields of an error that the SDK throws. */
interface Thrown {
  name: string;
  message: string;
  code: string;
  /** HTTP status; undefined if there was no answer, or an unreadable one. */
  status: number | undefined;
  answered: boolean;
  retryAfterMs: number;
}

const MAX_MESSAGE = 300;

/** Errors with status 400 that do not mean a wrong request: the body arrived damaged or too slowly. */
const DAMAGED = /^(BadDigest|XAmzContentSHA256Mismatch|XAmzContentChecksumMismatch|IncompleteBody|RequestTimeout)$/;
/** Certificate errors, which a retry does not fix. */
const CERTIFICATE = /CERT|SELF_SIGNED|SIGNATURE|ERR_TLS|ISSUER|EPROTO/;
const NO_CREDENTIALS = /^(CredentialsProviderError|TokenProviderError|ProviderError|SSOTokenProviderFailure)$/;
const REFUSED_WITH_400 = /^(ExpiredToken|InvalidToken|TokenRefreshRequired|ExpiredTokenException)$/;

/** Reports whether another attempt may succeed. */
export function isTransient(error: unknown): boolean {
  const { name, code, status } = readThrown(error);
  if (name === 'TimeoutError' || name === 'AbortError') return true;
  // The SDK learns the store's clock from the first answer, and signs the next request by it.
  if (name === 'RequestTimeTooSkewed') return true;
  // The process that stored the object first has removed all other uploads.
  if (name === 'NoSuchUpload') return true;
  if (status !== undefined && status >= 300)
    return (
      (status >= 500 && status !== 501) || status === 408 || status === 409 || status === 429 || DAMAGED.test(name)
    );
  if (code !== '') return !CERTIFICATE.test(code);
  return isUnreadableAnswer(error);
}

/** Returns the time that the store asks to wait, in milliseconds; 0 if it does not state one. */
export function askedToWait(error: unknown): number {
  return readThrown(error).retryAfterMs;
}

/** Reports whether a store refused with one of these statuses or names. */
export function isRefusal(error: unknown, ...statusesOrNames: (number | string)[]): boolean {
  if (typeof error !== 'object' || error === null) return false;
  const { name, status } = readThrown(error);
  return statusesOrNames.some((wanted) => wanted === status || wanted === name);
}

/**
 * Converts an SDK failure to an EvidenceError. The original is not kept as the cause, because it contains the store's
 * answer, which may include the id of the access key.
 *
 * @param secrets removed from the message, in case the store repeats them.
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
        nextStep: 'If the store is intentionally unencrypted, use http:// in archive.endpoint.',
      });
    if (!CERTIFICATE.test(code)) return unanswered(doing, `${said || code}`);
    return new EvidenceError('archive', `could not ${doing}: the store's certificate is not trusted: ${said || code}`, {
      nextStep: 'Name the authority of the store in archive.ca_file.',
    });
  }
  if (isUnreadableAnswer(error)) return unanswered(doing, 'the answer of the store could not be understood');
  return error;
}

/**
 * Returns the next step for a configured profile. The SDK does not report a missing profile, so the step suggests
 * checking it.
 */
function profileStep(): string | null {
  const profile = process.env['AWS_PROFILE'];
  if (profile === undefined || profile === '') return null;
  return `AWS_PROFILE names the profile "${profile}": check that ~/.aws/config or ~/.aws/credentials has it with valid credentials, or unset AWS_PROFILE.`;
}

function unanswered(doing: string, why: string): EvidenceError {
  return new EvidenceError('archive', `could not ${doing}: ${why}`, {
    nextStep: { before: 'Check the store and the network, then', same: ': archived bundles are kept' },
  });
}

/** Next steps in order of precedence. */
const NEXT_STEPS: [when: RegExp | number, code: 'config' | 'not-found' | 'store-refused', nextStep: NextStep][] = [
  [
    /^NoSuchBucket$/,
    'not-found',
    'Check archive.url, archive.region and archive.endpoint; buckets are never created automatically.',
  ],
  [
    /^(PermanentRedirect|AuthorizationHeaderMalformed|IllegalLocationConstraintException)$/,
    'config',
    'Set archive.region to the region of the bucket.',
  ],
  [/^KMS\./, 'config', 'Check archive.kms_key_id and that this identity may use the key.'],
  [/^RequestTimeTooSkewed$/, 'store-refused', "Set this machine's clock."],
  [
    REFUSED_WITH_400,
    'store-refused',
    { before: 'Renew the credentials (`aws sso login`, or a new session token), then' },
  ],
  [401, 'store-refused', { before: 'Check the credentials of the store, then' }],
  [403, 'store-refused', { before: 'Check the credentials and the permissions of this identity, then' }],
];

function refused(doing: string, refusal: StoreRefusal): EvidenceError {
  const { name, status, message } = refusal;
  const said = message === '' || message === name ? '' : `: ${message}`;
  const text = `could not ${doing}: the store answered ${status} (${name})${said}`;
  if (status === 400 && name === 'InvalidRequest' && /lock/i.test(`${message}${doing}`))
    return new EvidenceError('config', text, {
      nextStep: 'Use a bucket created with Object Lock, or leave out archive.retention and archive.legal_hold.',
      cause: refusal,
    });
  const [, code, nextStep] = NEXT_STEPS.find(([when]) =>
    typeof when === 'number' ? when === status : when.test(name),
  ) ?? [0, 'archive' as const, { before: 'Check the store, then', same: ': archived bundles are kept' }];
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

/** Reports whether an answer with a successful status had unreadable content. */
function isUnreadableAnswer(error: unknown): boolean {
  return readThrown(error).answered;
}

/** Makes a store's message safe for terminals and logs. */
function clean(message: string, secrets: readonly string[]): string {
  let text = message.replace(/[\p{Cc}\p{Cf}]+/gu, ' ').trim();
  for (const secret of secrets) text = text.replaceAll(secret, '***');
  return cutText(text, MAX_MESSAGE);
}

import { depthOfAwsAction } from '../../aws/access-key.ts';
import type { FoundTrap } from '../decoy.ts';
import type { RawAnswer } from '../raw-http.ts';
import {
  type AwsAsked,
  type AwsError,
  type AwsProtocol,
  callerIdentity,
  errorAnswer,
  redirectAnswer,
} from './answers.ts';
import { judgePresented, type KeyOwner, keyOwner, type Presented } from './credentials.ts';
import { type AwsRequest, headerOf, type S3Operation, s3Operation } from './request.ts';

/** Requested operation, in the terms of AWS. */
interface AwsOperation {
  /** Name such as `sts:GetCallerIdentity`. */
  action: string;
  /** Required permission, as AWS names it in a denial. */
  right: string;
  asked: AwsAsked;
}

/** Judgment of a request. */
interface Judged {
  /** True if the signature is right; null if it cannot be checked. */
  authVerified: boolean | null;
  answer: RawAnswer;
}

const CLOCK_MS = 15 * 60_000;
const MISMATCH =
  'The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method. Consult the service documentation for details.';

export function operationOf(
  request: AwsRequest,
  presented: Presented | null,
  { host, now }: { host: string; now: Date },
): AwsOperation {
  const { service, region } = presented?.scope ?? { service: 's3', region: 'us-east-1' };
  const target = headerOf(request, 'x-amz-target')?.split('.').at(-1);
  const action = request.parameters.get('Action');
  const protocol = protocolOf(service, { target, action });
  const asked = {
    protocol,
    service,
    region,
    method: request.method,
    isOld: request.isOld,
    now,
    version: request.parameters.get('Version') ?? '2010-05-08',
    contentType: headerOf(request, 'content-type') ?? 'application/x-amz-json-1.1',
  };
  const { name, right }: S3Operation =
    protocol === 's3'
      ? s3Operation(request, bucketIn(headerOf(request, 'host') ?? '', host))
      : sameNames(plainName(target ?? action ?? restName(request)));
  return { action: `${service}:${name}`, right: `${service}:${right}`, asked };
}

function protocolOf(
  service: string,
  { target, action }: { target: string | undefined; action: string | undefined },
): AwsProtocol {
  if (service === 's3') return 's3';
  if (target !== undefined) return 'json';
  if (action === undefined) return service === 'sts' || service === 'iam' ? 'query' : 'rest';
  return service === 'ec2' ? 'ec2' : 'query';
}

const sameNames = (name: string): S3Operation => ({ name, right: name });
const plainName = (name: string) => name.replace(/[^\w ./-]/g, '').slice(0, 100);
const restName = ({ method, path }: AwsRequest) => `${method} ${path}`;

/** Returns the bucket in the host name; null if there is none. */
function bucketIn(shown: string, host: string): string | null {
  const name = shown.replace(/:\d+$/, '');
  return name.endsWith(`.${host}`) ? name.slice(0, -host.length - 1) : null;
}

/** Answers an unsigned request, or one signed with an unknown key. */
export function answerStranger({ asked }: AwsOperation, request: AwsRequest, presented: Presented | null): RawAnswer {
  if (presented !== null) return errorAnswer(asked, UNKNOWN_KEY[asked.protocol](presented.accessKeyId));
  if (asked.protocol === 's3')
    return request.path === '/' ? redirectAnswer(asked) : errorAnswer(asked, denied('Access Denied', asked.protocol));
  const message = 'Request is missing Authentication Token';
  return errorAnswer(asked, { status: 403, code: 'MissingAuthenticationToken', message });
}

/** Answers a request that is signed with the key of a trap. */
export function judgeTrap(operation: AwsOperation, request: AwsRequest, presented: Presented, trap: FoundTrap): Judged {
  const { asked } = operation;
  const identity = keyOwner(trap);
  const judged = judgePresented(request, presented, identity.secret);
  if (judged === null || !judged.isRight)
    return {
      authVerified: judged === null ? null : false,
      answer: errorAnswer(asked, presented.signature === null ? OLD_SIGNATURE : mismatch(operation, presented, judged)),
    };
  const late = skew(presented, asked);
  return { authVerified: true, answer: late === null ? answerOf(operation, identity) : errorAnswer(asked, late) };
}

/** Answers an authenticated request. AWS returns the caller's identity to every valid key, whatever its permissions. */
function answerOf({ action, right, asked }: AwsOperation, { arn, userId, accountId }: KeyOwner): RawAnswer {
  if (action === 'sts:GetCallerIdentity') return callerIdentity(asked, { arn, userId, accountId });
  // The names that AWS gives to the paths of REST services are unknown.
  const why = right.includes(' ')
    ? `User: ${arn} is not authorized to access this resource`
    : `User: ${arn} is not authorized to perform: ${right} because no identity-based policy allows the ${right} action`;
  return errorAnswer(asked, denied(why, asked.protocol));
}

function denied(message: string, protocol: AwsProtocol): AwsError {
  if (protocol === 'json') return { status: 400, code: 'AccessDeniedException', message };
  if (protocol === 'rest') return { status: 403, code: 'AccessDeniedException', message };
  if (protocol !== 'ec2') return { status: 403, code: 'AccessDenied', message };
  const code = 'UnauthorizedOperation';
  return { status: 403, code, message: `You are not authorized to perform this operation. ${message}` };
}

const INVALID_TOKEN = 'The security token included in the request is invalid.';
const UNKNOWN_KEY: Record<AwsProtocol, (accessKeyId: string) => AwsError> = {
  s3: (accessKeyId) => ({
    status: 403,
    code: 'InvalidAccessKeyId',
    message: 'The AWS Access Key Id you provided does not exist in our records.',
    more: [['AWSAccessKeyId', accessKeyId]],
  }),
  query: () => ({ status: 403, code: 'InvalidClientTokenId', message: INVALID_TOKEN }),
  ec2: () => EC2_FAILURE,
  json: () => ({ status: 400, code: 'UnrecognizedClientException', message: INVALID_TOKEN }),
  rest: () => ({ status: 403, code: 'UnrecognizedClientException', message: INVALID_TOKEN }),
};
const EC2_FAILURE: AwsError = {
  status: 401,
  code: 'AuthFailure',
  message: 'AWS was not able to validate the provided access credentials',
};
const OLD_SIGNATURE: AwsError = {
  status: 400,
  code: 'InvalidRequest',
  message: 'The authorization mechanism you have provided is not supported. Please use AWS4-HMAC-SHA256.',
};

function mismatch({ asked }: AwsOperation, presented: Presented, judged: ReturnType<typeof judgePresented>): AwsError {
  const { accessKeyId, signature } = presented;
  if (asked.protocol === 'ec2') return EC2_FAILURE;
  if (asked.protocol === 'json' || asked.protocol === 'rest')
    return { status: asked.protocol === 'json' ? 400 : 403, code: 'InvalidSignatureException', message: MISMATCH };
  if (asked.protocol === 'query') return { status: 403, code: 'SignatureDoesNotMatch', message: MISMATCH };
  const { canonicalRequest = '', stringToSign = '' } = judged?.signing ?? {};
  return {
    status: 403,
    code: 'SignatureDoesNotMatch',
    message:
      'The request signature we calculated does not match the signature you provided. Check your key and signing method.',
    more: [
      ['AWSAccessKeyId', accessKeyId],
      ['StringToSign', stringToSign],
      ['SignatureProvided', signature?.value ?? ''],
      ['StringToSignBytes', bytesOf(stringToSign)],
      ['CanonicalRequest', canonicalRequest],
      ['CanonicalRequestBytes', bytesOf(canonicalRequest)],
    ],
  };
}

const bytesOf = (text: string) => (Buffer.from(text).toString('hex').match(/../g) ?? []).join(' ');

/**
 * Returns the error for a request signed with a wrong clock, which shows the sender that the rest was right; null if
 * the clock is right.
 */
function skew({ signature }: Presented, { protocol, now }: AwsAsked): AwsError | null {
  const [, ...parts] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(signature?.time ?? '') ?? [];
  const [year, month, day, hour, minute, second] = parts;
  const at = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  const isFar = !(Math.abs(now.getTime() - at) <= CLOCK_MS);
  if (!isFar) return null;
  if (protocol === 's3')
    return {
      status: 403,
      code: 'RequestTimeTooSkewed',
      message: 'The difference between the request time and the current time is too large.',
    };
  if (protocol === 'ec2') return { status: 400, code: 'RequestExpired', message: 'Request has expired.' };
  const code = protocol === 'query' ? 'SignatureDoesNotMatch' : 'InvalidSignatureException';
  const [signed, today] = [signature?.time ?? '', now.toISOString().replace(/[-:]|\.\d{3}/g, '')];
  const message = `Signature expired: ${signed} is now earlier than ${today} (${today} - 15 min.)`;
  return { status: protocol === 'json' ? 400 : 403, code, message };
}

/** Returns the depth of an operation, for alerts. */
export function depthOf({ action }: AwsOperation): 'validated' | 'used' {
  return depthOfAwsAction(action);
}

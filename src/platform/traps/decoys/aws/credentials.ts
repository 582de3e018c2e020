import { accountOf } from '../../aws/access-key.ts';
import { ALGORITHM, type AwsSigning, judgeSignature, type SignedParts, type SigningScope } from '../../aws/sigv4.ts';
import type { FoundTrap } from '../decoy.ts';
import { type AwsRequest, headerOf } from './request.ts';

/** Identity that a request claims. */
export interface Presented {
  accessKeyId: string;
  /**
   * Signature to be checked; null if the request is signed with Signature Version 2 or 4A, which is not checked here.
   */
  signature: { value: string; signedHeaders: readonly string[]; time: string; payload: string } | null;
  scope: SigningScope;
}

const CREDENTIAL = /^([A-Z0-9]{16,128})\/(\d{8})\/([a-z0-9-]{1,64})\/([a-z0-9-]{1,64})\/aws4_request$/;
/** Credential of Signature Version 4A, whose scope has no region. */
const CREDENTIAL_4A = /^([A-Z0-9]{16,128})\/(\d{8})\/([a-z0-9-]{1,64})\/aws4_request$/;
const VERSION_2 = /^AWS ([A-Z0-9]{16,128}):/;

/** Reads the signature of a request from its header or query; null if the request is unsigned. */
export function presentedBy(request: AwsRequest): Presented | null {
  const authorization = headerOf(request, 'authorization');
  if (authorization?.startsWith('AWS4-') === true) return inHeader(request, authorization);
  if (request.parameters.has('X-Amz-Credential')) return inAddress(request);
  const old = VERSION_2.exec(authorization ?? '')?.[1] ?? request.parameters.get('AWSAccessKeyId');
  return old === undefined ? null : { accessKeyId: old, signature: null, scope: NO_SCOPE };
}

const NO_SCOPE = { date: '', region: 'us-east-1', service: 's3' };

function inHeader(request: AwsRequest, authorization: string): Presented | null {
  const [algorithm = '', ...rest] = authorization.split(' ');
  const fields = new Map(
    rest
      .join(' ')
      .split(',')
      .map((field) => {
        const at = field.indexOf('=');
        return [field.slice(0, at).trim(), field.slice(at + 1).trim()] as const;
      }),
  );
  const known = toScope(fields.get('Credential') ?? '');
  if (known === null) return null;
  if (algorithm !== ALGORITHM) return { ...known, signature: null };
  return {
    ...known,
    signature: {
      value: fields.get('Signature') ?? '',
      signedHeaders: (fields.get('SignedHeaders') ?? '').split(';'),
      time: headerOf(request, 'x-amz-date') ?? '',
      payload: headerOf(request, 'x-amz-content-sha256') ?? request.bodySha256,
    },
  };
}

function inAddress({ parameters, bodySha256 }: AwsRequest): Presented | null {
  const known = toScope(parameters.get('X-Amz-Credential') ?? '');
  if (known === null) return null;
  if (parameters.get('X-Amz-Algorithm') !== ALGORITHM) return { ...known, signature: null };
  return {
    ...known,
    signature: {
      value: parameters.get('X-Amz-Signature') ?? '',
      signedHeaders: (parameters.get('X-Amz-SignedHeaders') ?? '').split(';'),
      time: parameters.get('X-Amz-Date') ?? '',
      payload:
        parameters.get('X-Amz-Content-Sha256') ?? (known.scope.service === 's3' ? 'UNSIGNED-PAYLOAD' : bodySha256),
    },
  };
}

function toScope(credential: string): Pick<Presented, 'accessKeyId' | 'scope'> | null {
  const [, id, date, region, service] = CREDENTIAL.exec(credential) ?? [];
  if (id !== undefined && date !== undefined && region !== undefined && service !== undefined)
    return { accessKeyId: id, scope: { date, region, service } };
  const [, id4a, date4a = '', service4a = ''] = CREDENTIAL_4A.exec(credential) ?? [];
  return id4a === undefined ? null : { accessKeyId: id4a, scope: { date: date4a, region: '*', service: service4a } };
}

/** @param secret null if unknown. @returns null if the signature cannot be checked. */
export function judgePresented(
  request: AwsRequest,
  { signature, scope }: Presented,
  secret: string | null,
): { isRight: boolean; signing: AwsSigning } | null {
  if (signature === null || secret === null) return null;
  const { method, path, query, headers } = request;
  const { signedHeaders, payload, time, value } = signature;
  const parts: SignedParts = { method, path, query, headers, signedHeaders, payload, time, scope };
  return judgeSignature(parts, secret, value);
}

/** Owner of a trap's key. */
export interface KeyOwner {
  arn: string;
  userId: string;
  accountId: string;
  /** Secret of the key; null if unknown. */
  secret: string | null;
}

export function keyOwner({ credential }: FoundTrap): KeyOwner {
  const told = (name: string) => {
    const value = credential[name];
    return typeof value === 'string' ? value : null;
  };
  const accessKeyId = told('access_key_id') ?? '';
  const accountId = told('account_id') ?? accountOf(accessKeyId) ?? '000000000000';
  const arn = `arn:aws:iam::${accountId}:user/${told('user_name') ?? 'deploy'}`;
  const userId = told('user_id') ?? `AIDA${accessKeyId.slice(4)}Q`;
  return { arn, userId, accountId, secret: told('secret_access_key') };
}

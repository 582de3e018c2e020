import { randomBytes, randomUUID } from 'node:crypto';
import type { RawAnswer } from '../raw-http.ts';

/** Error, in the terms of each protocol. */
export interface AwsError {
  status: number;
  code: string;
  message: string;
  /** Further elements of an S3 error: name and text. */
  more?: readonly (readonly [name: string, text: string])[];
}

/** Protocol of a service. */
export type AwsProtocol = 's3' | 'query' | 'ec2' | 'json' | 'rest';

/** Addressed service and protocol of a request. */
export interface AwsAsked {
  protocol: AwsProtocol;
  service: string;
  region: string;
  /** API version in a request of the Query API. */
  version: string;
  method: string;
  /** Content type in the request. */
  contentType: string;
  /** True for HTTP/1.0, which has no chunked encoding. */
  isOld: boolean;
  now: Date;
}

const REASONS: Readonly<Record<number, string>> = {
  200: 'OK',
  307: 'Temporary Redirect',
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
};

export function errorAnswer(asked: AwsAsked, error: AwsError): RawAnswer {
  if (asked.protocol === 's3') return s3Error(asked, error);
  if (asked.protocol === 'ec2') return ec2Error(asked, error);
  return asked.protocol === 'query' ? queryError(asked, error) : jsonError(asked, error);
}

/** Redirects an anonymous request, as S3 does for the root path. */
export function redirectAnswer({ now }: AwsAsked): RawAnswer {
  const head = [...s3Ids(), ['Date', now.toUTCString()], ['Location', 'https://aws.amazon.com/s3/']] as const;
  return answer(307, [...head, ['Content-Length', '0'], ['Connection', 'keep-alive'], ['Server', 'AmazonS3']], '');
}

/** https://docs.aws.amazon.com/STS/latest/APIReference/API_GetCallerIdentity.html */
export function callerIdentity(
  asked: AwsAsked,
  { arn, userId, accountId }: { arn: string; userId: string; accountId: string },
): RawAnswer {
  const id = randomUUID();
  const body = `<GetCallerIdentityResponse xmlns="${namespaceOf(asked)}">
  <GetCallerIdentityResult>
    <Arn>${escaped(arn)}</Arn>
    <UserId>${escaped(userId)}</UserId>
    <Account>${escaped(accountId)}</Account>
  </GetCallerIdentityResult>
  <ResponseMetadata>
    <RequestId>${id}</RequestId>
  </ResponseMetadata>
</GetCallerIdentityResponse>
`;
  return queryAnswer(200, { id, body, asked });
}

function s3Error({ method, region, now, isOld }: AwsAsked, { status, code, message, more = [] }: AwsError): RawAnswer {
  const ids = s3Ids();
  const [[, requestId], [, hostId]] = ids;
  const elements = [
    ['Code', code],
    ['Message', message],
    ...more,
    ['RequestId', requestId],
    ['HostId', hostId],
  ] as const;
  const text = elements.map(([name, value]) => `<${name}>${escaped(value)}</${name}>`).join('');
  const body = `<?xml version="1.0" encoding="UTF-8"?>\n<Error>${text}</Error>`;
  const shown = method === 'HEAD' ? '' : body;
  return answer(
    status,
    [
      ...(code === 'AccessDenied' && region !== '*' ? [['x-amz-bucket-region', region] as const] : []),
      ...ids,
      ['Content-Type', 'application/xml'],
      ...(method === 'HEAD' ? [] : lengthOf(body, isOld)),
      ['Date', now.toUTCString()],
      ['Server', 'AmazonS3'],
    ],
    shown,
  );
}

function ec2Error({ now, isOld }: AwsAsked, { status, code, message }: AwsError): RawAnswer {
  const id = randomUUID();
  const body = `<?xml version="1.0" encoding="UTF-8"?>
<Response><Errors><Error><Code>${code}</Code><Message>${escaped(message)}</Message></Error></Errors><RequestID>${id}</RequestID></Response>`;
  return answer(
    status,
    [
      ['x-amzn-requestid', id],
      ['Cache-Control', 'no-cache, no-store'],
      ['Strict-Transport-Security', 'max-age=31536000; includeSubDomains'],
      ['vary', 'accept-encoding'],
      ['Content-Type', 'text/xml;charset=UTF-8'],
      ...lengthOf(body, isOld),
      ['Date', now.toUTCString()],
      ['Server', 'AmazonEC2'],
    ],
    body,
  );
}

function queryError(asked: AwsAsked, { status, code, message }: AwsError): RawAnswer {
  const id = randomUUID();
  const body = `<ErrorResponse xmlns="${namespaceOf(asked)}">
  <Error>
    <Type>Sender</Type>
    <Code>${code}</Code>
    <Message>${escaped(message)}</Message>
  </Error>
  <RequestId>${id}</RequestId>
</ErrorResponse>
`;
  return queryAnswer(status, { id, body, asked });
}

function queryAnswer(status: number, { id, body, asked }: { id: string; body: string; asked: AwsAsked }): RawAnswer {
  const length = ['Content-Length', String(Buffer.byteLength(body))] as const;
  const date = ['Date', asked.now.toUTCString()] as const;
  return answer(status, [['x-amzn-RequestId', id], ['Content-Type', 'text/xml'], length, date], body);
}

function jsonError({ contentType, protocol, now }: AwsAsked, { status, code, message }: AwsError): RawAnswer {
  const isRest = protocol === 'rest';
  const said = JSON.stringify(isRest ? { Message: message } : { __type: code, Message: message });
  const body = code === 'AccessDeniedException' || isRest ? said : said.replace('"Message"', '"message"');
  const type = isRest ? 'application/json' : contentType;
  return answer(
    status,
    [
      ['Date', now.toUTCString()],
      ['Content-Type', type],
      ['Content-Length', String(Buffer.byteLength(body))],
      ['x-amzn-RequestId', randomUUID()],
      ...(isRest ? [['x-amzn-ErrorType', code] as const] : []),
    ],
    body,
  );
}

/** XML namespaces of the Query API services: https://docs.aws.amazon.com/general/latest/gr/Welcome.html */
const NAMESPACES: Readonly<Record<string, string>> = {
  sts: 'https://sts.amazonaws.com/doc/2011-06-15/',
  iam: 'https://iam.amazonaws.com/doc/2010-05-08/',
  sqs: 'http://queue.amazonaws.com/doc/2012-11-05/',
  email: 'http://ses.amazonaws.com/doc/2010-12-01/',
  route53: 'https://route53.amazonaws.com/doc/2013-04-01/',
};

function namespaceOf({ service, version }: AwsAsked): string {
  return NAMESPACES[service] ?? `http://${service}.amazonaws.com/doc/${version}/`;
}

function s3Ids(): readonly [readonly ['x-amz-request-id', string], readonly ['x-amz-id-2', string]] {
  const id = Array.from(randomBytes(16), (byte) => '0123456789ABCDEFGHJKMNPQRSTVWXYZ'.charAt(byte & 31)).join('');
  return [
    ['x-amz-request-id', id],
    ['x-amz-id-2', randomBytes(56).toString('base64')],
  ];
}

function lengthOf(body: string, isOld: boolean): readonly (readonly [string, string])[] {
  return isOld ? [['Content-Length', String(Buffer.byteLength(body))]] : [['Transfer-Encoding', 'chunked']];
}

function answer(status: number, headers: RawAnswer['headers'], body: string): RawAnswer {
  return { status, reason: REASONS[status] ?? 'Forbidden', headers, body };
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { sign } from 'aws4';
import { newAwsId } from '../../../src/platform/traps/aws/access-key.ts';

/** The operations of IAM that the platform uses. An independent signer checks every signature. */
export class IamDouble {
  readonly access = { accessKeyId: newAwsId('AKIA', '111122223333'), secret: 's'.repeat(40), region: 'us-east-1' };
  /** Keys by user. */
  readonly users = new Map<string, string[]>();
  readonly lastUses = new Map<string, { date: string; service: string; region: string }>();
  /** Name of an action that fails. */
  refuses: string | null = null;
  endpoint = '';
  readonly #server = createServer((request, response) => {
    let body = '';
    request.on('data', (piece) => (body += piece));
    request.on('end', () => {
      const { status, xml } = this.#judge(request.headers as Record<string, string>, body);
      response.writeHead(status, { 'content-type': 'text/xml' }).end(xml);
    });
  });

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    this.endpoint = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
    return this;
  }

  async stop(): Promise<void> {
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #judge(headers: Record<string, string>, body: string): { status: number; xml: string } {
    const { host = '', authorization, 'content-type': type = '', 'x-amz-date': date = '' } = headers;
    const request = {
      service: 'iam',
      region: 'us-east-1',
      method: 'POST',
      path: '/',
      host,
      body,
      headers: { 'Content-Type': type, 'X-Amz-Date': date },
      // This signer signs one header more than the SDKs do.
      extraHeadersToIgnore: { 'content-length': true },
    };
    const { accessKeyId, secret: secretAccessKey } = this.access;
    const right = sign(request, { accessKeyId, secretAccessKey });
    const signature = (text: unknown) => /Signature=(\w+)/.exec(String(text))?.[1];
    const expected = (right.headers as Record<string, string> | undefined)?.['Authorization'];
    if (signature(authorization) !== signature(expected)) return refused('SignatureDoesNotMatch', 'wrong');
    const form = new URLSearchParams(body);
    const [action, user = '', key = ''] = ['Action', 'UserName', 'AccessKeyId'].map((name) => form.get(name) ?? '');
    if (action === this.refuses) return refused('AccessDenied', `not authorized to perform: iam:${action}`);
    if (form.get('Version') !== '2010-05-08') return refused('NoSuchVersion', 'which?');
    return { status: 200, xml: this.#answer(action ?? '', user, key) };
  }

  #answer(action: string, user: string, key: string): string {
    const keys = this.users.get(user) ?? [];
    if (action === 'CreateUser') {
      this.users.set(user, []);
      return `<CreateUserResponse><CreateUserResult><User><Path>/</Path><UserName>${user}</UserName><UserId>AIDAQQQQQQQQQQQQQQQQQ</UserId><Arn>arn:aws:iam::111122223333:user/${user}</Arn></User></CreateUserResult></CreateUserResponse>`;
    }
    if (action === 'CreateAccessKey') {
      const made = newAwsId('AKIA', '111122223333');
      this.users.set(user, [...keys, made]);
      return `<CreateAccessKeyResponse><CreateAccessKeyResult><AccessKey><UserName>${user}</UserName><AccessKeyId>${made}</AccessKeyId><SecretAccessKey>${'k'.repeat(40)}</SecretAccessKey></AccessKey></CreateAccessKeyResult></CreateAccessKeyResponse>`;
    }
    if (action === 'DeleteAccessKey')
      this.users.set(
        user,
        keys.filter((each) => each !== key),
      );
    if (action === 'DeleteUser' && keys.length === 0) this.users.delete(user);
    if (action !== 'GetAccessKeyLastUsed') return `<${action}Response/>`;
    const last = this.lastUses.get(key);
    const date = last === undefined ? '' : `<LastUsedDate>${last.date}</LastUsedDate>`;
    return `<GetAccessKeyLastUsedResponse><GetAccessKeyLastUsedResult><UserName>x</UserName><AccessKeyLastUsed><Region>${last?.region ?? 'N/A'}</Region>${date}<ServiceName>${last?.service ?? 'N/A'}</ServiceName></AccessKeyLastUsed></GetAccessKeyLastUsedResult></GetAccessKeyLastUsedResponse>`;
  }
}

function refused(code: string, message: string) {
  return {
    status: 403,
    xml: `<ErrorResponse><Error><Code>${code}</Code><Message>${message}</Message></Error></ErrorResponse>`,
  };
}

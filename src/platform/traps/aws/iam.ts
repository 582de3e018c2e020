import { hash } from 'node:crypto';
import { EvidenceError } from '../../../core/errors.ts';
import type { Dispatcher, OutgoingAnswer } from '../../outgoing/dispatcher.ts';
import type { AwsAccess } from './settings.ts';
import { ALGORITHM, awsTime, encodePart, scopeText, signParts } from './sigv4.ts';

const API_VERSION = '2010-05-08';
const FORM = 'application/x-www-form-urlencoded; charset=utf-8';

/** When and for what a key was last used. */
export interface LastUse {
  /** RFC 3339 UTC; null for never. */
  at: string | null;
  service: string | null;
  region: string | null;
}

/** The few things that the platform asks of IAM, as its query interface has them. */
export class Iam {
  readonly #access: AwsAccess;
  readonly #dispatcher: Dispatcher;
  readonly #clock: () => Date;

  constructor(access: AwsAccess, dispatcher: Dispatcher, clock: () => Date) {
    this.#access = access;
    this.#dispatcher = dispatcher;
    this.#clock = clock;
  }

  /** @throws EvidenceError `refused` with what IAM says, `unreachable`. */
  async lastUse(accessKeyId: string): Promise<LastUse> {
    const answer = await this.#ask('GetAccessKeyLastUsed', { AccessKeyId: accessKeyId });
    const date = textOf(answer, 'LastUsedDate');
    const known = (name: string) => {
      const text = textOf(answer, name);
      return text === 'N/A' ? null : text;
    };
    const at = date === null || Number.isNaN(Date.parse(date)) ? null : new Date(date).toISOString();
    return { at, service: known('ServiceName'), region: known('Region') };
  }

  /** Makes a user without any rights. @throws EvidenceError as `lastUse`. */
  async createUser(userName: string): Promise<{ arn: string; userId: string }> {
    const answer = await this.#ask('CreateUser', { UserName: userName });
    return { arn: required(answer, 'Arn'), userId: required(answer, 'UserId') };
  }

  /** @throws EvidenceError as `lastUse`. */
  async createAccessKey(userName: string): Promise<{ accessKeyId: string; secret: string }> {
    const answer = await this.#ask('CreateAccessKey', { UserName: userName });
    return { accessKeyId: required(answer, 'AccessKeyId'), secret: required(answer, 'SecretAccessKey') };
  }

  /** @throws EvidenceError as `lastUse`. */
  async deleteAccessKey(userName: string, accessKeyId: string): Promise<void> {
    await this.#ask('DeleteAccessKey', { UserName: userName, AccessKeyId: accessKeyId });
  }

  /** @throws EvidenceError as `lastUse`. */
  async deleteUser(userName: string): Promise<void> {
    await this.#ask('DeleteUser', { UserName: userName });
  }

  async #ask(action: string, parameters: Readonly<Record<string, string>>): Promise<string> {
    const form = Object.entries({ Action: action, Version: API_VERSION, ...parameters });
    const body = form.map(([name, value]) => `${encodePart(name)}=${encodePart(value)}`).join('&');
    const url = new URL(this.#access.endpoint ?? 'https://iam.amazonaws.com/');
    const headers = this.#signed(url, body);
    const answer = await this.#dispatcher.send({ url, method: 'POST', headers, body });
    if (answer.status !== 200) throw refusal(action, answer);
    return answer.body.toString('utf8');
  }

  #signed(url: URL, body: string): Record<string, string> {
    const { accessKeyId, secret } = this.#access;
    // IAM is one for all regions: its requests are signed for us-east-1, but for those of other partitions.
    const region = this.#access.endpoint === null ? 'us-east-1' : this.#access.region;
    const time = awsTime(this.#clock());
    const scope = { date: time.slice(0, 8), region, service: 'iam' };
    const headers = { 'content-type': FORM, host: url.host, 'x-amz-date': time };
    const { signature } = signParts(
      {
        method: 'POST',
        path: url.pathname,
        query: '',
        headers: Object.entries(headers),
        time,
        scope,
        signedHeaders: Object.keys(headers),
        payload: hash('sha256', body, 'hex'),
      },
      secret,
      url.pathname,
    );
    const credential = `${accessKeyId}/${scopeText(scope)}`;
    const authorization = `${ALGORITHM} Credential=${credential}, SignedHeaders=${Object.keys(headers).join(';')}, Signature=${signature}`;
    return { ...headers, authorization };
  }
}

function refusal(action: string, { status, body }: OutgoingAnswer): EvidenceError {
  const text = body.toString('utf8');
  const [code, message] = [textOf(text, 'Code'), textOf(text, 'Message')];
  const why = code === null ? `status ${status}` : `${code}: ${message ?? ''}`;
  return new EvidenceError('refused', `IAM refuses ${action}: ${why}`, {
    nextStep: `See that the user of aws in the settings may do iam:${action}.`,
  });
}

function required(xml: string, name: string): string {
  const text = textOf(xml, name);
  if (text === null) throw new EvidenceError('service', `IAM answers without ${name}`);
  return text;
}

/** The text of the first element of a name; these answers have no attributes, and no element within that one. */
function textOf(xml: string, name: string): string | null {
  const found = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1];
  if (found === undefined) return null;
  const text = found.replace(/&(lt|gt|quot|apos|amp);/g, (_, entity: keyof typeof ENTITIES) => ENTITIES[entity]);
  return text.trim();
}

const ENTITIES = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' };

import { EvidenceError, messageOf } from '../../../core/errors.ts';
import type { Database } from '../../database/database.ts';
import type { Job } from '../../jobs/scheduler.ts';
import type { Dispatcher, OutgoingAnswer } from '../../outgoing/dispatcher.ts';
import type { TrapServiceDeps } from '../making.ts';
import type { Uses } from '../recording.ts';
import { noteReport, type Trap } from '../repository.ts';
import type { TrapTables } from '../tables.ts';
import { isToldByCloudTrail, lastUseId } from './one-use.ts';
import type { AwsAccess } from './settings.ts';
import { encodePart, signForm } from './sigv4.ts';

const API_VERSION = '2010-05-08';

/** Last use of a key. */
interface LastUse {
  /** RFC 3339 UTC time of the last use; null if the key was never used. */
  at: string | null;
  service: string | null;
  region: string | null;
}

/** Client for the few operations of the IAM Query API that the platform needs. */
export class Iam {
  readonly #access: AwsAccess;
  readonly #dispatcher: Dispatcher;
  readonly #clock: () => Date;

  constructor(access: AwsAccess, dispatcher: Dispatcher, clock: () => Date) {
    this.#access = access;
    this.#dispatcher = dispatcher;
    this.#clock = clock;
  }

  /** @throws EvidenceError `refused` with IAM's message, `unreachable`. */
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

  /** Creates a user without any rights. @throws EvidenceError as `lastUse`. */
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
    // IAM is global: requests are signed for us-east-1, except at a configured endpoint.
    const region = this.#access.endpoint === null ? 'us-east-1' : this.#access.region;
    const to = { host: url.host, path: url.pathname, region, service: 'iam' };
    const headers = signForm(body, to, this.#access, this.#clock());
    const answer = await this.#dispatcher.send({ url, method: 'POST', headers, body });
    if (answer.status !== 200) throw refusal(action, answer);
    return answer.body.toString('utf8');
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

/**
 * Returns the text of the first element with a name. These answers have no attributes, and no elements nested inside.
 */
function textOf(xml: string, name: string): string | null {
  const found = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1];
  if (found === undefined) return null;
  const text = found.replace(/&(lt|gt|quot|apos|amp);/g, (_, entity: keyof typeof ENTITIES) => ENTITIES[entity]);
  return text.trim();
}

const ENTITIES = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' };

const EVERY_MS = 10 * 60_000;

interface LastUsedDeps extends Pick<TrapServiceDeps, 'database' | 'clock' | 'vault'> {
  uses: Uses;
  iam: Iam;
}

/**
 * Returns the job that asks IAM for the last uses of real keys, because IAM also knows of uses that CloudTrail does not
 * log.
 */
export function lastUsedJob(deps: LastUsedDeps): Job {
  return { name: 'traps/aws-last-used', everyMs: EVERY_MS, atMostMs: EVERY_MS, run: () => askForLastUses(deps) };
}

/** @throws Error with the number of keys that could not be checked; the other keys were checked. */
export async function askForLastUses(deps: LastUsedDeps): Promise<void> {
  const { database, vault, iam, clock } = deps;
  const traps = await realKeys(database);
  const failures: string[] = [];
  for (const trap of traps) {
    const accessKeyId = vault.open(trap).credential['access_key_id'];
    try {
      await record(trap, await iam.lastUse(String(accessKeyId)), deps);
    } catch (error) {
      failures.push(`${accessKeyId}: ${messageOf(error)}`);
    }
  }
  if (failures.length < traps.length) await noteReport(database, 'aws_last_used', clock());
  if (failures.length > 0)
    throw new Error(`${failures.length} of ${traps.length} keys could not be asked for: ${failures[0]}`);
}

/** Returns the traps that AWS knows, ended or not: ending a trap here does not end the key at AWS. */
async function realKeys(database: Database): Promise<Trap[]> {
  const traps = database.tables<TrapTables>().selectFrom('traps').selectAll();
  const keys = traps.where('credential_type', '=', 'aws_key').where('origin', 'in', ['imported', 'provisioned']);
  return await keys.orderBy('trap_no').execute();
}

async function record(trap: Trap, { at, service, region }: LastUse, deps: LastUsedDeps): Promise<void> {
  // Ignores uses from before the trap existed.
  if (at === null || at <= trap.created_at) return;
  if (await isToldByCloudTrail(deps.database, trap, { at, service })) return;
  await deps.uses.record({
    trapNo: trap.trap_no,
    channel: 'aws_last_used',
    depth: 'used',
    eventTime: at,
    sourceEventId: lastUseId(trap.credential_id, at),
    sourceIp: null,
    userAgent: null,
    action: null,
    service,
    region,
    authVerified: true,
    request: JSON.stringify({ last_used: at, service, region }),
  });
}

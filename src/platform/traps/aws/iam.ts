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

/** When and for what a key was last used. */
interface LastUse {
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
    // IAM is one for all regions: its requests are signed for us-east-1, but for those of other partitions.
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

/** The text of the first element of a name; these answers have no attributes, and no element within that one. */
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

/** Asks IAM when real keys were last used: it knows of uses that CloudTrail does not log. */
export function lastUsedJob(deps: LastUsedDeps): Job {
  return { name: 'traps/aws-last-used', everyMs: EVERY_MS, atMostMs: EVERY_MS, run: () => askForLastUses(deps) };
}

/** @throws Error naming how many keys could not be asked for; the others were. */
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

/** Those that AWS knows, ended or not: whoever ended one here did not end it there. */
async function realKeys(database: Database): Promise<Trap[]> {
  const traps = database.tables<TrapTables>().selectFrom('traps').selectAll();
  const keys = traps.where('credential_type', '=', 'aws_key').where('origin', 'in', ['imported', 'provisioned']);
  return await keys.orderBy('trap_no').execute();
}

async function record(trap: Trap, { at, service, region }: LastUse, deps: LastUsedDeps): Promise<void> {
  // A use before the trap existed is nobody's use of it.
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

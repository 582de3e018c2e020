import { readFile } from 'node:fs/promises';
import { request } from 'undici';
import { sha256 } from '../../core/digest.ts';
import { EvidenceError } from '../../core/errors.ts';
import { plural } from '../../core/plurals.ts';
import type { LoggedAction } from '../agents/wire/actions.ts';
import type { WireKill } from '../agents/wire/kill.ts';
import type { WireDetection } from '../traps/wire.ts';
import { AiAgent } from './ai-agent.ts';
import type { PlatformCaller } from './caller.ts';
import { type MachineFile, WatchedMachine } from './machine.ts';

/** Part of the story, for people. */
export interface StoryPart {
  title: string;
  text: string;
  /** Observed facts by name. */
  facts: readonly (readonly [name: string, value: string])[];
}

export type Tell = (chapter: StoryPart) => void;

interface StoryDeps {
  caller: PlatformCaller;
  /** Folder for the watched machine's folders. */
  folder: string;
  tell: Tell;
  signal: AbortSignal;
  /** True if a sensor can run on this system. */
  isWatched?: boolean;
}

const LABEL = 'nightly backup';

/** Plays a real incident from a trap to the kill switch, with traps, endpoints and agents. */
export async function playStory(deps: StoryDeps): Promise<void> {
  const { isWatched = WatchedMachine.isPossible } = deps;
  await (isWatched ? breakIn(deps) : tryToken(deps));
  await killAgent(deps);
}

/** Plays a break-in on a watched machine: a trap is read and used, and a program is changed. */
async function breakIn({ caller, folder, tell, signal }: StoryDeps): Promise<void> {
  await using machine = await WatchedMachine.enrol(caller, folder);
  const { trap, program } = machine;
  const { isReadSeen } = await machine.begin(LABEL);
  tell({
    title: 'Bait',
    text: 'The agent on a watched machine plants a file: a token for an API that nobody has a reason to use. It scans the programs there, and what it saw is approved as the baseline.',
    facts: [
      ['planted', trap.shown],
      ['baseline', `${program.shown}, SHA-256 ${await digestOf(program)}`],
    ],
  });
  signal.throwIfAborted();
  const found = await readToken(trap.path);
  await machine.tamper();
  const { accepted } = await machine.round();
  tell({
    title: 'An intruder',
    text: 'Somebody reads that file, and changes a program. The next scan tells of both.',
    facts: [
      ['read', isReadSeen ? sayDetected(await lastDetection(caller)) : 'not seen: files have no times of reads here'],
      ['changed', `${program.shown}, SHA-256 ${await digestOf(program)}: ${plural(accepted.events.raised, 'event')}`],
    ],
  });
  await useIt(found, { caller, tell, signal });
}

/** Plays the use of a trap that was made by hand, if no sensor can run. */
async function tryToken({ caller, tell, signal }: StoryDeps): Promise<void> {
  const input = { credential_type: 'api_token', plant_location: 'server', label: LABEL };
  const made = await caller.post<{ artifact: { content: string } }>('/traps/api/v1/credentials/generate', input);
  tell({
    title: 'Bait',
    text: 'The agent for endpoints needs Linux, so no machine is watched here. A trap is made all the same: a token for an API that nobody has a reason to use.',
    facts: [],
  });
  await useIt(tokenIn(made.artifact.content), { caller, tell, signal });
}

async function useIt(
  found: FoundToken,
  { caller, tell, signal }: Pick<StoryDeps, 'caller' | 'tell' | 'signal'>,
): Promise<void> {
  const status = await useToken(found, signal);
  tell({
    title: 'The decoy',
    text: 'The intruder tries the token where the file says that it is good. A decoy listens there.',
    facts: [
      ['request', `${found.url}, answered ${status}`],
      ['used', sayDetected(await lastDetection(caller))],
    ],
  });
}

/** Plays an AI agent that acts within and against its allowance, and is stopped. */
async function killAgent({ caller, tell, signal }: StoryDeps): Promise<void> {
  const agent = await AiAgent.onboard(caller);
  signal.throwIfAborted();
  const within = await agent.act({
    action_type: 'tool_call',
    action_description: 'read invoice 4711',
    tool_used: 'read_invoice',
  });
  const against = await agent.act({
    action_type: 'tool_call',
    action_description: 'send invoice 4711 outside',
    tool_used: 'send_mail',
    api_called: 'paste.example.net',
  });
  const { agents } = await agent.kill('it sent an invoice outside');
  const { status } = await agent.publicly();
  const after = await agent.attempt({ action_type: 'tool_call', action_description: 'read invoice 4712' });
  tell({
    title: 'An AI agent',
    text: 'An agent gets an identity, and is allowed one tool and one API. It signs what it reports. Nobody can keep it from acting, so there is a kill switch.',
    facts: [
      ['read_invoice', sayJudged(within)],
      ['send_mail', sayJudged(against)],
      ['kill switch', sayEnded(agents)],
      ['afterwards', `strangers are told "${status}"; its key is answered ${after}`],
    ],
  });
}

function sayJudged({ decision, trust: { before, after } }: LoggedAction): string {
  return `${decision}: its trust ${before === after ? `stays ${before}` : `goes from ${before} to ${after}`}`;
}

function sayEnded(agents: WireKill['agents']): string {
  const steps = agents.flatMap((each) => each.steps);
  const results = Map.groupBy(steps, ({ result }) => result ?? 'not ended');
  const counts = [...results].map(([result, { length }]) => `${length} ${result.replace('_', ' ')}`);
  return `${plural(steps.length, 'step')}: ${counts.join(', ')}`;
}

type ToldDetection = Pick<WireDetection, 'depth' | 'severity' | 'label'>;

async function lastDetection(caller: PlatformCaller): Promise<ToldDetection | undefined> {
  return (await caller.get<{ data: ToldDetection[] }>('/traps/api/v1/detections/?limit=1')).data[0];
}

function sayDetected(detection: ToldDetection | undefined): string {
  if (detection === undefined) return 'not detected';
  const { label, depth, severity } = detection;
  return `detected: the trap "${label}" was ${depth}, severity ${severity}`;
}

async function digestOf({ path }: MachineFile): Promise<string> {
  return `${sha256(await readFile(path)).slice(0, 8)}…`;
}

/** Token, and the address that it is for. */
interface FoundToken {
  url: string;
  token: string;
}

/** Reads the file of a trap, as an attacker looking for credentials would. */
async function readToken(path: string): Promise<FoundToken> {
  return tokenIn(await readFile(path, 'utf8'));
}

/** @throws EvidenceError `unreadable` if the file has no token. */
export function tokenIn(text: string): FoundToken {
  const [, address = '', token = ''] = /^API_URL=(\S+)\nAPI_TOKEN=(\S+)$/m.exec(text) ?? [];
  const url = URL.parse(address);
  if (url === null || token === '') throw new EvidenceError('unreadable', 'the file of the trap has no token in it');
  return { url: `${url.origin}${url.pathname}`, token };
}

/** Tries the token at its address. @returns the status of the answer. */
async function useToken({ url, token }: FoundToken, signal: AbortSignal): Promise<number> {
  const { statusCode, body } = await request(`${url}/customers`, {
    headers: { authorization: `Bearer ${token}`, 'user-agent': 'curl/8.5.0' },
    signal,
  });
  await body.dump();
  return statusCode;
}

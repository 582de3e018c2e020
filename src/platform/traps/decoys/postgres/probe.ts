import { connect, type Socket } from 'node:net';
import type { FoundTrap } from '../decoy.ts';
import { Incoming, sendTo } from '../incoming.ts';
import { toInt32, toMessage } from './messages.ts';
import { proofOf, scramKeys, scramNonce } from './scram.ts';

const PATIENCE_MS = 10_000;

/** Logs in with the credentials of a trap, under a name for the client, and leaves. @throws Error in words. */
export async function probePostgres(
  at: { host: string; port: number },
  { credential }: FoundTrap,
  applicationName: string,
): Promise<void> {
  const socket = connect(at);
  socket.setTimeout(PATIENCE_MS, () => socket.destroy());
  const incoming = new Incoming(socket);
  try {
    await sendTo(socket, startupPacket(credential, applicationName));
    await answer(incoming, 10);
    const first = `n=,r=${scramNonce()}`;
    const words = Buffer.from(`n,,${first}`);
    await sendTo(socket, toMessage('p', 'SCRAM-SHA-256', toInt32(words.length), words));
    const challenge = await answer(incoming, 11);
    const [, nonce = '', salt = '', iterations = ''] = /^r=([^,]+),s=([^,]+),i=(\d+)$/.exec(challenge) ?? [];
    const keys = await scramKeys(String(credential['password']), Buffer.from(salt, 'base64'), Number(iterations));
    const final = `c=biws,r=${nonce}`;
    const proof = proofOf(keys, `${first},${challenge},${final}`);
    await sendTo(socket, toMessage('p', Buffer.from(`${final},p=${proof}`)));
    await answer(incoming, 12);
    await sendTo(socket, toMessage('X'));
  } finally {
    leave(socket);
  }
}

function leave(socket: Socket): void {
  socket.on('error', () => {});
  socket.destroySoon();
}

function startupPacket(credential: FoundTrap['credential'], applicationName: string): Buffer {
  const named = { user: credential['user'], database: credential['database'], application_name: applicationName };
  const text = Object.entries(named).map(([name, value]) => `${name}\0${value}\0`);
  const body = Buffer.from(`${text.join('')}\0`);
  return Buffer.concat([toInt32(body.length + 8), toInt32(0x30000), body]);
}

async function answer(incoming: Incoming, kind: number): Promise<string> {
  const head = await incoming.take(5);
  const body = head === null ? null : await incoming.take(head.readUInt32BE(1) - 4);
  if (head === null || body === null) throw new Error('The decoy ended the connection of a login.');
  if (head[0] !== 0x52 || body.readInt32BE(0) !== kind) throw new Error('The decoy did not take a login as it should.');
  return body.toString('latin1', 4);
}

import type { Socket } from 'node:net';
import { type SecureContext, TLSSocket } from 'node:tls';
import { Incoming, sendTo } from '../incoming.ts';
import { errorMessage, fatalError, toInt32, toMessage } from './messages.ts';

/** Startup request of a client. */
export interface Startup {
  /** Socket, or TLS over it. */
  stream: Socket;
  incoming: Incoming;
  isTls: boolean;
  user: string;
  database: string;
  parameters: ReadonlyMap<string, string>;
  /** Startup packet as sent. */
  packet: Buffer;
}

/** Maximum length of a packet, as MAX_STARTUP_PACKET_LENGTH. */
const LONGEST = 10_000;
/** Maximum length of a name, as NAMEDATALEN - 1. */
const LONGEST_NAME = 63;
const SSL_REQUEST = 80_877_103;
const GSS_REQUEST = 80_877_104;
const CANCEL_REQUEST = 80_877_102;

const fatal = (code: string, message: string, line: number) =>
  fatalError(code, message, `postmaster.c:${line} ProcessStartupPacket`);

/** Reads the messages before a login. @returns null if the connection has to end. */
export async function readStartup(socket: Socket, secureContext: SecureContext): Promise<Startup | null> {
  let stream = socket;
  let incoming = new Incoming(socket);
  let isTls = false;
  for (;;) {
    const packet = await readPacket(incoming);
    if (packet === null) return null;
    const version = packet.readInt32BE(0);
    if (version === CANCEL_REQUEST) return null;
    if (version === GSS_REQUEST && !isTls) {
      // The server would continue if the client had a Kerberos ticket.
      if (await sendTo(stream, 'G')) await incoming.take(4);
      return null;
    }
    if (version !== SSL_REQUEST || isTls) return begin({ stream, incoming, isTls, packet });
    incoming.release();
    const secure = await secured(socket, secureContext);
    if (secure === null) return null;
    isTls = true;
    stream = secure;
    incoming = new Incoming(secure);
  }
}

async function readPacket(incoming: Incoming): Promise<Buffer | null> {
  const length = (await incoming.take(4))?.readUInt32BE() ?? 0;
  return length < 8 || length > LONGEST ? null : incoming.take(length - 4);
}

/** Switches to TLS. @returns null if the handshake fails. */
async function secured(socket: Socket, secureContext: SecureContext): Promise<TLSSocket | null> {
  const secure = new TLSSocket(socket, { isServer: true, secureContext });
  secure.on('error', () => secure.destroy());
  socket.write('S');
  return new Promise((resolve) => {
    secure.once('secure', () => resolve(secure));
    secure.once('close', () => resolve(null));
  });
}

type Raw = Pick<Startup, 'stream' | 'incoming' | 'isTls' | 'packet'>;

async function begin(raw: Raw): Promise<Startup | null> {
  const { stream, packet } = raw;
  const [major, minor] = [packet.readUInt16BE(0), packet.readUInt16BE(2)];
  if (major !== 3) {
    await sendTo(stream, unsupportedVersion(major, minor));
    return null;
  }
  const parameters = readParameters(packet.subarray(4));
  const user = parameters?.get('user') ?? '';
  if (parameters === null || user === '') {
    const error =
      parameters === null
        ? fatal('08P01', 'invalid startup packet layout: expected terminator as last byte', 2332)
        : fatal('28000', 'no PostgreSQL user name specified in startup packet', 2349);
    await sendTo(stream, errorMessage(error));
    return null;
  }
  const unknown = [...parameters.keys()].filter((name) => name.startsWith('_pq_.'));
  if (minor > 0 || unknown.length > 0)
    await sendTo(stream, toMessage('v', toInt32(0x30000), toInt32(unknown.length), ...unknown));
  const database = cut(parameters.get('database') || user);
  return { ...raw, user: cut(user), database, parameters };
}

/** Returns the error for an unsupported version; protocols before 3 have errors without fields. */
function unsupportedVersion(major: number, minor: number): Buffer {
  const message = `unsupported frontend protocol ${major}.${minor}: server supports 3.0 to 3.0`;
  return major < 3 ? Buffer.from(`EFATAL:  ${message}\n\0`) : errorMessage(fatal('0A000', message, 2220));
}

/** Reads null-terminated names and values, followed by one more null; returns null if that is missing. */
function readParameters(body: Buffer): Map<string, string> | null {
  const parameters = new Map<string, string>();
  for (let at = 0; ; ) {
    const end = body.indexOf(0, at);
    if (end === -1) return null;
    if (end === at) return at === body.length - 1 ? parameters : null;
    const endOfValue = body.indexOf(0, end + 1);
    if (endOfValue === -1) return null;
    parameters.set(body.toString('utf8', at, end), body.toString('utf8', end + 1, endOfValue));
    at = endOfValue + 1;
  }
}

function cut(name: string): string {
  const bytes = Buffer.from(name);
  return bytes.length <= LONGEST_NAME ? name : bytes.toString('utf8', 0, LONGEST_NAME);
}

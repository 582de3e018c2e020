import type { Server, Socket } from 'node:net';
import { remoteAddressOf } from './place.ts';

/** Limits for the connections of a decoy. Times are in milliseconds. */
export interface ConnectionLimits {
  /** Maximum numbers of simultaneous connections: in total, and from one address. */
  atOnce: number;
  ofOneAddress: number;
  /** Time limit until the first byte arrives. */
  firstByteMs: number;
  /** Time limit without a byte in either direction. */
  idleMs: number;
  /** Time limit of a connection as a whole. */
  wholeMs: number;
  /** Maximum number of bytes that one connection may send. */
  bytes: number;
}

/** Interval between checks of connections, and thus the precision of the time limits. */
const LOOK_MS = 250;

interface Open {
  socket: Socket;
  address: string;
  since: number;
  /** Time at which bytes last moved, and the number of bytes moved by then. */
  movedAt: number;
  moved: number;
}

/**
 * Applies limits to the connections of a server, including TLS and HTTP servers. A full server closes its oldest
 * connection and accepts the new one, so that silent connections cannot keep others out.
 */
export class LimitedConnections {
  readonly #server: Server;
  readonly #limits: ConnectionLimits;
  /** Open connections, oldest first. */
  readonly #all = new Set<Open>();
  readonly #byAddress = new Map<string, Set<Open>>();
  #looking: NodeJS.Timeout | undefined;

  constructor(server: Server, limits: ConnectionLimits) {
    this.#server = server;
    this.#limits = limits;
    server.prependListener('connection', (socket: Socket) => this.#enter(socket));
  }

  get count(): number {
    return this.#all.size;
  }

  /** Closes all connections and the server. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const { socket } of this.#all) socket.destroy();
    await closed;
  }

  #enter(socket: Socket): void {
    const address = remoteAddressOf(socket) ?? '';
    const { atOnce, ofOneAddress } = this.#limits;
    const own = this.#byAddress.get(address);
    if (own !== undefined && own.size >= ofOneAddress) this.#endOldest(own);
    if (this.#all.size >= atOnce) this.#endOldest(this.#all);
    const now = performance.now();
    const open = { socket, address, since: now, movedAt: now, moved: 0 };
    this.#all.add(open);
    this.#byAddress.set(address, (this.#byAddress.get(address) ?? new Set()).add(open));
    socket.once('close', () => this.#leave(open));
    // Ensures that an error of a connection ends only that connection, even without other listeners.
    socket.on('error', () => socket.destroy());
    this.#looking ??= setInterval(() => lookAt(this.#all, this.#limits), LOOK_MS).unref();
  }

  #leave(open: Open): void {
    this.#all.delete(open);
    const own = this.#byAddress.get(open.address);
    own?.delete(open);
    if (own?.size === 0) this.#byAddress.delete(open.address);
    if (this.#all.size > 0) return;
    clearInterval(this.#looking);
    this.#looking = undefined;
  }

  #endOldest(among: ReadonlySet<Open>): void {
    const [oldest] = among;
    if (oldest === undefined) return;
    this.#leave(oldest);
    oldest.socket.destroy();
  }
}

function lookAt(all: ReadonlySet<Open>, limits: ConnectionLimits): void {
  const now = performance.now();
  for (const open of all) {
    const { socket } = open;
    const moved = socket.bytesRead + socket.bytesWritten;
    if (moved !== open.moved) Object.assign(open, { moved, movedAt: now });
    if (isOver(open, now, limits)) socket.destroy();
  }
}

function isOver({ socket, since, movedAt }: Open, now: number, limits: ConnectionLimits): boolean {
  if (socket.bytesRead === 0 && now - since >= limits.firstByteMs) return true;
  return now - movedAt >= limits.idleMs || now - since >= limits.wholeMs || socket.bytesRead > limits.bytes;
}

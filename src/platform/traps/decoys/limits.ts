import type { Server, Socket } from 'node:net';
import { remoteAddressOf } from './place.ts';

/** Limits for the clients of a decoy. Times are milliseconds. */
export interface ConnectionLimits {
  /** Connections at once: of everybody, and of one address. */
  atOnce: number;
  ofOneAddress: number;
  /** Until the first byte came. */
  firstByteMs: number;
  /** Without a byte in either direction. */
  idleMs: number;
  /** From beginning to end. */
  wholeMs: number;
  /** The most bytes that one connection may send. */
  bytes: number;
}

/** The interval between checks of connections, and so the precision of their times. */
const LOOK_MS = 250;

interface Open {
  socket: Socket;
  address: string;
  since: number;
  /** When bytes last moved, and how many had by then. */
  movedAt: number;
  moved: number;
}

/**
 * The connections of a server, also of one of TLS or HTTP, held to limits. A server that is full ends its oldest
 * connection, and takes the new one: silent ones keep nobody out.
 */
export class LimitedConnections {
  readonly #server: Server;
  readonly #limits: ConnectionLimits;
  /** The oldest first. */
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

  /** Ends all, and the server. */
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
    // Other listeners or none: an error of a stranger's connection ends nothing but the connection.
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

import type { Socket } from 'node:net';
import { startTcpRelay, type TcpRelay } from './tcp-relay.ts';

/** A relay to a server on this machine that breaks and stalls connections at random. */
export interface FlakyProxy extends TcpRelay {
  /** True while it breaks and stalls connections. */
  isFlaky: boolean;
}

const BROKEN = 0.05;
const STALLED = 0.02;
const STALL_MS = 3000;
/** Most bytes before a fault. */
const WITHIN_BYTES = 20_000;

export async function startFlakyProxy(port: number, random: () => number): Promise<FlakyProxy> {
  const disturb = (incoming: Socket, outgoing: Socket) => {
    const drawn = proxy.isFlaky ? random() : 1;
    if (drawn >= BROKEN + STALLED) return;
    const after = random() * WITHIN_BYTES;
    let bytes = 0;
    outgoing.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes < after) return;
      if (drawn < BROKEN) incoming.destroy();
      else {
        outgoing.pause();
        setTimeout(() => outgoing.resume(), STALL_MS).unref();
      }
    });
  };
  const proxy: FlakyProxy = { ...(await startTcpRelay(port, undefined, disturb)), isFlaky: true };
  return proxy;
}

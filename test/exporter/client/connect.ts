import type { TransportOptions } from '../../../src/exporter/client/options.ts';
import { DEFAULT_TRANSPORT } from '../../../src/exporter/client/options.ts';
import { Transport } from '../../../src/exporter/client/transport.ts';

export const API_KEY = 'sk_live/0123+secret=';

/** Creates a transport to the origin of this address, with short time limits. */
export function connectTo(url: string, more: Partial<TransportOptions> = {}): Transport {
  return new Transport({
    ...DEFAULT_TRANSPORT,
    timeouts: { ...DEFAULT_TRANSPORT.timeouts, connect: 1000, headers: 1000, idle: 500 },
    origin: new URL(url).origin,
    apiKey: API_KEY,
    userAgent: 'test/1',
    signal: new AbortController().signal,
    ...more,
  });
}

/** Returns the error of a failing call. */
export async function failure(call: Promise<unknown>): Promise<Error & { code?: string; nextStep?: string }> {
  try {
    await call;
  } catch (error) {
    return error as Error;
  }
  throw new Error('the call succeeded');
}

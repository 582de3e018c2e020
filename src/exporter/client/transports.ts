import type { TransportOptions } from './options.ts';
import { Transport } from './transport.ts';

/** Transports by origin, one for each, so that services with the same address share one pace. */
export class Transports {
  readonly #options: Omit<TransportOptions, 'origin'>;
  readonly #open = new Map<string, Transport>();

  constructor(options: Omit<TransportOptions, 'origin'>) {
    this.#options = options;
  }

  to(origin: string): Transport {
    const transport = this.#open.get(origin) ?? new Transport({ ...this.#options, origin });
    this.#open.set(origin, transport);
    return transport;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open.values()].map((transport) => transport.close()));
  }
}

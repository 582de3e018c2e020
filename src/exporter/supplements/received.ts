import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EvidenceError } from '../../core/errors.ts';
import type { TransferLog } from '../../verifier/bundle/documents.ts';
import type { PayloadSource } from '../../verifier/bundle/source.ts';
import type { Exchange } from '../client/exchange.ts';
import type { SupplementSource } from './source.ts';

/** What one service answered: files as they were received, and the log of how. */
export class Received {
  readonly files: PayloadSource[] = [];
  readonly transferLog: TransferLog['steps'] = [];
  readonly #folder: string;
  readonly #limits: SupplementSource['limits'];
  #bytes = 0;

  /** @param folder of this service alone. */
  constructor(folder: string, limits: SupplementSource['limits']) {
    this.#folder = folder;
    this.#limits = limits;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Keeps an answer.
   * @param path in the bag.
   * @throws EvidenceError `service` for more than the limits allow.
   */
  keep(path: string, body: Uint8Array): void {
    const { answers, bytes } = this.#limits;
    this.#bytes += body.length;
    if (this.files.length >= answers) throw tooMuch(`more than ${answers} answers`, 'pages');
    if (this.#bytes > bytes) throw tooMuch(`more than ${bytes} bytes`, 'package_bytes');
    const file = join(this.#folder, `${this.files.length}.json`);
    writeFileSync(file, body, { mode: 0o600 });
    this.files.push({ path, file, bytes: body.length });
  }

  /** Notes how an answer came that is kept. */
  log(step: string, path: string, exchange: Exchange): void {
    this.transferLog.push({ step, file: path, exchange });
  }
}

function tooMuch(what: string, limit: string): EvidenceError {
  return new EvidenceError('service', `the service goes on after ${what}: its lists never end, or hold too much`, {
    nextStep: `If it has as much as that, raise source.limits.${limit}, and run the same command again to resume.`,
  });
}

import { writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EvidenceError } from '../../core/errors.ts';
import type { TransferLog } from '../../verifier/bundle/documents.ts';
import type { ReceivedFiles } from '../../verifier/supplements/tally.ts';
import type { Exchange } from '../client/exchange.ts';
import type { SupplementSource } from './source.ts';

/** An answer as a file. */
interface Kept {
  /** In the bag. */
  path: string;
  file: string;
  bytes: number;
}

/** The answers of one service: files as they were received, and the log of how. */
export class ReceivedAnswers implements ReceivedFiles {
  readonly transferLog: TransferLog['steps'] = [];
  readonly #folder: string;
  readonly #limits: SupplementSource['limits'];
  readonly #kept = new Map<string, Kept>();
  #bytes = 0;

  /** @param folder of this service alone. */
  constructor(folder: string, limits: SupplementSource['limits']) {
    this.#folder = folder;
    this.#limits = limits;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get files(): Kept[] {
    return [...this.#kept.values()];
  }

  /**
   * Keeps an answer.
   * @param path in the bag.
   * @throws EvidenceError `service` for more than the limits allow.
   */
  keep(path: string, body: Uint8Array): void {
    const { answers, bytes } = this.#limits;
    this.#bytes += body.length;
    if (this.#kept.size >= answers) throw tooMuch(`more than ${answers} answers`, 'pages');
    if (this.#bytes > bytes) throw tooMuch(`more than ${bytes} bytes`, 'package_bytes');
    const file = join(this.#folder, `${this.#kept.size}.json`);
    writeFileSync(file, body, { mode: 0o600 });
    this.#kept.set(path, { path, file, bytes: body.length });
  }

  /** Notes how an answer came that is kept. */
  log(step: string, path: string, exchange: Exchange): void {
    this.transferLog.push({ step, file: path, exchange });
  }

  /** Paths of its answers in the bag. */
  get paths(): Iterable<string> {
    return this.#kept.keys();
  }

  async read(path: string): Promise<Uint8Array> {
    const kept = this.#kept.get(path);
    if (kept === undefined) throw new TypeError(`there is no ${path}`);
    return readFile(kept.file);
  }
}

function tooMuch(what: string, limit: string): EvidenceError {
  return new EvidenceError('service', `the service goes on after ${what}: its lists never end, or hold too much`, {
    nextStep: `If it has as much as that, raise source.limits.${limit}.`,
  });
}

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EvidenceError } from '../../core/errors.ts';
import type { TransferLog } from '../../verifier/bundle/documents.ts';
import { type RecordKind, recordFiles } from '../../verifier/supplements/files.ts';
import { readRecords, type SupplementRecord } from '../../verifier/supplements/reading.ts';
import type { Exchange } from '../client/exchange.ts';
import type { SupplementSource } from './source.ts';

/** An answer as a file. */
interface Kept {
  /** In the bag. */
  path: string;
  file: string;
  bytes: number;
}

/** What one service answered: files as they were received, and the log of how. */
export class Received {
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

  read(path: string): Uint8Array {
    const kept = this.#kept.get(path);
    if (kept === undefined) throw new TypeError(`there is no ${path}`);
    return readFileSync(kept.file);
  }

  /**
   * The records of a kind, those of one answer at a time, in the order in which everybody reads them.
   * @throws EvidenceError `contract` for an answer that is not as the contract says.
   */
  *records(contract: SupplementSource['contract'], kind: RecordKind): Generator<SupplementRecord[]> {
    for (const path of recordFiles(kind, this.#kept.keys())) yield readRecords(contract, kind, this.read(path));
  }
}

function tooMuch(what: string, limit: string): EvidenceError {
  return new EvidenceError('service', `the service goes on after ${what}: its lists never end, or hold too much`, {
    nextStep: `If it has as much as that, raise source.limits.${limit}, and run the same command again to resume.`,
  });
}

import { constants, writeFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { inBlocks, toWrites } from '../../core/chunks.ts';
import { StreamingSha256 } from '../../core/digest.ts';
import { EvidenceError, isEvidenceError } from '../../core/errors.ts';
import type { Answer } from './answer.ts';
import type { Accepts, Call, NotYet } from './call.ts';
import { toConnectionError } from './connection-error.ts';
import { SurplusError } from './dispatcher.ts';
import { type Exchange, toExchange } from './exchange.ts';
import { Expectation } from './expectation.ts';
import { type ConnectionOptions, callLimits } from './options.ts';
import { describeRefusal, toUnexpectedAnswer } from './problem.ts';
import { type AttemptFailure, Attempts } from './retry.ts';
import type { Sender } from './send.ts';

export interface Observer {
  /** Called when the file begins or begins again; earlier bytes are discarded. */
  restart(): void;
  /** Receives bytes that are valid until it returns or its promise resolves. */
  chunk(bytes: Uint8Array): void | Promise<void>;
}

export interface Downloaded {
  exchange: Exchange;
  contentType: string;
}

/** Part of one version that has arrived. */
interface Part {
  file: FileHandle;
  digest: StreamingSha256;
  bytes: number;
  contentType: string;
  expectation: Expectation;
  /** Version of the file; null if the part cannot be resumed. */
  version: Version | null;
}

/**
 * Block size for writing and hashing. Handling each read of a socket (64 KiB at most) on its own costs more than the
 * bytes.
 */
const BLOCK_BYTES = 256 * 1024;
/**
 * Minimum block size, which fits most files of small streams. Larger buffers than needed increase garbage collection.
 */
const LEAST_BLOCK_BYTES = 16 * 1024;

type Outcome = Downloaded | NotYet | AttemptFailure;

/**
 * Downloads one answer to a file. A broken attempt is resumed at the same place if the service can confirm that the
 * file is unchanged, and restarted otherwise: two versions are never combined. undici's RetryHandler combines them
 * without a strong ETag, so this class has a loop instead.
 */
export class Download {
  readonly #sender: Sender;
  readonly #options: ConnectionOptions;
  readonly #call: Call;
  readonly #accepts: Accepts;
  readonly #path: string;
  readonly #observer: Observer;
  readonly #attempts: Attempts;
  #part: Part | null = null;

  constructor(
    [sender, options]: readonly [Sender, ConnectionOptions],
    [call, accepts]: readonly [Call, Accepts],
    path: string,
    observer: Observer,
  ) {
    this.#sender = sender;
    this.#options = options;
    this.#call = call;
    this.#accepts = accepts;
    this.#path = path;
    this.#observer = observer;
    this.#attempts = new Attempts(callLimits(options, 'download'));
  }

  async run(): Promise<Downloaded | NotYet> {
    try {
      for (;;) {
        this.#attempts.begin();
        const outcome = await this.#attempt();
        if (!('error' in outcome)) return outcome;
        await this.#attempts.next(outcome, this.#options.signal, this.#part?.bytes);
      }
    } finally {
      await this.#part?.file.close();
    }
  }

  async #attempt(): Promise<Outcome> {
    const part = this.#part;
    const version = part !== null && part.bytes > 0 ? part.version : null;
    const range = version === null ? {} : rangeHeaders(version, part?.bytes ?? 0);
    // Requests the unencoded file, because ranges and digests refer to its bytes.
    const headers = { 'accept-encoding': 'identity', ...range };
    const asked = await this.#sender.ask(this.#call, this.#accepts, headers, this.#attempts);
    if ('notYet' in asked) return asked;
    if ('error' in asked) return asked.status === 416 && version !== null ? this.#forget(asked) : asked;
    const { answer } = asked;
    if (answer.status === 200 || answer.status === 203) return this.#take(answer, await this.#begin(answer), null);
    if (answer.status !== 206) throw await this.#unexpected(answer, 'the status is not valid for a download');
    const rest = part === null || version === null ? null : continuationOf(answer, version, part.bytes);
    if (part !== null && version !== null && rest !== null) {
      part.version = { ...version, total: rest.total };
      return this.#take(answer, part, rest.end);
    }
    return this.#forget({
      error: await this.#unexpected(answer, 'the answer is not the requested part'),
      retry: true,
    });
  }

  /** Makes the next attempt start from the beginning. */
  #forget(failure: AttemptFailure): AttemptFailure {
    if (this.#part !== null) this.#part.version = null;
    return { ...failure, retry: true, waitMs: null };
  }

  async #begin(answer: Answer): Promise<Part> {
    await this.#part?.file.close();
    this.#part = null;
    const part: Part = {
      file: await open(this.#path, constants.O_RDWR | constants.O_CREAT, 0o600),
      digest: new StreamingSha256(),
      bytes: 0,
      contentType: answer.contentType,
      expectation: new Expectation(this.#accepts, answer.contentType),
      version: versionOf(answer),
    };
    this.#part = part;
    return part;
  }

  /** @param end offset in the file at which the answer ends, if stated. */
  async #take(answer: Answer, part: Part, end: number | null): Promise<Outcome> {
    let keeping = false;
    try {
      const content = answer.content(this.#options.maxBytes.download, part.bytes);
      const length = Math.max(answer.contentLength ?? BLOCK_BYTES, LEAST_BLOCK_BYTES);
      for await (const chunk of inBlocks(content, Math.min(length, BLOCK_BYTES))) {
        if (end !== null && part.bytes + chunk.length > end) throw new SurplusError();
        keeping = true;
        await this.#keep(answer, part, chunk);
        keeping = false;
      }
    } catch (error) {
      this.#options.signal.throwIfAborted();
      // A full disk is not the service's fault and will not recover by itself. EvidenceErrors are final.
      if (keeping || isEvidenceError(error)) throw error;
      const failure = { error: toConnectionError(this.#call, error), retry: this.#call.repeatable };
      return error instanceof SurplusError ? this.#forget(failure) : failure;
    }
    return this.#conclude(answer, part);
  }

  async #keep(answer: Answer, part: Part, chunk: Uint8Array): Promise<void> {
    // Discards the part of an earlier attempt only when this attempt brings its first bytes.
    if (part.bytes === 0) {
      await part.file.truncate(0);
      this.#observer.restart();
    }
    // Writes synchronously, because passing small blocks to another thread takes longer.
    for (const piece of toWrites(chunk)) writeFileSync(part.file.fd, piece);
    part.digest.update(chunk);
    part.bytes += chunk.length;
    const why = part.expectation.see(chunk);
    if (why !== null) throw toUnexpectedAnswer(this.#refusal(answer, part), why);
    await this.#observer.chunk(chunk);
  }

  #conclude(answer: Answer, part: Part): Outcome {
    const total = part.version?.total ?? part.bytes;
    if (part.bytes < total) {
      const what = `${this.#call.method} ${this.#call.url} answered with ${part.bytes} of ${total} bytes`;
      return { error: new EvidenceError('unreachable', what), retry: true };
    }
    const why = part.expectation.end();
    if (why !== null) throw toUnexpectedAnswer(this.#refusal(answer, part), why);
    return {
      exchange: toExchange(answer, this.#attempts.count, part.digest.finish(), this.#options.scrub),
      contentType: part.contentType,
    };
  }

  #refusal(answer: Answer, part: Part) {
    return describeRefusal(answer, part.expectation.head, this.#options.scrub);
  }

  async #unexpected(answer: Answer, why: string): Promise<EvidenceError> {
    const body = await answer.beginning(MAX_QUOTED_BYTES);
    return toUnexpectedAnswer(describeRefusal(answer, body, this.#options.scrub), why);
  }
}

/** Maximum number of bytes that a message quotes from an answer with an unexpected status. */
const MAX_QUOTED_BYTES = 1024;

/** Version of a partly received file that the service can be asked to continue. */
interface Version {
  /** Strong ETag: a weak one does not guarantee the same bytes (RFC 9110 section 8.8.1). */
  etag: string;
  /** Length in bytes; null while it is unknown. */
  total: number | null;
}

/** Returns the version that an answer begins; null if it cannot be resumed. */
function versionOf(answer: Answer): Version | null {
  const etag = answer.header('etag');
  if (etag === null || !/^"[\x21\x23-\x7e\x80-\xff]*"$/.test(etag)) return null;
  // Ranges count encoded bytes, and a repeated encoding may differ.
  if (answer.isEncoded || answer.header('accept-ranges')?.toLowerCase() === 'none') return null;
  return { etag, total: answer.contentLength };
}

/** Returns headers that request the rest of this version, or the whole of another (RFC 9110 section 13.1.5). */
function rangeHeaders({ etag }: Version, from: number): Record<string, string> {
  return { range: `bytes=${from}-`, 'if-range': etag };
}

/**
 * Reads the range of a 206 answer.
 * @returns its end, exclusive, and the total length if known; null if the answer is not the requested part of the same
 * version.
 */
function continuationOf(
  answer: Answer,
  { etag, total }: Version,
  from: number,
): { end: number; total: number | null } | null {
  const range = /^bytes (\d+)-(\d+)\/(\d+|\*)$/i.exec(answer.header('content-range') ?? '');
  if (range === null || answer.isEncoded) return null;
  const [start, last] = [Number(range[1]), Number(range[2])];
  const stated = range[3] === '*' ? null : Number(range[3]);
  const whole = stated ?? total;
  const sameVersion = [etag, null].includes(answer.header('etag')) && (total === null || whole === total);
  if (!sameVersion || start !== from || (whole !== null && last >= whole)) return null;
  if (answer.contentLength !== null && answer.contentLength !== last + 1 - start) return null;
  return { end: last + 1, total: whole };
}

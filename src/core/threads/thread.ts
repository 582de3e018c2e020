import { once } from 'node:events';
import { MessageChannel, type MessagePort, Worker, type WorkerOptions } from 'node:worker_threads';
import { messageOf } from '../errors.ts';
import { type ErrorValue, type ThreadReply, type ThreadRequest, toError } from './messages.ts';

export interface ThreadOptions extends WorkerOptions {
  /**
   * Maximum number of threads, which requests share. Without it, each request has a thread to itself, and abandoning the
   * request ends the thread.
   */
  most?: number;
  /** Time after which an idle thread ends. Without it, the thread is kept. */
  idleMs?: number;
  /** Creates the error for requests whose thread failed. */
  toFailure?(reason: string, details: ErrorOptions): Error;
  /** Creates an error of a class that `toError` does not know; null for any other. */
  toOwnError?(value: ErrorValue): Error | null;
}

/** Settings of one request. */
export interface Asking {
  signal?: AbortSignal;
  limits?: ThreadLimits;
  /** True if the thread sends values unasked. */
  isAhead?: boolean;
}

/** Limits in addition to `resourceLimits`. They also end code that never pauses. */
interface ThreadLimits {
  ms: number;
  /** Maximum size of buffers, which are outside the heap. */
  buffersBytes: number;
}

const LOOK_EVERY_MS = 250;

/** Thread whose program calls `serve`. */
export class Thread<Request, Answer> {
  readonly #worker: Worker;
  readonly #options: ThreadOptions;
  /** Resolves when the thread has started or failed to start. */
  readonly started: Promise<unknown>;
  /** Number of requests under way. */
  busy = 0;
  /** True if the thread takes no more requests. */
  hasEnded = false;
  /** Error for requests that are under way when the thread ends. */
  #failure: Error | null = null;
  #idle: NodeJS.Timeout | undefined;
  #end: Promise<unknown> | null = null;

  constructor(program: URL, options: ThreadOptions) {
    this.#options = options;
    this.#worker = new Worker(program, options);
    // Only the ports of requests keep the process alive.
    this.#worker.unref();
    this.started = once(this.#worker, 'online').catch(() => {});
    this.#worker.on('error', (error) => this.#noteFailure(reasonOf(error), { cause: error }));
    this.#worker.on('exit', () => this.#noteFailure('it ended'));
  }

  /**
   * Yields the values of an answer. Leaving the loop abandons the request.
   * @throws the handler's error; the signal's reason; the failure of a thread that ended or exceeded a limit.
   */
  async *values(request: Request, { signal, limits, isAhead = false }: Asking): AsyncGenerator<Answer> {
    const { port1, port2: port } = new MessageChannel();
    const leave = () => port1.close();
    signal?.addEventListener('abort', leave);
    const began = performance.now();
    const look = limits && setInterval(() => this.#look(began, limits), LOOK_EVERY_MS);
    this.busy++;
    clearTimeout(this.#idle);
    let isOver = false;
    try {
      this.#worker.postMessage({ request, isAhead, port } satisfies ThreadRequest<Request>, [port]);
      for await (const reply of repliesAt<Answer>(port1)) {
        isOver = !('value' in reply);
        if ('done' in reply) return;
        if ('error' in reply) throw this.#options.toOwnError?.(reply.error) ?? toError(reply.error);
        yield reply.value;
        if (!isAhead) port1.postMessage('next');
      }
      signal?.throwIfAborted();
      await this.end();
      throw this.#failure;
    } finally {
      clearInterval(look);
      signal?.removeEventListener('abort', leave);
      port1.close();
      this.busy--;
      const { most, idleMs } = this.#options;
      if (!isOver && most === undefined) await this.end();
      if (idleMs !== undefined && this.busy === 0) this.#idle = setTimeout(() => void this.end(), idleMs).unref();
    }
  }

  /** Ends the thread. Requests under way fail. */
  async end(): Promise<void> {
    this.hasEnded = true;
    clearTimeout(this.#idle);
    this.#end ??= this.#worker.terminate();
    await this.#end;
  }

  #noteFailure(reason: string, details: ErrorOptions = {}): void {
    const { toFailure = (why) => new Error(`a thread failed: ${why}`, details) } = this.#options;
    this.hasEnded = true;
    this.#failure ??= toFailure(reason, details);
  }

  async #look(began: number, { ms, buffersBytes }: ThreadLimits): Promise<void> {
    const fail = (reason: string) => {
      this.#noteFailure(reason);
      void this.end();
    };
    if (performance.now() - began > ms) fail('it takes too long');
    const statistics = await this.#worker.getHeapStatistics().catch(() => null);
    if (statistics !== null && statistics.external_memory > buffersBytes) fail('it takes too much memory');
  }
}

/** Yields the messages of a port until it closes. Allocates far less than `on` of `node:events`. */
async function* repliesAt<Answer>(port: MessagePort): AsyncGenerator<ThreadReply<Answer>> {
  const arrived: ThreadReply<Answer>[] = [];
  let isClosed = false;
  let wake = () => {};
  port.on('message', (reply) => {
    arrived.push(reply);
    wake();
  });
  port.on('close', () => {
    isClosed = true;
    wake();
  });
  while (!isClosed || arrived.length > 0) {
    const reply = arrived.shift();
    if (reply !== undefined) yield reply;
    else
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
  }
}

function reasonOf(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'it takes too much memory' : messageOf(error);
}

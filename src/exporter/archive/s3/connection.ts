import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { Readable, Transform } from 'node:stream';
import { S3Client } from '@aws-sdk/client-s3';
import { whereDefined } from '../../../core/defined.ts';
import { EvidenceError } from '../../../core/errors.ts';
import { wait } from '../../../core/wait.ts';
import { askedToWait, isRefusal, isTransient, toStoreError } from './failure.ts';
import type { S3Limits, S3Options } from './options.ts';

const QUIET = { trace() {}, debug() {}, info() {}, warn() {}, error() {} };

/** S3 command with the type of its answer. The SDK's types only infer the answer for one concrete command at a time. */
interface CommandFor<Answer> {
  resolveMiddleware(...given: never[]): (...given: never[]) => Promise<{ output: Answer }>;
}

type Leave = readonly (number | string)[];

/** S3 client with limits on every request, retries, and errors of this program. */
export class Connection {
  readonly client: S3Client;
  readonly limits: S3Limits;
  readonly #signal: AbortSignal;
  readonly #trace: S3Options['trace'];

  constructor(options: S3Options) {
    this.limits = options.limits;
    this.#signal = options.signal;
    this.#trace = options.trace;
    this.client = makeClient(options);
  }

  /**
   * Repeats an operation until it succeeds, fails permanently, or runs out of attempts.
   *
   * @param doing completes "could not …"
   * @param work receives a signal that ends it.
   * @param options `bytes`: number of bytes sent. `leave`: answers, by status or name, that the caller handles; they
   * are rethrown unchanged.
   * @throws EvidenceError `store-refused`, `config`, `not-found`, `archive`; an EvidenceError of `work` unchanged.
   */
  async attempt<T>(
    doing: string,
    work: (signal: AbortSignal) => Promise<T>,
    { bytes = 0, leave = [] }: { bytes?: number; leave?: Leave } = {},
  ): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const done = await this.#once(work, bytes);
        this.#trace?.(`store: ${doing}: done`);
        return done;
      } catch (error) {
        this.#signal.throwIfAborted();
        if (error instanceof EvidenceError || isRefusal(error, ...leave)) throw error;
        if (!isTransient(error) || attempt >= this.limits.attempts)
          throw toStoreError(error, doing, await this.#secrets());
        this.#trace?.(
          `store: ${doing}: attempt ${attempt} of ${this.limits.attempts} failed: ${(error as Error).name}; trying again`,
        );
        await this.#wait(attempt, askedToWait(error));
      }
    }
  }

  /** Sends a command. @param doing and the options are those of `attempt`. @throws EvidenceError as `attempt` does. */
  send<Answer>(
    doing: string,
    command: CommandFor<Answer>,
    options: { bytes?: number; leave?: Leave } = {},
  ): Promise<Answer> {
    const send = (abortSignal: AbortSignal): Promise<unknown> => this.client.send(command as never, { abortSignal });
    return this.attempt(doing, send, options) as Promise<Answer>;
  }

  /**
   * Sends a command like `send`. For an answer that `leave` lists by status or name, returns the result of `refused`.
   */
  async sendOr<Answer, T>(
    doing: string,
    command: CommandFor<Answer>,
    leave: Leave,
    refused: (error: unknown) => T,
  ): Promise<Answer | T> {
    try {
      return await this.send(doing, command, { leave });
    } catch (error) {
      if (isRefusal(error, ...leave)) return refused(error);
      throw error;
    }
  }

  [Symbol.dispose](): void {
    this.client.destroy();
  }

  async #once<T>(work: (signal: AbortSignal) => Promise<T>, bytes: number): Promise<T> {
    const { requestMs, bytesPerSecond } = this.limits;
    const controller = new AbortController();
    const timer = setTimeout(() => controller.abort(), requestMs + (bytes / bytesPerSecond) * 1000);
    try {
      return await work(AbortSignal.any([this.#signal, controller.signal]));
    } finally {
      clearTimeout(timer);
    }
  }

  /** Waits with exponential backoff and jitter, so that clients refused together do not return together. */
  async #wait(attempt: number, asked: number): Promise<void> {
    const { firstWaitMs, maxWaitMs } = this.limits;
    const ceiling = Math.min(maxWaitMs, firstWaitMs * 2 ** (attempt - 1));
    await wait(Math.min(maxWaitMs, Math.max(asked, ceiling * (0.5 + Math.random() / 2))), this.#signal);
  }

  async #secrets(): Promise<string[]> {
    const identity = await this.client.config.credentials().catch(() => null);
    if (identity === null) return [];
    const { accessKeyId, secretAccessKey, sessionToken = '' } = identity;
    return [secretAccessKey, sessionToken, accessKeyId].filter((secret) => secret.length >= 4);
  }
}

function makeClient(options: S3Options): S3Client {
  const { endpoint, region, profile, ca, limits } = options;
  const client = new S3Client({
    ...whereDefined({ endpoint, region, profile }),
    forcePathStyle: options.pathStyle,
    // This class retries, because it can recreate bodies and look up keys before each attempt.
    maxAttempts: 1,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    // Disabled because the SDK then uses a separate agent for bodies of 2 MB and more, without the configured CA.
    expectContinueHeader: false,
    logger: QUIET,
    requestHandler: {
      connectionTimeout: limits.connectMs,
      socketTimeout: limits.idleMs,
      httpAgent: new HttpAgent({ keepAlive: true, maxSockets: 64 }),
      httpsAgent: new HttpsAgent({ keepAlive: true, maxSockets: 64, ...whereDefined({ ca }) }),
    },
  });
  signBodies(client);
  boundAnswers(client);
  return client;
}

/**
 * Signs the digest of the body that is also sent as a checksum. Stores without checksums still check the body against
 * it.
 */
function signBodies(client: S3Client): void {
  client.middlewareStack.add(
    (next) => (args) => {
      const { headers } = args.request as { headers: Record<string, string> };
      const checksum = headers['x-amz-checksum-sha256'];
      if (checksum !== undefined) headers['x-amz-content-sha256'] = Buffer.from(checksum, 'base64').toString('hex');
      return next(args);
    },
    { step: 'build', name: 'signBodies' },
  );
}

/**
 * Maximum size of an answer other than an object. The largest is a page of a listing: a thousand names of at most 3 KB.
 */
const MAX_ANSWER_BYTES = 16 * 2 ** 20;

/** Aborts answers that are read into memory as a whole if they exceed the limit. */
function boundAnswers(client: S3Client): void {
  client.middlewareStack.add(
    (next, context) => async (args) => {
      const result = await next(args);
      const response = result.response as { statusCode: number; body: unknown };
      const streamed = context.commandName === 'GetObjectCommand' && response.statusCode < 300;
      if (!streamed && response.body instanceof Readable) response.body = bounded(response.body);
      return result;
    },
    // Last middleware before the wire, so the first to see the answer.
    { step: 'deserialize', name: 'boundAnswers', priority: 'low' },
  );
}

function bounded(body: Readable): Readable {
  let bytes = 0;
  const limit = new Transform({
    transform(block: Buffer, _encoding, done) {
      bytes += block.length;
      if (bytes <= MAX_ANSWER_BYTES) return done(null, block);
      done(
        new EvidenceError('archive', `the store returned an answer of more than ${MAX_ANSWER_BYTES} bytes`, {
          nextStep: 'Check that archive.endpoint is the address of an S3 store.',
        }),
      );
      body.destroy();
    },
  });
  // Avoids `pipeline`: the SDK destroys the body after reading it, which is no failure.
  body.on('error', (error) => limit.destroy(error));
  return body.pipe(limit);
}

import { AsyncLocalStorage } from 'node:async_hooks';
import { messageOf } from '../../core/errors.ts';
import { wait } from '../../core/wait.ts';
import type { SentRequest } from '../client/call.ts';
import type { ExportEvent } from '../export/events.ts';
import type { ExportResult } from '../export/run.ts';
import { type CommandEnd, type NotificationChannel, type NotifiedRun, toNotifiedRun } from './channel.ts';

/** Time limit for all notifications at the end of a command. */
const PATIENCE_MS = 3000;
/** Maximum length in characters. healthchecks.io keeps 100 kB; a collector may keep less. */
const MAX_SUMMARY = 10_000;

/** Notifications, as commands use them. */
export type Notified = Pick<Notifications, 'listen' | 'request' | 'around' | 'concluded' | 'traceParent'>;

/** Notifies any number of channels of a command's progress. A channel that fails or hangs never affects the command. */
export class Notifications {
  readonly #channels: readonly NotificationChannel[];
  readonly #note: (line: string) => void;
  readonly #startedAt = new Date();
  readonly #runs: NotifiedRun[] = [];
  /** Id of the stream that is being exported. */
  readonly #stream = new AsyncLocalStorage<string>();
  /** Pending `begin` of each channel, which `end` waits for. */
  readonly #beginnings = new Map<NotificationChannel, Promise<void>>();

  /** @param note receives a line for every failed notification. */
  constructor(channels: readonly NotificationChannel[], note: (line: string) => void) {
    this.#channels = channels;
    this.#note = note;
  }

  /** Notifies all channels that the command has begun, without waiting for them. */
  begin(): void {
    for (const channel of this.#channels)
      if (channel.begin !== undefined) {
        const signal = AbortSignal.timeout(PATIENCE_MS);
        this.#beginnings.set(
          channel,
          this.#guarded(channel, () => channel.begin?.(signal)),
        );
      }
  }

  /** @param runId of the event, if the command works on several runs. */
  readonly listen = (event: ExportEvent, runId: string | null = null): void => {
    for (const channel of this.#channels) this.#attempt(channel, () => channel.listen?.(event, runId));
  };

  readonly request = (request: SentRequest): void => {
    const streamId = this.#stream.getStore() ?? null;
    for (const channel of this.#channels) this.#attempt(channel, () => channel.request?.(request, streamId));
  };

  /** @param parent W3C traceparent of the trace that the stream belongs to; null for this command's trace. */
  readonly around = <T>(streamId: string, work: () => Promise<T>, parent: string | null = null): Promise<T> => {
    const inStream = () => this.#stream.run(streamId, work);
    return this.#channels.reduce<() => Promise<T>>((inner, channel) => {
      return () => (channel.around === undefined ? inner() : channel.around(streamId, inner, parent));
    }, inStream)();
  };

  /** W3C traceparent of this command's trace; null if no channel records one. */
  get traceParent(): string | null {
    return this.#channels.map(({ traceParent }) => traceParent ?? null).find((one) => one !== null) ?? null;
  }

  /** Adds the result of a run to the notification about the command's end. */
  concluded(result: ExportResult): void {
    this.#runs.push(toNotifiedRun(result));
  }

  /** Notifies all channels of the command's end, and waits a few seconds for them. */
  async end({ exitCode, message }: { exitCode: number; message: string | null }): Promise<void> {
    const summary = summaryOf(exitCode, message, this.#runs);
    const end: CommandEnd = { startedAt: this.#startedAt, endedAt: new Date(), exitCode, summary, runs: this.#runs };
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const telling = this.#channels.map(async (channel) => {
      await this.#beginnings.get(channel);
      await this.#guarded(channel, () => channel.end(end, signal));
    });
    await Promise.all(telling);
  }

  /** Runs work with a time limit, and abandons it when the time is up. */
  async #guarded(channel: NotificationChannel, work: () => Promise<void> | undefined): Promise<void> {
    const patience = new AbortController();
    const outOfTime = wait(PATIENCE_MS + 500, patience.signal).then(() => {
      throw new Error('out of time');
    });
    try {
      await Promise.race([work(), outOfTime]);
    } catch (error) {
      this.#failed(channel, error);
    } finally {
      patience.abort();
      await outOfTime.catch(() => {});
    }
  }

  #attempt(channel: NotificationChannel, work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#failed(channel, error);
    }
  }

  #failed({ name }: NotificationChannel, error: unknown): void {
    this.#note(whyFailed(name, error));
  }
}

/** Notifications of a command that has no channels. */
export const NOBODY_NOTIFIED: Notified = new Notifications([], () => {});

/** @param name of the channel. */
export function whyFailed(name: string, error: unknown): string {
  return `The ${name} failed: ${messageOf(error)}. The export is not affected.`;
}

function summaryOf(exitCode: number, message: string | null, runs: readonly NotifiedRun[]): string {
  const lines = runs.map(({ runId, state, outcome, streams, failed, entries }) => {
    const counts = Object.entries(streams).map(([status, count]) => `${count} ${status}`);
    return `run ${runId} ${state}: ${outcome}; streams: ${[...counts, `${failed} failed`].join(', ')}; ${entries} entries`;
  });
  return [`exit code ${exitCode}`, ...(message === null ? [] : [message]), ...lines].join('\n').slice(0, MAX_SUMMARY);
}

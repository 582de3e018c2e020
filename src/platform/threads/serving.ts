import { parentPort } from 'node:worker_threads';
import { type DomainCode, DomainError } from '../errors.ts';

/** To a thread: a task to begin, or one of which the next value, or nothing more, is wanted. */
export type ToThread<Task> = { id: number; task: Task } | { id: number; wants: 'next' | 'nothing' } | 'close';

/** A refusal loses its class between threads, so it travels as what it says; any other error is a defect. */
export type FromThread =
  | { id: number; value: unknown }
  | { id: number; done: true }
  | { id: number; refused: { code: DomainCode; message: string } }
  | { id: number; failed: unknown };

interface Begun {
  values: AsyncIterator<unknown>;
  abandon: AbortController;
}

/**
 * Carries out what a `ThreadPool` asks of this thread: many tasks in turn, each as far as somebody wants to hear.
 * @param perform one task. @param close is called before the thread ends.
 */
export function serveTasks<Task>(
  perform: (task: Task, signal: AbortSignal) => AsyncIterable<unknown>,
  close: () => Promise<void>,
): void {
  const tasks = new Map<number, Begun>();
  const tell = (answer: FromThread) =>
    parentPort?.postMessage(answer, 'value' in answer ? ownBuffer(answer.value) : []);
  const advance = async (id: number, { values }: Begun) => {
    const answer = await nextOf(id, values);
    if (!('value' in answer)) tasks.delete(id);
    tell(answer);
  };
  parentPort?.on('message', (message: ToThread<Task>) => {
    if (message === 'close') {
      void close().finally(() => parentPort?.close());
      return;
    }
    const { id } = message;
    if ('task' in message) {
      const abandon = new AbortController();
      tasks.set(id, { values: perform(message.task, abandon.signal)[Symbol.asyncIterator](), abandon });
    }
    const begun = tasks.get(id);
    if (begun === undefined) return;
    if (!('wants' in message) || message.wants === 'next') {
      void advance(id, begun);
      return;
    }
    tasks.delete(id);
    begun.abandon.abort();
    begun.values.return?.().catch(() => {});
  });
}

/** Returns the buffer to transfer instead of copying: that of bytes which fill their buffer. */
function ownBuffer(value: unknown): ArrayBuffer[] {
  if (!(value instanceof Uint8Array) || !(value.buffer instanceof ArrayBuffer)) return [];
  return value.byteLength > 0 && value.byteLength === value.buffer.byteLength ? [value.buffer] : [];
}

async function nextOf(id: number, values: AsyncIterator<unknown>): Promise<FromThread> {
  try {
    const { value, done } = await values.next();
    return done === true ? { id, done } : { id, value };
  } catch (error) {
    if (!(error instanceof DomainError)) return { id, failed: error };
    const { code, message } = error;
    return { id, refused: { code, message } };
  }
}

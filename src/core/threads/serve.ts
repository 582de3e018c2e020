import { once } from 'node:events';
import { parentPort } from 'node:worker_threads';
import { answersOf, type Handler, type ThreadReply, type ThreadRequest, toErrorValue } from './messages.ts';

/** Answers the requests of `Threads` in this thread, several at a time, each until it is abandoned. */
export function serve<Request>(handler: Handler<Request, unknown>): void {
  parentPort?.on('message', async ({ request, isAhead, port }: ThreadRequest<Request>) => {
    const abandon = new AbortController();
    const { signal } = abandon;
    const reply = (message: ThreadReply<unknown>, transfer: ArrayBuffer[] = []) => port.postMessage(message, transfer);
    port.on('close', () => abandon.abort());
    try {
      for await (const value of answersOf(handler, request, signal)) {
        reply({ value }, ownBuffer(value));
        if (!isAhead) await once(port, 'message', { signal });
      }
      reply({ done: true });
    } catch (error) {
      reply({ error: toErrorValue(error) });
    } finally {
      port.close();
    }
  });
}

/** Returns the buffer to transfer instead of copying, if the value is bytes that fill their buffer. */
function ownBuffer(value: unknown): ArrayBuffer[] {
  if (!(value instanceof Uint8Array) || !(value.buffer instanceof ArrayBuffer)) return [];
  return value.byteLength > 0 && value.byteLength === value.buffer.byteLength ? [value.buffer] : [];
}

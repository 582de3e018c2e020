import type { DomainCode } from '../errors.ts';

/** To a thread: a task to begin, or one of which the next value, or nothing more, is wanted. */
export type ToThread<Task> = { id: number; task: Task } | { id: number; wants: 'next' | 'nothing' } | 'close';

/** A refusal loses its class between threads, so it travels as what it says; any other error is a defect. */
export type FromThread =
  | { id: number; value: unknown }
  | { id: number; done: true }
  | { id: number; refused: { code: DomainCode; message: string } }
  | { id: number; failed: unknown };

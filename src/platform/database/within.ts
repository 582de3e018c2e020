import type { Database, Transaction } from './database.ts';

/** Reports that something took longer than it may. */
export class OutOfTime extends Error {
  constructor(ms: number) {
    super(`it was not done within ${ms} ms`);
  }
}

/** Does something that has so long for it. @param work is told when its time is over. @throws OutOfTime */
export async function within<T>(ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const over = new AbortController();
  const timer = setTimeout(() => over.abort(new OutOfTime(ms)), ms);
  try {
    return await untilAborted(work(over.signal), over.signal);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Runs `work` in one transaction, which has so long for it. After that nothing of `work` reaches the database, whatever
 * it waits for. A commit that was on its way then may have happened: who has to know writes it down in the transaction.
 * @throws OutOfTime; on PostgreSQL its error 57014, where a statement was under way.
 */
export function writeWithin<T>(
  database: Pick<Database, 'write'>,
  ms: number,
  work: (transaction: Transaction) => Promise<T>,
): Promise<T> {
  return within(ms, (signal) =>
    database.write(async (transaction) => {
      signal.throwIfAborted();
      const limit = transaction.sql.limitStatements(ms);
      if (limit !== null) await limit.execute(transaction.tables());
      return untilAborted(work(endingWith(transaction, signal)), signal);
    }),
  );
}

/** Its statements would run outside of the transaction once that is rolled back. */
function endingWith(transaction: Transaction, signal: AbortSignal): Transaction {
  const checked = () => {
    signal.throwIfAborted();
    return transaction;
  };
  return {
    sql: transaction.sql,
    tables: <Tables>() => checked().tables<Tables>(),
    insertAll: async (...rows) => checked().insertAll(...rows),
    updateAll: async (...rows) => checked().updateAll(...rows),
  };
}

function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    const abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

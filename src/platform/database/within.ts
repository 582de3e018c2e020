import type { Database, Transaction } from './database.ts';

/** Error for work that exceeded its time limit. */
export class OutOfTime extends Error {
  constructor(ms: number) {
    super(`the work did not finish within ${ms} ms`);
  }
}

/** Runs work with a time limit. @param work receives a signal that aborts at the limit. @throws OutOfTime */
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
 * Runs `work` in one transaction with a time limit. After the limit, nothing of `work` reaches the database, whatever
 * it waits for. A commit in progress at that moment may still succeed; a caller that has to know records the fact in
 * the transaction.
 * @throws OutOfTime; on PostgreSQL error 57014 if a statement was running.
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

/**
 * Wraps a transaction so that it rejects statements after the limit, which would otherwise run outside the rolled-back
 * transaction.
 */
function endingWith(transaction: Transaction, signal: AbortSignal): Transaction {
  const checked = () => {
    signal.throwIfAborted();
    return transaction;
  };
  return {
    sql: transaction.sql,
    sealer: transaction.sealer,
    tables: <Tables>() => checked().tables<Tables>(),
    insertAll: async (...rows) => checked().insertAll(...rows),
    insertAbsent: async (...rows) => checked().insertAbsent(...rows),
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

import pg from 'pg';

/** Interval at which the server is asked about a statement without an answer. */
const ASK_EVERY_MS = 10_000;
/** Time limit for that question. */
const WITHIN_MS = 10_000;

/** SQLSTATE code too_many_connections: PostgreSQL, appendix A. */
const TOO_MANY = '53300';

const IS_RUNNING = "SELECT FROM pg_stat_activity WHERE pid = $1 AND state <> 'idle'";

/** Connection to a server, and the number of its process there. */
export type Connection = Pick<pg.Client, 'end'> & { processID?: number | null };

/**
 * Waits for the answer to a statement, and ends the connection if its server no longer runs the statement. A server
 * that vanished, as in a failover after its machine fails, closes no connection: the statement would wait for hours.
 * @throws as the statement.
 */
export async function answered<T>(
  config: pg.ClientConfig,
  connection: Connection,
  answer: Promise<T>,
  askEveryMs = ASK_EVERY_MS,
): Promise<T> {
  const timer = setInterval(() => void endUnlessRunning(config, connection), askEveryMs);
  try {
    return await answer;
  } finally {
    clearInterval(timer);
  }
}

async function endUnlessRunning(config: pg.ClientConfig, connection: Connection): Promise<void> {
  if (!(await isRunning(config, connection.processID ?? 0))) await connection.end();
}

async function isRunning(config: pg.ClientConfig, processID: number): Promise<boolean> {
  const client = new pg.Client({ ...config, connectionTimeoutMillis: WITHIN_MS, query_timeout: WITHIN_MS });
  client.on('error', () => {});
  try {
    await client.connect();
    return (await client.query(IS_RUNNING, [processID])).rows.length > 0;
  } catch (error) {
    return (error as { code?: unknown }).code === TOO_MANY;
  } finally {
    void client.end();
  }
}

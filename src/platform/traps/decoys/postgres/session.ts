import { randomBytes, randomInt } from 'node:crypto';
import { sendTo } from '../incoming.ts';
import { type Asker, answerTo, IN_FAILED_TRANSACTION, type StatementAnswer } from './answers.ts';
import {
  dataRow,
  errorMessage,
  fatalError,
  type PostgresError,
  rowDescription,
  sessionMessages,
  statementError,
  toMessage,
} from './messages.ts';
import type { Startup } from './startup.ts';

/** Maximum number of bytes of a message that are read; the rest is skipped. */
const MOST_READ = 64 * 1024;
/** Size at which output is sent, as PQ_SEND_BUFFER_SIZE. */
const SEND_AT = 8192;

/** Answers the queries of a logged-in client. @param onQuery is awaited before a query is answered. */
export async function serveSession(
  startup: Startup,
  onQuery: (query: string, raw: Buffer) => Promise<void>,
): Promise<void> {
  const { stream, incoming, user, database, parameters } = startup;
  const session = new Session({ user, database });
  const process: [number, number] = [randomInt(1000, 400_000), randomBytes(4).readInt32BE()];
  await sendTo(stream, Buffer.concat([sessionMessages(user, parameters, process), session.ready()]));
  let owed = Buffer.alloc(0);
  for (;;) {
    const head = await incoming.take(5);
    if (head === null) return;
    const type = String.fromCharCode(head[0] ?? 0);
    const length = head.readUInt32BE(1) - 4;
    if (length < 0) return;
    const body = await incoming.take(Math.min(length, MOST_READ));
    if (body === null || !(await incoming.skip(length - body.length)) || type === 'X') return;
    const query = queryOf(type, body);
    if (query !== null && query.trim() !== '') await onQuery(query, Buffer.concat([head, body]));
    const answer = session.answer(type, body, query);
    if (answer === null) {
      await sendTo(stream, errorMessage(unknownType(head[0] ?? 0)));
      return;
    }
    owed = Buffer.concat([owed, answer]);
    if (!isSent(type, answer) && owed.length < SEND_AT) continue;
    if (!(await sendTo(stream, owed))) return;
    owed = Buffer.alloc(0);
  }
}

/**
 * Reports whether an answer is sent at once: steps of the extended protocol are answered together, unless one fails.
 */
function isSent(type: string, answer: Buffer): boolean {
  return 'QSHF'.includes(type) || answer[0] === 0x45;
}

/**
 * Returns the text of a query in Query and Parse messages, in Parse after the statement's name; null for other
 * messages.
 */
function queryOf(type: string, body: Buffer): string | null {
  if (type !== 'Q' && type !== 'P') return null;
  const from = type === 'Q' ? 0 : body.indexOf(0) + 1;
  const end = body.indexOf(0, from);
  return body.toString('utf8', from, end === -1 ? body.length : end);
}

type Done = Extract<StatementAnswer, { tag: string }>;

class Session {
  readonly #asker: Asker;
  /** Transaction status: idle, in a transaction, or in a failed one. */
  #state: 'I' | 'T' | 'E' = 'I';
  #prepared = '';
  /** True after an error, until the client sends Sync; messages before that are skipped. */
  #isSkipping = false;

  constructor(asker: Asker) {
    this.#asker = asker;
  }

  ready(): Buffer {
    return toMessage('Z', Buffer.from(this.#state));
  }

  /** @returns null for a message that no client sends. */
  answer(type: string, body: Buffer, query: string | null): Buffer | null {
    if (type === 'Q') return Buffer.concat([this.#run(query ?? ''), this.ready()]);
    if (type === 'S') {
      this.#isSkipping = false;
      return this.ready();
    }
    const nothing = Buffer.alloc(0);
    if (this.#isSkipping) return 'PBDECHF'.includes(type) ? nothing : null;
    switch (type) {
      case 'P':
        this.#prepared = query ?? '';
        return toMessage('1');
      case 'B':
        return toMessage('2');
      case 'D':
        return this.#describe(body[0] === 0x53);
      case 'E':
        return this.#one(this.#prepared, { isDescribed: false });
      case 'C':
        return toMessage('3');
      case 'F':
        return Buffer.concat([this.#fail(noFunction), this.ready()]);
      case 'H':
      case 'd':
      case 'c':
      case 'f':
        return nothing;
      default:
        return null;
    }
  }

  /** Describes a statement, which never has parameters here, or a portal, which has none. */
  #describe(isStatement: boolean): Buffer {
    const answer = answerTo(this.#prepared, this.#asker);
    if ('error' in answer) return this.#refuse(answer.error);
    const row = 'columns' in answer && answer.columns !== undefined ? rowDescription(answer.columns) : toMessage('n');
    return isStatement ? Buffer.concat([toMessage('t', Buffer.alloc(2)), row]) : row;
  }

  /** Runs the statements in order, until one fails. */
  #run(query: string): Buffer {
    const statements = query.split(';').filter((text, at) => at === 0 || text.trim() !== '');
    const answers: Buffer[] = [];
    for (const statement of statements) {
      answers.push(this.#one(statement, { isDescribed: true }));
      if (answers.at(-1)?.[0] === 0x45) break;
    }
    return Buffer.concat(answers);
  }

  #one(statement: string, { isDescribed }: { isDescribed: boolean }): Buffer {
    const answer = answerTo(statement, this.#asker);
    if ('empty' in answer) return toMessage('I');
    const isEnd = 'tag' in answer && (answer.tag === 'COMMIT' || answer.tag === 'ROLLBACK');
    const error = this.#state === 'E' && !isEnd ? IN_FAILED_TRANSACTION : 'error' in answer ? answer.error : null;
    if (error !== null) return isDescribed ? this.#fail(error) : this.#refuse(error);
    return this.#carryOut(answer as Done, isDescribed);
  }

  #carryOut({ tag, columns, rows = [] }: Done, isDescribed: boolean): Buffer {
    const isAborted = this.#state === 'E' && tag === 'COMMIT';
    if (tag === 'BEGIN') this.#state = 'T';
    if (tag === 'COMMIT' || tag === 'ROLLBACK') this.#state = 'I';
    const head = columns !== undefined && isDescribed ? [rowDescription(columns)] : [];
    return Buffer.concat([...head, ...rows.map(dataRow), toMessage('C', isAborted ? 'ROLLBACK' : tag)]);
  }

  #fail(error: PostgresError): Buffer {
    if (this.#state === 'T') this.#state = 'E';
    return errorMessage(error);
  }

  #refuse(error: PostgresError): Buffer {
    this.#isSkipping = true;
    return this.#fail(error);
  }
}

const noFunction = statementError('42501', 'permission denied for schema pg_catalog', 'aclchk.c:3655 aclcheck_error');

function unknownType(type: number): PostgresError {
  return fatalError('08P01', `invalid frontend message type ${type}`, 'postgres.c:446 SocketBackend');
}

import { type PostgresError, type ResultColumn, SERVER_VERSION, statementError, VERSION_TEXT } from './messages.ts';

/** Answer to a statement. A logged-in user has almost no permissions. */
export type StatementAnswer =
  | { error: PostgresError }
  | { empty: true }
  /** Command tag; `columns` for a statement with rows, each of which has a text for each column. */
  | { tag: string; columns?: readonly ResultColumn[]; rows?: readonly (readonly string[])[] };

/** Client in its session. */
export interface Asker {
  user: string;
  database: string;
}

const TEXT = { type: 25, size: -1 };
const NAME = { type: 19, size: 64 };
const INT4 = { type: 23, size: 4 };
const select = (name: string, kind: Omit<ResultColumn, 'name'>, value: string): StatementAnswer => ({
  tag: 'SELECT 1',
  columns: [{ name, ...kind }],
  rows: [[value]],
});
const denied = (message: string, at: string, more: Partial<PostgresError> = {}): StatementAnswer => ({
  error: { severity: 'ERROR', code: '42501', message, at, ...more },
});

const SETTINGS: Record<string, string> = {
  server_version: SERVER_VERSION,
  server_version_num: '150020',
  transaction_isolation: 'read committed',
  standard_conforming_strings: 'on',
  is_superuser: 'off',
  search_path: '"$user", public',
  max_connections: '100',
};
const VERBS =
  /^(alter|analyze|call|cluster|comment|copy|create|deallocate|declare|delete|do|drop|execute|explain|fetch|grant|import|insert|listen|load|lock|merge|notify|prepare|refresh|reindex|revoke|select|table|truncate|update|vacuum|values|with)\b/i;
const RELATION =
  /\b(?:from|into|update|join|table|truncate|copy|on)\s+(?:only\s+)?((?:"[^"]+"|[\w$]+)(?:\.(?:"[^"]+"|[\w$]+))*)/i;

/** Answers by pattern; the first match applies. */
const ANSWERS: readonly [RegExp, (matched: string, asker: Asker & { query: string }) => StatementAnswer][] = [
  [/^$/, () => ({ empty: true })],
  [/^(?:begin|start\s+transaction)\b/i, () => ({ tag: 'BEGIN' })],
  [/^(?:commit|end)\b/i, () => ({ tag: 'COMMIT' })],
  [/^(?:rollback|abort)\b/i, () => ({ tag: 'ROLLBACK' })],
  [/^set\b/i, () => ({ tag: 'SET' })],
  [/^reset\b/i, () => ({ tag: 'RESET' })],
  [/^discard\s+all\b/i, () => ({ tag: 'DISCARD ALL' })],
  [/^show\s+(\w+)$/i, (name) => show(name.toLowerCase())],
  [/^select\s+(?:pg_catalog\.)?version\s*\(\s*\)$/i, () => select('version', TEXT, VERSION_TEXT)],
  [/^select\s+(current_user|session_user|user)$/i, (name, { user }) => select(name.toLowerCase(), NAME, user)],
  [/^select\s+current_database\s*\(\s*\)$/i, (_, { database }) => select('current_database', NAME, database)],
  [/^select\s+(\d{1,9})$/i, (digits) => select('?column?', INT4, String(Number(digits)))],
  [/^select\b.*\bfrom\s+(?:pg_catalog|information_schema)\./is, (_, { query }) => nothingIn(query)],
  [/^copy\b.*\bprogram\b/is, () => noProgram],
  [/^create\s+(?:role|user|group)\b/i, () => denied('permission denied to create role', 'user.c:275 CreateRole')],
  [/^create\s+database\b/i, () => denied('permission denied to create database', 'dbcommands.c:938 createdb')],
  [/^create\b/i, () => noSchema],
];

const noSchema = denied('permission denied for schema public', 'aclchk.c:3655 aclcheck_error');
const noProgram = denied(
  'must be superuser or have privileges of the pg_execute_server_program role to COPY to or from an external program',
  'copy.c:85 DoCopy',
  { hint: "Anyone can COPY to stdout or from stdin. psql's \\copy command also works for anyone." },
);

export function answerTo(statement: string, asker: Asker): StatementAnswer {
  const text = statement.replace(/^(?:\s|--[^\n]*(?:\n|$)|\/\*.*?\*\/)+/s, '').trimEnd();
  for (const [pattern, answer] of ANSWERS) {
    const [whole, part = whole] = pattern.exec(text) ?? [];
    if (part !== undefined) return answer(part, { ...asker, query: text });
  }
  if (!VERBS.test(text)) return notUnderstood(text, statement.indexOf(text) + 1);
  const relation = RELATION.exec(text)?.[1]?.split('.').at(-1)?.replaceAll('"', '');
  if (relation === undefined) return noSchema;
  return denied(`permission denied for table ${relation}`, 'aclchk.c:3655 aclcheck_error');
}

/** Answer to every statement in a failed transaction, except those that end the transaction. */
export const IN_FAILED_TRANSACTION = statementError(
  '25P02',
  'current transaction is aborted, commands ignored until end of transaction block',
  'postgres.c:1081 exec_simple_query',
);

/** Answers a catalog query for a user who may see nothing: no rows, with the requested columns. */
function nothingIn(query: string): StatementAnswer {
  const selected =
    /^select\s+(?:distinct\s+)?(.*?)\bfrom\s+(?:pg_catalog|information_schema)\./is.exec(query)?.[1] ?? '';
  const named = [...selected.matchAll(/\bas\s+(?:"([^"]+)"|(\w+))/gi)].map(([, quoted, plain = '']) => quoted ?? plain);
  const names = named.length > 0 ? named : selected.split(',').map((text) => /(\w+)\W*$/.exec(text)?.[1] ?? '?column?');
  return { tag: 'SELECT 0', columns: names.map((name) => ({ name, ...TEXT })), rows: [] };
}

function show(name: string): StatementAnswer {
  const value = SETTINGS[name];
  if (value !== undefined) return { tag: 'SHOW', columns: [{ name, ...TEXT }], rows: [[value]] };
  const message = `unrecognized configuration parameter "${name}"`;
  return { error: statementError('42704', message, 'guc.c:5766 find_option') };
}

function notUnderstood(text: string, position: number): StatementAnswer {
  const word = /^(?:\w+|.)/su.exec(text)?.[0] ?? '';
  const message = `syntax error at or near "${word}"`;
  return { error: { severity: 'ERROR', code: '42601', message, position, at: 'scan.l:1188 scanner_yyerror' } };
}

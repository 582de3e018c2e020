/** Imitated version, whose source locations appear in errors. */
export const SERVER_VERSION = '15.20 (Debian 15.20-0+deb12u1)';
export const VERSION_TEXT = `PostgreSQL ${SERVER_VERSION} on x86_64-pc-linux-gnu, compiled by gcc (Debian 12.2.0-14+deb12u1) 12.2.0, 64-bit`;

/** Error with the fields that PostgreSQL sends: https://www.postgresql.org/docs/15/protocol-error-fields.html */
export interface PostgresError {
  severity: 'FATAL' | 'ERROR';
  /** SQLSTATE code. */
  code: string;
  message: string;
  detail?: string;
  hint?: string;
  /** Position in the query, from 1. */
  position?: number;
  /** Location in the server's source, as `file:line routine`. */
  at: string;
}

/** Returns an error that ends the connection. */
export function fatalError(code: string, message: string, at: string, detail?: string): PostgresError {
  return { severity: 'FATAL', code, message, ...(detail !== undefined && { detail }), at };
}

/** Returns an error that ends the statement. */
export function statementError(code: string, message: string, at: string): PostgresError {
  return { severity: 'ERROR', code, message, at };
}

const utf8 = (text: string) => Buffer.from(`${text}\0`);

/** Returns a message of the protocol: type, length, body. */
export function toMessage(type: string, ...parts: (Uint8Array | string)[]): Buffer {
  const body = Buffer.concat(parts.map((part) => (typeof part === 'string' ? utf8(part) : part)));
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

export function toInt32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

function toInt16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value);
  return bytes;
}

export function errorMessage({ severity, code, message, detail, hint, position, at }: PostgresError): Buffer {
  const [, file = '', line = '', routine = ''] = /^(.+):(\d+) (.+)$/.exec(at) ?? [];
  const fields = [`S${severity}`, `V${severity}`, `C${code}`, `M${message}`];
  if (detail !== undefined) fields.push(`D${detail}`);
  if (hint !== undefined) fields.push(`H${hint}`);
  if (position !== undefined) fields.push(`P${position}`);
  return toMessage('E', ...fields, `F${file}`, `L${line}`, `R${routine}`, '');
}

/** Returns a message that asks for credentials or accepts them. */
export function authenticationMessage(kind: number, ...parts: (Uint8Array | string)[]): Buffer {
  return toMessage('R', toInt32(kind), ...parts);
}

/** Column with the id and the size of its type. */
export interface ResultColumn {
  name: string;
  type: number;
  size: number;
}

export function rowDescription(columns: readonly ResultColumn[]): Buffer {
  const described = columns.flatMap(({ name, type, size }) => [
    Buffer.from(`${name}\0`),
    toInt32(0),
    toInt16(0),
    toInt32(type),
    toInt16(size),
    toInt32(-1),
    toInt16(0),
  ]);
  return toMessage('T', toInt16(columns.length), ...described);
}

export function dataRow(values: readonly string[]): Buffer {
  const fields = values.flatMap((value) => [toInt32(Buffer.byteLength(value)), Buffer.from(value)]);
  return toMessage('D', toInt16(values.length), ...fields);
}

/** Returns the server's messages before the first query, in order. */
export function sessionMessages(user: string, named: ReadonlyMap<string, string>, process: [number, number]): Buffer {
  const parameters = {
    application_name: named.get('application_name') ?? '',
    client_encoding: named.get('client_encoding') ?? 'UTF8',
    DateStyle: 'ISO, MDY',
    default_transaction_read_only: 'off',
    in_hot_standby: 'off',
    integer_datetimes: 'on',
    IntervalStyle: 'postgres',
    is_superuser: 'off',
    server_encoding: 'UTF8',
    server_version: SERVER_VERSION,
    session_authorization: user,
    standard_conforming_strings: 'on',
    TimeZone: 'Etc/UTC',
  };
  return Buffer.concat([
    ...Object.entries(parameters).map(([name, value]) => toMessage('S', name, value)),
    toMessage('K', toInt32(process[0]), toInt32(process[1])),
  ]);
}

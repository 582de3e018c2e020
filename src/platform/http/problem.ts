import { STATUS_CODES } from 'node:http';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod';
import type { z } from 'zod';
import { messageOf as textOf } from '../../core/errors.ts';
import { ownOrPlainWords } from '../../core/schema-words.ts';
import { firstCause, OUTAGES, type Outage, outageIn } from '../database/outage.ts';
import { type CommonCode, DomainError, sayRefusal } from '../errors.ts';
import { MODULES } from '../modules.ts';
import type { WireProblem } from './wire.ts';

/** Failure that is answered with RFC 9457 problem details. `code` is stable; `detail` is for people. */
export class HttpProblem extends Error {
  readonly status: number;
  readonly code: string;
  readonly members: Record<string, unknown>;
  /** Invalid members of the request, with the reason for each. */
  readonly fields: readonly InvalidField[];

  constructor(
    status: number,
    code: string,
    detail: string,
    members: Record<string, unknown> = {},
    fields: readonly InvalidField[] = [],
  ) {
    super(detail);
    this.name = 'Problem';
    this.status = status;
    this.code = code;
    this.members = members;
    this.fields = fields;
  }
}

interface InvalidField {
  /** Path that starts with the body, the query or the path parameters; empty for the whole request. */
  field: string;
  message: string;
}

const COMMON_STATUSES: Record<CommonCode, number> = {
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  row_changed: 409,
  conflict: 409,
  key_shown_before: 409,
  idempotency_conflict: 422,
  invalid_cursor: 422,
  invalid_request: 422,
};

/** Statuses of the refusals of services. */
const STATUSES: ReadonlyMap<string, number> = new Map([
  ...Object.entries(COMMON_STATUSES),
  ...MODULES.flatMap((module) => ('refusals' in module ? Object.entries(module.refusals) : [])),
]);

/** Codes of Fastify's own refusals, by status. */
const FRAMEWORK_CODES: Record<number, string> = {
  400: 'bad_request',
  404: 'not_found',
  405: 'method_not_allowed',
  413: 'too_large',
  414: 'uri_too_long',
  415: 'unsupported_media_type',
};

/** Limits of one problem: the number of fields or names, and the length of each text. */
const MOST_NAMED = 20;
const LONGEST_NAME = 100;
const LONGEST_DETAIL = 5000;

/** Answers every failure with `application/problem+json`; a defect reveals no details to the caller. */
export function answerProblem(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const problem = toProblem(error);
  logFailure(request, problem, error);
  const body: WireProblem = {
    type: 'about:blank',
    title: STATUS_CODES[problem.status] ?? 'Error',
    status: problem.status,
    code: problem.code,
    detail: cut(problem.message),
    request_id: request.id,
    ...problem.members,
  };
  reply.header('x-request-id', request.id);
  reply.header('cache-control', 'no-store');
  reply.headers(headersOf(problem));
  if (problem.status === 401) reply.header('www-authenticate', 'Bearer');
  reply.code(problem.status).type('application/problem+json').send(JSON.stringify(body));
}

/** Logs a failure of the service; an outage without the stack of each request. */
export function logFailure({ log }: FastifyRequest, { status }: HttpProblem, error: unknown): void {
  const outage = outageIn(error);
  if (outage !== null) log.warn({ outage, reason: textOf(firstCause(error)) }, 'request failed in an outage');
  else if (status >= 500) log.error({ err: error }, 'request failed');
}

/** Returns the headers that a problem requires. */
export function headersOf({ members: { retry_after } }: HttpProblem): Record<string, string> {
  return typeof retry_after === 'number' ? { 'retry-after': String(retry_after) } : {};
}

/** Truncates a message, which may contain input of the caller. */
function cut(message: string): string {
  return message.length <= LONGEST_DETAIL ? message : `${message.slice(0, LONGEST_DETAIL)}…`;
}

/** Converts an error to the problem that the caller receives. */
export function toProblem(error: unknown): HttpProblem {
  if (error instanceof HttpProblem) return error;
  const outage = outageIn(error);
  if (outage !== null) return outageProblem(outage);
  if (error instanceof DomainError) return refusalProblem(error);
  if (hasZodFastifySchemaValidationErrors(error)) return validationProblem(error);
  const { statusCode, message } = error as Partial<FastifyError>;
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500)
    return new HttpProblem(
      statusCode,
      FRAMEWORK_CODES[statusCode] ?? 'bad_request',
      message ?? 'the request was refused',
    );
  return new HttpProblem(500, 'internal_error', 'the service failed; see its log for this request_id');
}

/** Seconds after which a client may repeat a request that an outage prevented. */
const RETRY_SECONDS = 5;

export function outageProblem(outage: Outage): HttpProblem {
  const [status, code] = outage === 'full' ? [507, 'storage_full'] : [503, 'database_unavailable'];
  return new HttpProblem(status, code, `${OUTAGES[outage]}; repeat the request later`, { retry_after: RETRY_SECONDS });
}

/** Issue of zod, as passed on by Fastify. */
interface ValidationIssue {
  instancePath: string;
  keyword: string;
  message?: string;
  params?: { keys?: unknown };
}

function validationProblem(error: { validation: ValidationIssue[]; validationContext?: string }): HttpProblem {
  const place = error.validationContext === 'querystring' ? 'query' : (error.validationContext ?? 'request');
  const fields = error.validation.slice(0, MOST_NAMED).map((issue) => ({
    field: issue.instancePath
      .split('/')
      .filter((part) => part !== '')
      .join('.'),
    message: messageOf(issue),
  }));
  const errors = fields.map(({ field, message }) => ({ field: field === '' ? place : `${place}.${field}`, message }));
  const [first] = errors;
  const detail = first === undefined ? 'the request is not valid' : `${first.field}: ${first.message}`;
  return new HttpProblem(422, 'invalid_request', detail, { errors }, fields);
}

function refusalProblem(error: DomainError): HttpProblem {
  const { code, field, message, members } = error;
  const fields = field === null ? [] : [{ field, message }];
  const named = field === null ? members : { ...members, errors: fields };
  return new HttpProblem(STATUSES.get(code) ?? 500, code, sayRefusal(error), named, fields);
}

/** Returns the message of an issue, with bounded numbers and lengths of names that the caller made up. */
function messageOf({ keyword: code, message = 'is not valid', params }: ValidationIssue): string {
  if (!Array.isArray(params?.keys)) return ownOrPlainWords({ ...params, code, message } as z.core.$ZodIssue);
  const names = params.keys.slice(0, MOST_NAMED).map((name) => JSON.stringify(String(name).slice(0, LONGEST_NAME)));
  const others = params.keys.length - names.length;
  return `unknown: ${names.join(', ')}${others > 0 ? ` and ${others} more` : ''}`;
}

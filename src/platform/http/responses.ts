import { problemSchema } from './wire.ts';

const DESCRIPTIONS = {
  400: 'The request is not HTTP/1.1, or its body is not JSON.',
  401: 'The request has no valid API key.',
  403: 'The API key does not have the required scope.',
  404: 'The resource does not exist.',
  408: 'The request did not arrive in time.',
  409: 'The state of the resource does not allow the request.',
  413: 'The request body is too large.',
  414: 'A part of the path is too long.',
  415: 'The request body is not JSON, or has a Content-Encoding.',
  422: 'The request is invalid; `errors` lists the fields.',
  429: 'Too many requests; retry after the time in Retry-After.',
  431: 'The request line and the headers are too large.',
  500: 'The service failed; see its log.',
  503: 'Temporarily unavailable: the process is shutting down, its database does not answer, or its clock is slow.',
  507: 'The disk of the database is full.',
} as const;
export type ProblemStatus = keyof typeof DESCRIPTIONS;

/** Returns the documentation of a route's failures, besides those of all routes. */
export function problemResponses<const S extends ProblemStatus = never>(...statuses: S[]) {
  return Object.fromEntries(statuses.map((status) => [status, problemResponse(status)])) as Record<
    S,
    ReturnType<typeof problemResponse>
  >;
}

function problemResponse(status: ProblemStatus) {
  return { description: DESCRIPTIONS[status], content: { 'application/problem+json': { schema: problemSchema } } };
}

/** Parts of a request besides its path and method. */
export interface RequestParts {
  body?: unknown;
  params?: unknown;
  querystring?: unknown;
  headers?: unknown;
}

/** Returns the failures of all routes whose requests have these parts. */
export function commonProblems({ body, params, querystring, headers }: RequestParts) {
  const everywhere = [400, 401, 403, 408, 415, 429, 431, 500, 503, 507] as const;
  const read = body ?? params ?? querystring ?? headers;
  return problemResponses(
    ...everywhere,
    ...(body === undefined ? [] : [413 as const]),
    ...(params === undefined ? [] : [414 as const]),
    ...(read === undefined ? [] : [422 as const]),
  );
}

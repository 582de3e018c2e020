import { problemSchema } from './wire.ts';

const DESCRIPTIONS = {
  400: 'This is no request of HTTP/1.1, or its body is no JSON.',
  401: 'No valid API key was sent.',
  403: 'The API key has not got the scope that this needs.',
  404: 'It does not exist.',
  408: 'The request was not there in time.',
  409: 'The state of the resource does not allow it.',
  413: 'The request body is too large.',
  414: 'A part of the path is too long.',
  415: 'The request body is no JSON, or has a Content-Encoding.',
  422: 'The request is not valid; `errors` names the fields.',
  429: 'There were too many requests; Retry-After says when to go on.',
  431: 'The request line and the headers are too large.',
  500: 'The service failed; its log has more.',
  503: 'Not now: the process is ending, or its clock is slow.',
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
  const everywhere = [400, 401, 403, 408, 415, 429, 431, 500, 503] as const;
  const read = body ?? params ?? querystring ?? headers;
  return problemResponses(
    ...everywhere,
    ...(body === undefined ? [] : [413 as const]),
    ...(params === undefined ? [] : [414 as const]),
    ...(read === undefined ? [] : [422 as const]),
  );
}

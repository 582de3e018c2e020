import { problemSchema } from '../../core/wire.ts';

type ProblemResponse = {
  description: string;
  content: { 'application/problem+json': { schema: typeof problemSchema } };
};

const DESCRIPTIONS = {
  401: 'No valid API key was sent.',
  404: 'It does not exist.',
  409: 'The state of the resource does not allow it.',
  413: 'The request body is too large.',
  422: 'The request is not valid; `errors` names the fields.',
} as const;

/** How a route documents its failures; 401 is always among them. */
export function problemResponses<const S extends keyof typeof DESCRIPTIONS = never>(...statuses: S[]) {
  return Object.fromEntries(
    [401 as const, ...statuses].map((status): [number, ProblemResponse] => [
      status,
      {
        description: DESCRIPTIONS[status],
        content: { 'application/problem+json': { schema: problemSchema } },
      },
    ]),
  ) as Record<S | 401, ProblemResponse>;
}

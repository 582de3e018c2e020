/** The form that an answer must turn out to have. */
export type Accepts = 'json' | 'pdf' | 'any';

/** One request, as often as it has to be sent. */
export interface Call {
  method: 'GET' | 'POST';
  /** Absolute, of the transport's own origin. */
  url: string;
  /** Sent as JSON. */
  body?: unknown;
  headers?: Record<string, string>;
  /** True if a request that may have arrived can be sent again. */
  repeatable: boolean;
  /** Asked as a stranger would ask. */
  withoutKey?: true;
}

/** A request to which some answers mean that what is asked for is not ready. */
export interface PollingCall extends Call {
  /** Statuses, of failure or of success. */
  notYet: ReadonlySet<number>;
}

export interface NotYet {
  notYet: { retryAfterMs: number | null };
}

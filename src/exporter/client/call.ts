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

/** A request that was sent, and the head of its answer; nothing of the headers but the id that the service gave it. */
export interface SentRequest {
  method: 'GET' | 'POST';
  /** Without the key. */
  url: string;
  /** Null where there was no answer. */
  status: number | null;
  requestId: string | null;
  startedAt: Date;
  /** When the head of the answer came, or the request failed. */
  endedAt: Date;
  /** The reason that there was no answer; null if there was one. */
  failure: string | null;
}

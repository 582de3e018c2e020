import type { Transaction } from '../database/database.ts';
import type { EventSeverity } from './words.ts';

/** Something that people are told of: all events that one report or one look raised. */
export interface EndpointAlert {
  kind: 'endpoint.changed' | 'endpoint.chain' | 'endpoint.stale';
  /** Of the worst of its events. */
  severity: EventSeverity;
  endpoint_id: string;
  /** The worst of them. */
  event_id: string;
  events: number;
}

/** Has people told, in the transaction of what they are told of. @returns how their alert stands. */
export type TellOfEndpoint = (transaction: Transaction, alert: EndpointAlert) => Promise<string>;

/** Where nobody is to be told. */
export const TELL_NOBODY: TellOfEndpoint = async () => 'none';

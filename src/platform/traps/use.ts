import { hash } from 'node:crypto';
import type { Channel, Depth } from './enums.ts';

/** Mark by which a use of a trap is recognized. */
export interface TrapMark {
  kind:
    | 'aws_access_key_id'
    | 'postgres_login'
    | 'ssh_fingerprint'
    | 'bearer'
    | 'basic'
    | 'token_id'
    | 'client_certificate'
    | 'path';
  value: string;
}

/** Use of a trap, as detected by a channel. */
// Over ten members: each one is part of an alert.
export interface TrapUse {
  trapNo: number;
  channel: Channel;
  depth: Depth;
  /** Time of the use, RFC 3339 UTC with milliseconds. */
  eventTime: string;
  /** Id of the event at its source, if it has one; an event that is delivered twice counts once. */
  sourceEventId: string | null;
  sourceIp: string | null;
  /** User agent of the client. */
  userAgent: string | null;
  /** Requested action, in the terms of the imitated service. */
  action: string | null;
  service: string | null;
  region: string | null;
  /** True if the client had the secret too; null if unknown. */
  authVerified: boolean | null;
  /** Raw request, or the part of it that was read. */
  request: Uint8Array | string;
}

const LONGEST = 512;

/** Returns the group key, which uses of one trap by one client from one address share. */
export function groupKeyOf({ sourceIp, userAgent }: Pick<TrapUse, 'sourceIp' | 'userAgent'>): string {
  return hash('sha256', JSON.stringify([sourceIp, userAgent]), 'hex');
}

/** Returns a use that every database can store: texts of external origin are cleaned and truncated. */
export function storable(use: TrapUse): TrapUse {
  return {
    ...use,
    sourceEventId: plain(use.sourceEventId),
    sourceIp: plain(use.sourceIp),
    userAgent: plain(use.userAgent),
    action: plain(use.action),
    service: plain(use.service),
    region: plain(use.region),
  };
}

function plain(text: string | null): string | null {
  return text === null ? null : text.toWellFormed().replaceAll('\0', '\u{fffd}').slice(0, LONGEST).toWellFormed();
}

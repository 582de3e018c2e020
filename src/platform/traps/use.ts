import { hash } from 'node:crypto';
import type { Channel, Depth } from './enums.ts';

/** A mark by which a use of a trap is recognized. */
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

/** A use of a trap, as a channel saw it. */
// Over ten members: each is told to whoever is alerted.
export interface TrapUse {
  trapNo: number;
  channel: Channel;
  depth: Depth;
  /** When it happened, RFC 3339 UTC with milliseconds. */
  eventTime: string;
  /** The id that the source gives it, where it has one: the same event delivered twice counts once. */
  sourceEventId: string | null;
  sourceIp: string | null;
  /** The client's name for itself. */
  userAgent: string | null;
  /** The requested action, in the words of the imitated service. */
  action: string | null;
  service: string | null;
  region: string | null;
  /** True if the user had the secret too; null if it cannot be told. */
  authVerified: boolean | null;
  /** The raw request, or as much of it as was read. */
  request: Uint8Array | string;
}

const LONGEST = 512;

/** Uses of one trap by one client from one address belong together. */
export function groupKeyOf({ sourceIp, userAgent }: Pick<TrapUse, 'sourceIp' | 'userAgent'>): string {
  return hash('sha256', JSON.stringify([sourceIp, userAgent]), 'hex');
}

/** A use as it can be stored: texts of strangers are cut, and every database can hold them. */
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

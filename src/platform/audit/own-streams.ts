import { MODULES } from '../modules.ts';

const OWN_STREAMS = MODULES.flatMap<string>((module) => ('streams' in module ? module.streams : []));

/** Reports whether the platform itself records what a stream has: nobody else appends to it. */
export function isOwnStream(streamId: string): boolean {
  return OWN_STREAMS.some((own) => (own.endsWith('/') ? streamId.startsWith(own) : streamId === own));
}

/** Names the streams that the platform itself writes, for people. */
export function ownStreamsInWords(): string {
  const names = OWN_STREAMS.map((own) => (own.endsWith('/') ? `those that begin with "${own}"` : `"${own}"`));
  return names.join(', ');
}

import { randomUUID } from 'node:crypto';
import type { Dispatcher } from 'undici';
import { isWell, type NotificationChannel } from './channel.ts';
import { post } from './post.ts';

/**
 * Pings of a dead man's switch, as healthchecks.io takes them: `/start`, then the address itself for success, or the exit
 * code after it. The switch raises the alarm when none comes, whatever has become of the machine.
 * https://healthchecks.io/docs/http_api/
 *
 * @param url a secret.
 */
export function pings(url: string, dispatcher: Dispatcher): NotificationChannel {
  const rid = randomUUID();
  const address = (ending: string) => {
    const target = new URL(url);
    target.pathname = `${target.pathname.replace(/\/$/, '')}${ending}`;
    target.searchParams.set('rid', rid);
    return target.href;
  };
  return {
    name: 'ping',
    begin: (signal) => post({ url: address('/start'), body: '' }, { dispatcher, signal }),
    end: (end, signal) => {
      const ending = isWell(end) ? '' : `/${end.exitCode}`;
      return post({ url: address(ending), body: end.summary }, { dispatcher, signal });
    },
  };
}

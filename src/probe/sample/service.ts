import { type EvidenceError, isEvidenceError } from '../../core/errors.ts';
import type { Json } from '../../core/json/canonical.ts';
import { type Ask, jsonOf, type SampleAnswer, type SampleRequest } from './sample.ts';

/** Sends requests to the service, as the exporter's transport does. */
interface Carrier {
  /** @throws EvidenceError `service` for an unreadable answer; others if the service cannot be reached. */
  plain(call: { method: 'GET' | 'POST'; url: string; repeatable: boolean; body?: Json }): Promise<SampleAnswer>;
}

/** Returns a function that sends requests to the audit service. A probe has no other access to the network. */
export function askService(carrier: Carrier, auditUrl: string): Ask {
  const base = auditUrl.replace(/\/+$/, '');
  const { origin } = new URL(base);
  return async (question) => {
    const url = urlOf(question, base);
    if (url === null || url.origin !== origin) return unread(null);
    const { method = 'GET', body } = question;
    try {
      const call = { method, url: url.href, repeatable: method === 'GET', ...(body === undefined ? {} : { body }) };
      return await carrier.plain(call);
    } catch (error) {
      // An unreadable answer shows nothing; an unreachable service ends the probe.
      if (isEvidenceError(error, 'service')) return unread(error);
      throw error;
    }
  };
}

function unread(error: EvidenceError | null): SampleAnswer {
  return { status: 0, text: '', link: null, error };
}

function urlOf({ url: reference, from, query = {} }: SampleRequest, base: string): URL | null {
  const text = from === undefined ? base + reference : reference;
  const against = from === undefined ? undefined : base + from;
  if (!URL.canParse(text, against)) return null;
  const url = new URL(text, against);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return url;
}

/**
 * Fetches the first OpenAPI document at the service's address or above it, with the prefix of its paths before the
 * service's own.
 */
export async function fetchOpenApi(
  carrier: Carrier,
  auditUrl: string,
): Promise<{ document: Json; prefix: string } | null> {
  const { origin, pathname } = new URL(auditUrl);
  const names = pathname.split('/').filter((name) => name !== '');
  for (let kept = names.length; kept >= 0; kept--) {
    const answer = await askService(carrier, origin + pathOf(names.slice(0, kept)))({ url: '/openapi.json' });
    const document = answer.status === 200 ? jsonOf(answer) : undefined;
    if (typeof document === 'object' && document !== null && 'paths' in document)
      return { document, prefix: pathOf(names.slice(kept)) };
  }
  return null;
}

function pathOf(names: readonly string[]): string {
  return names.map((name) => `/${name}`).join('');
}

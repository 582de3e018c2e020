import { utf8Bytes } from '../../core/bytes.ts';
import { EvidenceError } from '../../core/errors.ts';
import type { Scrub } from '../../core/secret.ts';
import type { Verdict } from '../../verifier/claims/verdict.ts';
import type { ExportContext } from './context.ts';

type KeyContext = Pick<ExportContext, 'acceptsSecrets'> & { service: { client: KeyFinder } };
type KeyFinder = Pick<ExportContext['service']['client'], 'scrub' | 'watchKey'>;

/** Members whose text comes from this program, or that name the stream. */
const OURS: ReadonlySet<string> = new Set(['code', 'severity', 'state', 'stream_id']);

/**
 * Returns the verdict without the API key. Records, reports and letters quote the verdict, so evidence that contains
 * the key must not spread it there. Each text is scrubbed on its own, before it is serialized as JSON.
 * @throws EvidenceError `service` if the key occurs in a member that must quote the evidence exactly, unless such
 * evidence is accepted.
 */
export function verdictWithoutKey({ acceptsSecrets, service: { client } }: KeyContext, verdict: Verdict): Verdict {
  const { claims, findings, ...facts } = verdict;
  const watch = client.watchKey();
  watch.push(utf8Bytes(JSON.stringify(facts)));
  if (watch.isFound && !acceptsSecrets)
    throw new EvidenceError('service', 'an id, digest or action in the package contains the API key', {
      nextStep:
        'Renew the API key, and ask the operator of the service why it records keys. To archive the evidence anyway, set verify.accept_secrets: true.',
    });
  return { ...verdict, claims: scrubbed(claims, client.scrub), findings: scrubbed(findings, client.scrub) };
}

function scrubbed<T>(value: T, scrub: Scrub): T {
  return clean(value, scrub) as T;
}

function clean(value: unknown, scrub: Scrub): unknown {
  if (typeof value === 'string') return scrub(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((one) => clean(one, scrub));
  const members = Object.entries(value).map(([name, one]) => [name, OURS.has(name) ? one : clean(one, scrub)]);
  return Object.fromEntries(members);
}

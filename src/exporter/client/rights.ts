import { randomUUID } from 'node:crypto';
import { isEvidenceError } from '../../core/errors.ts';
import { fillIn, selectsPeriod } from '../../verifier/profile/answers.ts';
import type { Description } from '../../verifier/profile/description.ts';
import type { Call } from './call.ts';
import { inPath } from './in-path.ts';
import type { Transport } from './transport.ts';

/** Period of a package without entries: a millisecond of 1970. */
const NO_TIME = { from: '1970-01-01T00:00:00.000Z', to: '1970-01-01T00:00:00.001Z' };

/**
 * Tells if the key may do what an export does. Asks for the service's check and for a package of a stream that does not
 * exist, which changes nothing there. A service may hide by 403 that a stream does not exist: only then a listed stream is
 * asked for, with a period that has no entries.
 * @param listed a stream that the service lists; null if it lists none.
 * @throws EvidenceError `refused` for 401 and 403, with the request that was refused.
 */
export async function tryRights(
  transport: Transport,
  base: string,
  description: Description,
  listed: string | null,
): Promise<void> {
  for (const callFor of callsOf(base, description)) {
    const refused = await refusalOf(transport, callFor(`evidence-doctor-${randomUUID()}`));
    if (refused === null) continue;
    const isDecided = listed === null || !selectsPeriod(description);
    const confirmed = isDecided ? refused : await refusalOf(transport, callFor(listed));
    if (confirmed !== null) throw confirmed;
  }
}

function callsOf(base: string, { verify, generate }: Description): ((streamId: string) => Call)[] {
  const post = (path: string, body: unknown): Call => ({ method: 'POST', url: base + path, body, repeatable: false });
  const make = (stream_id: string) => post(generate.path, fillIn(generate.body, { stream_id, ...NO_TIME }));
  if (verify === null) return [make];
  const check = (stream_id: string) => post(inPath(verify.path, { stream_id }), fillIn(verify.body, { stream_id }));
  return [check, make];
}

async function refusalOf(transport: Transport, call: Call): Promise<Error | null> {
  const { error } = await transport.plain(call);
  return isEvidenceError(error, 'refused') ? error : null;
}

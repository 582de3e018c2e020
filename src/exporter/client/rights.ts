import { randomUUID } from 'node:crypto';
import { type EvidenceError, isEvidenceError } from '../../core/errors.ts';
import { fillIn, selectsPeriod } from '../../verifier/profile/answers.ts';
import type { Description } from '../../verifier/profile/description.ts';
import { inPath } from './operations.ts';
import type { Period } from './period.ts';
import type { Transport } from './transport.ts';

/** Period of a package without entries: a millisecond of 1970. */
const NO_TIME = { from: '1970-01-01T00:00:00.000Z', to: '1970-01-01T00:00:00.001Z' };

/** Rights to check, and the operations that check them. */
interface Asking {
  transport: Transport;
  /** Address of the service, without trailing slashes. */
  base: string;
  description: Description;
  /** Id of a listed stream; null if none is listed. */
  listed: string | null;
  /** Requests a page of a stream's entries; null if an export does not need them. */
  list: ((streamId: string, period: Period) => Promise<void>) | null;
  /** Requests a package and returns its id. */
  make: (streamId: string, period: Period) => Promise<string>;
}

/**
 * Checks that the API key has the rights that an export needs. Requests the service's check, a package and the entries
 * of a nonexistent stream, and each form of a nonexistent package; none of this changes anything. A service may answer
 * 403 for something that does not exist. Only then are the requests repeated for a listed stream, with a period without
 * entries.
 * @returns the refusal of the service's own check, which an export can do without; null if the key may use it.
 * @throws EvidenceError `refused` for 401 and 403, with the refused request.
 */
export async function tryRights(asking: Asking): Promise<EvidenceError | null> {
  const { transport, base, description, listed, list } = asking;
  const { verify, generate } = description;
  const post = async (path: string, body: unknown) => {
    const { error } = await transport.plain({ method: 'POST', url: base + path, body, repeatable: false });
    if (isEvidenceError(error, 'refused')) throw error;
  };
  const make = (stream_id: string) => post(generate.path, fillIn(generate.body, { stream_id, ...NO_TIME }));
  const isDecided = listed === null || !selectsPeriod(description);
  const made = await refusalFor(isDecided ? null : listed, make);
  if (made !== null) throw made;
  const read = list === null ? null : await refusalFor(listed, (streamId) => list(streamId, NO_TIME));
  if (read !== null) throw read;
  await tryDownloads(asking);
  if (verify === null) return null;
  return refusalFor(isDecided ? null : listed, (stream_id) =>
    post(inPath(verify.path, { stream_id }), fillIn(verify.body, { stream_id })),
  );
}

/** @param listed id of a stream to repeat a refused request with; null if there is none. */
async function refusalFor(
  listed: string | null,
  ask: (streamId: string) => Promise<unknown>,
): Promise<EvidenceError | null> {
  const refused = await refusalOf(() => ask(`evidence-doctor-${randomUUID()}`));
  return refused === null || listed === null ? refused : refusalOf(() => ask(listed));
}

/** @throws EvidenceError `refused` if the key may not download a form of a package. */
async function tryDownloads({ transport, base, description, listed, make }: Asking): Promise<void> {
  const paths = Object.values(description.downloads).filter((path) => path !== null);
  const refusalFrom = async (package_id: string) => {
    for (const path of paths) {
      const url = base + inPath(path, { package_id });
      const { error } = await transport.plain({ method: 'GET', url, repeatable: false });
      if (isEvidenceError(error, 'refused')) return error;
    }
    return null;
  };
  if ((await refusalFrom(`evidence-doctor-${randomUUID()}`)) === null) return;
  // A refusal may only hide that the package does not exist, unless the key may see the package.
  if (listed === null || !selectsPeriod(description)) return;
  const refused = await refusalFrom(await make(listed, NO_TIME));
  if (refused !== null) throw refused;
}

async function refusalOf(ask: () => Promise<unknown>): Promise<EvidenceError | null> {
  try {
    await ask();
  } catch (error) {
    if (isEvidenceError(error, 'refused')) return error;
    // A nonexistent package is an expected failure; errors other than refusals do not concern rights.
    if (!['not-found', 'service', 'contract'].some((code) => isEvidenceError(error, code as 'service'))) throw error;
  }
  return null;
}

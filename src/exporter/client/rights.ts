import { randomUUID } from 'node:crypto';
import { type EvidenceError, isEvidenceError } from '../../core/errors.ts';
import { fillIn, selectsPeriod } from '../../verifier/profile/answers.ts';
import type { Description } from '../../verifier/profile/description.ts';
import { inPath } from './operations.ts';
import type { Period } from './period.ts';
import type { Transport } from './transport.ts';

/** Period of a package without entries: a millisecond of 1970. */
const NO_TIME = { from: '1970-01-01T00:00:00.000Z', to: '1970-01-01T00:00:00.001Z' };

/** Rights that are asked for, and by what. */
interface Asking {
  transport: Transport;
  /** Address of the service, without slashes at its end. */
  base: string;
  description: Description;
  /** A stream that the service lists; null if it lists none. */
  listed: string | null;
  /** Asks for a page of the entries of a stream; null if an export can do without. */
  list: ((streamId: string, period: Period) => Promise<void>) | null;
  /** Has a package made, and returns its id. */
  make: (streamId: string, period: Period) => Promise<string>;
}

/**
 * Tells if the key may do what an export does. Asks for the service's check, for a package and for the entries of a stream
 * that does not exist, and for each form of a package that does not exist, which changes nothing there. A service may hide
 * by 403 that something does not exist: only then a listed stream is asked for, with a period that has no entries.
 * @returns why the service does not check streams for this key, which an export can do without; null if it does.
 * @throws EvidenceError `refused` for 401 and 403, with the request that was refused.
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

/** @param listed a stream that decides where an unknown one is refused; null if there is none. */
async function refusalFor(
  listed: string | null,
  ask: (streamId: string) => Promise<unknown>,
): Promise<EvidenceError | null> {
  const refused = await refusalOf(() => ask(`evidence-doctor-${randomUUID()}`));
  return refused === null || listed === null ? refused : refusalOf(() => ask(listed));
}

/** @throws EvidenceError `refused` if no form of a package is given to this key. */
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
  // Without a package that this key may see, a refusal may only hide that there is none.
  if (listed === null || !selectsPeriod(description)) return;
  const refused = await refusalFrom(await make(listed, NO_TIME));
  if (refused !== null) throw refused;
}

async function refusalOf(ask: () => Promise<unknown>): Promise<EvidenceError | null> {
  try {
    await ask();
  } catch (error) {
    if (isEvidenceError(error, 'refused')) return error;
    // A package that does not exist is not given; any other refusal is no matter of rights.
    if (!['not-found', 'service', 'contract'].some((code) => isEvidenceError(error, code as 'service'))) throw error;
  }
  return null;
}

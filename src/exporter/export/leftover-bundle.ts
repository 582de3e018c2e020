import { isEvidenceError } from '../../core/errors.ts';
import { type OpenBundle, openBundle } from '../../verifier/bundle/read.ts';
import { collectedIn } from '../../verifier/bundle/stated.ts';
import type { Verdict } from '../../verifier/claims/verdict.ts';
import type { StreamRecord } from '../../verifier/records/record.ts';
import { verifyBundle } from '../../verifier/verify/bundle.ts';
import { isBound } from '../bundle/binding.ts';
import type { Binding, ExportContext } from './context.ts';
import { notOurs, saysTheSame } from './records.ts';
import type { Relisting } from './relist.ts';
import { verdictWithoutKey } from './without-key.ts';

/** A bundle that lay in the archive, as it was found to be. */
export interface Leftover {
  /** Ours, made now, under what this run requires. */
  verdict: Verdict;
  missing: StreamRecord['missing'];
  collected: StreamRecord['collected'];
  service: StreamRecord['service'];
  identity: string;
}

/**
 * Verifies a bundle that lies in the archive as `evidence verify` does, after it was found to be bound to this run.
 *
 * @param file the bundle.
 * @param key where it lies.
 * @param relisting sees its entries as they are read.
 * @throws EvidenceError `conflict` when it is not bound to this run, is not whole, or does not say what is found now.
 */
export async function verifyLeftover(
  context: ExportContext,
  file: string,
  key: string,
  relisting?: Relisting,
): Promise<Leftover> {
  await requireBound(context.binding, file, key);
  const { contract, contractFile } = context.service;
  const { source, period, scope, run_id } = context.question;
  const found = await verifyBundle(file, key, {
    ...context.trust,
    contract: contractFile === null ? null : { contract, file: contractFile },
    acceptUnhashed: scope.accepted_unhashed,
    required: scope.required_claims,
    now: context.runtime.now(),
    ...(relisting === undefined ? {} : { watch: (stated) => relisting.begin(stated) }),
  });
  const [finding] = found.findings;
  if (finding !== undefined) throw notOurs(key, `${finding.key} ${finding.message}`);
  const { judged, identity } = found;
  if (judged === null || identity === null || judged.transferLog === null)
    throw notOurs(key, 'it holds nothing to judge');
  const { stated, transferLog, service, missing } = judged;
  const verdict = verdictWithoutKey(context, judged.verdict);
  const isOfRun =
    stated.run_id === run_id &&
    transferLog.audit_url === source.audit_url &&
    stated.contract_sha256 === source.contract_sha256 &&
    saysTheSame(stated.period, period);
  if (!isOfRun) throw notOurs(key, `it is of run ${stated.run_id} from ${transferLog.audit_url}`);
  if (!saysTheSame(verdict, stated.verdict))
    throw notOurs(
      key,
      'keys, roots or this program have changed since, so more or less of it is proved now than it says',
    );
  await relisting?.finish(judged, key);
  return { verdict, missing: [...missing], collected: collectedIn(transferLog), service, identity };
}

/** @throws EvidenceError `conflict`. */
async function requireBound({ key: bindingKey }: Binding, file: string, key: string): Promise<void> {
  let bundle: OpenBundle;
  try {
    bundle = await openBundle(file, {}, key);
  } catch (error) {
    throw isEvidenceError(error, 'unreadable') ? notOurs(key, error.message) : error;
  }
  try {
    const bound = bindingKey !== null && (await isBound(bundle, bindingKey, key).catch(asUnbound));
    if (!bound) throw notOurs(key, 'it is not bound to it');
  } finally {
    await bundle.close();
  }
}

function asUnbound(error: unknown): false {
  if (isEvidenceError(error)) return false;
  throw error;
}

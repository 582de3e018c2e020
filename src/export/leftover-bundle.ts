import { isBound } from '../bundle/binding.ts';
import type { Bundle } from '../bundle/bundle.ts';
import { missingFileName } from '../bundle/layout.ts';
import { type OpenBundle, openBundle } from '../bundle/read.ts';
import type { Verdict } from '../claims/verdict.ts';
import { isEvidenceError } from '../errors.ts';
import type { StreamRecord } from '../ledger/record.ts';
import { verifyBundle } from '../verify/bundle.ts';
import type { ExportContext } from './context.ts';
import { notOurs, saysTheSame } from './records.ts';

/** What a bundle was found to be that lay in the archive. */
export interface Leftover {
  /** Ours, made now, under what this run requires. */
  verdict: Verdict;
  missing: StreamRecord['missing'];
  identity: string;
  /** It was packed when less was required, so that its status is another one now. */
  isShort: boolean;
}

const FORMS = ['json', 'pdf', 'summary'] as const;
const MAX_REASON_BYTES = 64 * 1024;

/**
 * Verifies a bundle that lies in the archive as `evidence verify` does, after it was found to be bound to this run.
 *
 * @param file the bundle.
 * @param key where it lies.
 * @throws EvidenceError `conflict` when it is not bound to this run, is not whole, or does not say what is found now.
 */
export async function verifyLeftover(context: ExportContext, file: string, key: string): Promise<Leftover> {
  const missing = await readBound(context, file, key);
  const { sealKeys, roots } = context;
  const found = await verifyBundle(file, key, { contract: null, sealKeys, roots, now: context.now() });
  const [problem] = found.problems;
  if (problem !== undefined) throw notOurs(key, `${problem.key} ${problem.message}`);
  const { verdict, recorded, identity, period } = found;
  if (verdict === null || recorded === null || identity === null) throw notOurs(key, 'it holds nothing to judge');
  const isOfRun =
    found.runId === context.runId &&
    found.auditOrigin === context.auditOrigin &&
    found.contractSha256 === (context.contractFile?.sha256 ?? null) &&
    period !== null &&
    saysTheSame(period, context.period);
  if (!isOfRun) throw notOurs(key, `it is of run ${found.runId} from ${found.auditOrigin}`);
  if (!saysTheSame(verdict, recorded))
    throw notOurs(
      key,
      'keys, roots or this program have changed since, so more or less of it is proved now than it says',
    );
  const status = asRequired(verdict, context);
  return { verdict: { ...verdict, status }, missing, identity, isShort: status !== verdict.status };
}

/** What is missing of it, as it says itself. */
async function readBound({ bindingKey }: ExportContext, file: string, key: string): Promise<StreamRecord['missing']> {
  let bundle: OpenBundle;
  try {
    bundle = await openBundle(file, {}, key);
  } catch (error) {
    throw isEvidenceError(error, 'unreadable') ? notOurs(key, error.message) : error;
  }
  try {
    const bound = bindingKey !== null && (await isBound(bundle, bindingKey, key).catch(asUnbound));
    if (!bound) throw notOurs(key, 'it is not bound to it');
    return await readMissing(bundle);
  } finally {
    await bundle.close();
  }
}

function asUnbound(error: unknown): false {
  if (isEvidenceError(error)) return false;
  throw error;
}

async function readMissing(bundle: Bundle): Promise<StreamRecord['missing']> {
  const missing: StreamRecord['missing'] = [];
  for (const form of FORMS) {
    const name = missingFileName(form);
    if (!bundle.entries.some(({ path }) => path === name)) continue;
    const text = Buffer.from(await bundle.readFile(name, MAX_REASON_BYTES)).toString('utf8');
    missing.push({ form, reason: text.split('\n\n').slice(1).join('\n\n').trim() });
  }
  return missing;
}

/** More may be required now than when it was packed. */
function asRequired({ status, claims }: Verdict, { required }: ExportContext): Verdict['status'] {
  const isEnough = required.every((name) => claims[name].state === 'proved');
  return status === 'verified' && !isEnough ? 'incomplete' : status;
}

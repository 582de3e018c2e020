import { readFileSync } from 'node:fs';
import { Eta } from 'eta';
import { EvidenceError } from '../../core/errors.ts';
import { FORMATS } from '../../core/formats.ts';
import { packageFile } from '../../core/install-paths.ts';
import {
  bagInfo,
  DOES_NOT_PROVE,
  SERVICE_DOCUMENT,
  type ServiceDocument,
  TRANSFER_LOG_DOCUMENT,
  type TransferLog,
  VERIFICATION_DOCUMENT,
  type Verification,
} from '../../verifier/bundle/documents.ts';
import {
  CONTRACT_FILE,
  LISTING,
  README,
  SERVICE,
  TRANSFER_LOG,
  tokenFiles,
  VERIFICATION,
} from '../../verifier/bundle/files.ts';
import { toKnownDocument } from '../../verifier/bundle/known.ts';
import { missingFile } from '../../verifier/bundle/missing.ts';
import { describePeriod } from '../../verifier/bundle/period.ts';
import type { Examination } from '../../verifier/claims/claim.ts';
import type { Known } from '../../verifier/claims/observe.ts';
import { toVerdict, type Verdict } from '../../verifier/claims/verdict.ts';
import type { Question } from '../../verifier/records/question.ts';
import { toReadableBytes } from '../../verifier/records/record-bytes.ts';
import { checkServiceDocument } from '../../verifier/verify/service.ts';
import type { PayloadSource } from '../bundle/source.ts';
import type { BundleOptions, WrittenBundle } from '../bundle/write.ts';
import type { ExportContext, RunState } from './context.ts';
import type { ListedFile } from './listing.ts';
import { toReadmeFacts } from './readme.ts';
import type { Received } from './receive.ts';
import { verdictWithoutKey } from './without-key.ts';

type TagFile = BundleOptions['tagFiles'][number];

export interface BagContents {
  streamId: string;
  slug: string;
  /** Record of the stream in the service's list, as JSON. */
  streamRecord: string;
  known: Known;
  received: Received;
  examination: Examination;
  log: TransferLog;
  /** Key of the bundle in the archive. */
  place: string;
}

export interface PackedBag {
  written: WrittenBundle;
  verdict: Verdict;
}

/** Packs one stream's evidence and the documents that describe it into a zip at `target`. */
export async function packBag(
  context: ExportContext,
  run: RunState,
  contents: BagContents,
  target: string,
): Promise<PackedBag> {
  const { received, slug, place } = contents;
  const { contractFile } = context.service;
  const { key } = context.binding;
  const inBundle = (path: string) => `${place}:${path}`;
  const verdict = verdictWithoutKey(context, toVerdict(received.reading, contents.examination));
  const verification = toVerification(context, contents, verdict);
  const service = toService(context.question, contents);
  requireConsistent(context, contents, { verification, service }, inBundle(SERVICE));
  const written = await run.packing.write({
    target,
    slug,
    date: run.start.at.toISOString(),
    bagInfo: bagInfo(verification, received.missing.length > 0 ? 'PARTIAL' : 'COMPLETE'),
    ...(key === null ? {} : { binding: { key, place } }),
    tagFiles: [readme(context, contents, verdict), ...received.missing.map(missingFile)],
    payload: [
      ...received.files.map(
        ({ path, file, bytes, sha256 }): PayloadSource =>
          sha256 === null ? { path, file } : { path, file, bytes, sha256 },
      ),
      { path: VERIFICATION, content: toReadableBytes(VERIFICATION_DOCUMENT, verification, inBundle(VERIFICATION)) },
      { path: SERVICE, content: toReadableBytes(SERVICE_DOCUMENT, service, inBundle(SERVICE)) },
      ...(received.listed === null ? [] : [listingSource(received.listed)]),
      { path: TRANSFER_LOG, content: toReadableBytes(TRANSFER_LOG_DOCUMENT, contents.log, inBundle(TRANSFER_LOG)) },
      ...(contractFile === null ? [] : [{ path: CONTRACT_FILE, content: contractFile.bytes }]),
      ...tokenFiles(received.reading.facts?.checkpoints ?? []).map(({ path, content }) => ({ path, content })),
    ],
  });
  return { written, verdict };
}

/**
 * Checks the documents as a verifier will, because a bundle that contradicts itself could never be recovered.
 * @throws EvidenceError `service` if the service's statements cannot be written and read back unchanged.
 */
function requireConsistent(
  { service: { client } }: ExportContext,
  { received, log }: BagContents,
  { verification, service }: { verification: Verification; service: ServiceDocument },
  place: string,
): void {
  const paths = received.listed === null ? [] : [LISTING];
  const [wrong] = checkServiceDocument(service, verification, paths, client.description, log.steps);
  if (wrong === undefined) return;
  throw new EvidenceError('service', `nothing was stored for this stream, because ${place} ${wrong}`, {
    nextStep: 'Earlier archived bundles are kept. Ask the operator of the service about this data.',
  });
}

function toVerification(
  { question, service, trust, maker, runtime }: ExportContext,
  { known, received }: BagContents,
  verdict: Verdict,
): Verification {
  return {
    format: FORMATS.verification,
    run_id: question.run_id,
    period: question.period,
    verified_at: runtime.now().toISOString(),
    tool: maker.tool,
    contract: service.contract.name,
    contract_sha256: question.source.contract_sha256,
    recipe: service.contract.recipe,
    required_claims: question.scope.required_claims,
    seal_key_ids: [...received.reading.walk.seals.keyIds].sort(),
    accepted_unhashed: question.scope.accepted_unhashed,
    timestamp_roots: trust.roots?.map(({ x509 }) => x509.fingerprint256) ?? null,
    ...toKnownDocument(known),
    verdict,
    does_not_prove: [...DOES_NOT_PROVE],
  };
}

/** Returns the transfer log of a stream that was just received. */
export function toTransferLog(
  { question, maker, runtime }: Pick<ExportContext, 'question' | 'maker' | 'runtime'>,
  run: Pick<RunState, 'start'>,
  streamId: string,
  steps: TransferLog['steps'],
): TransferLog {
  return {
    format: FORMATS.transferLog,
    run_id: question.run_id,
    stream_id: streamId,
    audit_url: question.source.audit_url,
    operator: maker.operator,
    request: question.scope.request,
    requested_by: question.scope.requested_by,
    export_started_at: run.start.at.toISOString(),
    received_at: runtime.now().toISOString(),
    steps,
  };
}

function toService({ run_id }: Question, { streamId, streamRecord, received }: BagContents): ServiceDocument {
  return {
    format: FORMATS.service,
    run_id,
    stream_id: streamId,
    stream_record: streamRecord,
    check_answer: received.checkAnswer,
    listing: received.listed?.service ?? null,
  };
}

function listingSource({ file, bytes, sha256 }: ListedFile): PayloadSource {
  return { path: LISTING, file, bytes, sha256 };
}

const template = packageFile('templates/bundle/README.eta');

function readme(
  { question, service }: Pick<ExportContext, 'question' | 'service'>,
  { streamId, received }: BagContents,
  verdict: Verdict,
): TagFile {
  const { contract } = service;
  const text = new Eta({ autoEscape: false, autoTrim: false }).renderString(readFileSync(template, 'utf8'), {
    streamId,
    runId: question.run_id,
    period: describePeriod(question.period),
    packageId: verdict.package_id ?? received.packageId,
    entries:
      verdict.first_sequence === null
        ? '0'
        : `${verdict.entries} (${verdict.first_sequence} to ${verdict.head?.sequence})`,
    head: verdict.head?.hash ?? 'none',
    status: verdict.status,
    partial: received.missing.length > 0,
    missing: received.missing,
    recipe: contract.recipe,
    fields: contract.fields,
    entriesPath: contract.entriesPath.join('.'),
    contractFile: service.contractFile === null ? null : CONTRACT_FILE,
    packagePeriod: describePeriod(service.packagePeriod),
    isListed: received.listed !== null,
    claims: verdict.claims,
    ...toReadmeFacts(received, verdict, contract.fields),
    doesNotProve: DOES_NOT_PROVE,
  });
  return { name: README, content: text };
}

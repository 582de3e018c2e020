import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Eta } from 'eta';
import { FORMATS } from '../../core/formats.ts';
import { packageFile } from '../../core/install-paths.ts';
import { SUPPLEMENT_TRANSFER_LOG, type SupplementTransferLog } from '../../verifier/bundle/documents.ts';
import { CONTRACT_FILE, README, TRANSFER_LOG } from '../../verifier/bundle/files.ts';
import { describePeriod } from '../../verifier/bundle/period.ts';
import { toReadableBytes } from '../../verifier/records/record-bytes.ts';
import { SUPPLEMENTS_RECORD, type SupplementsStatement } from '../../verifier/supplements/document.ts';
import { SUPPLEMENTS_DOCUMENT } from '../../verifier/supplements/files.ts';
import type { PayloadSource } from '../bundle/source.ts';
import type { BundleOptions, WrittenBundle } from '../bundle/write.ts';
import type { CollectedSupplements } from '../supplements/collect.ts';
import type { ExportContext, RunState } from './context.ts';
import { Packing } from './packing.ts';

/** Contents of the bag. */
interface SupplementContents {
  collected: CollectedSupplements;
  statement: SupplementsStatement;
  /** States of the records, and tables of them. */
  judged: PayloadSource[];
  /** Folder for the bag. */
  folder: string;
  /** Key of the bag in the archive. */
  place: string;
}

/** Folder in the zip. */
const SLUG = 'supplements';

/** Packs the supplements and the results of judging them, in a separate thread. */
export async function packSupplements(
  context: ExportContext,
  start: RunState['start'],
  contents: SupplementContents,
): Promise<WrittenBundle & { file: string }> {
  const options = toBundleOptions(context, start, contents);
  await using packing = new Packing();
  return { ...(await packing.write(options)), file: options.target };
}

function toBundleOptions(
  context: ExportContext,
  start: RunState['start'],
  { collected, statement, judged, folder, place }: SupplementContents,
): BundleOptions {
  const { question, maker, service, binding } = context;
  const { run_id, period } = question;
  const document = { format: FORMATS.supplements, run_id, period, ...statement };
  const log = toTransferLog(context, start, collected);
  return {
    target: join(folder, 'supplements.zip'),
    slug: SLUG,
    holds: 'supplements',
    date: start.at.toISOString(),
    bagInfo: [
      ['Bag-Software-Agent', `${maker.tool.name} ${maker.tool.version}`],
      ['External-Identifier', `${run_id}/${SLUG}`],
      ['External-Description', `What other services showed beside the audit evidence, ${describePeriod(period)}`],
      ['Evidence-Status', collected.missing.length > 0 ? 'PARTIAL' : 'COMPLETE'],
    ],
    ...(binding.key === null ? {} : { binding: { key: binding.key, place } }),
    tagFiles: [{ name: README, content: readme(context, statement) }],
    payload: [
      ...collected.collected.flatMap(({ received }) => received.files),
      ...judged,
      {
        path: SUPPLEMENTS_DOCUMENT,
        content: toReadableBytes(SUPPLEMENTS_RECORD, document, `${place}:${SUPPLEMENTS_DOCUMENT}`),
      },
      { path: TRANSFER_LOG, content: toReadableBytes(SUPPLEMENT_TRANSFER_LOG, log, `${place}:${TRANSFER_LOG}`) },
      ...(service.contractFile === null ? [] : [{ path: CONTRACT_FILE, content: service.contractFile.bytes }]),
    ],
  };
}

function toTransferLog(
  { question, maker, runtime }: ExportContext,
  start: RunState['start'],
  { collected }: CollectedSupplements,
): SupplementTransferLog {
  return {
    format: FORMATS.transferLog,
    run_id: question.run_id,
    services: Object.fromEntries(collected.map(({ service, url }) => [service, url])),
    operator: maker.operator,
    request: question.scope.request,
    requested_by: question.scope.requested_by,
    export_started_at: start.at.toISOString(),
    received_at: runtime.now().toISOString(),
    steps: collected.flatMap(({ received }) => received.transferLog),
  };
}

const template = packageFile('templates/bundle/SUPPLEMENTS.eta');

function readme({ question, service }: ExportContext, { services, kinds }: SupplementsStatement): string {
  return new Eta({ autoEscape: false, autoTrim: false }).renderString(readFileSync(template, 'utf8'), {
    runId: question.run_id,
    period: describePeriod(question.period),
    services: Object.entries(services).filter(([, { state }]) => state !== 'not_configured'),
    kinds: Object.entries(kinds),
    contractFile: service.contractFile === null ? null : CONTRACT_FILE,
  });
}

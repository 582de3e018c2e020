import type { Archive } from '../archive/archive.ts';
import { openMemoryArchive } from '../archive/memory.ts';
import { describePeriod } from '../bundle/period.ts';
import { EvidenceError } from '../errors.ts';
import { checkQuestion, questionOf, whyOther } from '../export/asked.ts';
import { bindingKeysOf } from '../export/binding.ts';
import type { ExportContext, Scope } from '../export/context.ts';
import { type PeriodAnswer, type PeriodQuestion, resolvePeriod } from '../export/period.ts';
import { selectStreams } from '../export/plan.ts';
import { type ExportResult, exportRun } from '../export/run.ts';
import { exportOrRevise, findOpenRun } from '../export/run-id.ts';
import type { CommandContext } from './command.ts';
import { type Config, loadConfig } from './config.ts';
import { readControls, toReportOptions } from './controls.ts';
import type { ExportFlags } from './flags.ts';
import { Progress } from './progress.ts';
import { endOf, printRun, toRunDocument } from './run-report.ts';
import { connectService, type Service } from './service.ts';
import { openSigningKey, openStamping } from './signing.ts';
import { openArchive } from './store.ts';
import { readCommit, readOperator, readTool } from './tool.ts';
import { openRecipients, readPublicKeys, readSealKeys, readTimestampRoots } from './trust.ts';
import { makeWorkDirectory } from './work-directory.ts';

export async function runExport(flags: ExportFlags, context: CommandContext): Promise<number> {
  const config = await loadConfig(flags, context.environment, context.directory);
  const scope = scopeOf(flags);
  const service = connectService(config, context.printer, context.signal);
  const common = {
    ...{ config, scope, service },
    revise: flags.revise === true,
    sealPartial: flags['seal-partial'] === true,
    beginSigning: flags['begin-signing'] === true,
    serviceMoved: flags['service-moved'] === true,
  };
  try {
    if (flags.missing === true) {
      const { exportMissing } = await import('./missing.ts');
      const exportMonth = (answer: PeriodAnswer, isFirst: boolean) =>
        exportInto({ ...common, ...(isFirst ? {} : SAID_ONCE), answer }, context);
      return await exportMissing({ ...common, exportMonth }, flags, context);
    }
    const wish = { ...common, answer: resolvePeriod(periodQuestionOf(flags), new Date()) };
    if (flags['dry-run'] === true) return await dryRun(wish, context);
    const result = await exportInto(wish, context);
    context.printer.document(toRunDocument(result, config.archiveUrl));
    printRun(result, config.archiveUrl, context.printer);
    return endOf(result).exit_code;
  } finally {
    await service.close();
  }
}

/** What the first of several runs has said. */
const SAID_ONCE = { beginSigning: false, serviceMoved: false };

function scopeOf(flags: ExportFlags): Scope {
  for (const name of ['stream', 'exclude'] as const)
    if (flags[name]?.length === 0 || flags[name]?.includes('') === true)
      throw new EvidenceError('usage', `--${name} names no stream`, {
        nextStep: `Leave --${name} out for all streams; a variable that it was to name may be empty.`,
      });
  return {
    streams: flags.stream ?? [],
    exclude: flags.exclude ?? [],
    request: flags.request ?? null,
    requestedBy: flags['requested-by'] ?? null,
  };
}

function periodQuestionOf(flags: ExportFlags): PeriodQuestion {
  const { period: month, from, to, request, stream: streams, exclude } = flags;
  return { month, from, to, allTime: flags['all-time'], request, streams, exclude };
}

export interface ExportWish {
  config: Config;
  answer: PeriodAnswer;
  scope: Scope;
  revise: boolean;
  sealPartial: boolean;
  beginSigning: boolean;
  serviceMoved: boolean;
  service: Service;
}

/** Puts the pieces of an export together and runs it. */
export async function exportInto(wish: ExportWish, context: CommandContext): Promise<ExportResult> {
  const { config, answer, scope, service } = wish;
  const { printer, signal } = context;
  const packagePeriod = service.client.packagePeriod(answer.period);
  const sealKeys = readSealKeys(config.sealKeyFiles);
  const roots = readTimestampRoots(config.timestampRootsFile);
  const controls = readControls(config.report.controls);
  const signingKey = openSigningKey(config, context);
  const stamping = openStamping(config, context);
  const recipients = await openRecipients(config);
  const archive = await openForWriting(config, context);
  const work = makeWorkDirectory();
  const progress = new Progress(printer);
  try {
    // What the store cannot do is found out before anything is asked of the service.
    await archive.shortcomings();
    const exportContext: Omit<ExportContext, 'runId' | 'bindingKey'> = {
      client: service.client,
      archive,
      contract: service.contract.contract,
      contractFile: service.contract.file,
      auditUrl: service.url,
      serviceMoved: wish.serviceMoved,
      period: answer.period,
      packagePeriod,
      scope,
      required: config.required,
      acceptUnhashed: config.acceptUnhashed,
      completeness: config.completeness,
      sealKeys,
      roots,
      recipients,
      signingKey,
      bindingKeyFor: bindingKeysOf({ signingKey, apiKey: config.apiKey ?? '' }),
      publicKeys: readPublicKeys(config.publicKeyFiles),
      beginSigning: wish.beginSigning,
      stamping,
      sealPartial: wish.sealPartial,
      concurrency: config.concurrency,
      workDirectory: work.path,
      tool: readTool(),
      commit: readCommit(),
      report: toReportOptions(config.report, controls),
      operator: readOperator(),
      now: () => new Date(),
      signal,
      listen: progress.listen,
    };
    const questionAs = (runId: string) => questionOf({ ...exportContext, runId });
    const revision = {
      archive,
      revise: wish.revise,
      whyOther: (runId: string) => whyOther(exportContext, questionAs(runId)),
      onBlocked: ({ message }: EvidenceError) => printer.note(message),
    };
    return await exportOrRevise(revision, await chooseRunId(archive, answer), async (runId) =>
      exportRun({ ...exportContext, runId, bindingKey: await exportContext.bindingKeyFor(questionAs(runId)) }),
    );
  } finally {
    progress.close();
    work.remove();
    await stamping?.authority.close();
    await archive.close();
  }
}

async function openForWriting(config: Config, context: CommandContext): Promise<Archive> {
  const archive = await openArchive(config, context, true);
  if (archive === null) throw new EvidenceError('archive', `the archive ${config.archiveUrl} cannot be opened`);
  return archive;
}

/** What there is until now: a run of it that was begun on an earlier day, and not finalized, goes on under its own name. */
async function chooseRunId(archive: Archive, { runId, series }: PeriodAnswer): Promise<string> {
  return (series === null ? null : await findOpenRun(archive, series)) ?? runId;
}

async function dryRun(wish: ExportWish, context: CommandContext): Promise<number> {
  const { printer } = context;
  const { config, answer, scope, service } = wish;
  const archive = (await openArchive(config, context, false)) ?? openMemoryArchive();
  const { runId, isFinalized } = await checkRun(wish, archive, context).finally(() => archive.close());
  const { included, excluded } = await selectStreams(service.client.listStreams(), scope);
  const streams = included.map((stream) => stream.streamId);
  printer.document({
    ...{ dry_run: true, run_id: runId, period: answer.period, finalized: isFinalized, streams, excluded },
  });
  printer.result(`Run ${runId}: ${describePeriod(answer.period)}`);
  if (isFinalized) printer.result('This run is sealed: without --revise nothing would be exported.');
  printer.result(`${included.length} streams would be exported into ${config.archiveUrl}:`);
  for (const streamId of streams) printer.result(`  ${streamId}`);
  if (excluded.length > 0) printer.result(`${excluded.length} would be left out.`);
  printer.result('Nothing was written.');
  return included.length === 0 ? 4 : 0;
}

/** What an export would refuse is refused; a revision would go under another name where it has to. */
async function checkRun(
  { config, answer, scope, service, revise, serviceMoved }: ExportWish,
  archive: Archive,
  context: CommandContext,
): Promise<{ runId: string; isFinalized: boolean }> {
  const bindingKeyFor = bindingKeysOf({ signingKey: openSigningKey(config, context), apiKey: config.apiKey ?? '' });
  const asker = { archive, bindingKeyFor, serviceMoved };
  const { required, acceptUnhashed, completeness } = config;
  const asked = { auditUrl: service.url, contractFile: service.contract.file, period: answer.period, scope };
  const questionAs = (runId: string) => questionOf({ ...asked, required, acceptUnhashed, completeness, runId });
  const check = async (runId: string) => ({
    runId,
    isFinalized: (await checkQuestion(asker, questionAs(runId))) !== null,
  });
  const revision = {
    ...{ archive, revise },
    whyOther: (runId: string) => whyOther(asker, questionAs(runId)),
    onBlocked: () => undefined,
  };
  return exportOrRevise(revision, await chooseRunId(archive, answer), check);
}

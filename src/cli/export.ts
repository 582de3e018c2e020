import type { Archive } from '../archive/archive.ts';
import { openMemoryArchive } from '../archive/memory.ts';
import { describePeriod } from '../bundle/period.ts';
import { EvidenceError } from '../errors.ts';
import { deriveBindingKey } from '../export/binding.ts';
import type { ExportContext, Scope } from '../export/context.ts';
import type { RunResult } from '../export/journeys.ts';
import { type PeriodAnswer, resolvePeriod } from '../export/period.ts';
import { exportOrRevise, findOpenRun, readSealedRun, resolveRunId, selectStreams } from '../export/plan.ts';
import { exportRun } from '../export/run.ts';
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
  const answer = resolvePeriod(
    {
      month: flags.period,
      from: flags.from,
      to: flags.to,
      allTime: flags['all-time'],
      request: flags.request,
    },
    new Date(),
  );
  const scope: Scope = {
    streams: flags.stream ?? [],
    exclude: flags.exclude ?? [],
    request: flags.request ?? null,
    requestedBy: flags['requested-by'] ?? null,
  };
  const service = connectService(config, context.printer, context.signal);
  try {
    if (flags['dry-run'] === true) return await dryRun(config, answer, scope, service, context);
    const result = await exportInto(
      {
        config,
        answer,
        scope,
        revise: flags.revise === true,
        sealPartial: flags['seal-partial'] === true,
        beginSigning: flags['begin-signing'] === true,
        service,
      },
      context,
    );
    context.printer.document(toRunDocument(result, config.archiveUrl));
    printRun(result, config.archiveUrl, context.printer);
    return endOf(result).exit_code;
  } finally {
    await service.close();
  }
}

export interface ExportWish {
  config: Config;
  answer: PeriodAnswer;
  scope: Scope;
  revise: boolean;
  sealPartial: boolean;
  beginSigning: boolean;
  service: Service;
}

/** Puts the pieces of an export together and runs it. */
export async function exportInto(wish: ExportWish, context: CommandContext): Promise<RunResult> {
  const { config, answer, scope, service } = wish;
  const { printer, signal } = context;
  const packagePeriod = service.client.packagePeriod(answer.period);
  const sealKeys = readSealKeys(config.sealKeyFiles);
  const roots = readTimestampRoots(config.timestampRootsFile);
  const controls = readControls(config.report.controls);
  const signingKey = openSigningKey(config, context);
  const stamping = openStamping(config, context);
  const recipients = await openRecipients(config);
  const contractSha256 = service.contract.file?.sha256 ?? null;
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
      auditOrigin: service.origin,
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
    const exportAs = async (runId: string) => {
      const identity = { runId, auditOrigin: service.origin, period: answer.period, contractSha256 };
      const bindingKey = await deriveBindingKey(identity, { signingKey, apiKey: config.apiKey ?? '' });
      return exportRun({ ...exportContext, runId, bindingKey });
    };
    const runId = await chooseRunId(archive, answer, scope, wish.revise);
    return await exportOrRevise(archive, runId, wish.revise, exportAs, ({ message }) => printer.note(message));
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

/** An export of all time that was begun on an earlier day and not sealed goes on under its own name. */
async function chooseRunId(archive: Archive, answer: PeriodAnswer, scope: Scope, revise: boolean): Promise<string> {
  const { from, to } = answer.period;
  if (from === null && to === null && scope.request === null) {
    const open = await findOpenRun(archive, 'all-time-');
    if (open !== null) return open;
  }
  return resolveRunId(archive, answer.runId, revise);
}

async function dryRun(
  config: Config,
  answer: PeriodAnswer,
  scope: Scope,
  { client }: Service,
  context: CommandContext,
): Promise<number> {
  const { printer } = context;
  const archive = (await openArchive(config, context, false)) ?? openMemoryArchive();
  const sealed = await readSealedRun(archive, answer.runId).finally(() => archive.close());
  const { included, excluded } = await selectStreams(client.listStreams(), scope);
  const streams = included.map((stream) => stream.streamId);
  printer.document({ dry_run: true, run_id: answer.runId, period: answer.period, streams, excluded });
  printer.result(`Run ${answer.runId}: ${describePeriod(answer.period)}`);
  if (sealed !== null) printer.result('This run is sealed: without --revise nothing would be exported.');
  printer.result(`${included.length} streams would be exported into ${config.archiveUrl}:`);
  for (const streamId of streams) printer.result(`  ${streamId}`);
  if (excluded.length > 0) printer.result(`${excluded.length} would be left out.`);
  printer.result('Nothing was written.');
  return included.length === 0 ? 4 : 0;
}

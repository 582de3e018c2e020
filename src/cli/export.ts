import type { Archive } from '../archive/archive.ts';
import { EvidenceError } from '../errors.ts';
import { deriveBindingKey } from '../export/binding.ts';
import type { ExportContext, Scope } from '../export/context.ts';
import type { RunResult } from '../export/journeys.ts';
import { type PeriodAnswer, resolvePeriod } from '../export/period.ts';
import { exportOrRevise, findOpenRun, resolveRunId } from '../export/plan.ts';
import { exportRun } from '../export/run.ts';
import type { CommandContext } from './command.ts';
import { type Config, loadConfig } from './config.ts';
import { dryRun } from './dry-run.ts';
import type { ExportFlags } from './flags.ts';
import { type Footing, withFooting } from './footing.ts';
import type { Printer } from './printer.ts';
import { Progress } from './progress.ts';
import { MORE_ROOM, reckonRoom } from './room.ts';
import { endOf, printRun, toRunDocument } from './run-report.ts';
import { connectService, type Service } from './service.ts';
import { openArchive } from './store.ts';
import { readCommit, readOperator, readTool } from './tool.ts';
import { checkWorkDirectory, withWorkDirectory } from './work-directory.ts';

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
    if (flags['dry-run'] === true)
      return await withFooting(config, context, (footing) =>
        dryRun({ config, answer, scope, service, beginSigning: flags['begin-signing'] === true }, footing, context),
      );
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

/** Loads what an export rests on, and runs it. */
export async function exportInto(wish: ExportWish, context: CommandContext): Promise<RunResult> {
  const { config } = wish;
  return withFooting(config, context, (footing) =>
    withWorkDirectory(config.workDirectory, (workDirectory) =>
      exportWith(wish, { ...footing, workDirectory }, context),
    ),
  );
}

/** Puts the pieces of an export together and runs it. */
async function exportWith(
  wish: ExportWish,
  { controls, ...footing }: Omit<Footing, 'workDirectory'> & { workDirectory: string },
  context: CommandContext,
): Promise<RunResult> {
  const { config, answer, scope, service } = wish;
  const { printer, signal } = context;
  const packagePeriod = service.client.packagePeriod(answer.period);
  const contractSha256 = service.contract.file?.sha256 ?? null;
  const archive = await openForWriting(config, context);
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
      ...footing,
      beginSigning: wish.beginSigning,
      sealPartial: wish.sealPartial,
      concurrency: config.concurrency,
      tool: readTool(),
      commit: readCommit(),
      report: { ...config.report, controls },
      operator: readOperator(),
      now: () => new Date(),
      signal,
      listen: (event) => {
        if (event.type === 'planned') noteRoom(config, event.entryCounts, printer);
        progress.listen(event);
      },
    };
    const exportAs = async (runId: string) => {
      const identity = { runId, auditOrigin: service.origin, period: answer.period, contractSha256 };
      const bindingKey = await deriveBindingKey(identity, { ...footing, apiKey: config.apiKey ?? '' });
      return exportRun({ ...exportContext, runId, bindingKey });
    };
    const runId = await chooseRunId(archive, answer, scope, wish.revise);
    return await exportOrRevise(archive, runId, wish.revise, exportAs, ({ message }) => printer.note(message));
  } finally {
    progress.close();
    await archive.close();
  }
}

/** What may be too little is said, and tried: the same command resumes it. */
function noteRoom(config: Config, counts: readonly (number | null)[], printer: Printer): void {
  const room = reckonRoom(config, checkWorkDirectory(config.workDirectory), counts);
  if (!room.isShort) return;
  printer.note(`The work directory may be too small: ${room.says}.`);
  printer.note(MORE_ROOM);
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

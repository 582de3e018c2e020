import type { Printer } from '../../../core/terminal/printer.ts';
import type { Question } from '../../../verifier/records/question.ts';
import type { Archive } from '../../archive/archive.ts';
import { whyNotOurs, whyOther } from '../../export/asked.ts';
import type { Listener } from '../../export/events.ts';
import { type PeriodAnswer, type PeriodQuestion, resolvePeriod } from '../../export/period.ts';
import { type ExportResult, exportRun } from '../../export/run.ts';
import { chooseRunId, exportOrRevise } from '../../export/run-id.ts';
import { NOBODY_NOTIFIED } from '../../notify/notifications.ts';
import type { CommandContext } from '../command.ts';
import { type Config, loadConfig } from '../config/config.ts';
import { type Footing, withFooting } from '../config/footing.ts';
import type { OpenQueue } from '../config/queue.ts';
import { connectService } from '../config/service.ts';
import { withArchiveMade } from '../config/stores.ts';
import { freeIn, MORE_ROOM, reckonRoom, withWorkDirectory } from '../config/work-directory.ts';
import { Progress } from '../output/progress.ts';
import { endOf, printRun, toRunDocument } from '../output/run-report.ts';
import { bindingKeyOf, composeExport, type ExportParts } from './compose.ts';
import { dryRun } from './dry-run.ts';
import { type ExportOptions, questionOf } from './export-options.ts';
import type { FlagsOf } from './flags-of.ts';

export async function runExport(flags: FlagsOf<'export'>, context: CommandContext): Promise<number> {
  if (flags['dry-run'] === true) {
    const config = await loadConfig(flags, context.environment, context.directory);
    return exportFrom({ config, queue: null, notifications: NOBODY_NOTIFIED }, flags, context);
  }
  const { notifyingExport } = await import('../notified.ts');
  return notifyingExport(flags, context, async (config, notifications) => {
    if (config.deadline !== null)
      context.endAfter(config.deadline.milliseconds, `the deadline (${config.deadline.given}) passed`);
    const withService = (queue: OpenQueue | null) => exportFrom({ config, queue, notifications }, flags, context);
    if (flags.distributed !== true) return withService(null);
    const { withQueue } = await import('../config/queue.ts');
    return withQueue(config, context, withService);
  });
}

/** Options that all exports of one command share. */
type Works = Pick<ExportOptions, 'config' | 'queue' | 'notifications'>;

async function exportFrom(works: Works, flags: FlagsOf<'export'>, context: CommandContext): Promise<number> {
  const { config, queue, notifications } = works;
  const scope = scopeOf(flags, config);
  const { printer, signal } = context;
  await using service = connectService(config.source, printer, signal, {
    sharedRate: queue?.rate ?? null,
    onRequest: notifications.request,
  });
  const common = {
    ...works,
    scope,
    service,
    revise: flags.revise === true,
    finalizePartial: flags['finalize-partial'] === true,
    beginSigning: flags['begin-signing'] === true,
    serviceMoved: flags['service-moved'] === true,
  };
  return await withFooting(config, context, (footing) => exportOn(footing, common, flags, context));
}

async function exportOn(
  footing: Footing,
  common: Omit<ExportOptions, 'answer'>,
  flags: FlagsOf<'export'>,
  context: CommandContext,
): Promise<number> {
  if (flags.missing === true) {
    const { exportMissing } = await import('./missing.ts');
    const exportMonth = (answer: PeriodAnswer, { isFirst, revise }: { isFirst: boolean; revise: boolean }) =>
      exportInto({ ...common, ...(isFirst ? {} : SAID_ONCE), revise, answer }, footing, context);
    return exportMissing({ ...common, footing, exportMonth }, flags, context);
  }
  const options = { ...common, answer: resolvePeriod(periodQuestionOf(flags), new Date()) };
  if (flags['dry-run'] === true) return dryRun(options, footing, context);
  const result = await exportInto(options, footing, context);
  const { url: archiveUrl } = common.config.archive;
  context.printer.document('evidence-export/1', toRunDocument(result, archiveUrl));
  printRun(result, archiveUrl, context.printer);
  return endOf(result).exit_code;
}

/** Flags that only apply to the first of several runs. */
const SAID_ONCE = { beginSigning: false, serviceMoved: false };

/** Returns the scope from the flags and the configuration. */
export function scopeOf(flags: Partial<FlagsOf<'export'>>, config: Config): Question['scope'] {
  return {
    streams: flags.stream ?? [],
    exclude: flags.exclude ?? [],
    request: flags.request ?? null,
    requested_by: flags['requested-by'] ?? null,
    required_claims: config.verify.required,
    accepted_unhashed: config.verify.acceptUnhashed,
    completeness: config.verify.completeness,
  };
}

function periodQuestionOf(flags: FlagsOf<'export'>): PeriodQuestion {
  const { period: month, from, to, request, stream: streams, exclude } = flags;
  return { month, from, to, allTime: flags['all-time'], request, streams, exclude };
}

/** Runs an export with a loaded footing, in a new work directory. */
export async function exportInto(
  options: ExportOptions,
  footing: Footing,
  context: CommandContext,
): Promise<ExportResult> {
  return withWorkDirectory(options.config.workDirectory, (workDirectory) =>
    withArchiveMade(options.config.archive, context, (archive) =>
      exportTo(archive, options, footing, workDirectory, context),
    ),
  );
}

/** Runs an export on this machine or with workers. */
// Over 40 lines: it assembles everything that an export needs.
async function exportTo(
  archive: Archive,
  options: ExportOptions,
  footing: Footing,
  workDirectory: string,
  context: CommandContext,
): Promise<ExportResult> {
  const { printer, signal } = context;
  using progress = new Progress(printer);
  const listen: Listener = (event) => {
    if (event.type === 'planned') noteRoom(options.config, event.entryCounts, printer);
    progress.listen(event);
    options.notifications.listen(event);
  };
  try {
    // Probes the store before anything is requested from the service.
    await archive.limitations();
    const { concurrency } = options.config.source;
    const runtime = {
      workDirectory,
      concurrency,
      now: () => new Date(),
      signal,
      listen,
      around: options.notifications.around,
    };
    const parts: ExportParts = { options, footing, archive, runtime };
    const asker = { archive, service: { isMoved: options.serviceMoved }, binding: { keyFor: bindingKeyOf(parts) } };
    const revision = {
      archive,
      revise: options.revise,
      whyOther: (runId: string) => whyOther(asker, questionOf(options, runId)),
      whyNotOurs: (runId: string) => whyNotOurs(asker, questionOf(options, runId)),
      onBlocked: (why: string) => printer.note(why),
    };
    const result = await exportOrRevise(
      revision,
      await chooseRunId(archive, options.answer),
      async (runId, supersedes) => {
        const exportContext = await composeExport(parts, {
          question: questionOf(options, runId),
          supersedes,
          handedOut: null,
        });
        if (options.queue === null) return exportRun(exportContext);
        const { exportDistributed } = await import('./distributed.ts');
        const { deadline } = options.config;
        const { traceParent } = options.notifications;
        return exportDistributed(exportContext, options.queue, { deadline, traceParent }, context);
      },
    );
    options.notifications.concluded(result);
    return result;
  } catch (error) {
    if (signal.aborted) printer.note(progress.standing());
    throw error;
  }
}

/**
 * Warns if the work directory may be too small. The export is attempted all the same, because the same command can
 * resume it.
 */
function noteRoom(config: Config, counts: readonly (number | null)[], printer: Printer): void {
  const room = reckonRoom(config, freeIn(config.workDirectory), counts);
  if (!room.isShort) return;
  printer.note(`The work directory may be too small: ${room.says}.`);
  printer.note(MORE_ROOM);
}

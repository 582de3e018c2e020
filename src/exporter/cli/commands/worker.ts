import { EvidenceError } from '../../../core/errors.ts';
import { plural } from '../../../core/plurals.ts';
import type { Printer } from '../../../core/terminal/printer.ts';
import { askedKey } from '../../../verifier/records/keys.ts';
import { type Question, readAsked } from '../../../verifier/records/question.ts';
import type { ExportContext, HandedOut, Runtime } from '../../export/context.ts';
import type { Listener } from '../../export/events.ts';
import { type JoinedRun, joinRun } from '../../export/handed-out.ts';
import { exportRun } from '../../export/run.ts';
import type { Notified } from '../../notify/notifications.ts';
import { endedStreams } from '../../queue/ended-streams.ts';
import type { HandedRun } from '../../queue/run-queue.ts';
import type { Conclusion } from '../../queue/tasks.ts';
import { deadlineOf, runWorker } from '../../queue/worker.ts';
import type { CommandContext } from '../command.ts';
import { type Config, loadConfig } from '../config/config.ts';
import { withFooting } from '../config/footing.ts';
import { type OpenQueue, withQueue } from '../config/queue.ts';
import { connectService, type Service } from '../config/service.ts';
import { withArchiveMade } from '../config/stores.ts';
import { readOperator } from '../config/tool.ts';
import { withWorkDirectory } from '../config/work-directory.ts';
import { tracingWorker } from '../notified.ts';
import { endOf } from '../output/run-report.ts';
import { composeExport, type ExportParts } from './compose.ts';
import type { FlagsOf } from './flags-of.ts';

/** Exports streams of distributed runs, and concludes runs whose streams have all ended. */
export async function runWorkerCommand(flags: FlagsOf<'worker'>, context: CommandContext): Promise<number> {
  const { printer, signal, environment, directory } = context;
  const config = await loadConfig(flags, environment, directory);
  return tracingWorker(context, async (notifications) => {
    const listen = tellAsWorker(printer);
    const work = (queue: OpenQueue) =>
      withFooting(config, context, (footing) =>
        withWorkDirectory(config.workDirectory, (workDirectory) =>
          withArchiveMade(config.archive, context, async (archive) => {
            await archive.limitations();
            const { concurrency } = config.source;
            const runtime = { workDirectory, concurrency, now: () => new Date(), signal, listen };
            const parts = { config, footing, archive, runtime, queue, printer, notifications };
            await workOn(parts, flags['until-idle'] === true);
          }),
        ),
      );
    await withQueue(config, context, work, { supervises: true });
    return 0;
  });
}

async function workOn(parts: Parts, endsIdle: boolean): Promise<void> {
  const { printer, queue } = parts;
  const { concurrency, signal } = parts.runtime;
  const name = workerName();
  printer.note(`Worker ${name} is waiting for streams.`);
  await runWorker({
    queue: queue.queue,
    name,
    concurrency,
    signal,
    endsIdle,
    join: (run) => join(parts, run),
    conclude: (run) => conclude(parts, run),
    note: (line) => printer.note(line),
  });
}

/** Joins a run with a separate connection to the service, which the run's deadline ends. */
async function join(parts: Parts, run: HandedRun): Promise<JoinedRun> {
  const runtime = runtimeOf(parts, run, untilDeadline(run, parts.runtime.signal));
  const service = connect(parts, runtime.signal);
  try {
    const joined = await joinRun(await contextOf({ ...parts, runtime }, service, run, null), run.startedAt);
    return { export: joined.export, close: () => joined.close().finally(() => service[Symbol.asyncDispose]()) };
  } catch (error) {
    await service[Symbol.asyncDispose]();
    throw error;
  }
}

async function conclude(parts: Parts, run: HandedRun): Promise<Conclusion> {
  const runtime = runtimeOf(parts, run, parts.runtime.signal);
  await using service = connect(parts, runtime.signal);
  const result = await exportRun(
    await contextOf({ ...parts, runtime }, service, run, endedStreams(parts.queue.database, run)),
  );
  const { record, state, refused = false } = result;
  const { outcome, exit_code } = endOf(result);
  return { state, outcome, exit_code, refused, record: state === 'open' ? record : null };
}

/** Returns a runtime that attributes events and spans to the run. */
function runtimeOf({ runtime, notifications }: Parts, { runId, options }: HandedRun, signal: AbortSignal): Runtime {
  return {
    ...runtime,
    signal,
    listen: (event) => {
      runtime.listen(event);
      notifications.listen(event, runId);
    },
    around: (streamId, work) => notifications.around(streamId, work, options.trace_parent),
  };
}

function connect({ config, printer, queue, notifications }: Parts, signal: AbortSignal): Service {
  return connectService(config.source, printer, signal, {
    sharedRate: queue.rate,
    onRequest: notifications.request,
  });
}

function untilDeadline(run: HandedRun, signal: AbortSignal): AbortSignal {
  const { deadline_at: deadlineAt } = run.options;
  if (deadlineAt === null) return signal;
  const ending = new AbortController();
  setTimeout(() => ending.abort(deadlineOf(run)), Math.max(0, Date.parse(deadlineAt) - Date.now())).unref();
  return AbortSignal.any([signal, ending.signal]);
}

/** Returns a name for this process that is unique across machines. */
function workerName(): string {
  return `${readOperator().host}:${process.pid}`;
}

/** Dependencies of a worker that are the same for all runs. */
interface Parts extends Pick<ExportParts, 'archive' | 'footing'> {
  runtime: Omit<Runtime, 'around'>;
  notifications: Notified;
  config: Config;
  queue: OpenQueue;
  printer: Printer;
}

/** Returns the context for exporting a run as it was requested, on whichever machine. */
async function contextOf(
  { config, footing, archive, runtime, queue }: Omit<Parts, 'runtime'> & { runtime: Runtime },
  service: Service,
  { runId, options: handed }: HandedRun,
  handedOut: HandedOut | null,
): Promise<ExportContext> {
  const { asked } = await readAsked(archive, runId);
  const question: Question = { run_id: runId, source: asked.source, period: asked.period, scope: asked.scope };
  requireSameService(question, service);
  const {
    supersedes,
    finalize_partial: finalizePartial,
    begin_signing: beginSigning,
    service_moved: serviceMoved,
  } = handed;
  const options = { config, service, finalizePartial, beginSigning, serviceMoved, queue };
  return composeExport({ options, footing, archive, runtime }, { question, supersedes, handedOut });
}

/** @throws EvidenceError `config` if the worker is configured for another service. */
function requireSameService({ run_id: runId, source }: Question, { url, contract }: Service): void {
  const own = { audit_url: url, contract_sha256: contract.file?.sha256 ?? null };
  if (own.audit_url === source.audit_url && own.contract_sha256 === source.contract_sha256) return;
  throw new EvidenceError(
    'config',
    `${askedKey(runId)} is for ${source.audit_url} with ${describeContract(source.contract_sha256)}, but this worker is configured for ${url} with ${describeContract(own.contract_sha256)}`,
    { nextStep: 'Use the same configuration on all machines that share a queue.' },
  );
}

function describeContract(sha256: string | null): string {
  return sha256 === null ? 'the default contract' : `the contract file with SHA-256 ${sha256}`;
}

/** Prints a worker's progress to stderr: a line for every stream that ends, and for every run that it concludes. */
function tellAsWorker(printer: Printer): Listener {
  if (printer.logsJson) return () => {};
  return (event) => {
    switch (event.type) {
      case 'finished':
        printer.note(
          `${event.streamId}: ${event.partial ? 'PARTIAL, ' : ''}${event.status}, ${plural(event.entries, 'entry')}`,
        );
        break;
      case 'failed':
        printer.note(`${event.streamId}: FAILED: ${event.reason}`);
        break;
      case 'step-failed':
        printer.detail(`${event.streamId}: ${event.step}: ${event.message}`);
        break;
      case 'finalized':
        printer.note(`Run ${event.runId} is finalized: ${event.outcome}.`);
        break;
      default:
    }
  };
}

import { EvidenceError } from '../../../core/errors.ts';
import type { Printer } from '../../../core/terminal/printer.ts';
import { readAsked } from '../../../verifier/records/asked.ts';
import { askedKey } from '../../../verifier/records/keys.ts';
import type { Question } from '../../../verifier/records/question.ts';
import type { ExportContext, HandedOut, Runtime } from '../../export/context.ts';
import { joinRun } from '../../export/handed-out.ts';
import { exportRun } from '../../export/run.ts';
import { endedStreams } from '../../queue/ended-streams.ts';
import type { HandedRun } from '../../queue/run-queue.ts';
import type { Conclusion } from '../../queue/tasks.ts';
import { runWorker } from '../../queue/worker.ts';
import type { CommandContext } from '../command.ts';
import { withArchiveMade } from '../config/archives.ts';
import { loadConfig } from '../config/config.ts';
import { withFooting } from '../config/footing.ts';
import { type OpenQueue, withQueue } from '../config/queue.ts';
import { connectService, type Service } from '../config/service.ts';
import { readOperator } from '../config/tool.ts';
import { withWorkDirectory } from '../config/work-directory.ts';
import { endOf } from '../output/run-report.ts';
import { tellAsWorker } from '../output/worker-lines.ts';
import { composeExport, type ExportParts } from './compose.ts';
import type { WorkerFlags } from './worker-flags.ts';

/** Takes streams of distributed runs, and concludes runs whose streams have all ended. */
export async function runWorkerCommand(flags: WorkerFlags, context: CommandContext): Promise<number> {
  const { printer, signal, environment, directory } = context;
  const config = await loadConfig(flags, environment, directory);
  const work = async (queue: OpenQueue) => {
    const service = connectService(config.source, printer, signal, queue.rate);
    try {
      await withFooting(config, context, (footing) =>
        withWorkDirectory(config.workDirectory, (workDirectory) =>
          withArchiveMade(config.archive, context, async (archive) => {
            const { concurrency } = config.source;
            const listen = tellAsWorker(printer);
            const runtime: Runtime = { workDirectory, concurrency, now: () => new Date(), signal, listen };
            await workOn({ config, service, footing, archive, runtime }, queue, flags['until-idle'] === true, printer);
          }),
        ),
      );
    } finally {
      await service.close();
    }
  };
  await withQueue(config, context, work, { supervises: true });
  return 0;
}

async function workOn(
  parts: Parts,
  { queue, database }: OpenQueue,
  endsIdle: boolean,
  printer: Printer,
): Promise<void> {
  const { concurrency, signal } = parts.runtime;
  await parts.archive.limitations();
  const name = workerName();
  printer.note(`Worker ${name} waits for streams.`);
  await runWorker({
    ...{ queue, name, concurrency, signal, endsIdle },
    join: async (run) => joinRun(await contextOf(parts, run, null), run.startedAt),
    conclude: async (run) => conclude(await contextOf(parts, run, endedStreams(database, run))),
    note: (line) => printer.note(line),
  });
}

/** Of this process, on this machine. */
function workerName(): string {
  return `${readOperator().host}:${process.pid}`;
}

/** What a worker works with, whatever the run. */
interface Parts
  extends Pick<ExportParts, 'archive' | 'footing' | 'runtime'>,
    Pick<ExportParts['wish'], 'config' | 'service'> {}

/** The export of a run as it was asked for, wherever that was. */
async function contextOf(
  parts: Parts,
  { runId, options }: HandedRun,
  handedOut: HandedOut | null,
): Promise<ExportContext> {
  const { config, service, footing, archive, runtime } = parts;
  const { asked } = await readAsked(archive, runId);
  const question: Question = { run_id: runId, source: asked.source, period: asked.period, scope: asked.scope };
  requireSameService(question, service);
  const {
    supersedes,
    finalize_partial: finalizePartial,
    begin_signing: beginSigning,
    service_moved: serviceMoved,
  } = options;
  const wish = { config, service, finalizePartial, beginSigning, serviceMoved, queue: null };
  return composeExport({ wish, footing, archive, runtime }, { question, supersedes, handedOut });
}

/** @throws EvidenceError `config` for a worker of another service. */
function requireSameService({ run_id: runId, source }: Question, { url, contract }: Service): void {
  const own = { audit_url: url, contract_sha256: contract.file?.sha256 ?? null };
  if (own.audit_url === source.audit_url && own.contract_sha256 === source.contract_sha256) return;
  throw new EvidenceError(
    'config',
    `${askedKey(runId)} is of ${source.audit_url} under ${describeContract(source.contract_sha256)}, and this worker asks ${url} under ${describeContract(own.contract_sha256)}`,
    { nextStep: 'Give all machines that share a queue the same configuration.' },
  );
}

function describeContract(sha256: string | null): string {
  return sha256 === null ? 'the default contract' : `the contract file of SHA-256 ${sha256}`;
}

async function conclude(exportContext: ExportContext): Promise<Conclusion> {
  const result = await exportRun(exportContext);
  const { record, state, refused = false } = result;
  const { outcome, exit_code } = endOf(result);
  return { state, outcome, exit_code, refused, record: state === 'open' ? record : null };
}

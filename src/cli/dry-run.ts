import type { Archive } from '../archive/archive.ts';
import { openMemoryArchive } from '../archive/memory.ts';
import { describePeriod } from '../bundle/info.ts';
import type { Scope } from '../export/context.ts';
import type { PeriodAnswer } from '../export/period.ts';
import { readSealedRun, type Selection, selectStreams } from '../export/plan.ts';
import { readKnownLedger } from '../ledger/continuation.ts';
import type { CommandContext } from './command.ts';
import type { Config } from './config.ts';
import { INCOMPLETE } from './exit.ts';
import type { Footing } from './footing.ts';
import type { Printer } from './printer.ts';
import { MORE_ROOM, reckonRoom } from './room.ts';
import type { Service } from './service.ts';
import { checkForWriting, openArchive } from './store.ts';

interface Wish {
  config: Config;
  answer: PeriodAnswer;
  scope: Scope;
  service: Service;
  beginSigning: boolean;
}

/** Says what an export would do, and looks at all that it would look at before it writes; writes nothing. */
export async function dryRun(wish: Wish, footing: Footing, context: CommandContext): Promise<number> {
  const { config, answer, scope, service } = wish;
  const { printer } = context;
  await checkForWriting(config, context);
  const archive = (await openArchive(config, context, false)) ?? openMemoryArchive();
  const isSealed = await checkLedger(archive, wish, footing).finally(() => archive.close());
  const selection = await selectStreams(service.client.listStreams(), scope);
  const { included, excluded } = selection;
  const streams = included.map(({ streamId }) => streamId);
  printer.document({ dry_run: true, run_id: answer.runId, period: answer.period, streams, excluded });
  printer.result(`Run ${answer.runId}: ${describePeriod(answer.period)}`);
  if (isSealed) printer.result('This run is sealed: without --revise nothing would be exported.');
  return printPlan(selection, wish, footing, printer);
}

/** Whether the run is sealed. What nobody signed is not signed over, so the ledger is read as an export reads it. */
async function checkLedger(archive: Archive, { answer, beginSigning }: Wish, footing: Footing): Promise<boolean> {
  if ((await readSealedRun(archive, answer.runId)) !== null) return true;
  await readKnownLedger(archive, { ...footing, beginSigning });
  return false;
}

function printPlan({ included, excluded }: Selection, { config }: Wish, footing: Footing, printer: Printer): number {
  printer.result(`${included.length} streams would be exported into ${config.archiveUrl}:`);
  for (const { streamId } of included) printer.result(`  ${streamId}`);
  if (excluded.length > 0) printer.result(`${excluded.length} would be left out.`);
  const counts = included.map(({ entryCount }) => entryCount);
  const room = reckonRoom(config, footing.workDirectory, counts);
  printer.result(`Work directory: ${room.says}.`);
  if (room.isShort) printer.result(MORE_ROOM);
  const drifted = included.filter(({ drift }) => drift !== null);
  for (const { streamId, drift } of drifted) printer.result(`${streamId} could not be exported: ${drift}`);
  printer.result('Nothing was written.');
  if (included.length === 0) return 4;
  return drifted.length > 0 ? INCOMPLETE : 0;
}

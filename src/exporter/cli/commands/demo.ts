import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { EvidenceError } from '../../../core/errors.ts';
import type { Printer } from '../../../core/terminal/printer.ts';
import { plural } from '../../../core/words.ts';
import type { EmbeddedPlatform } from '../../../platform/embedded.ts';
import type { ArchiveReport } from '../../../verifier/verify/archive-report.ts';
import type { ExportResult } from '../../export/run.ts';
import type { CommandContext } from '../command.ts';
import { type Config, loadNamedConfig } from '../config/config.ts';
import { withFooting } from '../config/footing.ts';
import { DEFAULT_ARCHIVE } from '../config/sections.ts';
import { connectService } from '../config/service.ts';
import { isUrl } from '../config/stores.ts';
import { withWorkDirectory } from '../config/work-directory.ts';
import { printRun, toRunDocument } from '../output/run-report.ts';
import { describeTrust, type TrustReport } from '../output/trust-report.ts';
import { printArchive } from '../output/verify-report.ts';
import type { DemoFlags } from './demo-flags.ts';
import { exportInto, scopeOf } from './export.ts';
import { checkStored } from './verify-archive.ts';

const RUN_ID = 'demo';

/**
 * A first export without any set-up: a platform in this process on a temporary database, what really happened on this
 * machine as its entries, an export of all of it, and the verification of what was written.
 */
export async function runDemo(flags: DemoFlags, context: CommandContext): Promise<number> {
  const { printer, directory } = context;
  const archiveUrl = flags.archive ?? DEFAULT_ARCHIVE;
  if (isUrl(archiveUrl))
    throw new EvidenceError('usage', 'the demonstration writes into a folder only', {
      nextStep: 'Give a folder with --archive, or use `evidence export` with an archive in S3.',
    });
  const root = resolve(directory, archiveUrl);
  const config = await loadNamedConfig({ archive: archiveUrl, workDirectory: flags['work-directory'] }, {}, directory);
  if (existsSync(join(root, 'runs', RUN_ID, 'run.json'))) return verifyAgain(root, config, context);
  printer.note('Starting the platform on a temporary database …');
  const { startEmbeddedPlatform } = await import('../../../platform/embedded.ts');
  const result = await withWorkDirectory(config.workDirectory, async (folder) => {
    const platform = await startEmbeddedPlatform(folder);
    try {
      await importEvents(platform, context);
      return await exportAll(platform, config, context);
    } finally {
      await platform.close();
    }
  });
  printRun(result, archiveUrl, printer);
  printer.block('\nVerifying what was written, from the files alone, as `evidence verify` does …\n');
  const { verification, trust } = await verifyAll(root, config, context);
  printArchive(verification, trust, printer);
  printer.document('evidence-demo/1', { run: toRunDocument(result, archiveUrl), verification });
  await pointOut(root, archiveUrl, printer);
  return verification.exit_code === 0 ? result.record.exit_code : verification.exit_code;
}

async function importEvents(platform: EmbeddedPlatform, { printer, directory }: CommandContext): Promise<void> {
  printer.note('Recording what really happened on this machine …');
  const { streams, created, notes } = await platform.importHost(directory);
  printer.note(`  ${plural(created, 'event')} in ${plural(streams.size, 'stream')}`);
  for (const note of notes) printer.note(`  ${note}`);
  await platform.makeCheckpoints(streams.keys());
  printer.note('  checkpoints made by the development authority, which is no external witness');
}

async function exportAll(platform: EmbeddedPlatform, named: Config, context: CommandContext): Promise<ExportResult> {
  const { auditUrl, apiKey } = platform;
  const config = { ...named, source: { ...named.source, auditUrl, apiKey } };
  const service = connectService(config.source, context.printer, context.signal);
  try {
    const wish = {
      config,
      answer: { runId: RUN_ID, period: { from: null, to: null }, series: null },
      scope: scopeOf({ request: RUN_ID }, config),
      revise: false,
      finalizePartial: false,
      beginSigning: false,
      serviceMoved: false,
      service,
    };
    return await withFooting(config, context, (footing) => exportInto(wish, footing, context));
  } finally {
    await service.close();
  }
}

/** With no trust in anybody. */
async function verifyAll(
  root: string,
  config: Config,
  context: CommandContext,
): Promise<{ verification: ArchiveReport; trust: TrustReport }> {
  const given = { roots: null, stampRoots: null, publicKeys: [], referenceAlone: false };
  const options = { contract: null, sealKeys: new Map(), ...given, required: config.verify.required, now: new Date() };
  const verification = await checkStored(
    { url: root, store: config.archive.store },
    null,
    options,
    config.workDirectory,
    context,
  );
  return { verification, trust: describeTrust(config, given, verification.contracts) };
}

async function pointOut(root: string, archiveUrl: string, printer: Printer): Promise<void> {
  const streams = join('runs', RUN_ID, 'streams');
  const bundle = (await readdir(join(root, streams))).find((name) => name.endsWith('.zip')) ?? '';
  printer.block(`
What to open next:
  ${join(archiveUrl, 'runs', RUN_ID, 'report.pdf')}
      the run as an auditor reads it: what was proved, what was not, and how to check it
  ${join(archiveUrl, 'runs', RUN_ID, 'report.html')}
      the same in a browser, which verifies the bundles that are dropped on it
  ${join(archiveUrl, streams, bundle)}
      one stream's evidence: unzip it and begin with README.txt or data/evidence.pdf
  ${join(archiveUrl, 'runs', RUN_ID, 'run.json')}
      the record of the run: every stream, every claim, every digest
  ${commandName()} verify ${archiveUrl}
      all of it again, any time, anywhere`);
}

/** A finalized run is never changed, so a second demonstration verifies the first. */
async function verifyAgain(root: string, config: Config, context: CommandContext): Promise<number> {
  const { printer } = context;
  const { url: archiveUrl } = config.archive;
  printer.result(
    `${archiveUrl} already holds the finalized run "${RUN_ID}". A finalized run is never changed, so nothing was`,
  );
  printer.block('recorded or exported this time; what is there was verified again:\n');
  const { verification, trust } = await verifyAll(root, config, context);
  printArchive(verification, trust, printer);
  printer.document('evidence-demo/1', { run: null, verification });
  printer.block(`\nTo begin anew: remove ${archiveUrl}, or give another folder with --archive.`);
  return verification.exit_code;
}

/** How the reader calls this program: in a checkout there is no command of its name. */
function commandName(): string {
  return process.env['npm_lifecycle_event'] === 'start' ? 'npm run -s evidence --' : 'evidence';
}

import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { EvidenceError } from '../../../core/errors.ts';
import { shellWord } from '../../../core/shell.ts';
import type { EmbeddedPlatform } from '../../../platform/embedded.ts';
import { runPrefix } from '../../../verifier/records/keys.ts';
import type { ArchiveReport } from '../../../verifier/verify/archive-report.ts';
import type { ExportResult } from '../../export/run.ts';
import { NOBODY_NOTIFIED } from '../../notify/notifications.ts';
import type { CommandContext } from '../command.ts';
import { type Config, loadNamedConfig } from '../config/config.ts';
import { type Footing, withFooting } from '../config/footing.ts';
import { DEFAULT_ARCHIVE } from '../config/sections.ts';
import { connectService } from '../config/service.ts';
import { isUrl } from '../config/stores.ts';
import { withWorkDirectory } from '../config/work-directory.ts';
import { toRunDocument } from '../output/run-report.ts';
import { Story } from '../output/story.ts';
import { describeTrust } from '../output/trust-report.ts';
import { printArchive } from '../output/verify-report.ts';
import { tellBegin, tellChecked, tellExport, tellHost, tellNext, tellVerification } from './demo-story.ts';
import { exportInto, scopeOf } from './export.ts';
import type { FlagsOf } from './flags-of.ts';
import { checkStored } from './verify-archive.ts';

const RUN_ID = 'demo';
/** Items on a page, so that lists have several pages, as they do in a real month. */
const PAGE_ITEMS = 1;

/**
 * Runs a first export without any setup: a platform in this process on a temporary database, with real events of this
 * machine and of its traps, endpoints and agents as entries; an export of all of them; and the verification of the
 * archive.
 */
export async function runDemo(flags: FlagsOf<'demo'>, context: CommandContext): Promise<number> {
  const { printer, directory } = context;
  const archiveUrl = flags.archive ?? DEFAULT_ARCHIVE;
  if (isUrl(archiveUrl))
    throw new EvidenceError('usage', 'the demonstration can write only to a folder', {
      nextStep: 'Give a folder with --archive, or use `evidence export` with an archive in S3.',
    });
  const root = resolve(directory, archiveUrl);
  const config = await loadNamedConfig({ archive: archiveUrl, workDirectory: flags['work-directory'] }, {}, directory);
  if (existsSync(join(root, runPrefix(RUN_ID), 'run.json'))) return verifyAgain(root, config, context);
  refuseOthers(root, archiveUrl);
  const wasThere = existsSync(root) ? new Set(readdirSync(root)) : null;
  const story = new Story(printer);
  const { result, verification } = await withWorkDirectory(config.workDirectory, (folder) =>
    demonstrate({ folder, root, config, story }, context),
  ).catch((error: unknown) => {
    removeUnfinished(root, wasThere);
    throw context.signal.aborted ? ENDED : error;
  });
  printer.document('evidence-demo/1', { run: toRunDocument(result, archiveUrl), verification });
  const { exit_code } = result.record;
  if (verification === null) return exit_code;
  const bundle = result.record.streams.at(0)?.bundle.key ?? '';
  tellNext(story, result.record, { archiveUrl, command: commandName(), bundle });
  return verification.exit_code === 0 ? exit_code : verification.exit_code;
}

const ENDED = new EvidenceError('interrupted', 'interrupted; the demonstration was discarded', {
  nextStep: 'Run the same command again to start over.',
});

/**
 * Removes what an unfinished demonstration wrote: without the platform, it cannot be resumed. @param wasThere names
 * that existed before.
 */
function removeUnfinished(root: string, wasThere: ReadonlySet<string> | null): void {
  if (wasThere === null) rmSync(root, { recursive: true, force: true });
  else
    for (const name of readdirSync(root))
      if (!wasThere.has(name)) rmSync(join(root, name), { recursive: true, force: true });
}

/** Refuses the archive of another service, or of a demonstration that was killed. */
function refuseOthers(root: string, archiveUrl: string): void {
  if (existsSync(root) && !statSync(root).isDirectory())
    throw new EvidenceError('usage', `${archiveUrl} is not a folder`, {
      nextStep: 'Name another folder with --archive.',
    });
  if (!['runs', 'ledger'].some((name) => existsSync(join(root, name)))) return;
  throw new EvidenceError('usage', `${archiveUrl} contains other runs, or a demonstration that was killed`, {
    nextStep: `Nothing was changed. Name another folder with --archive; or, if it contains only the demonstration, remove it: rm -r ${shellWord(archiveUrl)}.`,
  });
}

interface DemoPlace {
  /** Folder for temporary files. */
  folder: string;
  /** Folder of the archive. */
  root: string;
  config: Config;
  story: Story;
}

async function demonstrate({ folder, root, config, story }: DemoPlace, context: CommandContext) {
  const { printer, signal } = context;
  tellBegin(story);
  const { startEmbeddedPlatform } = await import('../../../platform/embedded.ts');
  const platform = await startEmbeddedPlatform(folder, signal);
  try {
    await fill(platform, story, context);
    const trusted = await withTrust(config, platform, join(folder, 'seal-keys'));
    return await withFooting(trusted, context, async (footing) => {
      const result = await exportAll(trusted, footing, context);
      tellExport(story, result, { archiveUrl: config.archive.url, printer });
      if (result.state === 'open') return { result, verification: null };
      const verification = await verifyAll(root, trusted, footing, context);
      const given = { roots: footing.roots, stampRoots: null, publicKeys: [], referenceAlone: false };
      tellVerification(story, verification, describeTrust(trusted, given, verification.contracts), printer);
      return { result, verification };
    });
  } finally {
    await platform.close();
  }
}

/** Records the events of this machine and the staged events of the demonstration. */
async function fill(
  platform: EmbeddedPlatform,
  story: Story,
  { directory, signal }: Pick<CommandContext, 'directory' | 'signal'>,
): Promise<void> {
  signal.throwIfAborted();
  tellHost(story, await platform.importHost(directory));
  signal.throwIfAborted();
  await platform.playStory((chapter) => story.tell(chapter));
  signal.throwIfAborted();
  tellChecked(story, await platform.checkStreams());
  signal.throwIfAborted();
}

/** Returns a configuration for the platform: its services, its seal keys, and the root of its authority. */
async function withTrust(config: Config, platform: EmbeddedPlatform, folder: string): Promise<Config> {
  const { urls, apiKey } = platform;
  const { audit: auditUrl, ...otherUrls } = urls;
  const { sealKeyFiles, rootFile } = await platform.writeTrust(folder);
  const files = [...sealKeyFiles].map(([id, path]) => [id, { given: path, path }] as const);
  return {
    ...config,
    source: { ...config.source, auditUrl, otherUrls, apiKey, pageItems: PAGE_ITEMS },
    verify: { ...config.verify, sealKeyFiles: new Map(files), timestampRootsFile: rootFile },
  };
}

async function exportAll(config: Config, footing: Footing, context: CommandContext): Promise<ExportResult> {
  await using service = connectService(config.source, context.printer, context.signal);
  const options = {
    config,
    answer: { runId: RUN_ID, period: { from: null, to: null }, series: null },
    scope: scopeOf({ request: RUN_ID }, config),
    revise: false,
    finalizePartial: false,
    beginSigning: false,
    serviceMoved: false,
    queue: null,
    notifications: NOBODY_NOTIFIED,
    service,
  };
  return await exportInto(options, footing, context);
}

/** Trust inputs of a verification. */
type Reliance = Pick<Footing, 'sealKeys' | 'roots'>;

function verifyAll(
  root: string,
  { archive, verify, workDirectory }: Config,
  { sealKeys, roots }: Reliance,
  context: CommandContext,
): Promise<ArchiveReport> {
  const trust = { sealKeys, roots, stampRoots: null, publicKeys: [], referenceAlone: false };
  const options = { contract: null, ...trust, required: verify.required, now: new Date() };
  return checkStored({ url: root, store: archive.store }, null, options, workDirectory, context);
}

/** Verifies the first demonstration again, without any trust inputs, because a finalized run is never changed. */
async function verifyAgain(root: string, config: Config, context: CommandContext): Promise<number> {
  const { printer } = context;
  const { url: archiveUrl } = config.archive;
  printer.result(`${archiveUrl} already holds the finalized run "${RUN_ID}".`);
  printer.block(
    'A finalized run never changes, so nothing was recorded or exported this\ntime; the existing run was verified again.\n',
  );
  const verification = await verifyAll(root, config, { sealKeys: new Map(), roots: null }, context);
  const given = { roots: null, stampRoots: null, publicKeys: [], referenceAlone: false };
  printArchive(verification, describeTrust(config, given, verification.contracts), printer);
  printer.document('evidence-demo/1', { run: null, verification });
  printer.block(`\nTo start over: remove ${archiveUrl}, or name another folder with --archive.`);
  return verification.exit_code;
}

/** Returns the command by which the reader runs this program: a checkout has no `evidence` command. */
function commandName(): string {
  return process.env['npm_lifecycle_event'] === 'start' ? 'npm run -s evidence --' : 'evidence';
}

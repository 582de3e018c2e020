import process from 'node:process';
import { EvidenceError } from '../../core/errors.ts';
import { agree, grouped, plural } from '../../core/plurals.ts';
import { escapeControls } from '../../core/terminal/visible.ts';
import { byCommand } from '../accounts/administration.ts';
import type { ImportedArchive, ImportOutcome } from '../endpoints/packages/importing.ts';
import type { CountedArchive } from '../endpoints/packages/repository.ts';
import { command, type PlatformCommand } from './command.ts';
import { inPlace, placeOptions } from './place.ts';

/** Keyring of the Debian package debian-archive-keyring. */
const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';

/** Maximum number of unlisted packages that are listed individually. */
const NAMED = 10;

const importCommand = command({
  describe: 'Import the files of signed Debian packages, so that upgrades to them are explained',
  operands: {
    paths: { array: true, required: true, describe: 'apt lists and caches, folders of a mirror, .deb files' },
  },
  flags: {
    ...placeOptions,
    keyring: { default: KEYRING, describe: 'File with the trusted public keys (binary)' },
  },
  examples: [['$0 packages import --data ./data /var/lib/apt/lists /var/cache/apt/archives', '']],
  async work({ paths, keyring, ...flags }) {
    const { importPackages } = await import('../endpoints/packages/importing.ts');
    const { EndpointEvents } = await import('../endpoints/events.ts');
    const [outcome, explained] = await inPlace(flags, async ({ database, clock, log }) => {
      const deps = { database, clock, log };
      const actor = byCommand('packages import');
      const imported = await importPackages({ ...deps, actor }, { paths, keyring });
      return [imported, await new EndpointEvents(deps).explainAgain()] as const;
    });
    for (const line of linesOf(outcome)) say(line);
    if (explained > 0)
      say(
        `${plural(explained, 'event')} that ${agree(explained, 'was', 'were')} open ${agree(explained, 'is', 'are')} explained now.`,
      );
    refuseIncomplete(outcome);
  },
});

const listCommand = command({
  describe: 'List the imported archives',
  flags: placeOptions,
  async work(flags) {
    const { archivesBefore } = await import('../endpoints/packages/repository.ts');
    const archives = await inPlace(flags, ({ database }) =>
      archivesBefore(database, { limit: Number.MAX_SAFE_INTEGER }),
    );
    for (const line of archives.flatMap(countedLines)) say(line);
    if (archives.length === 0) say('No archives. Import one with: evidence-platform packages import DIR');
  },
});

const verifyCommand = command({
  describe: 'Compare the imported files with the records of their import',
  flags: placeOptions,
  async work(flags) {
    const { verifyPackages } = await import('../endpoints/packages/entries.ts');
    const { packages, findings } = await inPlace(flags, ({ database, log }) => verifyPackages(database, log));
    if (findings.length > 0)
      throw new EvidenceError('unreadable', escapeLines([`${plural(findings.length, 'finding')}:`, ...findings]), {
        nextStep: 'The database was changed outside this program. Restore it from a backup.',
      });
    say(`The files of ${plural(packages, 'package')} match their import.`);
  },
});

/** `evidence-platform packages`: manages the files of signed packages. */
export const packagesCommands: Record<string, PlatformCommand> = {
  packages: {
    describe: 'Import, list and verify signed packages, which explain changed files of endpoints',
    demand: 'Choose a command: packages import, list or verify.',
  },
  'packages import': importCommand,
  'packages list': listCommand,
  'packages verify': verifyCommand,
};

function linesOf({ archives, opened, known, files, unlisted }: ImportOutcome): string[] {
  const named = unlisted.slice(0, NAMED).map((path) => `  ${path}`);
  const more = unlisted.length > NAMED ? [`  and ${grouped(unlisted.length - NAMED)} more`] : [];
  const left =
    unlisted.length === 0
      ? []
      : [`${plural(unlisted.length, 'package')} ${agree(unlisted.length, 'is', 'are')} in no signed list and omitted:`];
  return [
    ...archives.flatMap(archiveLines),
    `${plural(opened, 'package')} opened: ${plural(files, 'file')}. ${plural(known, 'package')} known before.`,
    ...left,
    ...named,
    ...more,
  ];
}

function archiveLines({ archive, signedBy, indexes, packages }: ImportedArchive): string[] {
  const { read, known, missing } = indexes;
  const signed = signedBy.map((name) => `  signed by ${name}`);
  const lists = `  lists of packages: ${read} read, ${known} known before, ${missing} not there`;
  return [archive, ...signed, `${lists}; ${plural(packages, 'package')} new`];
}

/** @throws EvidenceError `unreadable` if anything was refused; the accepted packages are kept. */
function refuseIncomplete({ refused }: ImportOutcome): void {
  if (refused.length === 0) return;
  const each = refused.map(({ path, reason }) => `  ${path} ${reason}`);
  const what = plural(refused.length, 'file');
  throw new EvidenceError(
    'unreadable',
    escapeLines([`${what} refused, and nothing of ${agree(refused.length, 'it', 'them')} is known:`, ...each]),
    {
      nextStep:
        'Everything else was imported. Download these files again from their archive, and run the command again.',
    },
  );
}

function countedLines({ archive, release_date, signed_by, imported_at, ...counts }: CountedArchive): string[] {
  const signed = (JSON.parse(signed_by) as string[]).map((name) => `  signed by ${name}`);
  const { packages, opened, files } = counts;
  const made = `  made ${release_date ?? 'at no stated time'}, imported ${imported_at}`;
  return [
    archive,
    ...signed,
    made,
    `  ${plural(packages, 'package')}, ${grouped(opened)} opened: ${plural(files, 'file')}`,
  ];
}

function escapeLines(lines: readonly string[]): string {
  return lines.map(escapeControls).join('\n');
}

function say(line: string): void {
  process.stdout.write(`${escapeControls(line)}\n`);
}

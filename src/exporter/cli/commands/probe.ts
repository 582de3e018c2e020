import { existsSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { diffArrays } from 'diff';
import { EvidenceError } from '../../../core/errors.ts';
import type { Printer } from '../../../core/terminal/printer.ts';
import { formatTable, terminalColumns, widthOfTable } from '../../../core/terminal/table.ts';
import { escapeControls } from '../../../core/terminal/visible.ts';
import { wait } from '../../../core/wait.ts';
import { type ProbeResult, probe } from '../../../probe/probe.ts';
import type { Counterexample, Reasoning } from '../../../probe/report.ts';
import { askService, fetchOpenApi } from '../../../probe/sample/service.ts';
import { formatContract } from '../../../verifier/profile/file.ts';
import type { CommandContext } from '../command.ts';
import { type Config, loadConfig } from '../config/config.ts';
import { readGivenText } from '../config/given-file.ts';
import { connectService, type Service } from '../config/service.ts';
import { readSealKeys } from '../config/trust.ts';
import type { FlagsOf } from './flags-of.ts';

const DEFAULT_FILE = 'contract.yaml';

/** Time limit of the search, in seconds of processor time. */
const SEARCH_SECONDS = 20;
/** Time limit for generating a package, and polling interval. */
const PACKAGE_SECONDS = 120;
const LOOK_AGAIN_MS = 500;

/** Determines the service's contract and writes the contract file. */
export async function runProbe(flags: FlagsOf<'probe'>, context: CommandContext): Promise<number> {
  const { printer, directory, environment, signal } = context;
  const config = await loadConfig(flags, environment, directory);
  // Ignores the pinned contract: it may be wrong or missing, and is the result of this command.
  await using service = connectService({ ...config.source, contractFile: null }, printer, signal);
  const result = await probeService(service, config, flags, signal);
  const { description, reasoning, isDefault, notes } = result;
  const path = resolve(directory, flags.out ?? config.source.contractFile ?? DEFAULT_FILE);
  printer.block(formatReasoning(reasoning));
  if (description === null) {
    printer.document('evidence-probe/1', {
      outcome: 'incomplete',
      exit_code: 2,
      contract: null,
      file: null,
      ...reasoned(reasoning),
    });
    printer.note('No contract was written; see above for what is missing.');
    return 2;
  }
  writeContract(path, formatContract(description, notes), flags.force === true, printer);
  const code = exitCodeOf(result);
  printer.document('evidence-probe/1', {
    outcome: code === 1 ? 'refuted' : code === 3 ? 'incomplete' : isDefault ? 'default' : 'found',
    exit_code: code,
    contract: description,
    file: path,
    ...reasoned(reasoning),
  });
  for (const line of ['', ...nextSteps(result, path, flags.generate === true)]) printer.result(line);
  return code;
}

/** Returns the exit code: 1 if something that was found refutes entries, 3 if a person has to decide. */
function exitCodeOf({ description, reasoning: { exceptions } }: ProbeResult): 0 | 1 | 3 {
  if (exceptions.some(({ isRefuted }) => isRefuted)) return 1;
  return exceptions.length > 0 || description?.digest.recipe === null ? 3 : 0;
}

function probeService(
  { transport }: Service,
  { source, verify }: Config,
  flags: FlagsOf<'probe'>,
  signal: AbortSignal,
): Promise<ProbeResult> {
  const url = source.auditUrl ?? '';
  const seconds = searchSeconds(flags);
  const looks = { left: (PACKAGE_SECONDS * 1000) / LOOK_AGAIN_MS };
  return fetchOpenApi(transport, url).then((openApi) =>
    probe({
      ask: askService(transport, url),
      openApi,
      name: new URL(url).hostname,
      generate: flags.generate === true,
      keys: readSealKeys(verify.sealKeyFiles),
      startSearch: () => {
        const before = process.cpuUsage();
        return () => process.cpuUsage(before).user > seconds * 1e6;
      },
      pause: async () => {
        await wait(LOOK_AGAIN_MS, signal);
        return looks.left-- > 0;
      },
    }),
  );
}

function searchSeconds({ 'search-seconds': seconds = SEARCH_SECONDS }: FlagsOf<'probe'>): number {
  if (seconds > 0) return seconds;
  throw new EvidenceError('usage', '--search-seconds must be a number above 0');
}

/** @throws EvidenceError `config` if the file has another contract. */
function writeContract(path: string, text: string, force: boolean, printer: Printer): void {
  const there = readIfThere(path);
  if (there === text) return;
  if (there !== null && !force) {
    for (const line of difference(there, text).split('\n')) printer.note(line);
    throw new EvidenceError('config', `${path} differs and was not changed`, {
      nextStep: 'Replace it with --force, or name another file with --out.',
    });
  }
  try {
    writeFileSync(path, text);
  } catch (error) {
    throw new EvidenceError('config', `${path} cannot be written`, { cause: error });
  }
}

function readIfThere(path: string): string | null {
  return existsSync(path) ? readGivenText('the contract', path) : null;
}

function reasoned({ findings, exceptions, missing }: Reasoning) {
  return {
    findings,
    exceptions: exceptions.map(({ isRefuted, places, ...what }) => ({
      ...what,
      refuted: isRefuted,
      places: places.map(({ streamId, from, to }) => ({ stream_id: streamId, from, to })),
    })),
    missing: missing.map(({ isNeeded, ...what }) => ({ ...what, needed: isNeeded })),
  };
}

function formatReasoning({ findings, exceptions, missing }: Reasoning): string {
  const found = tableOrParagraphs(
    ['found', 'what', 'how'],
    findings.map(({ what, found: value, how }) => [what, value, how]),
  );
  const excepted = tableOrParagraphs(
    ['does not hold', 'for', 'why'],
    exceptions.map((exception) => [exception.what, formatPlaces(exception), exception.says]),
  );
  const lacking = tableOrParagraphs(
    ['missing', 'consequence', 'why'],
    missing.map(({ what, why, costs, isNeeded }) => [what, `${isNeeded ? 'needed: ' : ''}${costs}`, why]),
  );
  return [found, ...(exceptions.length > 0 ? [excepted] : []), ...(missing.length > 0 ? [lacking] : [])].join('\n\n');
}

/**
 * Formats rows as a table, or as paragraphs if the terminal is too narrow, because truncated reasons would be useless.
 */
function tableOrParagraphs(titles: readonly string[], rows: readonly string[][]): string {
  const table = formatTable(
    titles.map((title) => ({ title })),
    rows,
  );
  if (widthOfTable(table) <= terminalColumns()) return table;
  const paragraphs = rows.map(([lead = '', ...others]) =>
    [`${titles[0]}: ${lead}`, ...others.map((text) => `  ${text}`)].map(escapeControls).join('\n'),
  );
  return paragraphs.join('\n');
}

/** Formats places as in `3 entries: "payments" 4, 9–10`. Stream ids are quoted, because the service chose them. */
function formatPlaces({ entries, places }: Counterexample): string {
  const byStream = [...Map.groupBy(places, ({ streamId }) => streamId)].map(([streamId, own]) => {
    const ranges = own.flatMap(({ from, to }) => (from === null ? [] : [from === to ? `${from}` : `${from}–${to}`]));
    return [...(streamId === '' ? [] : [JSON.stringify(streamId)]), ranges.join(', ')].join(' ').trim();
  });
  const shown = places.reduce((sum, { from, to }) => sum + (from === null || to === null ? 1 : to - from + 1), 0);
  const where = [...byStream, ...(places.length > 0 && shown < entries ? ['…'] : [])].join('; ');
  return where === '' ? `${entries}` : `${entries}: ${where}`;
}

function nextSteps({ isDefault, description, reasoning }: ProbeResult, path: string, generated: boolean): string[] {
  const lines = [`${path} was written.`];
  if (isDefault) lines.push('The service fits the default contract: no contract file is needed.');
  else if (description !== null)
    lines.push(`Set source.contract to ${path} in evidence.yaml, then run \`evidence export --dry-run\`.`);
  if (description?.digest.recipe === null)
    lines.push(
      'The digests of this service cannot be computed. Content stays unproved, and its exports are incomplete (exit 3),',
      'until the vendor documents how digests are made, or you accept this in evidence.yaml:',
      '  verify:',
      '    require: [order]',
    );
  if (reasoning.exceptions.length > 0)
    lines.push('Show the entries above to the operator of the service, and keep this output.');
  if (!generated)
    lines.push(
      'No package was seen, so its form is unknown. Run the same command with --generate --force to make one.',
    );
  return lines;
}

/** Compares two texts line by line: `-` marks lines of the first only, `+` lines of the second only. */
export function difference(before: string, after: string): string {
  return diffArrays(before.split('\n'), after.split('\n'))
    .filter(({ added, removed }) => added || removed)
    .flatMap(({ added, value }) => value.map((line) => `${added ? '+' : '-'} ${line}`))
    .join('\n');
}

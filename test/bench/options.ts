import { parseArgs } from 'node:util';
import type { Bench } from './bench.ts';
import type { Row } from './row.ts';
import { benchDownload } from './sections/download.ts';
import { benchExport } from './sections/export.ts';
import { benchGrowth } from './sections/growth.ts';
import { benchPlan } from './sections/plan.ts';
import { benchPlatform } from './sections/platform.ts';
import { benchStart } from './sections/start.ts';
import { benchStreams } from './sections/streams.ts';
import { benchVerify } from './sections/verify.ts';

export const SECTIONS: Readonly<Record<string, (bench: Bench) => Promise<Row[]>>> = {
  verify: benchVerify,
  growth: benchGrowth,
  export: benchExport,
  streams: benchStreams,
  plan: benchPlan,
  download: benchDownload,
  start: benchStart,
  platform: benchPlatform,
};

/** Sizes that the goals are defined for; a shared machine finishes them in minutes. */
export const WHOLE = { entries: 500_000, runs: 5 };
const QUICK = { entries: 50_000, runs: 3 };
const FEWEST_ENTRIES = 1000;

export interface Options {
  sections: string[];
  entries: number;
  runs: number;
  full: boolean;
  /** Path of the JSON output; null for none. */
  json: string | null;
}

export const USAGE = `npm run bench -- [--quick] [--full] [--only NAME,…] [--entries N] [--runs N] [--json FILE]

  --quick    ${QUICK.entries.toLocaleString('en')} entries and ${QUICK.runs} runs instead of ${WHOLE.entries.toLocaleString('en')} and ${WHOLE.runs}
  --full     growth up to ten times as many entries too
  --only     some of: ${Object.keys(SECTIONS).join(', ')}
  --entries  of the package that is verified; all other amounts are in proportion
  --runs     medians are of so many
  --json     writes what the table shows to a file too
`;

/** @throws Error for an invalid argument. */
export function readOptions(args: readonly string[]): Options | 'help' {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: 'boolean', default: false },
      full: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
      only: { type: 'string' },
      entries: { type: 'string' },
      runs: { type: 'string' },
      json: { type: 'string' },
    },
  });
  if (values.help) return 'help';
  const sections = values.only?.split(',') ?? Object.keys(SECTIONS);
  const unknown = sections.find((name) => !Object.hasOwn(SECTIONS, name));
  if (unknown !== undefined)
    throw new Error(`there is no row ${JSON.stringify(unknown)}; there are ${Object.keys(SECTIONS).join(', ')}`);
  const usual = values.quick ? QUICK : WHOLE;
  return {
    sections,
    entries: toCount('--entries', values.entries ?? usual.entries, FEWEST_ENTRIES),
    runs: toCount('--runs', values.runs ?? usual.runs, 1),
    full: values.full,
    json: values.json ?? null,
  };
}

function toCount(flag: string, value: string | number, least: number): number {
  const count = Number(value);
  if (!Number.isSafeInteger(count) || count < least)
    throw new Error(`${flag} is not a whole number of at least ${least}`);
  return count;
}

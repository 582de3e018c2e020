import process from 'node:process';
import { EvidenceError } from '../../core/errors.ts';
import { plural } from '../../core/plurals.ts';
import { escapeControls } from '../../core/terminal/visible.ts';
import { byCommand } from '../accounts/administration.ts';
import { MODULES } from '../modules.ts';
import type { CheckPlace, RowCheck, RowFinding } from '../open-module.ts';
import type { Parts } from '../parts.ts';
import { command, type PlatformCommand } from './command.ts';
import { inPlace, placeOptions } from './place.ts';

const ACCEPT = 'accept';

/** `evidence-platform fsck`: checks everything in the database that something else in it determines. */
export const fsckCommand: PlatformCommand = command({
  describe: 'Check that the rows of the database are as the platform wrote them',
  flags: {
    ...placeOptions,
    [ACCEPT]: {
      describe:
        'After heads_mismatch: accept the streams as they are, for this reason, which is recorded in platform/administration',
    },
  },
  examples: [['$0 fsck --data ./data', '']],
  async work({ [ACCEPT]: reason, ...flags }) {
    await inPlace(flags, async ({ database, sealKeys, clock, administration }) => {
      if (reason !== undefined) {
        await accept({ database, sealKeys, clock, administration }, reason);
        return;
      }
      const found = await printFindings({ database, sealKeys, clock, signal: new AbortController().signal });
      if (found > 0)
        throw new EvidenceError('chain', `${plural(found, 'finding')}; nothing was changed`, {
          nextStep: 'Read `evidence-platform help tampering`, or restore the database from a backup.',
        });
    });
  },
});

/** Prints the findings of all services. @returns their number. */
async function printFindings(place: CheckPlace): Promise<number> {
  let all = 0;
  for (const module of MODULES) {
    if (!('loadCheck' in module)) continue;
    let count = 0;
    const check: RowCheck = await module.loadCheck();
    for await (const finding of check(place)) {
      count++;
      process.stdout.write(`${escapeControls(lineOf(module.name, finding))}\n`);
    }
    process.stdout.write(`${module.name}: ${count === 0 ? 'everything fits' : plural(count, 'finding')}\n`);
    all += count;
  }
  return all;
}

function lineOf(service: string, { code, of, expected, actual }: RowFinding): string {
  const values = [
    ['expected', expected],
    ['found', actual],
  ] as const;
  const said = values
    .flatMap(([word, value]) => (value == null ? [] : [`${word} ${JSON.stringify(value)}`]))
    .join(', ');
  return `${service}: ${code}: ${of}${said && `: ${said}`}`;
}

/** Makes the sum of all heads fit the present streams, and records that. */
async function accept(
  { database, sealKeys, clock, administration }: Pick<Parts, 'database' | 'sealKeys' | 'clock' | 'administration'>,
  reason: string,
): Promise<void> {
  const { acceptStreams } = await import('../audit/accepting.ts');
  const { RowSeals } = await import('../audit/sealed-rows.ts');
  const seals = new RowSeals(sealKeys.ofRows());
  const isNeeded = await database.write(async (transaction) => {
    if (!(await acceptStreams(transaction, seals, clock()))) return false;
    const actor = byCommand('fsck');
    await administration.record(transaction, {
      actor,
      action: 'heads.accepted',
      of: ['platform', 'heads'],
      more: { reason },
    });
    return true;
  });
  const said = isNeeded ? 'The streams are accepted as they are.' : 'The streams fit; there was nothing to accept.';
  process.stdout.write(`${said}\n`);
}

import { DamagedArchives, isFooled } from './archives.ts';
import { randomFrom } from './packages.ts';

/**
 * Damages copies of an archive, and looks for one that is called verified all the same, for as long as is asked.
 *
 *     node test/fuzz/run-archives.ts ARCHIVE [SECONDS [PUBLIC_KEY [SEED]]]
 */
const [archive = './evidence-archive', seconds = '60', publicKey = '', seed = String(Date.now() % 2 ** 31)] =
  process.argv.slice(2);
const random = randomFrom(Number(seed));
const archives = new DamagedArchives(archive, publicKey === '' ? null : publicKey);
const outcomes = new Map<string, number>();
const end = performance.now() + Number(seconds) * 1000;
try {
  while (performance.now() < end) {
    const damaged = await archives.next(random);
    const word = `${damaged.outcome.split(':')[0]}${damaged.differing.length === 0 ? ', nothing differs' : ''}`;
    outcomes.set(word, (outcomes.get(word) ?? 0) + 1);
    if (!isFooled(damaged)) continue;
    process.stderr.write(`seed ${seed}: ${JSON.stringify(damaged, null, 2)}\n`);
    process.exitCode = 1;
  }
} finally {
  archives.close();
}
process.stdout.write(`seed ${seed}, ${seconds} s: ${JSON.stringify(Object.fromEntries(outcomes))}\n`);

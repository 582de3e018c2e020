import { byCommand } from '../accounts/administration.ts';
import { command, type PlatformCommand } from './command.ts';
import { say } from './keys.ts';
import { inPlace, placeOptions } from './place.ts';

const acceptCommand = command({
  describe: 'Accept the clock of this machine after a jump ahead',
  flags: placeOptions,
  async work(flags) {
    await inPlace(flags, async ({ database, clock, time, administration }) => {
      const previous = await database.write(async (transaction) => {
        const seenAt = await time.accept(transaction);
        const more = { previous: seenAt, now: clock().toISOString() };
        const act = {
          actor: byCommand('clock accept'),
          action: 'clock.accepted',
          of: ['platform', 'clock'],
          more,
        } as const;
        await administration.record(transaction, act);
        return seenAt;
      });
      say(`The platform relies on the clock of this machine, which reads ${clock().toISOString()}.`);
      say(`It last relied on the time ${previous}. Running processes go on within a few seconds.`);
    });
  },
});

/** `evidence-platform clock`: manages the time of a platform, with access to its database. */
export const clockCommands: Record<string, PlatformCommand> = {
  clock: {
    describe: 'Accept the clock of this machine after a jump ahead',
    demand: 'Choose a command: clock accept.',
  },
  'clock accept': acceptCommand,
};

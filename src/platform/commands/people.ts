import process from 'node:process';
import { byCommand } from '../accounts/administration.ts';
import type { Person } from '../accounts/people.ts';
import type { LinkPurpose } from '../accounts/tables.ts';
import type { PlatformConfig } from '../config.ts';
import type { Parts } from '../parts.ts';
import { command, type PlatformCommand } from './command.ts';
import { say } from './keys.ts';
import { inPlace, placeOptions } from './place.ts';

const setUpCommand = command({
  describe: 'Create a link for the first account, if none exists; it works once, within 24 hours',
  flags: placeOptions,
  async work(flags) {
    await inPlace(flags, async ({ accounts }, config) => {
      await showLink(config, 'set_up', await accounts.joining.setUpLink(byCommand('people set-up')));
    });
  },
});

const COLUMNS = ['e-mail', 'name', 'role', 'second factor', 'since', 'disabled'].map((title) => ({ title }));

const listCommand = command({
  describe: 'List accounts',
  flags: placeOptions,
  async work(flags) {
    const { formatTable } = await import('../../core/terminal/table.ts');
    const people = await inPlace(flags, everybody);
    process.stdout.write(`${formatTable(COLUMNS, people.map(cellsOf))}\n`);
  },
});

const disableCommand = command({
  describe: 'Disable an account and end its sessions',
  operands: { email: { required: true, describe: 'E-mail address of the account' } },
  flags: placeOptions,
  async work({ email, ...flags }) {
    await inPlace(flags, async ({ accounts: { people } }) => {
      const { person_id } = await people.byEmail(email);
      const { disabled_at } = await people.disable(byCommand('people disable'), person_id);
      say(`${email} was disabled at ${disabled_at}.`);
    });
  },
});

const resetCommand = command({
  describe: 'Create a link for a new password; it works once, within 24 hours',
  operands: { email: { required: true, describe: 'E-mail address of the account' } },
  flags: {
    ...placeOptions,
    'second-factor': { type: 'boolean', default: false, describe: 'Also remove the authenticator and the passkeys' },
  },
  async work({ email, secondFactor, ...flags }) {
    await inPlace(flags, async ({ accounts: { people, credentials } }, config) => {
      const actor = byCommand('people reset');
      const token = await credentials.resetLink(actor, email);
      if (secondFactor) {
        const { person_id } = await people.byEmail(email);
        await people.removeSecondFactor(actor, person_id);
        say(`Removed the second factors of ${email}.`);
      }
      await showLink(config, 'reset', token);
    });
  },
});

/** `evidence-platform people`: manages accounts with access to the database. */
export const peopleCommands: Record<string, PlatformCommand> = {
  people: {
    describe: 'Create the first account; list, disable and reset accounts',
    demand: 'Choose a command: people set-up, list, disable or reset.',
  },
  'people set-up': setUpCommand,
  'people list': listCommand,
  'people disable': disableCommand,
  'people reset': resetCommand,
};

async function everybody({ accounts }: Parts): Promise<Person[]> {
  const people: Person[] = [];
  let cursor: string | undefined;
  do {
    const page = await accounts.people.list({ limit: 500, cursor });
    people.push(...page.data);
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
  return people;
}

function cellsOf({ email, name, role, second_factor, created_at, disabled_at }: Person): string[] {
  return [email, name, role, second_factor ? 'yes' : 'no', created_at, disabled_at ?? 'no'];
}

/** Writes a link to standard output, where it stands alone. */
async function showLink(config: PlatformConfig, purpose: LinkPurpose, token: string): Promise<void> {
  const { linkUrl } = await import('../accounts/links.ts');
  const { publicUrlOf } = await import('../config.ts');
  process.stdout.write(`${linkUrl(publicUrlOf(config), purpose, token)}\n`);
}

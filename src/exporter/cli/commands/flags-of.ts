import type { ValuesOf } from '../../../core/terminal/command-table.ts';
import { ARCHIVE_COMMANDS } from './archive-flags.ts';
import { EXPORT_COMMANDS } from './export-flags.ts';
import { HELP_COMMANDS } from './help-flags.ts';
import { SETUP_COMMANDS } from './setup-flags.ts';
import { VERIFY_COMMANDS } from './verify-flags.ts';

export const TABLES = {
  ...ARCHIVE_COMMANDS,
  ...EXPORT_COMMANDS,
  ...HELP_COMMANDS,
  ...SETUP_COMMANDS,
  ...VERIFY_COMMANDS,
};

/** Values of the flags and operands of a command. */
export type FlagsOf<Name extends keyof typeof TABLES> = ValuesOf<(typeof TABLES)[Name]>;

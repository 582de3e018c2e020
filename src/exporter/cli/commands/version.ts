import type { Command } from '../command.ts';
import { readTool } from '../config/tool.ts';

export const runVersion: Command<object> = async (_flags, { printer }) => {
  const { version } = readTool();
  printer.document('evidence-version/1', { version });
  printer.result(version);
  return 0;
};

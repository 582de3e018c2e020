import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';

/** To be loaded before a program: it dies as by `kill -9` once an object whose name ends as this pattern has come into the archive. */
const ending = process.env['KILLED_AFTER'];
const { link } = fs;
fs.link = async (existing, name) => {
  await link(existing, name);
  if (ending !== undefined && new RegExp(`${ending}$`).test(String(name))) process.kill(process.pid, 'SIGKILL');
};
syncBuiltinESMExports();

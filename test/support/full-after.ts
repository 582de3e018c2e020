import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { fillDisk } from './full-disk.ts';

/** To be loaded before a program: a disk is full once an object whose name ends as this pattern has come into the archive. */
const { FULL_AFTER: ending, FULL_DISK: disk } = process.env;
const { link } = fs;
fs.link = async (existing, name) => {
  await link(existing, name);
  if (ending !== undefined && disk !== undefined && new RegExp(`${ending}$`).test(String(name))) fillDisk(disk);
};
syncBuiltinESMExports();

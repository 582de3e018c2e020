'use strict';

const { basename, dirname, join } = require('node:path');
const { pathToFileURL } = require('node:url');

const CONFIGURATION = 2;
const DEFECT = 70;

/** Imports a program: what was built of it when this is built code, else its source. */
module.exports = async function importProgram(name, program) {
  const root = dirname(__dirname);
  const file = join(root, `${program}.${basename(root) === 'dist' ? 'js' : 'ts'}`);
  try {
    await import(pathToFileURL(file).href);
  } catch (error) {
    const isMissing = error.code === 'ERR_MODULE_NOT_FOUND';
    const next = isMissing ? 'Install what it needs: npm ci in a checkout, else npm install evidence-exporter.\n' : '';
    process.stderr.write(`${name}: cannot start: ${isMissing ? error.message : error.stack}\n${next}`);
    process.exit(isMissing ? CONFIGURATION : DEFECT);
  }
};

'use strict';

// This file is in the syntax of the first Node.js, so that every Node.js can read it and say which one is needed. What
// Node.js says by itself is a stack trace, and its exit code 1 means that evidence is refuted.
var NEEDED = 24;
var CONFIGURATION = 2;

/** Starts a program, `cli/main` or `platform/main`. */
module.exports = function start(name, program) {
  if (parseInt(process.versions.node, 10) >= NEEDED) {
    require('./import.cjs')(name, program);
    return;
  }
  var found = process.version + ' at ' + process.execPath;
  var next = 'In a checkout, npm ci installs the right one. In cron, set PATH so that the right one comes first.';
  process.stderr.write(name + ': needs Node.js ' + NEEDED + ' or newer, and this is ' + found + '\n' + next + '\n');
  process.exit(CONFIGURATION);
};

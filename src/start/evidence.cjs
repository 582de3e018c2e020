#!/usr/bin/env node
require('./start.cjs')('evidence', 'cli/main');

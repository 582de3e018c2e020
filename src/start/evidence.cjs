#!/usr/bin/env node
require('./start.cjs')('evidence', 'exporter/cli/main');

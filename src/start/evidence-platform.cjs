#!/usr/bin/env node
require('./start.cjs')('evidence-platform', 'platform/main');

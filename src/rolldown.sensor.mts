import { join } from 'node:path';
import { build } from 'rolldown';

/** The sensor as one file that needs Node.js and nothing else. */
export async function buildSensor(): Promise<string> {
  const { output } = await build({
    cwd: join(import.meta.dirname, '..'),
    input: join(import.meta.dirname, 'sensor/main.ts'),
    platform: 'node',
    // An older Node.js can read it, too, and say which one is needed.
    transform: { target: 'es2022' },
    write: false,
    output: { format: 'esm', codeSplitting: false, banner: '#!/usr/bin/env node' },
  });
  return output[0].code;
}

export interface RunOptions {
  cwd: string;
  env?: Record<string, string>;
}

/** The environment of a program that is tested: ours without what would configure the exporter. */
export function cleanEnvironment(extra: Record<string, string> = {}): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !/^(EVIDENCE_|npm_|INIT_CWD|VITEST|NODE_ENV)/.test(name));
  return { ...Object.fromEntries(own), ...extra };
}

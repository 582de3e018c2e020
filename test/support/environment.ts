export interface RunOptions {
  cwd: string;
  env?: Record<string, string>;
}

/** Returns the environment of a tested program: ours without variables that configure the exporter. */
export function cleanEnvironment(extra: Record<string, string> = {}): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !/^(EVIDENCE_|npm_|INIT_CWD|VITEST|NODE_ENV)/.test(name));
  return { ...Object.fromEntries(own), ...extra };
}

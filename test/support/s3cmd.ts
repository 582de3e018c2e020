import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './process.ts';
import type { Radosgw } from './radosgw.ts';

/** Returns Debian's s3cmd, an independent client, configured in `folder`. */
export function s3cmd({ endpoint, env }: Radosgw, folder: string): (...args: string[]) => Promise<string> {
  const { host } = new URL(endpoint);
  const configuration = join(folder, 's3cmd.cfg');
  const settings = {
    access_key: env.AWS_ACCESS_KEY_ID,
    secret_key: env.AWS_SECRET_ACCESS_KEY,
    bucket_location: env.AWS_REGION,
    host_base: host,
    host_bucket: host,
    use_https: 'False',
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
  writeFileSync(configuration, `[default]\n${lines.join('\n')}\n`);
  return (...args) => run('s3cmd', ['-c', configuration, ...args], folder);
}

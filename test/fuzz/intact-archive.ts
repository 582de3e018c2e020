import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { evidence } from '../support/evidence.ts';
import { garbleSummary, lieAbout } from '../support/lying-service.ts';
import { postEntries, servePlatform, someEntries } from '../support/platform.ts';

/**
 * Writes two runs signed with `signing.pem`, the first after an incomplete attempt, and a share.
 * @returns the archive.
 */
export async function writeIntactArchive(directory: string): Promise<string> {
  const platform = await servePlatform();
  let lie = garbleSummary;
  const service = await lieAbout(platform.auditUrl, (path, answer) => lie(path, answer));
  const call = async (code: number, ...args: string[]) => {
    const env = { ...platform.env, EVIDENCE_AUDIT_URL: service.auditUrl };
    const ended = await evidence(args, { cwd: directory, env });
    if (ended.code !== code) throw new Error(`${args.join(' ')} ended with ${ended.code}: ${ended.stderr}`);
  };
  try {
    await call(0, 'keygen', '--out', 'signing.pem');
    await postEntries(platform, [...someEntries('payments', 20), ...someEntries('логи', 3)]);
    const signed = ['--config', 'signed.yaml'];
    writeFileSync(join(directory, 'signed.yaml'), 'sign: { key_file: signing.pem }\n');
    const first = ['export', '--request', 'R1', '--all-time', '--require', 'agreement', ...signed];
    await call(3, ...first);
    lie = () => undefined;
    await call(0, ...first);
    await call(0, 'export', '--request', 'R2', '--all-time', ...signed);
    await call(0, 'share', 'R1', '--out', 'shared', ...signed);
  } finally {
    service.close();
    await platform.stop();
  }
  return join(directory, 'evidence-archive');
}

import { access, constants, mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { MailTransport } from './mail.ts';
import { toEml } from './message.ts';

/** Creates the folder of mails if it does not exist. @throws Error if the folder cannot be created or written. */
export async function openFolder(folder: string): Promise<void> {
  await makeFolder(folder);
  await access(folder, constants.W_OK | constants.X_OK);
}

async function makeFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
}

/** Writes mails into a folder, as `2026-11-22T10-00-00-000Z-ID.eml`. */
export function folderTransport(folder: string, from: string): MailTransport {
  return {
    to: folder,
    async send(mail) {
      const id = /^<([\w-]+)@/.exec(mail.messageId)?.[1];
      const path = join(folder, `${mail.date.toISOString().replace(/[:.]/g, '-')}-${id}.eml`);
      await makeFolder(folder);
      // Renamed when complete, so that readers see whole mails only, and a repeated mail once.
      await writeFile(`${path}.part`, await toEml(from, mail), { mode: 0o600 });
      await rename(`${path}.part`, path);
    },
    close() {},
  };
}

import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isEvidenceError } from '../../core/errors.ts';
import { formFileName } from '../../verifier/bundle/files.ts';
import type { Form } from '../client/audit.ts';
import type { ServiceInUse } from './context.ts';
import type { ReceivedForms } from './received.ts';

/** A watch on a form as it arrives. */
export interface FormWatch {
  begin(form: Form): void;
  /** It begins again: what came before does not count. */
  restart(form: Form): void;
  chunk(form: Form, bytes: Uint8Array): void | Promise<void>;
  failed(form: Form, message: string): void;
}

/** Downloads every form that the service has. One that it does not give is noted, and what arrived of it is kept. */
export async function receiveForms(
  { client }: ServiceInUse,
  packageId: string,
  folder: string,
  watch: FormWatch,
): Promise<ReceivedForms> {
  const received: ReceivedForms = { files: [], missing: [], transferLog: [], withKey: [], refused: [] };
  for (const form of client.forms) {
    watch.begin(form);
    const file = join(folder, form);
    let key = client.watchKey();
    const observer = {
      restart: () => {
        key = client.watchKey();
        watch.restart(form);
      },
      chunk: (bytes: Uint8Array) => {
        key.push(bytes);
        return watch.chunk(form, bytes);
      },
    };
    try {
      const { exchange, contentType } = await client.download(packageId, form, file, observer);
      const path = formFileName(form, contentType);
      received.files.push({ form, path, file, bytes: exchange.bytes, sha256: exchange.sha256 });
      received.transferLog.push({ step: form, file: path, exchange });
    } catch (error) {
      if (!isEvidenceError(error) || error.code === 'interrupted') throw error;
      watch.failed(form, error.message);
      received.missing.push({ form, reason: error.message });
      if (error.code === 'refused') received.refused.push(form);
      received.transferLog.push({ step: form, failure: error.message });
      // The part that arrived is kept, under a name that says that it is not the whole.
      const bytes = await sizeOf(file);
      if (bytes > 0) received.files.push({ form, path: `${formFileName(form, '')}.part`, file, bytes, sha256: null });
    }
    if (key.isFound) received.withKey.push(form);
  }
  return received;
}

async function sizeOf(file: string): Promise<number> {
  try {
    return (await stat(file)).size;
  } catch {
    return 0;
  }
}

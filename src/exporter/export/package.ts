import { randomUUID } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { utf8Bytes } from '../../core/bytes.ts';
import { EvidenceError, isEvidenceError } from '../../core/errors.ts';
import { cutText } from '../../core/foreign-text.ts';
import { readHttpDate } from '../../core/http-date.ts';
import { formFileName } from '../../verifier/bundle/files.ts';
import { type FormSource, type ReadPdf, readPdfForm } from '../../verifier/claims/observe.ts';
import { toFailure } from '../../verifier/model/failure.ts';
import { readPdf } from '../../verifier/pdf-text/reader.ts';
import { type Form, SHOWN_OF_ID } from '../client/audit.ts';
import type { ExportContext, ServiceInUse } from './context.ts';
import type { MadePackage, ReceivedForms } from './received.ts';

/**
 * Requests a package and waits until it is ready.
 * @param onWait called if the package is not ready at once.
 * @throws EvidenceError `service` if the service generates a package of another stream.
 */
export async function makePackage(
  { client, packagePeriod }: ServiceInUse,
  streamId: string,
  onWait: () => void,
): Promise<MadePackage> {
  const askedAt = Date.now();
  const { generated, exchange } = await client.generate(streamId, packagePeriod, randomUUID());
  // Lower bound: the service may have set the date at any moment since the request, in whole seconds.
  const answered = readHttpDate(exchange.date);
  const askedAtByService = answered === null ? null : answered - (Date.now() - askedAt);
  const { packageId } = generated;
  if (generated.streamId !== null && generated.streamId !== streamId)
    throw new EvidenceError(
      'service',
      `the service generated a package of the stream "${cutText(generated.streamId, SHOWN_OF_ID)}" instead`,
    );
  if (generated.made === null) onWait();
  const { entryCount } = generated.made ?? (await client.awaitPackage(packageId));
  return { packageId, entryCount, askedAt, askedAtByService, transferLog: [{ step: 'generate', exchange }] };
}

/** Observer of the forms as they arrive. */
interface FormWatch {
  begin(form: Form): void;
  /** Discards what has arrived; the download starts over. */
  restart(form: Form): void;
  chunk(form: Form, bytes: Uint8Array): void | Promise<void>;
  failed(form: Form, message: string): void;
}

/**
 * Downloads every form that the service offers. A failed form is recorded with its reason, and the part that arrived is
 * kept.
 */
export async function receiveForms(
  { client }: ServiceInUse,
  packageId: string,
  folder: string,
  watch: FormWatch,
): Promise<ReceivedForms> {
  const received: ReceivedForms = { files: [], missing: [], transferLog: [], withKey: [] };
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
      const failure = toFailure(error);
      received.missing.push({ form, ...failure });
      received.transferLog.push({ step: form, failure });
      // Keeps the part that arrived under a name that marks it as partial.
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

/** PDF of a package, as read. */
interface PdfInPackage {
  /** Returns the statements already read from the PDF. */
  read: ReadPdf;
  /** Forms that contain the API key. */
  withKey: Form[];
}

/** Returns a form that arrived completely; null otherwise. */
export function wholeForm({ files, missing }: Pick<ReceivedForms, 'files' | 'missing'>, name: Form): FormSource | null {
  const found = missing.some(({ form }) => form === name) ? undefined : files.find(({ form }) => form === name);
  return found === undefined ? null : { bytes: found.bytes, read: () => readFile(found.file) };
}

/** Reads the PDF once: for its statements, and for the API key in text that the file compresses or escapes. */
export async function readPdfOf(
  { service: { client } }: Pick<ExportContext, 'service'>,
  received: Pick<ReceivedForms, 'files' | 'missing' | 'withKey'>,
): Promise<PdfInPackage> {
  const watch = client.watchKey();
  const seeText = (text: string) => watch.push(utf8Bytes(text));
  const reading = await readPdfForm(wholeForm(received, 'pdf'), (bytes) => readPdf(bytes, { seeText }));
  const isNew = watch.isFound && !received.withKey.includes('pdf');
  return {
    read: async () => {
      if (reading !== null && !('unreadable' in reading)) return reading;
      throw new EvidenceError('unreadable', reading?.unreadable ?? 'it does not exist');
    },
    withKey: isNew ? [...received.withKey, 'pdf'] : received.withKey,
  };
}

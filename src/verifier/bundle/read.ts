import { type Bundle, readBundle } from './bundle.ts';
import type { BundleLimits } from './content.ts';
import { openFile } from './file.ts';

export interface OpenBundle extends Bundle {
  close(): Promise<void>;
}

/**
 * Opens a bundle on a disk; see `readBundle`.
 *
 * @param name how it is called in errors.
 * @throws EvidenceError `not-found` when there is no such file, `unreadable` when it is not a complete zip file.
 */
export async function openBundle(path: string, limits: Partial<BundleLimits> = {}, name = path): Promise<OpenBundle> {
  const file = await openFile(path, name);
  try {
    return { ...(await readBundle(file, limits)), close: () => file.close() };
  } catch (error) {
    await file.close();
    throw error;
  }
}

import type { FileConfig } from './config-file.ts';
import { isFrameworkName } from './config-values.ts';

/** Files and folders of a configuration, as given: a container needs them too. */
export interface NamedFiles {
  apiKey: string | null;
  /** All other files. */
  files: string[];
  /** Folder of the seal keys; null if each seal key is a separate file. */
  sealKeyFolder: string | null;
}

export function namedFilesOf({ source, verify, sign, archive, report }: FileConfig): NamedFiles {
  const { seal_keys: sealKeys = {}, timestamp_roots, public_keys = [] } = verify ?? {};
  const files = [
    source?.contract,
    source?.tls?.ca_file,
    source?.tls?.cert_file,
    source?.tls?.key_file,
    ...(typeof sealKeys === 'string' ? [] : Object.values(sealKeys)),
    timestamp_roots,
    ...public_keys,
    sign?.key_file,
    sign?.passphrase_file,
    sign?.tsa_roots,
    archive?.ca_file,
    ...[report?.controls ?? []].flat().filter((name) => !isFrameworkName(name)),
  ];
  return {
    apiKey: source?.api_key_file ?? null,
    files: [...new Set(files.filter((file) => file !== undefined))],
    sealKeyFolder: typeof sealKeys === 'string' ? sealKeys : null,
  };
}

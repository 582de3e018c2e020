import { resolve } from 'node:path';
import { EvidenceError } from '../errors.ts';
import type { FileConfig } from './config-file.ts';

/** How an archive in S3 is reached, and how what is stored there is protected. */
export interface StoreSettings {
  endpoint?: string;
  region?: string;
  profile?: string;
  pathStyle: boolean;
  /** PEM file. */
  caFile?: string;
  /** `maxYears`: no run is locked for longer by `evidence extend`. */
  retention?: { mode: 'governance' | 'compliance'; years: number; maxYears?: number };
  legalHold: boolean;
  kmsKeyId?: string;
}

/**
 * @param folder of the configuration file, to which its paths are relative.
 * @throws EvidenceError `config` when the endpoint is not one.
 */
export function toStoreSettings(
  file: FileConfig['archive'],
  flags: { endpoint?: string | undefined },
  folder: string,
): StoreSettings {
  const endpoint = checkEndpoint(flags.endpoint ?? file?.endpoint);
  const { region, profile, ca_file, retention, kms_key_id } = file ?? {};
  return {
    // Other stores seldom have a name in the DNS for every bucket.
    pathStyle: file?.path_style ?? endpoint !== undefined,
    legalHold: file?.legal_hold ?? false,
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(region === undefined ? {} : { region }),
    ...(profile === undefined ? {} : { profile }),
    ...(ca_file === undefined ? {} : { caFile: resolve(folder, ca_file) }),
    ...(retention === undefined ? {} : { retention: toRetention(retention) }),
    ...(kms_key_id === undefined ? {} : { kmsKeyId: kms_key_id }),
  };
}

function toRetention({ mode, years, max_years }: NonNullable<NonNullable<FileConfig['archive']>['retention']>) {
  return { mode, years, ...(max_years === undefined ? {} : { maxYears: max_years }) };
}

/** The text itself is not repeated: it may hold a password. */
function checkEndpoint(endpoint: string | undefined): string | undefined {
  if (endpoint === undefined) return undefined;
  const url = URL.canParse(endpoint) ? new URL(endpoint) : null;
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new EvidenceError('config', 'the endpoint of the archive is not an http(s) URL', {
      nextStep: 'Give archive.endpoint or --endpoint as https://HOST.',
    });
  if (url.username !== '' || url.password !== '')
    throw new EvidenceError('config', 'the endpoint of the archive holds a user name or password', {
      nextStep: 'Credentials of the store come from the environment, a profile or the machine.',
    });
  return endpoint;
}

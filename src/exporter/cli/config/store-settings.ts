import { resolve } from 'node:path';
import { whereDefined } from '../../../core/defined.ts';
import { EvidenceError } from '../../../core/errors.ts';
import type { FileConfig } from './config-file.ts';

/** Access to an archive in S3, and protection of its objects. */
export interface StoreSettings {
  endpoint?: string;
  region?: string;
  profile?: string;
  pathStyle: boolean;
  /** PEM file of the store's certificate authorities. */
  caFile?: string;
  /** `maxYears`: limit for `evidence extend`. */
  retention?: { mode: 'governance' | 'compliance'; years: number; maxYears?: number };
  legalHold: boolean;
  kmsKeyId?: string;
}

/**
 * @param folder of the configuration file, which its paths are relative to.
 * @throws EvidenceError `config` if the endpoint is not a valid address.
 */
export function toStoreSettings(
  file: FileConfig['archive'],
  flags: { endpoint?: string | undefined },
  folder: string,
): StoreSettings {
  const endpoint = checkHttpUrl('the endpoint of the archive', flags.endpoint ?? file?.endpoint);
  const { region, profile, ca_file, retention, kms_key_id: kmsKeyId } = file ?? {};
  return {
    // Stores other than Amazon's seldom have a DNS name for every bucket.
    pathStyle: file?.path_style ?? endpoint !== undefined,
    legalHold: file?.legal_hold ?? false,
    ...whereDefined({
      endpoint,
      region,
      profile,
      caFile: ca_file && resolve(folder, ca_file),
      retention: retention && toRetention(retention),
      kmsKeyId,
    }),
  };
}

function toRetention({ mode, years, max_years }: NonNullable<NonNullable<FileConfig['archive']>['retention']>) {
  return { mode, years, ...whereDefined({ maxYears: max_years }) };
}

/**
 * Checks an http(s) address. Messages omit it, because it may contain a password.
 * @throws EvidenceError `config` for an invalid address, and for one that contains a secret.
 */
export function checkHttpUrl<T extends string | null | undefined>(what: string, address: T): T {
  if (address === null || address === undefined) return address;
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    const why = /^[a-z][a-z0-9+.-]*:\/\//i.test(address)
      ? 'is not an http(s) URL'
      : 'has no http:// or https:// prefix';
    throw new EvidenceError('config', `${what} ${why}`, { nextStep: 'Write it as https://HOST, with the path.' });
  }
  if (url.username !== '' || url.password !== '')
    throw new EvidenceError('config', `${what} contains a user name or password`, { nextStep: KEPT_APART });
  if (url.search !== '' || url.hash !== '')
    throw new EvidenceError('config', `${what} contains a query or fragment (? or #)`, { nextStep: KEPT_APART });
  return address;
}

export const KEPT_APART =
  'Leave it out. The API key comes from EVIDENCE_API_KEY or a file; store credentials come from the environment, a profile or the machine.';

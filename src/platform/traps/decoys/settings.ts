import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { EvidenceError, messageOf } from '../../../core/errors.ts';
import { DECOY_KINDS, type DecoySettings } from './decoy.ts';

/** `HOST:PORT`, with IPv6 addresses in brackets. */
const ADDRESS = /^(?:\[([0-9a-fA-F:]+)\]|([^\s:[\]]+)):(\d{1,5})$/;
const address = z
  .string()
  .regex(ADDRESS, { error: 'is not written HOST:PORT', abort: true })
  .refine((text) => toAddress(text).port <= 65_535, 'has no port number');

/** Decoy in a settings file. */
const decoyFileSchema = z
  .strictObject({
    name: z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'has other characters than a-z, 0-9 and -'),
    kind: z.enum(DECOY_KINDS),
    listen: address,
    public: address.optional(),
    certificate_file: z.string().min(1).optional(),
    key_file: z.string().min(1).optional(),
    plain_http: z.literal(true).optional(),
  })
  .refine(({ certificate_file, key_file }) => (certificate_file === undefined) === (key_file === undefined), {
    error: 'the decoy needs both certificate_file and key_file, or neither',
  })
  .refine(
    ({ kind, certificate_file, plain_http }) =>
      plain_http === undefined || (certificate_file === undefined && (kind === 'web' || kind === 'aws')),
    { path: ['plain_http'], error: 'it is for web and aws without a certificate' },
  );
type DecoyInFile = z.infer<typeof decoyFileSchema>;

export const decoysFileSchema = z.array(decoyFileSchema).superRefine((decoys, { addIssue }) => {
  for (const [at, { name }] of decoys.entries())
    if (decoys.findIndex((each) => each.name === name) < at)
      addIssue({ code: 'custom', path: [at, 'name'], message: `two decoys have the name "${name}"` });
});

/** @param inFolder resolves a path in the settings file. @throws EvidenceError `config` with the name of the decoy. */
export function toDecoySettings(decoys: readonly DecoyInFile[], inFolder: (path: string) => string): DecoySettings[] {
  return decoys.map(({ name, kind, listen, public: shown, certificate_file, key_file, plain_http }) => {
    const tls =
      certificate_file === undefined || key_file === undefined
        ? null
        : { certificate: read(name, inFolder(certificate_file)), key: read(name, inFolder(key_file)) };
    const plain = plain_http === true ? { isPlain: plain_http } : {};
    const publicly = shown === undefined ? null : toAddress(shown);
    return {
      name,
      kind,
      tls,
      ...plain,
      ...toAddress(listen),
      publicHost: publicly?.host ?? null,
      publicPort: publicly?.port ?? null,
    };
  });
}

function toAddress(text: string): { host: string; port: number } {
  const [, v6, host = v6 ?? '', digits] = ADDRESS.exec(text) ?? [];
  return { host, port: Number(digits) };
}

function read(name: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new EvidenceError('config', `the decoy "${name}": ${path} cannot be read: ${messageOf(cause)}`, { cause });
  }
}

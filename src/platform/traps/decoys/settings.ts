import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { EvidenceError, messageOf } from '../../../core/errors.ts';
import { DECOY_KINDS, type DecoySettings } from './decoy.ts';

/** `HOST:PORT`; an IPv6 address stands in brackets. */
const ADDRESS = /^(?:\[([0-9a-fA-F:]+)\]|([^\s:[\]]+)):(\d{1,5})$/;
const address = z.string().regex(ADDRESS, 'is not written HOST:PORT');

/** A decoy as a file of settings has it. */
export const decoyFileSchema = z.strictObject({
  name: z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'has other characters than a-z, 0-9 and -'),
  kind: z.enum(DECOY_KINDS),
  listen: address,
  public: address.optional(),
  certificate_file: z.string().min(1).optional(),
  key_file: z.string().min(1).optional(),
  plain_http: z.literal(true).optional(),
});
export type DecoyInFile = z.infer<typeof decoyFileSchema>;

/** @param inFolder where a path of the file leads. @throws EvidenceError `config` naming the decoy. */
export function toDecoySettings(decoys: readonly DecoyInFile[], inFolder: (path: string) => string): DecoySettings[] {
  const twice = decoys.find(({ name }, at) => decoys.findIndex((each) => each.name === name) !== at);
  if (twice !== undefined) throw new EvidenceError('config', `two decoys have the name "${twice.name}"`);
  return decoys.map(({ name, kind, listen, public: shown, certificate_file, key_file, plain_http }) => {
    if ((certificate_file === undefined) !== (key_file === undefined))
      throw new EvidenceError('config', `the decoy "${name}" needs both certificate_file and key_file, or neither`);
    const tls =
      certificate_file === undefined || key_file === undefined
        ? null
        : { certificate: read(name, inFolder(certificate_file)), key: read(name, inFolder(key_file)) };
    if (plain_http === true && (tls !== null || (kind !== 'web' && kind !== 'aws')))
      throw new EvidenceError(
        'config',
        `the decoy "${name}" cannot have plain_http: it is for web and aws without a certificate`,
      );
    const plain = plain_http === true ? { isPlain: plain_http } : {};
    const publicly = shown === undefined ? null : toAddress(name, shown);
    const { host, port } = toAddress(name, listen);
    return {
      name,
      kind,
      host,
      port,
      publicHost: publicly?.host ?? null,
      publicPort: publicly?.port ?? null,
      tls,
      ...plain,
    };
  });
}

function toAddress(name: string, text: string): { host: string; port: number } {
  const [, v6, host = v6 ?? '', digits] = ADDRESS.exec(text) ?? [];
  const port = Number(digits);
  if (port > 65_535) throw new EvidenceError('config', `the decoy "${name}": ${text} has no port number`);
  return { host, port };
}

function read(name: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new EvidenceError('config', `the decoy "${name}": ${path} cannot be read: ${messageOf(cause)}`, { cause });
  }
}

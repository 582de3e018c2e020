import { resolve } from 'node:path';
import { EvidenceError } from '../../../core/errors.ts';
import type { SigningKey } from '../../../verifier/signature/key.ts';
import { AuthorityClient } from '../../client/authority.ts';
import type { Stamping } from '../../export/stamp.ts';
import { readSigningKey } from '../../ledger/signing-key.ts';
import type { CommandContext } from '../command.ts';
import type { Config } from './config.ts';
import { readGivenText, refuseOpen } from './given-file.ts';
import { readTool } from './tool.ts';
import { readTimestampRoots } from './trust.ts';

/**
 * Opens the key that signs runs and ledger entries; null if none is configured.
 * @throws EvidenceError `config` if it cannot be read.
 */
export function openSigningKey({ sign }: Config, { printer }: Pick<CommandContext, 'printer'>): SigningKey | null {
  if (sign.keyFile === null) return null;
  const passphrase = sign.passphrase ?? readPassphrase('sign.passphrase_file', sign.passphraseFile);
  return openKey('sign.key_file', sign.keyFile, passphrase, printer);
}

/**
 * Opens the key that replaces the present signing key.
 * @param passphraseFile null for an unencrypted key.
 * @throws EvidenceError `config` if it cannot be read.
 */
export function openSuccessorKey(
  file: string,
  passphraseFile: string | null,
  { printer, directory }: Pick<CommandContext, 'printer' | 'directory'>,
): SigningKey {
  const path = passphraseFile === null ? null : resolve(directory, passphraseFile);
  return openKey('the new signing key', resolve(directory, file), readPassphrase('its passphrase', path), printer);
}

function openKey(
  name: string,
  path: string,
  passphrase: string | null,
  printer: CommandContext['printer'],
): SigningKey {
  const pem = readGivenText(name, path);
  printer.keepSecret(pem.trim());
  if (passphrase !== null) printer.keepSecret(passphrase);
  const key = readSigningKey(pem, passphrase, `${path} (${name})`);
  refuseOpen(name, path);
  return key;
}

function readPassphrase(name: string, path: string | null): string | null {
  return path === null ? null : readGivenText(name, path).replace(/\r?\n$/, '');
}

/**
 * Opens the authority that time-stamps runs; null if none is configured. The caller must close it.
 * @throws EvidenceError `config` if no root is pinned to verify its tokens.
 */
export function openStamping(config: Config, { printer, signal }: CommandContext): Stamping | null {
  const { tsaUrl } = config.sign;
  const roots = readTimestampRoots(config.sign.rootsFile, 'sign.tsa_roots');
  if (tsaUrl === null) return null;
  if (roots === null)
    throw new EvidenceError(
      'config',
      'sign.tsa_url names a time-stamping authority, but no root certificate is pinned',
      {
        nextStep: 'Get the root certificate from the authority and set sign.tsa_roots to its PEM file.',
      },
    );
  const url = new URL(tsaUrl);
  checkEncoding(url);
  for (const secret of [url.password, decodeURIComponent(url.password), url.search.slice(1)])
    printer.keepSecret(secret);
  const { name, version } = readTool();
  return { authority: new AuthorityClient({ url, userAgent: `${name}/${version}`, signal }), roots };
}

function checkEncoding({ username, password }: URL): void {
  try {
    decodeURIComponent(`${username}:${password}`);
  } catch {
    throw new EvidenceError('config', 'the user and password in sign.tsa_url are not percent-encoded');
  }
}

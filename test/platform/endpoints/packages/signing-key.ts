import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Time in gpg's format, for making keys and for signing. */
export type GpgTime = `${string}T${string}`;

export interface KeyInput {
  name?: string;
  /** Creation time of the key. */
  made?: GpgTime;
  /** Validity of the key, such as `1d`. */
  goodFor?: string;
}

export interface SigningOptions {
  at?: GpgTime;
  digest?: string;
  /** Validity of the signature, such as `1d`. */
  goodFor?: string;
  /** Option of gpg; `--clear-sign` by default. */
  form?: string;
}

/** A GnuPG key in its own home folder, which `remove` removes. */
export class SigningKey {
  readonly home = mkdtempSync(join(tmpdir(), 'gpg-'));
  readonly keyring = join(this.home, 'public.gpg');
  readonly fingerprint: string;
  readonly name: string;

  constructor({ name = 'Test Archive', made, goodFor = 'never' }: KeyInput = {}) {
    this.name = name;
    const at = made === undefined ? [] : ['--faked-system-time', `${made}!`];
    this.gpg([...at, '--passphrase', '', '--quick-generate-key', name, 'ed25519', 'sign', goodFor]);
    this.export();
    const listed = this.gpg(['--with-colons', '--list-keys']).toString();
    this.fingerprint = /^fpr:+([0-9A-F]{40}):$/m.exec(listed)?.[1] ?? '';
  }

  sign(text: string, { at, digest = 'SHA256', goodFor, form = '--clear-sign' }: SigningOptions = {}): string {
    const time = at === undefined ? [] : ['--faked-system-time', `${at}!`];
    const end = goodFor === undefined ? [] : ['--default-sig-expire', goodFor];
    return this.gpg([...time, ...end, '--armor', '--digest-algo', digest, form], text).toString();
  }

  /** Revokes the key. */
  revoke(): void {
    const certificate = readFileSync(join(this.home, 'openpgp-revocs.d', `${this.fingerprint}.rev`), 'utf8');
    this.gpg(['--import'], certificate.replace(':-----BEGIN', '-----BEGIN'));
    this.export();
  }

  export(): void {
    writeFileSync(this.keyring, this.gpg(['--export']));
  }

  gpg(words: readonly string[], input = ''): Buffer {
    const always = ['--homedir', this.home, '--batch', '--quiet', '--no-tty', '--allow-weak-digest-algos'];
    return execFileSync('gpg', [...always, ...words], { input, stdio: ['pipe', 'pipe', 'pipe'] });
  }

  remove(): void {
    execFileSync('gpgconf', ['--homedir', this.home, '--kill', 'all']);
    rmSync(this.home, { recursive: true });
  }
}

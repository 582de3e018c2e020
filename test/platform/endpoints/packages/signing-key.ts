import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** When keys are made and texts are signed, unless said: as gpg takes it. */
export type GpgTime = `${string}T${string}`;

export interface KeyInput {
  name?: string;
  /** Since when it is there. */
  made?: GpgTime;
  /** For how long it is good, as `1d`. */
  goodFor?: string;
}

export interface SigningOptions {
  at?: GpgTime;
  digest?: string;
  /** For how long the signature is good, as `1d`. */
  goodFor?: string;
  /** `--clear-sign`, unless said. */
  form?: string;
}

/** A key of GnuPG in a home of its own, which `remove` removes. */
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

  /** Says that the key is good no more. */
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

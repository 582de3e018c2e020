import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A system for apt and dpkg in a folder, separate from this machine's. */
export class AptRoot {
  readonly root = mkdtempSync(join(tmpdir(), 'apt-root-'));
  readonly lists = join(this.root, 'var/lib/apt/lists');
  readonly archives = join(this.root, 'var/cache/apt/archives');
  readonly #config = join(this.root, 'apt.conf');

  /** @param installed packages that count as installed, in a version that satisfies every dependency. */
  constructor(installed: readonly string[] = []) {
    for (const folder of [
      'etc/apt/preferences.d',
      'etc/apt/none',
      'var/lib/dpkg/updates',
      'var/lib/dpkg/info',
      'var/log/apt',
      'usr/bin',
    ])
      mkdirSync(join(this.root, folder), { recursive: true });
    for (const folder of [this.lists, this.archives]) mkdirSync(join(folder, 'partial'), { recursive: true });
    const status = installed.map(
      (name) =>
        `Package: ${name}\nStatus: install ok installed\nVersion: 999\nArchitecture: amd64\nMaintainer: Nobody <nobody@example.org>\nDescription: of a test\n`,
    );
    writeFileSync(join(this.root, 'var/lib/dpkg/status'), status.join('\n'));
    const settings = [
      // apt ignores this machine's settings.
      ...['Dir::Etc::main "none.conf"', 'Dir::Etc::parts "none"', `Dir "${this.root}"`],
      ...[`Dir::State::status "${this.root}/var/lib/dpkg/status"`, 'Dir::Bin::methods "/usr/lib/apt/methods"'],
      ...['Dir::Bin::dpkg "/usr/bin/dpkg"', 'APT::Architecture "amd64"', 'APT::Sandbox::User "root"'],
      ...['Acquire::Languages "none"', 'Binary::apt-get::APT::Keep-Downloaded-Packages "true"'],
      ...['--root', '--admindir', '--log'].map(
        (option, at) =>
          `DPkg::Options:: "${option}=${[this.root, `${this.root}/var/lib/dpkg`, `${this.root}/dpkg.log`][at]}"`,
      ),
    ];
    writeFileSync(this.#config, settings.map((line) => `${line};\n`).join(''));
  }

  /** Sets the package sources and updates the lists. @returns apt's output. */
  update(sources: readonly string[]): string {
    writeFileSync(join(this.root, 'etc/apt/sources.list'), `${sources.join('\n')}\n`);
    return this.apt('update').said;
  }

  /** Installs packages, `NAME=VERSION` each; allows downgrades. */
  install(...packages: readonly string[]): void {
    const { status, said } = this.apt('install', '--yes', '--allow-downgrades', '--no-install-recommends', ...packages);
    if (status !== 0) throw new Error(said);
  }

  /** Returns the output of `dpkg --verify`; empty if installed packages are unchanged. */
  verified(): string {
    const { stdout } = spawnSync('dpkg', [`--root=${this.root}`, '--verify'], { encoding: 'utf8' });
    return stdout;
  }

  apt(...words: readonly string[]) {
    return this.#run('apt-get', words);
  }

  query(...words: readonly string[]) {
    return this.#run('apt-cache', words);
  }

  #run(program: string, words: readonly string[]): { status: number | null; said: string } {
    const env = {
      PATH: '/usr/sbin:/usr/bin:/sbin:/bin',
      LC_ALL: 'C',
      APT_CONFIG: this.#config,
      DEBIAN_FRONTEND: 'noninteractive',
    };
    const { status, stdout, stderr } = spawnSync(program, words, { env, encoding: 'utf8' });
    return { status, said: stdout + stderr };
  }

  remove(): void {
    rmSync(this.root, { recursive: true });
  }
}

import { ArchiveRefusal } from './refusal.ts';

/** A Release file: https://wiki.debian.org/DebianRepository/Format, "Release" files. */
export interface Release {
  /** As people know it: `Debian bookworm-security`. */
  archive: string;
  /** When it was made, as it says. */
  date: string | null;
  /** The lists of packages for machines, by their paths beside the Release file, uncompressed. */
  indexes: ReleaseIndex[];
}

export interface ReleaseIndex {
  /** `main/binary-amd64/Packages`. */
  name: string;
  sha256: string;
  size: number;
}

/** A path without anything that leads elsewhere. */
const SAFE_NAME = /^(?:[A-Za-z0-9+_~-][A-Za-z0-9.+_~-]*\/)*Packages$/;
const MAX_FIELD = 200;

/** @throws ArchiveRefusal where it is no Release file, or says two things of one name. */
export function readRelease(text: string): Release {
  const fields = fieldsOf(text);
  const listed = fields.get('sha256');
  if (listed === undefined) throw new ArchiveRefusal('lists no SHA-256 digests');
  const short = (name: string) => fields.get(name)?.slice(0, MAX_FIELD);
  const names = [short('origin') ?? short('label'), short('codename') ?? short('suite')];
  const archive = names.filter((name) => name !== undefined).join(' ');
  return {
    archive: archive === '' ? 'an archive without a name' : archive,
    date: short('date') ?? null,
    indexes: indexesIn(listed),
  };
}

/** The one paragraph of a control file (deb822(5)). */
function fieldsOf(text: string): Map<string, string> {
  const fields = new Map<string, string>();
  let last = '';
  for (const line of text.trimEnd().split('\n')) {
    if (/^[ \t]/.test(line) && last !== '') {
      fields.set(last, `${fields.get(last)}\n${line.trim()}`);
      continue;
    }
    const [, name = '', value = ''] = /^([!-9;-~]+):(.*)$/.exec(line) ?? [];
    last = name.toLowerCase();
    if (last === '') throw new ArchiveRefusal('has a line that is no field');
    if (fields.has(last)) throw new ArchiveRefusal(`has the field ${name} twice`);
    fields.set(last, value.trim());
  }
  return fields;
}

function indexesIn(listed: string): ReleaseIndex[] {
  const indexes = new Map<string, ReleaseIndex>();
  for (const line of listed.split('\n').filter((each) => each !== '')) {
    const [, sha256 = '', size = '', name = ''] = /^([0-9a-f]{64}) +(\d{1,12}) +(\S+)$/.exec(line) ?? [];
    if (name === '')
      throw new ArchiveRefusal(`has the line "${line.slice(0, MAX_FIELD)}" where a digest, a size and a name belong`);
    if (name !== 'Packages' && !name.endsWith('/Packages')) continue;
    if (!SAFE_NAME.test(name))
      throw new ArchiveRefusal(`lists "${name.slice(0, MAX_FIELD)}", which leads out of its folder`);
    const before = indexes.get(name);
    if (before !== undefined && before.sha256 !== sha256) throw new ArchiveRefusal(`lists ${name} with two digests`);
    indexes.set(name, { name, sha256, size: Number(size) });
  }
  return [...indexes.values()];
}

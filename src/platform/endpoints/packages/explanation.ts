/** The owner and mode of a file. */
export interface Attributes {
  /** Permissions, with setuid, setgid and sticky. */
  mode: number;
  uid: number;
  gid: number;
}

/** A file that stands where another one, or none, is expected. */
export interface ChangedFile {
  path: string;
  observed: Attributes & { sha256: string };
  /** The baseline's file; null if it has none. */
  expected: (Attributes & { sha256: string }) | null;
}

/** The package that a file is of, and who vouches for it. */
export interface SignedPackage {
  name: string;
  version: string;
  architecture: string;
  /** `Debian bookworm-security main`. */
  archive: string;
  /** Name and fingerprint of each key that signed the archive, with commas between them. */
  signed_by: string;
}

const SET_IDS = 0o6000;
const WRITE_BY_OTHERS = 0o0022;

/**
 * True if a package explains a file with the content and the path of one of its own. The file may be no more powerful
 * than the package has it, or than it was; what is no other content is no upgrade, and what has become setuid is none
 * either.
 */
export function explains(packaged: Attributes, { observed, expected }: ChangedFile): boolean {
  if (expected !== null && expected.sha256 === observed.sha256) return false;
  if (expected !== null && isSame(observed, expected)) return true;
  const isOwned = observed.uid === packaged.uid && observed.gid === packaged.gid;
  const more = observed.mode & ~packaged.mode & (SET_IDS | WRITE_BY_OTHERS);
  const becameSetId = expected === null ? 0 : observed.mode & ~expected.mode & SET_IDS;
  return isOwned && more === 0 && becameSetId === 0;
}

function isSame(one: Attributes, other: Attributes): boolean {
  return one.mode === other.mode && one.uid === other.uid && one.gid === other.gid;
}

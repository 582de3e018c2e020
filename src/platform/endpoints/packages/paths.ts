/** Folders that are links to those of `/usr`, and were once folders of their own: https://wiki.debian.org/UsrMerge */
const MERGED = /^\/(?=(?:bin|sbin|lib|lib32|lib64|libo32|libx32)\/)/;

/** A path as a file stands at it where `/bin` is a link to `/usr/bin`: packages say either. */
export function standingPath(path: string): string {
  return path.replace(MERGED, '/usr/');
}

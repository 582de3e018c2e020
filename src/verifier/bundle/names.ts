import type { Bag } from './bag.ts';
import type { BundleFinding } from './bundle-finding.ts';
import { collisionKey, whyUnsafe } from './path.ts';
import type { Member } from './zip.ts';

/** Faults in the names of a zip, and the members that are not to be read because of them. */
export interface NameFindings {
  findings: BundleFinding[];
  refused: Set<Member>;
}

/** Judges names as an auditor's unzip program on any system would have to. */
export function findInNames(bag: Bag): NameFindings {
  const findings: BundleFinding[] = [];
  const refused = new Set<Member>();
  const taken = takenAsFolder(bag.zip.members.filter(({ name }) => whyUnsafe(name) === undefined));
  for (const member of bag.zip.members) {
    const { name } = member;
    const refuse = (code: BundleFinding['code'], reason: string) => {
      findings.push({ code, path: bag.pathOf(member), message: `${JSON.stringify(name)} in the zip: ${reason}` });
      refused.add(member);
    };
    const hazard = member.nameFlaw ?? whyUnsafe(name);
    if (hazard !== undefined) {
      refuse('bundle/unsafe-name', hazard);
      continue;
    }
    const key = collisionKey(name.replace(/\/$/, ''));
    const earlier = taken.get(key);
    if (earlier === undefined) taken.set(key, name);
    else if (earlier !== name || !name.endsWith('/')) {
      refuse('bundle/name-collision', `on some disks it is the same as ${JSON.stringify(earlier)}`);
    }
  }
  if (bag.folder === '' && bag.zip.members.length > 0) {
    const message = 'the files do not lie in one folder, as those of a bundle do';
    findings.push({ code: 'bundle/several-folders', path: '', message });
  }
  return { findings, refused };
}

/** Every folder that a file lies in, so that a file of the folder's name is seen to be in its way. */
function takenAsFolder(members: readonly Member[]): Map<string, string> {
  const taken = new Map<string, string>();
  for (const { name } of members) {
    for (let slash = name.indexOf('/'); slash !== -1; slash = name.indexOf('/', slash + 1)) {
      const folder = name.slice(0, slash + 1);
      const key = collisionKey(folder.slice(0, -1));
      if (!taken.has(key)) taken.set(key, folder);
    }
  }
  return taken;
}

import type { BigIntStats } from 'node:fs';
import type { Ownership } from '../../endpoints/report/line.ts';

const PERMISSIONS = 0o7777n;

export function ownershipOf({ mode, uid, gid }: BigIntStats): Ownership {
  return { mode: (mode & PERMISSIONS).toString(8).padStart(4, '0'), uid: Number(uid), gid: Number(gid) };
}

import type { BigIntStats, Stats } from 'node:fs';
import type { Ownership } from '../report/line.ts';

const PERMISSIONS = 0o7777;

export function ownershipOf({ mode, uid, gid }: Stats | BigIntStats): Ownership {
  return { mode: (Number(mode) & PERMISSIONS).toString(8).padStart(4, '0'), uid: Number(uid), gid: Number(gid) };
}

import { agree, grouped, plural } from '../../core/plurals.ts';
import type { WalkResult } from '../chain/walk.ts';
import { type Unhashed, unhashedKey, unhashedWords } from '../model/unhashed.ts';
import type { Contract } from '../reading/contract.ts';
import type { EntryRole, OpenRole } from '../recipe/roles.ts';
import { type Claim, deviations, proved, refuted, unproved } from './claim.ts';

interface ContentQuestion {
  walk: WalkResult;
  contract: Pick<Contract, 'name' | 'recipe' | 'unhashedSeal' | 'openRoles'>;
  /** File of the contract; null for the default contract. */
  contractFile: ContractFile | null;
  /** Roles and members that the reader accepts as unhashed. */
  accepted: readonly string[];
  /** True if content must be proved: the reason then says how to do without it. */
  required: boolean;
}

/** Source of the contract: the reader, or the bundle. */
export interface ContractFile {
  from: 'reader' | 'bundle';
  sha256: string;
}

/** @param file pinned file; null for the default contract. */
export function toContractFile(file: { sha256: string } | null, from: ContractFile['from']): ContractFile | null {
  return file === null ? null : { from, sha256: file.sha256 };
}

/** Judges content: proved if every digest was recomputed and covers who did what, when, and its place in the stream. */
export function judgeContent({ walk, contract, contractFile, accepted, required }: ContentQuestion): Claim {
  const faults = walk.findings.errors('content');
  if (faults > 0) return refuted(deviations(faults));
  if (walk.entries === 0) return unproved('no-entries', 'there are no entries');
  if (contract.recipe === null)
    return unproved(
      'no-recipe',
      `no recipe is known that makes these digests${required ? '; to do without this claim, write in the configuration: verify: { require: [order] }' : ''}`,
    );
  if (walk.inexact.first !== null) return unproved('inexact-numbers', inexactReason(walk, walk.inexact.first));
  const without = walk.entries - walk.contentComputed;
  if (without > 0)
    return unproved(
      'key-not-given',
      `${grouped(without)} of ${plural(walk.entries, 'digest')} ${agree(without, 'is', 'are')} made with a key not given`,
    );
  const kept = unhashedOf(walk, contract.unhashedSeal);
  const unhashed = kept.map(unhashedWords);
  const open = contract.openRoles(kept);
  const bars = open.filter((role) => !isAccepted(role, accepted));
  if (bars.length > 0) return { ...unproved('not-covered', barReason(bars)), ...notCovered(unhashed) };
  const basis = [
    `${grouped(walk.contentComputed)} of ${plural(walk.entries, 'digest')} recomputed: ${contract.recipe}`,
    ...(contractFile === null ? [] : [sourceOf(contract.name, contractFile)]),
    ...(unhashed.length === 0 ? [] : [`not covered by them: ${unhashed.join(', ')}`]),
    ...(open.length === 0 ? [] : [`accepted as not covered: ${[...new Set(open.map(nameOf))].join(', ')}`]),
  ];
  return {
    ...proved(basis.join('; ')),
    ...notCovered(unhashed),
    ...(contractFile?.from === 'bundle' ? { by_contract: sourceOf(contract.name, contractFile) } : {}),
  };
}

function notCovered(unhashed: string[]): Pick<Claim, 'not_covered'> {
  return unhashed.length === 0 ? {} : { not_covered: unhashed };
}

/** Returns the parts that digests do not cover, including the seal unless every seal was checked with its key. */
function unhashedOf({ unhashed, seals, entries }: WalkResult, seal: Unhashed | null): Unhashed[] {
  const checked = seals.verified === entries;
  return [...unhashed.values(), ...(seal === null || checked || unhashed.has(unhashedKey(seal)) ? [] : [seal])];
}

function sourceOf(name: string, { from, sha256 }: ContractFile): string {
  const whose = from === 'bundle' ? 'the contract that the bundle brings' : 'the contract file that was given';
  return `by ${whose} ("${name}", sha256 ${sha256})`;
}

function inexactReason({ entries, inexact }: WalkResult, first: { sequence: number; number: string }): string {
  const rest = inexact.entries === 1 ? '' : `, as do ${inexact.entries - 1} more of ${entries} entries`;
  return `entry ${first.sequence} holds the number ${first.number}, which changes when it is read${rest}: such entries can differ and have one digest`;
}

/** Reports whether the role is accepted, by its name, its member or an outer member. */
function isAccepted({ role, unhashed }: OpenRole, accepted: readonly string[]): boolean {
  return accepted.some((name) => name === role || (unhashed !== null && isWithin(unhashedWords(unhashed), name)));
}

function isWithin(member: string, name: string): boolean {
  return member === name || member.startsWith(`${name}.`);
}

function nameOf({ role, unhashed, named }: OpenRole): string {
  if (unhashed === null) return role;
  return named ? `${role} (${unhashedWords(unhashed)})` : unhashedWords(unhashed);
}

const WORDS: Record<EntryRole, string> = {
  stream: 'the stream',
  sequence: 'the sequence number',
  link: 'the link to the entry before',
  time: 'the time',
  actor: 'the actor',
  action: 'the action',
  resource: 'the resource',
};

const SHOWN = 10;

function barReason(bars: readonly OpenRole[]): string {
  const named = bars.filter((bar) => bar.named && bar.unhashed !== null);
  const unsaid = bars.filter((bar) => bar.unhashed === null);
  const perhaps = bars.filter((bar) => !bar.named);
  const reasons: string[] = [];
  if (named.length > 0)
    reasons.push(`digests do not cover ${shown(named.map((bar) => `${WORDS[bar.role]} (${wordsOf(bar)})`))}`);
  if (unsaid.length > 0) reasons.push(`entries do not say ${shown(unsaid.map(({ role }) => WORDS[role]))}`);
  if (perhaps.length > 0)
    reasons.push(
      `digests do not cover ${shown(perhaps.map(wordsOf))}, and the contract does not say that it is not ${either(perhaps.map(({ role }) => WORDS[role]))}`,
    );
  const names = [...new Set([...named, ...unsaid].map(({ role }) => role)), ...distinct(perhaps)];
  return `${reasons.join('; ')}; who accepts that says so of: ${names.slice(0, SHOWN).join(',')}`;
}

function distinct(bars: readonly OpenRole[]): string[] {
  return [...new Set(bars.map(wordsOf))];
}

function wordsOf({ unhashed }: OpenRole): string {
  return unhashed === null ? '' : unhashedWords(unhashed);
}

function shown(texts: readonly string[]): string {
  const all = [...new Set(texts)];
  const more = all.length > SHOWN ? ` and ${all.length - SHOWN} more` : '';
  return all.slice(0, SHOWN).join(', ') + more;
}

function either(texts: readonly string[]): string {
  return [...new Set(texts)].join(' or ');
}

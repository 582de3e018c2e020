import { promisify } from 'node:util';
import { inflate } from 'node:zlib';

const inflated = promisify(inflate);

/** The dictionary of a node, with the list of its pages, is not longer than this. */
const MAX_NODE_BYTES = 2 ** 20;
/** How far before its data the dictionary of a stream may begin. */
const MAX_DICTIONARY_BYTES = 4096;

/**
 * Whether a node of the page tree names more pages than it counts (ISO 32000-1, section 7.7.3.2): some viewers show them,
 * others do not. Seen where the node's own dictionary holds both, in the open or in an object stream.
 * @param limit of an object stream, inflated.
 */
export async function namesMorePagesThanItCounts(document: Uint8Array, limit: number): Promise<boolean> {
  const bytes = Buffer.from(document.buffer, document.byteOffset, document.byteLength);
  if (hasSuchNode(bytes)) return true;
  for (let at = bytes.indexOf('/ObjStm'); at !== -1; at = bytes.indexOf('/ObjStm', at + 7)) {
    const objects = await objectsAt(bytes, at, limit);
    if (objects !== null && hasSuchNode(objects)) return true;
  }
  return false;
}

/** Null for what is no deflated stream. */
async function objectsAt(bytes: Buffer, at: number, limit: number): Promise<Buffer | null> {
  const mark = bytes.subarray(at, at + MAX_DICTIONARY_BYTES).indexOf('stream');
  if (mark === -1) return null;
  let start = at + mark + 6;
  if (bytes[start] === 0x0d) start++;
  if (bytes[start] === 0x0a) start++;
  return inflated(bytes.subarray(start), { maxOutputLength: limit }).catch(() => null);
}

function hasSuchNode(bytes: Buffer): boolean {
  for (let at = bytes.indexOf('/Kids'); at !== -1; at = bytes.indexOf('/Kids', at + 5)) {
    const around = bytes.subarray(Math.max(0, at - MAX_NODE_BYTES), at + MAX_NODE_BYTES).toString('latin1');
    const node = dictionaryAround(around, Math.min(at, MAX_NODE_BYTES));
    if (!/\/Type\s*\/Pages(?![A-Za-z])/.test(node)) continue;
    const [, count] = /\/Count\s+(\d+)(?!\s+\d+\s+R|\d)/.exec(node) ?? [];
    const [, kids = ''] = /\/Kids\s*\[([^\]]*)\]/.exec(node) ?? [];
    const named = kids.match(/\d+\s+\d+\s+R/g)?.length ?? 0;
    if (count !== undefined && named > Number(count)) return true;
  }
  return false;
}

/** The innermost dictionary that holds a place; empty where it is not whole. */
function dictionaryAround(text: string, place: number): string {
  let depth = 0;
  let start = place;
  for (; start >= 0 && depth < 1; start--) {
    const pair = text.slice(start, start + 2);
    if (pair === '<<') depth++;
    else if (pair === '>>') depth--;
    if (pair === '<<' || pair === '>>') start--;
  }
  if (depth < 1) return '';
  start += 2;
  depth = 0;
  for (let end = start; end < text.length; end++) {
    const pair = text.slice(end, end + 2);
    if (pair === '<<') depth++;
    else if (pair === '>>') depth--;
    if (pair === '<<' || pair === '>>') end++;
    if (depth === 0) return text.slice(start, end + 1);
  }
  return '';
}

import { execFileSync } from 'node:child_process';
import { createHash, createHmac } from 'node:crypto';
import { join } from 'node:path';
import { camel } from './camel.ts';
import { fastApi } from './fastapi.ts';
import type { ServiceKind } from './invented-service.ts';
import { results } from './results.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers of three services, each with its own schema.
export type Json = any;

/** A client for a known service, written independently of the services. */
export interface Client {
  kind: ServiceKind;
  /** Query for one stream's entries in a period. */
  query(stream: string, from?: string, to?: string): string;
  generateBody(stream: string, from?: string, to?: string): object;
  items(page: Json): Json[];
  /** Returns the address of the next page. */
  next(url: URL, page: Json): string | null;
  packageId(answer: Json): string;
  entries(evidence: Json): Json[];
  stated(evidence: Json): { count: number; head: string | null };
  /** [number, previous digest, digest] */
  link(entry: Json): [number, string | null, string];
  /** Computes digests from the texts as sent; null without the key. */
  digests(texts: string[], keys: Record<string, string>): (string | null)[];
  seal?(entry: Json, keys: Record<string, string>): { stated: string; ours: string | null };
  /** Value of `previous` in the first entry, and only there. */
  genesis: string | null;
  verdict: string | null;
}

export const CLIENTS: [string, Client][] = [
  [
    'FastAPI style',
    {
      kind: fastApi,
      query: (stream, from, to) => query({ stream_id: stream, start_date: from, end_date: to }),
      generateBody: (stream_id, start_date, end_date) => ({ stream_id, start_date, end_date }),
      items: (page) => page,
      next: (url, page) => {
        if (page.length === 0) return null;
        const skip = Number(url.searchParams.get('skip') ?? 0) + page.length;
        return withParameter(url, 'skip', String(skip));
      },
      packageId: (answer) => answer.id,
      entries: (evidence) => evidence.audit_logs,
      stated: (evidence) => ({ count: evidence.package.total_entries, head: evidence.package.head_hash }),
      link: (entry) => [entry.seq, entry.previous_hash, entry.entry_hash],
      digests: (texts) => {
        const script = join(import.meta.dirname, 'python-digests.py');
        const output = execFileSync('python3', [script], { input: texts.join('\n'), encoding: 'utf8' });
        return output.split('\n').slice(0, texts.length);
      },
      seal: (entry, keys) => ({
        stated: entry.signature,
        ours: hmac('sha256', keys[entry.key_version], entry.entry_hash, 'hex'),
      }),
      genesis: '0'.repeat(64),
      verdict: 'is_valid',
    },
  ],
  [
    'camelCase',
    {
      kind: camel,
      query: (stream, from, to) => query({ streamId: stream, since: from, until: to }),
      generateBody: (streamId, since, until) => ({ streamId, since, until }),
      items: (page) => page.items,
      next: (url, page) => (page.nextToken === undefined ? null : withParameter(url, 'pageToken', page.nextToken)),
      packageId: (answer) => answer.packageId,
      entries: (evidence) => evidence.records,
      stated: (evidence) => ({ count: evidence.recordCount, head: evidence.lastDigest }),
      link: (entry) => [entry.sequenceNumber, entry.prevDigest, entry.digest],
      digests: (texts) =>
        texts.map((text) => {
          const one = JSON.parse(text);
          const covered = [one.streamId, one.sequenceNumber, one.recordedAt, one.actor, one.action];
          return createHash('sha512')
            .update([...covered, one.resourceType, one.resourceId, one.prevDigest].join('|'))
            .digest('base64url');
        }),
      seal: (entry, keys) => ({
        stated: entry.signature,
        ours: hmac('sha512', keys[entry.signatureKeyId], entry.digest, 'base64'),
      }),
      genesis: '',
      verdict: 'valid',
    },
  ],
  [
    'results and next',
    {
      kind: results,
      query: (stream, from, to) => query({ stream, date_from: from, date_to: to }),
      generateBody: (stream, date_from, date_to) => ({ stream, date_from, date_to }),
      items: (page) => page.results,
      next: (_url, page) => page.next,
      packageId: (answer) => answer.data.package.uuid,
      entries: (evidence) => evidence.data.entries,
      stated: (evidence) => ({ count: evidence.data.meta.count, head: evidence.data.meta.last_mac }),
      link: (entry) => [entry.position, entry.prev_mac, entry.mac],
      digests: (texts, keys) =>
        texts.map((text) => {
          const { key_id, prev_mac } = JSON.parse(text);
          const covered = text.replace(/,"prev_mac":(?:null|"\w+"),"mac":"\w+"\}$/, '}');
          return hmac('sha256', keys[key_id], `${prev_mac ?? ''}\n${covered}`, 'hex');
        }),
      genesis: null,
      verdict: null,
    },
  ],
];

function query(members: Record<string, string | undefined>): string {
  const stated = Object.entries(members).filter((pair): pair is [string, string] => pair[1] !== undefined);
  return new URLSearchParams(stated).toString();
}

function withParameter(url: URL, name: string, value: string): string {
  const next = new URL(url);
  next.searchParams.set(name, value);
  return next.href;
}

function hmac(algorithm: string, key: string | undefined, text: string, encoding: 'hex' | 'base64'): string | null {
  return key === undefined ? null : createHmac(algorithm, key).update(text).digest(encoding);
}

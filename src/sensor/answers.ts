import { EvidenceError } from '../core/errors.ts';

/** Settings of the service for scans, and its end of the chain of reports. */
export interface SensorSettings {
  endpointId: string;
  name: string;
  roots: string[];
  otherFilesystems: string[];
  scanIntervalSeconds: number;
  /**
   * Public key that verifies the endpoint's reports, in the form of `toPublicKeyText`; null before it is registered.
   */
  publicKey: string | null;
  next: NextReport;
  /** Root hash of the last accepted report. */
  lastRootHash: string | null;
  /** Files that are traps. */
  bait: WantedBait[];
}

/** File that the service wants planted or removed. */
export interface WantedBait {
  bait_id: string;
  path: string;
  /** Permissions in octal. */
  mode: string;
  /** Owner of the file; if null, the owner of its folder. */
  uid: number | null;
  gid: number | null;
  wanted: 'planted' | 'removed';
  /** Content of the file; null after the service knows that the file is planted. */
  content: string | null;
}

export interface NextReport {
  sequence: number;
  previousReportSha256: string | null;
  nonce: string;
}

/** Answer to a report that is complete and applied. */
export interface AcceptedReport {
  reportSha256: string;
  next: NextReport;
  /** State of the endpoint, for people. */
  message: string;
  events: { open: number; raised: number; resolved: number };
}

/** Reads the members of an object from outside by type. A member of the wrong type makes the whole answer invalid. */
class Members {
  readonly #members: Record<string, unknown>;
  readonly #what: string;

  constructor(value: unknown, what: string) {
    if (typeof value !== 'object' || value === null) throw unfit(what);
    this.#members = value as Record<string, unknown>;
    this.#what = what;
  }

  object(name: string): Members {
    return new Members(this.#members[name], `${this.#what}.${name}`);
  }

  text(name: string): string {
    return this.#of(name, (value) => typeof value === 'string');
  }

  textOrNull(name: string): string | null {
    return this.#of(name, (value) => value === null || typeof value === 'string');
  }

  count(name: string): number {
    return this.#of(name, (value) => Number.isSafeInteger(value) && (value as number) >= 0);
  }

  countOrNull(name: string): number | null {
    return this.#members[name] === null ? null : this.count(name);
  }

  list<T>(name: string, toItem: (members: Members) => T): T[] {
    const items = this.#of<unknown[]>(name, Array.isArray);
    return items.map((item) => toItem(new Members(item, `${this.#what}.${name}`)));
  }

  paths(name: string): string[] {
    const isPath = (value: unknown) => typeof value === 'string' && value.startsWith('/') && !value.includes('\0');
    return this.#of(name, (value) => Array.isArray(value) && value.every(isPath));
  }

  #of<T>(name: string, isRight: (value: unknown) => boolean): T {
    const value = this.#members[name];
    if (!isRight(value)) throw unfit(`${this.#what}.${name}`);
    return value as T;
  }
}

/** @throws EvidenceError `service` for any other answer, as do the functions below. */
export function toSettings(value: unknown): SensorSettings {
  const members = new Members(value, 'settings');
  return {
    endpointId: members.text('endpoint_id'),
    name: members.text('name'),
    roots: members.paths('roots'),
    otherFilesystems: members.paths('other_filesystems'),
    scanIntervalSeconds: members.count('scan_interval_seconds'),
    publicKey: members.textOrNull('public_key'),
    next: toNext(members.object('next')),
    lastRootHash: members.textOrNull('last_root_hash'),
    bait: members.list('bait', toBait),
  };
}

function toBait(members: Members): WantedBait {
  const [mode, wanted] = [members.text('mode'), members.text('wanted')];
  if (!/^0[0-7]{3}$/.test(mode) || (wanted !== 'planted' && wanted !== 'removed')) throw unfit('settings.bait');
  return {
    bait_id: members.text('bait_id'),
    path: members.text('path'),
    mode,
    wanted,
    uid: members.countOrNull('uid'),
    gid: members.countOrNull('gid'),
    content: members.textOrNull('content'),
  };
}

export function toAccepted(value: unknown): AcceptedReport {
  const members = new Members(value, 'answer');
  const events = members.object('events');
  return {
    reportSha256: members.text('report_sha256'),
    next: toNext(members.object('next')),
    message: members.text('message'),
    events: { open: events.count('open'), raised: events.count('raised'), resolved: events.count('resolved') },
  };
}

/** @returns the part that the service requests next. */
export function toNextPart(value: unknown): number {
  return new Members(value, 'answer').count('next_part');
}

function toNext(members: Members): NextReport {
  return {
    sequence: members.count('sequence'),
    previousReportSha256: members.textOrNull('previous_report_sha256'),
    nonce: members.text('nonce'),
  };
}

function unfit(what: string): EvidenceError {
  return new EvidenceError('service', `the service sent no valid ${what}`, {
    nextStep: 'Check that --url names the endpoint service, e.g. https://evidence.example.org/endpoints.',
  });
}

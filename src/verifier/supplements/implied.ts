import type { Json } from '../../core/json/canonical.ts';
import { valueAt } from '../profile/path.ts';
import type { EntryDescription, LaterEntryDescription, SupplementsDescription } from '../profile/supplements.ts';
import { isKind, readEntryText } from './comparing.ts';
import type { RecordKind } from './files.ts';
import { describeRecords } from './reading.ts';

/** Statement of an entry about a record: that it exists, or a later change. */
export interface Implied {
  kind: RecordKind;
  id: string;
  isFirst: boolean;
}

interface Kind {
  kind: RecordKind;
  idPath: string;
  entry: EntryDescription;
}

/** Finds the records that entries of a stream are about. */
export class ImpliedRecords {
  readonly #kinds: Kind[];

  /** @param kinds collected kinds. */
  constructor(supplements: SupplementsDescription | undefined, kinds: readonly RecordKind[]) {
    this.#kinds = kinds.flatMap((kind) => {
      const { id = '', entry = null } = (supplements && describeRecords(supplements, kind)) ?? {};
      return entry === null ? [] : [{ kind, idPath: entry.says[id] ?? '', entry }];
    });
  }

  /** Reports whether entries of a stream can be about records. */
  concerns(streamId: string): boolean {
    return this.#kinds.some(({ entry: { stream } }) => stream === null || fits(stream, streamId));
  }

  /** @param bytes of an entry of the stream. */
  of(streamId: string, bytes: Uint8Array): Implied[] {
    const value = readEntryText(bytes)?.value;
    if (value === undefined) return [];
    return this.#kinds
      .filter(({ entry: { stream } }) => stream === null || fits(stream, streamId))
      .flatMap(({ kind, idPath, entry }) => [
        ...idsIn(value, { ...entry, id: idPath }).map((id) => ({ kind, id, isFirst: true })),
        ...entry.later.flatMap((one) => idsIn(value, one).map((id) => ({ kind, id, isFirst: false }))),
      ]);
  }
}

/** Reports whether a stream's id matches a template with fields of a record. */
function fits(template: string, streamId: string): boolean {
  const parts = template.split(/\{[^{}]+\}/).map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  return new RegExp(`^${parts.join('.+')}$`, 's').test(streamId);
}

function idsIn(entry: Json, { is, within, id }: Pick<LaterEntryDescription, 'is' | 'within' | 'id'>): string[] {
  if (!isKind(entry, is)) return [];
  const items = within === null ? [entry] : valueAt(entry, within);
  const ids = (Array.isArray(items) ? items : []).map((item) => valueAt(item, id));
  return [...new Set(ids.filter((found) => typeof found === 'string'))];
}

import { z } from 'zod';
import type { Json } from '../../../core/json/canonical.ts';
import { invalidField } from '../../errors.ts';
import type { DecoyKind, DecoyPlace } from '../decoys/decoy.ts';
import type { Channel, PlantedType, PlantLocation } from '../enums.ts';
import type { TrapMark } from '../use.ts';
import type { WireMadeTrap } from '../wire.ts';

/** Request for a trap. */
export interface TrapInput {
  plantLocation: PlantLocation;
  /** Name of the trap, which does not appear in the planted artifact. */
  label: string;
  /** Decoy that the trap leads to; null if the type needs none or none is configured. */
  decoy: DecoyPlace | null;
  /** All listening decoys, for a type with parts of several kinds. */
  places: readonly DecoyPlace[];
  /** Public address of the platform, for its own channels. */
  publicUrl: string;
  /** Options of the type, checked by its schema. */
  options: { [name: string]: Json };
  now: Date;
}

/** Artifact to plant, a file or a part of one, with instructions for the person who plants it. */
export type Artifact = WireMadeTrap['artifact'];

/** New credential, before it is stored. */
export interface MadeTrap {
  /** Parts of the credential, by the names that clients use. */
  credential: { [name: string]: Json };
  artifact: Artifact;
  /** Marks by which uses are recognized. */
  marks: readonly TrapMark[];
  /** Channels that can detect uses. */
  channels: readonly Channel[];
  /** Recognizable part of the credential that is not secret. */
  knownAs: string;
  /**
   * Parts of a trap with several credentials, each used separately at its own decoy. The credential of a part is stored
   * under its type.
   */
  parts?: readonly TrapPart[];
}

/** One of several credentials of a trap. */
export interface TrapPart {
  type: PlantedType;
  /** Name of the decoy that the part leads to. */
  decoy: string;
  channels: readonly Channel[];
}

/** Kind of credential. */
export interface TrapType {
  type: PlantedType;
  /** Kind of decoy that the trap leads to; null for none. */
  decoy: DecoyKind | null;
  /** True if a use can be detected only by the decoy. */
  needsDecoy: boolean;
  /** True if the trap leads to all available decoys, of which there must be at least one. */
  needsAnyDecoy?: true;
  /** @throws DomainError `invalid_request` for unknown options. */
  make(input: TrapInput): Promise<MadeTrap>;
}

/** Returns the decoy of a type that cannot be made without one. */
export function neededDecoy({ decoy }: TrapInput): DecoyPlace {
  if (decoy === null) throw new Error('a type that needs a decoy was made without one');
  return decoy;
}

/** Reads the options of a type. @throws DomainError `invalid_request` with the unknown or invalid option. */
export function readOptions<T>(schema: z.ZodType<T>, { options }: TrapInput): T {
  const read = schema.safeParse(options);
  if (read.success) return read.data;
  throw invalidField('options', `${z.prettifyError(read.error).replaceAll(/\s+/g, ' ')}`);
}

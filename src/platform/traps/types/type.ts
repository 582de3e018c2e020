import { z } from 'zod';
import type { Json } from '../../../core/json/canonical.ts';
import { invalidField } from '../../errors.ts';
import type { DecoyKind, DecoyPlace } from '../decoys/decoy.ts';
import type { Channel, PlantedType, PlantLocation } from '../enums.ts';
import type { TrapMark } from '../use.ts';
import type { WireMadeTrap } from '../wire.ts';

/** A request for a trap. */
export interface TrapInput {
  plantLocation: PlantLocation;
  /** The trap's name here; it appears nowhere in the planted artifact. */
  label: string;
  /** The decoy that it leads to; null where the type needs none, or none is configured. */
  decoy: DecoyPlace | null;
  /** All that listen, for a type that has parts of several kinds. */
  places: readonly DecoyPlace[];
  /** The public address of the platform, for channels of its own. */
  publicUrl: string;
  /** More that the type is told, checked by its schema. */
  options: { [name: string]: Json };
  now: Date;
}

/** The artifact to plant, a file or a line of one, with instructions for the person who plants it. */
export type Artifact = WireMadeTrap['artifact'];

/** A new credential, before it is stored. */
export interface MadeTrap {
  /** Its parts, by the names that its clients use. */
  credential: { [name: string]: Json };
  artifact: Artifact;
  /** Marks by which its uses are recognized. */
  marks: readonly TrapMark[];
  /** By what its uses can be seen at all. */
  channels: readonly Channel[];
  /** A part of it that is no secret and tells it from others, for people. */
  knownAs: string;
  /**
   * Parts of a trap that has several: each is used by itself, at a decoy of its own. Its credential stands under its
   * type.
   */
  parts?: readonly TrapPart[];
}

/** One of several credentials of a trap. */
export interface TrapPart {
  type: PlantedType;
  /** The name of the decoy that it leads to. */
  decoy: string;
  channels: readonly Channel[];
}

/** One kind of credential. */
export interface TrapType {
  type: PlantedType;
  /** The kind of decoy that it leads to; null for none. */
  decoy: DecoyKind | null;
  /** Without its decoy nobody would ever see a use. */
  needsDecoy: boolean;
  /** It leads to whatever decoys there are, and to one at least. */
  needsAnyDecoy?: true;
  /** @throws DomainError `invalid_request` for options that it does not know. */
  make(input: TrapInput): Promise<MadeTrap>;
}

/** The decoy of a type that is made with one only. */
export function neededDecoy({ decoy }: TrapInput): DecoyPlace {
  if (decoy === null) throw new Error('a type that needs a decoy was made without one');
  return decoy;
}

/** Reads the options of a type. @throws DomainError `invalid_request` naming an unknown or wrong one. */
export function readOptions<T>(schema: z.ZodType<T>, { options }: TrapInput): T {
  const read = schema.safeParse(options);
  if (read.success) return read.data;
  throw invalidField('options', `${z.prettifyError(read.error).replaceAll(/\s+/g, ' ')}`);
}

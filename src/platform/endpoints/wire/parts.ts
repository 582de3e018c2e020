import { z } from 'zod';
import { text } from '../../http/fields.ts';

/** A path of Linux is shorter; one that is not UTF-8 is a third longer in base64. */
export const pathText = text.min(1).max(8192);

/** Parts of one scan, at most: half a million lines. */
export const MOST_PARTS = 250;

export const sha256Hex = z.string().regex(/^[0-9a-f]{64}$/, 'is not SHA-256 in lower-case hex');

/** The name of a person or a thing. */
export const shortName = text.trim().min(1).max(200);

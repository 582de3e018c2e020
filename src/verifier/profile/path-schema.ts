import { z } from 'zod';

/** The path of a value in a JSON object: names joined by dots; an empty path is the value itself. */
export const path = z.string().regex(/^(?:[^.]+(?:\.[^.]+)*)?$/, 'must be names joined by dots');

import { z } from 'zod';

/** Path of a value in a JSON object: names joined by dots. The empty path is the value itself. */
export const path = z.string().regex(/^(?:[^.]+(?:\.[^.]+)*)?$/, 'must be names joined by dots');

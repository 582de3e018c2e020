import { z } from 'zod';
import { text } from '../../http/fields.ts';

export const agentParamsSchema = z.object({ agent_id: text });

export const givenReason = text.trim().min(1).max(2000);
export const reasonBodySchema = z.strictObject({ reason: givenReason });

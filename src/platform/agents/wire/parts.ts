import { z } from 'zod';
import { reason, text } from '../../http/fields.ts';

export const agentParamsSchema = z.object({ agent_id: text });
export const reasonBodySchema = z.strictObject({ reason });

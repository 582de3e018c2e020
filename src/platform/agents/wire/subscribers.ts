import { z } from 'zod';
import { text } from '../../http/fields.ts';

export const subscriberSchema = z.strictObject({
  /** http or https; tokens are pushed to it (RFC 8935). */
  url: text
    .min(1)
    .max(2000)
    .refine((url) => /^https?:$/.test(URL.parse(url)?.protocol ?? ''), 'is not an http or https address')
    .refine(
      (url) => !/:\/\/[^/]*@/.test(URL.parse(url)?.href ?? ''),
      'has a user or a password in it; tokens are signed',
    ),
  /** `aud` of its tokens. */
  audience: text.trim().min(1).max(500),
});
export type NewSubscriber = z.output<typeof subscriberSchema>;

export const subscriberParamsSchema = z.object({ subscriber_id: text });

export const wireSubscriberSchema = z.object({
  subscriber_id: z.string(),
  url: z.string(),
  audience: z.string(),
  added_at: z.string(),
  added_by: z.string(),
});
export type WireSubscriber = z.infer<typeof wireSubscriberSchema>;
export const subscriberListSchema = z.object({ data: z.array(wireSubscriberSchema) });

/** Webhooks, for admins: URLs of the game's bot, their events, and the state of deliveries (Standard Webhooks 1.0). */
import { z } from 'zod'
import { call } from '#src/call.ts'
import { type WebhookEvent, webhookEvents } from './fields.ts'
import { idField } from '#src/field-schemas.ts'
import { withoutInvisible } from '#src/text.ts'

const MAX_URL_LENGTH = 2048
/** Port 0 is not usable. */
const PORT_0 = /^https?:\/\/[^/?]*:0+([/?]|$)/i
const anyUrl = z.url({ protocol: /^https?$/ })
/** No user info: a password in the URL would be visible to every admin. */
const ADDRESS = /^https?:\/\/[^\s@#/?\\]+([/?][^\s#]*)?$/i

const webhookUrlField = z
  .string('Address is required')
  .overwrite(withoutInvisible)
  .min(1, 'Address is required')
  .max(MAX_URL_LENGTH, `Address must be at most ${MAX_URL_LENGTH} characters`)
  .refine(
    (text) => ADDRESS.test(text) && anyUrl.safeParse(text).success,
    'Address must be https://…, without a password or a fragment',
  )
  .refine((text) => !PORT_0.test(text), 'Address must have a port from 1 to 65535, or none')

const eventField = z.enum(Object.keys(webhookEvents) as WebhookEvent[])

/** The form for a new webhook. */
export const webhookInput = z.strictObject({
  url: webhookUrlField,
  events: z.array(eventField).min(1, 'Choose at least one event').refine(isDistinct, 'Choose each event once'),
})
export type WebhookInput = z.infer<typeof webhookInput>

function isDistinct(events: readonly WebhookEvent[]): boolean {
  return new Set(events).size === events.length
}

const moment = z.iso.datetime()

export const webhook = z.object({
  id: idField,
  url: z.string(),
  events: z.array(eventField),
  createdAt: moment,
  isActive: z.boolean(),
  /** Since when deliveries have failed; null if the last one succeeded. */
  failingSince: moment.nullable(),
  /** Why the console switched the webhook off by itself. */
  alert: z.string().nullable(),
  /** Deliveries that wait for their first or next attempt. */
  waiting: z.int(),
})
export type Webhook = z.infer<typeof webhook>

export const webhookDelivery = z.object({
  id: idField,
  event: z.string(),
  createdAt: moment,
  state: z.enum(['waiting', 'delivered', 'failed']),
  attempts: z.int(),
  triedAt: moment.nullable(),
  /** When the next attempt is due. */
  nextAt: moment.nullable(),
  /** The result of the last attempt. */
  result: z.string().nullable(),
  payload: z.string(),
})
export type WebhookDelivery = z.infer<typeof webhookDelivery>

const done = z.object({ success: z.literal(true) })
const tags = ['Webhooks']
const ofOne = z.strictObject({ id: idField })

export const webhooks = {
  list: call(['admin'], { needs: 'webhooks.manage' })
    .route({ method: 'GET', path: '/api/webhooks', tags, summary: 'All webhooks, and how they are' })
    .output(z.object({ webhooks: z.array(webhook) })),
  create: call(['admin'], { needs: 'webhooks.manage', stepUp: true, heedsIdempotencyKey: true })
    .route({
      method: 'POST',
      path: '/api/webhooks',
      tags,
      summary: 'Add a webhook; the answer alone shows the secret that it is signed with',
    })
    .input(webhookInput)
    .output(done.extend({ id: idField, secret: z.string() })),
  setActive: call(['admin'], { needs: 'webhooks.manage' })
    .route({ method: 'POST', path: '/api/webhooks/{id}/status', tags, summary: 'Switch a webhook on or off; what waits stays' })
    .input(z.strictObject({ id: idField, isActive: z.boolean() }))
    .output(done),
  remove: call(['admin'], { needs: 'webhooks.manage', onFullDisk: 'small' })
    .route({ method: 'DELETE', path: '/api/webhooks/{id}', tags, summary: 'Delete a webhook with all its deliveries' })
    .input(ofOne)
    .output(done),
  test: call(['admin'], { needs: 'webhooks.manage' })
    .route({ method: 'POST', path: '/api/webhooks/{id}/test', tags, summary: 'Send an event of the type `test`' })
    .input(ofOne)
    .output(done),
  deliveries: call(['admin'], { needs: 'webhooks.manage' })
    .route({ method: 'GET', path: '/api/webhooks/{id}/deliveries', tags, summary: 'The last 50 deliveries, newest first' })
    .input(ofOne)
    .output(z.object({ deliveries: z.array(webhookDelivery) })),
  replay: call(['admin'], { needs: 'webhooks.manage' })
    .route({
      method: 'POST',
      path: '/api/webhooks/{id}/deliveries/{deliveryId}/replay',
      tags,
      summary: 'Send a delivery again, under the same id, whatever became of it',
    })
    .input(z.strictObject({ id: idField, deliveryId: idField }))
    .output(done),
}

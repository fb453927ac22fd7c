/**
 * Signing in with a service that speaks OpenID Connect, such as Telegram: one's own link to an account there, and signing in with it. The
 * service sends the browser back to the page `/auth/oidc`, which makes the call that finishes.
 */
import { z } from 'zod'
import { sessionUser } from '#src/auth/calls.ts'
import { call } from '#src/call.ts'

/** What the service adds to the address of the page that it sends the browser back to. Further parameters are not read. */
const answerInput = z.strictObject({
  code: z.string().min(1).max(2048),
  state: z.string().min(1).max(100),
  /** The issuer, from services that name themselves (RFC 9207). */
  iss: z.string().max(500).optional(),
})

const done = z.object({ success: z.literal(true) })
/** Where to send the browser. */
const departure = z.object({ address: z.url() })
const tags = ['Sign-in service']

export const oidc = {
  state: call(['admin'], { needs: 'account.own' })
    .route({ method: 'GET', path: '/api/account/oidc', tags, summary: 'One’s own link to the sign-in service' })
    .output(
      z.object({
        /** The name of the service, such as Telegram; null if the console has none. */
        service: z.string().nullable(),
        link: z
          .object({
            /** The name of the person there; null if the service does not tell it. */
            name: z.string().nullable(),
            linkedAt: z.iso.datetime(),
            lastUsedAt: z.iso.datetime().nullable(),
          })
          .nullable(),
      }),
    ),
  beginLink: call(['admin'], { needs: 'account.own', stepUp: true, waitsForService: true })
    .route({
      method: 'POST',
      path: '/api/account/oidc/begin',
      tags,
      summary: 'Where a browser goes to link an account of the sign-in service, within ten minutes',
    })
    .output(departure),
  link: call(['admin'], { needs: 'account.own', waitsForService: true })
    .route({
      method: 'POST',
      path: '/api/account/oidc',
      tags,
      summary: 'Link the account with which the browser has come back; one’s other sessions end',
    })
    .input(answerInput)
    .output(done),
  unlink: call(['admin'], { needs: 'account.own', stepUp: true })
    .route({
      method: 'DELETE',
      path: '/api/account/oidc',
      tags,
      summary: 'Unlink one’s account of the sign-in service; one’s other sessions end',
    })
    .output(done),

  beginSignIn: call(['guest'], { onFullDisk: 'small', waitsForService: true })
    .route({
      method: 'POST',
      path: '/api/session/oidc/begin',
      tags,
      summary: 'Where a browser goes to sign in with the sign-in service, within ten minutes',
    })
    .output(departure),
  signIn: call(['guest'], { onFullDisk: 'small', waitsForService: true })
    .route({
      method: 'POST',
      path: '/api/session/oidc',
      tags,
      summary: 'Sign in with the linked account with which the browser has come back',
    })
    .input(answerInput)
    .output(done.extend({ user: sessionUser })),
}

/**
 * Passkeys (WebAuthn level 3): one's own, signing in with one instead of the password. Options and responses have the JSON forms of the
 * standard, which browsers read and write (PublicKeyCredential, 5.1).
 */
import { z } from 'zod'
import { sessionUser } from '#src/auth/calls.ts'
import { call } from '#src/call.ts'
import { textField } from '#src/field-schemas.ts'

const MAX_NAME_LENGTH = 60

const nameField = textField('Name', MAX_NAME_LENGTH)
/** The form of a passkey's name. */
export const passkeyNameInput = z.strictObject({ name: nameField })
export type PasskeyNameInput = z.infer<typeof passkeyNameInput>

export const passkey = z.object({
  id: z.uuid(),
  name: z.string(),
  createdAt: z.iso.datetime(),
  lastUsedAt: z.iso.datetime().nullable(),
  /** Whether the passkey can be on several devices of the person, such as those of one password manager. */
  isSynced: z.boolean(),
})
export type Passkey = z.infer<typeof passkey>

/** Bytes in base64url without padding. A byte takes 4/3 characters. */
function bytesField(maxBytes: number) {
  return z
    .string()
    .min(1)
    .max(Math.ceil((maxBytes * 4) / 3))
    .regex(/^[\w-]+$/)
}

// The longest id of a credential has 1,023 bytes (5.1.3); the other limits are several times what authenticators send.
const credentialFields = {
  id: bytesField(1023),
  rawId: bytesField(1023),
  type: z.literal('public-key'),
  authenticatorAttachment: z.string().max(40).nullish(),
  /** Not read. */
  clientExtensionResults: z.unknown().optional(),
}
const clientDataField = bytesField(4096)
const authenticatorDataField = bytesField(4096)

/** What `navigator.credentials.create` returned. Further fields, which a later version of the standard may add, are not read. */
export const registrationResponse = z.object({
  ...credentialFields,
  response: z.object({
    clientDataJSON: clientDataField,
    attestationObject: bytesField(16_384),
    transports: z.array(z.string().max(40)).max(10).optional(),
  }),
})
export type RegistrationResponse = z.infer<typeof registrationResponse>

/** What `navigator.credentials.get` returned. */
export const assertionResponse = z.object({
  ...credentialFields,
  response: z.object({
    clientDataJSON: clientDataField,
    authenticatorData: authenticatorDataField,
    signature: bytesField(2048),
    userHandle: bytesField(64).nullish(),
  }),
})
export type AssertionResponse = z.infer<typeof assertionResponse>

const descriptor = z.object({ id: z.string(), type: z.literal('public-key'), transports: z.array(z.string()).optional() })

/** The argument of `navigator.credentials.create`, in its JSON form. */
const creationOptions = z.object({
  challenge: z.string(),
  rp: z.object({ id: z.string(), name: z.string() }),
  user: z.object({ id: z.string(), name: z.string(), displayName: z.string() }),
  pubKeyCredParams: z.array(z.object({ alg: z.int(), type: z.literal('public-key') })),
  timeout: z.int(),
  attestation: z.literal('none'),
  authenticatorSelection: z.object({ residentKey: z.literal('required'), userVerification: z.literal('required') }),
  excludeCredentials: z.array(descriptor),
})
export type PasskeyCreationOptions = z.infer<typeof creationOptions>

/** The argument of `navigator.credentials.get`, in its JSON form. Without `allowCredentials` the browser lets the person choose. */
const requestOptions = z.object({
  challenge: z.string(),
  rpId: z.string(),
  timeout: z.int(),
  userVerification: z.literal('required'),
  allowCredentials: z.array(descriptor).optional(),
})
export type PasskeyRequestOptions = z.infer<typeof requestOptions>

const done = z.object({ success: z.literal(true) })
const tags = ['Passkeys']
const assertionInput = z.strictObject({ response: assertionResponse })

export const passkeys = {
  list: call(['admin'], { needs: 'account.own' })
    .route({ method: 'GET', path: '/api/account/passkeys', tags, summary: 'One’s own passkeys, the newest first' })
    /** `isPossible`: whether browsers can make passkeys at the address under which the console was asked. */
    .output(z.object({ passkeys: z.array(passkey), isPossible: z.boolean() })),
  options: call(['admin'], { needs: 'account.own', stepUp: true })
    .route({
      method: 'POST',
      path: '/api/account/passkeys/options',
      tags,
      summary: 'What a browser needs to make a passkey, within five minutes',
    })
    .output(z.object({ options: creationOptions })),
  add: call(['admin'], { needs: 'account.own' })
    .route({
      method: 'POST',
      path: '/api/account/passkeys',
      tags,
      summary: 'Add a passkey that a browser has made; one’s other sessions end',
    })
    .input(z.strictObject({ name: nameField, response: registrationResponse }))
    /** `recoveryCodes` with the first passkey of a person who has none: they are not shown again. */
    .output(done.extend({ passkey, recoveryCodes: z.array(z.string()).nullable() })),
  rename: call(['admin'], { needs: 'account.own' })
    .route({ method: 'PATCH', path: '/api/account/passkeys/{id}', tags, summary: 'Rename one of one’s own passkeys' })
    .input(z.strictObject({ id: z.uuid(), name: nameField }))
    .output(done),
  remove: call(['admin'], { needs: 'account.own', stepUp: true })
    .route({
      method: 'DELETE',
      path: '/api/account/passkeys/{id}',
      tags,
      summary: 'Remove one of one’s own passkeys; one’s other sessions end',
    })
    .input(z.strictObject({ id: z.uuid() }))
    .output(done),

  signInOptions: call(['guest'], { onFullDisk: 'small' })
    .route({
      method: 'POST',
      path: '/api/session/passkey-options',
      tags,
      summary: 'What a browser needs to sign in with a passkey, within five minutes',
    })
    .output(z.object({ options: requestOptions })),
  signIn: call(['guest'], { onFullDisk: 'small' })
    .route({ method: 'POST', path: '/api/session/passkey', tags, summary: 'Sign in with a passkey instead of the password' })
    .input(assertionInput)
    .output(done.extend({ user: sessionUser })),

  secondFactorOptions: call(['guest'], { onFullDisk: 'small' })
    .route({
      method: 'POST',
      path: '/api/session/second-factor/passkey-options',
      tags,
      summary: 'What a browser needs to finish a sign-in that asked for the second factor by a passkey',
    })
    .output(z.object({ options: requestOptions })),
  secondFactor: call(['guest'], { onFullDisk: 'small' })
    .route({
      method: 'POST',
      path: '/api/session/second-factor/passkey',
      tags,
      summary: 'Finish a sign-in that asked for the second factor, by a passkey',
    })
    .input(assertionInput)
    .output(done.extend({ user: sessionUser })),
  stepUpOptions: call(['admin'], { needs: 'account.own', onFullDisk: 'small' })
    .route({
      method: 'POST',
      path: '/api/session/step-up/passkey-options',
      tags,
      summary: 'What a browser needs to prove the second factor again by a passkey',
    })
    .output(z.object({ options: requestOptions })),
  stepUp: call(['admin'], { needs: 'account.own', onFullDisk: 'small' })
    .route({
      method: 'POST',
      path: '/api/session/step-up/passkey',
      tags,
      summary: 'Prove the second factor again by a passkey, for the next ten minutes; the session gets a new token',
    })
    .input(assertionInput)
    .output(done),
}

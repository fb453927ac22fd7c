/**
 * Passkeys (WebAuthn level 3): key pairs whose private half stays with a person's device or password manager. Hides challenges, the checks
 * of the standard, counters and the tables. Every use needs user verification (a PIN, finger or face), so that a passkey alone proves two
 * factors. What a key's maker attests is neither asked for nor read.
 */
import { createHash } from 'node:crypto'
import { isIP } from 'node:net'
import { type Kysely, sql } from 'kysely'
import type {
  AssertionResponse,
  Passkey,
  PasskeyCreationOptions,
  PasskeyRequestOptions,
  RegistrationResponse,
} from '@arcade/contract/passkeys/calls'
import type { SessionUser } from '@arcade/contract/auth/calls'
import type { CredentialDeviceType } from '@simplewebauthn/server'
import { Failure } from '#src/calls.ts'
import type { Database } from '#src/db/database.ts'
import type { Tables } from '#src/db/tables.ts'
import { credentialsOf, type MadePasskey, passkeysOf } from './own-passkeys.ts'
import { JOIN_SETTINGS, type PersonRow, sessionUserOf } from './roles.ts'
import { hashToken, newToken } from './tokens.ts'

const VALID_FOR_MS = 5 * 60_000
const RP_NAME = 'Arcade Console'
/** COSE numbers of ES256, EdDSA and RS256, which together all authenticators of today have. */
const ALGORITHMS = [-7, -8, -257]
/** A COSE key of RSA with 4096 bits has about 550 bytes. Checking a signature of a much longer key would take long. */
const MAX_PUBLIC_KEY_BYTES = 700

/** What a challenge was made for: it is good for nothing else. */
export type PasskeyPurpose = 'register' | 'sign-in' | 'second-factor' | 'step-up'

/** The site that passkeys belong to (WebAuthn, 4: relying party). */
export interface RelyingParty {
  /** Its host name. */
  id: string
  origins: string[]
}

/**
 * Returns the site of a request. Browsers make passkeys for host names only, and only over https or on a loopback name. Without PUBLIC_URL
 * only the latter are certain to be ours.
 * @param host the host and port that the request was sent to
 */
export function findRelyingParty(publicOrigin: string | undefined, host: string): RelyingParty | undefined {
  const address = publicOrigin ?? `http://${host}`
  if (!URL.canParse(address)) return undefined
  const { protocol, hostname, origin } = new URL(address)
  const isLoopback = hostname === 'localhost' || hostname.endsWith('.localhost')
  if (isIP(hostname.replace(/^\[(.*)\]$/, '$1')) !== 0) return undefined
  if (publicOrigin !== undefined) return protocol === 'https:' || isLoopback ? { id: hostname, origins: [origin] } : undefined
  return isLoopback ? { id: hostname, origins: [origin, origin.replace('http:', 'https:')] } : undefined
}

/** The library takes half a second of CPU time to load: it is loaded for the first response whose challenge is right. */
const library = () => import('@simplewebauthn/server')
const libraryHelpers = () => import('@simplewebauthn/server/helpers')

/** A passkey that has just proved that its owner is there. */
export interface UsedPasskey {
  id: string
  name: string
  owner: SessionUser
}

export interface Passkeys {
  listOf(userId: string): Promise<Passkey[]>
  /** Returns the options of a person who adds a passkey. */
  creationOptions(party: RelyingParty, user: Pick<SessionUser, 'email' | 'id' | 'username'>): Promise<PasskeyCreationOptions>
  /** Checks a new passkey and uses up its challenge. @throws Failure PASSKEY_REFUSED */
  checkNew(party: RelyingParty, userId: string, response: RegistrationResponse): Promise<MadePasskey>
  /**
   * Returns the options of somebody who proves to be a person.
   * @param userId whose passkeys may be used; null for any, which the browser then lets the person choose
   */
  requestOptions(party: RelyingParty, claimed: { purpose: PasskeyPurpose; userId: string | null }): Promise<PasskeyRequestOptions>
  /** Returns the owner of the passkey that a response claims to be from. */
  ownerOf(response: Pick<AssertionResponse, 'id'>): Promise<SessionUser | undefined>
  /**
   * Checks a response, uses up its challenge and notes the use of the passkey.
   * @param claimed the same as of the options
   * @param onCopied called with the passkey if its counter has not grown, so that it may have been copied; it is refused then
   * @throws Failure PASSKEY_REFUSED
   */
  checkUse(
    party: RelyingParty,
    response: AssertionResponse,
    claimed: { purpose: PasskeyPurpose; userId: string | null; onCopied: (passkey: UsedPasskey) => Promise<void> },
  ): Promise<UsedPasskey>
  /** Deletes expired challenges. */
  sweep(): Promise<void>
}

export function createPasskeys({ db }: Pick<Database, 'db'>): Passkeys {
  return {
    listOf: (userId) => passkeysOf(db, userId),

    async creationOptions(party, { id, email, username }) {
      const challenge = await makeChallenge(db, { purpose: 'register', userId: id })
      return {
        challenge,
        rp: { id: party.id, name: RP_NAME },
        user: { id: userHandle(id), name: email, displayName: username },
        pubKeyCredParams: ALGORITHMS.map((alg) => ({ alg, type: 'public-key' })),
        timeout: VALID_FOR_MS,
        attestation: 'none',
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
        excludeCredentials: await credentialsOf(db, id),
      }
    },

    async checkNew(party, userId, response) {
      const challenge = await takeChallenge(db, response, { purpose: 'register', userId })
      return verifyNew(party, response, challenge).catch(refuse)
    },

    async requestOptions(party, claimed) {
      const { userId } = claimed
      return {
        challenge: await makeChallenge(db, claimed),
        rpId: party.id,
        timeout: VALID_FOR_MS,
        userVerification: 'required',
        ...(userId !== null && { allowCredentials: await credentialsOf(db, userId) }),
      }
    },

    async ownerOf(response) {
      return (await findPasskey(db, response))?.owner
    },

    async checkUse(party, response, { purpose, userId, onCopied }) {
      const challenge = await takeChallenge(db, response, { purpose, userId })
      const found = await findPasskey(db, response)
      if (!found || (userId !== null && found.owner.id !== userId)) throw new Failure('PASSKEY_REFUSED')
      const use = await verifyUse(party, response, { challenge, found }).catch(refuse)
      const { id, name, owner } = found
      const outcome = await noteUse(db, id, use)
      if (outcome === 'noted') return { id, name, owner }
      if (outcome === 'removed') throw new Failure('PASSKEY_REFUSED')
      await onCopied({ id, name, owner })
      throw new Failure('PASSKEY_REFUSED', { message: MAYBE_COPIED })
    },

    async sweep() {
      await db
        .deleteFrom('passkey_challenges')
        .where('expires_at', '<', sql<Date>`now()`)
        .execute()
    },
  }
}

const MAYBE_COPIED =
  'This passkey was refused, because it may have been copied: its counter has not grown. Sign in another way and remove it.'

/** Turns any error of a check into the one that the caller gets. The log has the cause. */
function refuse(cause: unknown): never {
  throw new Failure('PASSKEY_REFUSED', { cause })
}

/** Returns what authenticators store instead of the user's id (WebAuthn, 14.6.1): it must not say who the person is. */
function userHandle(userId: string): string {
  return createHash('sha256').update(userId).digest('base64url')
}

/** Makes a challenge, stores its hash and returns it in base64url. */
async function makeChallenge(
  db: Kysely<Tables>,
  { purpose, userId }: { purpose: PasskeyPurpose; userId: string | null },
): Promise<string> {
  const challenge = newToken()
  await db
    .insertInto('passkey_challenges')
    .values({
      challenge_hash: hashToken(challenge),
      purpose,
      user_id: userId,
      expires_at: sql<Date>`now() + make_interval(secs => ${VALID_FOR_MS / 1000})`,
    })
    .execute()
  return challenge
}

/**
 * Uses up the challenge that a response answers, whether or not the response is right.
 * @returns the challenge in base64url @throws Failure PASSKEY_REFUSED if it is unknown, used, expired, or was made for another purpose or user
 */
async function takeChallenge(
  db: Kysely<Tables>,
  { response: { clientDataJSON } }: { response: { clientDataJSON: string } },
  { purpose, userId }: { purpose: PasskeyPurpose; userId: string | null },
): Promise<string> {
  const challenge = readChallenge(clientDataJSON)
  const { rows } = await sql`
    delete from passkey_challenges
     where challenge_hash = ${hashToken(challenge)}
       and purpose = ${purpose} and user_id is not distinct from ${userId} and expires_at > now()
    returning purpose`.execute(db)
  if (rows.length === 0) throw new Failure('PASSKEY_REFUSED')
  return challenge
}

/** Reads the challenge from the client data, a JSON text in base64url. @throws Failure PASSKEY_REFUSED */
function readChallenge(clientDataJSON: string): string {
  try {
    const { challenge } = JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString()) as { challenge?: unknown }
    if (typeof challenge === 'string') return challenge
  } catch (cause) {
    throw new Failure('PASSKEY_REFUSED', { cause })
  }
  throw new Failure('PASSKEY_REFUSED')
}

/** Checks the response of a browser that has made a passkey (WebAuthn, 7.1). */
async function verifyNew(
  { id: rpId, origins }: RelyingParty,
  response: RegistrationResponse,
  challenge: string,
): Promise<MadePasskey> {
  const [{ verifyRegistrationResponse }, { decodeAttestationObject, isoCBOR, isoBase64URL }] = await Promise.all([
    library(),
    libraryHelpers(),
  ])
  // An attestation may name certificates and addresses, which the library would read. The key's data alone is enough.
  const authData = decodeAttestationObject(isoBase64URL.toBuffer(response.response.attestationObject)).get('authData')
  const unattested = isoCBOR.encode(
    new Map<string, string | Uint8Array | Map<string, never>>([
      ['fmt', 'none'],
      ['attStmt', new Map<string, never>()],
      ['authData', authData],
    ]),
  )
  const { id, rawId, type } = response
  const { registrationInfo } = await verifyRegistrationResponse({
    response: {
      id,
      rawId,
      type,
      clientExtensionResults: {},
      response: {
        clientDataJSON: response.response.clientDataJSON,
        attestationObject: isoBase64URL.fromBuffer(unattested),
      },
    },
    expectedChallenge: challenge,
    expectedOrigin: origins,
    expectedRPID: rpId,
    requireUserVerification: true,
    supportedAlgorithmIDs: ALGORITHMS,
  })
  const { credential, credentialDeviceType, credentialBackedUp } = registrationInfo!
  if (credential.id !== id) throw new Error('The id is not the one that the authenticator has signed')
  if (credential.publicKey.length > MAX_PUBLIC_KEY_BYTES) throw new Error('The public key is too long')
  return {
    credentialId: Buffer.from(credential.id, 'base64url'),
    publicKey: Buffer.from(credential.publicKey),
    counter: credential.counter,
    transports: (response.response.transports ?? []).filter((name) => TRANSPORT.test(name)),
    deviceType: credentialDeviceType,
    isBackedUp: credentialBackedUp,
  }
}

/** Names of transports, which the browser gets back: `usb`, `hybrid`, `smart-card`, and those that the standard will add. */
const TRANSPORT = /^[a-z-]{1,20}$/

interface FoundPasskey extends UsedPasskey {
  credentialId: string
  publicKey: Buffer
}

/** Finds a passkey with its owner by the id that a response has. */
async function findPasskey(db: Kysely<Tables>, { id }: Pick<AssertionResponse, 'id'>): Promise<FoundPasskey | undefined> {
  const { rows } = await sql<PersonRow & { passkey_id: string; name: string; public_key: Buffer }>`
    select u.id, u.fname, u.lname, u.email, u.user_type, u.role, r.sees_personal, false as lacks_factor, p.id as passkey_id, p.name, p.public_key
      from passkeys p join users u on u.id = p.user_id ${sql.raw(JOIN_SETTINGS)}
     where p.credential_id = ${Buffer.from(id, 'base64url')}`.execute(db)
  const [row] = rows
  if (!row) return undefined
  return { id: row.passkey_id, name: row.name, owner: sessionUserOf(row), credentialId: id, publicKey: row.public_key }
}

interface PasskeyUse {
  counter: number
  deviceType: CredentialDeviceType
  isBackedUp: boolean
}

/** Checks the response of a browser that has used a passkey (WebAuthn, 7.2), all but the counter. */
async function verifyUse(
  { id: rpId, origins }: RelyingParty,
  { id, rawId, type, response }: AssertionResponse,
  { challenge, found }: { challenge: string; found: FoundPasskey },
): Promise<PasskeyUse> {
  const { verifyAuthenticationResponse } = await library()
  const { clientDataJSON, authenticatorData, signature, userHandle: handle } = response
  if (typeof handle === 'string' && handle !== userHandle(found.owner.id))
    throw new Error('The passkey was made for another user')
  const { verified, authenticationInfo } = await verifyAuthenticationResponse({
    response: { id, rawId, type, clientExtensionResults: {}, response: { clientDataJSON, authenticatorData, signature } },
    expectedChallenge: challenge,
    expectedOrigin: origins,
    expectedRPID: rpId,
    requireUserVerification: true,
    // The library would compare the counter before the signature; `noteUse` compares it afterwards, for all servers.
    credential: { id: found.credentialId, publicKey: Uint8Array.from(found.publicKey), counter: 0 },
  })
  if (!verified) throw new Error('The signature is wrong')
  const { newCounter: counter, credentialDeviceType: deviceType, credentialBackedUp: isBackedUp } = authenticationInfo
  return { counter, deviceType, isBackedUp }
}

/**
 * Stores a use unless the counter has not grown (WebAuthn, 6.1.1). A counter that stays 0 means that the authenticator has none.
 * @returns `removed` if the passkey was removed meanwhile
 */
async function noteUse(
  db: Kysely<Tables>,
  id: string,
  { counter, deviceType, isBackedUp }: PasskeyUse,
): Promise<'noted' | 'stale' | 'removed'> {
  const { rows: noted } = await sql`
    update passkeys set counter = ${counter}, device_type = ${deviceType}, backed_up = ${isBackedUp}, last_used_at = now()
     where id = ${id} and (counter < ${counter} or (counter = 0 and ${counter} = 0)) returning id`.execute(db)
  if (noted.length > 0) return 'noted'
  const { rows: present } = await sql`select from passkeys where id = ${id}`.execute(db)
  return present.length > 0 ? 'stale' : 'removed'
}

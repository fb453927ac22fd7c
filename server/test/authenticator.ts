/** An authenticator (WebAuthn level 3) for tests: makes keys and signs with them, as a browser would send it, and can be told to do wrong. */
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'

const HOST = 'console.localhost'
const ORIGIN = `http://${HOST}`
const flagBits = { userPresent: 0x01, userVerified: 0x04, backupEligible: 0x08, backedUp: 0x10, hasKey: 0x40 } as const

export interface Deviations {
  origin?: string
  rpId?: string
  /** Such as `webauthn.create`. */
  type?: string
  isVerified?: boolean
  isPresent?: boolean
  /** The COSE number that the key says it is for. */
  algorithm?: number
  counter?: number
  challenge?: string
  format?: string
  userHandle?: string
}

export interface TestPasskey {
  id: string
  /** Of the last use; stays 0 for a passkey that is synced between devices. */
  counter: number
  userHandle: string
  privateKey: KeyObject
}

export interface CreationOptions {
  challenge: string
  user: { id: string }
}

/** Makes a key for the options of the server, and returns it with what the browser sends. */
export function createCredential(options: CreationOptions, deviations: Deviations = {}) {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const id = randomBytes(32)
  const counter = deviations.counter ?? 1
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
  const key = cborMap([
    [cborInteger(1), cborInteger(2)],
    [cborInteger(3), cborInteger(deviations.algorithm ?? -7)],
    [cborInteger(-1), cborInteger(1)],
    [cborInteger(-2), cborBytes(Buffer.from(x, 'base64url'))],
    [cborInteger(-3), cborBytes(Buffer.from(y, 'base64url'))],
  ])
  const length = Buffer.alloc(2)
  length.writeUInt16BE(id.length)
  const data = Buffer.concat([authenticatorData(counter, deviations, true), Buffer.alloc(16), length, id, key])
  const attestation = cborMap([
    [cborText('fmt'), cborText(deviations.format ?? 'none')],
    [cborText('attStmt'), cborMap([])],
    [cborText('authData'), cborBytes(data)],
  ])
  const passkey: TestPasskey = { id: id.toString('base64url'), counter, userHandle: options.user.id, privateKey }
  const response = {
    id: passkey.id,
    rawId: passkey.id,
    type: 'public-key',
    clientExtensionResults: {},
    authenticatorAttachment: 'platform',
    response: {
      clientDataJSON: clientData('webauthn.create', options.challenge, deviations).toString('base64url'),
      attestationObject: attestation.toString('base64url'),
      transports: ['internal'],
      publicKeyAlgorithm: -7,
    },
  }
  return { passkey, response }
}

/** Signs a challenge with a passkey, whose counter grows by 1 unless it is 0. */
export function answerWith(passkey: TestPasskey, options: { challenge: string }, deviations: Deviations = {}) {
  if (deviations.counter === undefined && passkey.counter > 0) passkey.counter += 1
  const data = authenticatorData(deviations.counter ?? passkey.counter, deviations, false)
  const client = clientData('webauthn.get', options.challenge, deviations)
  const signed = Buffer.concat([data, createHash('sha256').update(client).digest()])
  return {
    id: passkey.id,
    rawId: passkey.id,
    type: 'public-key',
    clientExtensionResults: {},
    response: {
      clientDataJSON: client.toString('base64url'),
      authenticatorData: data.toString('base64url'),
      signature: sign('sha256', signed, passkey.privateKey).toString('base64url'),
      userHandle: deviations.userHandle ?? passkey.userHandle,
    },
  }
}

function clientData(type: string, challenge: string, deviations: Deviations): Buffer {
  const { origin = ORIGIN, type: other = type } = deviations
  return Buffer.from(JSON.stringify({ type: other, challenge: deviations.challenge ?? challenge, origin, crossOrigin: false }))
}

/** The first 37 bytes of the authenticator's data (WebAuthn, 6.1). */
function authenticatorData(counter: number, { rpId = HOST, isVerified = true, isPresent = true }: Deviations, hasKey: boolean) {
  const flags = (isPresent ? flagBits.userPresent : 0) | (isVerified ? flagBits.userVerified : 0) | (hasKey ? flagBits.hasKey : 0)
  const rest = Buffer.alloc(5)
  rest.writeUInt8(flags)
  rest.writeUInt32BE(counter, 1)
  return Buffer.concat([createHash('sha256').update(rpId).digest(), rest])
}

// CBOR (RFC 8949), as much of it as attestations need.

function cborHead(majorType: number, value: number): Buffer {
  if (value < 24) return Buffer.from([(majorType << 5) | value])
  if (value < 256) return Buffer.from([(majorType << 5) | 24, value])
  return Buffer.from([(majorType << 5) | 25, value >> 8, value & 0xff])
}

function cborInteger(value: number): Buffer {
  return value < 0 ? cborHead(1, -1 - value) : cborHead(0, value)
}

function cborBytes(bytes: Buffer): Buffer {
  return Buffer.concat([cborHead(2, bytes.length), bytes])
}

function cborText(text: string): Buffer {
  return Buffer.concat([cborHead(3, Buffer.byteLength(text)), Buffer.from(text)])
}

function cborMap(entries: [key: Buffer, value: Buffer][]): Buffer {
  return Buffer.concat([cborHead(5, entries.length), ...entries.flat()])
}
